"""Simplices: probability vectors, with and without caps, and subsets of fixed size."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector, as_count, as_direction, as_vector, freeze
from hedgerow.sets.compiled import Compiled
from hedgerow.sets.directions import ascending, smallest
from hedgerow.sets.simplices.fixed_sum import (
    ROUNDING,
    CappedSum,
    mixture,
    systematic_draw,
    systematic_subsets,
)
from hedgerow.sets.validation import as_size


@dataclass(frozen=True, eq=False)
class Simplex(CappedSum):
    """The simplex {x >= 0, x_1 + ... + x_n = total}: mixtures, portfolios, allocations.

    Oracle: the smallest entry of c, O(n). Projection: Michelot's method, O(n) in practice.
    Diameter: sqrt(2) total, exact.

    Args:
        n: the number of coordinates.
        total: what the coordinates sum to.

    Reference: C. Michelot, A finite algorithm for finding the projection of a point onto the
    canonical simplex of R^n, J. Optim. Theory Appl. 50 (1986).

    >>> Simplex(3).lmo([0.2, -1.0, 0.5])
    array([0., 1., 0.])

    """

    n: int
    total: float = 1.0

    def __post_init__(self) -> None:
        freeze(self, n=as_count(self.n, "n"), total=as_size(self.total, "total"))

    @property
    def _cap(self) -> Vector:
        return np.full(self.n, self.total)

    @property
    def _total(self) -> float:
        return self.total

    @property
    def _free(self) -> NDArray[np.bool_]:
        return np.full(self.n, self.n > 1)

    @property
    def diameter(self) -> float:
        """The distance of two corners."""
        return math.sqrt(2.0) * self.total if self.n > 1 else 0.0

    @property
    def pyramidal_width(self) -> float:
        """The distance of the centres of two opposite faces of n/2 corners each: exact.

        It is 2 total / sqrt(n) for even n and 2 total / sqrt(n - 1/n) for odd n. Faces of k and
        n - k corners are total sqrt(1/k + 1/(n - k)) apart.

        Reference: S. Lacoste-Julien and M. Jaggi, On the global linear convergence of Frank-Wolfe
        optimization variants, NIPS 2015; J. Pena and D. Rodriguez, Polytope conditioning and
        linear convergence of the Frank-Wolfe algorithm, Math. Oper. Res. 44 (2019).
        """
        return self.total * KSubsets(self.n, 1).pyramidal_width

    def radius_around(self, x: ArrayLike) -> float:
        """Return the distance to the farthest vertex, that of the smallest entry."""
        away = as_vector(x, "x", self).copy()
        away[int(away.argmin())] -= self.total
        return float(np.linalg.norm(away))

    def lmo(self, c: ArrayLike) -> Vector:
        """Put the whole total on the smallest entry of c, the first one if several."""
        c = as_direction(c, self)
        v = np.zeros(self.n)
        v[np.argmin(c)] = self.total
        return v

    @cached_property
    def compiled(self) -> Compiled:
        """One pass over the costs."""
        return Compiled(
            kernels.simplices.cheapest,
            self._measure,
            numbers=np.array([self.total]),
            label=self._label,
            members=self._members,
            project=kernels.simplices.nearest,
        )

    def start(self) -> Vector:
        """Return the centre."""
        return np.full(self.n, self.total / self.n)

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return one corner per positive coordinate."""
        p = self._shares(x)
        return p[p > 0.0], self.total * np.eye(self.n)[p > 0.0]

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Draw a corner by its coordinate's share of the total."""
        v = np.zeros(self.n)
        v[rng.choice(self.n, p=self._shares(x))] = self.total
        return v

    def _shares(self, x: ArrayLike) -> Vector:
        p = np.maximum(self._inside(x), 0.0)
        return p / float(p.sum())


