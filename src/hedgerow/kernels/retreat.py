"""Retreat: do not go where the last constraint would be violated, as far as its tangents tell.

retreat = [y, the decision | z, where to retreat to | last, the decision of the last round |
           numbers | OF_EACH numbers of each queue | c of each queue | level of each queue], where
<c, .> + level is the tangent of the last constraint with one part; empty for a policy that does
not retreat.
refuge = [1 if it was found | the safest action of this round].
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from hedgerow._engine.kernel import (
    kernel,
    nothing,
    number,
    read,
    whole,
    write,
)
from hedgerow.kernels.parts import parts_table
from hedgerow.kernels.vectors import copy, dot

Array = Any
APART, SAME, MORE_COST, COST_ROOT, DIAMETER, ENDED, QUEUES, PAID, NUMBERS = range(9)
"""The numbers: 1 if y is not the learner's decision x; by how much values of tangents must differ;
what y has cost more than x, by tangents; the root of the sum of ||grad f||^2; D; 1 if the learner
decides from now on; the number of queues; and the violation that y has avoided, at its worth, less
what y has cost more than x."""
MORE_CCV, GRAD_ROOT, OF_EACH = range(3)
"""Of each queue: by how much y has violated more than x, and the root of the sum of ||grad g||^2
over rounds that y violates."""
TRUST = 1.0 / 64.0
"""y may have violated more than x by this many times D (sum ||grad g||^2)^{1/2}. Where it has, the
tangents mislead, as one of a maximum does. Of 1, 1/16 and 1/64 the last was the best one for many
hours of load; on other development games they hardly differ."""
PACE = 1.0 / 8.0
"""The share of the way to x that y goes in a round, while that has paid. Of 1, 1/2, 1/4, 1/8 and
1/12 the last but one had the least violation for its cost on development games."""
WORTH_OF_AVOIDED = 2.0
"""A violation that y avoids is worth this many times its weight in the learner's loss. Of 1, 2, 4
and 8 all but the first had about the same violation for their cost, and 2 the least cost where
going slowly does not pay."""
MOST_FOR_PACE = 1.0 / 4.0
"""Going slowly does not pay if y has cost this many times D (sum ||grad f||^2)^{1/2} more than x.
Of 1/8, 1/4, 1/2 and no limit all but the first had about the same violation for their cost, and 1/4
the least cost where costs grow, or an adviser means harm."""
ROUNDING = 1e-12
"""Values of tangents that differ by less, in units of D ||grad g||, are the same."""
BISECTIONS = 60


@kernel(nothing, write, number, number)
def count_cost(own: Array, more: float, cost2: float) -> None:
    """Add to the numbers what a round cost more at y than at x."""
    own[MORE_COST] += more
    own[COST_ROOT] = math.sqrt(own[COST_ROOT] * own[COST_ROOT] + cost2)


@kernel(nothing, write, number, number)
def count_paid(own: Array, more: float, more_loss: float) -> None:
    """Add to the numbers the violation that y avoided in a round, at its worth, less its cost.

    At y the cost is higher by `more` than at x, and the learner's loss by `more_loss`.
    """
    own[PAID] -= more + WORTH_OF_AVOIDED * (more_loss - more)


@kernel(nothing, write, whole, number, number, number)
def count_violation(own: Array, k: int, value: float, told: float, force2: float) -> None:
    """Add to the numbers what queue k has at y, `value`, and at x, `told`."""
    each = own[NUMBERS + k * OF_EACH :]
    each[MORE_CCV] += max(0.0, value) - max(0.0, told)
    if value > 0.0:
        each[GRAD_ROOT] = math.sqrt(each[GRAD_ROOT] * each[GRAD_ROOT] + force2)


@kernel(types.boolean, read)
def has_lost_too_much(own: Array) -> bool:
    """Whether y has cost or violated so much more than x that the learner must decide."""
    D = own[DIAMETER]
    if own[MORE_COST] > D * own[COST_ROOT]:
        return True
    for k in range(int(own[QUEUES])):
        each = own[NUMBERS + k * OF_EACH :]
        if each[MORE_CCV] > TRUST * D * each[GRAD_ROOT]:
            return True
    return False


@kernel(types.boolean, read)
def has_paid(own: Array) -> bool:
    """Whether the violation that y has avoided was worth its cost, and the cost is not too high."""
    most = MOST_FOR_PACE * own[DIAMETER] * own[COST_ROOT]
    return bool(own[PAID] > 0.0 and own[MORE_COST] <= most)


@kernel(nothing, write, read)
def show_refuge(refuge: Array, safest: Array) -> None:
    """Write down the safest action of this round."""
    refuge[0] = 1.0
    copy(refuge[1:], safest)


@kernel(whole, parts_table, whole, read, read)
def largest_part(parts: Any, m: int, at: Array, x: Array) -> int:
    """Write values at x, by the tangents of m parts that were seen at `at`; return the largest."""
    top = 0
    for k in range(m):
        c = parts.gradients[k]
        parts.at_x[k] = parts.values[k] + (dot(c, x) - dot(c, at))
        if parts.at_x[k] > parts.at_x[top]:
            top = k
    return top


@kernel(nothing, parts_table, parts_table, number)
def take_each(tangent: Any, parts: Any, D: float) -> None:
    """Take in the constraints of all queues, in units of distance: theirs may differ.

    A constraint that no action changes counts as satisfied, by the diameter D.
    """
    for k in range(len(tangent.values)):
        c = parts.gradients[k]
        norm = math.sqrt(dot(c, c))
        tangent.values[k] = parts.values[k] / norm if norm > 0.0 else -D
        for i in range(len(c)):
            tangent.gradients[k, i] = c[i] / norm if norm > 0.0 else 0.0


@kernel(number, parts_table, whole, read, write)
def evaluate_tangents(parts: Any, m: int, x: Array, values: Array) -> float:
    """Write the values of m tangents at x, and return the largest one."""
    largest = -math.inf
    for k in range(m):
        values[k] = parts.levels[k] + dot(parts.gradients[k], x)
        largest = max(largest, values[k])
    return largest


@kernel(nothing, write, parts_table, whole, read, read)
def see_constraint(retreat: Array, parts: Any, m: int, at: Array, refuge: Array) -> None:
    """Take in a constraint of m parts, with values and gradients at the decision `at`.

    z is the last decision that satisfied its round. In a round that z violates, too, it is the
    safest action, if that was found and violates less, or else the decision, if that does.
    """
    n, top = len(at), 0
    for k in range(m):
        parts.levels[k] = parts.values[k] - dot(parts.gradients[k], at)
        if parts.values[k] > parts.values[top]:
            top = k
    z, own, value, c = retreat[n : 2 * n], retreat[3 * n :], parts.values[top], parts.gradients[top]
    copy(retreat[2 * n : 3 * n], retreat[:n])
    own[SAME] = ROUNDING * own[DIAMETER] * math.sqrt(dot(c, c))
    if value <= own[SAME]:
        copy(z, at)
        return
    there = evaluate_tangents(parts, m, z, parts.at_z)
    if there <= own[SAME]:
        return
    if refuge[0] > 0.0 and evaluate_tangents(parts, m, refuge[1:], parts.at_z) < there:
        copy(z, refuge[1:])
    elif m > 1 and value < there:  # with one part this changes next to nothing
        copy(z, at)


@kernel(number, read, read, whole)
def share_of_way(at_x: Array, at_z: Array, m: int) -> float:
    """Return the smallest share of the way from x to z at which the largest violation is least.

    Part k has the values at_x[k] and at_z[k] at the ends, and is linear between.
    """
    low, high = 0.0, 1.0  # between these every part is satisfied
    for k in range(m):
        if at_x[k] > 0.0:
            low = max(low, at_x[k] / (at_x[k] - at_z[k])) if at_z[k] <= 0.0 else 2.0
        elif at_z[k] > 0.0:
            high = min(high, at_x[k] / (at_x[k] - at_z[k]))
    if low <= high:
        return low
    low, high = 0.0, 1.0  # the slope of the largest part tells on which side the least value is
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        top, slope = -math.inf, 0.0
        for k in range(m):
            rise = at_z[k] - at_x[k]
            value = at_x[k] + middle * rise
            if value > top:
                top, slope = value, rise
        if slope < 0.0:
            low = middle
        else:
            high = middle
    return high


@kernel(nothing, write, parts_table, whole, read)
def choose_decision(retreat: Array, parts: Any, m: int, x: Array) -> None:
    """Write the next decision y: the learner's x, or a point on the way to it or back from it.

    y = x if y has lost too much to x so far. Otherwise y goes from the last decision to x, or only
    an eighth of the way if that has paid so far, unless x violates the tangents less. If the point
    that it comes to violates one, y is the first point from there to z at which the largest
    tangent is violated least.
    """
    n = len(x)
    y, z, last, own = retreat[:n], retreat[n : 2 * n], retreat[2 * n : 3 * n], retreat[3 * n :]
    own[APART] = 0.0
    copy(y, x)
    if own[ENDED] > 0.0 or has_lost_too_much(own):
        return
    there = evaluate_tangents(parts, m, x, parts.at_x)
    if has_paid(own):
        for i in range(n):
            y[i] = last[i] + PACE * (x[i] - last[i])
        slow = evaluate_tangents(parts, m, y, parts.at_x)
        if slow > max(own[SAME], there):
            copy(y, x)
            evaluate_tangents(parts, m, x, parts.at_x)
        else:
            own[APART], there = 1.0, slow
    if there <= own[SAME]:
        return
    evaluate_tangents(parts, m, z, parts.at_z)
    share = share_of_way(parts.at_x, parts.at_z, m)
    least = 0.0
    for k in range(m):
        least = max(least, parts.at_x[k] + share * (parts.at_z[k] - parts.at_x[k]))
    if least >= there - own[SAME]:
        return
    own[APART] = 1.0
    for i in range(n):
        y[i] += share * (z[i] - y[i])
