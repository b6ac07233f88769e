"""Rankings: all orders of given weights."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector, as_direction, as_point, as_vector, freeze
from hedgerow.sets.compiled import Compiled
from hedgerow.sets.decision_set import Rows
from hedgerow.sets.directions import ascending
from hedgerow.sets.simplices.fixed_sum import ROUNDING, FixedSum, mixture
from hedgerow.sets.validation import check_coordinates, check_width

STEPS = 1000
"""The most Newton steps to a facet; a few have been seen, and each is at a nearer facet."""


@dataclass(frozen=True, eq=False)
class Permutahedron(FixedSum):
    """The permutahedron, the hull of all orders of the weights: rankings, positions in a list.

    With w_1 >= ... >= w_n it is {x : the sum is w_1 + ... + w_n, and no j entries sum to more than
    w_1 + ... + w_j}. Oracle: the largest weight where c is smallest, one sort, O(n log n).
    Projection: one isotonic regression, O(n log n). Diameter: ||w - reversed w||, exact.

    Args:
        weights: what is handed out, in any order; equal weights are allowed.

    Reference: M. Blondel, O. Teboul, Q. Berthet and J. Djolonga, Fast differentiable sorting and
    ranking, ICML 2020 (projection).

    >>> Permutahedron([3.0, 2.0, 1.0]).lmo([0.2, -1.0, 0.5])
    array([2., 3., 1.])

    """

    weights: Vector
    _falling: Vector = field(init=False, repr=False)

    def __init__(self, weights: ArrayLike):
        given = as_vector(weights, "weights")
        if not given.size:
            raise ValueError("a permutahedron needs at least one weight, got none")
        freeze(self, weights=given, _falling=np.sort(given)[::-1])
        check_coordinates(given, "weights")
        check_width(float(self._falling[0] - self._falling[-1]), "a permutahedron")

    @property
    def dim(self) -> int:
        """The number of weights."""
        return self.weights.size

    @property
    def _free(self) -> NDArray[np.bool_]:
        return np.full(self.dim, self._falling[0] > self._falling[-1])

    @property
    def diameter(self) -> float:
        """The distance of an order and its reverse."""
        return float(np.linalg.norm(self._falling - self._falling[::-1]))

    def radius_around(self, x: ArrayLike) -> float:
        """Return the distance to the farthest vertex; all have one norm, so the oracle finds it."""
        x = as_vector(x, "x", self)
        return min(self.diameter, float(np.linalg.norm(self.lmo(x) - x)))

    @property
    def is_polytope(self) -> bool:
        """Yes, the hull of the orders."""
        return True

    @property
    def pyramidal_width(self) -> float:
        """The distance of a vertex to the plane of its neighbours: exact if all weights differ.

        A face is where some slacks w_1 + ... + w_j - x(S_j) of nested sets S_j vanish. At a vertex
        each is 0 or at least w_j - w_(j+1), if that is not 0, and at least the least such gap if
        it is. Their sum, in units of these gaps, has the longest gradient along the hull where all
        n - 1 of them count, because the parts of nested sets along the hull have products >= 0.
        """
        gaps = -np.diff(self._falling)
        least = float(gaps[gaps > 0.0].min(initial=math.inf))
        if least == math.inf:
            return 0.0
        units = least / np.where(gaps > 0.0, gaps, least)
        slope = np.append(0.0, np.cumsum(units))
        return least / float(np.linalg.norm(slope - slope.mean()))

    def lmo(self, c: ArrayLike) -> Vector:
        """Give the largest weight to the smallest entry of c, to the first one if several."""
        v = np.empty(self.dim)
        v[ascending(as_direction(c, self))] = self._falling
        return v

    @cached_property
    def compiled(self) -> Compiled:
        """The oracle as a kernel: it sorts the costs once."""
        return Compiled(
            kernels.orders.ranking,
            self._measure,
            numbers=self._falling,
            label=self._label,
            members=self._members,
        )

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the j largest entries never sum to more than the j largest weights."""
        x = as_vector(x, "x", self)
        excess = np.cumsum(np.sort(x)[::-1] - self._falling)
        slack = tol * max(1.0, float(np.abs(self._falling).sum()))
        return bool(excess.max() <= slack and excess[-1] >= -slack)

    def start(self) -> Vector:
        """Return the centre, the mean weight everywhere."""
        first = float(self._falling[0])  # as offset: equal weights stay what they are
        return np.full(self.dim, first + float((self._falling - first).mean()))

    def project(self, y: ArrayLike) -> Vector:
        """Subtract from y, sorted, the falling sequence nearest to y - w.

        On each of its blocks the projection is y moved to the weights' mean. A gap in y of more
        than w_1 - w_n parts two blocks whatever its size, so it is cut: large y cost no digits.
        """
        from scipy.optimize import isotonic_regression

        y = as_point(y, "y", self)
        order = ascending(-y)
        w = self._falling
        gaps = np.minimum(-np.diff(y[order]), w[0] - w[-1])
        s = np.concatenate([[0.0], -np.cumsum(gaps)])
        blocks = isotonic_regression(s - w, increasing=False).blocks
        first, size = blocks[:-1], np.diff(blocks)
        s -= np.repeat(s[first], size)
        x = np.empty(self.dim)
        x[order] = s + np.repeat((np.add.reduceat(w - s, first)) / size, size)
        return x

    def ball(self) -> tuple[Vector, float]:
        """Return the centre and the distance of the nearest facet, r = 0 for equal weights.

        By symmetry no ball is larger. The facet of j entries is
        (w_1 + ... + w_j - j mean) / sqrt(j (n - j) / n) away.
        """
        centre, n = self.start(), self.dim
        j = np.arange(1, n)
        facets = np.cumsum(self._falling - centre)[:-1] / np.sqrt(j * (n - j) / n)
        return centre, float(facets.min()) if self._free[0] else 0.0

    def rows(self) -> Rows:
        """Return the Birkhoff polytope of shares z_ij of weight j in place i, x = z w."""
        from scipy import sparse

        n = self.dim
        eye, ones = sparse.eye_array(n), sparse.csr_array(np.ones((1, n)))
        places, weights = sparse.kron(eye, ones), sparse.kron(ones, eye)
        return Rows(
            np.zeros(n * n),
            np.ones(n * n),
            A_eq=sparse.csr_array(sparse.vstack([places, weights]))[:-1],  # one is implied
            b_eq=np.ones(2 * n - 1),
            lift=sparse.csr_array(sparse.kron(eye, self._falling[None, :])),
        )

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return at most n orders, O(n^2 log n): go from an order through x to a facet, again."""
        return mixture(self._peel(self._inside(x)))

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Walk through the decomposition and stop at each order by its share of what is left."""
        return next(v for share, v in self._peel(self._inside(x)) if rng.random() < share)

    def _peel(self, x: Vector) -> Iterator[tuple[float, Vector]]:
        """Yield an order v on the smallest face around x, and its share of x, until x = v.

        A face is a list of blocks of coordinates, which share blocks of consecutive weights.
        """
        block = np.zeros(self.dim, np.intp)
        negligible = ROUNDING * float(np.abs(self._falling).max())
        while True:
            v = np.empty(self.dim)
            v[np.lexsort((-x, block))] = self._falling
            d = x - v
            t, after = self._leave(v, d, block, negligible)
            if t == math.inf:
                yield 1.0, v
                return
            yield 1.0 - 1.0 / t, v
            x = v + t * d
            block[after] += 1

    def _leave(
        self, v: Vector, d: Vector, block: NDArray[np.intp], negligible: float
    ) -> tuple[float, NDArray[np.intp]]:
        """Return the last t with v + t d in the set, and the coordinates after the new facet.

        Newton's method from above: at each t the largest entries show which facet is passed most.
        """
        t, key, after = math.inf, d, np.empty(0, np.intp)
        for _ in range(STEPS):
            order = np.lexsort((-key, block))
            slack = np.cumsum(self._falling - v[order])[:-1]
            rise = np.cumsum(d[order])[:-1]
            facet = (np.diff(block[order]) == 0) & (rise > negligible)
            steps = np.divide(slack, rise, out=np.full(rise.size, math.inf), where=facet)
            j = int(np.argmin(steps)) if steps.size else 0
            if not steps.size or max(1.0, steps[j]) >= t:
                break
            t, after = max(1.0, float(steps[j])), order[j + 1 :]
            key = v + t * d
        return t, after
