"""Retreat: a decision that the last constraint allows, between the learner's and an earlier one."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_count
from hedgerow.kernels.parts import parts_of_memory
from hedgerow.kernels.retreat import (
    COST_ROOT,
    DIAMETER,
    ENDED,
    GRAD_ROOT,
    MORE_CCV,
    MORE_COST,
    NUMBERS,
    OF_EACH,
    PAID,
    QUEUES,
    choose_decision,
)
from hedgerow.protocols.parts import Learner
from hedgerow.sets.compiled import NO_INDEX
from hedgerow.snapshot import State, Stateful


class Retreat(Stateful):
    """Keeps a policy from going where the last constraint would be violated.

    A learner's step may lead where the constraint that was just seen is violated, by its tangent.
    Then the policy plays y_{t+1} between the learner's x_{t+1} and z: the first point on the way
    that satisfies the tangent, or z itself if none does. z is the last decision that satisfied its
    round. In a round that z violates, too, it is the safest action, if the surrogate has asked the
    oracle for it, as it does where no action satisfies the round; not on a `Product`, where that
    action moves every factor at once. Where z violates the tangent no less than x_{t+1}, the policy
    plays x_{t+1}.

    A constraint may have many parts, a `Maximum`: 24 hours, the links of a network. Each part that
    was seen has a tangent, and y_{t+1} is the first point from x_{t+1} to z at which the largest of
    them is violated least. In a round that z violates by more than y_t does, z is y_t. So load that
    leaves one part does not all go to the next.

    The policy does not hurry back. While this has paid, y_{t+1} is not x_{t+1} but the point an
    eighth of the way from y_t to it, and retreats from there. So noise in one round moves it
    little. Where x_{t+1} violates the tangent less it is played at once. Let a_t be the gradients
    of the costs, s_t those of the learner's losses, and C = sum <a_t, y_t - x_t> what the y_t have
    cost more than the x_t. It has paid while C is below twice the weighted violation that the y_t
    have avoided, 2 sum <s_t - a_t, x_t - y_t>, and at most D/4 (sum ||a_t||^2)^{1/2}.

    The constraints of a policy with a queue for each may have different units. Each has a tangent
    likewise, and its violation is the distance to where the tangent is satisfied. The safest action
    is that of one constraint, of the last one for which the oracle was asked.

    The learner is told what its own decision x_t would have cost and violated, by the tangents at
    y_t. So it learns from violations that did not happen, and every bound for x_t holds as it did.
    What y_t loses to x_t is limited: while it has cost more by D (sum ||grad f_t||^2)^{1/2}, or
    violated a constraint more by D/64 (sum ||grad g_t||^2)^{1/2} over violated rounds, the policy
    plays x_{t+1}. These sums are of order sqrt T (theory.md). No oracle call of its own.

    Args:
        learner: who decides unless the policy retreats; its set and first play are used.
        queues: how many constraints have a queue of their own.

    """

    def __init__(self, learner: Learner[EvalGrad], queues: int = 1):
        x, self.queues = learner.ask(), as_count(queues, "queues")
        of_each = {"of_each": OF_EACH * queues, "c": x.size * queues, "levels": queues}
        self._state = State(y=x.size, z=x.size, last=x.size, numbers=NUMBERS, **of_each)
        self._state["y"][:] = self._state["z"][:] = self._state["last"][:] = x
        self._state["numbers"][DIAMETER] = learner.decision_set.diameter
        self._state["numbers"][QUEUES] = queues
        self.refuge = np.zeros(1 + x.size)  # memory of a round
        self.tangent = self._tangent()

    def _tangent(self) -> Any:
        """Return the table of the last constraint with one part, or of each one."""
        c = self._state["c"].reshape(self.queues, -1)
        return parts_of_memory(c, np.zeros(self.queues), NO_INDEX, self._state["levels"])

    @property
    def array(self) -> Vector:
        """Its numbers, for the kernels."""
        return self._state.array

    @property
    def decision(self) -> Vector:
        """y, a live view of the state."""
        return self._state["y"]

    def decide(self, x: Vector) -> None:
        """Choose the decision again, for another x of the learner."""
        choose_decision(self.array, self.tangent, self.queues, x)

    def end(self, x: Vector) -> None:
        """Leave the decision to the learner from now on, which is at x."""
        self._state["numbers"][ENDED] = 1.0
        self.decide(x)

    @property
    def ended(self) -> bool:
        """Whether the learner decides."""
        return bool(self._state["numbers"][ENDED])

    @property
    def more_cost(self) -> float:
        """What its decisions have cost more than the learner's, by the tangents of costs."""
        return float(self._state["numbers"][MORE_COST])

    @property
    def more_ccv(self) -> Vector:
        """By how much they have violated each constraint more, by the tangents of constraints."""
        return self._state["of_each"][MORE_CCV::OF_EACH].copy()

    @property
    def paid(self) -> float:
        """The violation that they have avoided, at twice its weight, less `more_cost`."""
        return float(self._state["numbers"][PAID])

    @property
    def cost_root(self) -> float:
        """The root of the sum of ||grad f_t||^2."""
        return float(self._state["numbers"][COST_ROOT])

    @property
    def grad_roots(self) -> Vector:
        """The root of the sum of ||grad g_t||^2 over violated rounds, of each constraint."""
        return self._state["of_each"][GRAD_ROOT::OF_EACH].copy()
