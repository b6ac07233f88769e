"""Means over seeds with intervals, how they are written, and the one rule that judges them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

LEVEL = 0.95
"""Of all intervals: Student's t over seeds."""
DECIMALS = 4
"""At most so many are written."""


class Mean(NamedTuple):
    """A mean over seeds, half the width of its interval (infinite for one seed), and their number.

    >>> print(Mean(12.345, 0.52, 6)), print(Mean(100.0, 4.8e-15, 6)), print(Mean(3.0, math.inf, 1))
    12.3 ± 0.5
    100 ± 0
    3.00
    (None, None, None)
    """

    value: float
    half: float
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """Return the mean of some values, NaN of none."""
        n = len(values)
        if n == 0:
            return cls(math.nan, math.inf, 0)
        if n == 1:
            return cls(float(values[0]), math.inf, 1)
        from scipy import special

        t = float(special.stdtrit(n - 1, 0.5 + LEVEL / 2.0))
        return cls(float(np.mean(values)), t * float(np.std(values, ddof=1)) / math.sqrt(n), n)

    def below(self, limit: float) -> bool | None:
        """Say yes if the whole interval is below a limit, no if above, else None: undecided."""
        if self.value + self.half < limit:
            return True
        return False if self.value - self.half > limit else None

    def above(self, limit: float) -> bool | None:
        """Say yes if the whole interval is above a limit, no if below, else None: undecided."""
        under = self.below(limit)
        return None if under is None else not under

    def __str__(self) -> str:
        """Return both numbers with the digits that mean something: three of the value at most."""
        if not math.isfinite(self.value):
            return ""
        kept = 2 - _exponent(self.value)
        if math.isfinite(self.half):
            kept = min(kept, 1 - _exponent(self.half)) if self.half > 0.0 else kept
            return f"{_rounded(self.value, kept)} ± {_rounded(self.half, kept)}"
        return _rounded(self.value, kept)


def every(answers: Iterable[bool | None]) -> bool | None:
    """Return the answer for a claim of several parts: one no refutes it, one open leaves it open.

    >>> every([True, None]), every([None, False]), every([True, True])
    (None, False, True)
    """
    found = list(answers)
    if False in found:
        return False
    return None if None in found else True


def _exponent(x: float) -> int:
    return math.floor(math.log10(abs(x))) if x else 0


def _rounded(x: float, decimals: int) -> str:
    text = f"{x:.{min(max(decimals, 0), DECIMALS)}f}"
    return text if float(text) else "0"
