"""The Lagrangian: gradient steps down in x, and up in the constraint's multiplier."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from hedgerow._engine.kernel import kernel, number, read, write
from hedgerow.baselines.weighed_step import (
    EAGERNESS,
    QUEUE,
    RATES,
    ROUND,
    UNIT,
    WEIGH,
    ProjectedStep,
)
from hedgerow.inputs import Vector
from hedgerow.kernels.vectors import three, two
from hedgerow.sets.decision_set import DecisionSet

Array = Vector
SCHEDULE = (three, read, number, number, number)
"""schedule(rates, t, lam, g) returns eta_t, the multiplier that round t uses and the one it leaves
behind."""


class Schedule(Protocol):
    """The rates of a primal-dual policy: data, and the formulas of one paper.

    One that is no `KernelSchedule` is played in Python.
    """

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


class KernelSchedule:
    """A schedule whose formulas are kernels; a subclass is a dataclass of the rates."""

    formulas: ClassVar[Callable[..., tuple[float, float, float]]]
    """The kernel of all formulas, with the signature `SCHEDULE`."""
    weigh: ClassVar[Callable[..., tuple[float, float]]]
    """The policy's kernel that calls it, with the signature `WEIGH`."""

    @property
    def rates(self: Any) -> tuple[float, ...]:
        """What the kernels read."""
        return astuple(self)

    def eta(self, t: int) -> float:
        """Return eta_t, the step size of round t."""
        return type(self).formulas(np.array(self.rates), t, 0.0, 0.0)[0]

    def multipliers(self, t: int, lam: float, g: float) -> tuple[float, float]:
        """Return the multiplier that weighs g_t^+ and the one that is left behind."""
        return type(self).formulas(np.array(self.rates), t, lam, g)[1:]


@kernel(number, read, number)
def felt(rates: Array, value: float) -> float:
    """Return the violation of which the multiplier is made."""
    return rates[EAGERNESS] * max(0.0, value) / rates[UNIT]


@kernel(two, write, read, number, three)
def lagrange(
    own: Array, rates: Array, value: float, now: tuple[float, float, float]
) -> tuple[float, float]:
    """Count the round, keep the multiplier, and return the steps on f + lambda g^+."""
    eta, multiplier, left = now
    own[ROUND] += 1.0
    own[QUEUE] = left
    length = rates[UNIT] * eta
    return length, length * multiplier if value > 0.0 else 0.0


@kernel(*SCHEDULE)
def constant_rates(rates: Array, t: float, lam: float, g: float) -> tuple[float, float, float]:
    """Of `ConstantRates`, rates = [eta, mu, theta]."""
    return rates[0], lam, max(0.0, lam + rates[1] * (g - rates[2] * lam))


@kernel(*WEIGH)
def weigh_constant(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Weigh a round by `ConstantRates`."""
    now = constant_rates(rates[RATES:], own[ROUND] + 1.0, own[QUEUE], felt(rates, value))
    return lagrange(own, rates, value, now)


@dataclass(frozen=True)
class ConstantRates(KernelSchedule):
    """lambda_{t+1} = [lambda_t + mu (g - theta lambda_t)]_+ with rates fixed for T rounds."""

    step: float
    mu: float
    theta: float
    formulas, weigh = constant_rates, weigh_constant


@kernel(*SCHEDULE)
def decaying_rates(rates: Array, t: float, lam: float, g: float) -> tuple[float, float, float]:
    """Of `DecayingRates`, rates = [R, G, b]."""
    decay = math.pow(t, rates[2])
    theta = 6.0 * rates[0] * rates[1] / decay
    mu = 1.0 / (theta * (t + 1.0))
    return rates[0] / (rates[1] * decay), lam, max(0.0, lam + mu * (g - theta * lam))


@kernel(*WEIGH)
def weigh_decaying(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Weigh a round by `DecayingRates`."""
    now = decaying_rates(rates[RATES:], own[ROUND] + 1.0, own[QUEUE], felt(rates, value))
    return lagrange(own, rates, value, now)


@dataclass(frozen=True)
class DecayingRates(KernelSchedule):
    """Jenatton's: eta_t = R/(G t^b), theta_t = 6 R G/t^b, mu_t = 1/(theta_t (t + 1))."""

    R: float
    G: float
    b: float
    formulas, weigh = decaying_rates, weigh_decaying


@kernel(*SCHEDULE)
def forgetful_rates(rates: Array, t: float, lam: float, g: float) -> tuple[float, float, float]:
    """Of `ForgetfulRates`, rates = [eta, sigma]."""
    now = g / (rates[1] * rates[0])
    return rates[0], now, now


@kernel(*WEIGH)
def weigh_forgetful(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Weigh a round by `ForgetfulRates`."""
    now = forgetful_rates(rates[RATES:], own[ROUND] + 1.0, own[QUEUE], felt(rates, value))
    return lagrange(own, rates, value, now)


@dataclass(frozen=True)
class ForgetfulRates(KernelSchedule):
    """Yuan and Lamperski's: lambda_t = g^+(x_t)/(sigma eta), the past is forgotten."""

    step: float
    sigma: float
    formulas, weigh = forgetful_rates, weigh_forgetful


class PrimalDual(ProjectedStep):
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

    waiting = "multiplier"

    def __init__(
        self,
        decision_set: DecisionSet,
        schedule: Schedule,
        unit: float = 1.0,
        eagerness: float = 1.0,
        horizon: int | None = None,
    ):
        weigh: Callable[..., tuple[float, float]] | None = None
        rates: tuple[float, ...] = ()
        if isinstance(schedule, KernelSchedule):
            weigh, rates = type(schedule).weigh, schedule.rates
        super().__init__(decision_set, weigh, rates, unit, eagerness, horizon)
        self.schedule = schedule

    @property
    def multiplier(self) -> float:
        """What the last round left behind, lambda_{t+1}."""
        return float(self._state["multiplier"][0])

    def _weigh(self, value: float) -> tuple[float, float]:
        if self._weigh_kernel is not None:
            return super()._weigh(value)
        t, own = self.rounds + 1, self._state.array[self.decision_set.dim :]
        now = self.schedule.multipliers(t, self.multiplier, felt(self._rates, value))
        return lagrange(own, self._rates, value, (self.schedule.eta(t), *now))
