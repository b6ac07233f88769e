"""Rounds of which one-point play sees values alone, in compiled code.

Kernels play the rounds of a block; between two blocks the learner's own `end_block` moves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow._engine.kernel import COMPILED, kernel, number, read, rows, whole, write, write_rows
from hedgerow._engine.signatures import ROWS
from hedgerow._engine.unowned_view import unowned_view
from hedgerow.feedback import LARGEST_VALUE
from hedgerow.games.bandit_loop import CCV, COST, ROUNDS, VIOLATED
from hedgerow.games.convex_loop import look_at, look_type, note_seen, unowned
from hedgerow.inputs import LARGEST_GRADIENT, Vector
from hedgerow.kernels.certificate import is_play_left, leave_play
from hedgerow.learners.arguments import before_warning
from hedgerow.learners.blocked_ogd import BlockedOGD
from hedgerow.learners.one_point import FACTOR, MEAN, OnePoint, learn_mean, play_near
from hedgerow.policies.constrained_bandit import ConstrainedBandit, DeclaredValues
from hedgerow.problems.compiled_rounds import CompiledChunk
from hedgerow.sets.compiled import as_written
from hedgerow.surrogates.dual import WEIGHT, DualValues, charge_dual
from hedgerow.surrogates.queue import LARGEST_PART

Array = Any


@kernel(
    *(whole, write, read, read, rows, read, write, write, read, write),
    *(look_type, ROWS, look_type, ROWS, number, number, rows, whole, whole),
    *(write, write_rows, write, write, write, write_rows, write_rows),
)
def play_one_point(
    state: Array,
    constants: Array,
    centre: Array,
    basis: Array,
    x: Array,
    total: Array,
    dual: Array,
    rates: Array,
    totals: Array,
    look_f: Any,
    data_f: Any,
    look_g: Any,
    data_g: Any,
    lipschitz: float,
    bound: float,
    noise: Array,
    first: int,
    end: int,
    scratch: Array,
    gradients: Array,
    values: Array,
    near: Array,
    y: Array,
    seen: Array,
    each: Array,
) -> int:
    """Play rounds of a block from `first` until `end` and return where it stopped.

    It stops before a round that is left to the objects. Costs and violations go to the two rows of
    `seen`, the values of single constraints to the rows of `each`.
    """
    d, n = len(x), len(y)
    own, sums = state[d:], totals[n:]
    play_near(state, constants, centre, basis, x, near, y)
    if not is_play_left(totals, y):
        return first
    data_f, data_g, noise = unowned(data_f), unowned(data_g), unowned_view(noise)
    stopped = end
    for r in range(first, end):
        cost = values[look_at(look_f, data_f, r, y, scratch, gradients, values)]
        value = values[look_at(look_g, data_g, r, y, scratch, gradients, values)]
        lam = dual[WEIGHT]
        loss = cost + lam * max(0.0, value)
        scale = constants[FACTOR] * (loss - own[MEAN])
        told = abs(cost) <= LARGEST_PART and abs(value) <= LARGEST_PART
        widest = max(abs(loss), lipschitz + lam * lipschitz, bound + lam * bound)
        if not (told and widest <= LARGEST_VALUE and abs(scale) <= 0.5 * LARGEST_GRADIENT):
            stopped = r
            break
        charge_dual(dual, rates, value)
        for j in range(d):
            total[j] += scale * state[j]
        total[d] += 1.0
        learn_mean(own, constants, loss)
        for j in range(d):
            state[j] = noise[r - first, j]
        sums[ROUNDS] += 1.0
        sums[COST] += cost
        sums[CCV] += max(0.0, value)
        sums[VIOLATED] += 1.0 if value > 0.0 else 0.0
        note_seen(r, cost, value, values, data_g, seen, each)
        play_near(state, constants, centre, basis, x, near, y)
    leave_play(totals, y)
    return stopped


class CompiledOnePoint:
    """Plays chunks of rounds by the kernels of one-point play around blocked gradient descent.

    Args:
        policy: who plays.
        declared: what it may see.

    """

    def __init__(self, policy: ConstrainedBandit, declared: DeclaredValues):
        one, surrogate = policy.learner, policy.surrogate
        assert isinstance(one, OnePoint)
        assert isinstance(one.learner, BlockedOGD)
        assert isinstance(surrogate, DualValues)
        self._one, self._blocks, self._totals = one, one.learner, policy._state.array
        self._parts = (
            *(one._state.array, one._constants, one._centre, one._basis),
            *(self._blocks._pursuer._state["x"], self._blocks._state.array),
            *(surrogate._state.array, surrogate.rates, self._totals),
        )
        self._declared = declared.lipschitz, declared.bound

    def play_convex(self, chunk: CompiledChunk, first: int, seen: Vector, each: Vector) -> int:
        """Play a chunk's rounds from `first` on, and return the first one that was not played."""
        f, g, blocks, one = chunk.costs, chunk.constraints, self._blocks, self._one
        assert f is not None
        assert g is not None
        end, (n, d) = chunk.rounds, one._basis.shape
        end = before_warning(first, end, blocks.rounds, blocks.steps.horizon)
        most = int(max(f.parts.max(), g.parts.max()))
        looks = (f.look, f.arrays, g.look, g.arrays, *self._declared)
        memory = (
            *(np.empty(max(f.scratch, g.scratch)), np.empty((most, n)), np.empty(most)),
            *(np.empty(d), np.empty(n)),
        )
        while first < end:
            until = min(end, first + blocks.left)
            rounds = one.draw(until - first), first, until
            stopped = play_one_point(*self._parts, *looks, *rounds, *memory, seen, each)
            one.give_back(stopped - first)
            first = stopped
            if first < until:
                return first
            if blocks.left == blocks.block.length:
                blocks.end_block()
                leave_play(self._totals, one.ask())
        return end


def compiled_one_point(policy: object, look: object) -> CompiledOnePoint | None:
    """Return a policy of one-point play for the compiled loop; None where a part is replaced."""
    if not isinstance(policy, ConstrainedBandit) or type(look) is not DeclaredValues:
        return None
    one, surrogate = policy.learner, policy.surrogate
    if not isinstance(one, OnePoint) or not isinstance(surrogate, DualValues):
        return None
    blocks = one.learner
    written = (
        isinstance(blocks, BlockedOGD)
        and as_written(blocks, BlockedOGD, "ask", "tell", "_add")
        and as_written(policy, ConstrainedBandit, "ask", "tell")
        and as_written(one, OnePoint, "ask", "tell", "_draw", "_around", "_estimate", "_next")
        and as_written(surrogate, DualValues, "tell", "_charge")
    )
    fits = written and max(look.lipschitz, look.bound) <= LARGEST_PART
    return CompiledOnePoint(policy, look) if fits and COMPILED else None
