"""Rounds of which a block bandit sees values alone, in compiled code."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from hedgerow import kernels
from hedgerow._engine.kernel import (
    function,
    kernel,
    number,
    read,
    rows,
    whole,
    write,
    write_rows,
)
from hedgerow._engine.signatures import CHARGE_VALUES, ROWS, SLOPE, SPACE
from hedgerow._engine.unowned_view import unowned_view
from hedgerow.feedback import LARGEST_VALUE
from hedgerow.games.convex_loop import look_at, look_type, note_seen, unowned
from hedgerow.inputs import Vector
from hedgerow.kernels.certificate import is_play_left, leave_play
from hedgerow.kernels.oracles import oracle_type
from hedgerow.learners.arguments import before_warning
from hedgerow.learners.block_bandit import (
    END_BLOCK,
    BlockConditionalGradient,
    play_around,
    take_value,
)
from hedgerow.learners.blocks import BLOCK_BETA
from hedgerow.policies.constrained_bandit import ConstrainedBandit, DeclaredValues
from hedgerow.problems.compiled_rounds import CompiledChunk, FunctionRows
from hedgerow.problems.problem import LinearChunk, Round
from hedgerow.sets.compiled import NO_INDEX, NO_NUMBERS, as_written
from hedgerow.surrogates.queue import LARGEST_PART, PRICE, ROUND
from hedgerow.surrogates.values import Values

Array = Any
ROUNDS, COST, CCV, VIOLATED = range(4)
"""The numbers of a bandit policy's state [the play after the last round | numbers]."""


@kernel(
    *(whole, write, read, read, write),
    *(function(*END_BLOCK), function(*BLOCK_BETA), read, oracle_type, SPACE),
    *(write, write, write, read, function(*CHARGE_VALUES), function(*SLOPE), function(*SLOPE)),
    *(read, write, look_type, ROWS, look_type, ROWS, number, number, rows, whole, whole),
    *(write, write_rows, write, write_rows, write_rows),
)
def play_bandit_rounds(
    state: Array,
    constants: Array,
    centre: Array,
    work: Array,
    end_block: Any,
    regulariser: Any,
    rule: Array,
    oracle: Any,
    space: Any,
    queue: Array,
    kept: Array,
    ranges: Array,
    units: Array,
    charge_values: Any,
    slope: Any,
    height: Any,
    potential: Array,
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
    seen: Array,
    each: Array,
) -> int:
    """Play rounds from `first` until `end` and return where it stopped.

    It stops before a round that is left to the objects, which refuse it. Costs and violations go to
    the two rows of `seen`, the values of single constraints to the rows of `each`.
    """
    n = len(centre)
    y, own = work[2 * n : 3 * n], totals[n:]
    play_around(state, centre, constants, y)
    if not is_play_left(totals, y):
        return first
    data_f, data_g, noise = unowned(data_f), unowned(data_g), unowned_view(noise)
    largest = min(LARGEST_PART, bound * (1.0 + 1e-9))
    stopped = end
    for r in range(first, end):
        cost = values[look_at(look_f, data_f, r, y, scratch, gradients, values)]
        value = values[look_at(look_g, data_g, r, y, scratch, gradients, values)]
        if not (abs(cost) <= largest and abs(value) <= largest):
            stopped = r
            break
        for i in range(len(queue)):
            kept[i] = queue[i]
        queue[ROUND] += 1.0
        price, steeper, wider = charge_values(
            queue, ranges, units, slope, height, potential, value, lipschitz, bound
        )
        queue[PRICE] = price
        loss, L, M = cost + price, lipschitz + steeper, bound + wider
        if not (abs(loss) <= LARGEST_VALUE and L <= LARGEST_VALUE and M <= LARGEST_VALUE):
            for i in range(len(queue)):
                queue[i] = kept[i]
            stopped = r
            break
        take_value(
            *(state, constants, centre, noise[r - first], loss, L, M, work),
            *(end_block, regulariser, rule, oracle, space),
        )
        own[ROUNDS] += 1.0
        own[COST] += cost
        own[CCV] += max(0.0, value)
        own[VIOLATED] += 1.0 if value > 0.0 else 0.0
        note_seen(r, cost, value, values, data_g, seen, each)
        play_around(state, centre, constants, y)
    leave_play(totals, y)
    return stopped


