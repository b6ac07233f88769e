"""The loss of a round: lines 6 and 7 of Algorithm 2, for one constraint or one queue for each."""

from __future__ import annotations

import math
from typing import Any

from numba import types

from hedgerow._engine.kernel import function, kernel, nothing, number, read, rows, write
from hedgerow._engine.table import TableType, any_table
from hedgerow.inputs import LARGEST_GRADIENT, LARGEST_PART
from hedgerow.kernels.policy_tables import (
    LARGEST_LOSS2,
    UNDECLARED,
    UNMEASURED,
    surrogate_table,
    tangent_norm2,
)
from hedgerow.kernels.vectors import copy, dot, four, mix, six, three
from hedgerow.surrogates.queue import PRICE, ROUND
from hedgerow.surrogates.ranges import (
    LEARNT,
    SCALE,
    UNSEEN,
    has_tangent_part,
    needs_reach,
    violation_unit,
    weight_unit,
)

Array = Any
MAKE_LOSS = (write, read, read, number, read, four)
"""What `make_loss(surrogate, s, a, c, value, at, products)` takes after its table: memory for the
loss's gradient s; gradients a, c of cost and constraint and the constraint's value, at the point
`at`; and products = (<a, at>, <c, at>, ||a||^2, ||c||^2). It returns six numbers: AS_COST
where the gradient of the loss is a, WRITTEN where it is in s, or NaN, with nothing changed, for a
round that is left to Python; the price, which is what the constraint adds to the loss; <s, at>;
||s||^2; the squared norm of s along the set, or UNMEASURED; the Lipschitz constant, or
UNDECLARED."""
AS_COST, WRITTEN = 0.0, 1.0
make_loss_type = function(six, any_table, *MAKE_LOSS)
take_back_type = function(nothing, any_table)
NOT_MADE = (math.nan, 0.0, 0.0, 0.0, 0.0, 0.0)
LARGEST_PART2 = LARGEST_PART * LARGEST_PART
"""Rounds with a larger squared gradient are left to Python, which refuses them."""


@kernel(nothing, surrogate_table)
def save(surrogate: Any) -> None:
    """Save the numbers that a round changes, in case it must be taken back."""
    copy(surrogate.saved, surrogate.queue)
    copy(surrogate.saved[len(surrogate.queue) :], surrogate.ranges)


@kernel(nothing, surrogate_table)
def take_back(surrogate: Any) -> None:
    """Restore the numbers that `save` has saved."""
    queue, ranges, saved = surrogate.queue, surrogate.ranges, surrogate.saved
    copy(queue, saved[: len(queue)])
    copy(ranges, saved[len(queue) : len(queue) + len(ranges)])


@kernel(number, surrogate_table, write, read, read, number, read, three)
def find_weight(
    surrogate: Any,
    s: Array,
    a: Array,
    c: Array,
    value: float,
    at: Array,
    norms2: tuple[float, float, float],
) -> float:
    """Take in a round with gradients a, c and constraint value at `at`; return the weight w_t.

    `norms2` are ||a||^2, ||c||^2 and the squared norm of a along the set; s is memory to work in.
    NaN, with nothing changed, stands for a round that is left to Python.
    """
    cost2, plain2, tangent2 = norms2
    if not (cost2 <= LARGEST_PART2 and plain2 <= LARGEST_PART2 and abs(value) <= LARGEST_PART):
        return math.nan
    queue, ranges, units = surrogate.queue, surrogate.ranges, surrogate.units
    needed = surrogate.needs_gradient(queue, units, value)
    force2 = tangent_norm2(surrogate.set, c, plain2) if needed > UNSEEN else 0.0
    save(surrogate)
    if needs_reach(ranges, units, value, needed, force2):
        reached = surrogate.reach(surrogate.set, ranges, c, value, at, s)
        if reached != reached:
            take_back(surrogate)
            return math.nan
    sizes = (tangent2, force2, plain2)
    # line 6: Q(t), or NaN where nothing is to be weighed
    weight, q = 0.0, surrogate.observe(queue, ranges, units, value, sizes)
    if q == q and has_tangent_part(units, sizes):
        unit = violation_unit(ranges, units)
        # line 7: w_t = Phi'(Q(t))/V, in the units that the ranges have learnt
        weight = weight_unit(ranges, units) * surrogate.slope(
            surrogate.potential, q, queue[ROUND], unit, ranges[SCALE]
        )
    surrogate.record(queue, ranges, units, value, weight)
    return weight


