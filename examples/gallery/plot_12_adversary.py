"""
A search for bad games
======================

Random games say little about the worst case. Here a search builds the sequence of 60 rounds that
makes the policy violate most, and compares it with what random sequences do.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import hedgerow as hr

simplex = hr.sets.Simplex(4)
game = hr.games.LinearGame(simplex, horizon=60, share=0.5)


def make(_draw):
    return hr.projection_free_coco(simplex)


def violation(played):
    return played.trace.ccv


tried = list(hr.games.worst_game_steps(make, game, violation, seed=0, evaluations=200))
found = tried[-1]
trace = hr.simulate(make(0), found.problem)

# %%
# The first sequences are random. Then the best of them is changed block by block.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot([one.value for one in tried], label="worst game so far")
left.axhline(found.random_value, color="0.3", linestyle="--", label="worst random game")
left.set(title="The search", xlabel="games tried", ylabel="CCV, in units of a gradient of 1")
left.legend(fontsize=8)
right.plot(np.cumsum(np.maximum(trace.violations, 0.0)), label="CCV")
right.plot(trace.violations, linewidth=0.8, label="violation of the round")
right.set(title="The worst game found", xlabel="round", ylabel="in units of a gradient of 1")
right.legend(fontsize=8)
plt.show()
