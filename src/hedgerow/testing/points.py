"""Directions and points with which a set is tried."""

from __future__ import annotations

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet

LARGEST_GAP = 1e-6
"""An oracle with a `minimum` of its own may miss it by this much, in units of ||c|| x diameter."""


def direction(X: DecisionSet, rng: np.random.Generator) -> Vector:
    """Draw a direction: plain, with ties, along one axis, of one sign, or of many magnitudes."""
    n = X.dim
    kind = rng.integers(6)
    c = rng.standard_normal(n)
    if kind == 1:
        return rng.integers(-2, 3, n).astype(np.float64)
    if kind == 2:
        return np.where(np.arange(n) == rng.integers(n), c, 0.0)
    if kind in (3, 4):
        return np.abs(c) if kind == 3 else -np.abs(c)
    return c * 10.0 ** rng.uniform(-6.0, 6.0, n) if kind == 5 else c


def vertices(X: DecisionSet, rng: np.random.Generator, count: int = 4) -> Vector:
    """Ask the oracle for `count` vertices along plain random directions."""
    return np.array([X.lmo(rng.standard_normal(X.dim)) for _ in range(count)])


def mixture(X: DecisionSet, rng: np.random.Generator) -> Vector:
    """Draw a random convex mixture of vertices and the start."""
    points = np.vstack([vertices(X, rng), X.start()])
    weights = rng.dirichlet(np.full(len(points), 0.5))
    mixed: Vector = weights @ points
    return mixed


def size(*points: Vector) -> float:
    """Return the largest coordinate, at least 1: the unit of rounding errors of points."""
    return max(1.0, *(float(np.abs(point).max(initial=0.0)) for point in points))


def rounding(c: Vector, *points: Vector) -> float:
    """Bound what rounding may do to <c, x> for exact oracles, generously: 1e-10 sum |c_i x_i|."""
    return 1e-10 * float(np.abs(c) @ np.max(np.abs(points), axis=0)) + 1e-300


def oracle_gap(X: DecisionSet, c: Vector) -> float:
    """Return how far `lmo` may be from optimal: not at all, unless the set bounds `minimum`."""
    if type(X).minimum is DecisionSet.minimum:
        return 0.0
    return LARGEST_GAP * float(np.linalg.norm(c)) * X.diameter


def inside(X: DecisionSet, x: Vector, tol: float = 1e-9) -> bool:
    """Whether x is in the set, up to `tol` times its size."""
    return x.shape == (X.dim,) and X.contains(x, tol * size(x))


def assert_extreme(X: DecisionSet, v: Vector, others: Vector, what: str) -> None:
    """Assert that v is no inner point of a segment between the set's points.

    Were it one, then a little beyond v, seen from another point, would still be inside.
    """
    D = X.diameter
    for other in others:
        step = v - other
        if np.linalg.norm(step) >= 0.1 * D > 0.0:
            beyond = v + 0.1 * step
            assert not X.contains(beyond, 1e-9 * min(1.0, D)), (
                f"{what} must be a vertex, but it lies between two points of the set"
            )
