"""Policies that take weighed steps, in the compiled loop."""

from __future__ import annotations

from typing import Any

from hedgerow._engine.kernel import kernel, read, rows, whole, write, write_rows
from hedgerow._engine.unowned_view import unowned_view
from hedgerow.baselines.weighed_step import WeighedStep, tell_weighed, weighed_table
from hedgerow.feedback import first_order
from hedgerow.games.convex_loop import LOOKS, look_at, note_seen, unowned
from hedgerow.inputs import Vector
from hedgerow.kernels.vectors import dot, dots_and_norms
from hedgerow.learners.arguments import before_warning
from hedgerow.problems.compiled_rounds import CompiledChunk
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


@kernel(whole, weighed_table, write, *LOOKS, whole, whole, write_rows, write_rows)
def play_weighed_convex(
    table: Any,
    units: Array,
    look_f: Any,
    data_f: Any,
    look_g: Any,
    data_g: Any,
    scratch: Array,
    a_rows: Array,
    c_rows: Array,
    values: Array,
    first: int,
    end: int,
    seen: Array,
    each: Array,
) -> int:
    """Play rounds of any kind likewise; the values of single constraints go to `each`."""
    x = table.state[: a_rows.shape[1]]
    a_rows, c_rows, values = unowned_view(a_rows), unowned_view(c_rows), unowned_view(values)
    data_f, data_g, scratch = unowned(data_f), unowned(data_g), unowned_view(scratch)
    for r in range(first, end):
        top = look_at(look_f, data_f, r, x, scratch, a_rows, values)
        a, cost = a_rows[top], values[top]
        top = look_at(look_g, data_g, r, x, scratch, c_rows, values)
        c, value = c_rows[top], values[top]
        if not tell_weighed(table, units, a, cost, c, value, dot(a, a), dot(c, c)):
            return r
        note_seen(r, cost, value, values, data_g, seen, each)
    return end


class CompiledSteps:
    """Plays chunks of rounds by the kernels of a policy that takes weighed steps.

    Args:
        policy: who plays; its set has a kernel for the projection.
        units: the state of the `Normalised` around it, empty without one.

    """

    feedback = staticmethod(first_order)

    def __init__(self, policy: WeighedStep, units: Vector):
        self._policy, self._units = policy, units

    def play(self, chunk: LinearChunk, first: int, seen: Vector) -> int:
        """Play a chunk's rounds from `first` on, and return the first one that was not played."""
        table, end = self._policy.weighed_table, self._end(first, len(chunk.costs))
        return play_weighed(table, self._units, *chunk, first, end, seen)

    def play_convex(self, chunk: CompiledChunk, first: int, seen: Vector, each: Vector) -> int:
        """Play rounds of any compiled kind likewise; `each` has a row for each constraint."""
        table, end = self._policy.weighed_table, self._end(first, chunk.rounds)
        looks = chunk.looks(self._policy.decision_set.dim)
        return play_weighed_convex(table, self._units, *looks, first, end, seen, each)

    def _end(self, first: int, end: int) -> int:
        return before_warning(first, end, self._policy.rounds, self._policy.horizon)


def compiled_steps(policy: object, units: Vector) -> CompiledSteps | None:
    """Return a policy of weighed steps for the compiled loop, told in these units."""
    if not isinstance(policy, WeighedStep) or not as_written(policy, WeighedStep, "ask", "tell"):
        return None
    return None if policy.weighed_table is None else CompiledSteps(policy, units)
