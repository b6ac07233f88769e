"""Sets that are known by their oracle alone, such as a function of yours or a list of vertices."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import (
    Vector,
    as_array,
    as_count,
    as_direction,
    as_number,
    as_point,
    as_vector,
    freeze,
    length,
)
from hedgerow.sets.decision_set import DecisionSet, Rows
from hedgerow.sets.projections.frank_wolfe import Mixture, minimum_norm_point
from hedgerow.sets.validation import check_coordinates, check_width

ACCURACY = 1e-10
"""Projections aim at this distance from the nearest point, relative to the diameter."""
INSIDE = 1e-7
"""Points at most this far from the set, relative to their largest entry, can be decomposed."""
FLAT = 1e-9
"""A set narrower than this in some direction, relative to its largest entry, is flat there."""
FARTHEST = 1e140
"""Points further away are drawn towards the origin, by less than their rounding changes: squares
of lengths have to fit float64."""
LARGEST_HULL = 1000
"""Above this dimension `tangent` does not compute the affine hull: it is dim^2 numbers."""


class OracleOnly(DecisionSet):
    """A set that derives every operation from its oracle: subclasses define `dim` and `lmo`.

    Projection, decomposition, sampling, membership and separation use Wolfe's method
    (`frankwolfe.minimum_norm_point`): exact up to rounding on polytopes, to 1e-10 of the diameter
    on other sets unless `oracle_cap` calls end it first; `projection_error` bounds what is left.
    The affine hull takes at most 2 dim + 1 oracle calls, once. Diameter: a bound, the
    diagonal of the bounding box, 2 dim calls, once. Override what has a better answer.

    A set of your own:

    >>> from dataclasses import dataclass
    >>> from hedgerow.inputs import as_direction
    >>> @dataclass(frozen=True, eq=False)
    ... class Intervals(OracleOnly):
    ...     '''0/1 vectors of length n whose ones are consecutive, and their mixtures.'''
    ...
    ...     n: int
    ...
    ...     @property
    ...     def dim(self):
    ...         return self.n
    ...
    ...     def lmo(self, c):
    ...         sums = np.concatenate([[0.0], np.cumsum(as_direction(c, self))])
    ...         gain = sums - np.maximum.accumulate(sums)  # the best interval that ends here
    ...         last = int(np.argmin(gain))
    ...         v = np.zeros(self.n)
    ...         v[np.argmax(sums[: last + 1]) : last] = 1.0
    ...         return v
    >>> X = Intervals(4)
    >>> X.lmo([1.0, -2.0, 1.0, -3.0]), X.contains([0.5, 0.0, 0.5, 0.0])
    (array([0., 1., 1., 1.]), True)
    >>> X.project([0.9, 0.1, 0.9, 0.3]).round(6)
    array([0.666667, 0.333333, 0.666667, 0.3     ])
    >>> weights, vertices = X.decompose([0.5, 1.0, 1.0, 0.25])
    >>> weights, vertices
    (array([0.25, 0.5 , 0.25]), array([[1., 1., 1., 1.],
           [0., 1., 1., 0.],
           [1., 1., 1., 0.]]))
    """

    @property
    def oracle_cap(self) -> int:
        """The most oracle calls of one projection, decomposition or test."""
        return 1000 + 20 * self.dim

    @property
    def diameter(self) -> float:
        """The largest distance of two points, or a bound of it."""
        return self._known_diameter[0]

    @property
    def diameter_is_exact(self) -> bool:
        """Whether two points of the set are known to be that far apart."""
        return self._known_diameter[1]

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        """The diagonal of the bounding box, whose corners need not lie in the set."""
        axis, widths = np.zeros(self.dim), np.zeros(self.dim)
        for i in range(self.dim):
            axis[i] = 1.0
            least = self.minimum(axis)
            widths[i] = -self.minimum(-axis) - least
            axis[i] = 0.0
        return math.hypot(*widths), False

    def _approach(self, y: Vector, tolerance: float, far: float = math.inf) -> Mixture:
        lmo = self.workspace().lmo
        return minimum_norm_point(lmo, clip_length(y), tolerance, self.oracle_cap, far)

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the distance of x to the set is at most tol, relative to entries above 1."""
        x = as_vector(x, "x", self)
        slack = tol * _size(x)
        return length(self._approach(x, 0.5 * slack, slack).x - x) <= slack

    def project(self, y: ArrayLike) -> Vector:
        """Return the nearest point, up to 1e-10 of the diameter; on polytopes up to rounding."""
        y = as_point(y, "y", self)
        width = float(np.linalg.norm(self.lmo(y) - self.lmo(-y)))  # at most the diameter
        return self._approach(y, ACCURACY * width).x

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return at most dim + 1 affinely independent vertices and their weights."""
        x = as_vector(x, "x", self)
        near = self._approach(x, 0.01 * FLAT * _size(x), INSIDE * _size(x))
        distance = length(near.x - x)
        if distance > INSIDE * _size(x):
            raise ValueError(
                f"only a point of the set is a mixture of vertices, got one up to {distance:g} "
                "away; project it first"
            )
        return near.weights, near.vertices

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Return one vertex of the decomposition, drawn by its weight."""
        weights, vertices = self.decompose(x)
        vertex: Vector = vertices[rng.choice(weights.size, p=weights)].copy()
        return vertex

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return y minus the nearest point, or None within 1e-9 of the set."""
        y = clip_length(as_vector(y, "y", self))
        slack = FLAT * _size(y)
        near = self._approach(y, 0.5 * slack, slack)
        a = y - near.x
        return a if float(a @ a) - near.gap > slack * float(np.linalg.norm(a)) else None

    @cached_property
    def _hull(self) -> tuple[Vector, Vector, Vector]:
        """Affinely independent vertices (d + 1, dim), the basis (dim, d) and its complement."""
        n = self.dim
        vertices = [self.lmo(np.zeros(n))]
        known = np.zeros((n, n))  # directions of the hull first, flat directions last
        left, d, flat = np.ones(n), 0, n  # left: squared norms of the axes outside of `known`
        while d < flat:
            c = np.zeros(n)
            c[np.argmax(left)] = 1.0
            c = _outside(c, known)
            low, high = self.lmo(c), self.lmo(-c)
            v = max(low, high, key=lambda v: abs(float(c @ (v - vertices[0]))))
            if float(c @ (high - low)) > FLAT * max(np.abs(low).max(), np.abs(high).max()):
                vertices.append(v)
                known[:, d] = new = _outside(v - vertices[0], known)
                d += 1
            else:
                flat -= 1
                known[:, flat] = new = c
            left -= new**2
        return np.array(vertices), known[:, :d], known[:, d:]

    def hull(self) -> tuple[Vector, Vector]:
        """Return a vertex and the directions found by calling the oracle along and against."""
        vertices, basis, _ = self._hull
        return vertices[0].copy(), basis.copy()

    @property
    def _flat(self) -> Vector:
        """An orthonormal basis (dim, dim - d) of the directions in which the set is flat."""
        return self._hull[2]

    def tangent(self, c: ArrayLike) -> Vector:
        """Remove the flat directions; above 1000 dimensions return c as it is."""
        c = as_vector(c, "the direction", self)
        if self.dim > LARGEST_HULL or not self._flat.size:
            return c
        return c - self._flat @ (self._flat.T @ c)

    def ball(self) -> tuple[Vector, float]:
        """Return the inner ball of the simplex of vertices that spans the hull, r = 0 for a point.

        With g_i the slope of the i-th barycentric coordinate: r = 1 / (||g_0|| + ... + ||g_d||).
        """
        vertices, basis, _ = self._hull
        if not basis.size:
            return vertices[0].copy(), 0.0
        corners = (vertices - vertices[0]) @ basis
        slopes = np.linalg.inv(np.column_stack([corners, np.ones(len(corners))]))[:-1]
        steepness = np.linalg.norm(slopes, axis=0)
        radius = 1.0 / float(steepness.sum())
        return radius * (steepness @ vertices), (1.0 - 1e-6) * radius


class ContainsUnitVectors(OracleOnly):
    """A set of x >= 0 that contains zero and the unit vector of each coordinate that can move."""

    @property
    @abstractmethod
    def _free(self) -> NDArray[np.bool_]:
        """Which coordinates can move."""

    def tangent(self, c: ArrayLike) -> Vector:
        """Zero the coordinates that cannot move."""
        return np.where(self._free, as_vector(c, "the direction", self), 0.0)

    def hull(self) -> tuple[Vector, Vector]:
        """Return zero and the axes of the coordinates that can move."""
        return np.zeros(self.dim), np.eye(self.dim)[:, self._free].copy()

    def ball(self) -> tuple[Vector, float]:
        """Return shares r and the radius r: r (m + sqrt(m)) = 1 if m coordinates can move.

        With zero and the unit vectors the set contains all x >= 0 that sum to at most 1.
        """
        m = int(self._free.sum())
        radius = 1.0 / (m + math.sqrt(m)) if m else 0.0
        return np.where(self._free, radius, 0.0), (1.0 - 1e-12) * radius

    def start(self) -> Vector:
        """Return the centre of the inner ball."""
        return self.ball()[0]


def _size(x: Vector) -> float:
    return max(1.0, float(np.abs(x).max()))


def _outside(v: Vector, known: Vector) -> Vector:
    """Return the unit vector of v's part orthogonal to the columns; twice, against rounding."""
    for _ in range(2):
        v = v - known @ (known.T @ v)
        v = v / np.linalg.norm(v)
    return v


