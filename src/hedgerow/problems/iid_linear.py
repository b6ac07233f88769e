"""Independent linear rounds on any decision set: the first game for a set of your own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hedgerow.inputs import Vector, as_count, read_only
from hedgerow.problems.problem import LinearChunk, LinearProblem, chunk_lengths
from hedgerow.sets.decision_set import DecisionSet

VERTICES = 8
"""The point that keeps every constraint is the mean of so many vertices."""


@dataclass(frozen=True, eq=False)
class IidLinear(LinearProblem):
    """Prices and loads on the coordinates of any set, drawn anew each round.

    f_t(x) = <mu + noise, x> with noise uniform in [-1/2, 1/2]^n, g_t(x) = <a_t, x - z> with
    a_t = 1/2 - mu + noise of its own: what is cheap is loaded. The point z, the mean of a few
    vertices in random directions, keeps every round's constraint exactly.

    Args:
        decision_set: where the game is played.
        horizon: the number of rounds.
        seed: fixes everything.

    """

    decision_set: DecisionSet
    horizon: int = 4000
    seed: int = 0
    feasible: Vector = field(init=False, repr=False)
    _mean: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.decision_set, DecisionSet):
            raise TypeError(
                f"IidLinear needs a DecisionSet, such as sets.Simplex(8), got "
                f"{self.decision_set!r:.60}"
            )
        rng = np.random.default_rng([as_count(self.seed, "seed", least=0), 0])
        n, lmo = self.decision_set.dim, self.decision_set.lmo
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        object.__setattr__(self, "_mean", rng.uniform(0.0, 1.0, n))
        found = [lmo(direction) for direction in rng.standard_normal((VERTICES, n))]
        object.__setattr__(self, "feasible", read_only(np.mean(found, axis=0)))

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        costs, loads = (np.random.default_rng([self.seed, i]) for i in (1, 2))
        n = self.decision_set.dim
        for k in chunk_lengths(self.horizon, size):
            c = self._mean + costs.uniform(-0.5, 0.5, (k, n))
            a = 0.5 - self._mean + loads.uniform(-0.5, 0.5, (k, n))
            # row by row, so that a round does not depend on the chunk it comes in
            yield LinearChunk(c, np.zeros(k), a, -(a * self.feasible).sum(axis=1))
