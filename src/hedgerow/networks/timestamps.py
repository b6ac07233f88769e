"""Times in ISO 8601, Unix seconds or milliseconds; durations; and the rounds that times make."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.networks.errors import Reason, Rejected
from hedgerow.networks.source_files import MOST_NUMBERS, parse_number

ORDER = "a number"
UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}

_DURATION = re.compile(r"(\d+(?:\.\d+)?) ?(s|min|h|d)", re.ASCII)


def parse_time(text: str, name: str) -> int:
    """Return Unix seconds of an RFC 3339 time whose zone is written out.

    >>> parse_time("2019-11-27T15:05:10Z", "start")
    1574867110
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise ValueError(
            f"{name} must be a time with its zone, as 2024-12-14T20:30:00Z or "
            f"2024-12-14T20:30:00+05:30, got {text!r}"
        )
    return math.ceil(found.timestamp())


def format_time(seconds: int) -> str:
    """Return Unix seconds as a time in UTC.

    >>> format_time(1574867110)
    '2019-11-27T15:05:10Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_duration(text: str, name: str) -> float:
    """Return the seconds of a span of time.

    >>> parse_duration("15min", "series"), parse_duration("0.5 h", "series")
    (900.0, 1800.0)
    """
    match = _DURATION.fullmatch(text)
    seconds = float(match[1]) * UNITS[match[2]] if match else 0.0
    if not 0.0 < seconds < 1e10:
        raise ValueError(
            f"{name} must be a span of time, a number and one of {', '.join(UNITS)}, as 15min, "
            f"got {text!r}"
        )
    return seconds


def next_duration(seconds: float) -> str | None:
    """Return the next usual span of time, as `parse_duration` reads it; None above 7 days.

    >>> next_duration(290.0), next_duration(300.0), next_duration(301.0), next_duration(4000.0)
    ('5min', '5min', '10min', '2h')
    """
    steps = {"s": (1, 2, 5, 10, 15, 30), "min": (1, 2, 5, 10, 15, 20, 30)}
    steps |= {"h": (1, 2, 3, 4, 6, 8, 12), "d": (1, 2, 7)}
    spans = [f"{count}{unit}" for unit, counts in steps.items() for count in counts]
    return next((span for span in spans if parse_duration(span, "span") >= seconds), None)


def is_time(cell: Any) -> bool:
    """Whether a cell is a moment, not a number that only orders.

    >>> is_time("2026-03-01T00:00"), is_time("1.5"), is_time(1772323200)
    (True, False, True)
    """
    try:
        return _parsed(cell)[1] != ORDER
    except (ValueError, OverflowError):
        return False


def _parsed(cell: Any) -> tuple[float, str, bool]:
    """Return a time as a number, how it was written, and whether it lacks a zone.

    Raises ValueError or OverflowError if the cell is not a time.
    """
    if isinstance(cell, str):
        text = cell.strip()
        try:
            cell = parse_number(text)
        except ValueError:
            cell = datetime.fromisoformat(text)
    if isinstance(cell, date):
        if not isinstance(cell, datetime):
            cell = datetime(cell.year, cell.month, cell.day)
        bare = cell.tzinfo is None
        return (cell.replace(tzinfo=UTC) if bare else cell).timestamp(), "ISO 8601", bare
    if isinstance(cell, bool) or not isinstance(cell, Real):
        raise ValueError
    value = float(cell)
    if 1e9 <= value < 1e11:
        return value, "Unix seconds", False
    if 1e12 <= value < 1e14:
        return value / 1000.0, "Unix milliseconds", False
    return value, ORDER, False


class Times:
    """The times of readings, numbered in the order of arrival.

    All times must have the format of the first. A time without a zone is in UTC. Numbers from 1e9
    to 1e11 are Unix seconds, from 1e12 to 1e14 Unix milliseconds; any other number only orders the
    rounds.
    """

    def __init__(self) -> None:
        self.form = ""
        self.without_zone = False
        self._known: dict[Any, int] = {}
        self._values: dict[float, int] = {}

    def place(self, cell: Any, name: str) -> int:
        """Return the number of a time; equal times have equal numbers."""
        try:
            found = self._known.get(cell)
        except TypeError:  # a list or an object of JSON
            cell, found = f"{cell!r:.40}", None
        if found is None:
            value = self._value(cell, name)
            found = self._known[cell] = self._values.setdefault(value, len(self._values))
        return found

    @property
    def are_moments(self) -> bool:
        """Whether the times are moments, not numbers that only order the rounds."""
        return self.form != ORDER

    def rounds(
        self, every: float | None, most: int = MOST_NUMBERS
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the round of each numbered time, and when the rounds begin.

        Args:
            every: the length of a round in seconds; rounds begin at its multiples. None makes a
                round of each time.
            most: how many rounds there may be.

        """
        values = np.array(list(self._values))
        if every is None:
            begins, of = np.unique(values, return_inverse=True)
            return of.astype(np.int64), begins
        if not self.are_moments:
            raise ValueError("series=... needs times in ISO 8601 or Unix seconds, not numbers")
        of = np.floor(values / every)
        count = int(of.max() - of.min()) + 1
        if count > most:
            raise ValueError(
                f"{count} rounds of {every:g} s lie between the first and the last time, more than "
                f"most_numbers={most}; choose longer rounds"
            )
        return (of - of.min()).astype(np.int64), every * (of.min() + np.arange(count))

    def _value(self, cell: Any, name: str) -> float:
        shown = f"{cell!s:.40}"
        try:
            value, form, bare = _parsed(cell)
        except (ValueError, OverflowError):
            raise Rejected(
                Reason.WRONG_FIELD,
                f"{name} must be a time in ISO 8601, Unix seconds or milliseconds, or a number, "
                f"got {shown!r}",
            ) from None
        if not math.isfinite(value):
            raise Rejected(Reason.NOT_FINITE, f"{name} is {shown}")
        self.form = self.form or form
        if form != self.form:
            raise Rejected(
                Reason.WRONG_FIELD, f"{name} is {shown!r}, {form}, the first one is {self.form}"
            )
        self.without_zone |= bare
        return value
