"""Drift-plus-penalty policies: the violation waits in a queue, whose length weighs it."""

from __future__ import annotations

import math

from hedgerow._engine.kernel import kernel
from hedgerow.baselines.projecting import rounds_needed, stand_alone, units
from hedgerow.baselines.weighed_step import (
    AFTER_STEP,
    EAGERNESS,
    QUEUE,
    RATES,
    ROUND,
    UNIT,
    WEIGH,
    ProjectedStep,
)
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_count
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import Lipschitz, Preset
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.sets.decision_set import DecisionSet

Array = Vector

V, ALPHA = RATES, RATES + 1
GAMMA = RATES
"""The rates of both policies; alpha comes second in both."""


@kernel(*WEIGH)
def weigh_drift(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Return V/(2 alpha) and Q/(2 alpha), in the unit of the set."""
    own[ROUND] += 1.0
    length = rates[UNIT] / (2.0 * rates[ALPHA])
    return length * rates[V], length * own[QUEUE] if value > 0.0 else 0.0


@kernel(*AFTER_STEP)
def after_drift_step(own: Array, rates: Array, value: float, moved: float) -> None:
    """Q_{t+1} = [Q_t + g_t^+(x_t) + <grad g_t^+, x_{t+1} - x_t>]_+."""
    change = (value + moved) / rates[UNIT] if value > 0.0 else 0.0
    own[QUEUE] = max(own[QUEUE] + rates[EAGERNESS] * change, 0.0)


@kernel(*WEIGH)
def weigh_virtual(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Return 1/(2 alpha) and (Q + gt(x_t)) gamma/(2 alpha)."""
    own[ROUND] += 1.0
    length = rates[UNIT] / (2.0 * rates[ALPHA])
    if not value > 0.0:
        return length, 0.0
    waiting = own[QUEUE] + rates[GAMMA] / rates[UNIT] * value
    return length, length * (rates[EAGERNESS] * waiting * rates[GAMMA])


@kernel(*AFTER_STEP)
def after_virtual_step(own: Array, rates: Array, value: float, moved: float) -> None:
    """Q_{t+1} = Q_t + gt(x_{t+1}), with g_t linearised at x_t."""
    own[QUEUE] += rates[GAMMA] / rates[UNIT] * max(0.0, value + moved)


class _Queued(ProjectedStep):
    """A projected point and the length Q of its queue of violations."""

    @property
    def queue(self) -> float:
        """The length of the queue, Q."""
        return float(self._state["queue"][0])


class DriftPlusPenalty(_Queued):
    """Q waits for violations that were not worked off yet; their first-order change counts too.

    x_{t+1} = P(x_t - (V grad f_t + Q_t grad g_t)/(2 alpha)),
    Q_{t+1} = [Q_t + g_t(x_t) + <grad g_t, x_{t+1} - x_t>]_+ with g_t^+ for g_t.

    Args:
        decision_set: where to play; it must know its projection.
        V: the weight on the cost.
        alpha: the proximal weight.
        unit: the unit in which distances are measured.
        eagerness: the factor on what enters the queue.
        horizon: the number of rounds that V and alpha were made for.

    """

    after_step = after_drift_step

    def __init__(
        self,
        decision_set: DecisionSet,
        V: float,
        alpha: float,
        unit: float = 1.0,
        eagerness: float = 1.0,
        horizon: int | None = None,
    ):
        super().__init__(decision_set, weigh_drift, (V, alpha), unit, eagerness, horizon)
        self.V, self.alpha = V, alpha


class VirtualQueue(_Queued):
    """Q sums what the last round's constraint is broken by at the next play: gt = gamma g_t^+.

    x_{t+1} = P(x_t - (grad f_t + (Q_t + gt(x_t)) grad gt)/(2 alpha)),
    Q_{t+1} = Q_t + gt(x_{t+1}), where g_t, sign and all, is linearised at x_t and clipped
    afterwards: exact for affine constraints, also where a step leaves g_t <= 0. (The original's
    max(-gt(x_{t+1}), .) is for a signed gt.)

    Args:
        decision_set: where to play; it must know its projection.
        gamma: the factor on the constraint.
        alpha: the proximal weight.
        unit: the unit in which distances are measured.
        eagerness: the factor on the queue's weight in the step.
        horizon: the number of rounds that gamma and alpha were made for.

    """

    after_step = after_virtual_step

    def __init__(
        self,
        decision_set: DecisionSet,
        gamma: float,
        alpha: float,
        unit: float = 1.0,
        eagerness: float = 1.0,
        horizon: int | None = None,
    ):
        super().__init__(decision_set, weigh_virtual, (gamma, alpha), unit, eagerness, horizon)
        self.gamma, self.alpha = gamma, alpha


FirstOrderPolicy = ResumablePolicy[EvalGrad, EvalGrad]
TUNED = {"liakopoulos_cold": 100.0, "yu_neely_2020": 0.03}
"""What eagerness 1 means in the practical preset, chosen as in `stand_alone`."""


@baseline(
    source="Liakopoulos et al. 2019; Neely and Yu 2017; Yu, Neely and Wei 2017",
    regret="T^{1/2}",
    ccv="T^{3/4}, signed sum",
    per_round="1 projection",
    sees="gradients",
    needs="feasible windows; known T",
    confidence="high",
)
def liakopoulos_cold(
    decision_set: DecisionSet,
    horizon: int | None,
    *,
    preset: Preset = "practical",
    window: int = 1,
    eagerness: float = 1.0,
) -> FirstOrderPolicy:
    """Cautious online Lagrangian descent (COLD), a drift-plus-penalty: one projection per round.

    `DriftPlusPenalty` with V = sqrt(K T), alpha = max(T, V sqrt T). Against the best point whose
    violations sum to at most 0 over every window of K rounds: regret O(K T/V + sqrt T), sum of g_t
    O(sqrt(V T)), a signed sum; no Slater point needed, so the bound survives that it is fed
    with g_t^+ here. Fed so, violations cannot make up for each other: a window K > 1 no longer
    enlarges the benchmark, and only makes the bounds larger.

    With K = 1, the default, the update and its constants are also those of Neely and Yu and of Yu,
    Neely and Wei: one method of three papers. Theirs prove more, regret and sum of g_t O(sqrt T),
    where one point keeps every constraint with room to spare (Slater); Yu, Neely and Wei for
    constraints drawn independently from one law. g_t^+ has no such point, so neither theorem
    applies here. Specification read in the first and the third paper, that of the second in two
    papers that restate it.

    Args:
        decision_set: where to play.
        horizon: the number of rounds T, needed in both presets.
        preset: "theory" is the papers' V and alpha, which know neither units nor the set's size;
            "practical" measures costs, constraints and the set in their own units.
        window: K, from 1 to T.
        eagerness: the factor on the queue; more means less violation and more regret.

    References: N. Liakopoulos, A. Destounis, G. Paschos, T. Spyropoulos, P. Mertikopoulos,
    Cautious regret minimization: online optimization with long-term budget constraints,
    ICML 2019, PMLR 97, 3944-3952. M. J. Neely, H. Yu, Online convex optimization with time-varying
    constraints, arXiv 1702.04783 (2017). H. Yu, M. J. Neely, X. Wei, Online convex optimization
    with stochastic constraints, NIPS 2017, 1428-1438.

    """
    T, K = rounds_needed(horizon, "liakopoulos_cold"), as_count(window, "window")
    if K > T:
        raise ValueError(f"window must be at most the horizon {T}, got {K}")
    V, alpha = math.sqrt(K * T), math.sqrt(K) * T  # max(T, V sqrt T)
    return _with_queue(decision_set, T, V, alpha, preset, eagerness, TUNED["liakopoulos_cold"])


@baseline(
    source="Yu and Neely 2020",
    regret="T^{1/2}",
    ccv="1",
    per_round="1 projection",
    sees="gradients",
    needs="a fixed constraint and Slater: out of scope; known T; theory: G",
    confidence="medium to high: reconstruction",
    remark="out of scope: fixed constraint, Slater; reconstruction",
)
def yu_neely_2020(
    decision_set: DecisionSet,
    horizon: int | None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
) -> FirstOrderPolicy:
    """Yu and Neely's low-violation queue: one projection per round.

    `VirtualQueue` with gamma = T^{1/4}, alpha = (G^2 + 1) sqrt(T)/2. For a fixed and known linear
    constraint: regret O(sqrt T), violations O(1) with a Slater point, O(T^{1/4}) without. Here
    the constraint of the last round stands in for the next one's, linearised where it is curved,
    and g_t^+ is fed. A reconstruction from memory and the authors' public code.

    Args:
        decision_set: where to play.
        horizon: the number of rounds T, needed in both presets.
        preset: as in `liakopoulos_cold`.
        lipschitz: a bound G of all constraints' gradients; `theory` needs it.
        eagerness: the factor on the queue's weight; more means less violation and more regret.

    Reference: H. Yu, M. J. Neely, A low complexity algorithm with O(sqrt T) regret and O(1)
    constraint violations for online convex optimization with long term constraints, JMLR 21
    (2020), 1-24.

    """
    T = rounds_needed(horizon, "yu_neely_2020")

    def build(G: float, eagerness: float) -> FirstOrderPolicy:
        gamma, alpha = T**0.25, (G**2 + 1.0) * math.sqrt(T) / 2.0
        unit, _ = units(preset, decision_set)
        return VirtualQueue(decision_set, gamma, alpha, unit, eagerness, T)

    return stand_alone(build, decision_set, T, preset, lipschitz, eagerness, TUNED["yu_neely_2020"])


def _with_queue(
    decision_set: DecisionSet,
    T: int,
    V: float,
    alpha: float,
    preset: Preset,
    eagerness: float,
    tuned: float,
) -> FirstOrderPolicy:
    def build(_G: float, eagerness: float) -> FirstOrderPolicy:
        unit, _ = units(preset, decision_set)
        return DriftPlusPenalty(decision_set, V, alpha, unit, eagerness, T)

    return stand_alone(build, decision_set, T, preset, "not needed", eagerness, tuned)
