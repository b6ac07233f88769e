"""Algorithm 2's round in one kernel: the surrogate makes the loss, the learner takes one step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import function, kernel, number, read, rows, write
from hedgerow._engine.table import TableType, any_table, untyped
from hedgerow.feedback import first_order, first_order_each
from hedgerow.inputs import LARGEST_PART, Vector
from hedgerow.kernels.certificate import (
    add_each,
    certificate_add,
    is_play_left,
    store_play,
)
from hedgerow.kernels.parts import NO_PARTS, parts_of_memory, parts_table
from hedgerow.kernels.policy_tables import STEP, CompiledStep
from hedgerow.kernels.rounds import SEEN_ROUND, policy_of
from hedgerow.kernels.vectors import dot, dots_and_norms
from hedgerow.learners.arguments import before_warning
from hedgerow.protocols.parts import Feedback
from hedgerow.protocols.rounds import CompiledRounds, compiled_step
from hedgerow.sets.compiled import NO_INDEX, NO_NUMBERS, not_overridden
from hedgerow.surrogates.make_loss import (
    WRITTEN,
    make_each_loss,
    make_loss,
    make_loss_type,
    take_back,
    take_back_each,
    take_back_type,
)

Array = Any
TOTALS = 8
"""How many sums the ledger has after the play and the sum of the losses."""
NO_NOISE = np.empty((2**20, 0))
"""Rows of no noise, more than a chunk has rounds; they take no memory."""
step_type = function(types.boolean, any_table, *STEP)
round_table = TableType(
    "RoundTable",
    {
        "make_loss": make_loss_type,  # of the surrogate
        "take_back": take_back_type,
        "surrogate": any_table,
        "step": step_type,  # of the learner
        "learner": any_table,
        "x": write,  # its decision
        "at": read,  # where the round was seen: the decision, unless feedback is late
        "late": types.boolean,
        "parts": parts_table,  # of this round, for a policy with a queue for each
        "loss": write,  # memory for the gradient of a loss
        "ledger": write,  # what the certificate remembers
        "each": write,  # the ledger's sums of constraints with a queue each, which are the parts
        "noise": rows,  # of the rounds that are played; rows of length 0 without any
    },
)


@kernel(types.boolean, round_table, *SEEN_ROUND)
def play_round(
    table: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Play round t of Algorithm 2, as `kernels/rounds.py` describes it."""
    if not abs(cost) <= LARGEST_PART:
        return False
    # lines 6 and 7: Q(t), and the surrogate's gradient s = grad f_t + w_t grad g_t
    made, price, inner, norm2, tangent2, declared = table.make_loss(
        table.surrogate, table.loss, a, c, value, table.at, products
    )
    if made != made:
        return False
    s = table.loss if made == WRITTEN else a
    here = dot(s, table.x) if table.late else inner
    # line 7: pass it to Algorithm 1
    if not table.step(table.learner, s, table.noise[k], here, (tangent2, norm2, declared)):
        table.take_back(table.surrogate)
        return False
    certificate_add(table.ledger, s, inner, norm2, price, cost, value)
    add_each(table.each, table.parts.values)
    return True


@kernel(types.boolean, round_table, read, number, read, number)
def tell_round(table: Any, a: Array, cost: float, c: Array, value: float) -> bool:
    """Take in one round, seen at `table.at`; False as `play_round` has it."""
    if not is_play_left(table.ledger, table.x):
        return False
    if not play_round(table, a, cost, c, value, dots_and_norms(a, c, table.at), 0):
        return False
    store_play(table.ledger, table.x)
    return True


