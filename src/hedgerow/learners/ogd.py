"""Online gradient descent, for convex losses and for strongly convex ones."""

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
D, STEEPEST = range(2)
"""The numbers of `OGD`: the diameter, and the largest norm, seen or given."""
MODULUS = 0
"""That of `StronglyConvexOGD`."""


@kernel(*REGULARISE)
def falling_eta(rule: Array, t: float, loss: tuple[float, float, float]) -> float:
    """eta_t = D / (G sqrt t), G the largest norm so far if it is above the one given."""
    rule[STEEPEST] = max(rule[STEEPEST], math.sqrt(loss[TANGENT2]))
    return rule[D] / (rule[STEEPEST] * math.sqrt(t)) if rule[STEEPEST] > 0.0 else 0.0


class OGD(ProjectedDescent):
    """Online gradient descent, x_{t+1} = P_X(x_t - eta_t grad_t) with eta_t = D / (G sqrt t).

    Regret_T <= 1.5 G D sqrt T for convex losses and every T. A gradient longer than G takes its
    place from then on, so the bound holds with the largest norm seen; without `lipschitz` that is
    all there is, and the plays depend on the unit of the losses by rounding alone.

    Args:
        decision_set: where to play; it must be able to project. One projection a round.
        lipschitz: G, a bound of the gradients' norms along the set; learnt if left out.
        start: x_1; the set's own start if left out.

    Reference: Zinkevich, "Online convex programming and generalized infinitesimal gradient ascent"
    (ICML 2003); the constant is that of Hazan, "Introduction to Online Convex Optimization" (2022),
    Theorem 3.1.

    >>> from hedgerow.feedback import EvalGrad
    >>> from hedgerow.sets.balls.boxes import Box
    >>> learner = OGD(Box([-1.0], [1.0]), lipschitz=4.0)
    >>> learner.tell(EvalGrad(0.0, np.array([1.0])))
    >>> learner.ask()
    array([-0.5])

    """

    def __init__(
        self,
        decision_set: DecisionSet,
        lipschitz: float | None = None,
        start: ArrayLike | None = None,
    ):
        G = 0.0 if lipschitz is None else as_positive(lipschitz, "lipschitz")
        rule = np.array([decision_set.diameter, G])
        super().__init__(decision_set, rule, falling_eta, start)


@kernel(*REGULARISE)
def strongly_convex_eta(rule: Array, t: float, loss: tuple[float, float, float]) -> float:
    """eta_t = 1 / (modulus t)."""
    return 1.0 / (rule[MODULUS] * t)


class StronglyConvexOGD(ProjectedDescent):
    """Online gradient descent for strongly convex losses, eta_t = 1 / (a t).

    Regret_T <= (G^2 / (2 a)) (1 + log T) for losses of modulus a,
    f(y) >= f(x) + <f'(x), y - x> + (a/2) ||y - x||^2, and gradients of norm at most G. Where a is
    larger than the losses' own modulus there is no bound.

    Args:
        decision_set: where to play; it must be able to project. One projection a round.
        modulus: a, in units of loss per squared length.
        start: x_1; the set's own start if left out.

    Reference: Hazan, Agarwal and Kale, "Logarithmic regret algorithms for online convex
    optimization" (Machine Learning 69, 2007), Theorem 1.

    """

    def __init__(self, decision_set: DecisionSet, modulus: float, start: ArrayLike | None = None):
        rule = np.array([as_positive(modulus, "modulus")])
        super().__init__(decision_set, rule, strongly_convex_eta, start)
