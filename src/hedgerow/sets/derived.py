"""What a set can do through its oracle alone: nearest points, the affine hull, a ball inside."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.inputs import Vector, length
from hedgerow.sets.projections.frank_wolfe import Mixture, minimum_norm_point

if TYPE_CHECKING:
    from hedgerow.sets.decision_set import DecisionSet

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


def approach(X: DecisionSet, y: Vector, tolerance: float, far: float = math.inf) -> Mixture:
    """Find the point of X nearest to y by Wolfe's method, as a mixture of vertices."""
    lmo = X.workspace().lmo
    return minimum_norm_point(lmo, clip_length(y), tolerance, X.oracle_cap, far)


def contains(X: DecisionSet, x: Vector, tol: float) -> bool:
    """Whether the distance of x to X is at most tol, relative to entries above 1."""
    slack = tol * _size(x)
    return length(approach(X, x, 0.5 * slack, slack).x - x) <= slack


def project(X: DecisionSet, y: Vector) -> Vector:
    """Return the nearest point, up to 1e-10 of the diameter; on polytopes up to rounding."""
    width = float(np.linalg.norm(X.lmo(y) - X.lmo(-y)))  # at most the diameter
    return approach(X, y, ACCURACY * width).x


def decompose(X: DecisionSet, x: Vector) -> tuple[Vector, Vector]:
    """Return at most dim + 1 affinely independent vertices and their weights."""
    near = approach(X, x, 0.01 * FLAT * _size(x), INSIDE * _size(x))
    distance = length(near.x - x)
    if distance > INSIDE * _size(x):
        raise ValueError(
            f"only a point of the set is a mixture of vertices, got one up to {distance:g} "
            "away; project it first"
        )
    return near.weights, near.vertices


def separate(X: DecisionSet, y: Vector) -> Vector | None:
    """Return y minus the nearest point, or None within 1e-9 of X."""
    y = clip_length(y)
    slack = FLAT * _size(y)
    near = approach(X, y, 0.5 * slack, slack)
    a = y - near.x
    return a if float(a @ a) - near.gap > slack * float(np.linalg.norm(a)) else None


def bounding_diagonal(X: DecisionSet) -> float:
    """Return the diagonal of the bounding box, whose corners need not lie in X: 2 dim calls."""
    axis, widths = np.zeros(X.dim), np.zeros(X.dim)
    for i in range(X.dim):
        axis[i] = 1.0
        least = X.minimum(axis)
        widths[i] = -X.minimum(-axis) - least
        axis[i] = 0.0
    return math.hypot(*widths)


def find_hull(X: DecisionSet) -> tuple[Vector, Vector, Vector]:
    """Return affinely independent vertices (d + 1, dim), the basis (dim, d) and its complement.

    At most 2 dim + 1 oracle calls, along and against directions that are not known yet.
    """
    n = X.dim
    vertices = [X.lmo(np.zeros(n))]
    known = np.zeros((n, n))  # directions of the hull first, flat directions last
    left, d, flat = np.ones(n), 0, n  # left: squared norms of the axes outside of `known`
    while d < flat:
        c = np.zeros(n)
        c[np.argmax(left)] = 1.0
        c = _outside(c, known)
        low, high = X.lmo(c), X.lmo(-c)
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


def inner_ball(vertices: Vector, basis: Vector) -> tuple[Vector, float]:
    """Return the inner ball of the simplex of vertices that spans the hull, r = 0 for a point.

    With g_i the slope of the i-th barycentric coordinate: r = 1 / (||g_0|| + ... + ||g_d||).
    """
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


def clip_length(y: Vector) -> Vector:
    """Return y, or a point on its ray if it is too far away for squares of lengths."""
    largest = float(np.abs(y).max())
    return y if largest <= FARTHEST else y * (FARTHEST / largest)
