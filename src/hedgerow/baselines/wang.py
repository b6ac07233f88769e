"""The restarted conditional gradients of Wang, Wan and Zhang (2025).

Y. Wang, Y. Wan and L. Zhang, "Revisiting Projection-Free Online Learning with Time-Varying
Constraints", AAAI 2025, arXiv 2501.16046. Their surrogate is
gamma beta f_t + Phi'(beta Q_t) beta g_t^+ with Q_t = Q_{t-1} + g_t^+(x_t); here it is divided by
gamma beta, so that the cost keeps coefficient 1, and so are the guess and the regulariser.
"""

from __future__ import annotations

import math

from hedgerow.feedback import EvalGrad
from hedgerow.inputs import RNG, as_count, as_positive, as_seed
from hedgerow.learners.block_rules import PracticalBlocks
from hedgerow.learners.hull_coordinates import HullCoordinates
from hedgerow.learners.ocg import StronglyConvexOCG
from hedgerow.learners.restarted_block_bandit import RestartedBlockBandit, WangBlocks, doubled
from hedgerow.learners.restarted_ocg import RestartAtStart, RestartedOCG
from hedgerow.learners.steps import CertificateSteps, PaperSteps
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.constrained_bandit import ConstrainedBandit, DeclaredValues
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import (
    Lipschitz,
    Preset,
    as_pair,
    check_preset,
    given_ratio,
    needed_lipschitz,
    refuse_eagerness,
    warn_if_vacuous,
)
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.current import CurrentSurrogate
from hedgerow.surrogates.potentials import ExponentialPotential, PowerPotential
from hedgerow.surrogates.ranges import FixedRanges, WorstCaseRanges
from hedgerow.surrogates.values import CurrentValues

PROOF_CONSTANT = 64.0
"""1/(beta G D) in OFW-TVC."""
PRACTICAL_RATE = 40.0
"""lambda T^{3/4} in the practical preset, where the theorem has 1/2: chosen among 8, 20, 40 and 80
on the path game (seeds 0 to 2) and five synthetic games (seeds 0 and 1) at T = 1600, where it
violates about as much as `projection_free_coco`."""
PRACTICAL_WEIGHT = 4.0
"""The weight before any violation, strongly convex and practical: chosen among 1/2, 1, 2, 4 and 8
on `QuadraticBox` at T = 1600 and 6400, seeds 0 and 1."""


@baseline(
    source="Wang, Wan and Zhang 2025, OFW-TVC",
    regret="T^{3/4}",
    ccv="T^{3/4} log T",
    per_round="1 linear minimisation",
    sees="gradients",
    needs="known T; theory: G",
    confidence="high for the theory preset; practical: restarts around Hedgerow's learner",
    practical="restarts around Hedgerow's learner",
)
def wang_2025(
    decision_set: DecisionSet,
    horizon: int,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
) -> ConstrainedPolicy[EvalGrad]:
    """OFW-TVC: online Frank-Wolfe that restarts whenever the surrogate has become too steep.

    Regret O(T^{3/4}) against every point that satisfies all constraints, CCV O(T^{3/4} log T); one
    linear minimisation per round. Assumes known T and G; adversarial constraints, no Slater
    condition. The specification was read in full (confidence: high).

    `theory` has the theorem's constants: beta = 1/(64 G D), gamma = 1,
    Phi(z) = exp(z / (2 T^{3/4})) - 1, first guess 1 (here 64 G D), anchor x_s, and a step clipped
    to 1, without which the play would leave the set. Hazard: no restart can ever happen unless
    D < 1/64, the guess is 64 D times too large, and at T = 1600 the weight on the constraint is at
    most 0.0021: it warns once and says so.

    `practical` needs no constants but the horizon: learnt ranges Mg, Gf, Gg, the weight
    (Gf/Gg) lambda exp(lambda CCV/Mg) with lambda = 40 eagerness T^{-3/4}, `CertificateSteps`, the
    first gradient as the first guess, and restarts at x_1. Of theirs the restarts and the
    exponential weight are left: read its numbers as those of restarts around Hedgerow's learner. No
    rate is claimed, `certificate()` proves afterwards what was achieved. Multiplying all costs or
    all constraints by a power of two leaves the plays unchanged, by another factor up to rounding.

    Args:
        decision_set: where to play.
        horizon: the number of rounds T.
        preset: "practical" or "theory".
        lipschitz: G, a bound of the norms of all gradients, or a pair (costs, constraints).
            `theory` needs it; in `practical` it replaces the learnt Gf/Gg.
        eagerness: the factor on lambda, in `practical` alone; more means less violation and more
            regret.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> wang_2025(Simplex(2), 100).ask()
    array([0.5, 0.5])

    """
    check_preset(preset, decision_set, horizon)
    T = as_count(horizon, "horizon")
    if preset == "theory":
        refuse_eagerness(eagerness)
        G = needed_lipschitz(lipschitz)
        unit = PROOF_CONSTANT * G * decision_set.diameter  # 1/(gamma beta)
        warn_if_vacuous(T, lambda T: wang_potential(T).weight(T / PROOF_CONSTANT))
        potential = wang_potential(T)
        # the guess 1; in round 1 a restart would double it and lose nothing
        guess = doubled(unit, G * (1.0 + potential.weight(0.0)))
        learner = RestartedOCG(decision_set, PaperSteps(T), guess)
        ranges = FixedRanges(violation=unit)  # the queue is beta Q_t
        return ConstrainedPolicy(learner, CurrentSurrogate(potential, 0.0, ranges, lipschitz=G))
    learner = RestartedOCG(decision_set, CertificateSteps(), restart=RestartAtStart())
    rate = PRACTICAL_RATE * as_positive(eagerness, "eagerness") * T**-0.75
    learnt = WorstCaseRanges(learner, ratio=given_ratio(lipschitz))
    return ConstrainedPolicy(learner, CurrentSurrogate(ExponentialPotential(rate), 0.0, learnt))


