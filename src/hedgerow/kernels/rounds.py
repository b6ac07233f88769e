"""The compiled game: rounds played without leaving compiled code.

One arithmetic serves every set, learner, step rule, surrogate and potential that has kernels; the
objects call the same kernels one by one.
"""

from __future__ import annotations

from typing import Any

from numba import types

from hedgerow.kernels.borrowing import borrowed
from hedgerow.kernels.charges import must_ask
from hedgerow.kernels.jit import kernel, number, read, rows, whole, write_rows
from hedgerow.kernels.ledger import enter, leave, left
from hedgerow.kernels.plan import plan_type
from hedgerow.kernels.vectors import four, look, mix

Array = Any
LARGEST, LARGEST2 = 1e100, 1e200
"""Rounds with a larger value or squared gradient are left to the objects, which refuse them."""
LARGEST_LOSS2 = 1e300
"""So are rounds whose weighed loss has a larger squared gradient."""


@kernel(types.boolean, plan_type, read, number, read, number, read, four)
def tell(
    plan: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    p: Array,
    looked: tuple[float, float, float, float],
) -> bool:
    """Take in a round with gradients a, c and values cost, value; p is the learner's noise.

    `looked` is <a, x>, <c, x>, ||a||^2 and ||c||^2. Return False, with nothing changed, for a round
    that is left to the objects: one to refuse, one in which the ranges need their oracle call, or
    one whose cost is flat along the set.
    """
    inner, _, cost2, plain2 = looked
    if not (cost2 <= LARGEST2 and plain2 <= LARGEST2):
        return False
    if not (abs(cost) <= LARGEST and abs(value) <= LARGEST):
        return False
    space, measure, queue = plan.space, plan.measure, plan.queue
    label, members = space[4], space[5]
    heeded = plan.heed(queue, plan.units, value)
    force2 = measure(label, members, c, plain2) if heeded > 0.0 else 0.0
    if must_ask(plan.ranges, plan.units, value, heeded, force2):
        return False
    s, norm2, tangent2 = a, cost2, measure(label, members, a, cost2)
    if tangent2 <= 0.0 and cost2 > 0.0:
        return False
    sizes = (tangent2, force2, plain2)
    ranges = plan.ranges
    before = (queue[0], queue[1], queue[2], queue[3], queue[4])
    learnt = (ranges[0], ranges[1], ranges[2], ranges[3])
    weight = plan.charge(
        queue, plan.ranges, plan.units, plan.potential, value, sizes, plan.weigh
    )  # lines 6 and 7
    state, work = plan.state, plan.work
    if weight != 0.0:
        mixed = work[len(work) - len(a) :]
        inner, norm2 = mix(mixed, a, c, weight, state[: len(a)])
        if not norm2 <= LARGEST_LOSS2:
            for i in range(5):
                queue[i] = before[i]
            for i in range(4):
                ranges[i] = learnt[i]
            return False
        s, tangent2 = mixed, measure(label, members, mixed, norm2)
    enter(plan.ledger, s, inner, norm2, queue[3])
    loss, move = (tangent2, norm2), plan.advance
    regularise, relax, settle = plan.regularise, plan.relax, plan.settle
    move(state, work, s, p, inner, loss, space, plan.oracle, regularise, relax, settle)
    return True


@kernel(types.boolean, plan_type, read, number, read, number)
def hear(plan: Any, a: Array, cost: float, c: Array, value: float) -> bool:
    """Take in one round, for a learner that draws no noise."""
    x, a, c = plan.state[: len(a)], borrowed(a), borrowed(c)
    if not left(plan.ledger, x) or not tell(plan, a, cost, c, value, a[:0], look(a, c, x)):
        return False
    leave(plan.ledger, x)
    return True


@kernel(whole, plan_type, rows, read, rows, read, rows, whole, whole, write_rows)
def play(
    plan: Any,
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
    x = plan.state[: costs.shape[1]]
    if not left(plan.ledger, x):
        return first
    costs, constraints, noise = borrowed(costs), borrowed(constraints), borrowed(noise)
    for r in range(first, end):
        a, c = costs[r], constraints[r]
        looked = look(a, c, x)
        cost, value = looked[0] + cost_offsets[r], looked[1] + constraint_offsets[r]
        p = noise[r - first]  # rows of length 0 for a learner that draws none
        if not tell(plan, a, cost, c, value, p, looked):
            leave(plan.ledger, x)
            return r
        seen[0, r], seen[1, r] = cost, value
    leave(plan.ledger, x)
    return end
