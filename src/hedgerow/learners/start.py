"""The first play of a learner."""

from __future__ import annotations

from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_vector
from hedgerow.sets.decision_set import DecisionSet


def first_play(decision_set: DecisionSet, start: ArrayLike | None) -> Vector:
    """Return x_1: the point given, which must lie in the set, or the set's own start.

    Args:
        decision_set: where to play.
        start: x_1, or None.

    """
    x1 = decision_set.start() if start is None else as_vector(start, "start", decision_set.dim)
    if not decision_set.contains(x1):
        raise ValueError(
            "start must lie in the decision set; leave it out to use the set's own start"
        )
    return x1
