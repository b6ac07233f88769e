"""Sets given by their vertices or by a function of yours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import (
    Vector,
    as_array,
    as_count,
    as_direction,
    as_number,
    as_vector,
    read_only,
)
from hedgerow.sets.compositions.oracle_only import OracleOnly
from hedgerow.sets.decision_set import Rows
from hedgerow.sets.sizes import check_coordinates, check_width

PAIRS = 2000
"""Up to this many vertices the diameter is the largest distance of a pair, else a bound."""


@dataclass(frozen=True, eq=False)
class ConvexHull(OracleOnly):
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
    _diameter: float = field(init=False, repr=False)

    def __init__(self, vertices: ArrayLike):
        points = as_array(vertices, "vertices")
        if points.ndim != 2 or not points.size:
            raise ValueError(
                f"vertices must have shape (k, n) with k, n >= 1, got shape {points.shape}"
            )
        check_coordinates(points, "vertices")
        object.__setattr__(self, "vertices", read_only(points))
        check_width(float(np.ptp(points, axis=0).max()), "a hull of points")
        object.__setattr__(self, "_diameter", _diameter(points))

    def _in_short(self) -> str:
        return f"{len(self.vertices)} vertices, {self.dim} coordinates"

    @property
    def dim(self) -> int:
        """The number of coordinates, n."""
        return int(self.vertices.shape[1])

    @property
    def diameter(self) -> float:
        """The largest distance of two points, or a bound of it."""
        return self._diameter

    @property
    def diameter_is_exact(self) -> bool:
        """Whether there were few enough points to compare them all."""
        return len(self.vertices) <= PAIRS

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


def _diameter(points: Vector) -> float:
    if len(points) > PAIRS:
        return 2.0 * float(np.linalg.norm(points - points.mean(axis=0), axis=1).max())
    return max(float(np.linalg.norm(points - p, axis=1).max()) for p in points)


@dataclass(frozen=True, eq=False)
class OracleSet(OracleOnly):
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
        object.__setattr__(self, "oracle", lmo)
        object.__setattr__(self, "_dim", as_count(dim, "dim"))
        if diameter is not None:
            diameter = as_number(diameter, "diameter")
            if diameter < 0.0:
                raise ValueError(f"diameter must be at least 0, got {diameter:g}")
            check_width(diameter, "a set")
        object.__setattr__(self, "_diameter", diameter)
        point = None if start is None else read_only(as_vector(start, "start", dim))
        object.__setattr__(self, "_start", point)
        self.lmo(np.zeros(dim))  # so that a wrong shape shows now

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self._dim

    @property
    def diameter(self) -> float:
        """The given diameter, or the diagonal of the bounding box."""
        return self._box_diagonal if self._diameter is None else self._diameter

    def lmo(self, c: ArrayLike) -> Vector:
        """Ask your function and check its answer."""
        answer = self.oracle(as_direction(c, self.dim).copy())
        vertex = as_vector(answer, "the oracle's answer", self.dim).copy()
        check_coordinates(vertex, "the oracle's answer")
        return vertex

    def start(self) -> Vector:
        """Return the given start, or the oracle's answer to zero."""
        return self.lmo(np.zeros(self.dim)) if self._start is None else self._start.copy()
