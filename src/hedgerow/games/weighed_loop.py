"""Rounds of a policy that takes weighed steps, in compiled code."""

from __future__ import annotations

from typing import Any

from hedgerow.baselines.weighed_step import tell_weighed, weighed_table
from hedgerow.kernels.jit import kernel, read, rows, whole, write, write_rows
from hedgerow.kernels.unowned_view import unowned_view
from hedgerow.kernels.vectors import dots_and_norms

Array = Any


@kernel(whole, weighed_table, write, rows, read, rows, read, whole, whole, write_rows)
def play_weighed(
    table: Any,
    units: Array,
    costs: Array,
    cost_offsets: Array,
    constraints: Array,
    constraint_offsets: Array,
    first: int,
    end: int,
    seen: Array,
) -> int:
    """Play linear rounds from `first` until `end` and return where it stopped.

    It stops before a round that is left to the objects. Costs and violations go to the two rows of
    `seen`; `units` are those of a `Normalised` around the policy, empty without one.
    """
    x = table.state[: costs.shape[1]]
    costs, constraints = unowned_view(costs), unowned_view(constraints)
    for r in range(first, end):
        a, c = costs[r], constraints[r]
        inner, force, cost2, force2 = dots_and_norms(a, c, x)
        cost, value = inner + cost_offsets[r], force + constraint_offsets[r]
        if not tell_weighed(table, units, a, cost, c, value, cost2, force2):
            return r
        seen[0, r], seen[1, r] = cost, value
    return end
