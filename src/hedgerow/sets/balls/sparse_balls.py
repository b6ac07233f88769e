"""Balls whose vertices have few nonzeros of equal size: sorted weights, and caps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.inputs import (
    Vector,
    as_count,
    as_direction,
    as_number,
    as_point,
    as_vector,
    freeze,
    read_only,
)
from hedgerow.sets.balls.l1_l2_balls import NormBall, signed_rows
from hedgerow.sets.compiled import Compiled, pack_uint32
from hedgerow.sets.decision_set import FullDimensional, Rows
from hedgerow.sets.directions import ascending, smallest
from hedgerow.sets.validation import as_size, check_width

FAR = 1e14
"""From this distance on, in units of the largest entry, the rounding of y is as large as the set:
then a vertex that is best for y is the projection of a point that float64 cannot part from y."""
ROUNDING = 4e-16
"""Relative changes below this are rounding."""


@dataclass(frozen=True, eq=False)
class OrderedWeightedBall(NormBall):
    """The ball {w_1 |x|_(1) + ... + w_n |x|_(n) <= radius}, |x|_(1) the largest entry: OWL, OSCAR.

    Equal weights give the l1 ball, (1, 0, ..., 0) the cube, and k ones the hull of an l1 ball and
    a cube. Oracle: the k largest entries of |c|, with the k whose sum over w_1 + ... + w_k is
    largest, one sort, O(n log n). Projection: a root in one variable, one isotonic regression a
    step. Diameter: 2 radius max sqrt(k) / (w_1 + ... + w_k), exact.

    Args:
        weights: w_1 >= ... >= w_n >= 0 with w_1 > 0.
        radius: the largest norm.

    Reference: X. Zeng and M. A. T. Figueiredo, The ordered weighted l1 norm: atomic formulation,
    projections, and algorithms (2014); M. Bogdan, E. van den Berg, C. Sabatti, W. Su and
    E. J. Candes, SLOPE: adaptive variable selection via convex optimization, Ann. Appl. Stat. 9
    (2015) (the proximity operator).

    >>> OrderedWeightedBall([2.0, 1.0]).lmo([1.0, -0.9]).round(6)
    array([-0.333333,  0.333333])
    >>> OrderedWeightedBall([2.0, 1.0]).lmo([1.0, -0.4])
    array([-0.5,  0. ])

    """

    weights: Vector
    radius: float = 1.0
    n: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        w = read_only(as_vector(self.weights, "weights"))
        if not w.size or w.min() < 0.0 or (np.diff(w) > 0.0).any():
            raise ValueError(
                "weights must be at least one number, none below 0 and none above the one before, "
                f"got {w.size} from {w.min(initial=math.inf):g} to {w.max(initial=-math.inf):g}; "
                "sort them, the largest first"
            )
        as_size(w[0], "the largest of the weights")
        freeze(self, weights=w, n=w.size)
        super().__post_init__()
        check_width(self.diameter, "an ordered weighted ball")

    @classmethod
    def oscar(cls, n: int, each: float, pairs: float, radius: float = 1.0) -> OrderedWeightedBall:
        """Return {each sum |x_i| + pairs sum over i < j of max(|x_i|, |x_j|) <= radius}."""
        n = as_count(n, "n")
        each, pairs = as_number(each, "each"), as_number(pairs, "pairs")
        if each < 0.0 or pairs < 0.0:
            raise ValueError(f"each and pairs must be at least 0, got {each:g} and {pairs:g}")
        return cls(each + pairs * np.arange(n - 1.0, -1.0, -1.0), radius)

    @cached_property
    def _sums(self) -> Vector:
        """The sums of the first k weights; infinite where k equal nonzeros are not a vertex.

        They are one where the k weights differ, or k = 1, and a further weight is not zero.
        """
        w = self.weights
        differ = w < w[0]
        differ[0] = True
        sums = np.cumsum(w)
        sums[~differ | np.append(w[1:] == 0.0, False)] = math.inf
        return sums

    @property
    def diameter(self) -> float:
        """Twice the length of the longest vertex."""
        return 2.0 * self.radius * float((np.sqrt(np.arange(1.0, self.n + 1)) / self._sums).max())

    @property
    def is_polytope(self) -> bool:
        """Yes: vertices have k entries of one size, k = 1 .. n."""
        return True

    def norm(self, x: ArrayLike) -> float:
        """Return w_1 |x|_(1) + ... + w_n |x|_(n), O(n log n)."""
        sizes = np.sort(np.abs(as_vector(x, "x", self.n)))[::-1]
        largest = float(sizes[0]) or 1.0
        return largest * float(sizes / largest @ self.weights)

    def lmo(self, c: ArrayLike) -> Vector:
        """Go against the k largest entries of |c| alike, with the best k, the first if several."""
        c = as_direction(c, self.n)
        order = ascending(-np.abs(c))
        means = np.cumsum(np.abs(c)[order]) / self._sums
        vertices = np.isfinite(self._sums)
        k = int(np.flatnonzero(vertices)[np.argmax(means[vertices])])
        v, size = np.zeros(self.n), self.radius / self._sums[k]
        v[order[: k + 1]] = np.where(c[order[: k + 1]] < 0.0, size, -size)
        return v

    @cached_property
    def compiled(self) -> Compiled:
        """One sort of the costs."""
        return Compiled(
            kernels.orders.ordered_weighted,
            kernels.tangents.everywhere,
            numbers=np.concatenate([[self.radius], self._sums]),
            scratch=self.n,
        )

    def ball(self) -> tuple[Vector, float]:
        """Return the centre and radius / ||w||, the distance of the nearest facet."""
        w = self.weights / self.weights[0]
        return np.zeros(self.n), self.radius / (self.weights[0] * float(np.linalg.norm(w)))

    def rows(self) -> Rows:
        """Return the description by x = p - m and prices a, b: a_i + b_j >= w_j (p_i + m_i).

        The norm is the largest value of an assignment of weights to entries; a and b are its dual.
        """
        from scipy import sparse

        n, w = self.n, self.weights[:, None]
        eye, ones = sparse.eye_array(n), sparse.csr_array(np.ones((n, 1)))
        values, first, second = sparse.kron(eye, w), sparse.kron(eye, ones), sparse.kron(ones, eye)
        prices = sparse.hstack([values, values, -first, -second])
        total = sparse.csr_array(np.repeat([0.0, 1.0], 2 * n)[None, :])
        bounds = np.repeat([self.radius / self.weights[0], self.radius], 2 * n)
        return Rows(
            np.zeros(4 * n),
            bounds,
            A_ub=sparse.csr_array(sparse.vstack([prices, total])),
            b_ub=np.append(np.zeros(n * n), self.radius),
            lift=sparse.csr_array(sparse.hstack([eye, -eye, sparse.csr_array((n, 2 * n))])),
        )

    def _shrink(self, y: Vector) -> Vector:
        """Return the falling fit to |y| - lambda w, cut at zero, whose norm is the radius.

        With t = a_1 - lambda w_1 it fits b + t w / w_1, b = a - a_1 w / w_1. The largest entry of
        the answer is the largest mean of first entries; it lies between
        radius / (w_1 + ... + w_n) and radius / w_1, which bounds t.
        """
        from scipy.optimize import brentq, isotonic_regression

        order = ascending(-np.abs(y))
        a, share = np.abs(y)[order], self.weights / self.weights[0]
        most, least = self.radius / self.weights[0], self.radius / self.weights.sum()
        if a[0] > FAR * most:  # the best vertex, as far as entries without weight reach
            return np.copysign(np.minimum(np.abs(y), np.abs(self.lmo(-y))), y)
        b = a - a[0] * share

        def fit(t: float) -> Vector:
            x: Vector = isotonic_regression(b + t * share, increasing=False).x
            return np.maximum(x, 0.0)

        def excess(t: float) -> float:
            return self.norm(fit(t)) - self.radius

        counts = np.arange(1.0, self.n + 1.0)
        low, high = (
            float(((counts * size - np.cumsum(b)) / np.cumsum(share)).min())
            for size in (least, most)
        )
        if excess(low) >= 0.0:
            t = low
        elif excess(high) <= 0.0:  # by no more than rounding
            t = high
        else:
            t = brentq(excess, low, high, xtol=ROUNDING * most, rtol=4.0 * ROUNDING)
        x = np.empty(self.n)
        x[order] = fit(t)
        x *= self.radius / self.norm(x)
        return np.copysign(x, y)

    def _surface(self, x: Vector) -> tuple[Vector, Vector]:
        """Peel off the k largest entries alike, k = 1 .. n, and split what is not a vertex.

        Sizes a_1 >= ... >= a_n are the mixture of (a_k - a_{k+1}) times the first k ones. The
        first k with equal weights are mixtures of single ones; from the first weight zero on, what
        is left lies on a face of a cube.
        """
        n, w = self.n, self.weights
        norm = self.norm(x)
        if norm == 0.0:
            return np.ones(1), self.lmo(x)[None, :]
        order = ascending(-np.abs(x))
        signs = np.copysign(1.0, x)[order]
        a = np.append(np.abs(x)[order] / norm, 0.0)
        equal, some = int((w == w[0]).sum()), int((w > 0.0).sum())
        chain = n if some == n else some - 1  # the last k that is peeled off
        single = min(equal, chain)
        members = np.arange(n) < np.arange(single + 1, chain + 1)[:, None]
        sizes = np.cumsum(w)[single:chain]
        weights = [(a[:single] - a[single]) * w[0], -np.diff(a[single : chain + 1]) * sizes]
        corners = [np.eye(n)[:single] / w[0], members / sizes[:, None]]
        if some < n:
            top = a[some - 1]
            up = np.ones(n)
            if top > 0.0:
                up[some:] = 0.5 + 0.5 * np.minimum(a[some:n] / top, 1.0)
            cuts = np.unique(np.append(up[up < 1.0], 0.0))
            weights.append(np.diff(cuts, append=1.0) * (top * w.sum()))
            corners.append(np.where(up > cuts[:, None], 1.0, -1.0) / w.sum())
        mixed, sorted_vertices = np.concatenate(weights), np.vstack(corners) * signs
        vertices = np.empty_like(sorted_vertices)
        vertices[:, order] = self.radius * sorted_vertices
        kept = mixed > 0.0
        return mixed[kept] / mixed.sum(), vertices[kept]

    def _draw(self, x: Vector, rng: np.random.Generator) -> Vector:
        weights, vertices = self._surface(x)
        vertex: Vector = vertices[rng.choice(weights.size, p=weights)]
        return vertex


@dataclass(frozen=True, eq=False)
class CappedL1Ball(FullDimensional):
    """The l1 ball in a cube, {|x_i| <= cap for all i, |x_1| + ... + |x_n| <= radius}.

    With radius = k cap it is the k-sparse polytope: its vertices have k entries of size `cap`.
    Oracle: the cap against the largest entries of |c|, the rest against the next, O(n).
    Projection: that of |y| on a capped simplex, exact. Diameter: twice the length of a vertex,
    exact.

    Args:
        n: the number of coordinates.
        cap: the largest absolute value.
        radius: the largest sum of absolute values.

    >>> CappedL1Ball(4, cap=1.0, radius=2.5).lmo([0.1, -3.0, 2.0, -1.0])
    array([ 0. ,  1. , -1. ,  0.5])

    """

    n: int
    cap: float
    radius: float

    def __post_init__(self) -> None:
        freeze(
            self,
            n=as_count(self.n, "n"),
            cap=as_size(self.cap, "cap"),
            radius=as_size(self.radius, "radius"),
        )

    @property
    def dim(self) -> int:
        """The number of coordinates, n."""
        return self.n

    @cached_property
    def _full(self) -> int:
        """How many entries of a vertex have the size of the cap."""
        return int(min(self.n, self.radius / self.cap))

    @cached_property
    def _rest(self) -> float:
        return max(0.0, self.radius - self._full * self.cap) if self._full < self.n else 0.0

    @property
    def _known_diameter(self) -> tuple[float, bool]:
        """The distance of two opposite vertices."""
        return 2.0 * math.hypot(math.sqrt(self._full) * self.cap, self._rest), True

    @property
    def is_polytope(self) -> bool:
        """Yes, an l1 ball cut by a cube."""
        return True

    def lmo(self, c: ArrayLike) -> Vector:
        """Go against the largest entries of |c|, the first ones if several, O(n)."""
        c = as_direction(c, self.n)
        sizes = np.abs(c)
        full = smallest(-sizes, self._full)
        v = np.where(full, self.cap, 0.0)
        if self._rest > 0.0:
            v[np.argmax(np.where(full, -1.0, sizes))] = self._rest
        return np.where(c < 0.0, v, -v) + 0.0  # no zero has a sign

    @cached_property
    def compiled(self) -> Compiled:
        """One sort of the costs."""
        return Compiled(
            kernels.orders.signed_filling,
            kernels.tangents.everywhere,
            index=pack_uint32(self._full),
            numbers=np.array([self.cap, self._rest]),
            scratch=self.n,
        )

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether no entry is beyond the cap and the sizes sum to at most the radius."""
        x = as_vector(x, "x", self.n)
        largest = float(np.abs(x).max())
        if largest > self.cap + tol * max(1.0, self.cap):
            return False
        return float(np.abs(x).sum()) <= self.radius + tol * max(1.0, self.radius)

    def start(self) -> Vector:
        """Return the centre."""
        return np.zeros(self.n)

    def project(self, y: ArrayLike) -> Vector:
        """Cut the sizes at the cap; if they sum to too much, lower all of them alike before."""
        y = as_point(y, "y", self.n)
        sizes = np.minimum(np.abs(y), self.cap)
        if sizes.sum() > self.radius:
            caps = np.full(self.n, self.cap)
            kernels.simplices.project_capped(np.abs(y), caps, self.radius, 0.0, sizes)
        return np.copysign(sizes, y)

    def ball(self) -> tuple[Vector, float]:
        """Return the centre and the distance of the nearest facet."""
        return np.zeros(self.n), min(self.cap, self.radius / math.sqrt(self.n))

    def rows(self) -> Rows:
        """Return the description by x = p - m with 0 <= p, m <= cap and sum(p + m) <= radius."""
        return signed_rows(self.n, self.cap, self.radius)
