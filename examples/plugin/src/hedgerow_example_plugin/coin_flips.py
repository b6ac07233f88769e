"""A kind of problem: bets on coins, of which some are rarely allowed."""

import numpy as np

from hedgerow import Linear, RecordedProblem
from hedgerow.experiments import problem_kind
from hedgerow.sets import Simplex


@problem_kind()
def coin_flips(horizon: int, seed: int, *, coins: int = 4, limit: float = 0.25):
    """Stakes on coins: the likely ones pay, at most `limit` of the stake may lie on the first."""
    rng = np.random.default_rng([seed, 0])
    heads = rng.random((horizon, coins)) < np.linspace(0.8, 0.4, coins)
    first = np.eye(coins)[0]
    rounds = [(Linear(-row.astype(float)), Linear(first, -limit)) for row in heads]
    return RecordedProblem(Simplex(coins), rounds)
