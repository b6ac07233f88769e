"""A set, a learner, and a policy, as compiled code sees them: kernels and arrays in one table.

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
    CHARGE_QUEUE,
    GRANT,
    LABEL,
    LOSS,
    MEMBERS,
    NEEDS_GRADIENT,
    ORACLE_SPACE,
    RULE,
    SLOPE,
    SPACE,
    TAKE,
)
from hedgerow.kernels.jit import (
    COMPILED,
    function,
    index,
    kernel,
    nothing,
    number,
    read,
    whole,
    write,
)
from hedgerow.kernels.oracles import oracle_type
from hedgerow.kernels.tangents import along_type, measures
from hedgerow.kernels.unowned_view import unowned_view
from hedgerow.kernels.vectors import dot

Array = Any
new: Any = structref.new if COMPILED else lambda _: SimpleNamespace()
LARGEST_LOSS2 = 1e300
"""Losses with a larger squared gradient are left to the objects, which refuse them."""
UNDECLARED = -1.0
"""Stands for the Lipschitz constant of a loss that declares none."""


@structref.register
class SetTableType(types.StructRef):
    """The type of a set's table."""


class SetTable(structref.StructRefProxy):
    """A set's table in Python's hands, which only passes it on."""


structref.define_boxing(SetTableType, SetTable)
set_table = SetTableType([("space", SPACE), ("measure", measures), ("oracle", oracle_type)])


@kernel(set_table, measures, oracle_type)
def _set_pattern(measure: Any, oracle: Any) -> Any:
    """Return a table of these kernels that has no arrays yet."""
    table: Any = new(set_table)
    table.measure, table.oracle = measure, oracle
    return table


@kernel(set_table, set_table, SPACE)
def bind_set(pattern: Any, space: Any) -> Any:
    """Return the table of the pattern's kernels and these arrays, which must outlive it."""
    table: Any = new(set_table)
    table.measure, table.oracle = pattern.measure, pattern.oracle
    index, numbers, links, scratch, label, members = space
    table.space = (
        *(unowned_view(index), unowned_view(numbers), unowned_view(links), unowned_view(scratch)),
        *(unowned_view(label), unowned_view(members)),
    )
    return table


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
def bind_learner(pattern: Any, state: Array, work: Array) -> Any:
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


@kernel(nothing, learner_table, whole, index)
def after_oracle(learner: Any, n: int, ones: Array) -> None:
    """Move, given the oracle's answer."""
    learner.after_oracle(
        *(learner.state, learner.work, n, ones),
        *(learner.regularise, learner.step_size, learner.after_step),
    )


@structref.register
class StepTableType(types.StructRef):
    """The type of a learner's table with its set's kernels."""


class StepTable(structref.StructRefProxy):
    """A learner's table with its set's kernels, in Python's hands, which only passes it on."""


structref.define_boxing(StepTableType, StepTable)
step_table = StepTableType(
    [
        ("learner", learner_table),
        ("space", SPACE),  # of the set's oracle
        ("tangent", types.boolean),  # whether the learner wants its losses along the set
        ("lists", types.boolean),  # whether the oracle lists the ones of its answer
        ("measure", measures),
        ("oracle", oracle_type),
        ("along", along_type),
    ]
)


@kernel(step_table, measures, oracle_type, along_type)
def _step_pattern(measure: Any, oracle: Any, along: Any) -> Any:
    """Return a table of these kernels that has no arrays yet."""
    table: Any = new(step_table)
    table.measure, table.oracle, table.along = measure, oracle, along
    return table


@kernel(step_table, step_table, learner_table, SPACE, types.boolean, types.boolean)
def bind_step(pattern: Any, learner: Any, space: Any, tangent: bool, lists: bool) -> Any:
    """Return the table of the pattern's kernels and these arrays, which must outlive it."""
    table: Any = new(step_table)
    table.measure, table.oracle, table.along = pattern.measure, pattern.oracle, pattern.along
    table.learner, table.tangent, table.lists = learner, tangent, lists
    index, numbers, links, scratch, label, members = space
    table.space = (
        *(unowned_view(index), unowned_view(numbers), unowned_view(links), unowned_view(scratch)),
        *(unowned_view(label), unowned_view(members)),
    )
    return table


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


@structref.register
class SurrogateTableType(types.StructRef):
    """The type of a surrogate's table."""


class SurrogateTable(structref.StructRefProxy):
    """A surrogate's table in Python's hands, which only passes it on."""


