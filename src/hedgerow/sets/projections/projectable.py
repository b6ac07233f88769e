"""Sets that know their projection: it also separates."""

from __future__ import annotations

from abc import abstractmethod

from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_vector, length
from hedgerow.sets.decision_set import DecisionSet


class ProjectableSet(DecisionSet):
    """A set with an exact projection."""

    @abstractmethod
    def project(self, y: ArrayLike) -> Vector:
        """Return the point of the set nearest to y."""

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return y minus its projection, or None if `contains(y)`."""
        if self.contains(y):
            return None
        y = as_vector(y, "y", self.dim)
        return y - self.project(y)

    def _inside(self, x: ArrayLike) -> Vector:
        x = as_vector(x, "x", self.dim)
        if not self.contains(x):
            raise ValueError(
                "only a point of the set is a mixture of its vertices, got one at distance "
                f"{length(x - self.project(x)):g}; project it first"
            )
        return x
