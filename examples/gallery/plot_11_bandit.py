"""
Bandit feedback
===============

After each round only two numbers are seen: the cost and the violation of what was played. No
gradient, no function. The policy plays near its own point at random and learns from the values.
It pays for what it does not see.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import hedgerow as hr

problem = hr.problems.SwitchingBall(n=5, horizon=5000, seed=2)
ball = problem.decision_set
traces = {
    "gradients": hr.simulate(hr.projection_free_coco(ball), problem),
    "no constraint": hr.simulate(hr.unconstrained(ball), problem),
}
runs = [
    hr.simulate(hr.projection_free_bandit(ball, 5000, seed=seed, lipschitz=2.0, bound=2.0), problem)
    for seed in range(3)
]

# %%
# The band is the range of three runs; only the policy that sees values alone draws random
# numbers.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
rounds = np.arange(1, problem.horizon + 1)


def so_far(values):
    return np.cumsum(values) / rounds


for axes, title, pick in (
    (left, "Cost", lambda trace: trace.costs),
    (right, "Violation", lambda trace: np.maximum(trace.violations, 0.0)),
):
    for name, trace in traces.items():
        axes.plot(rounds, so_far(pick(trace)), label=name)
    band = np.array([so_far(pick(run)) for run in runs])
    axes.fill_between(rounds, band.min(axis=0), band.max(axis=0), color="tab:green", alpha=0.4)
    axes.plot(rounds, band.mean(axis=0), color="tab:green", label="values alone")
    axes.set(title=title, xlabel="round", ylabel="mean of a round so far, no unit", xscale="log")
left.legend(fontsize=8)
plt.show()
