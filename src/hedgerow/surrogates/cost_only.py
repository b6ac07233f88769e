"""No surrogate at all: the constraint is ignored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.protocols.compiled import Charge
from hedgerow.snapshot import Stateful
from hedgerow.surrogates.queued import checked


class CostOnlySurrogate(Stateful):
    """The loss is the cost: plain online convex optimisation, the floor of every comparison."""

    price = 0.0
    largest_weight = 0.0
    oracle_calls = 0

    def tell(self, cost: EvalGrad, constraint: EvalGrad | Sequence[EvalGrad]) -> EvalGrad:
        """Return the cost; the constraint is looked at only to refuse what is no feedback."""
        cost = checked(cost, "cost")
        for part in (constraint,) if isinstance(constraint, EvalGrad) else constraint:
            checked(part, "constraint", cost.grad.size)
        return cost

    def compiled(self) -> Charge:
        """Return kernels that ignore the constraint; their arrays stay as they are."""
        k, zeros = kernels.charges, np.zeros(5)
        return Charge(
            k.cost_only_heeds, k.cost_only, kernels.weights.power, zeros, zeros, zeros, zeros, None
        )
