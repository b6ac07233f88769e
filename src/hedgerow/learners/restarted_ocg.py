"""Online conditional gradient that starts again whenever its guess of the steepness was too low."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import LARGEST_GRADIENT, Vector, as_number, as_positive
from hedgerow.learners.conditional_gradient import ConditionalGradient
from hedgerow.learners.doubling import Doubling
from hedgerow.learners.horizon import warn_beyond
from hedgerow.learners.steps import StepRule
from hedgerow.protocols.compiled import Advance, rounds_left
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Snapshot


class Restart(Protocol):
    """Where an epoch begins."""

    def origin(self, x: Vector, x1: Vector) -> Vector:
        """Return the epoch's first point and the centre of its regulariser."""
        ...


@dataclass(frozen=True)
class RestartHere:
    """An epoch begins at the point just played: memory is lost, the place is not."""

    def origin(self, x: Vector, x1: Vector) -> Vector:  # noqa: ARG002
        """Return x_t."""
        return x


@dataclass(frozen=True)
class RestartAtStart:
    """An epoch begins at x_1, as a fresh learner would."""

    def origin(self, x: Vector, x1: Vector) -> Vector:  # noqa: ARG002
        """Return x_1."""
        return x1


class RestartedOCG(ConditionalGradient, Doubling):
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

    def __init__(
        self,
        decision_set: DecisionSet,
        steps: StepRule,
        guess: float | None = None,
        restart: Restart | None = None,
        start: ArrayLike | None = None,
    ):
        self.restart = RestartHere() if restart is None else restart
        first = 0.0 if guess is None else as_positive(guess, "guess")
        rule = steps.begin(decision_set.diameter or 1.0)  # a single point: any length will do
        numbers = {"anchor": decision_set.dim, "rule": rule.size}
        numbers |= {"age": 1, "inner": 1, "guess": 1, "restarts": 1}
        super().__init__(decision_set, start, (steps, first, self.restart), numbers)
        self.steps = steps
        self._kernels, self._fresh = steps.kernels(), rule
        self._state["anchor"][:] = self._state["x1"]
        self._state["rule"][:] = rule
        self._state["guess"][0] = first
        self._undeclared = False  # whether the last loss left its steepness to its gradient

    def tell(self, loss: EvalGrad) -> None:
        """Take the gradient at x_t, restart if it is too steep, and move to x_{t+1}."""
        s = self._checked(loss)
        size2 = self.decision_set.squares(s)[0]
        need = math.sqrt(size2) if loss.lipschitz is None else _declared(loss.lipschitz)
        self._undeclared = loss.lipschitz is None
        state = self._state
        inner = kernels.vectors.dot(s, state["x"])  # at the point played, wherever an epoch begins
        state["t"][0] += 1.0
        if self.guess == 0.0:  # nothing was learnt yet: the first epoch begins
            state["age"][0] = 0.0
        self._test(need)
        x, S, rule, anchor = state["x"], state["S"], state["rule"], state["anchor"]
        age = state["age"][0] = state["age"][0] + 1.0  # t - s + 1
        state["inner"][0] += inner
        regularise, relax, settle = self._kernels
        beta = regularise(rule, age, self.guess * self.guess if age == 1.0 else size2)  # 1/eta
        # A, with this round's gradient, and grad F_t(x_t)
        value, far2 = kernels.ocg.lean(self._direction, S, s, x, anchor, beta)
        step = self._follow(lambda *gap: relax(rule, age, beta, *gap))
        before = value + beta * far2  # F_t(x_t)
        settle(rule, kernels.ocg.margin_after(state["inner"][0], before, beta, *step))
        warn_beyond(int(state["t"][0]), self.steps.horizon)

    def _begin_epoch(self) -> None:
        state = self._state
        origin = self.restart.origin(state["x"], state["x1"])
        state["x"][:] = state["anchor"][:] = origin  # x_s
        state["S"][:] = state["inner"][0] = state["age"][0] = 0.0
        state["rule"][:] = self._fresh

    def compiled(self) -> Advance | None:
        """Return the kernels and arrays of `tell`, for losses that declare no constant.

        Only a loss tells whether the others will: the objects play the first round.
        """
        here = {RestartHere: 1.0, RestartAtStart: 0.0}.get(type(self.restart))
        space, plain = self._workspace.space, getattr(self.steps, "plain_norms", None)
        if space is None or plain is None or here is None:
            return None
        self._undeclared, n = False, self.decision_set.dim
        return Advance(
            kernels.restarts.restarted_gradient,
            self._kernels,
            self._state.array,
            np.concatenate([np.zeros(2 * n), self._fresh, [here], np.zeros(n)]),
            space,
            ready=lambda: self._undeclared,
            silent=lambda: rounds_left(self.steps.horizon, int(self._state["t"][0])),
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        super().restore(snapshot)
        self._undeclared = False


def _declared(lipschitz: float) -> float:
    if not 0.0 <= as_number(lipschitz, "the loss's lipschitz") <= LARGEST_GRADIENT:
        raise ValueError(
            f"the loss's lipschitz must lie between 0 and {LARGEST_GRADIENT:g}, got "
            f"{lipschitz:g}; leave it out to use the gradient's norm"
        )
    return float(lipschitz)
