"""Rounds in compiled code: the kernels of surrogate, learner and set, one after the other.

The objects call the same kernels one by one: one arithmetic serves both.
"""

from __future__ import annotations

from typing import Any

from numba import types

from hedgerow.engine.certificate import certificate_add, is_play_left, leave_play
from hedgerow.engine.signatures import LABEL, MEMBERS
from hedgerow.engine.tables import UNDECLARED, learner_step, step_table, surrogate_table
from hedgerow.kernels.jit import kernel, number, read, rows, whole, write, write_rows
from hedgerow.kernels.unowned_view import unowned_view
from hedgerow.kernels.vectors import dots_and_norms, four
from hedgerow.surrogates.make_loss import make_loss
from hedgerow.surrogates.queue import PRICE
from hedgerow.surrogates.ranges import LEARNT

Array = Any


@kernel(types.boolean, step_table, surrogate_table, write, read, number, read, number, read, four)
def play_round(
    step: Any,
    surrogate: Any,
    ledger: Array,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    noise: Array,
    seen: tuple[float, float, float, float],
) -> bool:
    """Play a round with gradients a, c and values cost, value.

    `seen` is <a, x>, <c, x>, ||a||^2 and ||c||^2. Return False, with nothing changed, for a round
    that is left to the objects.
    """
    n, learner = len(a), step.learner
    mixed = learner.work[2 * n : 3 * n]
    x = learner.state[:n]
    weight, inner, norm2, tangent2 = make_loss(surrogate, mixed, a, cost, c, value, x, x, seen)
    if weight != weight:
        return False
    s = a if weight == 0.0 else mixed
    if weight != 0.0 or surrogate.units[LEARNT] == 0.0:
        tangent2 = step.measure(step.space[LABEL], step.space[MEMBERS], s, norm2)
    certificate_add(ledger, s, inner, norm2, surrogate.queue[PRICE], cost, value)
    learner_step(step, s, noise, inner, (tangent2, norm2, UNDECLARED))
    return True


@kernel(
    *(whole, step_table, surrogate_table, write, rows, read, rows, read, rows),
    *(whole, whole, write_rows),
)
def play_rounds(
    step: Any,
    surrogate: Any,
    ledger: Array,
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
    x = step.learner.state[: costs.shape[1]]
    if not is_play_left(ledger, x):
        return first
    costs, constraints, noise = unowned_view(costs), unowned_view(constraints), unowned_view(noise)
    for r in range(first, end):
        a, c = costs[r], constraints[r]
        looked = dots_and_norms(a, c, x)
        cost, value = looked[0] + cost_offsets[r], looked[1] + constraint_offsets[r]
        own = noise[r - first]  # rows of length 0 for a learner that draws none
        if not play_round(step, surrogate, ledger, a, cost, c, value, own, looked):
            leave_play(ledger, x)
            return r
        seen[0, r], seen[1, r] = cost, value
    leave_play(ledger, x)
    return end
