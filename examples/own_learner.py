"""A learner of your own: two kernels around one oracle call, played by the compiled loop."""

import hedgerow as hr
from hedgerow.extending import AFTER_ORACLE, BEFORE_ORACLE, KernelLearner, kernel
from hedgerow.testing import check_learner


@kernel(*BEFORE_ORACLE)
def before_oracle(state, work, s, inner, loss, steps):
    """Add the gradient to the sum S, and ask for the vertex that is best against it."""
    n = len(s)  # state = [x | S | t]
    state[2 * n] += 1.0
    for i in range(n):
        state[n + i] += s[i]
        work[i] = state[n + i]  # the oracle's direction
    return True  # whether the oracle is needed


@kernel(*AFTER_ORACLE)
def after_oracle(state, work, n, ones, steps):
    """Move a little towards the oracle's answer: x_{t+1} = x_t + (v_t - x_t) / sqrt(t + 1)."""
    for i in range(n):
        state[i] += (work[n + i] - state[i]) / (state[2 * n] + 1.0) ** 0.5


class SlowLeader(KernelLearner):
    """Walks towards the leader."""

    before_oracle, after_oracle = before_oracle, after_oracle

    def __init__(self, decision_set):
        super().__init__(decision_set, {"S": decision_set.dim, "t": 1})

    @property
    def oracle_calls(self):
        """One per round."""
        return self.rounds


check_learner(lambda: SlowLeader(hr.sets.Simplex(3)))
problem = hr.ShortestPath.random_network(nodes=60, edges=300, horizon=800, seed=1)
surrogate = hr.surrogates.CurrentSurrogate(hr.surrogates.PowerPotential(p=2.0, scale=10.0))
trace = hr.simulate(hr.ConstrainedPolicy(SlowLeader(problem.decision_set), surrogate), problem)
print(f"played by the compiled loop: {trace.compiled}; cost {trace.cost:.0f}, CCV {trace.ccv:.0f}")
