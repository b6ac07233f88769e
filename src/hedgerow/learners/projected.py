"""What projected learners share: they step anywhere, then go to the nearest point of the set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_gradient, as_number
from hedgerow.learners.projected_point import ProjectedPoint
from hedgerow.protocols.compiled import Advance
from hedgerow.sets.compiled import faithful
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


class ProjectedDescent(Projected):
    """Projected gradient descent, x_{t+1} = P_X(x_t - eta_t grad_t), for some eta_t.

    Args:
        decision_set: where to play; it must be able to project.
        rule: the numbers from which eta_t is made.
        eta: the kernel that makes it, one of `kernels.projected`.
        start: x_1; the set's own start if left out.

    """

    def __init__(
        self,
        decision_set: DecisionSet,
        rule: Vector,
        eta: Callable[..., float],
        start: ArrayLike | None,
    ):
        super().__init__(decision_set, rule, start)
        self._eta = eta

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and move to x_{t+1}."""
        s, t = self._receive(loss)
        X, state = self.decision_set, self._state
        norm2 = X.squares(s)[0]
        eta = self._eta(state["rule"], t, norm2)
        if norm2 > 0.0 and eta > 0.0:  # else x_{t+1} = x_t
            kernels.projected.descend(self._aim, state["x"], X.tangent(s), eta)
            self._land()  # x_{t+1} = P_X(x_t - eta_t grad_t)

    def compiled(self) -> Advance | None:
        """Return the kernels and arrays of `tell`, if the set's projection is a kernel."""
        X, space, steps = self.decision_set, self._workspace.space, kernels.steps
        if space is None or space.compiled.project is None or not faithful(X, "project"):
            return None
        return Advance(
            kernels.descents.projected_descent,
            (self._eta, steps.line_search, steps.nothing_to_settle),  # it takes no other steps
            self._state.array,
            np.zeros(2 * X.dim),
            space,
            projection=space.compiled.project,
        )
