"""A learner, and a policy, as compiled code sees them: their kernels and arrays in one table.

To hand a kernel to a kernel takes numba about 30 microseconds; a table is handed on at once. The
tables of parts that differ in their arrays alone are made of one pattern.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

from numba import types
from numba.experimental import structref

from hedgerow.engine.signatures import (
    AFTER_ORACLE,
    BEFORE_ORACLE,
    CHARGE,
    LOSS,
    NEEDS_GRADIENT,
    RULE,
    SLOPE,
    SPACE,
    TAKE,
)
from hedgerow.kernels.jit import COMPILED, function, kernel, nothing, number, read, whole, write
from hedgerow.kernels.oracles import oracle_type
from hedgerow.kernels.tangents import measures
from hedgerow.kernels.unowned_view import unowned_view

Array = Any
new: Any = structref.new if COMPILED else lambda _: SimpleNamespace()
UNDECLARED = -1.0
"""Stands for the Lipschitz constant of a loss that declares none."""


@structref.register
class LearnerTableType(types.StructRef):
    """The type of a learner's table."""


class LearnerTable(structref.StructRefProxy):
    """A learner's table in Python's hands, which only passes it on."""


structref.define_boxing(LearnerTableType, LearnerTable)
learner_table = LearnerTableType(
    [
        ("state", write),
        ("work", write),
        ("before_oracle", function(*BEFORE_ORACLE)),
        ("after_oracle", function(*AFTER_ORACLE)),
        ("regularise", RULE[0]),
        ("step_size", RULE[1]),
        ("after_step", RULE[2]),
    ]
)


@kernel(learner_table, function(*BEFORE_ORACLE), function(*AFTER_ORACLE), *RULE)
def _learner_pattern(
    before_oracle: Any, after_oracle: Any, regularise: Any, step_size: Any, after_step: Any
) -> Any:
    """Return a table of these kernels that has no arrays yet."""
    table: Any = new(learner_table)
    table.before_oracle, table.after_oracle = before_oracle, after_oracle
    table.regularise, table.step_size, table.after_step = regularise, step_size, after_step
    return table


@kernel(learner_table, learner_table, write, write)
def _bind_learner(pattern: Any, state: Array, work: Array) -> Any:
    """Return the table of the pattern's kernels and these arrays, which must outlive it."""
    table: Any = new(learner_table)
    table.before_oracle, table.after_oracle = pattern.before_oracle, pattern.after_oracle
    table.regularise, table.step_size = pattern.regularise, pattern.step_size
    table.after_step = pattern.after_step
    table.state, table.work = unowned_view(state), unowned_view(work)
    return table


@kernel(types.boolean, learner_table, read, read, number, LOSS)
def before_oracle(
    learner: Any, s: Array, noise: Array, inner: float, loss: tuple[float, float, float]
) -> bool:
    """Take in a loss and write the oracle's direction; say whether the oracle is needed."""
    return learner.before_oracle(
        *(learner.state, learner.work, s, noise, inner, loss),
        *(learner.regularise, learner.step_size, learner.after_step),
    )


@kernel(nothing, learner_table, whole)
def after_oracle(learner: Any, n: int) -> None:
    """Move, given the oracle's answer."""
    learner.after_oracle(
        *(learner.state, learner.work, n),
        *(learner.regularise, learner.step_size, learner.after_step),
    )


@structref.register
class PolicyTableType(types.StructRef):
    """The type of a policy's table."""


class PolicyTable(structref.StructRefProxy):
    """A policy's table in Python's hands, which only passes it on."""


structref.define_boxing(PolicyTableType, PolicyTable)
POLICY_KERNELS = (
    measures,
    oracle_type,
    function(*NEEDS_GRADIENT),
    function(*TAKE),
    function(*SLOPE),
    function(*CHARGE),
)
policy_table = PolicyTableType(
    [
        ("learner", learner_table),
        ("ledger", write),  # of the certificate, as `engine/certificate.py` has it
        ("queue", write),  # of the surrogate, as `surrogates/queued.py` has it
        ("ranges", write),
        ("units", read),
        ("potential", read),
        ("space", SPACE),  # of the set's oracle
        ("tangent", types.boolean),  # whether the learner wants its losses along the set
        ("measure", POLICY_KERNELS[0]),
        ("oracle", POLICY_KERNELS[1]),
        ("needs_gradient", POLICY_KERNELS[2]),
        ("take", POLICY_KERNELS[3]),
        ("slope", POLICY_KERNELS[4]),
        ("charge", POLICY_KERNELS[5]),
    ]
)


@kernel(policy_table, *POLICY_KERNELS)
def _policy_pattern(
    measure: Any, oracle: Any, needs_gradient: Any, take: Any, slope: Any, charge: Any
) -> Any:
    """Return a table of these kernels that has no arrays yet."""
    table: Any = new(policy_table)
    table.measure, table.oracle, table.needs_gradient = measure, oracle, needs_gradient
    table.take, table.slope, table.charge = take, slope, charge
    return table


@kernel(
    policy_table, policy_table, learner_table, write, write, write, read, read, SPACE, types.boolean
)
def _bind_policy(
    pattern: Any,
    learner: Any,
    ledger: Array,
    queue: Array,
    ranges: Array,
    units: Array,
    potential: Array,
    space: Any,
    tangent: bool,
) -> Any:
    """Return the table of the pattern's kernels and these arrays, which must outlive it."""
    table: Any = new(policy_table)
    table.measure, table.oracle = pattern.measure, pattern.oracle
    table.needs_gradient, table.take = pattern.needs_gradient, pattern.take
    table.slope, table.charge = pattern.slope, pattern.charge
    table.learner, table.tangent = learner, tangent
    table.ledger, table.queue = unowned_view(ledger), unowned_view(queue)
    table.ranges = unowned_view(ranges)
    table.units, table.potential = unowned_view(units), unowned_view(potential)
    index, numbers, links, scratch, label, members = space
    table.space = (
        *(unowned_view(index), unowned_view(numbers), unowned_view(links), unowned_view(scratch)),
        *(unowned_view(label), unowned_view(members)),
    )
    return table


@functools.cache
def learner_pattern(*kernels: Any) -> Any:
    """Return the pattern of a learner's kernels: before and after the oracle, and its step rule."""
    return _learner_pattern(*kernels)


@functools.cache
def policy_pattern(*kernels: Any) -> Any:
    """Return the pattern of a policy's kernels, in the order of `POLICY_KERNELS`."""
    return _policy_pattern(*kernels)


bind_learner, bind_policy = _bind_learner, _bind_policy
