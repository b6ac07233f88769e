"""
Traffic engineering
===================

An operator splits every demand over four paths. Demands are known only afterwards, and no link
should be used above a limit. Shortest paths are quick and overload links; Hedgerow learns to move
just enough.
"""

# %%
# The topology is Abilene's. The demands are drawn from a gravity model with days and nights.
import matplotlib.pyplot as plt
import numpy as np

import hedgerow as hr

network = hr.networks.Topology.shipped("sndlib/abilene")
matrices = hr.problems.gravity_demands(network, horizon=576, seed=3, rounds_per_day=288)
problem = hr.problems.TrafficEngineering.from_network(network, matrices, k=4)
splits = problem.decision_set
traces = {
    "Hedgerow": hr.simulate(hr.projection_free_coco(splits), problem),
    "shortest paths": hr.simulate(hr.baselines.FixedSplit(splits, problem.shortest), problem),
    "equal splits": hr.simulate(hr.baselines.FixedSplit(splits, problem.equal_split), problem),
}

# %%
# The violation of a round is the utilisation of its fullest link minus the limit.
hours = np.arange(problem.horizon) * 24.0 / 288.0
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for name, trace in traces.items():
    used = 100.0 * (trace.violations + problem.limit)
    left.plot(hours, used, linewidth=1.0, label=name)
    over = 100.0 * (trace.violations > 0.0).mean()
    right.plot(trace.costs.mean(), over, "o", markersize=10, label=name)
left.axhline(100.0 * problem.limit, color="0.3", linestyle="--", label="limit")
left.set(title="The fullest link", xlabel="time, hours", ylabel="utilisation, %")
left.legend(fontsize=8)
right.set(
    title="Delay and overload", xlabel="mean delay, ms", ylabel="rounds with an overloaded link, %"
)
right.margins(0.2)
right.legend(fontsize=8)
plt.show()
