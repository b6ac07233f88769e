"""RECOO and the methods of Yi et al.: each step has the rectified constraint as a penalty."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hedgerow._engine.kernel import kernel, number, read
from hedgerow.baselines.normalised import Scale, stand_alone
from hedgerow.baselines.penalised_step import Penalised
from hedgerow.baselines.primal_dual import as_trade_off
from hedgerow.baselines.projected_step import AFTER_STEP, QUEUE, RATES, ROUND, STEP_WEIGHTS, UNIT
from hedgerow.feedback import Full
from hedgerow.inputs import Vector
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import Lipschitz, Preset
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.sets.decision_set import DecisionSet

Array = Vector


@dataclass(frozen=True)
class RecooRates:
    """alpha_t = sqrt t, eta_t = sqrt t, gamma_t = t^{1/2+epsilon}, distances in a unit.

    Args:
        epsilon: how much faster than t the penalty's weight grows.
        unit: the unit in which distances are measured.

    """

    epsilon: float = 0.1
    unit: float = 1.0


EPSILON = RATES
"""Where the kernels find it."""


@kernel(number, read, number)
def gamma(rates: Array, t: float) -> float:
    """Return gamma_t, the factor on the constraint."""
    return math.pow(t, 0.5 + rates[EPSILON])


@kernel(*STEP_WEIGHTS)
def recoo_step_weights(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Return Q_t gamma_t and alpha_t."""
    t = own[ROUND]
    return own[QUEUE] * gamma(rates, t), math.sqrt(t) / rates[UNIT]


@kernel(*AFTER_STEP)
def raise_penalty(own: Array, rates: Array, value: float, left: float) -> None:
    """Move to Q_{t+1}, which is eta_{t+1} at least."""
    t = own[ROUND]
    own[QUEUE] = max(own[QUEUE] + gamma(rates, t) * (left / rates[UNIT]), math.sqrt(t + 1.0))


class Recoo(Penalised[RecooRates]):
    """The penalty Q_t grows with violations, and never falls below eta_t.

    x_{t+1} = argmin over X of <grad f_t, x - x_t> + Q_t gamma_t g_t^+(x) + alpha_t ||x - x_t||^2,
    Q_{t+1} = max(Q_t + gamma_t g_t^+(x_{t+1}), eta_{t+1}), Q_1 = eta_1.

    Args:
        decision_set: where to play; it must know its projection.
        rates: alpha_t, eta_t, gamma_t.
        eagerness: the factor on the constraint's weight.

    """

    step_weights, after_step = recoo_step_weights, raise_penalty

    def __init__(
        self, decision_set: DecisionSet, rates: RecooRates | None = None, eagerness: float = 1.0
    ):
        rates = RecooRates() if rates is None else rates
        super().__init__(decision_set, rates, eagerness, rates.unit)
        self._state["queue"][0] = 1.0  # Q_1 = eta_1


@baseline(
    source="Guo, Liu, Wei and Ying 2022",
    regret="T^{1/2}",
    ccv="T^{3/4}",
    per_round="1 convex programme",
    sees="whole",
    needs="none",
    confidence="high for the update, medium for the schedules",
    remark="schedules reconstructed",
)
def guo_recoo(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    preset: Preset = "practical",
    eagerness: float = 1.0,
) -> ResumablePolicy[Full, Full]:
    """Guo, Liu, Wei and Ying's rectified online optimisation (RECOO): anytime, whole constraints.

    Regret O(sqrt T); CCV O(T^{3/4}), O(1) for a constraint that stays the same; no Slater point,
    no constants. Every round solves a convex programme over X (`penalty_step`): two or three
    projections for linear constraints, hundreds for curved ones. The weight grows like t^{1.1}, so
    that the step is nearly hard-constrained. The update is certain; the schedules are a
    reconstruction from which the claimed rates follow.

    Args:
        decision_set: where to play.
        horizon: not needed.
        preset: "theory" is alpha_t = eta_t = sqrt t, gamma_t = t^{0.6}; "practical" measures
            costs, constraints and the set in their own units.
        eagerness: the factor on the constraint's weight; more means less violation.

    Reference: H. Guo, X. Liu, H. Wei, L. Ying, Online convex optimization with hard constraints:
    towards the best of two worlds and beyond, NeurIPS 2022.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> guo_recoo(Simplex(2)).ask()
    array([0.5, 0.5])

    """

    def build(scale: Scale) -> ResumablePolicy[Full, Full]:
        return Recoo(decision_set, RecooRates(unit=scale.unit), scale.eagerness)

    name = "guo_recoo"
    return stand_alone(name, build, decision_set, horizon, preset, "not needed", eagerness)


@dataclass(frozen=True)
class YiRates:
    """alpha_t = alpha_0 / t^c and gamma_0."""

    alpha_0: float
    gamma_0: float
    c: float


ALPHA, GAMMA, POWER = RATES, RATES + 1, RATES + 2
"""Where the kernels find them."""


@kernel(number, read, number)
def alpha_of(rates: Array, t: float) -> float:
    """Return alpha_t, the learning rate of round t."""
    return float(rates[ALPHA] / math.pow(t, rates[POWER]))


