"""A decision set seen from inside: coordinates in which it has an interior."""

from __future__ import annotations

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet, HasAffineHull, HasInnerBall


class HullCoordinates:
    """Coordinates y of the affine hull, x = centre + basis y, with r B inside the set.

    Bandit play perturbs in every direction, so it needs a full-dimensional set with the origin
    well inside: every set with a hull and an inner ball becomes one in these coordinates.
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

    @property
    def dim(self) -> int:
        """The dimension of the hull."""
        return int(self.basis.shape[1])

    def point(self, y: Vector) -> Vector:
        """Return the point with these coordinates."""
        return self.centre + self.basis @ y

    def lmo(self, c: Vector) -> Vector:
        """Minimise <c, y> over the set, in coordinates."""
        return np.asarray(self.basis.T @ (self.decision_set.lmo(self.basis @ c) - self.centre))