class CompiledBandit:
    """Plays chunks of rounds by the kernels of a block bandit and its surrogate.

    Args:
        policy: who plays.
        declared: what it may see.

    """

    def __init__(self, policy: ConstrainedBandit, declared: DeclaredValues):
        learner, surrogate = policy.learner, policy.surrogate
        assert isinstance(learner, BlockConditionalGradient)
        assert isinstance(surrogate, Values)
        assert learner.kernels is not None
        assert surrogate.slope is not None
        self._learner, queue = learner, surrogate._state.array
        slope, potential = surrogate.slope
        self._parts = (
            *(learner._state.array, learner._constants, learner._room.inside.centre),
            *(np.empty(3 * learner.decision_set.dim), *learner.kernels),
            *(queue, np.empty(queue.size), surrogate.ranges.array, surrogate._units),
            *(type(surrogate).charge_values, slope, surrogate.height, potential),
            policy._state.array,
        )
        self._declared = declared.lipschitz, declared.bound

    def play_convex(self, chunk: CompiledChunk, first: int, seen: Vector, each: Vector) -> int:
        """Play a chunk's rounds from `first` on, and return the first one that was not played."""
        f, g, learner = chunk.costs, chunk.constraints, self._learner
        assert f is not None
        assert g is not None
        end, n = chunk.rounds, learner.decision_set.dim
        end = before_warning(first, end, learner.rounds, learner.horizon)
        most = int(max(f.parts.max(), g.parts.max()))
        stopped: int = play_bandit_rounds(
            *(*self._parts, f.look, f.arrays, g.look, g.arrays, *self._declared),
            *(learner.draw(end - first), first, end, np.empty(max(f.scratch, g.scratch))),
            *(np.empty((most, n)), np.empty(most), seen, each),
        )
        learner.give_back(stopped - first)
        return stopped


def compiled_bandit(policy: object, look: object) -> CompiledBandit | None:
    """Return a bandit policy for the compiled loop; None where a part is Python or replaced."""
    if not isinstance(policy, ConstrainedBandit) or type(look) is not DeclaredValues:
        return None
    learner, surrogate = policy.learner, policy.surrogate
    if not isinstance(learner, BlockConditionalGradient) or not isinstance(surrogate, Values):
        return None
    written = (
        as_written(policy, ConstrainedBandit, "ask", "tell")
        and as_written(learner, BlockConditionalGradient, "ask", "tell", "_draw", "_descend")
        and as_written(surrogate, Values, "tell", "charge")
    )
    if not written or learner.kernels is None or surrogate.height is None:
        return None
    return CompiledBandit(policy, look)


def as_compiled(chunks: Iterator[LinearChunk]) -> Iterator[CompiledChunk]:
    """Return linear rounds as rows for the kernel of `kernels/convex.py`."""
    for chunk in chunks:
        yield CompiledChunk(
            len(chunk.costs),
            _rows(chunk.costs, chunk.cost_offsets),
            _rows(chunk.constraints, chunk.constraint_offsets),
            partial(_round, chunk),
        )


def _round(chunk: LinearChunk, r: int, _: Vector) -> Round:
    (functions,) = LinearChunk(*(part[r : r + 1] for part in chunk)).rounds()
    return functions


def _rows(slopes: Vector, offsets: Vector) -> FunctionRows:
    kinds = np.full(offsets.size, kernels.convex.LINEAR)
    rows = np.column_stack([kinds, offsets, slopes])
    return FunctionRows.of_rows(kernels.convex.look, rows, NO_INDEX, NO_NUMBERS)
