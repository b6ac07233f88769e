"""The root of a falling function whose every value is dear."""

from __future__ import annotations

from collections.abc import Callable

MOST_CALLS = 80
"""How often the function is asked between two points of different sign, at most."""
OUTWARD = 60
"""Steps outward before one leads to the end: each may be twice as long as the last."""
SMALLEST = 1e-15
"""A bracket this narrow, relative to its end, holds no further number worth trying."""


def falling_root(
    f: Callable[[float], float], at_zero: float, rate: float, end: float, tolerance: float
) -> float:
    """Find where a continuous, nonincreasing f on [0, end] comes within `tolerance` of zero.

    Returns `end` if f is still above there. First steps outward, by the secant through the last two
    points, a little further each time, and never less than f/rate, which cannot overshoot; then
    false position (Illinois), with a bisection where three steps have not halved the bracket.
    Exact after a few calls where f is piecewise linear. The last call of f is at the answer.

    Args:
        f: the function; its value at 0 is known.
        at_zero: f(0), above `tolerance`.
        rate: f(s) - f(s + r) <= rate r.
        end: how far to look.
        tolerance: how near to zero is near enough.

    >>> falling_root(lambda s: 1.0 - s * s, 1.0, 4.0, 2.0, 1e-12)
    1.0

    """
    low, f_low, s, push = 0.0, at_zero, min(end, at_zero / rate), 1.01
    for outward in range(OUTWARD + 1):
        if (value := f(s)) <= tolerance or s >= end:
            break
        fall = (f_low - value) / (s - low) if s > low else 0.0
        step = push * value / fall if fall > 0.0 else end
        low, f_low, push = s, value, 2.0 * push  # further each time: the slope may flatten
        s = min(end, s + max(value / rate, min(step, 9.0 * s)))
        if outward == OUTWARD - 1:
            s = end
    return s if value >= -tolerance else _between(f, (low, f_low), (s, value), tolerance)


def _between(
    f: Callable[[float], float],
    above: tuple[float, float],
    below: tuple[float, float],
    tolerance: float,
) -> float:
    """Find the root between two points (s, f(s)): false position, the Illinois variant."""
    (low, f_low), (high, f_high) = above, below
    s, side, wide = high, 0, high - low
    for call in range(1, MOST_CALLS + 1):
        if call % 3 == 0 and high - low > 0.5 * wide:
            s = 0.5 * (low + high)
        else:
            s = low + (high - low) * f_low / (f_low - f_high)
        wide = high - low if call % 3 == 0 else wide
        value = f(s)
        if abs(value) <= tolerance or high - low <= SMALLEST * high:
            break
        if value > 0.0:  # an end that stays twice counts half
            f_high *= 0.5 if side > 0 else 1.0
            low, f_low, side = s, value, 1
        else:
            f_low *= 0.5 if side < 0 else 1.0
            high, f_high, side = s, value, -1
    return s
