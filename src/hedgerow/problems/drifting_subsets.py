"""Subsets of a ring whose prices drift one way round while the demand for cover goes the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hedgerow.inputs import Vector, as_count, read_only
from hedgerow.problems.enveloped import EnvelopedProblem, one_round
from hedgerow.problems.problem import LinearChunk, chunk_lengths
from hedgerow.sets.simplices import KSubsets

NOISE = 0.1
"""Half the width of the uniform noise on each price, in the unit of the prices."""
COVER = 0.8, 1.2
"""Factors of the cover that a chosen member gives, drawn for each member and round: invented."""


@dataclass(frozen=True, eq=False)
class DriftingSubsets(EnvelopedProblem):
    """Choose k of n members on a ring: cheap ones, some of them in the window of each round.

    f_t(x) = <c_t, x> with c_t,i = 1/2 - 2/5 cos(2 pi (i - p_t)/n) + U[-1/10, 1/10], where the
    cheapest place p_t moves on by one place in `drift` rounds, steadily. The window W_t of `window`
    neighbours moves the other way, by one place every `rotation` rounds, and
    g_t(x) = need - sum over W_t of a_t,i x_i with a_t,i from U[4/5, 6/5] and
    need = 4/5 window k/n. Equal shares x = k/n keep every round, whatever is drawn. No fixed
    action is good for long: a policy that tracks has a negative regret. Prices and cover have no
    physical unit. Synthetic; one seed fixes the places on the ring and the noise.

    Args:
        n: the number of members.
        k: how many are chosen, below n.
        window: how many neighbours are asked for cover, at most n.
        drift: rounds in which the cheapest place moves on by one.
        rotation: rounds in which the window moves on by one.
        horizon: the number of rounds.
        seed: fixes everything.

    >>> problem = DriftingSubsets(n=10, k=2, window=4, horizon=50)
    >>> problem.feasible[:2], round(problem.need, 9)
    (array([0.2, 0.2]), 0.64)
    >>> max(constraint(problem.feasible) for _, constraint in problem) <= 0.0
    True

    """

    n: int = 30
    k: int = 6
    window: int = 12
    drift: int = 50
    rotation: int = 20
    horizon: int = 4000
    seed: int = 0
    decision_set: KSubsets = field(init=False)
    need: float = field(init=False)
    _places: Vector = field(init=False, repr=False)
    _prices: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("k", "drift", "rotation", "horizon"):
            object.__setattr__(self, name, as_count(getattr(self, name), name))
        if self.k >= as_count(self.n, "n", least=2):
            raise ValueError(f"k must be below n = {self.n}, got {self.k}; choose fewer members")
        if as_count(self.window, "window") > self.n:
            raise ValueError(f"the window must be at most n = {self.n}, got {self.window}")
        rng = np.random.default_rng([as_count(self.seed, "seed", least=0), 0])
        prices = 0.5 - 0.4 * np.cos(2.0 * np.pi * np.arange(self.n) / self.n)
        for name, value in (
            ("decision_set", KSubsets(self.n, self.k)),
            ("need", COVER[0] * self.window * self.k / self.n * (1.0 - 1e-12)),
            ("_places", read_only(rng.permutation(self.n))),
            ("_prices", read_only(prices)),
        ):
            object.__setattr__(self, name, value)

    @cached_property
    def feasible(self) -> Vector:
        """Equal shares: every window holds window k/n of them, and each gives at least 4/5."""
        return read_only(np.full(self.n, self.k / self.n))

    @cached_property
    def envelope(self) -> tuple[LinearChunk, LinearChunk]:
        """The least and the largest coefficients of all rounds."""
        cheap, dear = (np.full(self.n, c) for c in (self._prices.min(), self._prices.max()))
        most, none = np.full(self.n, -COVER[1]), np.zeros(self.n)
        low = one_round(cheap - NOISE, 0.0, most, self.need)
        return low, one_round(dear + NOISE, 0.0, none, self.need)

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        prices, covers = (np.random.default_rng([self.seed, i]) for i in (1, 2))
        n, done = self.n, 0
        for k in chunk_lengths(self.horizon, size):
            t = np.arange(done, done + k)[:, None]
            done += k
            behind = self._places - t // self.drift  # places from the cheapest one
            part = t % self.drift / self.drift  # how far it has gone towards the next
            c = (1.0 - part) * self._prices[behind % n] + part * self._prices[(behind - 1) % n]
            c += prices.uniform(-NOISE, NOISE, (k, n))
            asked = (self._places + t // self.rotation) % n < self.window
            a = asked * covers.uniform(*COVER, (k, n))
            yield LinearChunk(c, np.zeros(k), -a, np.full(k, self.need))
