"""Rounds in compiled code: the kernels of surrogate, learner and set, one after the other.

The objects call the same kernels one by one: one arithmetic serves both.
"""

from __future__ import annotations

from typing import Any

from hedgerow._engine.kernel import kernel, read, rows, whole, write, write_rows
from hedgerow._engine.unowned_view import unowned_view
from hedgerow.kernels.certificate import is_play_left, leave_play
from hedgerow.kernels.policy_tables import step_table, surrogate_table
from hedgerow.kernels.vectors import dots_and_norms_ahead
from hedgerow.policies.play_round import play_round

Array = Any


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
        a, c, after = costs[r], constraints[r], min(r + 1, end - 1)
        looked = dots_and_norms_ahead(a, c, x, costs[after], constraints[after])
        cost, value = looked[0] + cost_offsets[r], looked[1] + constraint_offsets[r]
        own = noise[r - first]  # rows of length 0 for a learner that draws none
        if not play_round(step, surrogate, ledger, a, cost, c, value, own, looked):
            leave_play(ledger, x)
            return r
        seen[0, r], seen[1, r] = cost, value
    leave_play(ledger, x)
    return end
