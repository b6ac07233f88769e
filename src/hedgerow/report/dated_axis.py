"""Time on an axis, in UTC: numbers as matplotlib counts days, and few labels."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from hedgerow.inputs import Vector

DAY = 86_400.0


def days(times: Vector) -> Vector:
    """Return Unix seconds as matplotlib counts days; objects would cost a second a thousand."""
    from matplotlib.dates import date2num

    first = float(date2num(datetime(1970, 1, 1, tzinfo=UTC)))  # type: ignore[no-untyped-call]
    return np.asarray(first + times / DAY)


def label_days(axis: Any, most: int) -> None:
    """Label an axis of days with at most so many dates and times."""
    from matplotlib import dates

    locator: Any = dates.AutoDateLocator(tz=UTC, minticks=3, maxticks=most)  # type: ignore[no-untyped-call]
    formatter: Any = dates.ConciseDateFormatter(  # type: ignore[no-untyped-call]
        locator,
        tz=UTC,
        formats=["%Y", "%b %Y", "%d %b", "%H:%M", "%H:%M", "%S.%f"],
        zero_formats=["", "%Y", "%b %Y", "%d %b", "%H:%M", "%H:%M"],
        show_offset=False,
    )
    axis.set_major_locator(locator)
    axis.set_major_formatter(formatter)
