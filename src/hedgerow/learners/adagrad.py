"""Gradient descent whose steps shrink with the gradients seen: AdaGrad, in its norm version."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import REGULARISE
from hedgerow.inputs import Vector, as_positive
from hedgerow.learners.projected_descent import ProjectedDescent
from hedgerow.learners.steps import TANGENT2
from hedgerow.sets.decision_set import DecisionSet

Array = Vector
BEST_FACTOR = math.sqrt(0.5)
"""The factor with the best bound."""
LENGTH, SQUARES = range(2)
"""The numbers of its rule: factor D, and the sum of ||grad||^2."""


@kernel(*REGULARISE)
def adagrad_eta(rule: Array, t: float, loss: tuple[float, float, float]) -> float:
    """eta_t = factor D / sqrt(sum of ||grad||^2)."""
    rule[SQUARES] += loss[TANGENT2]
    return rule[LENGTH] / math.sqrt(rule[SQUARES]) if rule[SQUARES] > 0.0 else 0.0


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
    >>> from hedgerow.sets.simplices.simplex import Simplex
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
        super().__init__(decision_set, rule, adagrad_eta, start)
