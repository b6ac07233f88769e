"""Arguments that learners share: the first play, and the horizon that steps were made for."""

from __future__ import annotations

import warnings

from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_vector, level_outside
from hedgerow.sets.decision_set import DecisionSet


def first_play(decision_set: DecisionSet, start: ArrayLike | None) -> Vector:
    """Return x_1: the point given, which must lie in the set, or the set's own start.

    Args:
        decision_set: where to play.
        start: x_1, or None.

    """
    if start is None:
        return decision_set.checked_start.copy()
    x1 = as_vector(start, "start", decision_set)
    if not decision_set.contains(x1):
        raise ValueError(
            "start must lie in the decision set; leave it out to use the set's own start"
        )
    return x1


def warn_beyond(round_number: int, horizon: int | None) -> None:
    """Warn once, in the first round after the horizon: play goes on, the guarantee does not."""
    if round_number - 1 == horizon:
        warnings.warn(
            f"round {round_number} is beyond the horizon {horizon} that the steps were made for; "
            "play goes on, the guarantee ends",
            stacklevel=level_outside(),
        )


def before_warning(first: int, end: int, rounds: int, horizon: int | None) -> int:
    """Return where a loop that plays from `first` on must stop, after `rounds` others.

    The first round after the horizon is left to `tell`, which warns.
    """
    if horizon is None or rounds > horizon:
        return end
    return min(end, first + horizon - rounds)
