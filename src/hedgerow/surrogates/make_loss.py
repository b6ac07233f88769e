"""The loss of a round: lines 6 and 7 of Algorithm 2, for one constraint or one queue for each."""

from __future__ import annotations

import math
from typing import Any

from numba import types

from hedgerow._engine.kernel import function, kernel, nothing, number, read, rows, write
from hedgerow._engine.signatures import CONSTRAINT_GRAD2, SIZES, UNAVOIDABLE
from hedgerow._engine.table import TableType, any_table
from hedgerow.inputs import LARGEST_GRADIENT, LARGEST_PART
from hedgerow.kernels.certificate import lost_against
from hedgerow.kernels.policy_tables import (
    LARGEST_LOSS2,
    UNDECLARED,
    UNMEASURED,
    surrogate_table,
    tangent_norm2,
)
from hedgerow.kernels.retreat import show_refuge
from hedgerow.kernels.vectors import copy, dot, four, mix, six, three
from hedgerow.learners import steps as rules
from hedgerow.learners.steps import FORCED_BETA, WORTH
from hedgerow.surrogates.block_guard import ROW
from hedgerow.surrogates.each_guard import EACH
from hedgerow.surrogates.guard import (
    PC,
    UNIT,
    WC,
    add_cost,
    dual_power,
    has_stopped,
    largest_allowed,
    theorem_weight,
)
from hedgerow.surrogates.queue import PRICE, ROUND
from hedgerow.surrogates.ranges import (
    AS_AVOIDABLE,
    LEARNT,
    SCALE,
    STEEP,
    UNSEEN,
    has_tangent_part,
    is_steep,
    needs_reach,
    product_of,
    record_force,
    violation_unit,
    weight_unit,
)

Array = Any
MAKE_LOSS = (write, read, read, number, read, read, four)
"""What `make_loss(surrogate, s, a, c, value, x, at, products)` takes after its table: memory for
the loss's gradient s; gradients a, c of cost and constraint and the constraint's value, at the
point `at`; the decision x, which is `at` unless feedback is late; and
products = (<a, at>, <c, at>, ||a||^2, ||c||^2). It returns six numbers: AS_COST
where the gradient of the loss is a, WRITTEN where it is in s, or NaN, with nothing changed, for a
round that is left to Python; the price, which is what the constraint adds to the loss; <s, at>;
||s||^2; the squared norm of s along the set, or UNMEASURED; the Lipschitz constant, or
UNDECLARED."""
AS_COST, WRITTEN = 0.0, 1.0
make_loss_type = function(six, any_table, *MAKE_LOSS)
take_back_type = function(nothing, any_table)
NOT_MADE = (math.nan, 0.0, 0.0, 0.0, 0.0, 0.0)
Sizes = tuple[float, float, float, float, float, float]
NO_SIZES = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
proposal_type = types.Tuple((number, SIZES))  # type: ignore[no-untyped-call]
LARGEST_PART2 = LARGEST_PART * LARGEST_PART
"""Rounds with a larger squared gradient are left to Python, which refuses them."""


@kernel(nothing, surrogate_table)
def save(surrogate: Any) -> None:
    """Save the numbers that a round changes, in case it must be taken back."""
    queue, ranges, saved = surrogate.queue, surrogate.ranges, surrogate.saved
    copy(saved, queue)
    copy(saved[len(queue) :], ranges)
    copy(saved[len(queue) + len(ranges) :], surrogate.guard)


@kernel(nothing, surrogate_table)
def take_back(surrogate: Any) -> None:
    """Restore the numbers that `save` has saved."""
    queue, ranges, saved = surrogate.queue, surrogate.ranges, surrogate.saved
    q, r = len(queue), len(queue) + len(ranges)
    copy(queue, saved[:q])
    copy(ranges, saved[q:r])
    copy(surrogate.guard, saved[r : r + len(surrogate.guard)])
    for i in range(0, len(surrogate.rule), ROW):
        surrogate.rule[i + FORCED_BETA] = surrogate.rule[i + WORTH] = 0.0


