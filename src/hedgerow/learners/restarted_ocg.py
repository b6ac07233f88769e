"""Online conditional gradient that starts again whenever its guess of the steepness was too low."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import AFTER_ORACLE, BEFORE_ORACLE
from hedgerow.inputs import Vector, as_positive
from hedgerow.kernels.ocg import (
    accumulate_and_gradient,
    gap_and_distance_to,
    margin_and_left,
    move_to,
)
from hedgerow.learners.arguments import first_play
from hedgerow.learners.kernel_learner import KernelLearner
from hedgerow.learners.steps import StepRule, as_steps
from hedgerow.sets.decision_set import DecisionSet

Array = Vector
Loss = tuple[float, float, float]
ROUND, AGE, INNER, GUESS, RESTARTS, HERE, RULE = range(7)
"""The numbers of the state
[x | x_1 | S | anchor | t, age, sum of <s, x>, guess, restarts, here | rule | fresh rule], after the
vectors; the sum is that of the epoch."""
BETA, VALUE, SLOPE, SIZE, NORM2 = range(5)
"""The numbers that the first kernel passes to the second."""


@dataclass(frozen=True)
class RestartHere:
    """An epoch begins at the point just played: memory is lost, the place is not."""


@dataclass(frozen=True)
class RestartAtStart:
    """An epoch begins at x_1, as a fresh learner would."""


@kernel(*BEFORE_ORACLE)
def before_oracle(
    state: Array, work: Array, s: Array, inner: float, loss: Loss, steps: Any
) -> bool:
    """Begin an epoch if the loss is steeper than the guess; take it in, and write grad F_t(x_t)."""
    n = len(s)
    x, x1, S, anchor = state[:n], state[n : 2 * n], state[2 * n : 3 * n], state[3 * n : 4 * n]
    own, passed = state[4 * n :], work[3 * n :]
    size = (len(own) - RULE) // 2
    rule, fresh = own[RULE : RULE + size], own[RULE + size :]
    own[ROUND] += 1.0
    need = loss[2] if loss[2] >= 0.0 else math.sqrt(loss[0])  # as declared, else as seen
    if own[GUESS] == 0.0:  # nothing was learnt yet: the first epoch begins
        own[AGE], own[GUESS] = 0.0, need
    if own[GUESS] < need:
        while own[GUESS] < need:
            own[GUESS] *= 2.0
        own[RESTARTS] += 1.0
        own[INNER] = own[AGE] = 0.0
        rule[:], S[:] = fresh, 0.0
        anchor[:] = x if own[HERE] > 0.0 else x1  # x_s
        x[:] = anchor
    own[AGE] += 1.0  # t - s + 1
    own[INNER] += inner
    norm2 = own[GUESS] * own[GUESS] if own[AGE] == 1.0 else loss[0]
    beta = passed[BETA] = steps.regularise(rule, own[AGE], (norm2, norm2, loss[2]))  # 1/eta
    value, far2, passed[SLOPE], passed[SIZE], passed[NORM2] = accumulate_and_gradient(
        work[:n], S, s, x, anchor, beta
    )
    passed[VALUE] = value + beta * far2  # F_t(x_t)
    return True


@kernel(*AFTER_ORACLE)
def after_oracle(state: Array, work: Array, n: int, ones: Any, steps: Any) -> None:
    """x_{t+1} = x_t + sigma_t (v_t - x_t)."""
    x, own, d, v, passed = state[:n], state[4 * n :], work[:n], work[n : 2 * n], work[3 * n :]
    rule, beta = own[RULE : RULE + (len(own) - RULE) // 2], passed[BETA]
    at_x = (passed[SLOPE], passed[SIZE], passed[NORM2])
    gap, distance2 = gap_and_distance_to(d, x, v, ones, at_x)
    sigma = steps.step_size(rule, own[AGE], beta, gap, distance2)
    move_to(x, v, ones, sigma)
    margin, left = margin_and_left(own[INNER], passed[VALUE], beta, sigma, gap, distance2)
    steps.after_step(rule, margin, left)


class RestartedOCG(KernelLearner):
    """Online conditional gradient by doubling: too steep a loss doubles the guess and restarts.

    If the loss of round t is steeper than the guess, the guess is doubled until it is not, the
    sum of gradients is emptied, and an epoch begins at s = t with the anchor x_s. Then, with this
    round's gradient in the sum A, v_t = argmin over X of <grad F_t(x_t), x> for
    F_t(x) = <A, x> + ||x - x_s||^2 / eta, and x_{t+1} = x_t + sigma_t (v_t - x_t). The step rule
    counts rounds from s on, and takes the guess for the size of the epoch's first gradient. With
    `PaperSteps(T)`, eta = D / (2 guess T^{3/4}) and sigma_t = min(1, 2/sqrt(t - s + 1)), as Wang
    et al. have it (they print no min, and their sigma_s = 2 would leave the set); with
    `RmsSteps` or `CertificateSteps` only the restarts are left of their learner.

    How steep a loss is: its declared `lipschitz`, else the tangent norm of its gradient.

    Args:
        decision_set: where to play.
        steps: a step rule.
        guess: the first guess, in units of loss per length; left out, the first steepness above
            zero that is seen, which leaves the plays free of units (up to rounding).
        restart: `RestartHere()` (Wang et al., and the default) or `RestartAtStart()`.
        start: x_1; the set's own start if left out.

    Reference: Wang, Wan and Zhang, Revisiting projection-free online learning with time-varying
    constraints, AAAI 2025 (the learner inside OFW-TVC).

    """

    before_oracle, after_oracle, takes_ones = before_oracle, after_oracle, True

    def __init__(
        self,
        decision_set: DecisionSet,
        steps: StepRule,
        guess: float | None = None,
        restart: RestartHere | RestartAtStart | None = None,
        start: ArrayLike | None = None,
    ):
        n, x1 = decision_set.dim, first_play(decision_set, start)
        rule = as_steps(steps).begin(
            decision_set.diameter or 1.0
        )  # a single point: any length will do
        numbers = {"x1": n, "S": n, "anchor": n, "t": 1, "age": 1, "inner": 1, "guess": 1}
        numbers |= {"restarts": 1, "here": 1, "rule": rule.size, "fresh": rule.size}
        super().__init__(decision_set, numbers, steps.kernels(), x1, steps.horizon)
        self.steps, self.restart = steps, RestartHere() if restart is None else restart
        if not isinstance(self.restart, RestartHere | RestartAtStart):
            raise TypeError(
                f"restart must be RestartHere() or RestartAtStart(), got {self.restart!r}"
            )
        state = self._state
        state["x1"][:] = state["anchor"][:] = x1
        state["rule"][:] = state["fresh"][:] = rule
        state["here"][0] = isinstance(self.restart, RestartHere)
        state["guess"][0] = 0.0 if guess is None else as_positive(guess, "guess")

    @property
    def oracle_calls(self) -> int:
        """How many linear minimisations it has asked for: one per round."""
        return self.rounds

    @property
    def guess(self) -> float:
        """The steepness that the current epoch allows for; 0 while none was seen or given."""
        return float(self._state["guess"][0])

    @property
    def restarts(self) -> int:
        """How often it has started again."""
        return int(self._state["restarts"][0])
