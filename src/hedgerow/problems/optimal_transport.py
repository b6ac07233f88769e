"""Goods from warehouses to shops while freight prices drift and exhaust is capped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hedgerow.inputs import Vector, as_count, as_number, as_positive, read_only
from hedgerow.problems.problem import (
    EnvelopedProblem,
    LinearChunk,
    chunk_lengths,
    one_round,
)
from hedgerow.sets.matchings.transport import TransportPlans

PRICE = 1.0, 4.0
"""Mean prices of lanes: invented."""
SWING = 0.4
"""How far the price at a warehouse swings about its mean: invented."""
NOISE = 0.8, 1.2
"""Factors of prices and of exhaust, drawn for each lane and round: invented."""


@dataclass(frozen=True, eq=False)
class OptimalTransport(EnvelopedProblem):
    """Transport goods at drifting prices: low cost, and low emissions each round. Synthetic.

    x_ij goes from warehouse i to shop j, between given stocks and orders. f_t(x) = <c_t, x> with
    c_t,ij = price_ij (1 + 0.4 cos(2 pi (t / period + i / warehouses))) U[0.8, 1.2]: the prices at
    the warehouses take turns. g_t(x) = <e_t, x> - limit, with exhaust e_t,ij = U[0.8, 1.2] 4 /
    price_ij: cheap lanes are dirty. Stocks, orders and prices are drawn from one seed.

    Args:
        warehouses: their number.
        shops: their number.
        period: rounds in which the prices come round once.
        limit: the exhaust that is allowed each round; None for 1.1 times what the feasible point
            emits at most.
        horizon: the number of rounds.
        seed: fixes everything.

    >>> problem = OptimalTransport(warehouses=3, shops=4, horizon=100, seed=0)
    >>> max(constraint(problem.feasible) for _, constraint in problem) <= 0.0
    True

    """

    warehouses: int = 5
    shops: int = 8
    period: float = 200.0
    limit: float | None = None
    horizon: int = 4000
    seed: int = 0
    decision_set: TransportPlans = field(init=False)
    allowed: float = field(init=False)
    _price: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        m = as_count(self.warehouses, "warehouses", least=2)
        n = as_count(self.shops, "shops", least=2)
        rng = np.random.default_rng([as_count(self.seed, "seed", least=0), 0])
        stocks, orders = rng.uniform(0.5, 1.5, m), rng.uniform(0.5, 1.5, n)
        for name, value in (
            ("horizon", as_count(self.horizon, "horizon")),
            ("period", as_positive(self.period, "period")),
            ("decision_set", TransportPlans(stocks / stocks.sum(), orders / orders.sum())),
            ("_price", read_only(rng.uniform(*PRICE, m * n))),
        ):
            object.__setattr__(self, name, value)
        least = self.decision_set.minimum(NOISE[1] * self._exhaust)
        allowed = 1.1 * least if self.limit is None else as_number(self.limit, "limit")
        if allowed < least * (1.0 + 1e-12):
            raise ValueError(
                f"the cleanest plan emits up to {least:g} in a round, above the limit "
                f"{allowed:g}; raise the limit above that"
            )
        object.__setattr__(self, "allowed", allowed)

    @property
    def _exhaust(self) -> Vector:
        return PRICE[1] / self._price

    @cached_property
    def envelope(self) -> tuple[LinearChunk, LinearChunk]:
        """The least and the largest coefficients of all rounds."""
        low, high = (1.0 - SWING) * NOISE[0], (1.0 + SWING) * NOISE[1]
        return one_round(
            low * self._price, 0.0, NOISE[0] * self._exhaust, -self.allowed
        ), one_round(high * self._price, 0.0, NOISE[1] * self._exhaust, -self.allowed)

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        prices, exhaust = (np.random.default_rng([self.seed, i]) for i in (1, 2))
        turn, done = np.arange(self.warehouses) / self.warehouses, 0
        for k in chunk_lengths(self.horizon, size):
            t = np.arange(done, done + k)[:, None]
            done += k
            swing = 1.0 + SWING * np.cos(2.0 * np.pi * (t / self.period + turn))
            c = self._price * np.repeat(swing, self.shops, axis=1)
            c *= prices.uniform(*NOISE, c.shape)
            e = self._exhaust * exhaust.uniform(*NOISE, c.shape)
            yield LinearChunk(c, np.zeros(k), e, np.full(k, -self.allowed))
