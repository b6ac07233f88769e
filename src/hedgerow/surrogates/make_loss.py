"""The loss of a round: f_t + weight x (a part of g_t), in one kernel."""

from __future__ import annotations

import math
from typing import Any

from hedgerow.engine.tables import LARGEST_LOSS2, surrogate_table
from hedgerow.kernels.jit import kernel, number, read, write
from hedgerow.kernels.vectors import dots_and_norms, four, mix
from hedgerow.surrogates.ranges import is_felt, needs_reach, violation_unit, weight_unit

Array = Any
LARGEST, LARGEST2 = 1e100, 1e200
"""Rounds with a larger value or squared gradient are left to Python, which refuses them."""
NOT_MADE = (math.nan, 0.0, 0.0, 0.0)


@kernel(four, surrogate_table, write, read, number, read, number, read, four)
def make_loss(
    surrogate: Any,
    s: Array,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    x: Array,
    seen: tuple[float, float, float, float],
) -> tuple[float, float, float, float]:
    """Take in a round with gradients a, c and values cost, value, played at x.

    `seen` is <a, x>, <c, x>, ||a||^2 and ||c||^2. Write the loss's gradient a + weight c to s
    unless the weight is 0, and return the weight, <s, x>, ||s||^2 and the squared norm of a along
    the set. A weight of NaN, with nothing changed, stands for a round that is left to Python: one
    to refuse, one in which the ranges need their oracle call, or one whose cost is flat along the
    set.
    """
    inner, _, cost2, plain2 = seen
    if not (cost2 <= LARGEST2 and plain2 <= LARGEST2):
        return NOT_MADE
    if not (abs(cost) <= LARGEST and abs(value) <= LARGEST):
        return NOT_MADE
    queue, ranges, units = surrogate.queue, surrogate.ranges, surrogate.units
    label, members, measure = surrogate.label, surrogate.members, surrogate.measure
    needed = surrogate.needs_gradient(queue, units, value)
    force2 = measure(label, members, c, plain2) if needed > 0.0 else 0.0
    if needs_reach(ranges, units, value, needed, force2):
        return NOT_MADE
    tangent2 = measure(label, members, a, cost2)
    if tangent2 <= 0.0 and cost2 > 0.0:
        return NOT_MADE
    before = (queue[0], queue[1], queue[2], queue[3], queue[4])
    learnt = (ranges[0], ranges[1], ranges[2], ranges[3])
    sizes = (tangent2, force2, plain2)
    weight, q = 0.0, surrogate.take(queue, ranges, units, value, sizes)  # lines 6 and 7
    if q == q and is_felt(units, sizes):
        unit = violation_unit(ranges, units)
        weight = weight_unit(ranges, units) * surrogate.slope(
            surrogate.potential, q, queue[0], unit
        )
    surrogate.charge(queue, ranges, units, value, weight)
    if weight == 0.0:
        return weight, inner, cost2, tangent2
    inner, norm2 = mix(s, a, c, weight, x)
    if norm2 <= LARGEST_LOSS2:
        return weight, inner, norm2, tangent2
    for i in range(5):
        queue[i] = before[i]
    for i in range(4):
        ranges[i] = learnt[i]
    return NOT_MADE


@kernel(number, surrogate_table, write, read, number, read, number)
def weigh_round(surrogate: Any, s: Array, a: Array, cost: float, c: Array, value: float) -> float:
    """Return the weight of a round, and write the loss's gradient as `make_loss` does."""
    return make_loss(surrogate, s, a, cost, c, value, a, dots_and_norms(a, c, a))[0]
