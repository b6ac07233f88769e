"""Several constraints, each with a queue of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hedgerow.feedback import EvalGrad, first_order_each
from hedgerow.inputs import Vector
from hedgerow.snapshot import Restorable, Stateful
from hedgerow.surrogates.queued import FirstOrder, checked


class PerConstraintSurrogate(Stateful):
    """One surrogate per constraint, f_t + the sum over i of w_i(Q_i) times its part of g_{t,i}.

    Each constraint is weighed by its own history and reported by itself, where `Maximum` would
    see only the largest. Kinds may be mixed: current for some, signed for others.

    Args:
        surrogates: one for each constraint, in the order in which they are told.

    """

    feedback = staticmethod(first_order_each)

    def __init__(self, surrogates: Sequence[FirstOrder]):
        if not surrogates:
            raise ValueError("give one surrogate for each constraint, got none")
        self.surrogates = tuple(surrogates)

    @property
    def queues(self) -> Vector:
        """The queue of each constraint."""
        return np.array([surrogate.queue for surrogate in self.surrogates])

    @property
    def price(self) -> float:
        """The sum of the last prices."""
        return sum(surrogate.price for surrogate in self.surrogates)

    @property
    def largest_weight(self) -> float:
        """The largest weight of any constraint so far."""
        return max(surrogate.largest_weight for surrogate in self.surrogates)

    @property
    def oracle_calls(self) -> int:
        """The sum of the surrogates'."""
        return sum(surrogate.oracle_calls for surrogate in self.surrogates)

    def tell(self, cost: EvalGrad, constraints: Sequence[EvalGrad]) -> EvalGrad:
        """Return the loss of this round; `constraints` has one entry for each surrogate."""
        if isinstance(constraints, EvalGrad) or len(constraints) != len(self.surrogates):
            given = 1 if isinstance(constraints, EvalGrad) else len(constraints)
            raise ValueError(
                f"there are {len(self.surrogates)} queues, got feedback of {given} constraints; "
                "pass one entry for each, as first_order_each does for a Maximum"
            )
        cost = checked(cost, "cost")
        seen = [checked(g, f"constraint {i}", cost.grad.size) for i, g in enumerate(constraints)]
        grad = cost.grad.copy()
        for surrogate, constraint in zip(self.surrogates, seen, strict=True):
            grad += surrogate.charge(cost, constraint) * constraint.grad
        return EvalGrad(cost.value + self.price, grad)

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {str(i): surrogate for i, surrogate in enumerate(self.surrogates)}
