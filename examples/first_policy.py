"""A first policy: routes that must carry enough bandwidth, learnt while acting."""

import hedgerow as hr

problem = hr.ShortestPath.random_network(nodes=60, edges=300, horizon=800, seed=1)
policy = hr.projection_free_coco(problem.decision_set)

for cost, constraint in problem:
    x = policy.ask()  # the share of traffic on each edge
    policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))

best = hr.hindsight(problem)
trace = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
print(f"best feasible fixed action: {best.cost / problem.horizon:.2f} ms per round")
print(f"the policy: {trace.cost / problem.horizon:.2f} ms per round")
share = 100.0 * trace.ccv / (problem.threshold * problem.horizon)
print(f"violation: {share:.2f} % of the bandwidth asked for")
print(f"proved by the run alone: regret at most {policy.certificate() / problem.horizon:.2f} ms")
