"""RECOO: a rectified penalty, kept in every step as a function."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hedgerow._engine.kernel import kernel, number, read
from hedgerow.baselines.penalised_step import Penalised
from hedgerow.baselines.projecting import stand_alone, units
from hedgerow.baselines.weighed_step import AFTER_STEP, QUEUE, RATES, ROUND, UNIT, WEIGH
from hedgerow.feedback import Full
from hedgerow.inputs import Vector
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import Preset
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.sets.decision_set import DecisionSet

Array = Vector
TUNED = 1.0
"""What eagerness 1 means in the practical preset, chosen as in `stand_alone`."""


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


@kernel(*WEIGH)
def weigh_recoo(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Return Q_t gamma_t and alpha_t."""
    own[ROUND] += 1.0
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

    weigh, after_step = weigh_recoo, raise_penalty

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

    def build(_G: float, eagerness: float) -> ResumablePolicy[Full, Full]:
        unit, _ = units(preset, decision_set)
        return Recoo(decision_set, RecooRates(unit=unit), eagerness)

    return stand_alone(build, decision_set, horizon, preset, "not needed", eagerness, TUNED)
