"""A time limit for a search."""

from __future__ import annotations

import math
from time import perf_counter

from hedgerow.inputs import as_number


class OutOfTimeError(RuntimeError):
    """The time limit was reached; what was proved before it stands."""


class Deadline:
    """A number of seconds from now on, None for as long as it takes."""

    def __init__(self, seconds: float | None = None):
        limit = math.inf if seconds is None else as_number(seconds, "time_limit")
        if not limit >= 0.0:
            raise ValueError(f"time_limit must be at least 0 seconds, or None, got {limit:g}")
        self._end = perf_counter() + limit

    def left(self) -> float:
        """Return the seconds left, perhaps infinite; raise `OutOfTimeError` if there are none."""
        seconds = self._end - perf_counter()
        if seconds <= 0.0:
            raise OutOfTimeError("the time limit was reached")
        return seconds
