"""What projected learners share: they step anywhere, then go to the nearest point of the set."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_gradient, as_number
from hedgerow.learners.projected_point import ProjectedPoint
from hedgerow.sets.decision_set import DecisionSet


class Projected(ProjectedPoint):
    """A point x_t of a set that can project, and the step rule's numbers.

    Gradients are taken along the set (`X.tangent`): the part across it moves no projection, and
    would only make steps shorter.

    Args:
        decision_set: where to play; it must be able to project.
        rule: the step rule's numbers before the first round.
        start: x_1; the set's own start if left out.
        memory: the sizes of what else the learner remembers.

    """

    def __init__(
        self,
        decision_set: DecisionSet,
        rule: Vector,
        start: ArrayLike | None,
        **memory: int,
    ):
        super().__init__(decision_set, start, rule=rule.size, **memory)
        self._state["rule"][:] = rule
        self._aim = np.empty(decision_set.dim)

    def _receive(self, loss: EvalGrad) -> tuple[Vector, float]:
        """Begin round t: return the gradient and t."""
        as_number(loss.value, "the value of the loss")
        s = as_gradient(loss.grad, "the gradient of the loss", self.decision_set.dim)
        self._state["t"][0] += 1.0
        return s, float(self._state["t"][0])

    def _land(self) -> None:
        """Move to the point of the set that is nearest to the aim."""
        self._state["x"][:] = self._project(self._aim)
