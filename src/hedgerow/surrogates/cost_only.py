"""No surrogate at all: the constraint is ignored."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import NEEDS_GRADIENT, OBSERVE, RECORD
from hedgerow.feedback import Constraints, EvalGrad
from hedgerow.inputs import Vector
from hedgerow.kernels.policy_tables import UNDECLARED, surrogate_table
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.snapshot import Stateful
from hedgerow.surrogates.potentials import power_slope
from hedgerow.surrogates.queued import checked, checked_each
from hedgerow.surrogates.ranges import UNSEEN, Sizes, leave_to_python, no_set
from hedgerow.surrogates.rounds import loss_rounds

Array = Vector


@kernel(*NEEDS_GRADIENT)
def needs_gradient(queue: Array, units: Array, value: float) -> float:
    """Ignore the constraint."""
    return UNSEEN


@kernel(*OBSERVE)
def observe(queue: Array, ranges: Array, units: Array, value: float, sizes: Sizes) -> float:
    """Return NaN: nothing is to be weighed."""
    return math.nan


@kernel(*RECORD)
def record(queue: Array, ranges: Array, units: Array, value: float, weight: float) -> None:
    """Do nothing: the loss is the cost."""


class CostOnlySurrogate(Stateful):
    """The loss is the cost: plain online convex optimisation, a reference for comparisons."""

    price = 0.0
    largest_weight = 0.0
    oracle_calls = 0
    needs_gradient, observe, record = needs_gradient, observe, record

    @cached_property
    def table(self) -> Any:
        """The kernels, for compiled code; their arrays stay as they are."""
        numbers = np.zeros(10)
        return surrogate_table.filled(
            queue=numbers,
            ranges=numbers,
            units=numbers,
            potential=numbers,
            saved=np.empty(20),
            lipschitz=np.full(2, UNDECLARED),
            set=no_set(),
            needs_gradient=needs_gradient,
            observe=observe,
            slope=power_slope,  # never asked for
            record=record,
            reach=leave_to_python,  # nor this
        )

    def compiled_rounds(self, learner: Any, ledger: Vector) -> CompiledRounds | None:
        """Return the rounds of a policy with this learner, for the compiled loops."""
        return loss_rounds(self, CostOnlySurrogate, learner, ledger)

    def tell(self, cost: EvalGrad, constraint: Constraints) -> EvalGrad:
        """Return the cost; the constraint is only validated."""
        cost = checked(cost, "cost")
        checked_each(constraint, cost.grad.size)
        return cost
