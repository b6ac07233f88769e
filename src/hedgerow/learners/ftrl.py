"""Algorithm 5: follow the regularised leader, exactly, by one projection per round."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_gradient, as_number
from hedgerow.kernels.policy_tables import UNDECLARED
from hedgerow.learners.arguments import warn_beyond
from hedgerow.learners.projected_point import ProjectedPoint
from hedgerow.learners.steps import StepRule
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
        s = as_gradient(loss.grad, "the gradient of the loss", self.decision_set)
        self._state["t"][0] += 1.0
        return s, float(self._state["t"][0])

    def _land(self) -> None:
        """Move to the point of the set that is nearest to the aim."""
        self._state["x"][:] = self._project(self._aim)


class FTRL(Projected):
    """Follow the regularised leader: x_{t+1} minimises F_t exactly, where OCG takes one step.

    F_t(x) = <S_t, x> + ||x - x_1||^2 / eta_t with S_t the sum of the gradients up to t, so that
    x_{t+1} = P_X(x_1 - eta_t S_t / 2). For eta_t that never rises
    Regret_T <= D^2/eta_T + (1/4) sum of eta_{t-1} ||grad_t||^2 (Corollary 7.9). With
    `CertificateSteps`, Regret_T <= (1 + c) beta_{T+1} D^2 after the fact.

    Args:
        decision_set: where to play; it must be able to project. One projection per round.
        steps: `PaperSteps(horizon)`, `RmsSteps(kappa)` or `CertificateSteps(c)`; their eta_t is
            used, their line search is not needed.
        start: x_1; the set's own start if left out.

    Reference: Algorithm 5 of "Projection-free Algorithms for Online Convex Optimization with
    Adversarial Constraints" (AISTATS 2026); Orabona, "A Modern Introduction to Online Learning"
    (2019), Corollary 7.9.

    >>> import numpy as np
    >>> from hedgerow.learners.steps import RmsSteps
    >>> from hedgerow.sets.balls.boxes import Box
    >>> learner = FTRL(Box([-1.0], [1.0]), RmsSteps(kappa=1.0))
    >>> learner.tell(EvalGrad(0.0, np.array([3.0])))
    >>> learner.ask()
    array([-0.5])

    """

    def __init__(self, decision_set: DecisionSet, steps: StepRule, start: ArrayLike | None = None):
        X, self.steps = decision_set, steps
        rule = steps.begin(X.diameter or 1.0)  # a single point: any length will do
        super().__init__(X, rule, start, x1=X.dim, S=X.dim, inner=1)
        self._state["x1"][:] = self._state["x"]
        self._regularise, _, self._settle = steps.kernels()

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and move to x_{t+1}."""
        s, t = self._receive(loss)  # grad_t, line 5
        X, state = self.decision_set, self._state
        x, x1, S, rule = state["x"], state["x1"], state["S"], state["rule"]
        state["inner"][0] += kernels.ocg.accumulate(S, X.tangent(s), x)
        beta = self._regularise(rule, t, (*X.tangent_norm2(s), UNDECLARED))  # 1/eta_t
        if beta > 0.0:  # else every gradient was zero along the set
            kernels.projected.lead(self._aim, x1, S, beta)
            self._land()  # x_{t+1} = argmin over X of F_t, line 6
        self._settle(rule, kernels.ocg.margin(S, x, x1, state["inner"][0], beta), 0.0)
        warn_beyond(int(t), self.steps.horizon)
