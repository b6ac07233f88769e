"""Several constraints, each with a queue of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from hedgerow.feedback import Constraints, EvalGrad, each_seen, first_order_each
from hedgerow.inputs import Vector, as_count
from hedgerow.kernels.vectors import dots_and_norms
from hedgerow.protocols.rounds import CompiledRounds, compiled_step
from hedgerow.sets.compiled import not_overridden
from hedgerow.snapshot import Restorable, Stateful
from hedgerow.surrogates.make_loss import each_table, make_each_loss
from hedgerow.surrogates.queued import GradientSurrogate, checked, checked_each, refuse_loss
from hedgerow.surrogates.rounds import EachLossRounds


class PerConstraintSurrogate(Stateful):
    """One surrogate per constraint, f_t + the sum over i of w_i(Q_i) times its part of g_{t,i}.

    Each constraint is weighed by its own history and reported by itself, where `Maximum` would
    see only the largest. Kinds may be mixed: current for some, signed for others.

    Args:
        surrogates: one for each constraint, in the order of the feedback.

    """

    feedback = staticmethod(first_order_each)

    def __init__(self, surrogates: Sequence[GradientSurrogate]):
        if not surrogates:
            raise ValueError("give one surrogate for each constraint, got none")
        self.surrogates = tuple(surrogates)

    def table(self, parts: list[Any], gradients: Any, values: Vector) -> Any:
        """Return the table of a round: those of the surrogates, and memory."""
        return each_table.filled(
            surrogates=parts, weights=np.empty(len(parts)), gradients=gradients, values=values
        )

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

    def check_count(self, given: int) -> None:
        """Check that a round has as many constraints as there are surrogates."""
        if given != (queues := len(self.surrogates)):
            raise ValueError(
                f"this policy has one queue for each of {queues} constraints, got feedback of "
                f"{given}; tell a sequence of {queues}, as first_order_each does for a Maximum"
            )

    def tell(
        self, cost: EvalGrad, constraints: Constraints, *, at: Vector | None = None
    ) -> EvalGrad:
        """Return the loss of this round.

        Args:
            cost: what was seen of the cost.
            constraints: one entry for each surrogate.
            at: the earlier play that late feedback is about.

        """
        self.check_count(len(each_seen(constraints)))
        cost = checked(cost, "cost")
        seen = checked_each(constraints, cost.grad.size)
        s = np.empty(cost.grad.size)
        at = self.surrogates[0].present(cost.grad.size) if at is None else at
        for python in (False, True):
            table = self.table(
                [part.python_table if python else part.table for part in self.surrogates],
                np.array([g.grad for g in seen]),
                np.array([g.value for g in seen]),
            )
            products = dots_and_norms(cost.grad, seen[0].grad, at)
            made = make_each_loss(table, s, cost.grad, seen[0].grad, seen[0].value, at, products)
            if made[0] == made[0]:
                break
        else:
            refuse_loss(s)
        return EvalGrad(cost.value + self.price, s)

    def compiled_rounds(self, learner: Any, ledger: Vector) -> CompiledRounds | None:
        """Return the rounds of a policy with this learner, for the compiled loops."""
        step = compiled_step(learner)
        written = not_overridden(self, PerConstraintSurrogate, "tell") and all(
            not_overridden(part, GradientSurrogate, "tell") for part in self.surrogates
        )
        tables = [surrogate.table for surrogate in self.surrogates]
        if step is None or not written or any(table.in_python for table in tables):
            return None
        return EachLossRounds(learner, step, partial(self.table, tables), len(tables), ledger)

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {str(i): part for i, part in enumerate(self.surrogates)}


def one_or_each(
    make: Callable[[], GradientSurrogate], constraints: int | None
) -> GradientSurrogate | PerConstraintSurrogate:
    """Return one surrogate, for the maximum of a round's constraints, or one for each of them.

    Args:
        make: returns a fresh surrogate.
        constraints: how many there are in each round; left out, one surrogate serves all.

    """
    if constraints is None:
        return make()
    return PerConstraintSurrogate([make() for _ in range(as_count(constraints, "constraints"))])
