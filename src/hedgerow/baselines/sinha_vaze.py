"""Sinha and Vaze's exponential price on the violation, and two methods that are built on it."""

from __future__ import annotations

import math

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import as_count, as_positive
from hedgerow.learners.projected_descent import AdaGrad, StronglyConvexOGD
from hedgerow.learners.separation_ogd import SeparationAdaGrad
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import (
    Lipschitz,
    Preset,
    check_preset,
    given_ratio,
    needed_horizon,
    needed_lipschitz,
    refuse_eagerness,
    warn_if_vacuous,
)
from hedgerow.policies.theorem import AT_ONCE, CONVEX, FEASIBLE, ONE_CONSTANT, Theorem
from hedgerow.protocols.parts import Learner
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.current import CurrentSurrogate
from hedgerow.surrogates.potentials import (
    AnytimeExponential,
    ExponentialPotential,
    Potential,
    PowerPotential,
)
from hedgerow.surrogates.ranges import FixedRanges, WorstCaseRanges

THEOREM_RATE = 0.5
"""lambda sqrt(T) in the theorem."""
PRACTICAL_RATE = 6.0
"""lambda sqrt(T) in learnt ranges: the best of 0.5, 1, 2, 4, 6, 10 and 16 by the score, on the
games, seeds and horizon of `TUNED`: 1.32 at 2, 0.72 at 6, 0.82 at 10."""
HIGHEST_RATE = 0.3
"""The largest lambda_t where the horizon is not known, PRACTICAL_RATE/20 in all trials: the score
was 0.61, 0.62 and 0.57 at rates 4, 6 and 10."""


@baseline(
    source="Sinha and Vaze 2024",
    regret="T^{1/2}",
    ccv="T^{1/2} log T",
    per_round="1 projection",
    sees="gradients",
    needs="none; theory: known T, G",
    confidence="high",
)
def sinha_vaze_2024(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
) -> ConstrainedPolicy[EvalGrad]:
    """Optimal regret and CCV, with one projection per round: AdaGrad on f_t + w_t g_t^+.

    w_t = lambda exp(lambda Q(t)) with Q(t) the violation so far, this round's included, in units of
    2 G D; x_{t+1} = P_X(x_t - eta_t s_t), eta_t = D / sqrt(2 sum of ||s||^2), s_t the gradient of
    that loss along the set.

    `theory` is the algorithm box: lambda = 1/(2 sqrt T). Regret_t <= 2 G D (sqrt t + 1) for every
    t <= T and CCV_T <= 4 G D sqrt(T) log(2 (1 + 2 T)), for convex functions, any constraints, no
    Slater point. The weight is 1 only once CCV is 4 G D sqrt(T) log(2 sqrt T): 0.44 of the most
    that is possible at T = 1600. Below T of about 170 it can never be 1, which is warned of, and
    below about 1100 the bound of CCV is above G D T. (The paper's appendix restates another
    weight than its box; this is the box.)

    `practical` needs no constants and no unit: lambda = 6/sqrt T, in units of the largest violation
    of a round, the weight times Gf/Gg, both learnt; without a horizon lambda_t = min(0.3,
    6/sqrt t), which is `sarkar_sinha_2025`. `certificate()` says afterwards what was achieved.

    Args:
        decision_set: where to play; it must be able to project.
        horizon: the number of rounds T; `theory` needs it.
        preset: "practical" or "theory".
        lipschitz: G, a bound of the norms of all gradients along the set, or a pair (costs,
            constraints). `theory` needs it; in `practical` it replaces the learnt Gf/Gg.
        eagerness: factor on lambda; more means less violation and more regret. Not in `theory`.

    Reference: Sinha and Vaze, NeurIPS 2024; from its pseudocode for convex costs.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> policy = sinha_vaze_2024(Simplex(3), horizon=1000)
    >>> policy.surrogate.potential.rate == 6.0 / math.sqrt(1000.0)
    True

    """
    check_preset(preset, decision_set, horizon)
    learner = AdaGrad(decision_set)
    surrogate = priced(learner, horizon, preset, lipschitz, eagerness)
    if preset == "practical":
        return ConstrainedPolicy(learner, surrogate)
    T, G = needed_horizon(horizon), needed_lipschitz(lipschitz)
    constants = (("T", float(T)), ("G", G), ("D", decision_set.diameter))
    theorem = Theorem("Sinha and Vaze 2024", constants, (CONVEX, ONE_CONSTANT, FEASIBLE, AT_ONCE))
    return ConstrainedPolicy(learner, surrogate, (theorem,))


