"""Sets that are known by their oracle alone."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_point, as_vector, length
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.projections.frank_wolfe import Mixture, minimum_norm_point

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
"""Above this dimension `tangent` does not look for the affine hull: it is dim^2 numbers."""


class OracleOnly(DecisionSet):
    """A set that derives every operation from its oracle: subclasses define `dim` and `lmo`.

    Projection, decomposition, sampling, membership and separation use Wolfe's method
    (`frankwolfe.minimum_norm_point`): exact up to rounding on polytopes, to 1e-10 of the diameter
    on other sets unless `oracle_cap` calls end it first; `projection_error` says what was reached.
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
    ...         sums = np.concatenate([[0.0], np.cumsum(as_direction(c, self.n))])
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
        """The diagonal of the bounding box."""
        return self._box_diagonal

    @property
    def diameter_is_exact(self) -> bool:
        """It is not: the corners of the bounding box need not lie in the set."""
        return False

    @cached_property
    def _box_diagonal(self) -> float:
        axis, widths = np.zeros(self.dim), np.zeros(self.dim)
        for i in range(self.dim):
            axis[i] = 1.0
            least = self.minimum(axis)
            widths[i] = -self.minimum(-axis) - least
            axis[i] = 0.0
        return math.hypot(*widths)

    def _approach(self, y: Vector, tolerance: float, far: float = math.inf) -> Mixture:
        lmo = self.workspace().lmo
        return minimum_norm_point(lmo, drawn_near(y), tolerance, self.oracle_cap, far)

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the distance of x to the set is at most tol, relative to entries above 1."""
        x = as_vector(x, "x", self.dim)
        slack = tol * _size(x)
        return length(self._approach(x, 0.5 * slack, slack).x - x) <= slack

    def project(self, y: ArrayLike) -> Vector:
        """Return the nearest point, up to 1e-10 of the diameter; on polytopes up to rounding."""
        y = as_point(y, "y", self.dim)
        width = float(np.linalg.norm(self.lmo(y) - self.lmo(-y)))  # at most the diameter
        return self._approach(y, ACCURACY * width).x

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return at most dim + 1 affinely independent vertices and their weights."""
        x = as_vector(x, "x", self.dim)
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
        y = drawn_near(as_vector(y, "y", self.dim))
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
        """Return a vertex and the directions found by asking the oracle along and against."""
        vertices, basis, _ = self._hull
        return vertices[0].copy(), basis.copy()

    @property
    def _flat(self) -> Vector:
        """An orthonormal basis (dim, dim - d) of the directions in which the set is flat."""
        return self._hull[2]

    def tangent(self, c: ArrayLike) -> Vector:
        """Remove the flat directions; above 1000 dimensions return c as it is."""
        c = as_vector(c, "the direction", self.dim)
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


def _size(x: Vector) -> float:
    return max(1.0, float(np.abs(x).max()))


def _outside(v: Vector, known: Vector) -> Vector:
    """Return the unit vector of v's part orthogonal to the columns; twice, against rounding."""
    for _ in range(2):
        v = v - known @ (known.T @ v)
        v = v / np.linalg.norm(v)
    return v


def drawn_near(y: Vector) -> Vector:
    """Return y, or a point on its ray if it is too far away for squares of lengths."""
    largest = float(np.abs(y).max())
    return y if largest <= FARTHEST else y * (FARTHEST / largest)
