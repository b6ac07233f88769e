"""Algorithm 4: projection-free play when only values are seen."""

from __future__ import annotations

import math

from hedgerow.inputs import RNG, as_count, as_positive, as_seed
from hedgerow.learners.block_bandit import BlockBandit
from hedgerow.learners.block_rules import PaperBlocks, PracticalBlocks
from hedgerow.policies.constrained_bandit import ConstrainedBandit, DeclaredValues
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import (
    Preset,
    as_budget,
    as_pair,
    check_preset,
    refuse_in_theory,
    warn_if_vacuous,
)
from hedgerow.policies.theorem import AT_ONCE, CONVEX, EXACT, FEASIBLE, OBLIVIOUS, UNCAPPED, Theorem
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.potentials import PowerPotential
from hedgerow.surrogates.ranges import FixedRanges
from hedgerow.surrogates.values import DriftSurrogate, LaggedSurrogate


@baseline(
    source="Sarkar et al. 2026, Algorithm 4",
    regret="T^{3/4}, expected",
    ccv="T^{3/4}, expected",
    per_round="at most 1 linear minimisation, amortised",
    sees="values",
    needs="known T, G, bound; oblivious rounds; inner ball",
    confidence="high",
)
def projection_free_bandit(
    decision_set: DecisionSet,
    horizon: int,
    seed: int | None = None,
    *,
    rng: RNG | None = None,
    lipschitz: float | tuple[float, float],
    bound: float | tuple[float, float],
    violation_unit: float | None = None,
    benchmark_budget: float = 0.0,
    preset: Preset = "practical",
) -> ConstrainedBandit:
    """Algorithm 4, projection-free CBCO: small expected regret and CCV from values alone.

    `practical` (the default): `PracticalBlocks`, the drift surrogate, p = log T,
    Q(0) = p Mg and scale max(0.1 T^{3/4} Mg, 2 Q(0)); tested empirically, not proved. `theory` is
    the paper's box after its errata, R the diameter: `PaperBlocks`, the lagged surrogate,
    p = log T, Q(0) = G D sqrt(T) log T and V = (c p T^{3/4})^p with
    c = (3 + R/r) sqrt(n) G + 12 G R (log T)^{1/4} + 2 (1 + e) R (sqrt(n) F + G); Theorem 4.2 gives
    expected regret and CCV of order T^{3/4} up to logarithms with at most T oracle calls, if no
    block reached its cap of K calls (`learner.capped_blocks` is 0). Up to about
    T = 1e15 its weight on the constraint is negligible, and it warns once.

    Args:
        decision_set: where to play; it needs a hull and an inner ball.
        horizon: the number of rounds T.
        seed: fixes the perturbations.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.
        lipschitz: a Lipschitz constant of costs and constraints, or a pair of them.
        bound: a bound of |cost| and |constraint| over the set, or a pair of them.
        violation_unit: the unit of violation, the largest that one round can cause; by default
            the smaller of the constraint's bound and its Lipschitz constant times the diameter.
            This policy does not learn its unit: if violations are far below it, it reacts late.
            Give a smaller one then.
        benchmark_budget: how much cumulative violation the benchmark itself may have, in the
            constraint's unit; it widens the potential's scale by p times this.
        preset: "practical" or "theory".

    """
    check_preset(preset, decision_set, horizon)
    T = as_count(horizon, "horizon", least=8)
    seed = as_seed(seed, rng)
    p, D = math.log(T), decision_set.diameter
    (Gf, Gg), (Ff, Fg) = as_pair(lipschitz, "lipschitz"), as_pair(bound, "bound")
    budget = p * as_budget(benchmark_budget)
    declared = DeclaredValues(max(Gf, Gg), max(Ff, Fg))
    calls = Theorem("cap of a block", (("T", float(T)),))
    if preset == "theory":
        refuse_in_theory(violation_unit=violation_unit)
        learner = BlockBandit(decision_set, PaperBlocks(T), seed)
        n, r, R, G, F = learner.dim, learner.radius, D, declared.lipschitz, declared.bound

        def scale(T: int) -> float:
            p = math.log(T)
            c = (3.0 + R / r) * math.sqrt(n) * G + 12.0 * G * R * p**0.25
            c += 2.0 * (1.0 + math.e) * R * (math.sqrt(n) * F + G)
            wide: float = c * p * T**0.75 + p * as_budget(benchmark_budget)
            return wide

        def surrogate(T: int) -> LaggedSurrogate:
            p = math.log(T)
            potential = PowerPotential(p, scale(T))
            return LaggedSurrogate(potential, G * D * math.sqrt(T) * p, overshoot=G * D)

        def largest_weight(T: int) -> float:
            worst = surrogate(T)
            return worst.potential.weight(worst.initial + G * D * T)

        warn_if_vacuous(T, largest_weight)
        rates = Theorem(
            "Theorem 4.2",
            (("T", float(T)), ("c", scale(T) / (p * T**0.75)), ("G D", G * D)),
            (
                *(OBLIVIOUS, CONVEX, FEASIBLE, "one Lipschitz constant G and one bound F"),
                *(UNCAPPED, EXACT, AT_ONCE),
            ),
        )
        return ConstrainedBandit(learner, surrogate(T), declared, (calls, rates))
    learner = BlockBandit(decision_set, PracticalBlocks(T), seed)
    Mg = min(Fg, Gg * D)
    if violation_unit is not None:
        Mg = as_positive(violation_unit, "violation_unit")
    potential = PowerPotential(p, max(0.1 * T**0.75, 2.0 * p) + budget / Mg)
    drift = DriftSurrogate(potential, p, FixedRanges(violation=Mg, ratio=Gf / Gg))
    return ConstrainedBandit(learner, drift, declared, (calls,))