def priced(
    learner: Learner[EvalGrad],
    horizon: int | None,
    preset: Preset,
    lipschitz: Lipschitz,
    eagerness: float,
) -> CurrentSurrogate:
    """Return the surrogate f_t + lambda exp(lambda Q(t)) g_t^+, its arguments as above."""
    if preset == "practical":
        eager = as_positive(eagerness, "eagerness")
        return learnt(learner, practical_potential(horizon, eager), lipschitz)
    refuse_eagerness(eagerness)
    T, G = needed_horizon(horizon), needed_lipschitz(lipschitz)
    warn_if_vacuous(T, lambda T: box_potential(T).weight(T / 2.0))  # Q(T) <= beta G D T = T/2
    return CurrentSurrogate(box_potential(T), 0.0, scaled(learner, G))


def box_potential(horizon: int) -> ExponentialPotential:
    """Return Phi(q) = exp(lambda q) - 1 with lambda = 1/(2 sqrt T); V = 1."""
    return ExponentialPotential(THEOREM_RATE / math.sqrt(horizon))


def practical_potential(horizon: int | None, eagerness: float) -> Potential:
    """Return the exponential at the practical rate, which falls where no horizon is known."""
    if horizon is None:
        return AnytimeExponential(eagerness * PRACTICAL_RATE, eagerness * HIGHEST_RATE)
    return ExponentialPotential(eagerness * PRACTICAL_RATE / math.sqrt(horizon))


def scaled(learner: Learner[EvalGrad], G: float) -> FixedRanges:
    """Return the theorem's unit of violation, 1/beta = 2 G D."""
    return FixedRanges(violation=2.0 * G * learner.decision_set.diameter)


def learnt(
    learner: Learner[EvalGrad], potential: Potential, lipschitz: Lipschitz
) -> CurrentSurrogate:
    """Return the surrogate whose violations are measured in units learnt from the rounds."""
    return CurrentSurrogate(potential, 0.0, WorstCaseRanges(learner, None, given_ratio(lipschitz)))


def sinha_vaze_2024_strongly_convex(
    decision_set: DecisionSet,
    horizon: int,
    modulus: float,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
) -> ConstrainedPolicy[EvalGrad]:
    """Logarithmic regret for strongly convex costs: f_t + (2 CCV/V) g_t^+, steps 1/(a t).

    Phi(q) = q^2, V = 8 G^2 log(T e)/a. The surrogate V f_t + Phi'(Q) g_t^+ has modulus V a, so its
    steps are 1/(V a t) (the paper's box says 1/(a t), its proof V a); divided by V they are as
    above. Regret_t <= (G^2/a)(1 + log t) and
    CCV_t <= 4 G sqrt((G D/a) t log(T e)) + 4 G^2 log(T e)/a for every t <= T.

    `practical` has learnt ranges in place of G: the weight is (Gf/Gg) (CCV/Mg) / (4 log(T e)).

    Args:
        decision_set: where to play; it must be able to project.
        horizon: the number of rounds T.
        modulus: a, with f(y) >= f(x) + <f'(x), y - x> + (a/2)||y - x||^2 for all costs, in units of
            cost per squared length; if costs are multiplied by a factor, multiply it too.
        preset: "practical" or "theory".
        lipschitz: as in `sinha_vaze_2024`.
        eagerness: factor on the weight. Not in `theory`.

    Reference: Sinha and Vaze, NeurIPS 2024; from its pseudocode for strongly convex costs.

    """
    check_preset(preset, decision_set, as_count(horizon, "horizon"))
    learner = StronglyConvexOGD(decision_set, modulus)
    if preset == "practical":
        potential = quadratic(horizon, 1.0 / as_positive(eagerness, "eagerness"))
        return ConstrainedPolicy(learner, learnt(learner, potential, lipschitz))
    refuse_eagerness(eagerness)
    T, G = needed_horizon(horizon), needed_lipschitz(lipschitz)
    GD, curvature = G * decision_set.diameter, G * G / modulus
    warn_if_vacuous(T, lambda T: quadratic(T, curvature).weight(GD * T))
    return ConstrainedPolicy(learner, CurrentSurrogate(quadratic(T, curvature)))


def quadratic(horizon: int, unit: float) -> PowerPotential:
    """Return Phi(q)/V = q^2/V with V = 8 unit log(T e)."""
    return PowerPotential(2.0, math.sqrt(8.0 * unit * (math.log(horizon) + 1.0)))


