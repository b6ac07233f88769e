"""What a policy guarantees, with which constants, and whether that says anything now."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from hedgerow.bounds import bandit_bounds, coco_bounds
from hedgerow.bounds.guarantee import Explanation, Guarantee, nonvacuous_horizon
from hedgerow.bounds.ocg_bounds import Adaptivity, sharper_ocg_regret
from hedgerow.bounds.theorem_f import (
    fallback_ccv,
    fallback_regret,
    projected_ccv,
    projected_regret,
    theorem_f_ccv,
    theorem_f_regret,
)
from hedgerow.inputs import Vector
from hedgerow.learners import steps as rules
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.away_ocg import AwayOCG
from hedgerow.learners.block_bandit import BlockBandit
from hedgerow.learners.block_ocg import BlockOCG
from hedgerow.learners.steps import CertificateSteps
from hedgerow.policies.advised import AdvisedMaster
from hedgerow.policies.composition import Composition
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.fallback import CCV, Fallback
from hedgerow.policies.paper import paper_potential
from hedgerow.policies.sampled import SampledPlay
from hedgerow.policies.theorem import AT_ONCE, CONVEX, FEASIBLE, UNCAPPED, Theorem
from hedgerow.protocols.parts import Policy
from hedgerow.snapshot import Snapshot
from hedgerow.surrogates.potentials import PowerPotential
from hedgerow.surrogates.queued import Queued
from hedgerow.surrogates.signed import SignedSurrogate

Regularised = AdaptiveOCG | AwayOCG | BlockOCG
"""Learners with a regulariser that their steps determine."""
Bound = tuple[str, str, float | None, float | None]
"""Name, statement, value and trivial value of a guarantee."""
ORDER = "of order T^{3/4}"
REFUTED = "says nothing here, because no fixed action satisfies the constraint in every round"
ONE_SIZE = "for costs of one size below Gg D T"
DOMINATED = "projection_free_coco(preset='theory') has order T^{3/4} against the same benchmark"


def explain(policy: Policy[Any, Any], budget: float = 0.0) -> Explanation:
    """List a policy's guarantees and whether each is non-vacuous.

    What holds beforehand is declared where the policy is made, `policy.guarantees()`: a theory
    preset of the paper's own policies declares its theorem with G and T. Of the rivals
    `sinha_vaze_2024` alone does; the others state theirs in their docstrings. Every first-order
    policy has a certificate too, whose value is that of the rounds played so far.

    Args:
        policy: any policy of the library; of others it says that nothing is known.
        budget: how much the comparator of the certificate may violate in all, for games in which no
            fixed action satisfies every round.

    >>> from hedgerow.policies.without_constraint import unconstrained
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> [guarantee.name for guarantee in explain(unconstrained(Simplex(3))).guarantees]
    ['regret, afterwards', 'regret of the losses, afterwards']

    """
    theorems: tuple[Theorem, ...] = getattr(policy, "guarantees", tuple)()
    found = [guarantee for theorem in theorems for guarantee in _evaluated(theorem, policy)]
    if isinstance(policy, SampledPlay):
        inner = explain(policy.policy, budget)
        kept = [part for part in inner.guarantees if not part.name.startswith("CCV")]
        name = f"{type(policy).__name__} over {inner.policy}"
        return Explanation(name, inner.horizon, (*found, *kept), inner.adaptivity)
    horizon = next((theorem.horizon for theorem in theorems if theorem.horizon is not None), None)
    if isinstance(policy, Fallback):
        found = [*_remembered(policy, budget), *(_so_far(policy, one) for one in found)]
    elif isinstance(policy, ConstrainedPolicy):
        if isinstance(policy.learner, AdaptiveOCG):
            horizon = policy.learner.steps.horizon
        found = [*_certificates(policy, budget), *found]
    elif not found:
        return Explanation(f"{type(policy).__name__}: nothing is known of it", None, (), None)
    adaptivity = _adaptivity(getattr(policy, "surrogate", None))
    return Explanation(_name(policy), horizon, tuple(found), adaptivity)


def _name(policy: Policy[Any, Any]) -> str:
    name = type(policy).__name__
    if not isinstance(policy, Composition):
        return name
    return f"{name}({type(policy.learner).__name__}, {type(policy.surrogate).__name__})"


def _remembered(policy: Fallback, budget: float) -> Iterator[Guarantee]:
    """What holds after the fact, by the rounds that are remembered and their prices."""
    proved = policy.certificate(budget)
    played = proved.most > 0.0
    vacuous = played and proved.no_comparator
    yield Guarantee(
        "regret, afterwards",
        f"{proved.says_nothing}: explain(policy, budget=...)"
        if vacuous
        else f"against {proved.comparator}; D sum ||grad f_t|| at worst",
        proved if played and not vacuous else None,
        proved.most if played else None,
        (CONVEX,),
    )
    if isinstance(policy.policy, AdvisedMaster):
        yield Guarantee(
            "cost and priced violation above each adviser's, afterwards",
            "(2 + log(1 + T)/log(K + 1)) Delta_T, over the rounds in which it spoke, until Theorem "
            "F takes over",
            policy.policy.lost_to_voices if played else None,
            proved.most if played else None,
            ("convex losses", AT_ONCE),
        )


def _so_far(policy: Fallback, bound: Guarantee) -> Guarantee:
    """Return a bound of Theorem R with its value after the rounds so far."""
    Phi, theorem = policy.cost_size, policy.guarantees()[0]
    if policy.infeasible:
        return replace(bound, statement=REFUTED)
    if Phi == 0.0 or not bound.name.startswith("regret"):
        return bound
    C, D, q = theorem["C"], theorem["D"], int(theorem["q"])
    value = fallback_regret(C, D, Phi, Phi, q)  # no gradient is larger than all of them together
    return replace(bound, value=value, trivial=policy.certificate().most)


def _certificates(policy: ConstrainedPolicy[Any], budget: float) -> Iterator[Guarantee]:
    """What holds after the fact, whatever the constants."""
    snapshot = policy.state()
    seen = _numbers(snapshot)
    played = seen["rounds"][0] > 0.0
    worst = policy.decision_set.diameter * float(seen["size"][0]) if played else None
    proved = policy.certificate(budget)
    vacuous = played and proved.no_comparator
    yield Guarantee(
        "regret, afterwards",
        f"{proved.says_nothing}: explain(policy, budget=...)"
        if vacuous
        else "sum <s_t, x_t> - min <sum s_t, x> - sum w_t g_t(x_t); D sum ||s_t|| at worst",
        proved if played and not vacuous else None,
        worst,
        (CONVEX, FEASIBLE if budget == 0.0 else f"against {proved.comparator}"),
    )
    learner = policy.learner
    if isinstance(learner, Regularised) and isinstance(learner.steps, CertificateSteps):
        yield Guarantee(
            "regret of the losses, afterwards",
            "M_T + gap_T - Delta_T + beta_T R^2, without an oracle call",
            _by_regulariser(learner) if played else None,
            worst,
            ("convex losses",),
        )


def _by_regulariser(learner: Regularised) -> float | None:
    """Return M_T + (gap_T - Delta_T) + beta_T R^2."""
    if isinstance(learner, BlockOCG):
        return learner.bound
    rule, X = learner.rule_numbers, learner.decision_set
    R = X.radius_around(learner.first_play)
    bound = float(rule[rules.M] + rule[rules.LEFT] + rule[rules.BETA] * R**2)
    return bound if math.isfinite(bound) else None


def _numbers(snapshot: Snapshot) -> dict[str, Vector]:
    """Return a snapshot's numbers by their names."""
    names, sizes = list(snapshot["layout"]), list(snapshot["layout"].values())
    return dict(zip(names, np.split(snapshot["array"], np.cumsum(sizes)[:-1]), strict=True))


