"""Rounds of any kind in compiled code: look at the functions, then play as the linear loop does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import (
    function,
    kernel,
    nothing,
    number,
    read,
    rows,
    whole,
    write,
    write_rows,
)
from hedgerow._engine.signatures import LABEL, LOOK, MEMBERS, PARTS, ROWS
from hedgerow._engine.unowned_view import unowned_view
from hedgerow.kernels.certificate import add_each, certificate_add, is_play_left, leave_play
from hedgerow.kernels.policy_tables import (
    UNDECLARED,
    learner_step,
    step_table,
    surrogate_table,
    surrogate_tables,
)
from hedgerow.kernels.vectors import dot, dots_and_norms
from hedgerow.policies.play_round import play_round
from hedgerow.surrogates.each_loss import make_each_loss

Array = Any
look_type = function(*LOOK)
LOOKS = (look_type, ROWS, look_type, ROWS, write, write_rows, write_rows, write)
"""What `CompiledChunk.looks` returns."""


@kernel(ROWS, ROWS)
def unowned(data: Any) -> Any:
    """Return the arrays without their owners, who must outlive them."""
    index, numbers, own, begin, parts = data
    return (
        *(unowned_view(index), unowned_view(numbers), unowned_view(own)),
        *(unowned_view(begin), unowned_view(parts)),
    )


@kernel(whole, look_type, ROWS, whole, read, write, write_rows, write)
def look_at(
    look: Any, data: Any, r: int, x: Array, scratch: Array, gradients: Array, values: Array
) -> int:
    """Write values and gradients of all parts of round r; return the first largest one."""
    index, numbers, own, begin, parts = data
    row, largest = own[begin[r] : begin[r + 1]], 0
    for part in range(np.int64(parts[r])):
        values[part] = look(index, numbers, row, part, x, scratch, gradients[part])
        if values[part] > values[largest]:
            largest = part
    return largest


@kernel(nothing, whole, number, number, read, ROWS, write_rows, write_rows)
def note_seen(
    r: int, cost: float, value: float, values: Array, data_g: Any, seen: Array, each: Array
) -> None:
    """Write down what round r cost and violated, and the value of each constraint in `values`."""
    seen[0, r], seen[1, r] = cost, value
    for k in range(min(np.int64(data_g[PARTS][r]), each.shape[0])):
        each[k, r] = values[k]


@kernel(types.boolean, step_table, surrogate_tables, write, read, number, rows, read, number, read)
def play_round_each(
    step: Any,
    surrogates: Any,
    ledger: Array,
    a: Array,
    cost: float,
    gradients: Array,
    values: Array,
    worst: float,
    noise: Array,
) -> bool:
    """Play a round with one queue for each constraint; False, with nothing changed, as above."""
    n, learner = len(a), step.learner
    x, s = learner.state[:n], learner.work[2 * n : 3 * n]
    price, norm2 = make_each_loss(
        surrogates, s, learner.work[n : 2 * n], a, cost, gradients, values, x, x
    )
    if price != price:
        return False
    tangent2 = step.measure(step.space[LABEL], step.space[MEMBERS], s, norm2)
    inner = dot(s, x)
    certificate_add(ledger, s, inner, norm2, price, cost, worst)
    add_each(ledger, n, values)
    learner_step(step, s, noise, inner, (tangent2, norm2, UNDECLARED))
    return True


@kernel(
    *(whole, step_table, surrogate_table, surrogate_tables, write),
    *(*LOOKS, rows, whole, whole, write_rows, write_rows),
)
def play_convex_rounds(
    step: Any,
    surrogate: Any,
    surrogates: Any,
    ledger: Array,
    look_f: Any,
    data_f: Any,
    look_g: Any,
    data_g: Any,
    scratch: Array,
    a_rows: Array,
    c_rows: Array,
    values: Array,
    noise: Array,
    first: int,
    end: int,
    seen: Array,
    each: Array,
) -> int:
    """Play rounds from `first` until `end` and return where it stopped.

    With a list of surrogates there is one queue for each constraint, else the first surrogate has
    their maximum. It stops before a round that is left to the objects. Costs and violations go to
    the two rows of `seen`, the values of single constraints to the rows of `each`.
    """
    n = a_rows.shape[1]
    x = step.learner.state[:n]
    if not is_play_left(ledger, x):
        return first
    a_rows, c_rows, noise = unowned_view(a_rows), unowned_view(c_rows), unowned_view(noise)
    values, scratch = unowned_view(values), unowned_view(scratch)
    data_f, data_g = unowned(data_f), unowned(data_g)
    for r in range(first, end):
        top = look_at(look_f, data_f, r, x, scratch, a_rows, values)
        a, cost = a_rows[top], values[top]
        top = look_at(look_g, data_g, r, x, scratch, c_rows, values)
        c, value = c_rows[top], values[top]
        own = noise[r - first]  # rows of length 0 for a learner that draws none
        if len(surrogates.tables) == 0:
            looked = dots_and_norms(a, c, x)
            played = play_round(step, surrogate, ledger, a, cost, c, value, own, looked)
        else:
            parts = np.int64(data_g[PARTS][r])
            count = len(surrogates.tables)
            alike = count == parts and data_f[PARTS][r] == 1  # else they are refused
            played = alike and play_round_each(
                step, surrogates, ledger, a, cost, c_rows, values, value, own
            )
        if not played:
            leave_play(ledger, x)
            return r
        note_seen(r, cost, value, values, data_g, seen, each)
    leave_play(ledger, x)
    return end
