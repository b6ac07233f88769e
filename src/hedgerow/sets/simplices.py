"""Simplices: probability vectors and their kin."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_count, as_direction, as_positive, as_vector
from hedgerow.sets.decision_set import DecisionSet, Rows


@dataclass(frozen=True, eq=False)
class Simplex(DecisionSet):
    """The simplex {x >= 0, x_1 + ... + x_n = total}: mixtures, portfolios, allocations.

    Oracle: the smallest entry of c, O(n). Diameter: sqrt(2) total, exact.

    Args:
        n: the number of coordinates.
        total: what the coordinates sum to.

    >>> Simplex(3).lmo([0.2, -1.0, 0.5])
    array([0., 1., 0.])

    """

    n: int
    total: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_count(self.n, "n"))
        object.__setattr__(self, "total", as_positive(self.total, "total"))

    @property
    def dim(self) -> int:
        """The number of coordinates, n."""
        return self.n

    @property
    def diameter(self) -> float:
        """The distance of two corners."""
        return math.sqrt(2.0) * self.total if self.n > 1 else 0.0

    def lmo(self, c: ArrayLike) -> Vector:
        """Put the whole total on the smallest entry of c, the first one if several."""
        c = as_direction(c, self.n)
        v = np.zeros(self.n)
        v[np.argmin(c)] = self.total
        return v

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x >= 0 and its sum is the total."""
        x = as_vector(x, "x", self.n)
        slack = tol * max(1.0, self.total)
        return bool(x.min() >= -slack and abs(float(x.sum()) - self.total) <= slack)

    def start(self) -> Vector:
        """Return the centre."""
        return np.full(self.n, self.total / self.n)

    def tangent(self, c: ArrayLike) -> Vector:
        """Subtract the mean: adding a constant to c changes nothing on the simplex."""
        c = as_vector(c, "the direction", self.n)
        return c - float(c.mean())

    def rows(self) -> Rows:
        """Return one equation and nonnegativity."""
        from scipy import sparse

        ones = sparse.csr_array(np.ones((1, self.n)))
        total = np.array([self.total])
        return Rows(np.zeros(self.n), np.full(self.n, self.total), A_eq=ones, b_eq=total)
