"""What all surrogates share: a queue of violations, and a loss made of weighted parts."""

from __future__ import annotations

from abc import ABC, abstractmethod

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import as_gradient, as_number
from hedgerow.potentials import Potential
from hedgerow.snapshot import Snapshot, State
from hedgerow.surrogates.ranges import GivenRanges, Ranges

LARGEST_PART = 1e100
"""A limit that leaves room for the weight."""


class Queued(ABC):  # noqa: B024 - what it lacks, `tell`, differs in its feedback
    """A queue of violations, in its ranges' units, and the potential that weighs it.

    Args:
        potential: its weight on the constraint, as a function of the queue.
        queue: where the queue starts, Q(0), in units of `ranges.violation`.
        ranges: the units of queue and weight; `GivenRanges()` if left out.

    """

    def __init__(self, potential: Potential, queue: float = 0.0, ranges: Ranges | None = None):
        self.potential = potential
        self.initial = as_number(queue, "queue")
        if self.initial < 0.0:
            raise ValueError(f"queue must be at least 0, got {self.initial:g}")
        self.ranges = GivenRanges() if ranges is None else ranges
        self._state = State(t=1, violation=1, weight=1, price=1, largest=1)

    @property
    def queue(self) -> float:
        """Q(t) = Q(0) + the violation so far, in units of `ranges.violation`."""
        return self.initial + float(self._state["violation"][0]) / self.ranges.violation

    @property
    def weight(self) -> float:
        """The last weight on the constraint, in units of cost per violation."""
        return float(self._state["weight"][0])

    @property
    def largest_weight(self) -> float:
        """The largest weight so far."""
        return float(self._state["largest"][0])

    def _weigh(self, weight: float, value: float) -> None:
        """Remember this round's weight on the constraint and what it adds to the loss."""
        state = self._state
        state["weight"][0], state["price"][0] = weight, weight * value
        state["largest"][0] = max(state["largest"][0], weight)

    @property
    def price(self) -> float:
        """What the constraint added to the last loss."""
        return float(self._state["price"][0])

    @property
    def oracle_calls(self) -> int:
        """Those of the ranges."""
        return self.ranges.oracle_calls

    @property
    def _configuration(self) -> tuple[object, ...]:
        return (self.potential, self.initial)

    def state(self) -> Snapshot:
        """Return a snapshot."""
        return self._state.snapshot(self, self._configuration, parts={"ranges": self.ranges})

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        self._state.restore(self, snapshot, self._configuration, {"ranges": self.ranges})


class FirstOrder(Queued):
    """A queued surrogate for first-order feedback: loss = f + weight x (a part of g)."""

    @abstractmethod
    def charge(self, cost: EvalGrad, constraint: EvalGrad) -> float:
        """Take in a round and return the weight on the constraint's gradient."""

    def tell(self, cost: EvalGrad, constraint: EvalGrad) -> EvalGrad:
        """Return the loss of this round."""
        cost = checked(cost, "cost")
        constraint = checked(constraint, "constraint", cost.grad.size)
        weight = self.charge(cost, constraint)
        grad = cost.grad if weight == 0.0 else cost.grad + weight * constraint.grad
        return EvalGrad(cost.value + self.price, grad)


def checked(seen: EvalGrad, name: str, dim: int | None = None) -> EvalGrad:
    """Return first-order feedback with a finite value and a finite gradient, or refuse it."""
    return EvalGrad(
        as_number(seen.value, f"the value of the {name}"),
        as_gradient(seen.grad, f"the gradient of the {name}", dim, LARGEST_PART),
        seen.lipschitz,
    )
