"""Policies that play one point a block, in the compiled loop.

Kernels play the rounds; between two blocks the policy's own `end_block` moves, as it does in
`tell`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import (
    COMPILED,
    kernel,
    number,
    read,
    rows,
    whole,
    write,
    write_rows,
)
from hedgerow._engine.unowned_view import unowned_view
from hedgerow.baselines.block_constraints import KEPT, close_group, keep_row
from hedgerow.baselines.penalty_prox import PenaltyProx
from hedgerow.baselines.told_units import add_told, in_units
from hedgerow.feedback import first_order, full
from hedgerow.games.convex_loop import LOOKS, look_at, note_seen, unowned
from hedgerow.inputs import LARGEST_GRADIENT, Vector
from hedgerow.kernels.certificate import certificate_add, is_play_left, leave_play
from hedgerow.kernels.policy_tables import set_table
from hedgerow.kernels.vectors import dot, dots_and_norms
from hedgerow.learners.arguments import before_warning
from hedgerow.learners.blocked_ogd import BlockedOGD
from hedgerow.learners.followed_blocks import FollowedBlocks
from hedgerow.policies.constrained import Constrained
from hedgerow.problems.compiled_rounds import CompiledChunk
from hedgerow.problems.problem import LinearChunk
from hedgerow.protocols.parts import Feedback
from hedgerow.sets.compiled import as_written
from hedgerow.surrogates.dual import PRICE, WEIGHT, DualSurrogate, charge_dual
from hedgerow.surrogates.queue import LARGEST_PART

Array = Any
LARGEST2 = 0.25 * LARGEST_PART * LARGEST_PART
"""Larger squares are left to the objects, which know to the last bit what they refuse."""
LARGEST_LOSS2 = 0.25 * LARGEST_GRADIENT * LARGEST_GRADIENT
BLOCK = (write, read, set_table, write)
"""[sum of gradients | t | squares], the play, the set, and the units of a `Normalised`."""
DUAL = (write, read, write, write)
"""The dual variable's state and rates, what the certificate remembers, and room for a loss."""
ROUNDS = (rows, read, rows, read, whole, whole, write_rows)


@kernel(types.boolean, number, number, number)
def is_told(size2: float, value: float, factor: float) -> bool:
    """Whether a function of this value and squared gradient is surely taken, and times a factor."""
    fits = size2 <= LARGEST2 and abs(value) <= LARGEST_PART
    return fits and factor * factor * size2 <= LARGEST2 and abs(factor * value) <= LARGEST_PART


@kernel(whole, *BLOCK, *KEPT, *ROUNDS)
def keep_rounds(
    state: Array,
    x: Array,
    table: Any,
    units: Array,
    slopes: Array,
    offsets: Array,
    begin: Array,
    filled: Array,
    costs: Array,
    cost_offsets: Array,
    constraints: Array,
    constraint_offsets: Array,
    first: int,
    end: int,
    seen: Array,
) -> int:
    """Play a block's rounds from `first` until `end`, keep their constraints, and return the end.

    It stops before a round that is left to the objects. Costs and violations go to the two rows of
    `seen`.
    """
    n = len(x)
    costs, constraints, x = unowned_view(costs), unowned_view(constraints), unowned_view(x)
    for r in range(first, end):
        a, c, offset = costs[r], constraints[r], constraint_offsets[r]
        inner, force, cost2, force2 = dots_and_norms(a, c, x)
        cost, value = inner + cost_offsets[r], force + offset
        Gf, Gg, p, q = in_units(table.measure, table.space, units, a, cost2, c, force2)
        if not (is_told(cost2, cost, p) and is_told(force2, value, q)):
            return r
        if not abs(q * offset) <= LARGEST_PART:
            return r
        keep_row(slopes, offsets, begin, filled, q, c, offset)
        close_group(filled)
        for i in range(n):
            state[i] += p * a[i]
        state[n] += 1.0
        add_told(units, Gf, Gg, cost, value)
        seen[0, r], seen[1, r] = cost, value
    return end