@kernel(*STEP_WEIGHTS)
def step_weights_2021(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Move the queue; return gamma_{t+1} qhat_t and 1 / alpha_t."""
    now, later = alpha_of(rates, own[ROUND]), alpha_of(rates, own[ROUND] + 1.0)
    more = rates[GAMMA] / math.sqrt(now) * max(0.0, value)
    own[QUEUE] += more
    return rates[GAMMA] / math.sqrt(later) * (own[QUEUE] + more), 1.0 / now


@kernel(*STEP_WEIGHTS)
def step_weights_2023(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Return v_{t+1} and 1 / alpha_t."""
    alpha = alpha_of(rates, own[ROUND])
    own[QUEUE] = rates[GAMMA] / alpha * max(0.0, value)
    return own[QUEUE], 1.0 / alpha


class Yi2021(Penalised[YiRates]):
    """The queue of violations, counted twice in the round they happen.

    q_t = q_{t-1} + gamma_t g_t^+(x_t), qhat_t = q_t + gamma_t g_t^+(x_t),
    x_{t+1} = argmin alpha_t <grad f_t, x> + alpha_t gamma_{t+1} qhat_t g_t^+(x) + ||x - x_t||^2,
    gamma_t = gamma_0/sqrt(alpha_t).

    Args:
        decision_set: where to play; it must know its projection.
        rates: alpha_t and gamma_0.
        eagerness: the factor on the constraint's weight.

    """

    step_weights = step_weights_2021


class Yi2023(Penalised[YiRates]):
    """The weight of the last violation alone.

    v_{t+1} = gamma_t g_t^+(x_t), gamma_t = gamma_0/alpha_t,
    x_{t+1} = argmin alpha_t <grad f_t, x> + alpha_t v_{t+1} g_t^+(x) + ||x - x_t||^2.

    Args:
        decision_set: where to play; it must know its projection.
        rates: alpha_t and gamma_0.
        eagerness: the factor on the constraint's weight.

    """

    step_weights = step_weights_2023


@baseline(
    source="Yi et al. 2021",
    regret="T^{max(c, 1-c)}",
    ccv="T^{(1-c)/2}",
    per_round="1 convex programme",
    sees="whole",
    needs="a fixed constraint: out of scope",
    confidence="medium: reconstruction",
    remark="out of scope: fixed constraint; reconstruction",
)
def yi_2021(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    preset: Preset = "practical",
    trade_off: float = 0.5,
    eagerness: float = 1.0,
) -> ResumablePolicy[Full, Full]:
    """Yi et al. 2021: anytime, whole constraints, for a constraint that stays the same.

    Regret O(T^{max(c, 1-c)}), CCV O(T^{(1-c)/2}) for a fixed and known constraint; where it
    changes, the last round's stands in for the next one's and nothing is promised. One convex
    programme per round (`penalty_step`). A reconstruction from memory, with gamma_0 = 1 and
    alpha_0 = 1 in the theory preset, the set's diameter in the practical one.

    Args:
        decision_set: where to play.
        horizon: not needed.
        preset: "practical" (`Normalised`, distances in the set's unit) or "theory".
        trade_off: c in (0, 1).
        eagerness: the factor on the constraint's weight; more means less violation.

    Reference: X. Yi, X. Li, T. Yang, L. Xie, T. Chai, K. H. Johansson, Regret and cumulative
    constraint violation analysis for online convex optimization with long term constraints,
    ICML 2021, PMLR 139, 11998-12008.

    """
    c = as_trade_off(trade_off)

    def build(scale: Scale) -> ResumablePolicy[Full, Full]:
        rates = YiRates(alpha_0=scale.unit, gamma_0=1.0, c=c)
        return Yi2021(decision_set, rates, scale.eagerness)

    name = "yi_2021"
    return stand_alone(name, build, decision_set, horizon, preset, "not needed", eagerness)


@baseline(
    source="Yi et al. 2023, one agent",
    regret="T^{max(c, 1-c)}",
    ccv="T^{1-c/2}",
    per_round="1 convex programme",
    sees="whole",
    needs="none; theory: G",
    confidence="medium: reconstruction",
    remark="reconstruction",
)
def yi_2023(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    trade_off: float = 0.5,
    eagerness: float = 1.0,
) -> ResumablePolicy[Full, Full]:
    """Yi et al. 2023 with one agent: anytime, whole constraints, which may change.

    Regret O(T^{max(c, 1-c)}), CCV O(T^{1-c/2}), O(T^{1-c}) with a Slater point. The original is a
    distributed method; with one agent its consensus step disappears. One convex programme per round
    (`penalty_step`). A reconstruction, with gamma_0 = 1/(4 G^2), the largest allowed.

    Args:
        decision_set: where to play.
        horizon: not needed.
        preset: "practical" (`Normalised`, distances in the set's unit) or "theory".
        lipschitz: a bound G of all gradients' norms; `theory` needs it.
        trade_off: c in (0, 1).
        eagerness: the factor on the constraint's weight; more means less violation.

    Reference: X. Yi, X. Li, T. Yang, L. Xie, Y. Hong, T. Chai, K. H. Johansson, Distributed online
    convex optimization with adversarial constraints: reduced cumulative constraint violation
    bounds under Slater's condition, arXiv 2306.00149 (2023).

    """
    c = as_trade_off(trade_off)

    def build(scale: Scale) -> ResumablePolicy[Full, Full]:
        rates = YiRates(alpha_0=scale.unit, gamma_0=1.0 / (4.0 * scale.G**2), c=c)
        return Yi2023(decision_set, rates, scale.eagerness)

    return stand_alone("yi_2023", build, decision_set, horizon, preset, lipschitz, eagerness)
