"""A round in one kernel: those of surrogate, learner and set, one after the other.

The compiled loop plays its rounds by it, and `Constrained.tell` those that need nothing else.
"""

from __future__ import annotations

from typing import Any

from numba import types

from hedgerow._engine.kernel import kernel, number, read, write
from hedgerow._engine.signatures import LABEL, MEMBERS
from hedgerow._engine.table import TableType
from hedgerow.kernels.certificate import certificate_add, is_play_left, leave_play
from hedgerow.kernels.policy_tables import UNDECLARED, learner_step, step_table, surrogate_table
from hedgerow.kernels.vectors import dots_and_norms, four
from hedgerow.learners.kernel_learner import KernelLearner
from hedgerow.sets.compiled import as_written
from hedgerow.surrogates.cost_only import CostOnlySurrogate
from hedgerow.surrogates.make_loss import make_loss
from hedgerow.surrogates.queue import PRICE
from hedgerow.surrogates.queued import FirstOrder
from hedgerow.surrogates.ranges import LEARNT

Array = Any


@kernel(types.boolean, step_table, surrogate_table, write, read, number, read, number, read, four)
def play_round(
    step: Any,
    surrogate: Any,
    ledger: Array,
    a: Array,
    cost: float,
    c: Array,
    value: float,
    noise: Array,
    seen: tuple[float, float, float, float],
) -> bool:
    """Play a round with gradients a, c and values cost, value.

    `seen` is <a, x>, <c, x>, ||a||^2 and ||c||^2. Return False, with nothing changed, for a round
    that is left to the objects.
    """
    n, learner = len(a), step.learner
    mixed, x = learner.work[2 * n : 3 * n], learner.state[:n]
    weight, inner, norm2, tangent2 = make_loss(surrogate, mixed, a, cost, c, value, x, x, seen)
    if weight != weight:
        return False
    s = a if weight == 0.0 else mixed
    if weight != 0.0 or surrogate.units[LEARNT] == 0.0:
        tangent2 = step.measure(step.space[LABEL], step.space[MEMBERS], s, norm2)
    L = surrogate.lipschitz
    declared = L + weight * L if L >= 0.0 else UNDECLARED
    certificate_add(ledger, s, inner, norm2, surrogate.queue[PRICE], cost, value)
    learner_step(step, s, noise, inner, (tangent2, norm2, declared))
    return True


round_table = TableType(
    "RoundTable", {"step": step_table, "surrogate": surrogate_table, "ledger": write}
)


@kernel(types.boolean, round_table, read, number, read, number)
def tell_round(table: Any, a: Array, cost: float, c: Array, value: float) -> bool:
    """Play a round that was seen at the play, without noise; False as `play_round` has it."""
    step, ledger = table.step, table.ledger
    x = step.learner.state[: len(a)]
    if not is_play_left(ledger, x):
        return False
    looked = dots_and_norms(a, c, x)
    if not play_round(step, table.surrogate, ledger, a, cost, c, value, a[:0], looked):
        return False
    leave_play(ledger, x)
    return True


def round_tables(learner: object, surrogate: object) -> tuple[Any, Any] | None:
    """Return the tables of learner and surrogate, if compiled code plays their rounds as they do.

    None where a part has no kernels, or changes what they are called by.
    """
    if not isinstance(learner, KernelLearner) or not as_written(
        learner, KernelLearner, "ask", "tell"
    ):
        return None
    if isinstance(surrogate, CostOnlySurrogate):
        fits = as_written(surrogate, CostOnlySurrogate, "tell")
    else:
        fits = isinstance(surrogate, FirstOrder) and as_written(surrogate, FirstOrder, "tell")
    if not fits or learner.step_table is None or surrogate.table is None:  # type: ignore[attr-defined]
        return None
    return learner.step_table, surrogate.table  # type: ignore[attr-defined]
