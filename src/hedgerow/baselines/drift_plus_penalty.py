"""Drift-plus-penalty policies: the violation waits in a queue, whose length weighs it."""

from __future__ import annotations

import math

from hedgerow.baselines.projecting import rounds_needed, stand_alone, units
from hedgerow.baselines.queues import DriftPlusPenalty, VirtualQueue
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import as_count
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import Lipschitz, Preset
from hedgerow.protocols.parts import Policy
from hedgerow.sets.decision_set import DecisionSet

FirstOrderPolicy = Policy[EvalGrad, EvalGrad]
TUNED = {"yu_neely_wei_2017": 100.0, "neely_yu_2017": 100.0, "yu_neely_2020": 0.03, "cold": 100.0}
"""What eagerness 1 means in the practical preset, chosen as in `stand_alone`."""


@baseline(
    source="Yu, Neely and Wei 2017",
    regret="T^{1/2}",
    ccv="T^{1/2}, signed sum",
    per_round="1 projection",
    sees="gradients",
    needs="Slater: out of scope, told g^+; independent, identically distributed constraints; "
    "known T",
    confidence="high",
    remark="out of scope: Slater, told g^+",
    plays_as="cold",
)
def yu_neely_wei_2017(
    decision_set: DecisionSet,
    horizon: int | None,
    *,
    preset: Preset = "practical",
    eagerness: float = 1.0,
) -> FirstOrderPolicy:
    """Yu, Neely and Wei's drift-plus-penalty for stochastic constraints: one projection a round.

    `DriftPlusPenalty` with V = sqrt T, alpha = T. For constraints drawn independently from one
    law, with a Slater point: expected regret O(sqrt T) and sum of g_t O(sqrt T), a signed sum.
    It is fed with g_t^+ here, which has no Slater point: no guarantee is left. Specification read.

    Args:
        decision_set: where to play.
        horizon: the number of rounds T, needed in both presets.
        preset: "theory" is the paper's V and alpha, which know neither units nor the set's size;
            "practical" measures costs, constraints and the set in their own units.
        eagerness: the factor on the queue; more means less violation and more regret.

    Reference: H. Yu, M. J. Neely, X. Wei, Online convex optimization with stochastic constraints,
    NIPS 2017, 1428-1438.

    """
    T = rounds_needed(horizon, "yu_neely_wei_2017")
    return _queued(decision_set, T, math.sqrt(T), T, preset, eagerness, TUNED["yu_neely_wei_2017"])


@baseline(
    source="Neely and Yu 2017",
    regret="T^{1/2}",
    ccv="T^{1/2}, signed sum",
    per_round="1 projection",
    sees="gradients",
    needs="Slater: out of scope, told g^+; known T",
    confidence="medium to high",
    remark="out of scope: Slater, told g^+",
    plays_as="cold",
)
def neely_yu_2017(
    decision_set: DecisionSet,
    horizon: int | None,
    *,
    preset: Preset = "practical",
    eagerness: float = 1.0,
) -> FirstOrderPolicy:
    """Neely and Yu's drift-plus-penalty for constraints that change: one projection a round.

    The update and the constants of `yu_neely_wei_2017`, so the same plays; the theorem differs.
    Constraints may change at will as long as one point keeps all of them with room to spare:
    regret O(sqrt T), sum of g_t O(sqrt T), a signed sum. Fed with g_t^+ here, which has no Slater
    point: no guarantee is left. Specification from two papers that restate it.

    Args:
        decision_set: where to play.
        horizon: the number of rounds T, needed in both presets.
        preset: as in `yu_neely_wei_2017`.
        eagerness: the factor on the queue; more means less violation and more regret.

    Reference: M. J. Neely, H. Yu, Online convex optimization with time-varying constraints,
    arXiv 1702.04783 (2017).

    """
    T = rounds_needed(horizon, "neely_yu_2017")
    return _queued(decision_set, T, math.sqrt(T), T, preset, eagerness, TUNED["neely_yu_2017"])


@baseline(
    source="Liakopoulos et al. 2019",
    regret="T^{1/2}",
    ccv="T^{3/4}, signed sum",
    per_round="1 projection",
    sees="gradients",
    needs="feasible windows; known T",
    confidence="high",
)
def cold(
    decision_set: DecisionSet,
    horizon: int | None,
    *,
    preset: Preset = "practical",
    window: int = 1,
    eagerness: float = 1.0,
) -> FirstOrderPolicy:
    """Liakopoulos et al.'s cautious online Lagrangian descent (COLD): one projection a round.

    `DriftPlusPenalty` with V = sqrt(K T), alpha = max(T, V sqrt T). Against the best point whose
    violations sum to at most 0 over every window of K rounds: regret O(K T/V + sqrt T), sum of g_t
    O(sqrt(V T)), a signed sum; no Slater point needed, so the bound survives that it is fed
    with g_t^+ here. Fed so, violations cannot make up for each other: a window K > 1 no longer
    enlarges the benchmark, and only makes the bounds larger. With K = 1 the plays are those of
    `neely_yu_2017`. Specification read in the paper.

    Args:
        decision_set: where to play.
        horizon: the number of rounds T, needed in both presets.
        preset: as in `yu_neely_wei_2017`.
        window: K, from 1 to T.
        eagerness: the factor on the queue; more means less violation and more regret.

    Reference: N. Liakopoulos, A. Destounis, G. Paschos, T. Spyropoulos, P. Mertikopoulos,
    Cautious regret minimization: online optimization with long-term budget constraints,
    ICML 2019, PMLR 97, 3944-3952.

    """
    T, K = rounds_needed(horizon, "cold"), as_count(window, "window")
    if K > T:
        raise ValueError(f"window must be at most the horizon {T}, got {K}")
    V, alpha = math.sqrt(K * T), math.sqrt(K) * T  # max(T, V sqrt T)
    return _queued(decision_set, T, V, alpha, preset, eagerness, TUNED["cold"])


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
    """Yu and Neely's low-violation queue: one projection a round.

    `VirtualQueue` with gamma = T^{1/4}, alpha = (G^2 + 1) sqrt(T)/2. For a fixed and known linear
    constraint: regret O(sqrt T), violations O(1) with a Slater point, O(T^{1/4}) without. Here
    the constraint of the last round stands in for the next one's, linearised where it is curved,
    and g_t^+ is fed. A reconstruction from memory and the authors' public code.

    Args:
        decision_set: where to play.
        horizon: the number of rounds T, needed in both presets.
        preset: as in `yu_neely_wei_2017`.
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


def _queued(
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
