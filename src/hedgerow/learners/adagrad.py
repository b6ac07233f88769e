"""Gradient descent whose steps shrink with the gradients seen: AdaGrad, in its norm version."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.inputs import as_positive
from hedgerow.learners.projected import ProjectedDescent
from hedgerow.sets.decision_set import DecisionSet

BEST_FACTOR = math.sqrt(0.5)
"""The factor with the best bound."""


class AdaGrad(ProjectedDescent):
    """AdaGrad with one step size, eta_t = factor D / sqrt(sum of ||grad||^2 up to t).

    x_{t+1} = P_X(x_t - eta_t grad_t); it stays while every gradient was 0. With the default factor
    Regret_T <= sqrt(2) D sqrt(sum of ||grad_t||^2) for convex losses and every T; no bound of the
    gradients has to be known, and the plays depend on the unit of the losses by rounding alone.

    Args:
        decision_set: where to play; it must be able to project. One projection a round.
        factor: length of the steps, 1/sqrt(2) by default.
        start: x_1; the set's own start if left out.

    Reference: Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and
    stochastic optimization" (JMLR 12, 2011); for the norm version Orabona, "A Modern Introduction
    to Online Learning" (2019), section 4.2.

    >>> from hedgerow.feedback import EvalGrad
    >>> from hedgerow.sets.simplices import Simplex
    >>> learner = AdaGrad(Simplex(2))
    >>> learner.tell(EvalGrad(1.0, np.array([2.0, 0.0])))
    >>> learner.ask(), learner.projections
    (array([0., 1.]), 1)

    """

    def __init__(
        self,
        decision_set: DecisionSet,
        factor: float = BEST_FACTOR,
        start: ArrayLike | None = None,
    ):
        rule = np.array([as_positive(factor, "factor") * decision_set.diameter, 0.0])
        super().__init__(decision_set, rule, kernels.projected.adagrad_eta, start)
