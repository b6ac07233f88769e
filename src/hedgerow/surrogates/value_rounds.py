"""Rounds of which a block bandit sees values alone, in one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import function, kernel, nothing, number, rows, write
from hedgerow._engine.table import TableType
from hedgerow.feedback import LARGEST_VALUE
from hedgerow.inputs import LARGEST_PART, Vector
from hedgerow.kernels.certificate import is_play_left, store_play
from hedgerow.kernels.rounds import SEEN_ROUND, policy_of
from hedgerow.kernels.vectors import copy
from hedgerow.learners.arguments import before_warning
from hedgerow.learners.block_bandit import (
    BlockConditionalGradient,
    bandit_table,
    play_around,
    tell_value,
)
from hedgerow.protocols.parts import Feedback
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.surrogates.queue import PRICE, ROUND
from hedgerow.surrogates.values import CHARGE_VALUES, Values, values_table

Array = Any
ROUNDS, COST, CCV, VIOLATED = range(4)
"""The numbers of a bandit policy's state [the play after the last round | numbers]."""

value_table = TableType(
    "ValueTable",
    {
        "learner": bandit_table,
        "kept": write,  # memory for the queue
        "surrogate": values_table,
        "charge_values": function(*CHARGE_VALUES),
        "totals": write,  # of the policy
        "noise": rows,  # a direction for each round
        "y": write,  # the decision
        "lipschitz": number,  # declared constants of costs and constraints
        "bound": number,
    },
)


@kernel(nothing, write, number, number)
def add_values(totals: Array, cost: float, value: float) -> None:
    """Add a round to the totals of a policy that sees values."""
    totals[ROUNDS] += 1.0
    totals[COST] += cost
    totals[CCV] += max(0.0, value)
    totals[VIOLATED] += 1.0 if value > 0.0 else 0.0


@kernel(types.boolean, value_table, *SEEN_ROUND)
def play_values(
    table: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Take in the values of a round, as `kernels/rounds.py` describes it; gradients are unused."""
    queue, kept, y = table.surrogate.queue, table.kept, table.y
    largest = min(LARGEST_PART, table.bound * (1.0 + 1e-9))
    if not (abs(cost) <= largest and abs(value) <= largest):
        return False
    copy(kept, queue)
    queue[ROUND] += 1.0
    price, steeper, wider = table.charge_values(
        table.surrogate, value, table.lipschitz, table.bound
    )
    queue[PRICE] = price
    loss, L, M = cost + price, table.lipschitz + steeper, table.bound + wider
    if not (abs(loss) <= LARGEST_VALUE and L <= LARGEST_VALUE and M <= LARGEST_VALUE):
        copy(queue, kept)
        return False
    learner = table.learner
    tell_value(learner, table.noise[k], loss, L, M)
    add_values(table.totals[len(y) :], cost, value)
    play_around(learner.state, learner.centre, learner.constants, y)
    return True


class ValueRounds(CompiledRounds):
    """Rounds of a block bandit and its surrogate.

    Args:
        learner: who plays.
        surrogate: makes the losses.
        totals: the policy's state.
        feedback: what it may see.

    """

    linear = False

    def __init__(
        self, learner: BlockConditionalGradient, surrogate: Values, totals: Vector, feedback: Any
    ):
        self.feedback: Feedback = feedback
        self._learner, self._totals = learner, totals
        self._y = np.empty(learner.decision_set.dim)
        self._fields = {
            "learner": learner.table,
            "kept": np.empty(surrogate._state.array.size),
            "surrogate": surrogate.table,
            "charge_values": type(surrogate).charge_values,
            "totals": totals,
            "y": self._y,
            "lipschitz": feedback.lipschitz,
            "bound": feedback.bound,
        }

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:  # noqa: ARG002
        """Return the table with the directions of these rounds."""
        learner = self._learner
        play_around(
            learner._state.array, learner._shrunk.inside.centre, learner._constants, self._y
        )
        if not is_play_left(self._totals, self._y):  # the learner has moved by itself
            return None, first
        end = before_warning(first, end, learner.rounds, learner.horizon)
        table = value_table.filled(**self._fields, noise=learner.draw(end - first))
        return policy_of(play_values, table, self._y), end

    def finish(self, played: int) -> None:
        """Remember the decision, and how many directions were used."""
        store_play(self._totals, self._y)
        self._learner.give_back(played)
