"""The weight that a potential puts on the constraint, Phi'(q)/V.

One signature for all potentials, `weigh(potential, q, t, unit)`: its numbers, the queue, the
round, and the queue's unit, in which a budget is measured.
"""

from __future__ import annotations

import math
from typing import Any

from hedgerow.kernels.jit import function, kernel, number, read

Array = Any
signature = (number, read, number, number, number)
weighs = function(*signature)


@kernel(number, number, number, number, number)
def growing_scale(floor: float, factor: float, power: float, t: float) -> float:
    """Return max(floor, factor t^power)."""
    return max(floor, factor * t**power)


@kernel(number, number, number, number, number)
def power_weight(p: float, cap: float, scale: float, q: float) -> float:
    """Return (p/scale) (q/scale)^(p-1), in logarithms, at most `cap`."""
    if q <= 0.0:
        return 1.0 / scale if p == 1.0 else 0.0
    logarithm = math.log(p / scale) + (p - 1.0) * (math.log(q) - math.log(scale))
    return cap if logarithm >= math.log(cap) else math.exp(logarithm)


# potential = [p, cap, floor, factor, power, budget]
@kernel(*signature)
def power(potential: Array, q: float, t: float, unit: float) -> float:
    """The power law, with the scale max(floor, factor t^power) + budget/unit."""
    scale = growing_scale(potential[2], potential[3], potential[4], t) + potential[5] / unit
    return power_weight(potential[0], potential[1], scale, q)


@kernel(number, number, number, number, number)
def exponential_weight(rate: float, factor: float, cap: float, q: float) -> float:
    """Return factor rate exp(rate q), at most `cap`."""
    logarithm = math.log(factor * rate) + rate * q
    return cap if logarithm >= math.log(cap) else math.exp(logarithm)


# potential = [rate, factor, cap]
@kernel(*signature)
def exponential(potential: Array, q: float, t: float, unit: float) -> float:
    """The exponential, the same in all rounds."""
    return exponential_weight(potential[0], potential[1], potential[2], q)


# potential = [rate, highest, cap]
@kernel(*signature)
def anytime_exponential(potential: Array, q: float, t: float, unit: float) -> float:
    """The exponential whose rate is min(highest, rate / sqrt t)."""
    rate = min(potential[1], potential[0] / math.sqrt(t))
    return exponential_weight(rate, 1.0, potential[2], q)
