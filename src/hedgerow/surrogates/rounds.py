"""Algorithm 2's round in one kernel: the surrogate makes the loss, the learner takes one step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import function, index, kernel, number, read, rows, write
from hedgerow._engine.table import TableType, any_table, untyped
from hedgerow.feedback import first_order, first_order_each
from hedgerow.inputs import Vector
from hedgerow.kernels.certificate import add_each, certificate_add, is_play_left, store_play
from hedgerow.kernels.policy_tables import (
    STEP,
    UNDECLARED,
    UNMEASURED,
    CompiledStep,
    surrogate_table,
    surrogate_tables,
)
from hedgerow.kernels.rounds import SEEN_ROUND, policy_of
from hedgerow.kernels.vectors import dot, dots_and_norms
from hedgerow.learners.arguments import before_warning
from hedgerow.protocols.parts import Feedback
from hedgerow.protocols.rounds import CompiledRounds, compiled_step
from hedgerow.sets.compiled import not_overridden
from hedgerow.surrogates.each_loss import make_each_loss
from hedgerow.surrogates.make_loss import make_loss, take_back
from hedgerow.surrogates.queue import PRICE
from hedgerow.surrogates.ranges import LEARNT

Array = Any
NO_NOISE = np.empty((2**20, 0))
"""Rows of no noise, more than a chunk has rounds; they take no memory."""
step_type = function(types.boolean, any_table, *STEP)
LEARNER = {
    "step": step_type,  # of the learner
    "learner": any_table,
    "x": write,  # its decision
    "loss": write,  # memory for the gradient of a loss
    "ledger": write,  # what the certificate remembers
    "noise": rows,  # of the rounds that are played; rows of length 0 without any
}
round_table = TableType("RoundTable", LEARNER | {"surrogate": surrogate_table})
each_table = TableType(
    "EachTable",
    LEARNER
    | {
        "surrogates": surrogate_tables,
        "scratch": write,
        "gradients": rows,  # of the constraints, and their values
        "values": write,
        "parts_f": index,  # how many parts the cost of each round has, and the constraint
        "parts_g": index,
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
    surrogate, mixed, x = table.surrogate, table.loss, table.x
    # lines 6 and 7: Q(t), and the surrogate's gradient s = grad f_t + w_t grad g_t
    weight, inner, norm2, tangent2 = make_loss(surrogate, mixed, a, cost, c, value, x, x, products)
    if weight != weight:
        return False
    s = a if weight == 0.0 else mixed
    if weight != 0.0 or surrogate.units[LEARNT] == 0.0:
        tangent2 = UNMEASURED
    L = surrogate.lipschitz
    declared = L + weight * L if L >= 0.0 else UNDECLARED
    # line 7: pass it to Algorithm 1
    if not table.step(table.learner, s, table.noise[k], inner, (tangent2, norm2, declared)):
        take_back(surrogate)
        return False
    certificate_add(table.ledger, s, inner, norm2, surrogate.queue[PRICE], cost, value)
    return True


@kernel(types.boolean, each_table, *SEEN_ROUND)
def play_round_each(
    table: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Play a round with one queue for each constraint; c, value are the most violated one's."""
    count = len(table.surrogates.tables)
    if count != np.int64(table.parts_g[k]) or table.parts_f[k] != 1:
        return False  # to be refused
    s, x, gradients, values = table.loss, table.x, table.gradients, table.values
    price, norm2 = make_each_loss(table.surrogates, s, table.scratch, a, cost, gradients, values, x)
    if price != price:
        return False
    inner = dot(s, x)
    loss = UNMEASURED, norm2, UNDECLARED
    if not table.step(table.learner, s, table.noise[k], inner, loss):
        for j in range(count):
            take_back(table.surrogates.tables[j])
        return False
    certificate_add(table.ledger, s, inner, norm2, price, cost, value)
    add_each(table.ledger, len(a), values[:count])
    return True


@kernel(types.boolean, round_table, read, number, read, number)
def tell_round(table: Any, a: Array, cost: float, c: Array, value: float) -> bool:
    """Take in a round that was seen at the decision; False as `play_round` has it."""
    if not is_play_left(table.ledger, table.x):
        return False
    if not play_round(table, a, cost, c, value, dots_and_norms(a, c, table.x), 0):
        return False
    store_play(table.ledger, table.x)
    return True


def learner_fields(step: CompiledStep, ledger: Vector, noise: Vector) -> dict[str, Any]:
    """Return what both tables hold of a learner."""
    return {
        "step": untyped(step.step, step_type),
        "learner": untyped(step.table),
        "x": step.x,
        "loss": step.loss,
        "ledger": ledger,
        "noise": noise,
    }


class LossRounds(CompiledRounds):
    """Rounds in which one surrogate makes the loss.

    Args:
        learner: who plays.
        step: its step.
        surrogate: the surrogate's table.
        ledger: what the certificate remembers.

    """

    feedback: Feedback = staticmethod(first_order)

    def __init__(self, learner: Any, step: CompiledStep, surrogate: Any, ledger: Vector):
        self._learner, self._step, self._ledger = learner, step, ledger
        self._surrogate, self._policy = surrogate, None

    @property
    def table(self) -> Any:
        """The table of a single round, for `tell_round`; None for a learner that draws noise."""
        return None if self._learner.draws else self._table(NO_NOISE)

    def _table(self, noise: Vector) -> Any:
        fields = learner_fields(self._step, self._ledger, noise)
        return round_table.filled(**fields, surrogate=self._surrogate)

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the table of the rounds until the learner warns of its horizon."""
        if not is_play_left(self._ledger, self._step.x):  # the learner was told by itself
            return None, first
        learner = self._learner
        end = before_warning(first, end, learner.rounds, learner.horizon)
        noise = learner.draw(end - first) if learner.draws else NO_NOISE
        if self._policy is None or learner.draws:
            self._policy = self._policy_with(noise, rounds)
        return self._policy, end

    def _policy_with(self, noise: Vector, rounds: Any) -> Any:  # noqa: ARG002
        return policy_of(play_round, self._table(noise), self._step.x)

    def finish(self, played: int) -> None:
        """Remember the decision, and how much noise was used."""
        store_play(self._ledger, self._step.x)
        if self._learner.draws:
            self._learner.give_back(played)


def loss_rounds(
    surrogate: Any, base: type, learner: Any, ledger: Vector, units: Vector
) -> LossRounds | None:
    """Return the rounds of a surrogate that makes losses as its base does, if all has kernels."""
    step = None if units.size else compiled_step(learner)
    if step is None or surrogate.table is None or not not_overridden(surrogate, base, "tell"):
        return None
    return LossRounds(learner, step, surrogate.table, ledger)


class EachLossRounds(LossRounds):
    """Rounds in which each constraint has a surrogate of its own; it takes their tables."""

    feedback: Feedback = staticmethod(first_order_each)
    linear = False

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the table of the rounds, which holds where their gradients are written."""
        self._policy, self._first = None, first
        return super().begin(rounds, first, end)

    def _policy_with(self, noise: Vector, rounds: Any) -> Any:
        table = each_table.filled(
            **learner_fields(self._step, self._ledger, noise),
            surrogates=self._surrogate,
            scratch=np.empty(self._step.x.size),
            gradients=rounds.gradients,
            values=rounds.values,
            parts_f=rounds.parts_f[self._first :],
            parts_g=rounds.parts_g[self._first :],
        )
        return policy_of(play_round_each, table, self._step.x)
