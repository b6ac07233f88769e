"""Algorithm 1: adaptive online conditional gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_gradient, as_number, as_vector
from hedgerow.learners.horizon import warn_beyond
from hedgerow.learners.steps import StepRule
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Snapshot, State


class AdaptiveOCG:
    """Adaptive online conditional gradient: one linear minimisation a round, no projection.

    x_{t+1} = (1 - sigma_t) x_t + sigma_t v_t, v_t = argmin over X of <grad F_t(x_t), x>,
    F_t(x) = sum of <grad_tau, x> up to t + ||x - x_1||^2 / eta_t. With `PaperSteps` and convex
    losses of nondecreasing Lipschitz constants L_t, Theorem 2.1 gives
    Regret_T = O(D L_T T^{3/4} sqrt(log(T L_T / L_1))).

    Args:
        decision_set: where to play.
        steps: `PaperSteps(horizon)`, `RmsSteps(kappa)` or `CertificateSteps(c)`.
        start: x_1; the set's own start if left out.

    Reference: Algorithm 1 of "Projection-free Algorithms for Online Convex Optimization with
    Adversarial Constraints" (AISTATS 2026).

    >>> from hedgerow.learners.steps import CertificateSteps
    >>> from hedgerow.sets.simplices import Simplex
    >>> learner = AdaptiveOCG(Simplex(2), CertificateSteps())
    >>> learner.tell(EvalGrad(1.0, np.array([2.0, 0.0])))
    >>> learner.ask()
    array([0., 1.])

    """

    oblivious_only = False

    def __init__(self, decision_set: DecisionSet, steps: StepRule, start: ArrayLike | None = None):
        X = self.decision_set = decision_set
        self.steps = steps
        x1 = X.start() if start is None else as_vector(start, "start", X.dim)
        if not X.contains(x1):
            raise ValueError(
                "start must lie in the decision set; leave it out to use the set's own start"
            )
        rule = steps.begin(X.diameter or 1.0)  # a single point: any length will do
        self._state = State(x=X.dim, x1=X.dim, S=X.dim, rule=rule.size, t=1, inner=1)
        self._state["x"][:] = self._state["x1"][:] = x1
        self._state["rule"][:] = rule
        self._configuration = (X, steps, self._state["x1"].copy())
        self._direction = np.empty(X.dim)
        self._workspace = X.workspace()
        self._kernels = steps.kernels()
        self._last_step = (x1.copy(), 0.0)

    @property
    def oracle_calls(self) -> int:
        """One a round."""
        return int(self._state["t"][0])

    @property
    def last_step(self) -> tuple[Vector, float]:
        """(v_t, sigma_t) of the last `tell`; (x_1, 0) before the first, or after `restore`."""
        return self._last_step

    def ask(self) -> Vector:
        """Return x_t."""
        return self._state["x"].copy()

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and move to x_{t+1}."""
        as_number(loss.value, "the value of the loss")
        s = as_gradient(loss.grad, "the gradient of the loss", self.decision_set.dim)  # line 5
        state, d = self._state, self._direction
        x, x1, S, rule = state["x"], state["x1"], state["S"], state["rule"]
        regularise, relax, settle = self._kernels
        t = state["t"][0] = state["t"][0] + 1.0
        state["inner"][0] += kernels.ocg.accumulate(S, s, x)
        beta = regularise(rule, t, self.steps.norm2(self.decision_set, s))  # 1/eta_t, line 2
        kernels.ocg.gradient(d, S, x, x1, beta)  # grad F_t(x_t), eq. (2)
        v = self._workspace.lmo(d)  # v_t, eq. (3)
        sigma = relax(rule, t, beta, *kernels.ocg.gap(d, x, v))  # sigma_t, line 2
        kernels.ocg.move(x, v, sigma)  # x_{t+1}, line 8
        self._last_step = (v, sigma)
        settle(rule, S, x, x1, state["inner"][0], beta)
        warn_beyond(int(t), self.steps.horizon)

    def state(self) -> Snapshot:
        """Return a snapshot of x, x_1, the gradients' sum and the rule's numbers."""
        self._workspace.clear()
        return self._state.snapshot(self, self._configuration)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        self._state.restore(self, snapshot, self._configuration)
        self._last_step = (self._state["x1"].copy(), 0.0)
        self._workspace.clear()