@kernel(types.boolean, *BLOCK, *DUAL, read, number, read, number, number, number)
def weigh_round(
    state: Array,
    x: Array,
    table: Any,
    units: Array,
    dual: Array,
    rates: Array,
    ledger: Array,
    s: Array,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    cost2: float,
    force2: float,
) -> bool:
    """Take in a round with gradients a, c of squared norms cost2, force2, and values cost, value.

    A dual variable weighs it. Returns False, with nothing changed, for a round that is left to the
    objects.
    """
    n = len(x)
    Gf, Gg, p, q = in_units(table.measure, table.space, units, a, cost2, c, force2)
    if not (is_told(cost2, cost, p) and is_told(force2, value, q)):
        return False
    lam = dual[WEIGHT] if q * value > 0.0 else 0.0
    if lam > 0.0:
        for i in range(n):
            s[i] = p * a[i] + lam * (q * c[i])
    else:
        for i in range(n):
            s[i] = p * a[i]
    norm2 = dot(s, s)
    if not norm2 <= LARGEST_LOSS2:
        return False
    charge_dual(dual, rates, q * value)
    certificate_add(ledger, s, dot(s, x), norm2, dual[PRICE], p * cost, q * value)
    for i in range(n):
        state[i] += s[i]
    state[n] += 1.0
    add_told(units, Gf, Gg, cost, value)
    return True


@kernel(whole, *BLOCK, *DUAL, *ROUNDS)
def weigh_rounds(
    state: Array,
    x: Array,
    table: Any,
    units: Array,
    dual: Array,
    rates: Array,
    ledger: Array,
    s: Array,
    costs: Array,
    cost_offsets: Array,
    constraints: Array,
    constraint_offsets: Array,
    first: int,
    end: int,
    seen: Array,
) -> int:
    """Play a block's rounds likewise, weighed by a dual variable."""
    if not is_play_left(ledger, x):
        return first
    costs, constraints, x = unowned_view(costs), unowned_view(constraints), unowned_view(x)
    for r in range(first, end):
        a, c = costs[r], constraints[r]
        inner, force, cost2, force2 = dots_and_norms(a, c, x)
        cost, value = inner + cost_offsets[r], force + constraint_offsets[r]
        told = weigh_round(
            *(state, x, table, units, dual, rates, ledger, s),
            *(a, cost, c, value, cost2, force2),
        )
        if not told:
            return r
        seen[0, r], seen[1, r] = cost, value
    return end