@kernel(proposal_type, surrogate_table, write, read, read, number, read, read, three)
def propose_weight(
    surrogate: Any,
    s: Array,
    a: Array,
    c: Array,
    value: float,
    x: Array,
    at: Array,
    norms2: tuple[float, float, float],
) -> tuple[float, Sizes]:
    """Take in a round with gradients a, c and constraint value at `at`; propose a weight.

    x is the present decision. `norms2` are ||a||^2, ||c||^2 and the squared norm of a along the
    set; s is memory to work in. NaN, with nothing changed, stands for a round that is left to
    Python. Return the weight, and the sizes that a guard needs.
    """
    cost2, plain2, tangent2 = norms2
    if not (cost2 <= LARGEST_PART2 and plain2 <= LARGEST_PART2 and abs(value) <= LARGEST_PART):
        return math.nan, NO_SIZES
    queue, ranges, units = surrogate.queue, surrogate.ranges, surrogate.units
    ledger = surrogate.ledger
    needed = surrogate.needs_gradient(queue, units, value)
    force2 = tangent_norm2(surrogate.set, c, plain2) if needed > UNSEEN else 0.0
    save(surrogate)
    unavoidable = 0.0
    if units[LEARNT] == AS_AVOIDABLE:
        ranges[STEEP] = is_steep(ranges, force2)
    if needs_reach(ranges, units, value, needed, force2):
        unavoidable = surrogate.reach(surrogate.set, ranges, units, a, c, value, at, s)
        if unavoidable != unavoidable:
            take_back(surrogate)
            return math.nan, NO_SIZES
        if len(surrogate.refuge) > 0 and units[LEARNT] == AS_AVOIDABLE:
            show_refuge(surrogate.refuge, s)
    product = lost = 0.0
    if units[LEARNT] == AS_AVOIDABLE and tangent2 > 0.0 and force2 > 0.0:
        k = math.sqrt(tangent2 / force2)
        mixed2 = mix(s, a, c, k, a)[1]
        product = product_of(tangent_norm2(surrogate.set, s, mixed2), tangent2, force2, k)
    if len(ledger) > 0 and value > 0.0:
        lost = lost_against(ledger, x)
    sizes = (tangent2, force2, plain2, product, lost, unavoidable)
    # line 6: Q(t), or NaN where nothing is to be weighed
    weight, q = 0.0, surrogate.observe(queue, ranges, units, value, sizes)
    if q == q and has_tangent_part(units, sizes):
        unit = violation_unit(ranges, units)
        # line 7: w_t = Phi'(Q(t))/V, in the units that the ranges have learnt
        weight = weight_unit(ranges, units) * surrogate.slope(
            surrogate.potential, q, queue[ROUND], unit, ranges[SCALE]
        )
    return weight, sizes


@kernel(number, surrogate_table, write, read, read, number, read, read, three)
def find_weight(
    surrogate: Any,
    s: Array,
    a: Array,
    c: Array,
    value: float,
    x: Array,
    at: Array,
    norms2: tuple[float, float, float],
) -> float:
    """Take in a round of one constraint, as `propose_weight` does; return the weight w_t."""
    proposed, sizes = propose_weight(surrogate, s, a, c, value, x, at, norms2)
    if proposed != proposed:
        return proposed
    weight, ranges = proposed, surrogate.ranges
    if len(surrogate.guard) > 0:
        avoidable = value - sizes[UNAVOIDABLE]
        weight = surrogate.allow(surrogate.guard, surrogate.rule, avoidable, proposed, sizes)
        record_force(ranges, value, weight > proposed)
    surrogate.record(surrogate.queue, ranges, surrogate.units, value, weight)
    if len(surrogate.guard) > 0:
        surrogate.rule[WORTH] = surrogate.queue[PRICE]
    return weight


@kernel(six, surrogate_table, *MAKE_LOSS)
def make_loss(
    surrogate: Any,
    s: Array,
    a: Array,
    c: Array,
    value: float,
    x: Array,
    at: Array,
    products: tuple[float, float, float, float],
) -> tuple[float, float, float, float, float, float]:
    """Make the loss s = a + w_t c of a round with one constraint."""
    inner, _, cost2, plain2 = products
    tangent2 = tangent_norm2(surrogate.set, a, cost2)
    weight = find_weight(surrogate, s, a, c, value, x, at, (cost2, plain2, tangent2))
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
        "scratch": write,  # two vectors
        "weights": write,  # EACH_NUMBERS of each constraint
        "gradients": rows,  # of the constraints, and their values
        "values": read,
        "guard": write,  # as `surrogates/each_guard.py` has it; empty without a guard
        "rule": write,  # the step rule's numbers, for the guard
        "saved": write,  # memory for the guard, to take back a round
    },
)
"""Of a policy with a surrogate for each constraint."""
PROPOSED, AVOIDABLE, FORCE2, FLOOR, ALLOWED, EACH_NUMBERS = range(6)
"""Of each constraint: the proposed weight, the avoidable violation, ||grad g||^2 along the set,
Theorem F's weight, and the allowed weight."""


