"""The paper's policies: Algorithm 2, and its signed companion for long-term constraints.

Sarkar, Chakrabartty, Supantha, Dey and Sinha, "Projection-free Algorithms for Online Convex
Optimization with Adversarial Constraints", AISTATS 2026.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from hedgerow.feedback import Constraints
from hedgerow.inputs import as_positive
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.block_ocg import BlockOCG
from hedgerow.learners.steps import CertificateSteps, PaperSteps
from hedgerow.policies.advised import AdvisedMaster
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.fallback import Fallback
from hedgerow.policies.master import LARGEST, RestrictedMaster
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import (
    Lipschitz,
    Preset,
    as_budget,
    check_preset,
    given_ratio,
    needed_horizon,
    needed_lipschitz,
    refuse_constants,
    refuse_eagerness,
    refuse_in_theory,
    warn_if_vacuous,
)
from hedgerow.policies.theorem import (
    ANALYTIC,
    AT_ONCE,
    CONVEX,
    EXACT,
    FEASIBLE,
    ONE_CONSTANT,
    Theorem,
)
from hedgerow.sets.compositions.product import Product
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.current import CurrentSurrogate
from hedgerow.surrogates.per_constraint import one_or_each
from hedgerow.surrogates.potentials import GrowingScale, PowerPotential
from hedgerow.surrogates.ranges import ObservedRanges
from hedgerow.surrogates.signed import SignedSurrogate

PROOF_CONSTANT = 144.0
"""c/(G D) in Algorithm 2: 48 x 3, from the proof of Theorem 2.1."""


@baseline(
    source="this library: theory.md; theory: Sarkar et al. 2026, Algorithm 2",
    regret="T^{3/4}",
    ccv="T^{3/4}",
    per_round="1 linear minimisation",
    sees="parts",
    needs="none; theory: known T, G",
    confidence="high",
)
def projection_free_coco(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    violation_unit: float | None = None,
    violation_budget: float | None = None,
    benchmark_budget: float = 0.0,
    eagerness: float = 1.0,
    tracking: bool = True,
    constraints: int | None = None,
    advisers: Sequence[str] | None = None,
) -> Fallback | ConstrainedPolicy[Constraints]:
    """Projection-free COCO: small regret and small CCV, one oracle call per round.

    `practical` (the default) needs no horizon and no constants. It is the restricted master
    (`RestrictedMaster`): each round it makes a step for the cost and projects it, softly, onto
    what it remembers, oracle answers and the tangents of violated rounds. Multiplying all costs or
    all constraints by a power of two leaves the plays unchanged, by another factor up to rounding;
    once it has fallen back, by both.

    What is proved: after any number of rounds, `certificate()` bounds the regret. Before the first
    round, a `Fallback` proves Theorem R (theory.md): against every action that satisfies all rounds
    regret O(T^{3/4}) and CCV O(T^{3/4} (log T)^{1/4}), on strongly convex sets O(T^{2/3}) and
    O(T^{2/3} (log T)^{1/3}). `explain(policy)` lists bounds, assumptions, and the horizons from
    which they say something. `binding()` says which past rounds hold the decision now.

    A round may have several constraints, reported as a sequence, or one with many parts, a
    `Maximum`. All of them bind decisions. Left as it is the policy counts their largest violation.
    With `constraints=m` the violations of each of the m are counted, and bounded, apart, and their
    units do not matter.

    `theory` is the paper's box after its errata: p = log T, V = (144 G D p^2 T^{3/4})^p,
    Q(0) = G D log T, `PaperSteps`; Theorem 3.4 gives regret and CCV of order T^{3/4} up to
    logarithms. Up to horizons of about 1e25 its weight on the constraint is nothing; it warns once
    and says so.

    Args:
        decision_set: where to play.
        horizon: the number of rounds T; `theory` needs it, `practical` does not use it.
        preset: "practical" or "theory".
        lipschitz: in `theory` alone, which needs it: a Lipschitz constant of all costs and
            constraints, or a pair (costs, constraints).
        violation_unit: no longer used; `practical` needs no unit.
        violation_budget: no longer used; use `eagerness`.
        benchmark_budget: in `theory` alone: how much cumulative violation B the benchmark itself
            may have, in the constraint's unit; the potential's scale is then
            144 G D p^2 T^{3/4} + p B. In `practical` ask `certificate(budget=B)`.
        eagerness: how eagerly the constraint is satisfied, a number without unit, in `practical`
            alone: steps for the cost are divided by it. Between 1/8 and 4 more means less
            violation and more regret. For fewer violated rounds use `ViolatedShare`.
        tracking: in `practical` alone: False for Algorithm 2 with the potential q^2, in units that
            were seen, and `CertificateSteps`; on a `Product` every factor has its own step and
            regulariser (`BlockOCG`). It remembers no rounds, so it is quicker, needs little memory
            and violates more; `certificate()` holds, and nothing is proved of it beforehand. Sets
            of more than 200,000 coordinates are always played by it.
        constraints: how many constraints a round has, in `practical` alone, to count the
            violations of each apart; left out, those of their maximum.
        advisers: names of those who may propose a decision in a round, in `practical` with
            `tracking` alone: `ask(advice={"plan": x})`. The policy mixes them with its own
            decision and learns whom to follow; its bounds hold whatever they propose.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> policy = projection_free_coco(Simplex(3))
    >>> policy.ask()
    array([0.33333333, 0.33333333, 0.33333333])

    """
    check_preset(preset, decision_set, horizon)
    if preset == "theory":
        refuse_in_theory(
            violation_unit=violation_unit,
            violation_budget=violation_budget,
            constraints=constraints,
            advisers=advisers,
        )
        refuse_eagerness(eagerness)
        T, G = needed_horizon(horizon), needed_lipschitz(lipschitz)
        GD = G * decision_set.diameter
        potential, queue = paper_potential(T, GD, benchmark_budget)
        warn_if_vacuous(T, lambda T: _largest_weight(T, GD, benchmark_budget))
        learner = AdaptiveOCG(decision_set, PaperSteps(T))  # Algorithm 1
        theorem = _theorem(T, G, decision_set.diameter, as_budget(benchmark_budget))
        return ConstrainedPolicy(learner, CurrentSurrogate(potential, queue), (theorem,))
    refuse_constants(
        lipschitz=lipschitz,
        violation_unit=violation_unit,
        violation_budget=violation_budget,
        benchmark_budget=benchmark_budget or None,
    )
    if not isinstance(tracking, bool):
        raise TypeError(f"tracking must be True or False, got {tracking!r}")
    if not tracking or decision_set.dim > LARGEST:
        if advisers is not None:
            raise ValueError(
                f"advisers need tracking=True, got {tracking}, and a set of at most {LARGEST} "
                f"coordinates, got {decision_set.dim}; leave advisers out"
            )
        return _without_memory(decision_set, eagerness, constraints)
    if advisers is None:
        return Fallback(RestrictedMaster(decision_set, eagerness, constraints))
    return Fallback(AdvisedMaster(decision_set, advisers, eagerness, constraints))


def _without_memory(
    decision_set: DecisionSet, eagerness: float, constraints: int | None
) -> ConstrainedPolicy[Constraints]:
    """Return Algorithm 2 with the potential q^2, in units that were seen."""
    learner: AdaptiveOCG | BlockOCG = (
        BlockOCG(decision_set)
        if isinstance(decision_set, Product)
        else AdaptiveOCG(decision_set, CertificateSteps())
    )
    square = PowerPotential(2.0, as_positive(eagerness, "eagerness") ** -0.5)

    def surrogate() -> CurrentSurrogate:
        return CurrentSurrogate(square, 0.0, ObservedRanges(learner))

    return ConstrainedPolicy(learner, one_or_each(surrogate, constraints))


projection_free_coco_plain = baseline(
    source="Sarkar et al. 2026, Algorithm 2 with the potential q^2",
    regret="a certificate",
    ccv="not stated",
    per_round="1 linear minimisation",
    sees="gradients",
    needs="none; practical alone",
    confidence="high",
    label="projection_free_coco_plain",
)(partial(projection_free_coco, tracking=False))
"""`projection_free_coco` with `tracking=False`, a method of its own in tables."""


@baseline(
    source="Sarkar et al. 2026, Algorithms 1 and 7 combined",
    regret="T^{7/8}",
    ccv="T^{7/8}, signed sum",
    per_round="1 linear minimisation",
    sees="gradients",
    needs="none; theory: known T, G",
    confidence="high",
)
def projection_free_long_term(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    violation_unit: float | None = None,
    constraints: int | None = None,
) -> ConstrainedPolicy[Constraints]:
    """Long-term constraints: the sum of g_t stays small, slack in one round pays for another.

    What an average service level needs. `AdaptiveOCG` plays f_t + (2 Q(t-1)/V) g_t with
    Q(t) = (Q(t-1) + g_t(x_t))^+, so that sum of g_t <= Q(T). The CCV, the sum of g_t^+, is not
    controlled.

    `practical`: V = sqrt(t) in learnt ranges, `CertificateSteps`, any horizon. `theory`:
    V = 144 G D log(T) T^{3/4}, `PaperSteps`; the quadratic drift and Theorem 2.1 give regret
    and signed sum of order T^{7/8} up to logarithms (paper-to-code.md; the paper states this
    setting only for linear functions, Algorithm 7). `projection_free_coco(preset="theory")` has
    the better bounds in both: the signed sum is at most the CCV, of order T^{3/4}. What speaks for
    this policy is practical: it can spend slack.

    Args:
        decision_set: where to play.
        horizon: the number of rounds T; `theory` needs it, `practical` does not use it.
        preset: "practical" or "theory".
        lipschitz: a Lipschitz constant of all costs and constraints, or a pair (costs,
            constraints). `theory` needs it; in `practical` it replaces the learnt Gf and Gg.
        violation_unit: the largest violation that one round can cause; replaces the learnt one.
        constraints: as in `projection_free_coco`: left out, the sum of each round's largest
            constraint stays small; with a number of constraints, the sum of each by itself.

    """
    check_preset(preset, decision_set, horizon)
    if preset == "theory":
        refuse_in_theory(violation_unit=violation_unit, constraints=constraints)
        T, G = needed_horizon(horizon), needed_lipschitz(lipschitz)
        GD = G * decision_set.diameter

        def potential(T: int) -> PowerPotential:
            return PowerPotential(2.0, math.sqrt(PROOF_CONSTANT * GD * math.log(T) * T**0.75))

        warn_if_vacuous(T, lambda T: potential(T).weight(GD * T))
        learner = AdaptiveOCG(decision_set, PaperSteps(T))
        theorem = Theorem(
            "quadratic drift",
            (("T", float(T)), ("G", G), ("D", decision_set.diameter)),
            (CONVEX, ONE_CONSTANT, "|g_t| <= G D", FEASIBLE, ANALYTIC, EXACT, AT_ONCE),
        )
        return ConstrainedPolicy(learner, SignedSurrogate(potential(T)), (theorem,))
    learner = AdaptiveOCG(decision_set, CertificateSteps())
    root = PowerPotential(2.0, GrowingScale(floor=1.0, factor=1.0, power=0.25))

    def surrogate() -> SignedSurrogate:
        ranges = ObservedRanges(learner, violation_unit, given_ratio(lipschitz))
        return SignedSurrogate(root, 0.0, ranges)

    return ConstrainedPolicy(learner, one_or_each(surrogate, constraints))


def paper_potential(horizon: int, GD: float, budget: float = 0.0) -> tuple[PowerPotential, float]:
    """Return Algorithm 2's potential and Q(0): p = log T, V = (144 G D p^2 T^{3/4})^p, line 2.

    Against a benchmark with a violation budget B, V = (144 G D p^2 T^{3/4} + p B)^p (erratum 14).
    """
    p = math.log(horizon)
    scale = PROOF_CONSTANT * GD * p**2 * horizon**0.75 + p * as_budget(budget)
    return PowerPotential(p, scale), GD * p


def _theorem(T: int, G: float, D: float, B: float) -> Theorem:
    """Declare Theorem 3.4, of a benchmark that violates by at most B in all (erratum 14)."""
    constants = (("T", float(T)), ("G", G), ("D", D), ("B", B))
    if B == 0.0:
        exact = (CONVEX, ONE_CONSTANT, FEASIBLE, ANALYTIC, EXACT, AT_ONCE)
        return Theorem("Theorem 3.4", constants, exact)
    within = f"a benchmark that violates by at most {B:.3g} in all"
    within_reach = "no round violates by more than G D"
    needs = (CONVEX, ONE_CONSTANT, within, ANALYTIC, within_reach, EXACT, AT_ONCE)
    return Theorem("Theorem 3.4", constants, needs)


def _largest_weight(horizon: int, GD: float, budget: float) -> float:
    """The weight if every round violated as much as it can, Q(T) = Q(0) + G D T."""
    potential, queue = paper_potential(horizon, GD, budget)
    return potential.weight(queue + GD * horizon)
