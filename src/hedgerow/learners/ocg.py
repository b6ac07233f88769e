"""Hazan's online conditional gradient, for losses whose Lipschitz constant is known."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import as_count, as_positive
from hedgerow.learners.arguments import warn_beyond
from hedgerow.learners.conditional_gradient import ConditionalGradient
from hedgerow.learners.steps import line_search
from hedgerow.sets.decision_set import DecisionSet


class OCG(ConditionalGradient):
    """Online conditional gradient as in Hazan's book: one linear minimisation per round.

    F_t(x) = eta sum of <grad_tau, x> up to t - 1 + ||x - x_1||^2, v_t = argmin over X of
    <grad F_t(x_t), x>, x_{t+1} = (1 - sigma_t) x_t + sigma_t v_t, with eta = D / (2 G T^{3/4})
    and sigma_t = min(1, 2/sqrt t). If ||grad_t|| <= G in every round, Regret_T <= 8 D G T^{3/4},
    which is below the trivial D G T from T = 4097 on. The gradient of round t enters F_{t+1}, so
    x_2 is a vertex that no loss chose; `AdaptiveOCG` sums up to t.

    Args:
        decision_set: where to play.
        horizon: the number of rounds T.
        lipschitz: G, in units of loss per length.
        start: x_1; the set's own start if left out.

    Reference: Hazan, Introduction to Online Convex Optimization, second edition, MIT Press 2022,
    Algorithm 27 and Theorem 7.3.

    >>> import numpy as np
    >>> from hedgerow.sets.boxes import Box
    >>> learner = OCG(Box([-1.0], [1.0]), horizon=100, lipschitz=1.0)
    >>> for _ in range(50):
    ...     learner.tell(EvalGrad(0.0, np.array([1.0])))
    >>> bool(learner.ask()[0] < -0.5)
    True

    """

    def __init__(
        self,
        decision_set: DecisionSet,
        horizon: int,
        lipschitz: float,
        start: ArrayLike | None = None,
    ):
        self.horizon = as_count(horizon, "horizon")
        self.lipschitz = as_positive(lipschitz, "lipschitz")
        super().__init__(decision_set, start, {})
        D = decision_set.diameter or 1.0  # a single point: any length will do
        self._beta = 2.0 * self.lipschitz * self.horizon**0.75 / D  # 1/eta

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t and move to x_{t+1}, which does not depend on it yet."""
        s = self._checked(loss)
        state = self._state
        t = state["t"][0] = state["t"][0] + 1.0
        sigma = min(1.0, 2.0 / math.sqrt(t))
        self._step(self._beta, state["x1"], lambda gap, distance2: sigma)  # noqa: ARG005
        state["S"][:] += s  # the sum in F_{t+1}
        warn_beyond(int(t), self.horizon)


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