@dataclass(frozen=True, eq=False)
class CappedSimplex(CappedSum):
    """The capped simplex {0 <= x <= cap, x_1 + ... + x_n = total}: diversified allocations.

    Oracle: fill the cheapest coordinates up to their caps, O(n log n). Projection: the multiplier
    by Newton steps in a bracket of breakpoints, a few passes of O(n). Diameter: exact if all
    positive caps, cut at the total, are equal; else the bound that `diameter` proves, because
    the exact one decides whether numbers can be parted in two equal sums.

    Args:
        n: the number of coordinates.
        cap: the largest value of each coordinate, or one number for all.
        total: what the coordinates sum to; at most the sum of the caps.

    >>> CappedSimplex(3, 0.6).lmo([0.2, -1.0, 0.5])
    array([0.4, 0.6, 0. ])

    """

    n: int
    cap: Vector
    total: float = 1.0

    def __init__(self, n: int, cap: ArrayLike, total: float = 1.0):
        n, total = as_count(n, "n"), as_size(total, "total")
        caps = as_vector(np.full(n, cap) if np.ndim(cap) == 0 else cap, "cap", n)
        if caps.min() < 0.0:
            raise ValueError(f"caps must be at least 0, got {caps.min():g}")
        most = float(np.minimum(caps, total).sum())
        if most < total * (1.0 - ROUNDING):
            raise ValueError(
                f"the caps sum to {most:g}, below the total {total:g}, so no point "
                "exists; raise the caps or lower the total"
            )
        freeze(self, n=n, cap=caps, total=total)

    @property
    def _cap(self) -> Vector:
        return np.minimum(self.cap, self.total)

    @property
    def _total(self) -> float:
        return self.total

    @property
    def diameter(self) -> float:
        """The distance of two vertices, exact for equal caps, else an upper bound.

        The difference of two points gains s in some coordinates and loses s in others, where
        s <= total and s <= sum of caps - total. Filling the largest caps first makes squares
        largest: D^2 <= min(2 fill(s), fill(2 s)). With m equal caps s <= floor(m/2) cap as well,
        and then 2 fill(s) is attained.
        """
        caps = np.sort(self._cap[self._free])[::-1]
        if not caps.size:
            return 0.0
        s = min(self.total, float(caps.sum()) - self.total)
        if self.diameter_is_exact:
            s = min(s, caps.size // 2 * float(caps[0]))
            return math.sqrt(2.0 * _fill(caps, s))
        return math.sqrt(min(2.0 * _fill(caps, s), _fill(caps, 2.0 * s)))

    @property
    def diameter_is_exact(self) -> bool:
        """Whether all caps that matter are equal."""
        caps = self._cap[self._free]
        return bool((caps == caps[:1]).all())

    @property
    def pyramidal_width(self) -> float:
        """That of `KSubsets`, scaled, if all caps that matter are equal and the total is k caps."""
        caps = self._cap[self._free]
        if not caps.size or not self.diameter_is_exact:
            return 0.0
        cap = float(caps[0])
        k = round(self.total / cap)
        whole = abs(self.total - k * cap) <= ROUNDING * self.total
        return cap * KSubsets(caps.size, k).pyramidal_width if whole else 0.0

    def lmo(self, c: ArrayLike) -> Vector:
        """Fill coordinates up to their caps by rising c, the first ones first if several."""
        return self._filled(ascending(as_direction(c, self)))

    @cached_property
    def compiled(self) -> Compiled:
        """The oracle as a kernel: it sorts the costs once."""
        return Compiled(
            kernels.orders.filling,
            self._measure,
            numbers=np.concatenate([[self.total, ROUNDING * self.total], self._cap]),
            label=self._label,
            members=self._members,
            project=kernels.simplices.nearest_below_caps,
        )

    def _filled(self, order: NDArray[np.intp]) -> Vector:
        cap = self._cap[order]
        rest = self.total - np.concatenate([[0.0], np.cumsum(cap)[:-1]])
        snap = ROUNDING * self.total  # so that rounded sums leave no tiny rests
        v = np.empty(self.n)
        v[order] = np.where(rest >= cap - snap, cap, np.where(rest > snap, rest, 0.0))
        return v

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return at most n vertices, O(n^2 log n): go from a vertex through x to a bound, again."""
        return mixture(self._peel(self.project(self._inside(x))))

    def _peel(self, x: Vector) -> Iterator[tuple[float, Vector]]:
        """Yield a vertex v of the smallest face around x, and its share of x, until x = v."""
        cap = self._cap
        moves = self._free.copy()
        height = np.divide(x, cap, out=np.zeros(self.n), where=moves)
        while True:
            v = self._filled(ascending(-height))
            d = np.where(moves, x - v, 0.0)
            if moves.sum() <= 1 or np.abs(d).max() <= ROUNDING * self.total:
                yield 1.0, v
                return
            bound = np.where(d > 0.0, cap, 0.0)
            steps = np.divide(bound - v, d, out=np.full(self.n, np.inf), where=d != 0.0)
            i = int(np.argmin(steps))
            t = max(1.0, float(steps[i]))
            yield 1.0 - 1.0 / t, v
            x = v + t * d
            height[moves] = np.clip(x[moves] / cap[moves], 0.0, 1.0)
            height[i] = 2.0 if d[i] > 0.0 else -1.0  # from now on always full, or always empty
            moves[i] = False

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Round x to a vertex by moving mass between pairs of coordinates at random, O(n)."""
        v = self.project(self._inside(x))
        kernels.simplices.round_randomly(v, self._cap, rng.random(self.n))
        return v


@dataclass(frozen=True, eq=False)
class KSubsets(CappedSum):
    """The hypersimplex {0 <= x <= 1, x_1 + ... + x_n = k}: mixtures of k-subsets of n items.

    Oracle: the k smallest entries of c, O(n). Projection: as for `CappedSimplex`. Sampling and
    decomposition: systematic, O(n) a draw. Diameter: sqrt(2 min(k, n - k)), exact.

    Args:
        n: the number of items.
        k: the size of the subsets, 0 to n.

    >>> KSubsets(4, 2).lmo([0.2, -1.0, 0.5, 0.2])
    array([1., 1., 0., 0.])

    """

    zero_one = True

    n: int
    k: int

    def __post_init__(self) -> None:
        freeze(self, n=as_count(self.n, "n"), k=as_count(self.k, "k", least=0))
        if self.k > self.n:
            raise ValueError(f"k must be at most n = {self.n}, got {self.k}")

    @property
    def _cap(self) -> Vector:
        return np.ones(self.n)

    @property
    def _total(self) -> float:
        return float(self.k)

    @property
    def _free(self) -> NDArray[np.bool_]:
        return np.full(self.n, 0 < self.k < self.n)

    @property
    def diameter(self) -> float:
        """The distance of two subsets with as few common items as possible."""
        return math.sqrt(2.0 * min(self.k, self.n - self.k))

    @property
    def pyramidal_width(self) -> float:
        """The facial distance, exact, O(1).

        Let a face fix a items at 0 and b items at 1. For a step from it to vertices outside that
        lowers the b items by t and raises the a items by 1 - t in total, and the m others by the
        difference, the squared length is at least t^2 / b + (1 - t)^2 / a + (2 t - 1)^2 / m, and
        mixtures of vertices that differ in one of the a + b items attain it. Its least value is
        n / (n (a + b) - (a - b)^2). If m > 0 then b < k and a < n - k. A vertex, m = 0, is
        sqrt(n / (k (n - k))) away.
        """
        n, k = self.n, min(self.k, self.n - self.k)
        if k == 0:
            return 0.0
        b = k - 1
        a = min(n - k - 1, b + n // 2)
        return math.sqrt(n / max(k * (n - k), n * (a + b) - (a - b) ** 2))

    def lmo(self, c: ArrayLike) -> Vector:
        """Take the k smallest entries of c, the first ones if several are equal."""
        return smallest(as_direction(c, self), self.k).astype(np.float64)

    @cached_property
    def compiled(self) -> Compiled:
        """The oracle as a kernel: it sorts the costs once."""
        return Compiled(
            kernels.orders.subset,
            self._measure,
            index=np.array([self.k], np.uint32),
            numbers=np.concatenate([[self._total, 0.0], self._cap]),
            label=self._label,
            members=self._members,
            project=kernels.simplices.nearest_below_caps,
        )

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return at most n subsets, those that systematic sampling can draw."""
        return systematic_subsets(np.clip(self._inside(x), 0.0, 1.0), self.k)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Draw a subset by systematic sampling."""
        return systematic_draw(np.clip(self._inside(x), 0.0, 1.0), self.k, rng)


def _fill(caps: Vector, amount: float) -> float:
    """Return the sum of squares after filling caps in this order with an amount."""
    rest = amount - np.concatenate([[0.0], np.cumsum(caps)[:-1]])
    return float((np.clip(rest, 0.0, caps) ** 2).sum())
