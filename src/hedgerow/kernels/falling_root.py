"""Where a falling function is zero, asked for one value at a time."""

from __future__ import annotations

from typing import Any

from numba import types

from hedgerow._engine.kernel import kernel, nothing, number, write

Array = Any
MOST_CALLS = 80
"""How often the function is asked between two points of different sign, at most."""
OUTWARD = 60
"""Steps outward before one leads to the end: each may be twice as long as the last."""
SMALLEST = 1e-15
"""A bracket this narrow, relative to its end, holds no further number worth trying."""
AT, LOW, F_LOW, HIGH, F_HIGH, PUSH, ASKED, WIDE, SIDE, RATE, END, TOLERANCE = range(12)
"""The numbers of a search: the point to ask at, the bracket, and what `begin_search` was told."""
SEARCH = 12
"""How many these are."""


@kernel(nothing, write, number, number, number, number)
def begin_search(search: Array, at_zero: float, rate: float, end: float, tolerance: float) -> None:
    """Begin at 0, where the value is known; HIGH is 0 while the search goes outward."""
    for i in range(SEARCH):
        search[i] = 0.0
    search[F_LOW], search[RATE], search[END] = at_zero, rate, end
    search[TOLERANCE], search[PUSH] = tolerance, 1.01
    search[AT] = min(end, at_zero / rate)


@kernel(types.boolean, write, number)
def goes_on(search: Array, value: float) -> bool:
    """Take in the value at AT; False if that is the answer, else AT is where to ask next."""
    s, tolerance, end = search[AT], search[TOLERANCE], search[END]
    if search[HIGH] == 0.0:
        if value > tolerance and s < end:
            low, f_low, push = search[LOW], search[F_LOW], search[PUSH]
            fall = (f_low - value) / (s - low) if s > low else 0.0
            step = push * value / fall if fall > 0.0 else end
            search[LOW], search[F_LOW] = s, value
            search[PUSH] = 2.0 * push  # further each time: the slope may flatten
            search[AT] = min(end, s + max(value / search[RATE], min(step, 9.0 * s)))
            search[ASKED] += 1.0
            if search[ASKED] == OUTWARD:
                search[AT] = end
            return True
        if value >= -tolerance:
            return False
        search[HIGH], search[F_HIGH] = s, value
        search[WIDE], search[ASKED] = s - search[LOW], 0.0
    else:
        if abs(value) <= tolerance or search[HIGH] - search[LOW] <= SMALLEST * search[HIGH]:
            return False
        if value > 0.0:  # an end that stays twice counts half
            search[F_HIGH] *= 0.5 if search[SIDE] > 0.0 else 1.0
            search[LOW], search[F_LOW], search[SIDE] = s, value, 1.0
        else:
            search[F_LOW] *= 0.5 if search[SIDE] < 0.0 else 1.0
            search[HIGH], search[F_HIGH], search[SIDE] = s, value, -1.0
        if search[ASKED] == MOST_CALLS:
            return False
    search[ASKED] += 1.0
    low, high, third = search[LOW], search[HIGH], search[ASKED] % 3.0 == 0.0
    if third and high - low > 0.5 * search[WIDE]:
        search[AT] = 0.5 * (low + high)
    else:
        f_low = search[F_LOW]
        search[AT] = low + (high - low) * f_low / (f_low - search[F_HIGH])
    if third:
        search[WIDE] = high - low
    return True
