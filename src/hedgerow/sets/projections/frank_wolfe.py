"""Frank-Wolfe for strongly convex quadratics, over any set that is known by its oracle."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from hedgerow import kernels
from hedgerow.inputs import Vector, squared_norm
from hedgerow.kernels.conditional_gradient import descent_table
from hedgerow.sets.compiled import python_set

Oracle = Callable[[Vector], Vector]
EPS = float(np.finfo(np.float64).eps)


class Descent(NamedTuple):
    """Where conditional gradient stopped, with F(x) - min F <= gap, and its oracle calls."""

    x: Vector
    gap: float
    calls: int


class Step(NamedTuple):
    """One step: F(x) - min F <= gap, and the exact line search from x leads to `following`.

    `squared` is ||v - x||^2 for the vertex v that the step went towards.
    """

    x: Vector
    gap: float
    following: Vector
    squared: float


class Mixture(NamedTuple):
    """A point x = weights @ vertices near y, with ||x - P(y)||^2 <= gap, and its oracle calls."""

    x: Vector
    gap: float
    calls: int
    weights: Vector
    vertices: Vector


def frank_wolfe(
    lmo: Oracle, s: Vector, beta: float, centre: Vector, start: Vector
) -> Iterator[Step]:
    """Yield Frank-Wolfe steps for F(x) = <s, x> + beta ||x - centre||^2, one oracle call each.

    One step goes from x towards v = lmo(grad F(x)) by the exact line search
    sigma = clip(g / (2 beta ||v - x||^2), 0, 1) with g = <grad F(x), x - v>, so F never grows and
    F(x) - min F <= g. The caller decides when to stop.

    Args:
        lmo: the oracle of the set.
        s: the linear part.
        beta: the weight of the quadratic part, above 0.
        centre: the centre of the quadratic part; it need not lie in the set.
        start: a point of the set.

    """
    x = start.copy()
    while True:
        gradient, following = np.empty((2, x.size))
        kernels.frankwolfe.gradient(s, beta, centre, x, gradient)
        v = lmo(gradient)
        gap, squared = kernels.frankwolfe.line_search(gradient, beta, x, v, following)
        yield Step(x, gap, following, squared)
        x = following


def conditional_gradient(
    lmo: Oracle, s: Vector, beta: float, centre: Vector, start: Vector, tolerance: float, cap: int
) -> Descent:
    """Minimise F(x) = <s, x> + beta ||x - centre||^2 by Frank-Wolfe steps from `start`.

    It stops after the first step that began with a gap of at most the tolerance, or at the cap.

    Args:
        lmo: the oracle of the set.
        s: the linear part.
        beta: the weight of the quadratic part, above 0.
        centre: the centre of the quadratic part; it need not lie in the set.
        start: a point of the set.
        tolerance: how small the gap has to be.
        cap: the most oracle calls; none at all returns `start` with an infinite gap.

    Reference: the paper's Algorithm 6, which returns the point before the last step; here the step
    that was computed is kept, because it is never worse.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> s, zero = np.array([0.0, 1.0, 3.0]), np.zeros(3)
    >>> end = conditional_gradient(Simplex(3).lmo, s, 1.0, zero, Simplex(3).start(), 1e-9, 100)
    >>> end.x.round(6), end.calls
    (array([0.75, 0.25, 0.  ]), 3)

    """
    n, x = start.size, start.copy()
    table = descent_table.filled(
        set=python_set(lmo, squared_norm),
        S=s,
        anchor=centre,
        centre=np.zeros(n),
        share=1.0,
        work=np.empty(2 * n),
    )
    gap, calls = kernels.conditional_gradient.conditional_gradient(table, x, beta, tolerance, cap)
    return Descent(x, gap, int(calls))


def minimum_norm_point(
    lmo: Oracle, y: Vector, tolerance: float, cap: int, far: float = math.inf
) -> Mixture:
    """Find the point of a set nearest to y as a mixture of affinely independent vertices.

    Wolfe's method is Frank-Wolfe that minimises exactly over the hull of the vertices it
    remembers, of which there are never more than dim + 1. It ends after finitely many steps on a
    polytope and converges on any set. With v = lmo(x - y) and g = <x - y, x - v>:
    ||x - P(y)||^2 <= g, and y is at least ||x - y|| - g / ||x - y|| away from the set.

    It stops when ||x - y|| <= tolerance, or g <= tolerance^2, or the distance is proved to exceed
    `far`, or g is down to rounding, or at the cap. Each step costs one oracle call and O(dim k)
    with k vertices.

    Args:
        lmo: the oracle of the set.
        y: the point to approach.
        tolerance: the distance to P(y) that is good enough.
        cap: the most oracle calls, at least 1.
        far: a distance between y and the set that ends the search when it is proved.

    Reference: Wolfe, Finding the nearest point in a polytope (1976).

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> end = minimum_norm_point(Simplex(3).lmo, np.array([1.0, 0.5, -1.0]), 1e-9, 100)
    >>> end.x, end.weights, end.calls
    (array([0.75, 0.25, 0.  ]), array([0.75, 0.25]), 3)

    """
    corral = _Corral(lmo(-y))
    target = y - corral.origin
    gap, calls = math.inf, 1
    while True:
        x = corral.weights @ corral.atoms  # relative to the origin, as everything here
        residual = x - target
        distance = float(np.linalg.norm(residual))
        if distance <= tolerance:
            gap = min(gap, distance**2)  # P(y) is at most as far from x as y is
            break
        if calls >= cap:
            break
        vertex = lmo(residual)
        calls += 1
        v = vertex - corral.origin
        gap = max(0.0, float(residual @ (x - v)))
        rounding = EPS * distance * float(np.linalg.norm(x) + np.linalg.norm(v))
        proved = distance - gap / distance
        if gap <= max(tolerance**2, rounding) or proved > far or not corral.admit(vertex, target):
            break
    x = corral.origin + corral.weights @ corral.atoms
    return Mixture(x, gap, calls, corral.weights, np.array(corral.vertices))


class _Corral:
    """Affinely independent vertices and weights above zero.

    `atoms` are the vertices relative to the first one ever, the origin. `_q @ _r` is the QR
    factorisation of the columns (scale, atom): by it the least-squares mixture with weights of any
    sign is two triangular solves away.
    """

    def __init__(self, origin: Vector):
        self.origin = origin
        self.vertices = [origin]
        self.atoms = np.zeros((1, origin.size))
        self.weights = np.ones(1)
        self._scale = 0.0
        self._rounding = 8.0 * EPS * float(np.linalg.norm(origin))

    def admit(self, vertex: Vector, target: Vector) -> bool:
        """Move to the best mixture of the atoms and a vertex; False if it brings nothing new."""
        if not self._append(vertex):
            return False
        new = self.weights.size - 1
        while True:
            wanted = self._least_squares(target)
            falling = wanted <= EPS
            if not falling.any():
                self.weights = wanted
                return True
            drop = self.weights - wanted
            share = np.divide(self.weights, drop, out=np.zeros(drop.size), where=drop > 0.0)
            first = int(np.argmin(np.where(falling, share, np.inf)))
            theta = min(1.0, float(share[first]))
            self.weights = (1.0 - theta) * self.weights + theta * wanted
            self._remove(first)
            if first == new:  # only through rounding: the mixture was already best
                return False
            new -= first < new

    def _append(self, vertex: Vector) -> bool:
        from scipy import linalg

        v = vertex - self.origin
        if self._scale == 0.0:
            if np.linalg.norm(v) <= self._rounding:
                return False
            self._scale = float(np.linalg.norm(v))
            first = np.zeros((v.size + 1, 1))
            first[0] = self._scale
            self._q, self._r = linalg.qr(first, mode="economic")
        column = np.concatenate([[self._scale], v])
        if self._q.shape[1] > v.size:
            return False
        apart = column - self._q @ (self._q.T @ column)
        if np.linalg.norm(apart) <= self._rounding + 8.0 * EPS * np.linalg.norm(column):
            return False
        k = self.weights.size
        self._q, self._r = linalg.qr_insert(self._q, self._r, column, k, which="col")
        self.vertices.append(vertex)
        self.atoms = np.vstack([self.atoms, v])
        self.weights = np.append(self.weights, 0.0)
        return True

    def _remove(self, i: int) -> None:
        from scipy import linalg

        q, r = linalg.qr_delete(self._q, self._r, i, which="col")
        self._q, self._r = q[:, : r.shape[1]], r[: r.shape[1]]  # a square q would stay square
        del self.vertices[i]
        self.atoms = np.delete(self.atoms, i, axis=0)
        self.weights = np.delete(self.weights, i)
        self.weights /= self.weights.sum()

    def _least_squares(self, target: Vector) -> Vector:
        """Return the weights, summing to one, whose mixture is nearest to the target."""
        from scipy import linalg

        right = np.column_stack([target @ self._q[1:], self._q[0]])
        free, level = linalg.solve_triangular(self._r, right, check_finite=False).T
        wanted: Vector = free + (1.0 - free.sum()) / level.sum() * level
        wanted /= wanted.sum()
        return wanted
