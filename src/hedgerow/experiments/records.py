"""What goes into a record: JSON has no infinity, and a refusal is one sentence."""

from __future__ import annotations

import math


def finite(value: float) -> float | None:
    """Return a number, or None where it is not finite.

    >>> finite(2.5), finite(math.inf)
    (2.5, None)
    """
    return float(value) if math.isfinite(value) else None


def sentence(error: Exception) -> str:
    """Return what an error says, on one line."""
    return " ".join(str(error).split())
