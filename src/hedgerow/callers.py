"""Whose line a warning should show: that of the user, not one of ours."""

from __future__ import annotations

import sys

PACKAGE = __name__.partition(".")[0]


def level_outside() -> int:
    """Return the `stacklevel` of the first caller outside of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE and frame.f_back:
        frame, level = frame.f_back, level + 1
    return level
