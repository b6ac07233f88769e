"""Policies that take penalised steps, in the compiled loop."""

from __future__ import annotations

from typing import Any

from hedgerow._engine.kernel import COMPILED, kernel, read, rows, whole, write, write_rows
from hedgerow._engine.unowned_view import unowned_view
from hedgerow.baselines.penalised_step import Penalised
from hedgerow.baselines.tell_penalised import tell_penalised
from hedgerow.baselines.weighed_step import weighed_table
from hedgerow.feedback import full
from hedgerow.inputs import Vector
from hedgerow.kernels.vectors import dots_and_norms
from hedgerow.problems.problem import LinearChunk
from hedgerow.sets.compiled import as_written

Array = Any


@kernel(whole, weighed_table, write, rows, read, rows, read, whole, write_rows)
def play_penalised(
    table: Any,
    units: Array,
    costs: Array,
    cost_offsets: Array,
    constraints: Array,
    constraint_offsets: Array,
    first: int,
    seen: Array,
) -> int:
    """Play linear rounds from `first` on and return where it stopped.

    It stops before a round that is left to the objects. Costs and violations go to the two rows of
    `seen`; `units` are those of a `Normalised` around the policy, empty without one.
    """
    x = table.state[: costs.shape[1]]
    costs, constraints = unowned_view(costs), unowned_view(constraints)
    for r in range(first, len(costs)):
        a, c, offset = costs[r], constraints[r], constraint_offsets[r]
        inner, force, cost2, force2 = dots_and_norms(a, c, x)
        cost, value = inner + cost_offsets[r], force + offset
        if not tell_penalised(table, units, a, cost, c, offset, value, cost2, force2):
            return r
        seen[0, r], seen[1, r] = cost, value
    return len(costs)


class CompiledPenalised:
    """Plays chunks of linear rounds by the kernels of a policy that takes penalised steps.

    Args:
        policy: who plays; its set has a kernel for the projection.
        units: the state of the `Normalised` around it, empty without one.

    """

    feedback = staticmethod(full)

    def __init__(self, policy: Penalised[Any], units: Vector):
        self._policy, self._units = policy, units

    def play(self, chunk: LinearChunk, first: int, seen: Vector) -> int:
        """Play a chunk's rounds from `first` on, and return the first one that was not played."""
        return play_penalised(self._policy.weighed_table, self._units, *chunk, first, seen)


def compiled_penalised(policy: object, units: Vector) -> CompiledPenalised | None:
    """Return a policy of penalised steps for the compiled loop, told in these units."""
    if not isinstance(policy, Penalised) or not as_written(policy, Penalised, "ask", "tell"):
        return None
    compiled = COMPILED and policy.weighed_table is not None
    return CompiledPenalised(policy, units) if compiled else None
