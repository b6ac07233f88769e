"""What to keep in a cache while tastes drift and the line behind it is narrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector, as_count, as_number, as_positive, read_only
from hedgerow.problems.problem import LinearChunk, LinearProblem, chunk_lengths
from hedgerow.sets.simplices.simplex import KSubsets

REQUESTS = 0.8, 1.2
"""Factors of the request rates, drawn for each item and round: invented."""
SIZE_LOG_DEVIATION = 1.0
"""Sizes are lognormal with median 1: invented."""


@dataclass(frozen=True, eq=False)
class Caching(LinearProblem):
    """Keep items in a cache: few misses, and few bytes fetched for them, each round. Synthetic.

    x_i is the share of item i that is kept, and `capacity` items fit. The item of rank j is asked
    for z_j = j^-zipf / sum times U[0.8, 1.2] in a round; every `drift` rounds all items fall by one
    rank and the last becomes the first. f_t(x) = sum of n_t,i (1 - x_i), the requests that miss,
    and g_t(x) = sum of size_i n_t,i (1 - x_i) - limit, the bytes fetched. Hits ask for popular
    items, bytes for large ones. Sizes and ranks are drawn from one seed.

    Args:
        items: the number of items.
        capacity: how many of them fit, below `items`.
        zipf: the exponent of popularity.
        drift: the number of rounds that ranks stay the same.
        limit: bytes that may be fetched each round; None for 1.1 times what the feasible point
            fetches at most.
        horizon: the number of rounds.
        seed: fixes everything.

    >>> problem = Caching(items=12, capacity=4, horizon=200, seed=0)
    >>> worst = max(constraint(problem.feasible) for _, constraint in problem)
    >>> worst <= 0.0
    True

    """

    items: int = 60
    capacity: int = 20
    zipf: float = 0.9
    drift: int = 20
    limit: float | None = None
    horizon: int = 4000
    seed: int = 0
    decision_set: KSubsets = field(init=False)
    sizes: Vector = field(init=False, repr=False)
    allowed: float = field(init=False)
    _rates: Vector = field(init=False, repr=False)
    _ranks: NDArray[np.intp] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n, k = as_count(self.items, "items", least=2), as_count(self.capacity, "capacity")
        if k >= n:
            raise ValueError(f"the capacity must be below items = {n}, got {k}")
        rates = np.arange(1.0, n + 1.0) ** -as_positive(self.zipf, "zipf")
        rng = np.random.default_rng([as_count(self.seed, "seed", least=0), 0])
        for name, value in (
            ("horizon", as_count(self.horizon, "horizon")),
            ("drift", as_count(self.drift, "drift")),
            ("decision_set", KSubsets(n, k)),
            ("sizes", read_only(np.exp(SIZE_LOG_DEVIATION * rng.standard_normal(n)))),
            ("_rates", read_only(rates / rates.sum())),
            ("_ranks", read_only(rng.permutation(n))),
        ):
            object.__setattr__(self, name, value)
        least = self._most_fetched(self.feasible)
        allowed = 1.1 * least if self.limit is None else as_number(self.limit, "limit")
        if allowed < least:
            raise ValueError(
                f"the feasible point fetches up to {least:g} in a round, above the limit "
                f"{allowed:g}; raise the limit to at least that"
            )
        object.__setattr__(self, "allowed", allowed)

    def _phases(self) -> Iterator[Vector]:
        """Yield the mean requests of each phase that the horizon reaches, no phase twice."""
        for phase in range(min(self.items, -(-self.horizon // self.drift))):
            yield self._rates[(self._ranks + phase) % self.items]

    @cached_property
    def feasible(self) -> Vector:
        """The items for which most bytes are asked over all phases."""
        asked = sum(self._phases(), np.zeros(self.items))
        return read_only(self.decision_set.lmo(-self.sizes * asked))

    def _most_fetched(self, x: Vector) -> float:
        """Return the bytes that a point fetches in the worst round of the law."""
        missed = self.sizes * (1.0 - x)
        return REQUESTS[1] * max(float(z @ missed) for z in self._phases())

    @property
    def cost_lipschitz(self) -> float:
        """A bound of the norms of all gradients of costs."""
        return REQUESTS[1] * float(np.linalg.norm(self._rates))

    @cached_property
    def constraint_lipschitz(self) -> float:
        """A bound of the norms of all gradients of constraints."""
        return REQUESTS[1] * max(float(np.linalg.norm(self.sizes * z)) for z in self._phases())

    @property
    def cost_range(self) -> tuple[float, float]:
        """Every cost lies between these two: the most popular items are kept, or the least."""
        X, z = self.decision_set, self._rates
        return REQUESTS[0] * (1.0 + X.minimum(-z)), REQUESTS[1] * (1.0 - X.minimum(z))

    @cached_property
    def violation_range(self) -> float:
        """No constraint has a larger value: the items of fewest bytes are kept."""
        X, s = self.decision_set, self.sizes
        fetched = max(float(s @ z) - X.minimum(s * z) for z in self._phases())
        return REQUESTS[1] * fetched - self.allowed

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        rng, done = np.random.default_rng([self.seed, 1]), 0
        for k in chunk_lengths(self.horizon, size):
            phase = np.arange(done, done + k) // self.drift
            done += k
            z = self._rates[(self._ranks + phase[:, None]) % self.items]
            asked = z * rng.uniform(*REQUESTS, z.shape)
            fetched = self.sizes * asked
            yield LinearChunk(
                -asked, asked.sum(axis=1), -fetched, fetched.sum(axis=1) - self.allowed
            )
