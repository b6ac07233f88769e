"""Problems that drift: tastes, prices and windows change while the game goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hedgerow.inputs import DEFAULT_SEED, Vector, as_count, as_positive, freeze, read_only
from hedgerow.problems.problem import EnvelopedProblem, LinearChunk
from hedgerow.problems.synthetic import ScaledRounds, SyntheticRounds, feasible_limit
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.matchings.transport import TransportPlans
from hedgerow.sets.matroids.submodular import BasePolytope, Coverage
from hedgerow.sets.simplices.simplex import KSubsets

PRICE_NOISE = 0.1
"""Half the width of the uniform noise on each price, in the unit of the prices."""
COVER = 0.8, 1.2
"""Factors of the cover that a chosen member gives, drawn for each member and round: invented."""


@dataclass(frozen=True, eq=False)
class DriftingSubsets(SyntheticRounds, EnvelopedProblem):
    """Choose k of n members on a ring: cheap ones, some of them in the window of each round.

    f_t(x) = <c_t, x> with c_t,i = 1/2 - 2/5 cos(2 pi (i - p_t)/n) + U[-1/10, 1/10], where the
    cheapest place p_t moves on by one place in `drift` rounds, steadily. The window W_t of `window`
    neighbours moves the other way, by one place every `rotation` rounds, and
    g_t(x) = need - sum over W_t of a_t,i x_i with a_t,i from U[4/5, 6/5] and
    need = 4/5 window k/n. Equal shares x = k/n satisfy every round, whatever is drawn. No fixed
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
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

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
    seed: int = DEFAULT_SEED
    decision_set: KSubsets = field(init=False)
    need: float = field(init=False)
    _places: Vector = field(init=False, repr=False)
    _prices: Vector = field(init=False, repr=False)

    def _build(self, rng: Generator) -> None:
        freeze(
            self,
            **{name: as_count(getattr(self, name), name) for name in ("k", "drift", "rotation")},
        )
        if self.k >= as_count(self.n, "n", least=2):
            raise ValueError(f"k must be below n = {self.n}, got {self.k}; choose fewer members")
        if as_count(self.window, "window") > self.n:
            raise ValueError(f"the window must be at most n = {self.n}, got {self.window}")
        prices = 0.5 - 0.4 * np.cos(2.0 * np.pi * np.arange(self.n) / self.n)
        freeze(
            self,
            decision_set=KSubsets(self.n, self.k),
            need=COVER[0] * self.window * self.k / self.n * (1.0 - 1e-12),
            _places=read_only(rng.permutation(self.n)),
            _prices=read_only(prices),
        )

    @cached_property
    def feasible(self) -> Vector:
        """Equal shares: every window holds window k/n of them, and each gives at least 4/5."""
        return read_only(np.full(self.n, self.k / self.n))

    @cached_property
    def envelope(self) -> tuple[LinearChunk, LinearChunk]:
        """The least and the largest coefficients of all rounds."""
        cheap, dear = (np.full(self.n, c) for c in (self._prices.min(), self._prices.max()))
        most, none = np.full(self.n, -COVER[1]), np.zeros(self.n)
        low = LinearChunk.of(cheap - PRICE_NOISE, most, self.need)
        return low, LinearChunk.of(dear + PRICE_NOISE, none, self.need)

    def _draw(self, t: NDArray[np.intp], costs: Generator, constraints: Generator) -> LinearChunk:
        n, t, shape = self.n, t[:, None], (t.size, self.n)
        behind = self._places - t // self.drift  # places from the cheapest one
        part = t % self.drift / self.drift  # how far it has gone towards the next
        c = (1.0 - part) * self._prices[behind % n] + part * self._prices[(behind - 1) % n]
        c += costs.uniform(-PRICE_NOISE, PRICE_NOISE, shape)
        in_window = (self._places + t // self.rotation) % n < self.window
        return LinearChunk.of(c, -(in_window * constraints.uniform(*COVER, shape)), self.need)


PRICE = 1.0, 4.0
"""Mean prices of lanes and of energy: invented."""


class SwingingPrices(ScaledRounds):
    """Base of problems whose prices swing in turns, and where cheap choices use a capped resource.

    The price of coordinate i is price_i (1 + 0.4 cos(2 pi (t / period + turn_i))) U[0.8, 1.2], and
    a unit of it uses U[0.8, 1.2] 4 / price_i of the resource.
    """

    cost_factors = constraint_factors = 0.8, 1.2
    swing = 0.4
    limit: float | None
    period: float
    _turns: int

    def _set_prices(self, X: DecisionSet, rng: Generator, turns: int, needs: str) -> None:
        """Draw prices; equally many neighbouring coordinates share each of the turns."""
        price = rng.uniform(*PRICE, X.dim)
        used = PRICE[1] / price
        least = X.minimum(self.constraint_factors[1] * used)
        allowed = feasible_limit(self.limit, least, "limit", needs)
        freeze(
            self,
            decision_set=X,
            period=as_positive(self.period, "period"),
            allowed=allowed,
            _turns=turns,
            _cost=read_only(price),
            _constraint=read_only(used),
            _offset=-allowed,
        )

    def _wave(self, t: NDArray[np.intp]) -> Vector:
        turn = np.arange(self._turns) / self._turns
        wave = 1.0 + self.swing * np.cos(2.0 * np.pi * (t[:, None] / self.period + turn))
        return np.repeat(wave, self._cost.size // self._turns, axis=1)


@dataclass(frozen=True, eq=False)
class OptimalTransport(SwingingPrices):
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
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

    >>> problem = OptimalTransport(warehouses=3, shops=4, horizon=100, seed=0)
    >>> max(constraint(problem.feasible) for _, constraint in problem) <= 0.0
    True

    """

    warehouses: int = 5
    shops: int = 8
    period: float = 200.0
    limit: float | None = None
    horizon: int = 4000
    seed: int = DEFAULT_SEED
    decision_set: TransportPlans = field(init=False)
    allowed: float = field(init=False)

    def _build(self, rng: Generator) -> None:
        m = as_count(self.warehouses, "warehouses", least=2)
        n = as_count(self.shops, "shops", least=2)
        stocks, orders = rng.uniform(0.5, 1.5, m), rng.uniform(0.5, 1.5, n)
        X = TransportPlans(stocks / stocks.sum(), orders / orders.sum())
        self._set_prices(X, rng, m, "the cleanest plan emits")


@dataclass(frozen=True, eq=False)
class SensorCoverage(SwingingPrices):
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
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

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
    seed: int = DEFAULT_SEED
    decision_set: BasePolytope = field(init=False)
    allowed: float = field(init=False)

    def _build(self, rng: Generator) -> None:
        n, side = as_count(self.sensors, "sensors", least=2), as_count(self.cells, "cells")
        reach = as_positive(self.reach, "reach")
        if reach < 1.0 / side:
            raise ValueError(
                f"reach must be at least 1 / cells = {1.0 / side:g}, so that every sensor sees a "
                f"cell, got {reach:g}"
            )
        middle = (np.arange(side) + 0.5) / side
        grid = np.stack(np.meshgrid(middle, middle), axis=-1).reshape(-1, 2)
        places, weights = rng.random((n, 2)), rng.exponential(1.0, side**2)
        seen = [np.flatnonzero(np.linalg.norm(grid - p, axis=1) <= reach) for p in places]
        covered = weights[np.unique(np.concatenate(seen))].sum()
        coverage = Coverage([cells.tolist() for cells in seen], weights / covered)
        self._set_prices(BasePolytope(n, coverage), rng, n, "the quietest shares send")


REQUESTS = 0.8, 1.2
"""Factors of the request rates, drawn for each item and round: invented."""
SIZE_LOG_DEVIATION = 1.0
"""Sizes are lognormal with median 1: invented."""


@dataclass(frozen=True, eq=False)
class Caching(SyntheticRounds):
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
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.

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
    seed: int = DEFAULT_SEED
    decision_set: KSubsets = field(init=False)
    sizes: Vector = field(init=False, repr=False)
    allowed: float = field(init=False)
    _rates: Vector = field(init=False, repr=False)
    _ranks: NDArray[np.intp] = field(init=False, repr=False)

    def _build(self, rng: Generator) -> None:
        n, k = as_count(self.items, "items", least=2), as_count(self.capacity, "capacity")
        if k >= n:
            raise ValueError(f"the capacity must be below items = {n}, got {k}")
        rates = np.arange(1.0, n + 1.0) ** -as_positive(self.zipf, "zipf")
        freeze(
            self,
            drift=as_count(self.drift, "drift"),
            decision_set=KSubsets(n, k),
            sizes=read_only(np.exp(SIZE_LOG_DEVIATION * rng.standard_normal(n))),
            _rates=read_only(rates / rates.sum()),
            _ranks=read_only(rng.permutation(n)),
        )
        least = self._most_fetched(self.feasible)
        needs = "the feasible point fetches"
        freeze(self, allowed=feasible_limit(self.limit, least, "limit", needs, rounding=0.0))

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

    def _draw(self, t: NDArray[np.intp], costs: Generator, constraints: Generator) -> LinearChunk:  # noqa: ARG002
        phase = t // self.drift
        z = self._rates[(self._ranks + phase[:, None]) % self.items]
        asked = z * costs.uniform(*REQUESTS, z.shape)
        fetched = self.sizes * asked
        return LinearChunk.of(
            -asked, -fetched, fetched.sum(axis=1) - self.allowed, asked.sum(axis=1)
        )
