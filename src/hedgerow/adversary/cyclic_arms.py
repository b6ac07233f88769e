"""The game that ruins whoever follows the leader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hedgerow.inputs import Vector, as_count
from hedgerow.problems.problem import LinearChunk, LinearProblem, chunk_lengths
from hedgerow.sets.simplices import Simplex


@dataclass(frozen=True, eq=False)
class CyclicArms(LinearProblem):
    """n arms are hit in turn, each just when it leads; no constraint.

    Round 1 costs i/n on arm i = 0, ..., n-1, which breaks all ties; after that arm 0, 1, ..., n-1,
    0, ... costs 1. The arm with the least total is always the one that is hit next, so following
    the leader pays T - 1 at least, the best arm (T - 1)/n + 1 at most, and the difference is
    linear in T. Frank-Wolfe steps of full length play the same vertices. A learner that
    regularises stays near the middle and pays its usual rate. With n = 2 this is the classical
    game.

    Args:
        n: the number of arms, at least 2.
        horizon: the number of rounds.

    Reference: Shalev-Shwartz, "Online Learning and Online Convex Optimization" (2012),
    Example 2.2.

    >>> [cost.coefficients.tolist() for cost, _ in CyclicArms(2, horizon=4)]
    [[0.0, 0.5], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]

    """

    n: int = 2
    horizon: int = 4000
    decision_set: Simplex = field(init=False)
    feasible: Vector = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_count(self.n, "n", least=2))
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        object.__setattr__(self, "decision_set", Simplex(self.n))
        object.__setattr__(self, "feasible", self.decision_set.start())

    @property
    def leader_regret(self) -> float:
        """What following the leader loses at least: T - 1 minus (T - 1)/n + 1."""
        return (self.horizon - 1) * (1.0 - 1.0 / self.n) - 1.0

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        done = 0
        for k in chunk_lengths(self.horizon, size):
            costs = np.eye(self.n)[(np.arange(done, done + k) - 1) % self.n]
            if done == 0:
                costs[0] = np.arange(self.n) / self.n
            done += k
            yield LinearChunk(costs, np.zeros(k), np.zeros((k, self.n)), np.zeros(k))
