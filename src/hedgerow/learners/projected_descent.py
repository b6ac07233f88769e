"""Projected gradient descent: OGD, for strongly convex losses too, and AdaGrad."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import AFTER_ORACLE, BEFORE_ORACLE, REGULARISE
from hedgerow.inputs import Vector, as_positive
from hedgerow.kernels.projected import descend
from hedgerow.learners.arguments import first_play
from hedgerow.learners.kernel_learner import NO_RULE, Kernel, KernelLearner
from hedgerow.learners.projected_point import check_projection
from hedgerow.learners.steps import TANGENT2
from hedgerow.sets.decision_set import DecisionSet

Array = Vector
Loss = tuple[float, float, float]
ROUND, PROJECTIONS, RULE = range(3)
"""The numbers of the state [x | t, projections | rule], after the play."""
D, STEEPEST = range(2)
"""The numbers of `OGD`: the diameter, and the largest norm, seen or given."""
MODULUS = 0
"""That of `StronglyConvexOGD`."""
BEST_FACTOR = math.sqrt(0.5)
"""The factor of `AdaGrad` with the best bound."""
LENGTH, SQUARES = range(2)
"""The numbers of `AdaGrad`: factor D, and the sum of ||grad||^2."""


@kernel(*BEFORE_ORACLE)
def before_projection(
    state: Array, work: Array, s: Array, inner: float, loss: Loss, steps: Any
) -> bool:
    """Target x_t - eta_t grad_t, with the gradient along the set; stay where that is zero."""
    n = len(s)
    x, own, tangent = state[:n], state[n:], work[3 * n : 4 * n]
    own[ROUND] += 1.0
    eta = steps.regularise(own[RULE:], own[ROUND], loss)
    if loss[TANGENT2] <= 0.0 or eta <= 0.0:
        return False
    descend(work[:n], x, tangent, eta)
    return True


@kernel(*AFTER_ORACLE)
def after_projection(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """x_{t+1} = P_X(x_t - eta_t grad_t)."""
    for i in range(n):
        state[i] = work[n + i]
    state[n + PROJECTIONS] += 1.0


class ProjectedDescent(KernelLearner):
    """Projected gradient descent, x_{t+1} = P_X(x_t - eta_t grad_t), for some eta_t.

    Gradients are taken along the set (`X.tangent`): the part across it moves no projection, and
    would only make steps shorter.

    Args:
        decision_set: where to play; it must be able to project.
        rule: the numbers from which eta_t is made.
        eta: the kernel that makes it, with the signature of `regularise`.
        start: x_1; the set's own start if left out.

    """

    before_oracle, after_oracle, projects = before_projection, after_projection, True
    oracle_calls = 0
    """It asks for projections, never for a linear minimisation."""

    def __init__(
        self, decision_set: DecisionSet, rule: Vector, eta: Kernel, start: ArrayLike | None
    ):
        check_projection(decision_set, type(self).__name__)
        numbers = {"t": 1, "projections": 1, "rule": rule.size}
        kernels = NO_RULE._replace(regularise=eta)
        super().__init__(decision_set, numbers, kernels, first_play(decision_set, start))
        self._state["rule"][:] = rule

    @property
    def projections(self) -> int:
        """How many Euclidean projections it has asked for."""
        return int(self._state["projections"][0])


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
        decision_set: where to play; it must be able to project. One projection per round.
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
        decision_set: where to play; it must be able to project. One projection per round.
        modulus: a, in units of loss per squared length.
        start: x_1; the set's own start if left out.

    Reference: Hazan, Agarwal and Kale, "Logarithmic regret algorithms for online convex
    optimization" (Machine Learning 69, 2007), Theorem 1.

    """

    def __init__(self, decision_set: DecisionSet, modulus: float, start: ArrayLike | None = None):
        rule = np.array([as_positive(modulus, "modulus")])
        super().__init__(decision_set, rule, strongly_convex_eta, start)


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
        decision_set: where to play; it must be able to project. One projection per round.
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