def _evaluated(theorem: Theorem, policy: Policy[Any, Any]) -> Iterator[Guarantee]:
    """Compute the bounds of a theorem that the policy declares."""
    if theorem.name not in BOUNDS:
        yield Guarantee(theorem.name, "stated by the policy", None, None, theorem.assumptions)
        return
    needs = theorem.assumptions
    if isinstance(learner := getattr(policy, "learner", None), BlockBandit):
        so_far = f"{UNCAPPED} (so far {learner.capped_blocks} were)"
        needs = tuple(so_far if need == UNCAPPED else need for need in needs)
    for name, statement, value, trivial in BOUNDS[theorem.name](theorem):
        yield Guarantee(name, statement, value if theorem.proved else None, trivial, needs)


def _of_weights(theorem: Theorem) -> Iterator[Bound]:
    """Theorem F: of weights in proportion to a power of the violation."""
    C, q, lam, m = (theorem[name] for name in ("C", "q", "lam", "constraints"))
    power, order = 1.0 - 1.0 / q, f"T^{{{q - 1.0:.0f}/{q:.0f}}}"

    def ccv(T: float) -> float:
        return float(T**power * theorem_f_ccv(C, T, lam, int(q), constraints=int(m)))

    text = f"{theorem_f_regret(C, 1.0, 1.0, lam):.3g} D Phi_T, Phi_T <= Gf {order}"
    begin = nonvacuous_horizon(lambda T: theorem_f_regret(C, 1.0, T**power, lam), 1.0)
    yield "regret, Theorem F", f"{text}; below Gf D T from T = {begin:.0f} on", None, None
    begin = nonvacuous_horizon(ccv, 1.0)
    text = f"of order Gg D {order} (log T)^{{1/{q:.0f}}}; {ONE_SIZE} from T = {begin:.0f} on"
    yield f"{_ccv_of(m)}, Theorem F", text, None, None


