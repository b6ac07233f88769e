"""Rounds of which one-point play sees values alone, in one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import kernel, number, read, rows, write
from hedgerow._engine.table import TableType
from hedgerow.feedback import LARGEST_VALUE
from hedgerow.inputs import LARGEST_GRADIENT, LARGEST_PART, Vector
from hedgerow.kernels.certificate import is_play_left, store_play
from hedgerow.kernels.rounds import SEEN_ROUND
from hedgerow.learners.blocked_ogd import BlockedOGD, BlockRounds
from hedgerow.learners.one_point import FACTOR, MEAN, OnePoint, learn_mean, play_near
from hedgerow.protocols.parts import Feedback
from hedgerow.surrogates.dual import WEIGHT, DualValues, charge_dual
from hedgerow.surrogates.value_rounds import add_values

Array = Any

one_point_table = TableType(
    "OnePointTable",
    {
        "state": write,  # of one-point play
        "constants": read,
        "centre": read,
        "basis": rows,
        "x": read,  # of the learner inside, and its sums
        "total": write,
        "dual": write,
        "rates": read,
        "totals": write,  # of the policy
        "noise": rows,  # a direction for each round
        "near": write,  # memory for a point
        "y": write,  # the decision
        "lipschitz": number,  # declared constants of costs and constraints
        "bound": number,
    },
)


@kernel(types.boolean, one_point_table, *SEEN_ROUND)
def play_one_point(
    table: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Take in the values of a round, as `kernels/rounds.py` describes it; gradients are unused."""
    state, constants, dual, total = table.state, table.constants, table.dual, table.total
    d, n, L, M = len(table.x), len(table.y), table.lipschitz, table.bound
    own, lam = state[d:], dual[WEIGHT]
    loss = cost + lam * max(0.0, value)
    scale = constants[FACTOR] * (loss - own[MEAN])
    fits = abs(cost) <= LARGEST_PART and abs(value) <= LARGEST_PART
    widest = max(abs(loss), L + lam * L, M + lam * M)
    if not (fits and widest <= LARGEST_VALUE and abs(scale) <= 0.5 * LARGEST_GRADIENT):
        return False
    charge_dual(dual, table.rates, value)
    for j in range(d):
        total[j] += scale * state[j]
    total[d] += 1.0
    learn_mean(own, constants, loss)
    for j in range(d):
        state[j] = table.noise[k, j]
    add_values(table.totals[n:], cost, value)
    play_near(state, constants, table.centre, table.basis, table.x, table.near, table.y)
    return True


class OnePointRounds(BlockRounds):
    """Rounds of one-point play around blocked gradient descent.

    Args:
        one: who plays.
        surrogate: makes the losses.
        totals: the policy's state.
        feedback: what it may see.

    """

    linear = False

    def __init__(self, one: OnePoint, surrogate: DualValues, totals: Vector, feedback: Any):
        assert isinstance(one.learner, BlockedOGD)
        n, d = one._basis.shape
        super().__init__(one.learner, play_one_point, np.empty(n))
        self.feedback: Feedback = feedback
        self._one, self._totals = one, totals
        self._fields = {
            "state": one._state.array,
            "constants": one._constants,
            "centre": one._centre,
            "basis": one._basis,
            "x": one.learner._pursuer._state["x"],
            "total": one.learner._state.array,
            "dual": surrogate._state.array,
            "rates": surrogate.rates,
            "totals": totals,
            "near": np.empty(d),
            "y": self._x,
            "lipschitz": feedback.lipschitz,
            "bound": feedback.bound,
        }

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the table of the rounds of this block."""
        self._x[:] = self._one.ask()
        if not is_play_left(self._totals, self._x):  # the learner has moved by itself
            return None, first
        return super().begin(rounds, first, end)

    def table(self, rounds: Any, first: int, end: int) -> Any:  # noqa: ARG002
        """Return the table with the directions of these rounds."""
        return one_point_table.filled(**self._fields, noise=self._one.draw(end - first))

    def finish(self, played: int) -> None:
        """Move, if the block is at its end, and remember the decision."""
        self._one.give_back(played)
        super().finish(played)
        store_play(self._totals, self._one.ask())
