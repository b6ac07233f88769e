"""
Ad slots with budgets
=====================

Eight advertisers compete for four slots. The platform wants valuable clicks, and each advertiser
has a budget that should last: spending above the pace of a round is a violation. A decision is a
mixture of matchings of advertisers and slots.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import hedgerow as hr

problem = hr.problems.AdSlots(advertisers=8, slots=4, horizon=1000, seed=0)
matchings = problem.decision_set
plays = {
    "most value": list(hr.play(hr.unconstrained(matchings), problem)),
    "budgets paced (Hedgerow)": list(hr.play(hr.projection_free_coco(matchings), problem)),
}

# %%
# Each tile is the chance that an advertiser is shown in a slot, in the mean over the last 500
# rounds.
figure, panels = plt.subplots(
    1, 3, figsize=(9, 3.6), layout="constrained", width_ratios=(1.0, 1.0, 1.6)
)
for axes, (name, steps) in zip(panels, plays.items(), strict=False):
    chance = np.mean([step.x for step in steps[500:]], axis=0).reshape(8, 4)
    image = axes.imshow(chance, vmin=0.0, vmax=0.3, cmap="Greens", aspect="auto")
    axes.set(title=name, xlabel="slot", ylabel="advertiser", xticks=range(4), yticks=range(8))
    over = np.maximum([step.violation for step in steps], 0.0)
    panels[2].plot(np.cumsum(over), label=name)
figure.colorbar(image, ax=panels[1], label="chance of being shown", extend="max")
panels[2].set(title="Spending above pace", xlabel="round", ylabel="total, in money")
panels[2].legend(fontsize=8)
plt.show()
