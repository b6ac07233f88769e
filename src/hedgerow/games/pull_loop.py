"""Learners whose point is pulled back into the set, in the compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import COMPILED, kernel, number, read, rows, whole, write, write_rows
from hedgerow._engine.unowned_view import unowned_view
from hedgerow.feedback import first_order
from hedgerow.games.convex_loop import LOOKS, look_at, note_seen, unowned
from hedgerow.inputs import Vector
from hedgerow.kernels.certificate import certificate_add, is_play_left, leave_play
from hedgerow.kernels.hulls import place
from hedgerow.kernels.policy_tables import surrogate_table
from hedgerow.kernels.vectors import dots_and_norms
from hedgerow.learners.arguments import before_warning
from hedgerow.learners.pulls import PULL, pull_step
from hedgerow.learners.separation_ogd import SeparationDescent
from hedgerow.policies.constrained import Constrained
from hedgerow.problems.compiled_rounds import CompiledChunk
from hedgerow.problems.problem import LinearChunk
from hedgerow.sets.compiled import as_written
from hedgerow.surrogates.make_loss import make_loss, take_back
from hedgerow.surrogates.queue import PRICE
from hedgerow.surrogates.queued import FirstOrder

Array = Any
POLICY = (*PULL, surrogate_table, write, write, write)
"""The learner, the surrogate, what the certificate remembers, the play, and room for a loss."""


@kernel(types.boolean, *POLICY, read, number, read, number)
def play_pulled_round(
    table: Any,
    projects: bool,
    eta_of: Any,
    constants: Array,
    centre: Array,
    basis: Array,
    state: Array,
    new: Array,
    work: Array,
    surrogate: Any,
    ledger: Array,
    x: Array,
    mixed: Array,
    a: Array,
    cost: float,
    c: Array,
    value: float,
) -> bool:
    """Play a round with gradients a, c and values cost, value at x, and move x.

    Returns False, with nothing changed, for a round that is left to the objects.
    """
    looked = dots_and_norms(a, c, x)
    weight, inner, norm2, _ = make_loss(surrogate, mixed, a, cost, c, value, x, x, looked)
    if weight != weight:
        return False
    s = a if weight == 0.0 else mixed
    if pull_step(table, projects, eta_of, constants, centre, basis, state, new, work, s) < 0:
        take_back(surrogate)
        return False
    certificate_add(ledger, s, inner, norm2, surrogate.queue[PRICE], cost, value)
    place(centre, basis, state[: basis.shape[1]], x)
    return True


@kernel(whole, *POLICY, rows, read, rows, read, whole, whole, write_rows)
def play_pulled(
    table: Any,
    projects: bool,
    eta_of: Any,
    constants: Array,
    centre: Array,
    basis: Array,
    state: Array,
    new: Array,
    work: Array,
    surrogate: Any,
    ledger: Array,
    x: Array,
    mixed: Array,
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
    `seen`.
    """
    place(centre, basis, state[: basis.shape[1]], x)
    if not is_play_left(ledger, x):
        return first
    costs, constraints, stopped = unowned_view(costs), unowned_view(constraints), end
    for r in range(first, end):
        a, c = costs[r], constraints[r]
        looked = dots_and_norms(a, c, x)
        cost, value = looked[0] + cost_offsets[r], looked[1] + constraint_offsets[r]
        if not play_pulled_round(
            *(table, projects, eta_of, constants, centre, basis, state, new, work),
            *(surrogate, ledger, x, mixed, a, cost, c, value),
        ):
            stopped = r
            break
        seen[0, r], seen[1, r] = cost, value
    leave_play(ledger, x)
    return stopped


@kernel(whole, *POLICY, *LOOKS, whole, whole, write_rows, write_rows)
def play_pulled_convex(
    table: Any,
    projects: bool,
    eta_of: Any,
    constants: Array,
    centre: Array,
    basis: Array,
    state: Array,
    new: Array,
    work: Array,
    surrogate: Any,
    ledger: Array,
    x: Array,
    mixed: Array,
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
    place(centre, basis, state[: basis.shape[1]], x)
    if not is_play_left(ledger, x):
        return first
    a_rows, c_rows, values = unowned_view(a_rows), unowned_view(c_rows), unowned_view(values)
    data_f, data_g, scratch = unowned(data_f), unowned(data_g), unowned_view(scratch)
    stopped = end
    for r in range(first, end):
        top = look_at(look_f, data_f, r, x, scratch, a_rows, values)
        a, cost = a_rows[top], values[top]
        top = look_at(look_g, data_g, r, x, scratch, c_rows, values)
        c, value = c_rows[top], values[top]
        if not play_pulled_round(
            *(table, projects, eta_of, constants, centre, basis, state, new, work),
            *(surrogate, ledger, x, mixed, a, cost, c, value),
        ):
            stopped = r
            break
        note_seen(r, cost, value, values, data_g, seen, each)
    leave_play(ledger, x)
    return stopped


class CompiledPulls:
    """Plays chunks of rounds by the kernels of a learner that separates, and of its surrogate.

    Args:
        policy: who plays.

    """

    feedback = staticmethod(first_order)

    def __init__(self, policy: Constrained[Any]):
        learner, surrogate = policy.learner, policy.surrogate
        assert isinstance(learner, SeparationDescent)
        assert isinstance(surrogate, FirstOrder)
        assert learner.pull is not None
        n = learner.decision_set.dim
        self._learner = learner
        self._parts = *learner.pull, surrogate.table, policy.ledger, np.empty(n), np.empty(n)

    def play(self, chunk: LinearChunk, first: int, seen: Vector) -> int:
        """Play a chunk's rounds from `first` on, and return the first one that was not played."""
        end = self._end(first, len(chunk.costs))
        told: tuple[Any, ...] = (*self._parts, *chunk, first, end, seen)
        return play_pulled(*told)

    def play_convex(self, chunk: CompiledChunk, first: int, seen: Vector, each: Vector) -> int:
        """Play rounds of any compiled kind likewise; `each` has a row for each constraint."""
        end, looks = self._end(first, chunk.rounds), chunk.looks(self._learner.decision_set.dim)
        told: tuple[Any, ...] = (*self._parts, *looks, first, end, seen, each)
        return play_pulled_convex(*told)

    def _end(self, first: int, end: int) -> int:
        return before_warning(first, end, self._learner.rounds, self._learner.horizon)


def compiled_pulls(policy: object) -> CompiledPulls | None:
    """Return a policy of a learner that separates for the compiled loop; None if a part is not."""
    if not isinstance(policy, Constrained) or not as_written(policy, Constrained, "ask", "tell"):
        return None
    learner, surrogate = policy.learner, policy.surrogate
    if not isinstance(learner, SeparationDescent) or not isinstance(surrogate, FirstOrder):
        return None
    written = as_written(learner, SeparationDescent, "ask", "tell") and as_written(
        surrogate, FirstOrder, "tell"
    )
    if not (COMPILED and written) or learner.pull is None or surrogate.table is None:
        return None
    return CompiledPulls(policy)
