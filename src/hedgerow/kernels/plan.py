"""A policy as compiled code sees it: kernels and arrays of all its parts, bound together once.

To hand a kernel to a kernel takes numba about 30 microseconds; a plan is handed on at once. The
plans of policies that differ in their arrays alone are made of one pattern.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.experimental import structref

from hedgerow.kernels.advances import advances, rules, spaces
from hedgerow.kernels.borrowing import borrowed
from hedgerow.kernels.charges import charges, heeds
from hedgerow.kernels.jit import kernel, read, write
from hedgerow.kernels.oracles import answers
from hedgerow.kernels.tangents import measures
from hedgerow.kernels.weights import weighs

Array = Any


@structref.register
class PlanType(types.StructRef):
    """The type of a plan."""


class Plan(structref.StructRefProxy):
    """A plan in Python's hands, which only passes it on."""


structref.define_boxing(PlanType, Plan)

ARRAYS = {
    "state": write,  # of the learner, as kernels/advances.py has it
    "work": write,
    "ledger": write,
    "queue": write,  # of the surrogate, as kernels/charges.py has it
    "ranges": write,
    "units": read,
    "potential": read,
    "space": spaces,  # of the set, as kernels/advances.py has it
}
KERNELS = {
    "measure": measures,
    "heed": heeds,
    "charge": charges,
    "weigh": weighs,
    "advance": advances,
    "oracle": answers,
    "regularise": rules[0],
    "relax": rules[1],
    "settle": rules[2],
}
plan_type = PlanType([*ARRAYS.items(), *KERNELS.items()])


@kernel(plan_type, *KERNELS.values())
def pattern(
    measure: Any,
    heed: Any,
    charge: Any,
    weigh: Any,
    advance: Any,
    oracle: Any,
    regularise: Any,
    relax: Any,
    settle: Any,
) -> Any:
    """Return a plan of these kernels that has no arrays yet."""
    plan: Any = structref.new(plan_type)  # type: ignore[call-arg]
    plan.measure, plan.heed, plan.charge, plan.weigh = measure, heed, charge, weigh
    plan.advance, plan.oracle = advance, oracle
    plan.regularise, plan.relax, plan.settle = regularise, relax, settle
    return plan


@kernel(plan_type, plan_type, *ARRAYS.values())
def bind(
    pattern: Any,
    state: Array,
    work: Array,
    ledger: Array,
    queue: Array,
    ranges: Array,
    units: Array,
    potential: Array,
    space: Any,
) -> Any:
    """Return the plan of the pattern's kernels and these arrays, which must outlive it."""
    plan: Any = structref.new(plan_type)  # type: ignore[call-arg]
    plan.state, plan.work, plan.ledger = borrowed(state), borrowed(work), borrowed(ledger)
    plan.queue, plan.ranges = borrowed(queue), borrowed(ranges)
    plan.units, plan.potential = borrowed(units), borrowed(potential)
    index, numbers, links, scratch, label, members = space
    plan.space = (
        *(borrowed(index), borrowed(numbers), borrowed(links), borrowed(scratch)),
        *(borrowed(label), borrowed(members)),
    )
    plan.measure, plan.heed, plan.charge = pattern.measure, pattern.heed, pattern.charge
    plan.weigh, plan.advance, plan.oracle = pattern.weigh, pattern.advance, pattern.oracle
    plan.regularise, plan.relax = pattern.regularise, pattern.relax
    plan.settle = pattern.settle
    return plan