@baseline(
    source="Sarkar and Sinha 2025",
    regret="t^{1/2}, every t",
    ccv="t^{1/2} log t, every t",
    per_round="1 projection",
    sees="gradients",
    needs="none; theory: G",
    confidence="low: reconstruction from the abstract",
    remark="from the abstract",
)
def sarkar_sinha_2025(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
) -> ConstrainedPolicy[EvalGrad]:
    """Sinha and Vaze's policy for any horizon: w_t = lambda_t exp(lambda_t Q(t)), no T in it.

    `theory`: lambda_t = 1/(2 sqrt t), Q in units of 2 G D. The paper proves regret O(sqrt t) and
    CCV O(sqrt t log t) for every t. This is a reconstruction from its abstract, constants included:
    the exact lambda_t and the proof were not at hand. As for `sinha_vaze_2024` the weight is small
    for long: it is 1 only once CCV is 4 G D sqrt(t) log(2 sqrt t).

    `practical`: lambda_t = min(0.3, 6/sqrt t) in learnt ranges, no constants, no unit.

    Args:
        decision_set: where to play; it must be able to project. One projection per round.
        horizon: not used; the first t plays are the same for every horizon.
        preset: "practical" or "theory".
        lipschitz: as in `sinha_vaze_2024`; `theory` needs it.
        eagerness: factor on lambda_t; more means less violation and more regret. Not in `theory`.

    Reference: Sarkar and Sinha, "Optimal Anytime Algorithms for Online Convex Optimization with
    Adversarial Constraints", arXiv 2510.22579, 2025.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> sarkar_sinha_2025(Simplex(3)).surrogate.potential.at(400.0).rate
    0.3

    """
    check_preset(preset, decision_set, horizon)
    learner = AdaGrad(decision_set)
    if preset == "practical":
        return ConstrainedPolicy(learner, priced(learner, None, preset, lipschitz, eagerness))
    refuse_eagerness(eagerness)
    potential = AnytimeExponential(THEOREM_RATE, highest=THEOREM_RATE)
    G = needed_lipschitz(lipschitz)
    return ConstrainedPolicy(learner, CurrentSurrogate(potential, 0.0, scaled(learner, G)))


@baseline(
    source="Lu, Pedramfar and Aggarwal 2025",
    regret="T^{1/2}",
    ccv="T^{1/2} log T",
    per_round="theory: about 1 separation, amortised",
    sees="gradients",
    needs="inner ball; theory: known T, G",
    confidence="low: reconstruction from the abstract",
    remark="from the abstract",
)
def lu_bagel(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
) -> ConstrainedPolicy[EvalGrad]:
    """Optimal regret and CCV without projections: `SeparationAdaGrad` on f_t + w_t g_t^+.

    The weight is that of `sinha_vaze_2024`. The paper proves regret O(sqrt T) and CCV
    O(sqrt T log T) with about T separations, where the ratio R/r of outer and inner radius is in
    the constants. This is a reconstruction from its abstract, without its blocks: the surrogate and
    AdaGrad are those of Sinha and Vaze, the infeasible projection that of Garber and Kretzu (2022).

    `theory` needs T > (4R/r)^2; with R = D that is 32 n (n - 1) on a simplex and about 2e8 on the
    paths of a graph with 1200 edges. `practical` caps the squeeze at 1/2 and lets it fall; it takes
    many separations per round where R/r is large (on average 227 at R/r = 123, on a graph of 90
    edges) and refuses sets with R/r above 1000. No round takes more than (R/r)^2 / (d (2 - d)) + 2
    of them, with the squeeze d = 4R/(r sqrt T), or 1/2 at first; above 10 000 it warns and says how
    many, once, before the first round.

    Args:
        decision_set: where to play; it needs a separation oracle, a hull and an inner ball.
        horizon: the number of rounds T; `theory` needs it.
        preset: "practical" or "theory".
        lipschitz: as in `sinha_vaze_2024`.
        eagerness: as in `sinha_vaze_2024`.

    Reference: Lu, Pedramfar and Aggarwal, "Order-optimal projection-free algorithm for
    adversarially constrained online convex optimization", arXiv 2502.16744, 2025.

    """
    check_preset(preset, decision_set, horizon)
    T = needed_horizon(horizon) if preset == "theory" else None
    learner = SeparationAdaGrad(decision_set, T)
    return ConstrainedPolicy(learner, priced(learner, horizon, preset, lipschitz, eagerness))