def _ccv_of(constraints: float) -> str:
    return "CCV" if constraints == 1.0 else "CCV of each constraint"


def _fallback(theorem: Theorem) -> Iterator[Bound]:
    """Theorem R: of a policy that falls back to that of Theorem F."""
    C, q, m = theorem["C"], int(theorem["q"]), int(theorem["constraints"])
    power, order = 1.0 - 1.0 / q, f"T^{{{q - 1}/{q}}}"
    text = f"{fallback_regret(C, 1.0, 1.0, 0.0, q):.3g} D Phi_T + D max ||grad f_t||"
    begin = nonvacuous_horizon(lambda T: fallback_regret(C, 1.0, T**power, 1.0, q), 1.0)
    text = f"{text}, Phi_T <= Gf {order}; below Gf D T from T = {begin:.0f} on"
    yield "regret, Theorem R", text, None, None
    begin = nonvacuous_horizon(lambda T: fallback_ccv(C, T, q, m), 1.0)
    text = (
        f"{CCV * 2.0 ** (1.0 / q):.3g} D Gamma_T + D max ||grad g_t||, Gamma_T <= Gg {order}; "
        f"after a switch of order Gg D {order} (log T)^{{1/{q}}}; {ONE_SIZE} from T = {begin:.0f} "
        "on"
    )
    yield f"{_ccv_of(m)}, Theorem R", text, None, None


def _projected(theorem: Theorem) -> Iterator[Bound]:
    lam = theorem["lam"]
    text = f"{projected_regret(1.0, 1.0, lam):.3g} D sqrt(sum ||grad f_t||^2)"
    yield "regret, Theorem F with projections", text, None, None
    begin = nonvacuous_horizon(lambda T: projected_ccv(T, lam), 1.0)
    text = f"of order Gg D sqrt(T log T), below Gg D T from T = {begin:.0f} on"
    yield "CCV, Theorem F with projections", text, None, None


def _exponential(theorem: Theorem) -> Iterator[Bound]:
    T, worst = theorem["T"], theorem["G"] * theorem["D"]
    regret = 2.0 * worst * (math.sqrt(T) + 1.0)
    yield "regret, Sinha and Vaze 2024", "2 G D (sqrt T + 1)", regret, worst * T
    ccv = 4.0 * worst * math.sqrt(T) * math.log(2.0 * (1.0 + 2.0 * T))
    text = "4 G D sqrt(T) log(2 (1 + 2 T))"
    yield "CCV, Sinha and Vaze 2024", text, ccv, worst * T


def _plain(theorem: Theorem) -> Iterator[Bound]:
    T = theorem["T"]
    statement = "sharper_ocg_regret with D = L = 1 and L_t constant"
    value = sharper_ocg_regret(1.0, 1.0, int(T))
    yield "regret over D L, sharper Theorem 2.1", statement, value, T