class LossRounds(CompiledRounds):
    """Rounds in which one surrogate makes the loss.

    Args:
        learner: the learner.
        step: its step.
        surrogate: the surrogate's table.
        ledger: what the certificate remembers.

    """

    feedback: Feedback = staticmethod(first_order)
    make_loss, take_back = staticmethod(make_loss), staticmethod(take_back)

    def __init__(self, learner: Any, step: CompiledStep, surrogate: Any, ledger: Vector):
        self._learner, self._step, self._ledger = learner, step, ledger
        self._surrogate = surrogate
        self._policy: Any = None
        self._each, self._parts = NO_NUMBERS, NO_PARTS

    @property
    def table(self) -> Any:
        """The table of a single round, for `tell_round`; None for a learner that draws noise."""
        return None if self._learner.draws else self._table(NO_NOISE)

    def table_of(self, parts: Any) -> Any:
        """Return the same for a constraint of several parts, with their table."""
        self._take_parts(parts)
        return None if self._learner.draws else self._table(NO_NOISE)

    @property
    def late_table(self) -> Any:
        """The same for a round that was seen at an earlier decision, which is written into it."""
        at = np.empty_like(self._step.x)
        return None if self._learner.draws else self._table(NO_NOISE, at=at)

    def _table(self, noise: Vector, at: Vector | None = None) -> Any:
        step = self._step
        return round_table.filled(
            make_loss=untyped(self.make_loss, make_loss_type),
            take_back=untyped(self.take_back, take_back_type),
            surrogate=untyped(self._surrogate),
            step=untyped(step.step, step_type),
            learner=untyped(step.table),
            x=step.x,
            at=step.x if at is None else at,
            late=at is not None,
            parts=self._parts,
            loss=step.loss,
            ledger=self._ledger,
            each=self._each,
            noise=noise,
        )

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the table of the rounds until the learner warns of its horizon."""
        if not is_play_left(self._ledger, self._step.x):  # the learner has moved by itself
            return None, first
        learner = self._learner
        end = before_warning(first, end, learner.rounds, learner.horizon)
        noise = learner.draw(end - first) if learner.draws else NO_NOISE
        parts = self._parts_of(rounds, first, end)
        if self._policy is None or learner.draws or parts is not self._parts:
            self._take_parts(parts)
            self._policy = policy_of(play_round, self._table(noise), self._step.x)
        return self._policy, end

    def _parts_of(self, rounds: Any, first: int, end: int) -> Any:  # noqa: ARG002
        """Return where the loop writes the parts of these rounds' constraints."""
        return NO_PARTS

    def _take_parts(self, parts: Any) -> None:
        self._parts = parts

    def finish(self, played: int) -> None:
        """Remember the decision, and how much noise was used."""
        store_play(self._ledger, self._step.x)
        if self._learner.draws:
            self._learner.give_back(played)


def loss_rounds(surrogate: Any, base: type, learner: Any, ledger: Vector) -> LossRounds | None:
    """Return the rounds of a surrogate that makes losses as its base does, if all has kernels."""
    step = compiled_step(learner)
    if step is None or surrogate.table.in_python or not not_overridden(surrogate, base, "tell"):
        return None
    return LossRounds(learner, step, surrogate.table, ledger)


class EachLossRounds(LossRounds):
    """Rounds in which each constraint has a surrogate of its own.

    Args:
        learner: the learner.
        step: its step.
        table: makes the surrogates' table from the memory of gradients and values.
        queues: how many constraints there are.
        ledger: what the certificate remembers.

    """

    feedback: Feedback = staticmethod(first_order_each)
    make_loss, take_back = staticmethod(make_each_loss), staticmethod(take_back_each)
    linear = False
    table = late_table = None  # a single round has no array of gradients

    def __init__(
        self,
        learner: Any,
        step: CompiledStep,
        table: Callable[[Any, Vector], Any],
        queues: int,
        ledger: Vector,
    ):
        super().__init__(learner, step, None, ledger)
        self._each_table, self._queues = table, queues
        begin = 2 * learner.decision_set.dim + TOTALS
        self._each = ledger[begin : begin + queues]

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the table of the rounds, which holds where their gradients are written."""
        wrong = rounds.parts_g[first:end] != self._queues
        until = first + int(wrong.argmax()) if wrong.any() else end  # Python refuses the next one
        return super().begin(rounds, first, until) if until > first else (None, first)

    def _parts_of(self, rounds: Any, first: int, end: int) -> Any:  # noqa: ARG002
        m = self._queues
        return parts_of_memory(rounds.gradients[:m], rounds.values[:m], NO_INDEX, NO_NUMBERS)

    def _take_parts(self, parts: Any) -> None:
        super()._take_parts(parts)
        self._surrogate = self._each_table(parts.gradients, parts.values)
