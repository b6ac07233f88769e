"""Boxes: each coordinate between two bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_direction, as_vector, read_only
from hedgerow.sets.decision_set import DecisionSet, Rows


@dataclass(frozen=True, eq=False)
class Box(DecisionSet):
    """The box {lower <= x <= upper}.

    Oracle: the lower bound where c >= 0, the upper bound elsewhere, O(n). Diameter:
    ||upper - lower||, exact.

    Args:
        lower: the least value of each coordinate.
        upper: the largest value of each coordinate.

    >>> Box([0.0, 0.0], [1.0, 2.0]).lmo([1.0, -1.0])
    array([0., 2.])

    """

    lower: Vector
    upper: Vector

    def __init__(self, lower: ArrayLike, upper: ArrayLike):
        low = as_vector(lower, "lower")
        high = as_vector(upper, "upper", low.size)
        if not low.size or (low > high).any():
            i = int(np.argmax(low > high)) if low.size else 0
            what = f"lower[{i}] = {low[i]:g} > upper[{i}] = {high[i]:g}" if low.size else "no entry"
            raise ValueError(f"a box needs lower <= upper in every coordinate, got {what}")
        object.__setattr__(self, "lower", read_only(low))
        object.__setattr__(self, "upper", read_only(high))

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.lower.size

    @property
    def diameter(self) -> float:
        """The distance of two opposite corners."""
        return float(np.linalg.norm(self.upper - self.lower))

    def lmo(self, c: ArrayLike) -> Vector:
        """Take each coordinate's better bound, the lower one if they are equal."""
        c = as_direction(c, self.dim)
        return np.where(c < 0.0, self.upper, self.lower)

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether every coordinate keeps its bounds."""
        x = as_vector(x, "x", self.dim)
        return bool((x >= self.lower - tol).all() and (x <= self.upper + tol).all())

    def start(self) -> Vector:
        """Return the centre."""
        return 0.5 * (self.lower + self.upper)

    def tangent(self, c: ArrayLike) -> Vector:
        """Zero the coordinates that cannot move."""
        return np.where(self.lower < self.upper, as_vector(c, "the direction", self.dim), 0.0)

    def rows(self) -> Rows:
        """Return the bounds."""
        return Rows(self.lower, self.upper)
