"""
Rankings with exposure
======================

Twenty items are ranked for each visitor. Relevance alone would put six protected items near the
bottom. They are owed a share of the attention in every round. A decision is a mixture of
rankings, and the oracle is a sort.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import hedgerow as hr

problem = hr.problems.Ranking(n=20, protected=6, horizon=2000, seed=0)
rankings = problem.decision_set
plays = {
    "relevance alone": list(hr.play(hr.unconstrained(rankings), problem)),
    "exposure owed (Hedgerow)": list(hr.play(hr.projection_free_coco(rankings), problem)),
}

# %%
# Left: the exposure that each item has, in the mean over the game. Right: what the protected
# items miss.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
items = np.arange(problem.n)
for k, (name, steps) in enumerate(plays.items()):
    exposure = np.mean([step.x for step in steps], axis=0)
    bars = left.bar(items + 0.4 * k - 0.2, exposure, 0.4, label=name)
    for bar in bars[: problem.protected]:
        bar.set_hatch("///")
    missing = np.maximum([step.violation for step in steps], 0.0)
    right.plot(100.0 * np.cumsum(missing) / (problem.owed * np.arange(1, len(steps) + 1)))
left.set(title="Exposure (hatched: protected)", xlabel="item", ylabel="weight of its positions")
left.set(xticks=range(0, problem.n, 2), ylim=(0.0, 1.3))
left.legend(fontsize=8)
right.set(title="Missing exposure", xlabel="round", ylabel="so far, % of what is owed")
right.set_yscale("log")
plt.show()
