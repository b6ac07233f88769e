"""A policy as compiled code sees it: kernels and arrays of all its parts, bound together once.

To hand a kernel to a kernel takes numba about 30 microseconds; a plan is handed on at once.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.experimental import structref

from hedgerow.kernels.advances import advances, rules, spaces
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

FIELDS = {
    "state": write,  # of the learner, as kernels/advances.py has it
    "work": write,
    "ledger": write,
    "queue": write,  # of the surrogate, as kernels/charges.py has it
    "ranges": write,
    "units": read,
    "potential": read,
    "space": spaces,  # of the set, as kernels/advances.py has it
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
plan_type = PlanType(list(FIELDS.items()))


@kernel(plan_type, *FIELDS.values())
def bind(
    state: Array,
    work: Array,
    ledger: Array,
    queue: Array,
    ranges: Array,
    units: Array,
    potential: Array,
    space: Any,
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
    """Return the plan of these parts."""
    plan: Any = structref.new(plan_type)  # type: ignore[call-arg]
    plan.state, plan.work, plan.ledger = state, work, ledger
    plan.queue, plan.ranges, plan.units, plan.potential = queue, ranges, units, potential
    plan.space = space
    plan.measure, plan.heed, plan.charge, plan.weigh = measure, heed, charge, weigh
    plan.advance, plan.oracle = advance, oracle
    plan.regularise, plan.relax, plan.settle = regularise, relax, settle
    return plan
