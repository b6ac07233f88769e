"""Algorithm 1: adaptive online conditional gradient."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import AFTER_ORACLE, BEFORE_ORACLE
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector
from hedgerow.kernels.ocg import (
    accumulate_and_gradient,
    gap_and_distance_to,
    margin_and_left,
    move_to,
)
from hedgerow.learners.arguments import first_play, warn_beyond
from hedgerow.learners.growth import Growth, growths_of_one_step
from hedgerow.learners.kernel_learner import KernelLearner
from hedgerow.learners.steps import StepRule, as_steps
from hedgerow.sets.decision_set import DecisionSet

Array = Vector
Loss = tuple[float, float, float]
ROUND, INNER, SKIPPED, RULE = range(4)
"""The numbers of the state [x | x_1 | S | t, sum of <s, x>, skipped | rule], after the vectors."""
BETA, VALUE, SIGMA, SLOPE, SIZE, NORM2, LISTED = range(7)
"""The numbers that the first kernel passes to the second: 1/eta_t, F_t(x_t), sigma_t; <d, x>, the
sum of the absolute values of its terms, and ||x||^2; how many ones the oracle has listed."""


@kernel(*BEFORE_ORACLE)
def before_oracle(
    state: Array, work: Array, s: Array, inner: float, loss: Loss, steps: Any
) -> bool:
    """Lines 5 and 6: take in grad_t = s, and write grad F_t(x_t)."""
    n = len(s)
    x, x1, S = state[:n], state[n : 2 * n], state[2 * n : 3 * n]
    own, passed = state[3 * n :], work[3 * n :]
    t = own[ROUND] = own[ROUND] + 1.0
    own[INNER] += inner
    beta = passed[BETA] = steps.regularise(own[RULE:], t, loss)  # 1/eta_t, line 2
    value, far2, passed[SLOPE], passed[SIZE], passed[NORM2] = accumulate_and_gradient(
        work[:n], S, s, x, x1, beta
    )  # eq. (2)
    passed[VALUE] = value + beta * far2  # F_t(x_t)
    return True


@kernel(*AFTER_ORACLE)
def after_oracle(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """Line 8: x_{t+1} = (1 - sigma_t) x_t + sigma_t v_t."""
    x, own, d, v, passed = state[:n], state[3 * n :], work[:n], work[n : 2 * n], work[3 * n :]
    beta, passed[LISTED] = passed[BETA], len(ones)
    at_x = (passed[SLOPE], passed[SIZE], passed[NORM2])
    gap, distance2 = gap_and_distance_to(d, x, v, ones, at_x)
    sigma = passed[SIGMA] = steps.step_size(own[RULE:], own[ROUND], beta, gap, distance2)  # line 2
    move_to(x, v, ones, sigma)
    margin, left = margin_and_left(own[INNER], passed[VALUE], beta, sigma, gap, distance2)
    steps.after_step(own[RULE:], margin, left)


@kernel(*AFTER_ORACLE)
def without_oracle(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """Stay: sigma_t = 0, whatever the oracle would have said."""
    own, passed = state[3 * n :], work[3 * n :]
    passed[SIGMA] = passed[LISTED] = 0.0
    own[SKIPPED] += 1.0
    steps.after_step(own[RULE:], own[INNER] - passed[VALUE], math.inf)


class AdaptiveOCG(KernelLearner):
    """Adaptive online conditional gradient: one linear minimisation per round, no projection.

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

    >>> import numpy as np
    >>> from hedgerow.learners.steps import CertificateSteps
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> learner = AdaptiveOCG(Simplex(2), CertificateSteps())
    >>> learner.tell(EvalGrad(1.0, np.array([2.0, 0.0])))
    >>> learner.ask()
    array([0., 1.])

    """

    before_oracle, after_oracle, takes_ones = before_oracle, after_oracle, True

    def __init__(self, decision_set: DecisionSet, steps: StepRule, start: ArrayLike | None = None):
        n, x1 = decision_set.dim, first_play(decision_set, start)
        rule = as_steps(steps).begin(
            decision_set.diameter or 1.0
        )  # a single point: any length will do
        numbers = {"x1": n, "S": n, "t": 1, "inner": 1, "skipped": 1, "rule": rule.size}
        super().__init__(decision_set, numbers, steps.kernels(), x1, steps.horizon)
        self.steps = steps
        self._state["x1"][:] = self._answer[:] = x1
        self._state["rule"][:] = rule

    @property
    def oracle_calls(self) -> int:
        """One per round, none for `tell_without_oracle`."""
        return int(self._state["t"][0] - self._state["skipped"][0])

    @property
    def first_play(self) -> Vector:
        """x_1, the centre of the regulariser."""
        return self._state["x1"].copy()

    @property
    def growths(self) -> tuple[Growth, ...]:
        """What is proved of a step."""
        return growths_of_one_step(self.decision_set)

    @property
    def rule_numbers(self) -> Vector:
        """The step rule's numbers, a view of the state."""
        return self._state["rule"]

    @property
    def last_step(self) -> tuple[Vector, float]:
        """(v_t, sigma_t) of the last `tell`; (x_1, 0) before the first, or after `restore`."""
        v, passed = self._answer.copy(), self._work[3 * self.decision_set.dim :]
        if passed[LISTED] > 0.0 and self._workspace.space is not None:
            links = self._workspace.space.arrays[2]
            v[:], v[links[1 : 1 + int(passed[LISTED])]] = 0.0, 1.0
        return v, float(passed[SIGMA])

    def tell_without_oracle(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and stay there: sigma_t = 0, and no oracle call."""
        self._checked(loss)
        self._answer[:] = self._state["x"]
        self._tell_without_oracle(loss, without_oracle)
        warn_beyond(self.rounds, self.horizon)

    def _restored(self) -> None:
        super()._restored()
        passed = self._work[3 * self.decision_set.dim :]
        self._answer[:], passed[SIGMA], passed[LISTED] = self._state["x1"], 0.0, 0.0