@kernel(six, surrogate_table, *MAKE_LOSS)
def make_loss(
    surrogate: Any,
    s: Array,
    a: Array,
    c: Array,
    value: float,
    at: Array,
    products: tuple[float, float, float, float],
) -> tuple[float, float, float, float, float, float]:
    """Make the loss s = a + w_t c of a round with one constraint."""
    inner, _, cost2, plain2 = products
    tangent2 = tangent_norm2(surrogate.set, a, cost2)
    weight = find_weight(surrogate, s, a, c, value, at, (cost2, plain2, tangent2))
    if weight != weight:
        return NOT_MADE
    Lf, Lg = surrogate.lipschitz[0], surrogate.lipschitz[1]
    declared = Lf + weight * Lg if Lf >= 0.0 and Lg >= 0.0 else UNDECLARED
    made, price, norm2 = AS_COST, surrogate.queue[PRICE], cost2
    if tangent2 <= 0.0 and cost2 > 0.0:
        # a cost that is flat along the set is left out: a small weight would be lost beside it
        scale(s, c, weight)
        made, inner, norm2 = WRITTEN, dot(s, at), dot(s, s)
    elif weight != 0.0:
        made = WRITTEN
        inner, norm2 = mix(s, a, c, weight, at)
    if made == WRITTEN or surrogate.units[LEARNT] == 0.0:
        tangent2 = UNMEASURED  # given ranges do not measure along the set
    if norm2 <= LARGEST_LOSS2 and declared <= LARGEST_GRADIENT and abs(price) < math.inf:
        return made, price, inner, norm2, tangent2, declared
    take_back(surrogate)
    return NOT_MADE


@kernel(nothing, write, read, number)
def scale(s: Array, c: Array, weight: float) -> None:
    """Write weight c to s."""
    for i in range(len(c)):
        s[i] = weight * c[i]


each_table = TableType(
    "EachTable",
    {
        "surrogates": types.Array(surrogate_table, 1, "C", readonly=True),
        "weights": write,  # of each constraint
        "gradients": rows,  # of the constraints, and their values
        "values": read,
    },
)
"""Of a policy with a surrogate for each constraint."""


@kernel(six, each_table, *MAKE_LOSS)
def make_each_loss(
    surrogate: Any,
    s: Array,
    a: Array,
    c: Array,
    value: float,
    at: Array,
    products: tuple[float, float, float, float],
) -> tuple[float, float, float, float, float, float]:
    """Make the loss s = a + the sum of w_{t,i} c_i; c, value are the most violated constraint's."""
    surrogates, cost2, price, made = surrogate.surrogates, dot(a, a), 0.0, 0
    refused = False
    for k in range(len(surrogates)):
        if refused:
            break
        part, c_k = surrogates[k], surrogate.gradients[k]
        norms2 = (cost2, dot(c_k, c_k), tangent_norm2(part.set, a, cost2))
        weight = find_weight(part, s, a, c_k, surrogate.values[k], at, norms2)
        refused = weight != weight
        if not refused:
            surrogate.weights[k] = weight
            made += 1
    copy(s, a)
    for k in range(made):
        add_scaled(s, surrogate.gradients[k], surrogate.weights[k])
        price += surrogates[k].queue[PRICE]
    norm2 = dot(s, s)
    if refused or not (norm2 <= LARGEST_LOSS2 and abs(price) < math.inf):
        for k in range(made - 1, -1, -1):
            take_back(surrogates[k])
        return NOT_MADE
    return WRITTEN, price, dot(s, at), norm2, UNMEASURED, UNDECLARED


@kernel(nothing, each_table)
def take_back_each(surrogate: Any) -> None:
    """Restore the numbers of all surrogates."""
    for k in range(len(surrogate.surrogates)):
        take_back(surrogate.surrogates[k])


@kernel(nothing, write, read, number)
def add_scaled(s: Array, c: Array, weight: float) -> None:
    """Add weight c to s."""
    if weight != 0.0:
        for i in range(len(s)):
            s[i] += weight * c[i]
