"""
Routing on a real topology
==========================

Traffic from Portugal to Finland crosses GEANT, the European research network, whose map comes
with the package topohub. Every link on the way is rented. The operator wants a small bill, and a
mean delay below a cap in every round. Delays vary from round to round and are seen afterwards.
"""

# %%
# Delays come from the lengths of the links. Prices and the variation of the delays are invented.
import matplotlib.pyplot as plt
import numpy as np

import hedgerow as hr

network = hr.networks.Topology.shipped("topozoo/Geant2012")
price = np.random.default_rng(1).uniform(1.0, 10.0, len(network.edges))
problem = hr.problems.LatencyCap.from_network(
    network, "PT", "FI", horizon=1000, seed=0, price=price, orientation="distance"
)
policy = hr.projection_free_coco(problem.decision_set)
steps = list(hr.play(policy, problem))
shares = np.mean([step.x for step in steps[500:]], axis=0)
late = [step.violation > 0.0 for step in steps]
print(f"cap {problem.cap:.1f} ms, exceeded in {100 * np.mean(late):.1f} % of the rounds")

# %%
# The map shows the second half of the game: the thicker a link, the more of the traffic it
# carries.
figure, axes = plt.subplots(figsize=(8, 6), layout="constrained")
place = dict(zip(network.nodes, network.positions, strict=True))
for i, j in network.edges:
    axes.plot(*network.positions[[i, j]].T, color="0.85", linewidth=0.8, zorder=1)
for (tail, head), share in zip(problem.decision_set.edges, shares, strict=True):
    if share > 0.01:
        ends = network.positions[[tail, head]]
        axes.plot(*ends.T, color="tab:green", linewidth=8.0 * share, solid_capstyle="round")
axes.plot(*network.positions.T, "o", color="0.4", markersize=4, zorder=3)
for name, beside in (("PT", (8, -14)), ("FI", (-4, 8))):
    axes.annotate(name, place[name], beside, textcoords="offset points", fontweight="bold")
axes.set(
    title="Share of the traffic on each link",
    xlabel="longitude, degrees",
    ylabel="latitude, degrees",
    aspect=1.6,
)
plt.show()