structref.define_boxing(SurrogateTableType, SurrogateTable)
SURROGATE_KERNELS = (
    measures,
    function(*NEEDS_GRADIENT),
    function(*TAKE),
    function(*SLOPE),
    function(*CHARGE_QUEUE),
    oracle_type,
    function(*GRANT),
)
surrogate_table = SurrogateTableType(
    [
        ("queue", write),  # as `surrogates/queued.py` has it
        ("ranges", write),
        ("units", read),
        ("potential", read),
        ("ledger", read),  # of the policy; empty for a surrogate that does not read it
        ("guard", write),  # as `surrogates/guard.py` has it; empty without a guard
        ("rule", write),  # the step rule's numbers, for the guard
        ("saved", write),  # room for queue, ranges and guard, to take back a round
        ("label", index),  # of the set that the ranges measure
        ("members", read),
        ("measure", SURROGATE_KERNELS[0]),
        ("needs_gradient", SURROGATE_KERNELS[1]),
        ("take", SURROGATE_KERNELS[2]),
        ("slope", SURROGATE_KERNELS[3]),
        ("charge_queue", SURROGATE_KERNELS[4]),
        ("oracle", SURROGATE_KERNELS[5]),  # of that set, for ranges that ask it
        ("grant", SURROGATE_KERNELS[6]),  # of the guard
        ("lipschitz", number),  # of cost and constraint, or UNDECLARED
        ("asks", types.boolean),  # whether it may be asked here; else Python asks
        ("space", types.Tuple(ORACLE_SPACE)),
    ]
)


surrogate_tables = types.ListType(surrogate_table)
"""Of a policy with one surrogate for each constraint."""


@kernel(surrogate_table, *SURROGATE_KERNELS)
def _surrogate_pattern(
    measure: Any,
    needs_gradient: Any,
    take: Any,
    slope: Any,
    charge_queue: Any,
    oracle: Any,
    grant: Any,
) -> Any:
    """Return a table of these kernels that has no arrays yet."""
    table: Any = new(surrogate_table)
    table.measure, table.needs_gradient = measure, needs_gradient
    table.take, table.slope, table.charge_queue = take, slope, charge_queue
    table.oracle, table.grant = oracle, grant
    return table


@kernel(
    *(surrogate_table, surrogate_table, write, write, read, read, index, read),
    *(read, write, write, write, number, types.boolean, types.Tuple(ORACLE_SPACE)),
)
def bind_surrogate(
    pattern: Any,
    queue: Array,
    ranges: Array,
    units: Array,
    potential: Array,
    label: Array,
    members: Array,
    ledger: Array,
    guard: Array,
    rule: Array,
    saved: Array,
    lipschitz: float,
    asks: bool,
    space: Any,
) -> Any:
    """Return the table of the pattern's kernels and these arrays, which must outlive it."""
    table: Any = new(surrogate_table)
    table.measure, table.needs_gradient = pattern.measure, pattern.needs_gradient
    table.take, table.slope = pattern.take, pattern.slope
    table.charge_queue, table.oracle = pattern.charge_queue, pattern.oracle
    table.grant = pattern.grant
    table.queue, table.ranges = unowned_view(queue), unowned_view(ranges)
    table.units = unowned_view(units)
    table.potential, table.label = unowned_view(potential), unowned_view(label)
    table.members, table.ledger = unowned_view(members), unowned_view(ledger)
    table.guard, table.rule = unowned_view(guard), unowned_view(rule)
    table.saved, table.lipschitz, table.asks = unowned_view(saved), lipschitz, asks
    index, numbers, links, scratch = space
    table.space = (
        *(unowned_view(index), unowned_view(numbers)),
        *(unowned_view(links), unowned_view(scratch)),
    )
    return table


@functools.cache
def set_pattern(*kernels: Any) -> Any:
    """Return the pattern of a set's kernels: its tangent norm and its oracle."""
    return _set_pattern(*kernels)


@functools.cache
def learner_pattern(*kernels: Any) -> Any:
    """Return the pattern of a learner's kernels: before and after the oracle, and its step rule."""
    return _learner_pattern(*kernels)


@functools.cache
def step_pattern(*kernels: Any) -> Any:
    """Return the pattern of a set's kernels: its tangent norm, its oracle or projection, `along`.

    The last is `unused` for a learner that wants no tangents.
    """
    return _step_pattern(*kernels)


@functools.cache
def surrogate_pattern(*kernels: Any) -> Any:
    """Return the pattern of a surrogate's kernels, in the order of `SURROGATE_KERNELS`."""
    return _surrogate_pattern(*kernels)