@kernel(whole, *BLOCK, *DUAL, *LOOKS, whole, whole, write_rows, write_rows)
def weigh_convex_rounds(
    state: Array,
    x: Array,
    table: Any,
    units: Array,
    dual: Array,
    rates: Array,
    ledger: Array,
    s: Array,
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
    if not is_play_left(ledger, x):
        return first
    a_rows, c_rows, values = unowned_view(a_rows), unowned_view(c_rows), unowned_view(values)
    data_f, data_g, scratch = unowned(data_f), unowned(data_g), unowned_view(scratch)
    for r in range(first, end):
        top = look_at(look_f, data_f, r, x, scratch, a_rows, values)
        a, cost = a_rows[top], values[top]
        top = look_at(look_g, data_g, r, x, scratch, c_rows, values)
        c, value = c_rows[top], values[top]
        told = weigh_round(
            *(state, x, table, units, dual, rates, ledger, s),
            *(a, cost, c, value, dot(a, a), dot(c, c)),
        )
        if not told:
            return r
        note_seen(r, cost, value, values, data_g, seen, each)
    return end


class CompiledBlocks(ABC):
    """Plays chunks of linear rounds, each block by a kernel.

    Args:
        player: whose point is played for a block; its set has kernels.
        units: the state of a `Normalised` around the policy, empty without one.

    """

    feedback: Feedback

    def __init__(self, player: FollowedBlocks, units: Vector):
        assert player.workspace.space is not None
        self._player, table = player, player.workspace.space.table
        self._parts = player._state.array, player._pursuer._state["x"], table, units

    @abstractmethod
    def play(self, chunk: LinearChunk, first: int, seen: Vector) -> int:
        """Play a chunk's rounds from `first` on, and return the first one that was not played."""

    def _by_blocks(self, play: Callable[[int, int], int], first: int, end: int) -> int:
        """Play rounds of one block at a time; return the first one that was not played."""
        player = self._player
        end = before_warning(first, end, player.rounds, player.steps.horizon)
        while first < end:
            until = min(end, first + player.left)
            first = play(first, until)
            if first < until:
                return first
            if player.left == player.block.length:
                self._end_block()
        return end

    def _end_block(self) -> None:
        self._player.end_block()


class CompiledPenalties(CompiledBlocks):
    """A `PenaltyProx`, which keeps the constraints of a block."""

    feedback: Feedback = staticmethod(full)

    def __init__(self, policy: PenaltyProx, units: Vector):
        super().__init__(policy, units)
        self._constraints = policy.constraints

    def play(self, chunk: LinearChunk, first: int, seen: Vector) -> int:
        """Play a chunk's rounds from `first` on, and return the first one that was not played."""

        def block(first: int, end: int) -> int:
            room = self._constraints.with_room(end - first)
            return keep_rounds(*self._parts, *room, *chunk, first, end, seen)

        return self._by_blocks(block, first, len(chunk.costs))


class CompiledDual(CompiledBlocks):
    """A `BlockedOGD` that plays the losses of a dual variable."""

    feedback: Feedback = staticmethod(first_order)

    def __init__(self, policy: Constrained[Any], units: Vector):
        learner, surrogate = policy.learner, policy.surrogate
        assert isinstance(learner, BlockedOGD)
        assert isinstance(surrogate, DualSurrogate)
        super().__init__(learner, units)
        self._ledger, s = policy.ledger, np.empty(learner.decision_set.dim)
        self._losses = surrogate._state.array, surrogate.rates, self._ledger, s

    def play(self, chunk: LinearChunk, first: int, seen: Vector) -> int:
        """Play a chunk's rounds from `first` on, and return the first one that was not played."""

        def block(first: int, end: int) -> int:
            return weigh_rounds(*self._parts, *self._losses, *chunk, first, end, seen)

        return self._by_blocks(block, first, len(chunk.costs))

    def play_convex(self, chunk: CompiledChunk, first: int, seen: Vector, each: Vector) -> int:
        """Play rounds of any compiled kind likewise; `each` has a row for each constraint."""
        looks = chunk.looks(self._player.decision_set.dim)

        def block(first: int, end: int) -> int:
            own = (*self._parts, *self._losses)
            return weigh_convex_rounds(*own, *looks, first, end, seen, each)

        return self._by_blocks(block, first, chunk.rounds)

    def _end_block(self) -> None:
        super()._end_block()
        leave_play(self._ledger, self._parts[1])


def compiled_blocks(policy: object, units: Vector) -> CompiledBlocks | None:
    """Return a policy of blocks for the compiled loop, told in these units."""
    if isinstance(policy, PenaltyProx) and as_written(policy, PenaltyProx, "ask", "tell", "_add"):
        return CompiledPenalties(policy, units) if _has_kernels(policy) else None
    if not isinstance(policy, Constrained) or not as_written(policy, Constrained, "ask", "tell"):
        return None
    learner, surrogate = policy.learner, policy.surrogate
    if not isinstance(learner, BlockedOGD) or not isinstance(surrogate, DualSurrogate):
        return None
    written = as_written(learner, BlockedOGD, "ask", "tell", "_add") and as_written(
        surrogate, DualSurrogate, "tell", "_charge"
    )
    return CompiledDual(policy, units) if written and _has_kernels(learner) else None


def _has_kernels(player: FollowedBlocks) -> bool:
    return COMPILED and player.workspace.space is not None
