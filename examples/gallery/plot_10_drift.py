"""
Drift and tracking
==================

Six of thirty members on a ring are chosen each round. The cheapest place moves on slowly, so no
fixed choice is good for long. The default takes long steps, and remembers the violated rounds that
resemble the present one; ``tracking=False`` adds up all gradients.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import hedgerow as hr

problem = hr.problems.DriftingSubsets(n=30, k=6, drift=40, rotation=20, horizon=2400, seed=0)
subsets = problem.decision_set
traces = {
    "tracking (the default)": hr.simulate(hr.projection_free_coco(subsets), problem),
    "tracking=False": hr.simulate(hr.projection_free_coco(subsets, tracking=False), problem),
}
best = hr.hindsight(problem)

# %%
# A negative regret: the policy that tracks is cheaper than every fixed choice.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
rounds = np.arange(1, problem.horizon + 1)
mean = np.ones(100) / 100.0
for name, trace in traces.items():
    left.plot(rounds[99:], np.convolve(trace.costs, mean, "valid"), label=name)
    right.plot(rounds, np.cumsum(np.maximum(trace.violations, 0.0)), label=name)
left.axhline(best.cost / problem.horizon, color="0.3", linestyle="--", label="best fixed choice")
left.set(title="Cost", xlabel="round", ylabel="price, mean of 100 rounds")
left.legend(fontsize=8)
right.set(title="Violation so far", xlabel="round", ylabel="missing cover, in members")
plt.show()
