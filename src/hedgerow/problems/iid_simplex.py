"""Independent linear rounds on a simplex."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hedgerow.inputs import Vector, as_count
from hedgerow.problems.problem import LinearChunk, LinearProblem, chunk_lengths
from hedgerow.sets.simplices import Simplex


@dataclass(frozen=True, eq=False)
class IidSimplex(LinearProblem):
    """Split a budget over n options whose prices and loads are drawn anew each round.

    f_t(x) = <mu + noise, x> with noise uniform in [-1/2, 1/2]^n, g_t(x) = <a_t, x - z> with
    a_t = 1/2 - mu + noise of its own: cheap options are the loaded ones. The interior point z
    keeps every round's constraint exactly.

    Args:
        n: the number of options.
        horizon: the number of rounds.
        seed: fixes everything.

    """

    n: int = 20
    horizon: int = 4000
    seed: int = 0
    decision_set: Simplex = field(init=False)
    feasible: Vector = field(init=False)
    _mean: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng([as_count(self.seed, "seed", least=0), 0])
        object.__setattr__(self, "horizon", as_count(self.horizon, "horizon"))
        object.__setattr__(self, "decision_set", Simplex(self.n))
        object.__setattr__(self, "_mean", rng.uniform(0.0, 1.0, self.n))
        object.__setattr__(self, "feasible", rng.dirichlet(np.full(self.n, 2.0)))

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        costs, loads = (np.random.default_rng([self.seed, i]) for i in (1, 2))
        for k in chunk_lengths(self.horizon, size):
            c = self._mean + costs.uniform(-0.5, 0.5, (k, self.n))
            a = 0.5 - self._mean + loads.uniform(-0.5, 0.5, (k, self.n))
            # row by row, so that a round does not depend on the chunk it comes in
            yield LinearChunk(c, np.zeros(k), a, -(a * self.feasible).sum(axis=1))