def wang_potential(T: int) -> ExponentialPotential:
    """Return Phi(z) = exp(z / (2 T^{3/4})) - 1, of beta Q."""
    return ExponentialPotential(1.0 / (2.0 * T**0.75))


def wang_2025_strongly_convex(
    decision_set: DecisionSet,
    horizon: int,
    modulus: float,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
) -> ConstrainedPolicy[EvalGrad]:
    """SCOFW-TVC: online Frank-Wolfe for strongly convex costs, without restarts.

    Regret O(T^{2/3}), CCV O(T^{5/6}); one linear minimisation and a closed-form line search a
    round. Assumes known T, G and a; adversarial constraints, no Slater condition. The
    specification was read in full (confidence: high); its update line names the wrong step size,
    the line search is meant.

    `theory`: beta = 1/(G D T^{2/3}), gamma = G/(G + a D), Phi(z) = z^2 + z, so the weight on the
    constraint is (1 + 2 CCV/(G D T^{2/3}))/gamma: it acts at every horizon. `practical`: the
    weight is 4 eagerness (Gf/Gg)(1 + 2 CCV/(Mg T^{2/3})) with learnt ranges; no rate is claimed,
    `certificate()` proves afterwards what was achieved. Multiplying all costs and the modulus, or
    all constraints, by a power of two leaves the plays unchanged, by another factor up to
    rounding.

    Args:
        decision_set: where to play.
        horizon: the number of rounds T.
        modulus: a, the costs' modulus of strong convexity, in units of cost per squared length.
        preset: "practical" or "theory".
        lipschitz: G, as in `wang_2025`.
        eagerness: the factor on the weight, in `practical` alone; more means less violation and
            more regret.

    """
    check_preset(preset, decision_set, horizon)
    T = as_count(horizon, "horizon")
    learner = StronglyConvexOCG(decision_set, modulus)
    if preset == "theory":
        refuse_eagerness(eagerness)
        G, D = needed_lipschitz(lipschitz), decision_set.diameter
        gamma = G / (G + learner.modulus * D)
        ranges = FixedRanges(violation=G * D * T ** (2.0 / 3.0))  # the queue is 1/2 + beta Q_t
        potential = PowerPotential(2.0, math.sqrt(gamma))  # z^2 + z = (z + 1/2)^2 - 1/4
        return ConstrainedPolicy(learner, CurrentSurrogate(potential, 0.5, ranges))
    weight = PRACTICAL_WEIGHT * as_positive(eagerness, "eagerness")
    potential = PowerPotential(2.0, T ** (1.0 / 3.0) / math.sqrt(weight))
    learnt = WorstCaseRanges(learner, ratio=given_ratio(lipschitz))
    return ConstrainedPolicy(learner, CurrentSurrogate(potential, 0.5 * T ** (2.0 / 3.0), learnt))


