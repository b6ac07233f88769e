"""Conditional gradients that know a constant: Hazan's, and the one for strongly convex losses."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import AFTER_ORACLE, BEFORE_ORACLE
from hedgerow.inputs import Vector, as_count, as_positive
from hedgerow.kernels.ocg import add, gap_and_distance, gradient, move
from hedgerow.learners.arguments import first_play
from hedgerow.learners.kernel_learner import KernelLearner
from hedgerow.learners.steps import line_search
from hedgerow.sets.decision_set import DecisionSet

Array = Vector
Loss = tuple[float, float, float]
ROUND, CONSTANT = range(2)
"""The numbers of both states [x | x_1 or B | S | t, 1/eta or a], after the vectors."""


@kernel(*BEFORE_ORACLE)
def before_oracle(
    state: Array, work: Array, s: Array, inner: float, loss: Loss, steps: Any
) -> bool:
    """Write grad F_t(x_t), then take in grad_t = s, for F_{t+1}."""
    n = len(s)
    x, x1, S, own = state[:n], state[n : 2 * n], state[2 * n : 3 * n], state[3 * n :]
    own[ROUND] += 1.0
    gradient(work[:n], S, x, x1, own[CONSTANT])
    add(S, s)
    return True


@kernel(*AFTER_ORACLE)
def after_oracle(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """x_{t+1} = (1 - sigma_t) x_t + sigma_t v_t."""
    move(state[:n], work[n : 2 * n], min(1.0, 2.0 / math.sqrt(state[3 * n + ROUND])))


class OCG(KernelLearner):
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
    >>> from hedgerow.feedback import EvalGrad
    >>> from hedgerow.sets.balls.boxes import Box
    >>> learner = OCG(Box([-1.0], [1.0]), horizon=100, lipschitz=1.0)
    >>> for _ in range(50):
    ...     learner.tell(EvalGrad(0.0, np.array([1.0])))
    >>> bool(learner.ask()[0] < -0.5)
    True

    """

    before_oracle, after_oracle = before_oracle, after_oracle

    def __init__(
        self,
        decision_set: DecisionSet,
        horizon: int,
        lipschitz: float,
        start: ArrayLike | None = None,
    ):
        T, n = as_count(horizon, "horizon"), decision_set.dim
        self.lipschitz = as_positive(lipschitz, "lipschitz")
        x1 = first_play(decision_set, start)
        super().__init__(decision_set, {"x1": n, "S": n, "t": 1, "beta": 1}, x1=x1, horizon=T)
        self._state["x1"][:] = x1
        D = decision_set.diameter or 1.0  # a single point: any length will do
        self._state["beta"][0] = 2.0 * self.lipschitz * T**0.75 / D  # 1/eta

    @property
    def oracle_calls(self) -> int:
        """How many linear minimisations it has asked for: one per round."""
        return self.rounds


@kernel(*BEFORE_ORACLE)
def before_strong(
    state: Array, work: Array, s: Array, inner: float, loss: Loss, steps: Any
) -> bool:
    """Take in grad_t = s and x_t; write grad F_t(x_t), F_t = <S, x> + (a t/2) ||x - B/t||^2."""
    n = len(s)
    x, B, S, own = state[:n], state[n : 2 * n], state[2 * n : 3 * n], state[3 * n :]
    t = own[ROUND] = own[ROUND] + 1.0
    beta = 0.5 * own[CONSTANT] * t
    add(S, s)
    add(B, x)
    for i in range(n):
        work[i] = S[i] + 2.0 * beta * (x[i] - B[i] / t)
    return True


@kernel(*AFTER_ORACLE)
def after_strong(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """x_{t+1} = x_t + sigma_t (v_t - x_t), by exact line search on F_t."""
    x, v, own = state[:n], work[n : 2 * n], state[3 * n :]
    gap, distance2 = gap_and_distance(work[:n], x, v)
    beta = 0.5 * own[CONSTANT] * own[ROUND]
    move(x, v, line_search(own, own[ROUND], beta, gap, distance2))


class StronglyConvexOCG(KernelLearner):
    """Online conditional gradient on F_t(x) = sum of <grad_tau, x> + (a/2) ||x - x_tau||^2.

    One linear minimisation per round, exact line search, any horizon. For losses that are
    a-strongly convex and G-Lipschitz the regret is O((G + a D)^2 T^{2/3} / a).

    Args:
        decision_set: where to play.
        modulus: a, the losses' modulus of strong convexity, in units of loss per squared length.
        start: x_1; the set's own start if left out.

    Reference: Wan and Zhang, Projection-free online learning over strongly convex sets, AAAI
    2021, Algorithm 2; the learner inside SCOFW-TVC of Wang, Wan and Zhang (AAAI 2025).

    """

    before_oracle, after_oracle = before_strong, after_strong

    def __init__(self, decision_set: DecisionSet, modulus: float, start: ArrayLike | None = None):
        self.modulus, n = as_positive(modulus, "modulus"), decision_set.dim
        x1 = first_play(decision_set, start)
        super().__init__(decision_set, {"B": n, "S": n, "t": 1, "modulus": 1}, x1=x1)
        self._state["modulus"][0] = self.modulus

    @property
    def oracle_calls(self) -> int:
        """How many linear minimisations it has asked for: one per round."""
        return self.rounds
