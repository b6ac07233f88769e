"""Primal-dual policies for constraints of the long run: four papers, one update.

Each takes a gradient step down in x on f_t + lambda_t g_t^+, and one up in the multiplier lambda.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from hedgerow._engine.kernel import kernel, number, read, write
from hedgerow.baselines.normalised import FirstOrderPolicy, Scale, rounds_needed, stand_alone
from hedgerow.baselines.projected_step import (
    EAGERNESS,
    QUEUE,
    RATES,
    ROUND,
    STEP_WEIGHTS,
    UNIT,
    Kernel,
    ProjectedStep,
)
from hedgerow.inputs import Vector, as_number
from hedgerow.kernels.vectors import three, two
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import Lipschitz, Preset, as_pair
from hedgerow.sets.decision_set import DecisionSet

Array = Vector
SCHEDULE = (three, read, number, number, number)
"""schedule(rates, t, lam, g) returns eta_t, the multiplier that round t uses and the one it leaves
behind."""


class Schedule(Protocol):
    """The rates of a primal-dual policy: data, and the formulas of one paper.

    `tell` plays a schedule without kernels, too; the compiled loops do not.
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

    formulas: ClassVar[Kernel]
    """The kernel of all formulas, with the signature `SCHEDULE`."""
    step_weights: ClassVar[Kernel]
    """The policy's kernel that calls it, with the signature `STEP_WEIGHTS`."""

    @property
    def rates(self: Any) -> tuple[float, ...]:
        """The numbers that the kernels read."""
        return astuple(self)

    def eta(self, t: int) -> float:
        """Return eta_t, the step size of round t."""
        return float(type(self).formulas(np.array(self.rates), t, 0.0, 0.0)[0])

    def multipliers(self, t: int, lam: float, g: float) -> tuple[float, float]:
        """Return the multiplier on g_t^+ in round t, and the one that it leaves behind."""
        _, now, left = type(self).formulas(np.array(self.rates), t, lam, g)
        return now, left


@kernel(number, read, number)
def scaled_violation(rates: Array, value: float) -> float:
    """Return the violation of which the multiplier is made."""
    return rates[EAGERNESS] * max(0.0, value) / rates[UNIT]


@kernel(two, write, read, number, three)
def lagrange(
    own: Array, rates: Array, value: float, now: tuple[float, float, float]
) -> tuple[float, float]:
    """Store the multiplier, and return the steps on f and lambda g^+."""
    eta, multiplier, left = now
    own[QUEUE] = left
    length = rates[UNIT] * eta
    return length, length * multiplier if value > 0.0 else 0.0


@kernel(*SCHEDULE)
def constant_rates(rates: Array, t: float, lam: float, g: float) -> tuple[float, float, float]:
    """Of `ConstantRates`, rates = [eta, mu, theta]."""
    return rates[0], lam, max(0.0, lam + rates[1] * (g - rates[2] * lam))


