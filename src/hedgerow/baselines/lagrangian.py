"""The Lagrangian: gradient steps down in x, and up in the constraint's multiplier."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from hedgerow.baselines.projecting import Projecting
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet


class Schedule(Protocol):
    """The rates of a primal-dual policy: data, and the formulas of one paper."""

    def eta(self, t: int, /) -> float:
        """Return the step in x of round t."""
        ...

    def multipliers(self, t: int, lam: float, g: float, /) -> tuple[float, float]:
        """Return the multiplier that round t uses and the one it leaves behind.

        Args:
            t: the round, from 1 on.
            lam: the multiplier that round t - 1 left behind.
            g: g_t^+(x_t).

        """
        ...


@dataclass(frozen=True)
class ConstantRates:
    """lambda_{t+1} = [lambda_t + mu (g - theta lambda_t)]_+ with rates fixed for T rounds."""

    step: float
    mu: float
    theta: float

    def eta(self, t: int) -> float:  # noqa: ARG002 - the same in all rounds
        """Return eta, the step size of every round."""
        return self.step

    def multipliers(self, t: int, lam: float, g: float) -> tuple[float, float]:  # noqa: ARG002
        """Return lambda_t, which weighs g_t^+, and lambda_{t+1}."""
        return lam, max(0.0, lam + self.mu * (g - self.theta * lam))


@dataclass(frozen=True)
class DecayingRates:
    """Jenatton's: eta_t = R/(G t^b), theta_t = 6 R G/t^b, mu_t = 1/(theta_t (t + 1))."""

    R: float
    G: float
    b: float

    def eta(self, t: int) -> float:
        """Return eta_t, the step size of round t."""
        return self.R / (self.G * math.pow(t, self.b))

    def multipliers(self, t: int, lam: float, g: float) -> tuple[float, float]:
        """Return lambda_t, which weighs g_t^+, and lambda_{t+1}."""
        theta = 6.0 * self.R * self.G / math.pow(t, self.b)
        mu = 1.0 / (theta * (t + 1))
        return lam, max(0.0, lam + mu * (g - theta * lam))


@dataclass(frozen=True)
class ForgetfulRates:
    """Yuan and Lamperski's: lambda_t = g^+(x_t)/(sigma eta), the past is forgotten."""

    step: float
    sigma: float

    def eta(self, t: int) -> float:  # noqa: ARG002
        """Return eta, the step size of every round."""
        return self.step

    def multipliers(self, t: int, lam: float, g: float) -> tuple[float, float]:  # noqa: ARG002
        """Use the multiplier of this round's violation."""
        now = g / (self.sigma * self.step)
        return now, now


class PrimalDual(Projecting):
    """One projected gradient step on f_t + lambda_t g_t^+ each round.

    x_{t+1} = P(x_t - eta_t (grad f_t(x_t) + lambda_t grad g_t^+(x_t))), and the schedule's rule for
    lambda. Three of the originals (Mahdavi, Jenatton, Yuan and Lamperski) project on a ball around
    X and treat the rest of X as constraints; here P projects on X. Gradients are taken along the
    set (`tangent`).

    Args:
        decision_set: where to play; it must know its projection.
        schedule: the rates.
        unit: the unit in which distances are measured.
        eagerness: the factor on the violations of which the multiplier is made.
        horizon: the number of rounds that the rates were made for; None where they are anytime.

    """

    def __init__(
        self,
        decision_set: DecisionSet,
        schedule: Schedule,
        unit: float = 1.0,
        eagerness: float = 1.0,
        horizon: int | None = None,
    ):
        super().__init__(decision_set, horizon, multiplier=1)
        self.schedule, self.unit, self.eagerness = schedule, unit, eagerness

    @property
    def multiplier(self) -> float:
        """What the last round left behind, lambda_{t+1}."""
        return float(self._state["multiplier"][0])

    def tell(self, cost: EvalGrad, constraint: EvalGrad, *, at: Vector | None = None) -> None:
        """Take a step in x and one in the multiplier.

        Args:
            cost: what was seen of the cost.
            constraint: what was seen of the constraint.
            at: the earlier play that late feedback is about.

        """
        self._seen_at(at)  # only to refuse what was never played: a step needs the gradients alone
        state = self._state
        f, g = self._seen(EvalGrad, cost, constraint)
        t, violation = self._round(), max(0.0, g.value)
        lam, state["multiplier"][0] = self.schedule.multipliers(
            t, self.multiplier, self.eagerness * violation / self.unit
        )
        slope = f.grad if violation == 0.0 else f.grad + lam * g.grad  # of f + lambda g^+
        state["x"][:] = self._project(state["x"] - self.unit * self.schedule.eta(t) * slope)
