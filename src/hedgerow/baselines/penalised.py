"""What policies share whose step has the whole constraint in it, with a weight."""

from __future__ import annotations

from typing import Generic, TypeVar

from hedgerow.baselines.penalised_step import penalty_step
from hedgerow.baselines.projecting import Projecting
from hedgerow.feedback import Full, full
from hedgerow.functions import Function
from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet

Rates = TypeVar("Rates")


class Penalised(Projecting, Generic[Rates]):
    """x_{t+1} = argmin over X of <grad f_t, x> + w_t g_t^+(x) + alpha_t ||x - x_t||^2.

    Args:
        decision_set: where to play; it must know its projection.
        rates: the schedule from which a policy makes w_t and alpha_t.
        eagerness: the factor on w_t.

    """

    feedback = staticmethod(full)

    def __init__(self, decision_set: DecisionSet, rates: Rates, eagerness: float = 1.0):
        super().__init__(decision_set, queue=1, weight=1, gap=1)
        self.rates, self.eagerness = rates, eagerness

    @property
    def queue(self) -> float:
        """The queue of violations."""
        return float(self._state["queue"][0])

    @property
    def weight(self) -> float:
        """The last weight w_t on the constraint, eagerness included."""
        return float(self._state["weight"][0])

    @property
    def largest_gap(self) -> float:
        """By how much, at most, a step missed the least value of its objective."""
        return float(self._state["gap"][0])

    def _step(self, slope: Vector, w: float, constraint: Full, alpha: float) -> float:
        """Move to x_{t+1} and return g_t^+ there."""
        state, g = self._state, constraint.function
        state["weight"][0] = self.eagerness * w
        project, tangent = self._workspace.project, self.decision_set.tangent
        step = penalty_step(project, tangent, slope, self.weight, g, alpha, state["x"].copy())
        state["projections"][0] += step.projections
        state["gap"][0] = max(state["gap"][0], step.gap)
        state["x"][:] = step.x
        return max(0.0, g(step.x))

    def _whole(self, cost: Full, constraint: Full) -> tuple[Full, Full]:
        """Return both feedbacks, checked; the function must be defined on the set."""
        f, g = self._seen(Full, cost, constraint)
        if not isinstance(g.function, Function):
            raise TypeError(
                f"this policy needs the constraint as a function, got {g.function!r}; "
                "look with full(g, x)"
            )
        return f, g
