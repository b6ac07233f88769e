"""Ellipsoids, with axes along the coordinates or slanted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.inputs import (
    Vector,
    as_array,
    as_direction,
    as_point,
    as_vector,
    freeze,
    length,
    read_only,
)
from hedgerow.sets.compiled import Compiled, KernelWorkspace
from hedgerow.sets.decision_set import FullDimensional, ProjectableSet
from hedgerow.sets.validation import as_size, check_coordinates

THINNEST = 1e-9
"""The shortest axis, in units of the longest: below it nearly all digits are gone."""
FARTHEST = 1e9
"""How far away the centre may lie, in units of the longest axis: half of the digits are left."""
FAR = 1e140
"""Points further away, in units of the longest axis, are drawn nearer: squares have to fit."""
ORTHONORMAL = 1e-10
"""What inner products of the axes' directions may be off by."""
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Ellipsoid(FullDimensional, ProjectableSet):
    """The ellipsoid {centre + V z : (z_1 / a_1)^2 + ... + (z_n / a_n)^2 <= 1} with semi-axes a.

    The columns of V are the directions of the axes; `Ellipsoid.from_matrix(M, centre)` is the set
    {x : (x - centre)' M (x - centre) <= 1}. Oracle: two products with the axes, O(n^2), O(n) if
    they lie along the coordinates. Projection: a root in one variable, O(n) a step after one
    product. Diameter: twice the longest axis, exact.

    Args:
        axes: the semi-axes, all above 0 and no more than 1e9 times as long as the shortest.
        directions: an orthogonal matrix whose columns are their directions; the coordinates unless
            given.
        centre: the centre, the origin unless given.

    >>> Ellipsoid([3.0, 1.0], centre=[10.0, 0.0]).lmo([0.0, 1.0])
    array([10., -1.])
    >>> Ellipsoid.from_matrix([[2.0, 1.0], [1.0, 2.0]]).axes.round(6)
    array([1.     , 0.57735])

    """

    axes: Vector
    directions: Vector | None
    centre: Vector

    def __init__(
        self,
        axes: ArrayLike,
        directions: ArrayLike | None = None,
        centre: ArrayLike | None = None,
    ):
        lengths = as_vector(axes, "axes")
        if not lengths.size:
            raise ValueError("an ellipsoid needs at least one axis, got none")
        for i, axis in enumerate(lengths):
            as_size(axis, f"axes[{i}]")
        longest = float(lengths.max())
        if lengths.min() < THINNEST * longest:
            raise ValueError(
                f"the longest axis of an ellipsoid may be at most {1.0 / THINNEST:g} times the "
                f"shortest, got {longest:g} and {lengths.min():g}; measure the coordinates in "
                "units of the axes"
            )
        n = lengths.size
        middle = np.zeros(n) if centre is None else as_vector(centre, "centre", n)
        check_coordinates(middle, "centre")
        if np.abs(middle).max() > FARTHEST * longest:
            raise ValueError(
                f"the centre of an ellipsoid may lie at most {FARTHEST:g} times its longest axis "
                f"{longest:g} away, got {np.abs(middle).max():g}; measure from a point nearer to it"
            )
        turned = None if directions is None else read_only(_orthogonal(directions, n))
        freeze(self, axes=lengths, directions=turned, centre=middle)

    @classmethod
    def from_matrix(
        cls, matrix: ArrayLike, centre: ArrayLike | None = None, radius: float = 1.0
    ) -> Ellipsoid:
        """Return {x : (x - centre)' M (x - centre) <= radius^2} for a positive definite M."""
        M = as_array(matrix, "matrix")
        if M.ndim != 2 or M.shape[0] != M.shape[1] or not M.size:
            raise ValueError(f"matrix must be square, got shape {M.shape}")
        if np.abs(M - M.T).max() > 1e-12 * np.abs(M).max():
            raise ValueError("matrix must be symmetric, got one that is not; pass (M + M.T) / 2")
        values, vectors = np.linalg.eigh(0.5 * (M + M.T))
        if values[0] <= len(M) * EPS * values[-1]:
            raise ValueError(
                "matrix must be positive definite, got eigenvalues from "
                f"{values[0]:g} to {values[-1]:g}; an ellipsoid that is flat is the AffineImage of "
                "a ball"
            )
        return cls(as_size(radius, "radius") / np.sqrt(values), vectors, centre)

    @property
    def dim(self) -> int:
        """The number of coordinates, n."""
        return self.axes.size

    @property
    def diameter(self) -> float:
        """Twice the longest axis."""
        return 2.0 * self._longest

    @property
    def strong_convexity(self) -> float:
        """The shortest axis over the square of the longest, the least curvature: exact.

        It is the image of the unit ball under a map that shortens a radius by at most the shortest
        axis and lengthens a distance by at most the longest.
        """
        return float(self._relative.min()) / self._longest

    @cached_property
    def _longest(self) -> float:
        return float(self.axes.max())

    @cached_property
    def _relative(self) -> Vector:
        """The axes in units of the longest."""
        return self.axes / self._longest

    def lmo(self, c: ArrayLike) -> Vector:
        """Go against c; along the first axis if c = 0."""
        return KernelWorkspace(self.compiled).lmo(as_direction(c, self.dim))

    @cached_property
    def compiled(self) -> Compiled:
        """The axes, column by column and row by row."""
        A = None if self.directions is None else self.directions * self._relative
        slanted = [] if A is None else [A.T.ravel(), A.ravel()]
        return Compiled(
            kernels.balls.against_in_ellipsoid,
            kernels.tangents.everywhere,
            numbers=np.concatenate([[self._longest], self.centre, self._relative, *slanted]),
            scratch=2 * self.dim,
        )

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the distance of x to the set is at most tol, relative to sizes above 1."""
        x = as_vector(x, "x", self.dim)
        z = self._seen(x)
        if float(np.linalg.norm(z / self._relative)) <= 1.0:
            return True
        size = max(1.0, self._longest, float(np.abs(self.centre).max()))
        return self._longest * length(z - self._nearest(z)) <= tol * size

    def start(self) -> Vector:
        """Return the centre."""
        return self.centre.copy()

    def project(self, y: ArrayLike) -> Vector:
        """Return the nearest point; a point inside stays as it is."""
        y = as_point(y, "y", self.dim)
        z = self._seen(y)
        if float(np.linalg.norm(z / self._relative)) <= 1.0:
            return y.copy()
        return self._placed(self._nearest(z))

    def hull(self) -> tuple[Vector, Vector]:
        """Return the whole space."""
        return self.centre.copy(), np.eye(self.dim)

    def ball(self) -> tuple[Vector, float]:
        """Return the centre and the shortest axis."""
        return self.centre.copy(), float(self.axes.min())

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return the two ends of the chord through x and the centre."""
        z = self._seen(self._inside(x))
        u = z / self._relative
        share = min(1.0, float(np.linalg.norm(u)))
        u = u / share if share > 0.0 else np.eye(self.dim)[0]
        ends = [self._placed(self._relative * u), self._placed(-self._relative * u)]
        return np.array([0.5 + 0.5 * share, 0.5 - 0.5 * share]), np.array(ends)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Draw one of the two ends of the chord through x and the centre."""
        weights, ends = self.decompose(x)
        end: Vector = ends[int(rng.random() >= weights[0])]
        return end

    def _seen(self, x: Vector) -> Vector:
        """Return the coordinates of x along the axes, in units of the longest."""
        away = x - self.centre
        largest = float(np.abs(away).max())
        z = away * (FAR / largest) if largest > FAR * self._longest else away / self._longest
        return z if self.directions is None else z @ self.directions

    def _placed(self, z: Vector) -> Vector:
        """Return the point with coordinates z along the axes."""
        turned = z if self.directions is None else self.directions @ z
        point: Vector = self.centre + self._longest * turned
        return point

    def _nearest(self, z: Vector) -> Vector:
        """Project z, outside, on the ellipsoid whose longest axis is 1.

        The nearest point is a^2 z / (a^2 + t) with t so that u = a z / (a^2 + t) has length 1;
        1 / length of u is nearly linear in t.
        """
        from scipy.optimize import brentq

        squares, pull = self._relative**2, self._relative * z

        def lack(t: float) -> float:
            return 1.0 - 1.0 / float(np.linalg.norm(pull / (squares + t)))

        strength = float(np.linalg.norm(pull))
        low, high = max(0.0, strength - 1.0), strength
        if lack(low) <= 0.0:  # by no more than rounding
            t = low
        elif lack(high) >= 0.0:
            t = high
        else:
            t = brentq(lack, low, high, xtol=1e-300, rtol=4.0 * EPS, maxiter=1000)
        u = pull / (squares + t)
        nearest: Vector = self._relative * (u / np.linalg.norm(u))
        return nearest


def _orthogonal(directions: ArrayLike, n: int) -> Vector:
    V = as_array(directions, "directions")
    if V.shape != (n, n):
        raise ValueError(f"directions must have shape ({n}, {n}), a column each, got {V.shape}")
    off = float(np.abs(V.T @ V - np.eye(n)).max())
    if off > ORTHONORMAL:
        raise ValueError(
            "the columns of directions must be orthonormal, got inner products that are off by "
            f"{off:g}; take Q of a QR factorisation, or Ellipsoid.from_matrix"
        )
    return V
