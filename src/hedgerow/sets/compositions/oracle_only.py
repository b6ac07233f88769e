"""Sets that are known by their oracle alone, such as a function of yours or a list of vertices."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import (
    Vector,
    as_array,
    as_count,
    as_direction,
    as_number,
    as_vector,
    freeze,
)
from hedgerow.sets.decision_set import FlatSet, Rows
from hedgerow.sets.validation import check_coordinates, check_width


class ContainsUnitVectors(FlatSet):
    """A set of x >= 0 that contains zero and the unit vector of each coordinate that can move."""

    @property
    @abstractmethod
    def _free(self) -> NDArray[np.bool_]:
        """Which coordinates can move."""

    def tangent(self, c: ArrayLike) -> Vector:
        """Zero the coordinates that cannot move."""
        return np.where(self._free, as_vector(c, "the direction", self.dim), 0.0)

    def hull(self) -> tuple[Vector, Vector]:
        """Return zero and the axes of the coordinates that can move."""
        return np.zeros(self.dim), np.eye(self.dim)[:, self._free].copy()

    def ball(self) -> tuple[Vector, float]:
        """Return shares r and the radius r: r (m + sqrt(m)) = 1 if m coordinates can move.

        With zero and the unit vectors the set contains all x >= 0 that sum to at most 1.
        """
        m = int(self._free.sum())
        radius = 1.0 / (m + math.sqrt(m)) if m else 0.0
        return np.where(self._free, radius, 0.0), (1.0 - 1e-12) * radius

    def start(self) -> Vector:
        """Return the centre of the inner ball."""
        return self.ball()[0]


PAIRS = 2000
"""Up to this many vertices the diameter is the largest distance of a pair, else a bound."""


@dataclass(frozen=True, eq=False)
class ConvexHull(FlatSet):
    """The mixtures of given points.

    Oracle: the smallest entry of V c, O(k n) with k points. Diameter: exact up to 2000 points, else
    twice the largest distance to their mean.

    Args:
        vertices: the points, shape (k, n); points inside the hull of others do no harm.

    >>> X = ConvexHull([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> X.lmo([-1.0, -1.0]), X.project([2.0, 1.0])
    (array([2., 0.]), array([1.6, 0.2]))

    """

    vertices: Vector

    def __init__(self, vertices: ArrayLike):
        points = as_array(vertices, "vertices")
        if points.ndim != 2 or not points.size:
            raise ValueError(
                f"vertices must have shape (k, n) with k, n >= 1, got shape {points.shape}"
            )
        check_coordinates(points, "vertices")
        check_width(float(np.ptp(points, axis=0).max()), "a hull of points")
        freeze(self, vertices=points)

    def _in_short(self) -> str:
        return f"{len(self.vertices)} vertices, {self.dim} coordinates"

    @property
    def dim(self) -> int:
        """The number of coordinates, n."""
        return int(self.vertices.shape[1])

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        points = self.vertices
        if len(points) > PAIRS:
            return 2.0 * float(np.linalg.norm(points - points.mean(axis=0), axis=1).max()), False
        return max(float(np.linalg.norm(points - p, axis=1).max()) for p in points), True

    @property
    def is_polytope(self) -> bool:
        """Yes, the hull of the given points."""
        return True

    @property
    def pyramidal_width(self) -> float:
        """The length of a segment; not computed for more than two points."""
        return self.diameter if len(self.vertices) == 2 else 0.0

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the point with the smallest <c, v>, the first one if several."""
        best: Vector = self.vertices[np.argmin(self.vertices @ as_direction(c, self.dim))].copy()
        return best

    def start(self) -> Vector:
        """Return the mean of the points."""
        mean: Vector = self.vertices.mean(axis=0)
        return mean

    def rows(self) -> Rows:
        """Return the description by weights: x = w V with w >= 0 and sum(w) = 1."""
        from scipy import sparse

        k = len(self.vertices)
        return Rows(
            np.zeros(k),
            np.ones(k),
            A_eq=sparse.csr_array(np.ones((1, k))),
            b_eq=np.ones(1),
            lift=sparse.csr_array(self.vertices.T),
        )


@dataclass(frozen=True, eq=False)
class OracleSet(FlatSet):
    """The set that your own linear minimisation oracle defines.

    Each answer is checked for its shape and for finite numbers; that it is a minimiser is your
    promise. Everything else is found by the oracle alone. On sets with curved faces, `decompose`
    finds points on the boundary only up to about the square root of rounding.
    `hedgerow.testing.check_set(OracleSet(lmo, dim))` tries it on random directions.

    Oracle: yours. Diameter: yours, else a bound by 2 dim oracle calls.

    Args:
        lmo: takes a float64 vector c of length `dim`, returns a minimiser of <c, x> over the set;
            it must answer for every c, zero included, and always the same.
        dim: the number of coordinates.
        diameter: the largest distance of two points, or a bound of it.
        start: the first point of a learner; the oracle's answer to zero unless given.

    >>> X = OracleSet(lambda c: np.where(c < 0.0, 1.0, -1.0), 2)
    >>> X.lmo([1.0, -2.0]), X.contains([0.3, 1.1]), X.project([0.3, 1.1]).round(6)
    (array([-1.,  1.]), False, array([0.3, 1. ]))

    """

    oracle: Callable[[Vector], ArrayLike]
    _dim: int
    _diameter: float | None
    _start: Vector | None

    def __init__(
        self,
        lmo: Callable[[Vector], ArrayLike],
        dim: int,
        diameter: float | None = None,
        start: ArrayLike | None = None,
    ):
        if not callable(lmo):
            raise TypeError(f"lmo must be a function of a direction, got {type(lmo).__name__}")
        freeze(self, oracle=lmo, _dim=as_count(dim, "dim"))
        if diameter is not None:
            diameter = as_number(diameter, "diameter")
            if diameter < 0.0:
                raise ValueError(f"diameter must be at least 0, got {diameter:g}")
            check_width(diameter, "a set")
        point = None if start is None else as_vector(start, "start", dim)
        freeze(self, _diameter=diameter, _start=point)
        self.lmo(np.zeros(dim))  # so that a wrong shape shows now

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self._dim

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        given = self._diameter
        return super()._known_diameter if given is None else (given, False)

    def lmo(self, c: ArrayLike) -> Vector:
        """Call your function and check its answer."""
        answer = self.oracle(as_direction(c, self.dim).copy())
        vertex = as_vector(answer, "the oracle's answer", self.dim).copy()
        check_coordinates(vertex, "the oracle's answer")
        return vertex

    def start(self) -> Vector:
        """Return the given start, or the oracle's answer to zero."""
        return self.lmo(np.zeros(self.dim)) if self._start is None else self._start.copy()