def _coco(theorem: Theorem) -> Iterator[Bound]:
    T, G, D, B = int(theorem["T"]), theorem["G"], theorem["D"], theorem["B"]
    p, worst = math.log(T), G * D * T
    potential, queue = paper_potential(T, G * D, B)
    assert isinstance(potential.scale, float)
    k = potential.scale
    if B == 0.0:
        regret, ccv = coco_bounds.coco_regret(G, D, T), coco_bounds.coco_ccv(G, D, T)
        yield "regret, Theorem 3.4", "c p T^{3/4} + (G D p)^p/V + 1", regret, worst
        text = "max((4 c V T)^{1/p} + 2 G D p, 2 c p^2 T^{3/4}) - Q(0)"
        yield "CCV, Theorem 3.4", text, ccv, worst
    C = coco_bounds.surrogate_constant(G, D, T)
    text = "C + (Q(0)/k)^p + (1/p)((p-1)/p)^{p-1} (p (C + B)/k)^p"
    yield "regret, sharper", text, coco_bounds.general_regret(p, k, C, queue, B), worst
    text = "p (C + B) + k (G D T + C + (Q(0)/k)^p)^{1/p} - Q(0)"
    yield "CCV, sharper", text, coco_bounds.general_ccv(p, k, C, worst, queue, B), worst


def _long_term(theorem: Theorem) -> Iterator[Bound]:
    T, G, D = int(theorem["T"]), theorem["G"], theorem["D"]
    text = f"C + T F^2/C + 2 M, of order T^{{7/8}}; {DOMINATED}"
    yield "regret, quadratic drift", text, coco_bounds.long_term_regret(G, D, T), G * D * T
    text = "M = 2 C + sqrt(T F^2 + C G D T + C^2)"
    yield "signed sum, quadratic drift", text, coco_bounds.long_term_sum(G, D, T), G * D * T


def _ftpl(theorem: Theorem) -> Iterator[Bound]:
    T = int(theorem["T"])
    yield "expected regret, Theorem 5.1", ORDER, coco_bounds.ftpl_regret(T), 2.0 * T
    yield "expected signed sum, Theorem 5.1", ORDER, coco_bounds.ftpl_sum(T), float(T)


def _block_cap(theorem: Theorem) -> Iterator[Bound]:
    text = "at most one per round, by the cap of K calls a block of K rounds"
    yield "oracle calls", text, theorem["T"], None


def _bandit(theorem: Theorem) -> Iterator[Bound]:
    T, c, GD = int(theorem["T"]), theorem["c"], theorem["G D"]
    yield "expected regret, Theorem 4.2", ORDER, bandit_bounds.cbco_regret(c, GD, T), GD * T
    yield "CCV, expected, Theorem 4.2", ORDER, bandit_bounds.cbco_ccv(c, GD, T), GD * T


def _draws(_: Theorem) -> Iterator[Bound]:
    text = "mean cost and mean signed sum are those of the policy inside; the CCV is larger"
    yield "mean of the draws", text, None, None


def _estimates(_: Theorem) -> Iterator[Bound]:
    yield "estimates", "unbiased estimates of all coefficients; no rate", None, None


BOUNDS: dict[str, Callable[[Theorem], Iterator[Bound]]] = {
    "sharper Theorem 2.1": _plain,
    "Theorem F": _of_weights,
    "Theorem F with projections": _projected,
    "Theorem R": _fallback,
    "Sinha and Vaze 2024": _exponential,
    "Theorem 3.4": _coco,
    "quadratic drift": _long_term,
    "Theorem 5.1": _ftpl,
    "cap of a block": _block_cap,
    "Theorem 4.2": _bandit,
    "mean of the draws": _draws,
    "unbiased estimates": _estimates,
}
"""How the bounds of each theorem that a policy may declare are computed."""


def _adaptivity(surrogate: object) -> Adaptivity | None:
    """Return log((1 + w)/(1 + w_0)) where weights only grow, which bounds every ratio too."""
    if not isinstance(surrogate, Queued) or isinstance(surrogate, SignedSurrogate):
        return None
    potential = surrogate.potential
    if not (isinstance(potential, PowerPotential) and isinstance(potential.scale, float)):
        return None
    now, first = (potential.weight(q) for q in (surrogate.queue, surrogate.initial))
    growth = max(0.0, math.log1p(now) - math.log1p(first))
    return Adaptivity(growth, math.exp(growth))
