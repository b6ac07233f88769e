"""The bandit of Wang, Wan and Zhang (2025): block Frank-Wolfe by doubling, from values alone."""

from __future__ import annotations

from hedgerow.baselines.wang import wang_potential
from hedgerow.inputs import as_count, as_positive
from hedgerow.learners.blocks import PracticalBlocks
from hedgerow.learners.hull_coordinates import HullCoordinates
from hedgerow.learners.restarted_block_bandit import RestartedBlockBandit, WangBlocks
from hedgerow.policies.constrained_bandit import ConstrainedBandit, DeclaredValues
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import (
    Preset,
    as_pair,
    check_preset,
    refuse_eagerness,
    warn_if_vacuous,
)
from hedgerow.potentials import ExponentialPotential
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.current_values import CurrentValues
from hedgerow.surrogates.ranges import GivenRanges

PRACTICAL_RATE = 20.0
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
    "our blocks",
    practical="restarts around our blocks",
)
def wang_2025_bandit(
    decision_set: DecisionSet,
    horizon: int,
    seed: int,
    *,
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
    minimisation a round, amortised.

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
        lipschitz: a Lipschitz constant of costs and constraints, or a pair of them.
        bound: a bound of |cost| and |constraint| over the set, or a pair of them.
        preset: "practical" or "theory".
        eagerness: how eagerly the constraint is kept, a number without unit, in `practical`
            alone: it multiplies lambda. More means less violation and more regret.

    Reference: Y. Wang, Y. Wan and L. Zhang, "Revisiting Projection-Free Online Learning with
    Time-Varying Constraints", AAAI 2025, arXiv 2501.16046.

    """
    check_preset(preset, decision_set, horizon)
    T, D = as_count(horizon, "horizon", least=3), decision_set.diameter
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
        surrogate = CurrentValues(wang_potential(T), 0.0, GivenRanges(unit))
        return ConstrainedBandit(learner, surrogate, declared)
    learner = RestartedBlockBandit(decision_set, PracticalBlocks(T), seed)
    ranges = GivenRanges(violation=min(Fg, Gg * D), ratio=Gf / Gg)
    rate = PRACTICAL_RATE * as_positive(eagerness, "eagerness") * T**-0.75
    surrogate = CurrentValues(ExponentialPotential(rate), 0.0, ranges)
    return ConstrainedBandit(learner, surrogate, declared)
