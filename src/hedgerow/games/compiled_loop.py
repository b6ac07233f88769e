"""Rounds in compiled code: the kernels of surrogate, learner and set, one after the other.

The objects call the same kernels one by one: one arithmetic serves both.
"""

from __future__ import annotations

from typing import Any

from numba import types

from hedgerow.engine.certificate import certificate_add, is_play_left, leave_play
from hedgerow.engine.tables import UNDECLARED, after_oracle, before_oracle, policy_table
from hedgerow.kernels.borrowing import borrowed
from hedgerow.kernels.jit import kernel, number, read, rows, whole, write_rows
from hedgerow.kernels.tangents import along
from hedgerow.kernels.vectors import four, look, mix
from hedgerow.surrogates.ranges import is_felt, needs_reach, violation_unit, weight_unit

Array = Any
LARGEST, LARGEST2 = 1e100, 1e200
"""Rounds with a larger value or squared gradient are left to the objects, which refuse them."""
LARGEST_LOSS2 = 1e300
"""So are rounds whose weighed loss has a larger squared gradient."""


@kernel(types.boolean, policy_table, read, number, read, number, read, four)
def play_round(
    policy: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    noise: Array,
    seen: tuple[float, float, float, float],
) -> bool:
    """Play a round with gradients a, c and values cost, value.

    `seen` is <a, x>, <c, x>, ||a||^2 and ||c||^2. Return False, with nothing changed, for a round
    that is left to the objects: one to refuse, one in which the ranges need their oracle call, or
    one whose cost is flat along the set.
    """
    inner, _, cost2, plain2 = seen
    if not (cost2 <= LARGEST2 and plain2 <= LARGEST2):
        return False
    if not (abs(cost) <= LARGEST and abs(value) <= LARGEST):
        return False
    space, measure, queue, ranges = policy.space, policy.measure, policy.queue, policy.ranges
    label, members, units = space[4], space[5], policy.units
    needed = policy.needs_gradient(queue, units, value)
    force2 = measure(label, members, c, plain2) if needed > 0.0 else 0.0
    if needs_reach(ranges, units, value, needed, force2):
        return False
    s, norm2, tangent2 = a, cost2, measure(label, members, a, cost2)
    if tangent2 <= 0.0 and cost2 > 0.0:
        return False
    before = (queue[0], queue[1], queue[2], queue[3], queue[4])
    learnt = (ranges[0], ranges[1], ranges[2], ranges[3])
    sizes = (tangent2, force2, plain2)
    weight, q = 0.0, policy.take(queue, ranges, units, value, sizes)  # lines 6 and 7
    if q == q and is_felt(units, sizes):
        unit = violation_unit(ranges, units)
        weight = weight_unit(ranges, units) * policy.slope(policy.potential, q, queue[0], unit)
    policy.charge(queue, ranges, units, value, weight)
    learner = policy.learner
    state, work, n = learner.state, learner.work, len(a)
    if weight != 0.0:
        mixed = work[2 * n : 3 * n]
        inner, norm2 = mix(mixed, a, c, weight, state[:n])
        if not norm2 <= LARGEST_LOSS2:
            for i in range(5):
                queue[i] = before[i]
            for i in range(4):
                ranges[i] = learnt[i]
            return False
        s, tangent2 = mixed, measure(label, members, mixed, norm2)
    certificate_add(policy.ledger, s, inner, norm2, queue[3], cost, value)
    if policy.tangent:
        along(label, members, s, work[3 * n : 4 * n])
    if before_oracle(learner, s, noise, inner, (tangent2, norm2, UNDECLARED)):
        policy.oracle(space[0], space[1], work[:n], space[2], space[3], work[n : 2 * n])
        after_oracle(learner, n)
    return True


@kernel(whole, policy_table, rows, read, rows, read, rows, whole, whole, write_rows)
def play_rounds(
    policy: Any,
    costs: Array,
    cost_offsets: Array,
    constraints: Array,
    constraint_offsets: Array,
    noise: Array,
    first: int,
    end: int,
    seen: Array,
) -> int:
    """Play linear rounds from `first` until `end` and return where it stopped.

    It stops before a round that is left to the objects. Costs and violations go to the two rows of
    `seen`.
    """
    x = policy.learner.state[: costs.shape[1]]
    if not is_play_left(policy.ledger, x):
        return first
    costs, constraints, noise = borrowed(costs), borrowed(constraints), borrowed(noise)
    for r in range(first, end):
        a, c = costs[r], constraints[r]
        looked = look(a, c, x)
        cost, value = looked[0] + cost_offsets[r], looked[1] + constraint_offsets[r]
        own = noise[r - first]  # rows of length 0 for a learner that draws none
        if not play_round(policy, a, cost, c, value, own, looked):
            leave_play(policy.ledger, x)
            return r
        seen[0, r], seen[1, r] = cost, value
    leave_play(policy.ledger, x)
    return end
