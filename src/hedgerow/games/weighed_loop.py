"""Policies that take weighed steps, in the compiled loop."""

from __future__ import annotations

from typing import Any

from hedgerow.baselines.weighed_step import WeighedStep, tell_weighed, weighed_table
from hedgerow.feedback import first_order
from hedgerow.inputs import Vector
from hedgerow.kernels.jit import kernel, read, rows, whole, write, write_rows
from hedgerow.kernels.unowned_view import unowned_view
from hedgerow.kernels.vectors import dots_and_norms
from hedgerow.problems.problem import LinearChunk
from hedgerow.sets.compiled import as_written

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


class CompiledSteps:
    """Plays chunks of linear rounds by the kernels of a policy that takes weighed steps.

    Args:
        policy: who plays; its set has a kernel for the projection.
        units: the state of the `Normalised` around it, empty without one.

    """

    feedback = staticmethod(first_order)

    def __init__(self, policy: WeighedStep, units: Vector):
        self._policy, self._units = policy, units

    def play(self, chunk: LinearChunk, first: int, seen: Vector) -> int:
        """Play a chunk's rounds from `first` on, and return the first one that was not played."""
        policy, end = self._policy, len(chunk.costs)
        if policy.horizon is not None and policy.rounds <= policy.horizon:
            end = min(end, first + policy.horizon - policy.rounds)  # the objects warn after it
        return play_weighed(policy.weighed_table, self._units, *chunk, first, end, seen)


def compiled_steps(policy: object, units: Vector) -> CompiledSteps | None:
    """Return a policy of weighed steps for the compiled loop, told in these units."""
    if not isinstance(policy, WeighedStep) or not as_written(policy, WeighedStep, "ask", "tell"):
        return None
    return None if policy.weighed_table is None else CompiledSteps(policy, units)
