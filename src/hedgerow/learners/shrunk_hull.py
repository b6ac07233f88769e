"""A decision set in the coordinates of its hull, shrunk so that perturbed plays stay inside."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_positive, as_vector
from hedgerow.learners.hull_coordinates import HullCoordinates
from hedgerow.sets.decision_set import DecisionSet


class ShrunkHull(DecisionSet):
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

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the point, blown up, lies in the whole set."""
        y = as_vector(x, "x", self.dim) / self.shrink
        return self.whole.contains(self.inside.point(y), tol / self.shrink)

    def start(self) -> Vector:
        """Return the centre of the inner ball."""
        return np.zeros(self.dim)
