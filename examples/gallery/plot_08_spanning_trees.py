"""
Spanning trees
==============

Thirty sensors on a field send their data along a tree. Each round the tree should be cheap in
energy, and its links must be reliable enough in sum. Both change from round to round. The oracle
is Kruskal's method; a decision is a mixture of trees.
"""

# %%
# A problem of your own needs no class: a set, and a pair of functions for each round.
import matplotlib.pyplot as plt
import numpy as np

import hedgerow as hr

rng = np.random.default_rng(7)
places = rng.uniform(0.0, 100.0, (30, 2))
distance = np.linalg.norm(places[:, None] - places[None, :], axis=2)
edges = [(i, j) for i in range(30) for j in range(i) if distance[i, j] < 40.0]
length = np.array([distance[i, j] for i, j in edges])
loss = rng.uniform(0.0, 10.0, len(edges))  # % of the packets, in the mean
trees = hr.sets.SpanningTrees(edges)
limit = 1.3 * 1.5 * trees.minimum(loss)  # the most reliable tree keeps it in every round
rounds = [
    (
        hr.Linear(length * rng.uniform(0.5, 1.5, len(edges))),
        hr.Linear(loss * rng.uniform(0.5, 1.5, len(edges)), -limit),
    )
    for _ in range(600)
]
problem = hr.RecordedProblem(trees, rounds)
steps = list(hr.play(hr.projection_free_coco(trees), problem))
best = hr.hindsight(problem)

# %%
# Left: shares of the links in the last 300 rounds. Right: the loss of each round, and its limit.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for (i, j), share in zip(edges, np.mean([step.x for step in steps[300:]], axis=0), strict=True):
    left.plot(*places[[i, j]].T, color="tab:green", alpha=float(np.clip(share, 0.04, 1.0)))
left.plot(*places.T, "o", color="0.3", markersize=4)
left.set(title="Share of each link", xlabel="east, m", ylabel="north, m", aspect="equal")
right.plot([step.violation + limit for step in steps], linewidth=0.8, label="played")
right.axhline(limit, color="0.3", linestyle="--", label="limit")
right.set(title="Loss", xlabel="round", ylabel="sum over the links of the tree, %")
right.legend()
plt.show()
print(f"mean length {np.mean([s.cost for s in steps]):.0f} m, best fixed {best.cost / 600:.0f} m")
