"""
Caching while tastes drift
==========================

Twenty of sixty items fit into a cache. Every twenty rounds all items lose a rank and a new one
becomes the most popular. Misses should be few, and the bytes that are fetched for them stay below
a limit: hits ask for popular items, bytes for large ones.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import hedgerow as hr

problem = hr.problems.Caching(items=60, capacity=20, horizon=1200, seed=0)
steps = list(hr.play(hr.projection_free_coco(problem.decision_set), problem))
kept = np.array([step.x for step in steps]).T

# %%
# Each row is an item, ordered by when it is most popular; dark means that it is in the cache.
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4.2), layout="constrained", width_ratios=(2.0, 1.0)
)
order = np.argsort(np.argmax(kept, axis=1))
image = left.imshow(kept[order], aspect="auto", cmap="Greens", interpolation="nearest")
left.set(
    title="What is in the cache", xlabel="round", ylabel="item, by its first round in the cache"
)
figure.colorbar(image, ax=left, label="share of the item that is kept")
fetched = np.array([step.violation for step in steps]) + problem.allowed
right.plot(fetched, linewidth=0.8)
right.axhline(problem.allowed, color="0.3", linestyle="--", label="limit")
right.set(
    title="Bytes fetched", xlabel="round", ylabel="in units of the median item", ylim=(0.0, None)
)
right.legend()
plt.show()
