"""Norm balls around the origin."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_count, as_direction, as_positive, as_vector
from hedgerow.sets.decision_set import DecisionSet, Rows


@dataclass(frozen=True, eq=False)
class L1Ball(DecisionSet):
    """The cross-polytope {|x_1| + ... + |x_n| <= radius}: sparse signed vectors.

    Oracle: the largest entry of |c|, O(n). Diameter: 2 radius, exact.

    >>> L1Ball(3).lmo([0.2, -1.0, 0.5])
    array([0., 1., 0.])
    """

    n: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_count(self.n, "n"))
        object.__setattr__(self, "radius", as_positive(self.radius, "radius"))

    @property
    def dim(self) -> int:
        """The number of coordinates, n."""
        return self.n

    @property
    def diameter(self) -> float:
        """The distance of two opposite vertices."""
        return 2.0 * self.radius

    def lmo(self, c: ArrayLike) -> Vector:
        """Go against the largest entry of |c|, the first one if several."""
        c = as_direction(c, self.n)
        i = int(np.argmax(np.abs(c)))
        v = np.zeros(self.n)
        v[i] = self.radius if c[i] < 0.0 else -self.radius
        return v

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the absolute values sum to at most the radius."""
        x = as_vector(x, "x", self.n)
        return bool(np.abs(x).sum() <= self.radius + tol * max(1.0, self.radius))

    def start(self) -> Vector:
        """Return the centre."""
        return np.zeros(self.n)

    def rows(self) -> Rows:
        """Return the description by x = p - m with p, m >= 0 and sum(p + m) <= radius."""
        from scipy import sparse

        eye = sparse.eye_array(self.n)
        return Rows(
            np.zeros(2 * self.n),
            np.full(2 * self.n, self.radius),
            A_ub=sparse.csr_array(np.ones((1, 2 * self.n))),
            b_ub=np.array([self.radius]),
            lift=sparse.csr_array(sparse.hstack([eye, -eye])),
        )


@dataclass(frozen=True, eq=False)
class L2Ball(DecisionSet):
    """The Euclidean ball {||x|| <= radius}.

    Oracle: -radius c / ||c||, O(n). Diameter: 2 radius, exact.

    >>> L2Ball(2, radius=5.0).lmo([3.0, -4.0])
    array([-3.,  4.])
    """

    n: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_count(self.n, "n"))
        object.__setattr__(self, "radius", as_positive(self.radius, "radius"))

    @property
    def dim(self) -> int:
        """The number of coordinates, n."""
        return self.n

    @property
    def diameter(self) -> float:
        """Twice the radius."""
        return 2.0 * self.radius

    def lmo(self, c: ArrayLike) -> Vector:
        """Go straight against c; against the first axis if c = 0."""
        c = as_direction(c, self.n)
        largest = float(np.abs(c).max())
        if largest == 0.0:
            v = np.zeros(self.n)
            v[0] = -self.radius
            return v
        unit = c / largest  # so that squares neither overflow nor vanish
        return unit * (-self.radius / math.sqrt(float(unit @ unit)))

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the norm is at most the radius."""
        x = as_vector(x, "x", self.n)
        return bool(np.linalg.norm(x) <= self.radius + tol * max(1.0, self.radius))

    def start(self) -> Vector:
        """Return the centre."""
        return np.zeros(self.n)
