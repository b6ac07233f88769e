"""The loss of a round: f_t + weight x (a part of g_t), in one kernel."""

from __future__ import annotations

import math
from typing import Any

from hedgerow._engine.kernel import kernel, nothing, number, read, write
from hedgerow.inputs import LARGEST_GRADIENT
from hedgerow.kernels.certificate import lost_against
from hedgerow.kernels.policy_tables import LARGEST_LOSS2, surrogate_table
from hedgerow.kernels.vectors import dots_and_norms, four, mix, three
from hedgerow.learners.steps import FORCED_BETA
from hedgerow.surrogates.block_guard import ROW
from hedgerow.surrogates.queue import LARGEST_PART, ROUND
from hedgerow.surrogates.ranges import (
    AS_FORGIVEN,
    LEARNT,
    SCALE,
    UNSEEN,
    has_tangent_part,
    needs_reach,
    product_of,
    record_force,
    unavoided,
    violation_unit,
    weight_unit,
)

Array = Any
LARGEST_PART2 = LARGEST_PART * LARGEST_PART
"""Rounds with a larger squared gradient are left to Python, which refuses them."""
LEAST_DIRECTION2 = 1e-250
"""Directions of a smaller squared norm are left to Python, which rescales them for the oracle."""
NOT_MADE = (math.nan, 0.0, 0.0, 0.0)


@kernel(nothing, surrogate_table)
def save(surrogate: Any) -> None:
    """Keep the numbers that a round changes, should it be left to Python after all."""
    queue, ranges = surrogate.queue, surrogate.ranges
    guard, saved = surrogate.guard, surrogate.saved
    for i in range(len(queue)):
        saved[i] = queue[i]
    for i in range(len(ranges)):
        saved[len(queue) + i] = ranges[i]
    for i in range(len(guard)):
        saved[len(queue) + len(ranges) + i] = guard[i]


@kernel(nothing, surrogate_table)
def take_back(surrogate: Any) -> None:
    """Undo what was done to the numbers since `save`."""
    queue, ranges = surrogate.queue, surrogate.ranges
    guard, saved = surrogate.guard, surrogate.saved
    for i in range(len(queue)):
        queue[i] = saved[i]
    for i in range(len(ranges)):
        ranges[i] = saved[len(queue) + i]
    for i in range(len(guard)):
        guard[i] = saved[len(queue) + len(ranges) + i]
    for i in range(FORCED_BETA, len(surrogate.rule), ROW):
        surrogate.rule[i] = 0.0


@kernel(number, surrogate_table, write, read, number, read, number, read, read, three)
def weigh(
    surrogate: Any,
    s: Array,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    x: Array,
    at: Array,
    norms2: tuple[float, float, float],
) -> float:
    """Take in a round with gradients a, c and values cost, value, seen at `at`; return the weight.

    x is the present play, and also `at` unless feedback is late. `norms2` are ||a||^2, ||c||^2 and
    the squared norm of a along the set; s is memory to work in. NaN, with nothing changed, stands
    for a round that is left to Python: one to refuse, or one whose oracle call is left to it.
    """
    cost2, plain2, tangent2 = norms2
    if not (cost2 <= LARGEST_PART2 and plain2 <= LARGEST_PART2):
        return math.nan
    if not (abs(cost) <= LARGEST_PART and abs(value) <= LARGEST_PART):
        return math.nan
    queue, ranges, units = surrogate.queue, surrogate.ranges, surrogate.units
    label, members, measure = surrogate.label, surrogate.members, surrogate.measure
    needed = surrogate.needs_gradient(queue, units, value)
    force2 = measure(label, members, c, plain2) if needed > UNSEEN else 0.0
    reach = needs_reach(ranges, units, value, needed, force2)
    known = surrogate.asks and len(surrogate.ledger) > 0  # without a policy the play is not known
    if reach and not (known and plain2 > LEAST_DIRECTION2):
        return math.nan
    save(surrogate)
    relief = 0.0
    if reach:
        index, numbers, links, scratch = surrogate.space
        surrogate.oracle(index, numbers, c, links, scratch, s)
        relief = unavoided(ranges, units, a, c, value, at, s, math.nan)
    product = lost = 0.0
    if units[LEARNT] == AS_FORGIVEN and tangent2 > 0.0 and force2 > 0.0:
        k = math.sqrt(tangent2 / force2)
        mixed2 = mix(s, a, c, k, a)[1]
        product = product_of(measure(label, members, s, mixed2), tangent2, force2, k)
    if len(surrogate.ledger) > 0 and value > 0.0:
        lost = lost_against(surrogate.ledger, x)
    sizes = (tangent2, force2, plain2, product, lost, relief)
    weight, q = 0.0, surrogate.observe(queue, ranges, units, value, sizes)  # lines 6 and 7
    if q == q and has_tangent_part(units, sizes):
        unit = violation_unit(ranges, units)
        weight = weight_unit(ranges, units) * surrogate.slope(
            surrogate.potential, q, queue[ROUND], unit, ranges[SCALE]
        )
    if len(surrogate.guard) > 0:
        proposed = weight
        weight = surrogate.allow(surrogate.guard, surrogate.rule, value - relief, proposed, sizes)
        record_force(ranges, value, weight > proposed)
    surrogate.record(queue, ranges, units, value, weight)
    return weight


@kernel(four, surrogate_table, write, read, number, read, number, read, read, four)
def make_loss(
    surrogate: Any,
    s: Array,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    x: Array,
    at: Array,
    seen: tuple[float, float, float, float],
) -> tuple[float, float, float, float]:
    """Take in a round as `weigh` does; `seen` is <a, x>, <c, x>, ||a||^2 and ||c||^2.

    Write the loss's gradient a + weight c to s unless the weight is 0, and return the weight,
    <s, x>, ||s||^2 and the squared norm of a along the set. A weight of NaN, with nothing changed,
    stands for a round that is left to Python; one whose cost is flat along the set is one, too.
    """
    inner, _, cost2, plain2 = seen
    tangent2 = surrogate.measure(surrogate.label, surrogate.members, a, cost2)
    if tangent2 <= 0.0 and cost2 > 0.0:
        return NOT_MADE
    weight = weigh(surrogate, s, a, cost, c, value, x, at, (cost2, plain2, tangent2))
    if weight != weight:
        return NOT_MADE
    if weight == 0.0:
        return weight, inner, cost2, tangent2
    inner, norm2 = mix(s, a, c, weight, x)
    steep = (1.0 + weight) * surrogate.lipschitz
    if norm2 <= LARGEST_LOSS2 and steep <= LARGEST_GRADIENT:
        return weight, inner, norm2, tangent2
    take_back(surrogate)
    return NOT_MADE


@kernel(number, surrogate_table, write, read, number, read, number, read, read)
def weigh_round(
    surrogate: Any, s: Array, a: Array, cost: float, c: Array, value: float, x: Array, at: Array
) -> float:
    """Return the weight of a round, and write the loss's gradient as `make_loss` does."""
    return make_loss(surrogate, s, a, cost, c, value, x, at, dots_and_norms(a, c, x))[0]
