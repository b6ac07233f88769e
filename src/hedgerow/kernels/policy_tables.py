"""A set, a learner, and a policy, as compiled code sees them: kernels and arrays in one table."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import types

from hedgerow._engine.kernel import (
    function,
    kernel,
    nothing,
    number,
    read,
    whole,
    write,
)
from hedgerow._engine.signatures import (
    AFTER_ORACLE,
    BEFORE_ORACLE,
    LABEL,
    LOSS,
    MEMBERS,
    NEEDS_GRADIENT,
    OBSERVE,
    RECORD,
    SLOPE,
    SPACE,
    step_rule,
)
from hedgerow._engine.table import TableType
from hedgerow.kernels.oracles import oracle_type
from hedgerow.kernels.tangents import along_type, measures
from hedgerow.kernels.vectors import copy, dot

Array = Any
LARGEST_LOSS2 = 1e300
"""Losses with a larger squared gradient are left to the objects, which refuse them."""
UNDECLARED = -1.0
"""Stands for the Lipschitz constant of a loss that declares none."""


set_table = TableType("SetTable", {"space": SPACE, "measure": measures, "oracle": oracle_type})


@kernel(number, set_table, read, number)
def tangent_norm2(set_: Any, c: Array, norm2: float) -> float:
    """Return the squared norm of c along the set, given ||c||^2."""
    return set_.measure(set_.space[LABEL], set_.space[MEMBERS], c, norm2)


@kernel(nothing, set_table, read, write)
def minimise(set_: Any, c: Array, v: Array) -> None:
    """Write to v a vertex that minimises <c, x>."""
    index, numbers, links, scratch, _, _ = set_.space
    set_.oracle(index, numbers, c, links, scratch, v)


step_table = TableType(
    "StepTable",
    {
        "state": write,  # of the learner
        "work": write,
        "before_oracle": function(*BEFORE_ORACLE),
        "after_oracle": function(*AFTER_ORACLE),
        "steps": step_rule,
        "set": set_table,
        "noise": whole,  # where this round's noise is written in `work`
        "tangent": types.boolean,  # whether the learner wants its losses along the set
        "along": along_type,
        "lists": types.boolean,  # whether the oracle lists the ones of its answer
    },
)
STEP = (read, read, number, LOSS)
"""What a learner's step takes after its table: the loss's gradient s, the round's noise, <s, x>,
and what is known of the loss; its norm along the set may be UNMEASURED."""
UNMEASURED = -1.0
"""Stands for a squared norm along the set that the learner has to measure."""


@kernel(types.boolean, step_table, *STEP)
def oracle_step(
    step: Any, s: Array, noise: Array, inner: float, loss: tuple[float, float, float]
) -> bool:
    """Take in a loss by a learner with an oracle: before it, the oracle, after it."""
    n, work, (index, numbers, links, scratch, label, members) = len(s), step.work, step.set.space
    tangent2, norm2, declared = loss
    if tangent2 == UNMEASURED:
        tangent2 = step.set.measure(label, members, s, norm2)
    if len(noise) > 0:
        copy(work[step.noise :], noise)
    if step.tangent:
        step.along(label, members, s, work[3 * n : 4 * n])
    if step.before_oracle(step.state, work, s, inner, (tangent2, norm2, declared), step.steps):
        step.set.oracle(index, numbers, work[:n], links, scratch, work[n : 2 * n])
        ones = links[1 : 1 + links[0]] if step.lists else links[:0]
        step.after_oracle(step.state, work, n, ones, step.steps)
    return True  # it refuses no loss


@kernel(nothing, step_table, read, read, number)
def tell_learner(step: Any, s: Array, noise: Array, declared: float) -> None:
    """Take in a loss of which only the gradient is known."""
    inner = dot(s, step.state[: len(s)])
    oracle_step(step, s, noise, inner, (UNMEASURED, dot(s, s), declared))


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


REACH = (number, set_table, write, read, number, read, write)
"""Of a surrogate's ranges, `reach(set, ranges, c, value, at, s)`: ask the oracle how large a
violation can become, given the gradient c and the value at the point `at`, and learn it; NaN leaves
that to Python. s is memory to work in."""
surrogate_table = TableType(
    "SurrogateTable",
    {
        "queue": write,  # as `surrogates/queue.py` has it
        "ranges": write,  # as `surrogates/ranges.py` has it
        "units": read,
        "potential": read,
        "saved": write,  # memory for queue and ranges, to take back a round
        "lipschitz": write,  # of this round's cost and constraint, or UNDECLARED
        "set": set_table,  # which the ranges measure and ask
        "needs_gradient": function(*NEEDS_GRADIENT),
        "observe": function(*OBSERVE),
        "slope": function(*SLOPE),
        "record": function(*RECORD),
        "reach": function(*REACH),
    },
)