@kernel(*STEP_WEIGHTS)
def constant_step_weights(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Return the steps by `ConstantRates`."""
    g = scaled_violation(rates, value)
    now = constant_rates(rates[RATES:], own[ROUND], own[QUEUE], g)
    return lagrange(own, rates, value, now)


@dataclass(frozen=True)
class ConstantRates(KernelSchedule):
    """lambda_{t+1} = [lambda_t + mu (g - theta lambda_t)]_+ with rates fixed for T rounds."""

    step: float
    mu: float
    theta: float
    formulas, step_weights = constant_rates, constant_step_weights


@kernel(*SCHEDULE)
def decaying_rates(rates: Array, t: float, lam: float, g: float) -> tuple[float, float, float]:
    """Of `DecayingRates`, rates = [R, G, b]."""
    decay = math.pow(t, rates[2])
    theta = 6.0 * rates[0] * rates[1] / decay
    mu = 1.0 / (theta * (t + 1.0))
    return rates[0] / (rates[1] * decay), lam, max(0.0, lam + mu * (g - theta * lam))


@kernel(*STEP_WEIGHTS)
def decaying_step_weights(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Return the steps by `DecayingRates`."""
    g = scaled_violation(rates, value)
    now = decaying_rates(rates[RATES:], own[ROUND], own[QUEUE], g)
    return lagrange(own, rates, value, now)


@dataclass(frozen=True)
class DecayingRates(KernelSchedule):
    """Jenatton's: eta_t = R/(G t^b), theta_t = 6 R G/t^b, mu_t = 1/(theta_t (t + 1))."""

    R: float
    G: float
    b: float
    formulas, step_weights = decaying_rates, decaying_step_weights


@kernel(*SCHEDULE)
def forgetful_rates(rates: Array, t: float, lam: float, g: float) -> tuple[float, float, float]:
    """Of `ForgetfulRates`, rates = [eta, sigma]."""
    now = g / (rates[1] * rates[0])
    return rates[0], now, now


@kernel(*STEP_WEIGHTS)
def forgetful_step_weights(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Return the steps by `ForgetfulRates`."""
    g = scaled_violation(rates, value)
    now = forgetful_rates(rates[RATES:], own[ROUND], own[QUEUE], g)
    return lagrange(own, rates, value, now)


@dataclass(frozen=True)
class ForgetfulRates(KernelSchedule):
    """Yuan and Lamperski's: lambda_t = g^+(x_t)/(sigma eta), the past is forgotten."""

    step: float
    sigma: float
    formulas, step_weights = forgetful_rates, forgetful_step_weights


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

    dual_name = "multiplier"

    def __init__(
        self,
        decision_set: DecisionSet,
        schedule: Schedule,
        unit: float = 1.0,
        eagerness: float = 1.0,
        horizon: int | None = None,
    ):
        if isinstance(schedule, KernelSchedule):
            step_weights, rates = type(schedule).step_weights, schedule.rates
        else:
            step_weights, rates = self._step_weights_in_python, ()
        super().__init__(decision_set, step_weights, rates, unit, eagerness, horizon)
        self.schedule = schedule

    @property
    def multiplier(self) -> float:
        """What the last round left behind, lambda_{t+1}."""
        return float(self._state["multiplier"][0])

    @cached_property
    def set_kernels(self) -> dict[str, Any] | None:
        """None also for a schedule without kernels."""
        return super().set_kernels if isinstance(self.schedule, KernelSchedule) else None

    def _step_weights_in_python(self, own: Array, rates: Array, value: float) -> Any:
        """Return the steps by a schedule without kernels."""
        t, schedule = self.rounds, self.schedule
        now = schedule.multipliers(t, self.multiplier, scaled_violation(rates, value))
        return lagrange(own, rates, value, (schedule.eta(t), *now))


LONG_ENOUGH = 4.0 * math.sqrt(2.0)
"""2 sqrt(2) (m + 1) for one constraint: the theorem of `mahdavi_2012` needs this times eta <= 1."""


@baseline(
    source="Mahdavi, Jin and Yang 2012",
    regret="T^{1/2}",
    ccv="T^{3/4}, signed sum",
    per_round="1 projection",
    sees="gradients",
    needs="fixed constraints; known T; theory: G",
    confidence="medium: reconstruction",
    remark="reconstruction",
    practical="plays like sun_safe",
)
def mahdavi_2012(
    decision_set: DecisionSet,
    horizon: int | None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    bound: Lipschitz = None,
    eagerness: float = 1.0,
) -> FirstOrderPolicy:
    """Mahdavi, Jin and Yang's regularised Lagrangian: one projection per round.

    eta = mu = R^2/(a sqrt T), a = R sqrt(2 G^2 + 2 Dg^2), theta = delta eta with the least
    delta >= 2 G^2 + 2 delta^2 eta^2. For a fixed constraint and T so long that
    4 sqrt(2) eta <= 1: regret O(sqrt T), sum of g O(T^{3/4}), a signed sum; fed with g_t^+ here.
    `theory` refuses a shorter T (the condition has a unit, as printed). A reconstruction: its
    constants were not read in the paper.

    Args:
        decision_set: where to play; R is its diameter.
        horizon: the number of rounds T, at least 8, needed in both presets.
        preset: "practical" (G = 1, `Normalised`) or "theory".
        lipschitz: a bound G of all gradients' norms; `theory` needs it.
        bound: Dg, the largest violation of a round, or a pair (of costs, of constraints); G R if
            left out, true wherever some point satisfies the round. `theory` only.
        eagerness: the factor on the multiplier; more means less violation and more regret.

    Reference: M. Mahdavi, R. Jin, T. Yang, Trading regret for efficiency: online convex
    optimization with long term constraints, JMLR 13 (2012), 2503-2528.

    """
    T = rounds_needed(horizon, "mahdavi_2012", least=8)

    def build(scale: Scale) -> FirstOrderPolicy:
        G, R, unit, eagerness = scale
        a = R * math.sqrt(2.0 * G**2 + 2.0 * _range(bound, G * R) ** 2)
        eta = R**2 / (a * math.sqrt(T))
        discriminant = 1.0 - 16.0 * (eta * G) ** 2  # of the condition on delta
        if discriminant < 0.0 or LONG_ENOUGH * eta > 1.0 + 1e-9:
            least = max(LONG_ENOUGH, 4.0 * G) ** 2 * R**4 / a**2
            raise ValueError(
                f"T = {T} is too short for the theorem with lipschitz = {G:g} and bound = "
                f"{_range(bound, G * R):g}; use a horizon of at least {math.ceil(least - 1e-6)}"
            )
        delta = 4.0 * G**2 / (1.0 + math.sqrt(discriminant))
        return PrimalDual(decision_set, ConstantRates(eta, eta, delta * eta), unit, eagerness, T)

    _theory_only(bound, preset)
    return stand_alone("mahdavi_2012", build, decision_set, T, preset, lipschitz, eagerness)


@baseline(
    source="Jenatton, Huang and Archambeau 2016",
    regret="T^{max(b, 1-b)}",
    ccv="T^{1-b/2}, signed sum",
    per_round="1 projection",
    sees="gradients",
    needs="fixed constraints; theory: G",
    confidence="high",
)
def jenatton_2016(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    trade_off: float = 0.5,
    eagerness: float = 1.0,
) -> FirstOrderPolicy:
    """Jenatton, Huang and Archambeau's adaptive rates: anytime, one projection per round.

    eta_t = R/(G t^b), theta_t = 6 R G/t^b, mu_t = 1/(theta_t (t + 1)). For a fixed constraint
    Regret_T <= (R G + Dg^2/(6 b R G)) T^b + 2 R G T^{1-b}/(1-b) =: B and
    sum of g <= sqrt((24 R G/(1-b)) (B + F T) T^{1-b}), where |g| <= Dg and costs differ by at most
    F. Fed with g_t^+ the proof needs no more than g_t(x*) <= 0. Specification read in the paper.

    Args:
        decision_set: where to play; R is its diameter.
        horizon: not needed.
        preset: "practical" (G = 1, `Normalised`) or "theory".
        lipschitz: a bound G of all gradients' norms; `theory` needs it.
        trade_off: b in (0, 1): regret O(T^{max(b, 1-b)}), violation O(T^{1-b/2}).
        eagerness: the factor on the multiplier; more means less violation and more regret.

    Reference: R. Jenatton, J. Huang, C. Archambeau, Adaptive algorithms for online convex
    optimization with long-term constraints, ICML 2016, PMLR 48, 402-411.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> jenatton_2016(Simplex(2)).ask()
    array([0.5, 0.5])

    """
    b = as_trade_off(trade_off)

    def build(scale: Scale) -> FirstOrderPolicy:
        G, R, unit, eagerness = scale
        return PrimalDual(decision_set, DecayingRates(R, G, b), unit, eagerness)

    return stand_alone("jenatton_2016", build, decision_set, horizon, preset, lipschitz, eagerness)


@baseline(
    source="Sun, Dey and Kapoor 2017",
    regret="T^{1/2}",
    ccv="T^{3/4}, signed sum",
    per_round="1 projection",
    sees="gradients",
    needs="known T; theory: G",
    confidence="high",
    practical="plays like mahdavi_2012",
)
def sun_safe(
    decision_set: DecisionSet,
    horizon: int | None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    bound: Lipschitz = None,
    eagerness: float = 1.0,
) -> FirstOrderPolicy:
    """Sun, Dey and Kapoor's safe online learning, Euclidean: one projection per round.

    eta = mu = sqrt(B/(T (Dg^2 + G^2))), theta = delta mu, delta = 2 G^2, with the mirror map
    ||x||^2/2, which is 1-strongly convex, and B = R^2/2 its radius. Constraints may change:
    regret O(sqrt T), sum of g_t O(T^{3/4}), a signed sum; fed with g_t^+ here. Specification read
    in the paper.

    Args:
        decision_set: where to play; R is its diameter.
        horizon: the number of rounds T, needed in both presets.
        preset: "practical" (G = 1, `Normalised`) or "theory".
        lipschitz: a bound G of all gradients' norms; `theory` needs it.
        bound: Dg, the largest violation of a round, or a pair (of costs, of constraints); G R if
            left out, true wherever some point satisfies the round. `theory` only.
        eagerness: the factor on the multiplier; more means less violation and more regret.

    Reference: W. Sun, D. Dey, A. Kapoor, Safety-aware algorithms for adversarial contextual
    bandit, ICML 2017, PMLR 70, 3280-3288.

    """
    T = rounds_needed(horizon, "sun_safe")

    def build(scale: Scale) -> FirstOrderPolicy:
        G, R, unit, eagerness = scale
        B = R**2 / 2.0
        mu = math.sqrt(B / (T * (_range(bound, G * R) ** 2 + G**2)))
        return PrimalDual(decision_set, ConstantRates(mu, mu, 2.0 * G**2 * mu), unit, eagerness, T)

    _theory_only(bound, preset)
    return stand_alone("sun_safe", build, decision_set, T, preset, lipschitz, eagerness)


@baseline(
    source="Yuan and Lamperski 2018",
    regret="T^{1/2}",
    ccv="T^{3/4}",
    per_round="1 projection",
    sees="gradients",
    needs="fixed constraints; known T; theory: G",
    confidence="medium: reconstruction",
    remark="reconstruction, its eta is Hedgerow's",
)
def yuan_lamperski_2018(
    decision_set: DecisionSet,
    horizon: int | None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
) -> FirstOrderPolicy:
    """Yuan and Lamperski's clipped Lagrangian: one projection per round, the multiplier forgets.

    lambda_t = g_t^+(x_t)/(sigma eta), sigma = 2 G^2 (one constraint, their a = 1/2),
    eta = R/(G sqrt(2 T)). For a fixed constraint: regret O(sqrt T), sum of (g^+)^2 O(sqrt T), hence
    CCV O(T^{3/4}). A reconstruction: its constants were not read in the paper, and eta has the
    factor R where the source at hand had 1/sqrt R, so that steps have the unit of the set.

    Args:
        decision_set: where to play; R is its diameter.
        horizon: the number of rounds T, needed in both presets.
        preset: "practical" (G = 1, `Normalised`) or "theory".
        lipschitz: a bound G of all gradients' norms; `theory` needs it.
        eagerness: the factor on the multiplier; more means less violation and more regret.

    Reference: J. Yuan, A. Lamperski, Online convex optimization for cumulative constraints,
    NeurIPS 2018, 6140-6149.

    """
    T = rounds_needed(horizon, "yuan_lamperski_2018")

    def build(scale: Scale) -> FirstOrderPolicy:
        G, R, unit, eagerness = scale
        eta = R / (G * math.sqrt(2.0 * T))
        return PrimalDual(decision_set, ForgetfulRates(eta, 2.0 * G**2), unit, eagerness, T)

    return stand_alone("yuan_lamperski_2018", build, decision_set, T, preset, lipschitz, eagerness)


def as_trade_off(value: float) -> float:
    """Return an exponent strictly between 0 and 1."""
    b = as_number(value, "trade_off")
    if not 0.0 < b < 1.0:
        raise ValueError(f"trade_off must lie between 0 and 1, got {b:g}; 0.5 balances the bounds")
    return b


def _range(bound: Lipschitz, derived: float) -> float:
    """Return Dg: given for the constraints, or derived from G R."""
    return derived if bound is None else as_pair(bound, "bound")[1]


def _theory_only(bound: Lipschitz, preset: Preset) -> None:
    if bound is not None and preset == "practical":
        raise ValueError("the practical preset takes no bound; leave it out, or use 'theory'")
