"""Rounds of a block whose losses a dual variable makes, in one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import kernel, number, read, write
from hedgerow._engine.table import TableType
from hedgerow.feedback import first_order
from hedgerow.inputs import LARGEST_GRADIENT, LARGEST_PART, Vector
from hedgerow.kernels.certificate import certificate_add, is_play_left, store_play
from hedgerow.kernels.ocg import add
from hedgerow.kernels.rounds import SEEN_ROUND
from hedgerow.kernels.vectors import copy, dot
from hedgerow.learners.blocked_ogd import BlockedOGD, BlockRounds
from hedgerow.protocols.parts import Feedback
from hedgerow.surrogates.dual import PRICE, WEIGHT, DualSurrogate, charge_dual
from hedgerow.surrogates.make_loss import add_scaled

Array = Any
LARGEST2 = 0.25 * LARGEST_PART * LARGEST_PART
"""Larger squares are left to Python, which knows to the last bit what it refuses."""
LARGEST_LOSS2 = 0.25 * LARGEST_GRADIENT * LARGEST_GRADIENT

dual_table = TableType(
    "DualTable",
    {
        "state": write,  # [sum of gradients | t | squares]
        "x": read,
        "dual": write,  # the dual variable's state, and its rates
        "rates": read,
        "ledger": write,
        "loss": write,  # memory for the gradient of a loss
    },
)


@kernel(types.boolean, number, number)
def is_accepted(size2: float, value: float) -> bool:
    """Whether a function of this value and squared gradient is surely accepted."""
    return size2 <= LARGEST2 and abs(value) <= LARGEST_PART


@kernel(types.boolean, dual_table, *SEEN_ROUND)
def play_dual(
    table: Any,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    products: tuple[float, float, float, float],
    k: int,
) -> bool:
    """Take in a round of a block, weighed by the dual variable."""
    n, state, dual, s = len(a), table.state, table.dual, table.loss
    if not (is_accepted(products[2], cost) and is_accepted(products[3], value)):
        return False
    lam = dual[WEIGHT] if value > 0.0 else 0.0
    copy(s, a)
    if lam > 0.0:
        add_scaled(s, c, lam)
    norm2 = dot(s, s)
    if not norm2 <= LARGEST_LOSS2:
        return False
    charge_dual(dual, table.rates, value)
    certificate_add(table.ledger, s, dot(s, table.x), norm2, dual[PRICE], cost, value)
    add(state[:n], s)
    state[n] += 1.0
    return True


class DualRounds(BlockRounds):
    """Rounds of a `BlockedOGD` that plays the losses of a dual variable.

    Args:
        learner: the learner; its set has kernels.
        surrogate: makes the losses.
        ledger: what the certificate remembers.

    """

    feedback: Feedback = staticmethod(first_order)

    def __init__(self, learner: BlockedOGD, surrogate: DualSurrogate, ledger: Vector):
        super().__init__(learner, play_dual, learner._pursuer._state["x"])
        self._ledger = ledger
        self._table = dual_table.filled(
            state=learner._state.array,
            x=self._x,
            dual=surrogate._state.array,
            rates=surrogate.rates,
            ledger=ledger,
            loss=np.empty(learner.decision_set.dim),
        )

    def table(self, rounds: Any, first: int, end: int) -> Any:  # noqa: ARG002
        """Return the table, the same for all rounds."""
        return self._table

    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the table of the rounds of this block."""
        if not is_play_left(self._ledger, self._x):  # the learner has moved by itself
            return None, first
        return super().begin(rounds, first, end)

    def finish(self, played: int) -> None:
        """Move, if the block is at its end, and remember the decision."""
        super().finish(played)
        store_play(self._ledger, self._x)
