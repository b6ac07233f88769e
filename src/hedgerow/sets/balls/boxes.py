"""Boxes: each coordinate between two bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.inputs import (
    Vector,
    as_count,
    as_direction,
    as_named_vector,
    as_point,
    as_vector,
    freeze,
)
from hedgerow.labels import Coordinates
from hedgerow.sets.compiled import Compiled, KernelWorkspace, free_mask
from hedgerow.sets.decision_set import ProjectableSet, Rows
from hedgerow.sets.validation import as_size, check_coordinates, check_width


class Bounds(ProjectableSet):
    """A set {lower <= x <= upper}: everything is coordinate by coordinate, O(n)."""

    lower: Vector
    upper: Vector

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.lower.size

    @property
    def diameter(self) -> float:
        """The distance of two opposite corners."""
        return float(np.linalg.norm(self.upper - self.lower))

    def radius_around(self, x: ArrayLike) -> float:
        """Return the distance to the farthest corner."""
        x = as_vector(x, "x", self)
        return float(np.linalg.norm(np.maximum(x - self.lower, self.upper - x)))

    @property
    def is_polytope(self) -> bool:
        """Yes, the hull of its corners."""
        return True

    @property
    def pyramidal_width(self) -> float:
        """The distance of a corner to the plane of its neighbours, exact.

        The corners outside of the face on which the coordinates in I are fixed have
        sum over I of |x_i - bound_i| / side_i >= 1; the distance is least where I has all of them.
        """
        sides = (self.upper - self.lower)[self._free]
        least = float(sides.min(initial=math.inf))
        return least / float(np.linalg.norm(least / sides)) if sides.size else 0.0

    @property
    def _free(self) -> NDArray[np.bool_]:
        return self.lower < self.upper

    def lmo(self, c: ArrayLike) -> Vector:
        """Take each coordinate's better bound, the lower one if they are equal."""
        c = as_direction(c, self)
        return np.where(c < 0.0, self.upper, self.lower)

    @cached_property
    def compiled(self) -> Compiled:
        """The oracle as a kernel: one pass over the costs."""
        measure = kernels.tangents.everywhere if self._free.all() else kernels.tangents.unfixed
        return Compiled(
            kernels.balls.corner,
            measure,
            numbers=np.concatenate([self.lower, self.upper]),
            label=free_mask(self._free),
            project=kernels.balls.nearest_in_box,
        )

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether every coordinate satisfies its bounds."""
        x = as_vector(x, "x", self)
        return bool((x >= self.lower - tol).all() and (x <= self.upper + tol).all())

    def start(self) -> Vector:
        """Return the centre."""
        return 0.5 * (self.lower + self.upper)

    def tangent(self, c: ArrayLike) -> Vector:
        """Zero the coordinates that cannot move."""
        return np.where(self._free, as_vector(c, "the direction", self), 0.0)

    def project(self, y: ArrayLike) -> Vector:
        """Cut every coordinate at its bounds."""
        return KernelWorkspace(self.compiled).project(as_point(y, "y", self))

    def hull(self) -> tuple[Vector, Vector]:
        """Return the centre and the axes of the coordinates that can move."""
        return self.start(), np.eye(self.dim)[:, self._free]

    def ball(self) -> tuple[Vector, float]:
        """Return the centre and half the least width, r = 0 for a single point."""
        widths = (self.upper - self.lower)[self._free]
        return self.start(), 0.5 * float(widths.min()) if widths.size else 0.0

    def rows(self) -> Rows:
        """Return the bounds."""
        return Rows(self.lower, self.upper)

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return the at most n + 1 corners of x > threshold as the threshold rises."""
        return corners(self._heights(x), self.lower, self.upper)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Draw each coordinate's bound by itself."""
        return np.where(rng.random(self.dim) < self._heights(x), self.upper, self.lower)

    def _heights(self, x: ArrayLike) -> Vector:
        """Return where x lies between the bounds, 0 to 1, and 0 where they are equal."""
        rise = self._inside(x) - self.lower
        p = np.divide(rise, self.upper - self.lower, out=np.zeros(self.dim), where=self._free)
        return np.clip(p, 0.0, 1.0)


def corners(heights: Vector, lower: Vector | float, upper: Vector | float) -> tuple[Vector, Vector]:
    """Return weights and the corners of heights > threshold, as the threshold rises from 0 to 1."""
    cuts = np.unique(np.append(heights[heights < 1.0], 0.0))
    return np.diff(cuts, append=1.0), np.where(heights > cuts[:, None], upper, lower)


@dataclass(frozen=True, eq=False)
class Box(Bounds):
    """The box {lower <= x <= upper}.

    Oracle: the lower bound where c >= 0, the upper bound elsewhere, O(n). Diameter:
    ||upper - lower||, exact.

    Args:
        lower: the least value of each coordinate; the labels of a Series name the coordinates.
        upper: the largest value of each coordinate.

    >>> Box([0.0, 0.0], [1.0, 2.0]).lmo([1.0, -1.0])
    array([0., 2.])

    """

    lower: Vector
    upper: Vector

    def __init__(self, lower: ArrayLike, upper: ArrayLike):
        low, labels = as_named_vector(lower, "lower")
        high = as_vector(upper, "upper", Coordinates(low.size, labels))
        if not low.size or (low > high).any():
            i = int(np.argmax(low > high)) if low.size else 0
            what = f"lower[{i}] = {low[i]:g} > upper[{i}] = {high[i]:g}" if low.size else "no entry"
            raise ValueError(f"a box needs lower <= upper in every coordinate, got {what}")
        freeze(self, lower=low, upper=high)
        if labels is not None:
            freeze(self, _labels=labels)
        check_coordinates(np.concatenate([low, high]), "the bounds of a box")
        check_width(float((high - low).max()), "a box")


@dataclass(frozen=True, eq=False)
class LinfBall(Bounds):
    """The cube {|x_i| <= radius for all i}.

    Oracle: -radius sign(c), O(n), -radius where c = 0. Diameter: 2 radius sqrt(n), exact.

    Args:
        n: the number of coordinates.
        radius: the largest absolute value.

    >>> LinfBall(3, radius=2.0).lmo([0.2, -1.0, 0.0])
    array([-2.,  2., -2.])

    """

    n: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        n, radius = as_count(self.n, "n"), as_size(self.radius, "radius")
        bound = np.full(n, radius)
        freeze(self, n=n, radius=radius, lower=-bound, upper=bound)