BANDIT_RATE = 20.0
"""lambda T^{3/4} in the practical preset: chosen among 2, 8, 20, 40 and 80 on a ball and a box in
five dimensions at T = 2000 and 20000, seeds 0 and 1."""


@baseline(
    source="Wang, Wan and Zhang 2025, BFW-TVC",
    regret="T^{3/4}, claimed",
    ccv="T^{3/4} log T, claimed",
    per_round="at most 1 linear minimisation, amortised",
    sees="values",
    needs="known T, G, bound; oblivious rounds; inner ball",
    confidence="high for the theory preset, its analysis disputed; practical: restarts around "
    "Hedgerow's blocks",
    practical="restarts around Hedgerow's blocks",
)
def wang_2025_bandit(
    decision_set: DecisionSet,
    horizon: int,
    seed: int | None = None,
    *,
    rng: RNG | None = None,
    lipschitz: float | tuple[float, float],
    bound: float | tuple[float, float],
    preset: Preset = "practical",
    eagerness: float = 1.0,
) -> ConstrainedBandit:
    """BFW-TVC: block Frank-Wolfe by doubling, when only values are seen.

    Claimed: expected regret O(T^{3/4}) and CCV O(T^{3/4} log T). The text was read in full, but
    the analysis is disputed: the surrogate's weight depends on the random play, so the estimator
    is not unbiased for the function in the proof (see `CurrentValues`), and M bounds the cost
    while the estimator uses the surrogate. Oblivious rounds; known T, G, M; at most one linear
    minimisation per round, amortised.

    `theory` is their text, with the free constant c = r, the inner radius: gamma = 1,
    Phi(z) = exp(z / (2 T^{3/4})) - 1, beta = 1/C with
    C = 16 G (c D/r + 3 c + 1 + 2 c D/(n M) + n M D/c), first guess 1 (here C), `WangBlocks`. Its
    weight on the constraint is nothing at any practical horizon; it warns once. C adds numbers
    of different units, as printed.

    `practical`: `PracticalBlocks`, the first block's Lipschitz constant as the first guess, and
    the weight (Gf/Gg) lambda exp(lambda CCV/Mg) with lambda = 20 eagerness T^{-3/4}; measured, not
    proved. Of theirs the restarts and the exponential weight are left.

    Args:
        decision_set: where to play; it needs a hull and an inner ball.
        horizon: the number of rounds T.
        seed: fixes the perturbations.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.
        lipschitz: a Lipschitz constant of costs and constraints, or a pair of them.
        bound: a bound of |cost| and |constraint| over the set, or a pair of them.
        preset: "practical" or "theory".
        eagerness: the factor on lambda, in `practical` alone; more means less violation and more
            regret.

    Reference: Y. Wang, Y. Wan and L. Zhang, "Revisiting Projection-Free Online Learning with
    Time-Varying Constraints", AAAI 2025, arXiv 2501.16046.

    """
    check_preset(preset, decision_set, horizon)
    T, D = as_count(horizon, "horizon", least=3), decision_set.diameter
    seed = as_seed(seed, rng)
    (Gf, Gg), (M, Fg) = as_pair(lipschitz, "lipschitz"), as_pair(bound, "bound")
    declared = DeclaredValues(max(Gf, Gg), max(M, Fg))
    if preset == "theory":
        refuse_eagerness(eagerness)
        inside, G = HullCoordinates(decision_set), max(Gf, Gg)
        n, r = inside.dim, inside.radius
        c = r
        unit = 16.0 * G  # 1/beta
        unit *= c * D / r + 3.0 * c + 1.0 + 2.0 * c * D / (n * M) + n * M * D / c
        warn_if_vacuous(T, lambda T: wang_potential(T).weight(G * D * T / unit))
        learner = RestartedBlockBandit(decision_set, WangBlocks(T, M, c), seed, guess=unit)  # 1
        surrogate = CurrentValues(wang_potential(T), 0.0, FixedRanges(unit))
        return ConstrainedBandit(learner, surrogate, declared)
    learner = RestartedBlockBandit(decision_set, PracticalBlocks(T), seed)
    ranges = FixedRanges(violation=min(Fg, Gg * D), ratio=Gf / Gg)
    rate = BANDIT_RATE * as_positive(eagerness, "eagerness") * T**-0.75
    surrogate = CurrentValues(ExponentialPotential(rate), 0.0, ranges)
    return ConstrainedBandit(learner, surrogate, declared)
