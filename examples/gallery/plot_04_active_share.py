"""
A portfolio with an active-share limit
======================================

A fund may differ from its index by at most 20 % of its wealth. Within this limit it should grow.
The cost of a day is minus the logarithm of the day's growth; the constraint is a norm, so neither
is linear.
"""

# %%
# Prices are drawn, not measured: ten assets, of which two grow faster than the others.
import matplotlib.pyplot as plt
import numpy as np

import hedgerow as hr

rng = np.random.default_rng(4)
drift = np.array([2.0, 1.5] + [0.2] * 8) * 1e-3
relatives = np.exp(drift + 0.01 * rng.standard_normal((500, 10)))
problem = hr.problems.LogPortfolio(relatives, limit=0.2)
traces = {
    "limit kept (Hedgerow)": hr.simulate(hr.projection_free_coco(hr.sets.Simplex(10)), problem),
    "no limit": hr.simulate(hr.unconstrained(hr.sets.Simplex(10)), problem),
}
index = np.cumsum(np.log(relatives.mean(axis=1)))

# %%
# Without a limit the fund grows fastest, and is no longer an index fund.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(np.exp(index), color="0.5", label="equal weights, daily")
for name, trace in traces.items():
    left.plot(np.exp(-np.cumsum(trace.costs)), label=name)
    right.plot(100.0 * (trace.violations + problem.limit), linewidth=1.0, label=name)
left.set(title="Wealth", xlabel="day", ylabel="wealth, in units of the first day's")
left.legend(fontsize=8)
right.axhline(100.0 * problem.limit, color="0.3", linestyle="--")
right.set(title="Distance from the index", xlabel="day", ylabel="active share, %")
plt.show()
