"""Algorithm 1: adaptive online conditional gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_gradient, as_number, as_vector
from hedgerow.learners.horizon import warn_beyond
from hedgerow.learners.steps import StepRule
from hedgerow.player import StatefulPlayer
from hedgerow.protocols.compiled import Advance, rounds_left
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable, State


class AdaptiveOCG(StatefulPlayer):
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
        self._state = State(x=X.dim, x1=X.dim, S=X.dim, rule=rule.size, t=1, inner=1, skipped=1)
        self._state["x"][:] = self._state["x1"][:] = x1
        self._state["rule"][:] = rule
        self._work = np.zeros(3 * X.dim + 2)  # as kernels/advances.py has it
        self._direction, self._v = self._work[: X.dim], self._work[X.dim : 2 * X.dim]
        self._workspace = X.workspace()
        self._kernels = steps.kernels()
        self._v[:] = x1
        self._x, self._x1, self._S, self._rule, self._t, self._inner = (
            self._state[name] for name in ("x", "x1", "S", "rule", "t", "inner")
        )

    @property
    def losses(self) -> Vector:
        """The sum of the gradients told so far, as a fresh array."""
        return self._S.copy()

    @property
    def oracle_calls(self) -> int:
        """One a round, none for `tell_without_oracle`."""
        return int(self._state["t"][0] - self._state["skipped"][0])

    @property
    def last_step(self) -> tuple[Vector, float]:
        """(v_t, sigma_t) of the last `tell`; (x_1, 0) before the first, or after `restore`."""
        return self._v.copy(), float(self._work[2 * self.decision_set.dim])

    def ask(self) -> Vector:
        """Return x_t."""
        return self._x.copy()

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and move to x_{t+1}."""
        t, beta, value = self._take(loss)  # grad F_t(x_t), eq. (2)
        x, rule, d = self._x, self._rule, self._direction
        v = self._workspace.lmo(d)  # v_t, eq. (3)
        self._v[:] = v
        gap, distance2 = kernels.ocg.gap(d, x, v)
        sigma = self._kernels.relax(rule, t, beta, gap, distance2)  # sigma_t, line 2
        kernels.ocg.move(x, v, sigma)  # x_{t+1}, line 8
        margin = kernels.ocg.margin_after(self._inner[0], value, beta, sigma, gap, distance2)
        self._settle(sigma, margin)

    def tell_without_oracle(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and stay there: sigma_t = 0, and no oracle call."""
        _, _, value = self._take(loss)
        self._state["skipped"][0] += 1.0
        self._v[:] = self._x
        self._settle(0.0, float(self._inner[0]) - value)

    def _take(self, loss: EvalGrad) -> tuple[float, float, float]:
        """Add the gradient at x_t to the sum; return t, 1/eta_t and F_t(x_t)."""
        as_number(loss.value, "the value of the loss")
        s = as_gradient(loss.grad, "the gradient of the loss", self.decision_set.dim)  # line 5
        x, S, x1, clock, inner = self._x, self._S, self._x1, self._t, self._inner
        clock[0] = t = float(clock[0]) + 1.0
        inner[0] += kernels.vectors.dot(s, x)
        beta = self._kernels.regularise(self._rule, t, self.steps.norm2(self.decision_set, s))
        value, far2 = kernels.ocg.lean(self._direction, S, s, x, x1, beta)
        return t, beta, value + beta * far2

    def _settle(self, sigma: float, margin: float) -> None:
        """Learn from x_{t+1} = x_t + sigma_t (v_t - x_t)."""
        self._work[2 * self.decision_set.dim] = sigma
        self._kernels.settle(self._rule, margin)
        warn_beyond(int(self._t[0]), self.steps.horizon)

    def compiled(self) -> Advance | None:
        """Return the kernels and arrays of `tell`, if the set has kernels too."""
        plain, space = getattr(self.steps, "plain_norms", None), self._workspace.space
        if space is None or plain is None:
            return None
        self._work[2 * self.decision_set.dim + 1] = plain
        return Advance(
            kernels.advances.conditional_gradient,
            self._kernels,
            self._state.array,
            self._work,
            space,
            silent=None if self.steps.horizon is None else self._silent,
        )

    def _silent(self) -> int:
        """How many rounds are left until there is something to say."""
        return rounds_left(self.steps.horizon, int(self._t[0]))

    @property
    def _parts(self) -> dict[str, Restorable]:
        return {"workspace": self._workspace}

    def _restored(self) -> None:
        super()._restored()
        self._v[:], self._work[2 * self.decision_set.dim] = self._x1, 0.0
