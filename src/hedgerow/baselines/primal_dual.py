"""Primal-dual policies for constraints of the long run: four papers, one update."""

from __future__ import annotations

import math

from hedgerow.baselines.lagrangian import ConstantRates, DecayingRates, ForgetfulRates, PrimalDual
from hedgerow.baselines.projecting import rounds_needed, stand_alone, units
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import as_number
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import Lipschitz, Preset, as_pair
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.sets.decision_set import DecisionSet

FirstOrderPolicy = ResumablePolicy[EvalGrad, EvalGrad]
TUNED = {
    "mahdavi_2012": 100.0,
    "jenatton_2016": 10.0,
    "sun_safe": 100.0,
    "yuan_lamperski_2018": 3.0,
}
"""What eagerness 1 means in the practical preset, chosen as in `stand_alone`."""
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
            left out, true wherever some point keeps the round. `theory` only.
        eagerness: the factor on the multiplier; more means less violation and more regret.

    Reference: M. Mahdavi, R. Jin, T. Yang, Trading regret for efficiency: online convex
    optimization with long term constraints, JMLR 13 (2012), 2503-2528.

    """
    T = rounds_needed(horizon, "mahdavi_2012", least=8)

    def build(G: float, eagerness: float) -> FirstOrderPolicy:
        unit, R = units(preset, decision_set)
        a = R * math.sqrt(2.0 * G**2 + 2.0 * _range(bound, G * R) ** 2)
        eta = R**2 / (a * math.sqrt(T))
        room = 1.0 - 16.0 * (eta * G) ** 2  # the discriminant of the condition on delta
        if room < 0.0 or LONG_ENOUGH * eta > 1.0 + 1e-9:
            least = max(LONG_ENOUGH, 4.0 * G) ** 2 * R**4 / a**2
            raise ValueError(
                f"T = {T} is too short for the theorem with lipschitz = {G:g} and bound = "
                f"{_range(bound, G * R):g}; use a horizon of at least {math.ceil(least - 1e-6)}"
            )
        delta = 4.0 * G**2 / (1.0 + math.sqrt(room))
        return PrimalDual(decision_set, ConstantRates(eta, eta, delta * eta), unit, eagerness, T)

    _theory_only(bound, preset)
    return stand_alone(build, decision_set, T, preset, lipschitz, eagerness, TUNED["mahdavi_2012"])


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

    def build(G: float, eagerness: float) -> FirstOrderPolicy:
        unit, R = units(preset, decision_set)
        return PrimalDual(decision_set, DecayingRates(R, G, b), unit, eagerness)

    return stand_alone(
        build, decision_set, horizon, preset, lipschitz, eagerness, TUNED["jenatton_2016"]
    )


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
            left out, true wherever some point keeps the round. `theory` only.
        eagerness: the factor on the multiplier; more means less violation and more regret.

    Reference: W. Sun, D. Dey, A. Kapoor, Safety-aware algorithms for adversarial contextual
    bandit, ICML 2017, PMLR 70, 3280-3288.

    """
    T = rounds_needed(horizon, "sun_safe")

    def build(G: float, eagerness: float) -> FirstOrderPolicy:
        unit, R = units(preset, decision_set)
        B = R**2 / 2.0
        mu = math.sqrt(B / (T * (_range(bound, G * R) ** 2 + G**2)))
        return PrimalDual(decision_set, ConstantRates(mu, mu, 2.0 * G**2 * mu), unit, eagerness, T)

    _theory_only(bound, preset)
    return stand_alone(build, decision_set, T, preset, lipschitz, eagerness, TUNED["sun_safe"])


@baseline(
    source="Yuan and Lamperski 2018",
    regret="T^{1/2}",
    ccv="T^{3/4}",
    per_round="1 projection",
    sees="gradients",
    needs="fixed constraints; known T; theory: G",
    confidence="medium: reconstruction",
    remark="reconstruction, its eta is ours",
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

    def build(G: float, eagerness: float) -> FirstOrderPolicy:
        unit, R = units(preset, decision_set)
        eta = R / (G * math.sqrt(2.0 * T))
        return PrimalDual(decision_set, ForgetfulRates(eta, 2.0 * G**2), unit, eagerness, T)

    return stand_alone(
        build, decision_set, T, preset, lipschitz, eagerness, TUNED["yuan_lamperski_2018"]
    )


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
