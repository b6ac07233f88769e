"""Yi et al.: penalised steps whose rates follow the learning rate alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hedgerow._engine.kernel import kernel, number, read
from hedgerow.baselines.penalised_step import Penalised
from hedgerow.baselines.primal_dual import as_trade_off
from hedgerow.baselines.projecting import stand_alone, units
from hedgerow.baselines.weighed_step import QUEUE, RATES, ROUND, WEIGH
from hedgerow.feedback import Full
from hedgerow.inputs import Vector
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import Lipschitz, Preset
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.sets.decision_set import DecisionSet

Array = Vector
TUNED = {"yi_2021": 10.0, "yi_2023": 100.0}
"""What eagerness 1 means in the practical preset, chosen as in `stand_alone`."""


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


@kernel(*WEIGH)
def weigh_2021(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Move the queue; return gamma_{t+1} qhat_t and 1 / alpha_t."""
    own[ROUND] += 1.0
    now, later = alpha_of(rates, own[ROUND]), alpha_of(rates, own[ROUND] + 1.0)
    more = rates[GAMMA] / math.sqrt(now) * max(0.0, value)
    own[QUEUE] += more
    return rates[GAMMA] / math.sqrt(later) * (own[QUEUE] + more), 1.0 / now


@kernel(*WEIGH)
def weigh_2023(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Return v_{t+1} and 1 / alpha_t."""
    own[ROUND] += 1.0
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

    weigh = weigh_2021


class Yi2023(Penalised[YiRates]):
    """The weight of the last violation alone.

    v_{t+1} = gamma_t g_t^+(x_t), gamma_t = gamma_0/alpha_t,
    x_{t+1} = argmin alpha_t <grad f_t, x> + alpha_t v_{t+1} g_t^+(x) + ||x - x_t||^2.

    Args:
        decision_set: where to play; it must know its projection.
        rates: alpha_t and gamma_0.
        eagerness: the factor on the constraint's weight.

    """

    weigh = weigh_2023


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

    def build(_G: float, eagerness: float) -> ResumablePolicy[Full, Full]:
        alpha_0, _ = units(preset, decision_set)
        return Yi2021(decision_set, YiRates(alpha_0, 1.0, c), eagerness)

    tuned = TUNED["yi_2021"]
    return stand_alone(build, decision_set, horizon, preset, "not needed", eagerness, tuned)


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

    def build(G: float, eagerness: float) -> ResumablePolicy[Full, Full]:
        alpha_0, _ = units(preset, decision_set)
        return Yi2023(decision_set, YiRates(alpha_0, 1.0 / (4.0 * G**2), c), eagerness)

    return stand_alone(build, decision_set, horizon, preset, lipschitz, eagerness, TUNED["yi_2023"])
