"""A decision set seen from inside: coordinates in which it has an interior."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.inputs import Vector, as_positive, as_vector
from hedgerow.sets.compiled import pack_uint32
from hedgerow.sets.compositions.wrappers import Affine
from hedgerow.sets.decision_set import (
    DecisionSet,
    FullDimensional,
    HasAffineHull,
    HasInnerBall,
    HasLinearDescription,
)

NEGLIGIBLE = 1e3 * sys.float_info.epsilon
"""A direction of which a smaller share lies in the hull is normal to it, up to rounding."""


class HullCoordinates:
    """Coordinates y of the affine hull, x = centre + basis y, with r B inside the set.

    Bandit play perturbs in every direction, so it needs a full-dimensional set with the origin
    well inside: every set with a hull and an inner ball becomes one in these coordinates. A moved
    or scaled set is asked in the coordinates of its inner set, so that where it lies costs no
    digits.
    """

    def __init__(self, decision_set: DecisionSet):
        for capability in (HasAffineHull, HasInnerBall):
            if not decision_set.supports(capability):
                raise ValueError(
                    f"bandit play needs {capability.meaning}, {type(decision_set).__name__} has no "
                    f"{capability.method}(); use first-order or semi-bandit feedback instead"
                )
        self.decision_set = decision_set
        _, self.basis = decision_set.hull()
        self.centre, self.radius = decision_set.ball()
        if self.basis.shape[1] == 0:
            raise ValueError("bandit play needs more than one point to choose from")
        self._inner: HullCoordinates | None = None
        if isinstance(decision_set, Affine):
            self._inner, self._scale = HullCoordinates(decision_set.inner), decision_set.scale

    @property
    def dim(self) -> int:
        """The dimension of the hull."""
        return int(self.basis.shape[1])

    def point(self, y: Vector) -> Vector:
        """Return the point with these coordinates."""
        return self.centre + self.basis @ y

    def lmo(self, c: Vector) -> Vector:
        """Minimise <c, y> over the set, in coordinates."""
        if self._inner is not None:
            return self._scale * self._inner.lmo(c)
        return np.asarray(self.basis.T @ self.relative_lmo(self.basis @ c))

    def relative_lmo(self, c: Vector) -> Vector:
        """Minimise <c, x - centre> over the set; return x - centre."""
        if self._inner is not None:
            return self._scale * self._inner.relative_lmo(c)
        return self.decision_set.lmo(c) - self.centre

    def separate(self, y: Vector) -> Vector | None:
        """Return n with <n, y> above <n, z> for all z of the set; None if y is inside."""
        if self._inner is not None:
            return self._inner.separate(y / self._scale)
        X = self.decision_set
        if (a := X.separate(self.point(y))) is None:
            return None
        n: Vector = self.basis.T @ a
        if not np.linalg.norm(n) > NEGLIGIBLE * np.linalg.norm(a):
            raise RuntimeError(
                f"{type(X).__name__}.separate() returned a direction that is the same on all of "
                f"its hull, which separates nothing: its points, of size "
                f"{np.abs(self.centre).max():.3g}, are too large beside its inner radius "
                f"{self.radius:.3g}; measure from a point nearer to it"
            )
        return n


class Directions:
    """Unit vectors along a set, uniform on the sphere: normal draws, projected onto the hull.

    Where the set's equations describe the hull, the projection takes one pass over them and a
    product with the inverse of A A^T, else two products with a basis.
    """

    def __init__(self, inside: HullCoordinates):
        basis, X = inside.basis, inside.decision_set
        n, d = basis.shape
        self.dim = n
        self._basis = np.empty((0, n)) if d == n else np.ascontiguousarray(basis.T)
        self._equations: tuple[Any, ...] | None = None
        if d < n and X.supports(HasLinearDescription):
            rows = X.rows()
            A = rows.A_eq if rows.lift is None else None
            if A is not None and A.shape[0] < d and np.linalg.matrix_rank(A.toarray()) == n - d:
                places = pack_uint32(A.indptr), pack_uint32(A.indices)
                inverse = np.linalg.pinv((A @ A.T).toarray(), hermitian=True)
                self._equations = (*places, np.ascontiguousarray(A.data, np.float64), inverse)

    def draw(self, rng: np.random.Generator, rounds: int) -> Vector:
        """Return this many directions, one per row."""
        units = rng.standard_normal((rounds, self.dim))
        if self._equations is None:
            kernels.frankwolfe.project_onto(units, self._basis)
        else:
            kernels.frankwolfe.project_out(units, *self._equations)
        return units


class ShrunkHull(FullDimensional):
    """The set (1 - delta/r) X in hull coordinates: delta around each of its points lies in X.

    Args:
        whole: X, with a hull and a ball of radius r inside.
        delta: how far plays may leave the shrunk set, below r.
        inside: the coordinates of X's hull, where they are at hand; made if left out.

    """

    def __init__(self, whole: DecisionSet, delta: float, inside: HullCoordinates | None = None):
        self.whole, self.inside = whole, inside or HullCoordinates(whole)
        self.delta, r = as_positive(delta, "delta"), self.inside.radius
        if self.delta >= r:
            raise ValueError(
                f"bandit play needs delta < inner radius, got {delta:.3g} >= {r:.3g}; "
                "use a smaller delta"
            )
        self.shrink = 1.0 - self.delta / r

    @property
    def dim(self) -> int:
        """The dimension of the hull, n."""
        return self.inside.dim

    @property
    def diameter(self) -> float:
        """That of the whole set, shrunk."""
        return self.shrink * self.whole.diameter

    def lmo(self, c: ArrayLike) -> Vector:
        """Shrink the whole set's answer."""
        return self.shrink * self.inside.lmo(as_vector(c, "the direction", self.dim))

    def relative_lmo(self, c: Vector) -> Vector:
        """Minimise <c, x> over the vectors x from the centre to the shrunk set."""
        return self.shrink * self.inside.relative_lmo(c)

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the point, blown up, lies in the whole set."""
        y = as_vector(x, "x", self.dim) / self.shrink
        return self.whole.contains(self.inside.point(y), tol / self.shrink)

    def start(self) -> Vector:
        """Return the centre of the inner ball."""
        return np.zeros(self.dim)
