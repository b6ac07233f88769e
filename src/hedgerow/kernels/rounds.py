"""The two loops that play rounds, of linear functions and of any other with kernels.

A policy is one kernel, `play(table, a, cost, c, value, products, k) -> bool`, and its own table.
It takes in one round: a, c are the gradients of cost and constraint at the decision x, cost and
value their values, products = (<a, x>, <c, x>, ||a||^2, ||c||^2), and k counts the rounds since
the loop began. It returns False, with nothing changed, for a round that Python must play, because
it is to be refused or because a part of the policy has no kernel.
"""

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
from hedgerow._engine.signatures import EVALUATE, PARTS, ROWS
from hedgerow._engine.table import TableType, any_table, untyped
from hedgerow._engine.unowned_view import unowned_view
from hedgerow.inputs import LARGEST_PART
from hedgerow.kernels.vectors import dots_and_norms, dots_and_norms_ahead, four

Array = Any
LARGEST_PART2 = LARGEST_PART * LARGEST_PART
SEEN_ROUND = (read, number, read, number, four, whole)
"""What `play` takes after its table."""
play_type = function(types.boolean, any_table, *SEEN_ROUND)
evaluate_type = function(*EVALUATE)

policy_table = TableType("PolicyTable", {"play": play_type, "table": any_table, "x": write})
function_table = TableType(
    "FunctionTable",
    {
        "eval_f": evaluate_type,
        "rows_f": ROWS,
        "eval_g": evaluate_type,
        "rows_g": ROWS,
        "gradients_f": write_rows,  # one for each part of the largest cost
        "gradients_g": write_rows,
        "values": write,
        "scratch": write,
    },
)


@kernel(types.boolean, number, number, four)
def is_accepted(cost: float, value: float, products: tuple[float, float, float, float]) -> bool:
    """Whether values and squared gradients of a round are small enough, as `checked` wants them."""
    _, _, cost2, constraint2 = products
    gradients = cost2 <= LARGEST_PART2 and constraint2 <= LARGEST_PART2
    return gradients and abs(cost) <= LARGEST_PART and abs(value) <= LARGEST_PART


def policy_of(play: Any, table: Any, x: Array) -> Any:
    """Return a policy as the loops see it: its kernel, its table, and the decision."""
    return policy_table.filled(play=untyped(play, play_type), table=untyped(table), x=x)


@kernel(whole, policy_table, rows, read, rows, read, whole, whole, write_rows)
def play_linear_rounds(
    policy: Any,
    costs: Array,
    cost_offsets: Array,
    constraints: Array,
    constraint_offsets: Array,
    first: int,
    end: int,
    seen: Array,
) -> int:
    """Play rounds from `first` until `end` and return where it stopped.

    It stops before a round that Python must play. Costs and violations go to the rows of `seen`.
    """
    x = policy.x
    costs, constraints = unowned_view(costs), unowned_view(constraints)
    for r in range(first, end):
        a, c, after = costs[r], constraints[r], min(r + 1, end - 1)
        products = dots_and_norms_ahead(a, c, x, costs[after], constraints[after])
        cost, value = products[0] + cost_offsets[r], products[1] + constraint_offsets[r]
        if not policy.play(policy.table, a, cost, c, value, products, r - first):
            return r
        seen[0, r], seen[1, r] = cost, value
    return end


@kernel(whole, evaluate_type, ROWS, whole, read, write, write_rows, write)
def evaluate(
    eval_part: Any, data: Any, r: int, x: Array, scratch: Array, gradients: Array, values: Array
) -> int:
    """Write values and gradients of all parts of round r; return the first largest one."""
    index, numbers, own, begin, parts = data
    row, largest = own[begin[r] : begin[r + 1]], 0
    for part in range(np.int64(parts[r])):
        values[part] = eval_part(index, numbers, row, part, x, scratch, gradients[part])
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


@kernel(whole, policy_table, function_table, whole, whole, write_rows, write_rows)
def play_convex_rounds(
    policy: Any, functions: Any, first: int, end: int, seen: Array, each: Array
) -> int:
    """Play rounds of any functions likewise; values of single constraints go to `each`."""
    x, values, scratch = policy.x, functions.values, functions.scratch
    a_rows, c_rows = functions.gradients_f, functions.gradients_g
    data_f, data_g = functions.rows_f, functions.rows_g
    for r in range(first, end):
        top = evaluate(functions.eval_f, data_f, r, x, scratch, a_rows, values)
        a, cost = a_rows[top], values[top]
        top = evaluate(functions.eval_g, data_g, r, x, scratch, c_rows, values)
        c, value = c_rows[top], values[top]
        products = dots_and_norms(a, c, x)
        if not policy.play(policy.table, a, cost, c, value, products, r - first):
            return r
        note_seen(r, cost, value, values, data_g, seen, each)
    return end
