"""Bandit play: after each round only two numbers are seen, the cost and the violation."""

import hedgerow as hr

problem = hr.problems.SwitchingBall(n=5, horizon=4000, seed=2)
known = {"lipschitz": 2.0, "bound": 2.0}  # declared, not measured
policy = hr.projection_free_bandit(problem.decision_set, problem.horizon, seed=0, **known)
trace = hr.simulate(policy, problem)

blind = hr.simulate(hr.unconstrained(problem.decision_set), problem)
print(f"values alone:     cost {trace.cost:8.1f}, violation {trace.ccv:7.1f}")
print(f"gradients, blind: cost {blind.cost:8.1f}, violation {blind.ccv:7.1f}")
print(f"oracle calls: {trace.oracle_calls} in {problem.horizon} rounds")