def clip_length(y: Vector) -> Vector:
    """Return y, or a point on its ray if it is too far away for squares of lengths."""
    largest = float(np.abs(y).max())
    return y if largest <= FARTHEST else y * (FARTHEST / largest)


PAIRS = 2000
"""Up to this many vertices the diameter is the largest distance of a pair, else a bound."""


@dataclass(frozen=True, eq=False)
class ConvexHull(OracleOnly):
    """The mixtures of given points.

    Oracle: the smallest entry of V c, O(k n) with k points. Diameter: exact up to 2000 points, else
    twice the largest distance to their mean.

    Args:
        vertices: the points, shape (k, n); points inside the hull of others do no harm.

    >>> X = ConvexHull([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> X.lmo([-1.0, -1.0]), X.project([2.0, 1.0])
    (array([2., 0.]), array([1.6, 0.2]))

    """

    vertices: Vector

    def __init__(self, vertices: ArrayLike):
        points = as_array(vertices, "vertices")
        if points.ndim != 2 or not points.size:
            raise ValueError(
                f"vertices must have shape (k, n) with k, n >= 1, got shape {points.shape}"
            )
        check_coordinates(points, "vertices")
        check_width(float(np.ptp(points, axis=0).max()), "a hull of points")
        freeze(self, vertices=points)

    def _in_short(self) -> str:
        return f"{len(self.vertices)} vertices, {self.dim} coordinates"

    @property
    def dim(self) -> int:
        """The number of coordinates, n."""
        return int(self.vertices.shape[1])

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        points = self.vertices
        if len(points) > PAIRS:
            return 2.0 * float(np.linalg.norm(points - points.mean(axis=0), axis=1).max()), False
        return max(float(np.linalg.norm(points - p, axis=1).max()) for p in points), True

    @property
    def is_polytope(self) -> bool:
        """Yes, the hull of the given points."""
        return True

    @property
    def pyramidal_width(self) -> float:
        """The length of a segment; not computed for more than two points."""
        return self.diameter if len(self.vertices) == 2 else 0.0

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the point with the smallest <c, v>, the first one if several."""
        best: Vector = self.vertices[np.argmin(self.vertices @ as_direction(c, self))].copy()
        return best

    def start(self) -> Vector:
        """Return the mean of the points."""
        mean: Vector = self.vertices.mean(axis=0)
        return mean

    def rows(self) -> Rows:
        """Return the description by weights: x = w V with w >= 0 and sum(w) = 1."""
        from scipy import sparse

        k = len(self.vertices)
        return Rows(
            np.zeros(k),
            np.ones(k),
            A_eq=sparse.csr_array(np.ones((1, k))),
            b_eq=np.ones(1),
            lift=sparse.csr_array(self.vertices.T),
        )


@dataclass(frozen=True, eq=False)
class OracleSet(OracleOnly):
    """The set that your own linear minimisation oracle defines.

    Each answer is checked for its shape and for finite numbers; that it is a minimiser is your
    promise. Everything else is found by the oracle alone. On sets with curved faces, `decompose`
    finds points on the boundary only up to about the square root of rounding.
    `hedgerow.testing.check_set(OracleSet(lmo, dim))` tries it on random directions.

    Oracle: yours. Diameter: yours, else a bound by 2 dim oracle calls.

    Args:
        lmo: takes a float64 vector c of length `dim`, returns a minimiser of <c, x> over the set;
            it must answer for every c, zero included, and always the same.
        dim: the number of coordinates.
        diameter: the largest distance of two points, or a bound of it.
        start: the first point of a learner; the oracle's answer to zero unless given.

    >>> X = OracleSet(lambda c: np.where(c < 0.0, 1.0, -1.0), 2)
    >>> X.lmo([1.0, -2.0]), X.contains([0.3, 1.1]), X.project([0.3, 1.1]).round(6)
    (array([-1.,  1.]), False, array([0.3, 1. ]))

    """

    oracle: Callable[[Vector], ArrayLike]
    _dim: int
    _diameter: float | None
    _start: Vector | None

    def __init__(
        self,
        lmo: Callable[[Vector], ArrayLike],
        dim: int,
        diameter: float | None = None,
        start: ArrayLike | None = None,
    ):
        if not callable(lmo):
            raise TypeError(f"lmo must be a function of a direction, got {type(lmo).__name__}")
        freeze(self, oracle=lmo, _dim=as_count(dim, "dim"))
        if diameter is not None:
            diameter = as_number(diameter, "diameter")
            if diameter < 0.0:
                raise ValueError(f"diameter must be at least 0, got {diameter:g}")
            check_width(diameter, "a set")
        point = None if start is None else as_vector(start, "start", dim)
        freeze(self, _diameter=diameter, _start=point)
        self.lmo(np.zeros(dim))  # so that a wrong shape shows now

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self._dim

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        given = self._diameter
        return super()._known_diameter if given is None else (given, False)

    def lmo(self, c: ArrayLike) -> Vector:
        """Call your function and check its answer."""
        answer = self.oracle(as_direction(c, self).copy())
        vertex = as_vector(answer, "the oracle's answer", self).copy()
        check_coordinates(vertex, "the oracle's answer")
        return vertex

    def start(self) -> Vector:
        """Return the given start, or the oracle's answer to zero."""
        return self.lmo(np.zeros(self.dim)) if self._start is None else self._start.copy()
