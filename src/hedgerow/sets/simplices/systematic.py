"""Systematic sampling: random subsets of fixed size with given shares (Madow 1949).

Lay the shares p_1, ..., p_n, which sum to k, end to end, and take the k places u, u + 1, ... for
one u in [0, 1): i is a member if one of them falls on its interval, which happens with probability
p_i. Lengths are rounded to whole multiples of 2^-q, q >= 44 up to n = 1e5, so all that follows is
exact: every subset has k members, and the weights sum to one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector

Whole = NDArray[np.int64]


def subsets(p: Vector, k: int) -> tuple[Vector, Vector]:
    """Return weights and members, one row of zeros and ones per subset, at most n of them."""
    ends, unit = _ends(p, k)
    cuts = np.unique(ends % unit)  # where the subset changes as u grows; k units give the 0
    return np.diff(cuts, append=unit) / unit, _members(ends, unit, cuts[:, None])


def draw(p: Vector, k: int, rng: np.random.Generator) -> Vector:
    """Return the members of one random subset as zeros and ones, O(n)."""
    ends, unit = _ends(p, k)
    return _members(ends, unit, rng.integers(unit))


def _members(ends: Whole, unit: int, u: Whole | np.int64) -> Vector:
    places = -((u - ends) // unit)  # how many of u, u + unit, ... lie before each end
    return np.diff(places, prepend=0, axis=-1).astype(np.float64)


def _ends(p: Vector, k: int) -> tuple[Whole, int]:
    """Return where the intervals end, in whole units, each 0 to 1 long and the last at k."""
    n = p.size
    unit = 1 << min(52, 61 - n.bit_length())
    ends = np.cumsum(np.rint(p * unit).astype(np.int64))
    missing = k * unit - int(ends[-1])
    room = np.cumsum(p * (1.0 - p))  # shares 0 and 1 stay what they are
    if missing and room[-1] > 0.0:
        ends += np.rint(room / room[-1] * missing).astype(np.int64)
    full = unit * np.arange(1, n + 1)
    ends = np.clip(ends, np.maximum(0, full - (n - k) * unit), np.minimum(full, k * unit))
    ends = np.maximum.accumulate(ends)
    return full + np.minimum.accumulate(ends - full), unit
