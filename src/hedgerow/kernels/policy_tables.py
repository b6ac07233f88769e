"""A set, a learner, and a policy, as compiled code sees them: kernels and arrays in one table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from hedgerow._engine.kernel import (
    function,
    index,
    kernel,
    nothing,
    number,
    read,
    whole,
    write,
)
from hedgerow._engine.signatures import (
    AFTER_ORACLE,
    ALLOW,
    BEFORE_ORACLE,
    LABEL,
    LOSS,
    MEMBERS,
    NEEDS_GRADIENT,
    OBSERVE,
    ORACLE_SPACE,
    RECORD,
    RULE,
    SLOPE,
    SPACE,
)
from hedgerow._engine.table import TableType
from hedgerow.kernels.oracles import oracle_type
from hedgerow.kernels.tangents import along_type, measures
from hedgerow.kernels.vectors import dot

Array = Any
LARGEST_LOSS2 = 1e300
"""Losses with a larger squared gradient are left to the objects, which refuse them."""
UNDECLARED = -1.0
"""Stands for the Lipschitz constant of a loss that declares none."""


set_table = TableType("SetTable", {"space": SPACE, "measure": measures, "oracle": oracle_type})


learner_table = TableType(
    "LearnerTable",
    {
        "state": write,
        "work": write,
        "before_oracle": function(*BEFORE_ORACLE),
        "after_oracle": function(*AFTER_ORACLE),
        "regularise": RULE[0],
        "step_size": RULE[1],
        "after_step": RULE[2],
    },
)


@kernel(types.boolean, learner_table, read, read, number, LOSS)
def before_oracle(
    learner: Any, s: Array, noise: Array, inner: float, loss: tuple[float, float, float]
) -> bool:
    """Take in a loss and write the oracle's direction; say whether the oracle is needed."""
    return learner.before_oracle(
        *(learner.state, learner.work, s, noise, inner, loss),
        *(learner.regularise, learner.step_size, learner.after_step),
    )


@kernel(nothing, learner_table, whole, index)
def after_oracle(learner: Any, n: int, ones: Array) -> None:
    """Move, given the oracle's answer."""
    learner.after_oracle(
        *(learner.state, learner.work, n, ones),
        *(learner.regularise, learner.step_size, learner.after_step),
    )


step_table = TableType(
    "StepTable",
    {
        "learner": learner_table,
        "space": SPACE,  # of the set's oracle
        "tangent": types.boolean,  # whether the learner wants its losses along the set
        "lists": types.boolean,  # whether the oracle lists the ones of its answer
        "measure": measures,
        "oracle": oracle_type,
        "along": along_type,
    },
)


@kernel(nothing, step_table, read, read, number, LOSS)
def learner_step(
    step: Any, s: Array, noise: Array, inner: float, loss: tuple[float, float, float]
) -> None:
    """Take in a loss, ask the oracle's kernel, and move."""
    learner, space, n = step.learner, step.space, len(s)
    work = learner.work
    if step.tangent:
        step.along(space[LABEL], space[MEMBERS], s, work[3 * n : 4 * n])
    if before_oracle(learner, s, noise, inner, loss):
        index, numbers, links, scratch, _, _ = space
        step.oracle(index, numbers, work[:n], links, scratch, work[n : 2 * n])
        ones = links[1 : 1 + links[0]] if step.lists else links[:0]
        after_oracle(learner, n, ones)


@kernel(types.boolean, step_table, read, read, number)
def tell_learner(step: Any, s: Array, noise: Array, declared: float) -> bool:
    """Measure a loss and take it in; False, with nothing changed, for one to be refused."""
    plain2, space = dot(s, s), step.space
    if not plain2 <= LARGEST_LOSS2:
        return False
    tangent2 = step.measure(space[LABEL], space[MEMBERS], s, plain2)
    inner = dot(s, step.learner.state[: len(s)])
    learner_step(step, s, noise, inner, (tangent2, plain2, declared))
    return True


STEP = (read, read, number, LOSS)
"""What a learner's step takes after its table: the loss's gradient s, the round's noise, <s, x>,
and what is known of the loss; its norm along the set may be UNMEASURED."""
UNMEASURED = -1.0
"""Stands for a squared norm along the set that the learner has to measure."""


@kernel(types.boolean, step_table, *STEP)
def oracle_step(
    step: Any, s: Array, noise: Array, inner: float, loss: tuple[float, float, float]
) -> bool:
    """Take in a loss by a learner with an oracle; it refuses none."""
    tangent2, norm2, declared = loss
    if tangent2 == UNMEASURED:
        tangent2 = step.measure(step.space[LABEL], step.space[MEMBERS], s, norm2)
    learner_step(step, s, noise, inner, (tangent2, norm2, declared))
    return True


class CompiledStep(NamedTuple):
    """A learner's step as compiled code sees it.

    Args:
        step: the kernel, with its table and `STEP` as arguments. It returns False, with nothing
            changed, for a step that Python must take.
        table: its table.
        x: the decision, which the step moves.
        loss: memory for the gradient of a loss.

    """

    step: Any
    table: Any
    x: Array
    loss: Array


surrogate_table = TableType(
    "SurrogateTable",
    {
        "queue": write,  # as `surrogates/queued.py` has it
        "ranges": write,
        "units": read,
        "potential": read,
        "ledger": read,  # of the policy; empty for a surrogate that does not read it
        "guard": write,  # as `surrogates/guard.py` has it; empty without a guard
        "rule": write,  # the step rule's numbers, for the guard
        "saved": write,  # room for queue, ranges and guard, to take back a round
        "label": index,  # of the set that the ranges measure
        "members": read,
        "measure": measures,
        "needs_gradient": function(*NEEDS_GRADIENT),
        "observe": function(*OBSERVE),
        "slope": function(*SLOPE),
        "record": function(*RECORD),
        "oracle": oracle_type,  # of that set, for ranges that ask it
        "allow": function(*ALLOW),  # of the guard
        "lipschitz": number,  # of cost and constraint, or UNDECLARED
        "asks": types.boolean,  # whether it may be asked here; else Python asks
        "space": types.Tuple(ORACLE_SPACE),
    },
)


surrogate_tables = TableType(
    "SurrogateTables", {"tables": types.Array(surrogate_table, 1, "C", readonly=True)}
)
"""Of a policy with one surrogate for each constraint: the addresses of their tables."""
NO_SURROGATES = surrogate_tables.filled(tables=np.zeros(0, np.int64))
