"""No surrogate at all: the constraint is ignored."""

from __future__ import annotations

import math

import numpy as np

from hedgerow.engine.signatures import CHARGE, NEEDS_GRADIENT, TAKE
from hedgerow.feedback import Constraints, EvalGrad
from hedgerow.inputs import Vector
from hedgerow.kernels.jit import kernel
from hedgerow.snapshot import Stateful
from hedgerow.surrogates.queued import checked, checked_each
from hedgerow.surrogates.ranges import UNSEEN, Sizes

Array = Vector


@kernel(*NEEDS_GRADIENT)
def needs_gradient(queue: Array, units: Array, value: float) -> float:
    """The constraint is ignored."""
    return UNSEEN


@kernel(*TAKE)
def take(queue: Array, ranges: Array, units: Array, value: float, sizes: Sizes) -> float:
    """There is nothing to weigh."""
    return math.nan


@kernel(*CHARGE)
def charge_queue(queue: Array, ranges: Array, units: Array, value: float, weight: float) -> None:
    """The loss is the cost."""


class CostOnlySurrogate(Stateful):
    """The loss is the cost: plain online convex optimisation, the floor of every comparison."""

    price = 0.0
    largest_weight = 0.0
    oracle_calls = 0
    needs_gradient, take, charge_queue = needs_gradient, take, charge_queue

    def arrays(self) -> tuple[Vector, Vector, Vector]:
        """Return a queue, ranges and units that stay as they are, for the compiled loop."""
        return np.zeros(5), np.zeros(4), np.zeros(4)

    def tell(self, cost: EvalGrad, constraint: Constraints) -> EvalGrad:
        """Return the cost; the constraint is looked at only to refuse what is no feedback."""
        cost = checked(cost, "cost")
        checked_each(constraint, cost.grad.size)
        return cost
