"""Which sensor watches what, while energy prices drift and the line behind them is narrow."""

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
from hedgerow.sets.matroids.submodular import BasePolytope, Coverage

PRICE = 1.0, 4.0
"""Mean prices of energy at the sensors: invented."""
SWING = 0.4
"""How far the price at a sensor swings about its mean: invented."""
NOISE = 0.8, 1.2
"""Factors of prices and of data, drawn for each sensor and round: invented."""


@dataclass(frozen=True, eq=False)
class SensorCoverage(EnvelopedProblem):
    """Divide a field among sensors that cover parts of it: low energy, little data. Synthetic.

    The field is a grid of cells with weights, and a sensor sees the cells within `reach`. Each cell
    that is seen at all is watched by sensors that see it; x_i is the weight of what sensor i
    watches. All such x make the base polytope of the weighted coverage. f_t(x) = <c_t, x> with
    energy prices c_t,i = price_i (1 + 0.4 cos(2 pi (t / period + i / sensors))) U[0.8, 1.2];
    g_t(x) = <d_t, x> - limit with data d_t,i = U[0.8, 1.2] 4 / price_i: cheap sensors send much.
    Places, weights and prices are drawn from one seed.

    Args:
        sensors: their number.
        cells: along each side of the field.
        reach: how far a sensor sees, as a share of the side.
        period: rounds in which the prices come round once.
        limit: the data that may be sent each round; None for 1.1 times what the feasible point
            sends at most.
        horizon: the number of rounds.
        seed: fixes everything.

    >>> problem = SensorCoverage(sensors=5, cells=6, horizon=100, seed=0)
    >>> max(constraint(problem.feasible) for _, constraint in problem) <= 0.0
    True

    """

    sensors: int = 12
    cells: int = 8
    reach: float = 0.4
    period: float = 200.0
    limit: float | None = None
    horizon: int = 4000
    seed: int = 0
    decision_set: BasePolytope = field(init=False)
    allowed: float = field(init=False)
    _price: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n, side = as_count(self.sensors, "sensors", least=2), as_count(self.cells, "cells")
        reach = as_positive(self.reach, "reach")
        if reach < 1.0 / side:
            raise ValueError(
                f"reach must be at least 1 / cells = {1.0 / side:g}, so that every sensor sees a "
                f"cell, got {reach:g}"
            )
        rng = np.random.default_rng([as_count(self.seed, "seed", least=0), 0])
        middle = (np.arange(side) + 0.5) / side
        grid = np.stack(np.meshgrid(middle, middle), axis=-1).reshape(-1, 2)
        places, weights = rng.random((n, 2)), rng.exponential(1.0, side**2)
        seen = [np.flatnonzero(np.linalg.norm(grid - p, axis=1) <= reach) for p in places]
        covered = weights[np.unique(np.concatenate(seen))].sum()
        coverage = Coverage([cells.tolist() for cells in seen], weights / covered)
        for name, value in (
            ("horizon", as_count(self.horizon, "horizon")),
            ("period", as_positive(self.period, "period")),
            ("decision_set", BasePolytope(n, coverage)),
            ("_price", read_only(rng.uniform(*PRICE, n))),
        ):
            object.__setattr__(self, name, value)
        least = self.decision_set.minimum(NOISE[1] * self._data)
        allowed = 1.1 * least if self.limit is None else as_number(self.limit, "limit")
        if allowed < least * (1.0 + 1e-12):
            raise ValueError(
                f"the quietest shares send up to {least:g} in a round, above the limit "
                f"{allowed:g}; raise the limit above that"
            )
        object.__setattr__(self, "allowed", allowed)

    @property
    def _data(self) -> Vector:
        return PRICE[1] / self._price

    @cached_property
    def envelope(self) -> tuple[LinearChunk, LinearChunk]:
        """The least and the largest coefficients of all rounds."""
        low, high = (1.0 - SWING) * NOISE[0], (1.0 + SWING) * NOISE[1]
        return one_round(low * self._price, 0.0, NOISE[0] * self._data, -self.allowed), one_round(
            high * self._price, 0.0, NOISE[1] * self._data, -self.allowed
        )

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        prices, data = (np.random.default_rng([self.seed, i]) for i in (1, 2))
        turn, done = np.arange(self.sensors) / self.sensors, 0
        for k in chunk_lengths(self.horizon, size):
            t = np.arange(done, done + k)[:, None]
            done += k
            swing = 1.0 + SWING * np.cos(2.0 * np.pi * (t / self.period + turn))
            c = self._price * swing * prices.uniform(*NOISE, swing.shape)
            d = self._data * data.uniform(*NOISE, swing.shape)
            yield LinearChunk(c, np.zeros(k), d, np.full(k, -self.allowed))
