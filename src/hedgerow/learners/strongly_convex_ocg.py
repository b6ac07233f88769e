"""Online conditional gradient for strongly convex losses."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import as_positive
from hedgerow.learners.conditional_gradient import ConditionalGradient
from hedgerow.learners.steps import line_search
from hedgerow.sets.decision_set import DecisionSet

NO_RULE = np.zeros(0)


class StronglyConvexOCG(ConditionalGradient):
    """Online conditional gradient on F_t(x) = sum of <grad_tau, x> + (a/2) ||x - x_tau||^2.

    One linear minimisation a round, exact line search, any horizon. For losses that are
    a-strongly convex and G-Lipschitz the regret is O((G + a D)^2 T^{2/3} / a).

    Args:
        decision_set: where to play.
        modulus: a, the losses' modulus of strong convexity, in units of loss per squared length.
        start: x_1; the set's own start if left out.

    Reference: Wan and Zhang, Projection-free online learning over strongly convex sets, AAAI
    2021, Algorithm 2; the learner inside SCOFW-TVC of Wang, Wan and Zhang (AAAI 2025).

    """

    def __init__(self, decision_set: DecisionSet, modulus: float, start: ArrayLike | None = None):
        self.modulus = as_positive(modulus, "modulus")
        super().__init__(decision_set, start, {"B": decision_set.dim})

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and move to x_{t+1}."""
        s = self._checked(loss)
        state = self._state
        t = state["t"][0] = state["t"][0] + 1.0
        state["S"][:] += s
        state["B"][:] += state["x"]
        beta = 0.5 * self.modulus * t  # F_t = <S, x> + beta ||x - B/t||^2 + a constant
        self._step(beta, state["B"] / t, lambda *gap: line_search(NO_RULE, t, beta, *gap))
