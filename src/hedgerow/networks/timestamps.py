"""Moments in time, always with their zone."""

from __future__ import annotations

import math
from datetime import UTC, datetime


def moment(text: str, name: str) -> int:
    """Return Unix seconds of an RFC 3339 time whose zone is written out.

    >>> moment("2019-11-27T15:05:10Z", "start")
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


def written(seconds: int) -> str:
    """Return Unix seconds as a time in UTC.

    >>> written(1574867110)
    '2019-11-27T15:05:10Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