@kernel(nothing, each_table, write, read, number)
def guard_each(table: Any, s: Array, a: Array, cost2: float) -> None:
    """Reduce the weights of all constraints to what their guard allows; s is memory."""
    guard, rule, w, base = table.guard, table.rule, table.weights, table.scratch[: len(s)]
    if has_stopped(guard, rule, cost2):
        return
    D, m = rule[rules.D], len(table.surrogates)
    add_cost(guard, cost2)
    copy(base, a)
    scale(s, a, 0.0)
    paid = extra = 0.0
    for k in range(m):  # base = grad f + sum wc_k grad g_k, s = what is proposed beyond it
        own = w[k * EACH_NUMBERS : (k + 1) * EACH_NUMBERS]
        v = max(0.0, own[AVOIDABLE])
        own[FLOOR] = theorem_weight(guard, D, v, own[FORCE2], guard[EACH + k])
        more = max(0.0, own[PROPOSED] - own[FLOOR])
        add_scaled(base, table.gradients[k], own[FLOOR])
        add_scaled(s, table.gradients[k], more)
        guard[EACH + k] += own[FLOOR] * v
        paid += own[FLOOR] * v
        extra += more * v
    set_ = table.surrogates[0].set
    base2, more2 = tangent_norm2(set_, base, dot(base, base)), tangent_norm2(set_, s, dot(s, s))
    guard[PC] += dual_power(guard, base2, guard[UNIT])
    both = table.scratch[len(s) :]
    copy(both, base)
    add_scaled(both, s, 1.0)
    product = product_of(tangent_norm2(set_, both, dot(both, both)), base2, more2, 1.0)
    sizes = (base2, more2, more2, product, 0.0, 0.0)
    share = largest_allowed(guard, rule, extra, 1.0, 0.0, sizes)
    guard[WC] += paid
    for k in range(m):
        own = w[k * EACH_NUMBERS : (k + 1) * EACH_NUMBERS]
        own[ALLOWED] = own[FLOOR] + share * max(0.0, own[PROPOSED] - own[FLOOR])
        record_force(table.surrogates[k].ranges, table.values[k], own[FLOOR] > own[PROPOSED])


@kernel(nothing, each_table)
def restore_guard(table: Any) -> None:
    """Restore the numbers of the guard of several constraints; it forces nothing."""
    copy(table.guard, table.saved)
    if len(table.rule) > 0:
        table.rule[FORCED_BETA] = table.rule[WORTH] = 0.0


@kernel(six, each_table, *MAKE_LOSS)
def make_each_loss(
    surrogate: Any,
    s: Array,
    a: Array,
    c: Array,
    value: float,
    x: Array,
    at: Array,
    products: tuple[float, float, float, float],
) -> tuple[float, float, float, float, float, float]:
    """Make the loss s = a + the sum of w_{t,i} c_i; c, value are the most violated constraint's."""
    surrogates, cost2, price, made, w = surrogate.surrogates, dot(a, a), 0.0, 0, surrogate.weights
    tangent2, refused = tangent_norm2(surrogates[0].set, a, cost2), False
    copy(surrogate.saved, surrogate.guard)
    for k in range(len(surrogates)):
        if refused:
            break
        part, c_k = surrogates[k], surrogate.gradients[k]
        norms2 = (cost2, dot(c_k, c_k), tangent_norm2(part.set, a, cost2))
        proposed, sizes = propose_weight(part, s, a, c_k, surrogate.values[k], x, at, norms2)
        refused = proposed != proposed
        if not refused:
            own = w[k * EACH_NUMBERS : (k + 1) * EACH_NUMBERS]
            own[PROPOSED], own[ALLOWED], own[FORCE2] = proposed, proposed, sizes[CONSTRAINT_GRAD2]
            own[AVOIDABLE] = surrogate.values[k] - sizes[UNAVOIDABLE]
            made += 1
    if not refused and len(surrogate.guard) > 0:
        guard_each(surrogate, s, a, tangent2)
    copy(s, a)
    for k in range(made):
        part, weight = surrogates[k], w[k * EACH_NUMBERS + ALLOWED]
        add_scaled(s, surrogate.gradients[k], weight)
        part.record(part.queue, part.ranges, part.units, surrogate.values[k], weight)
        price += part.queue[PRICE]
    if len(surrogate.rule) > 0:
        surrogate.rule[WORTH] = price
    norm2 = dot(s, s)
    if refused or not (norm2 <= LARGEST_LOSS2 and abs(price) < math.inf):
        restore_guard(surrogate)
        for k in range(made - 1, -1, -1):
            take_back(surrogates[k])
        return NOT_MADE
    return WRITTEN, price, dot(s, at), norm2, UNMEASURED, UNDECLARED


@kernel(nothing, each_table)
def take_back_each(surrogate: Any) -> None:
    """Restore the numbers of all surrogates, and of their guard."""
    restore_guard(surrogate)
    for k in range(len(surrogate.surrogates)):
        take_back(surrogate.surrogates[k])


@kernel(nothing, write, read, number)
def add_scaled(s: Array, c: Array, weight: float) -> None:
    """Add weight c to s."""
    if weight != 0.0:
        for i in range(len(s)):
            s[i] += weight * c[i]
