"""What a policy guarantees, with which constants, and whether that says anything now."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hedgerow.bounds import bandit, long_run, perturbed
from hedgerow.bounds.conditional_gradient import Adaptivity
from hedgerow.bounds.guarantee import Explanation, Guarantee
from hedgerow.bounds.sharper import sharper_ocg_regret
from hedgerow.inputs import Vector
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.block_bandit import BlockBandit
from hedgerow.learners.blocks import PaperBlocks
from hedgerow.learners.ftpl import FTPL
from hedgerow.learners.steps import CertificateSteps, PaperSteps
from hedgerow.policies.constrained import Constrained
from hedgerow.policies.constrained_bandit import ConstrainedBandit
from hedgerow.policies.sampled import LazySampled, SampledPlay
from hedgerow.policies.semi_bandit import SemiBandit
from hedgerow.potentials import PowerPotential
from hedgerow.protocols.parts import Policy
from hedgerow.snapshot import Snapshot
from hedgerow.surrogates.cost_only import CostOnlySurrogate
from hedgerow.surrogates.current import CurrentSurrogate
from hedgerow.surrogates.lagged import LaggedSurrogate
from hedgerow.surrogates.queued import Queued
from hedgerow.surrogates.ranges import GivenRanges
from hedgerow.surrogates.signed import SignedSurrogate

CONVEX = "convex costs and constraints"
FEASIBLE = "a benchmark that keeps the constraint in every round"
GRADIENTS = "||grad_t|| <= L_t with L_t nondecreasing"
ANALYTIC = "steps made with L_t = G (1 + w_t), or a first cost gradient of norm G"
ONE_CONSTANT = "one Lipschitz constant G"
OBLIVIOUS = "rounds fixed beforehand"
DOMINATED = "projection_free_coco(preset='theory') has order T^{3/4} against the same benchmark"


class FixedPower(NamedTuple):
    """A power potential whose scale is one number."""

    p: float
    scale: float


def explain(policy: Policy[Any, Any]) -> Explanation:
    """Say what a policy guarantees, with its constants, and whether it says anything.

    Constants are read off the policy: a theory preset carries G and T in its own numbers, a
    practical one has its certificate, whose value is that of the rounds played so far.

    Args:
        policy: any policy of the library; of others it says that nothing is known.

    >>> from hedgerow.policies.without_constraint import unconstrained
    >>> from hedgerow.sets.simplices import Simplex
    >>> [guarantee.name for guarantee in explain(unconstrained(Simplex(3))).guarantees]
    ['regret, afterwards', 'regret of the losses, afterwards']

    """
    if isinstance(policy, SampledPlay):
        return _sampled(policy)
    if isinstance(policy, SemiBandit):
        unbiased = Guarantee(
            "estimates",
            "unbiased estimates of all coefficients; no rate",
            None,
            None,
            (OBLIVIOUS, "linear costs and constraints"),
        )
        return Explanation("SemiBandit", None, (unbiased,), None)
    if isinstance(policy, Constrained):
        found = [*_certificates(policy), *_rates(policy)]
        learner = policy.learner
        horizon = learner.steps.horizon if isinstance(learner, AdaptiveOCG) else None
        if isinstance(learner, FTPL):
            horizon = _ftpl_horizon(policy.surrogate)
        return Explanation(_name(policy), horizon, tuple(found), _adaptivity(policy.surrogate))
    if isinstance(policy, ConstrainedBandit) and isinstance(policy.learner, BlockBandit):
        found = list(_bandit(policy, policy.learner))
        T = policy.learner.steps.horizon
        return Explanation(_name(policy), T, tuple(found), _adaptivity(policy.surrogate))
    return Explanation(f"{type(policy).__name__}: nothing is known of it", None, (), None)


def _name(policy: Constrained[Any] | ConstrainedBandit) -> str:
    parts = (type(policy.learner).__name__, type(policy.surrogate).__name__)
    return f"{type(policy).__name__}({', '.join(parts)})"


def _sampled(policy: SampledPlay) -> Explanation:
    inner = explain(policy.policy)
    mean = Guarantee(
        "mean of the draws",
        "mean cost and mean signed sum are those of the policy inside; the CCV is larger",
        None,
        None,
        (
            "linear costs and constraints",
            *((OBLIVIOUS,) if isinstance(policy, LazySampled) else ()),
        ),
    )
    name = f"{type(policy).__name__} over {inner.policy}"
    kept = tuple(part for part in inner.guarantees if not part.name.startswith("CCV"))
    return Explanation(name, inner.horizon, (mean, *kept), inner.adaptivity)


def _certificates(policy: Constrained[Any]) -> Iterator[Guarantee]:
    """What holds after the fact, whatever the constants."""
    snapshot = policy.state()
    seen = _numbers(snapshot)
    played = seen["rounds"][0] > 0.0
    worst = policy.decision_set.diameter * float(seen["size"][0]) if played else None
    yield Guarantee(
        "regret, afterwards",
        "sum <s_t, x_t> - min <sum s_t, x> - sum w_t g_t(x_t); D sum ||s_t|| at worst",
        policy.certificate() if played else None,
        worst,
        (CONVEX, FEASIBLE),
    )
    learner = policy.learner
    if isinstance(learner, AdaptiveOCG) and isinstance(learner.steps, CertificateSteps):
        bound = _by_regulariser(learner, snapshot["parts"]["learner"]) if played else None
        yield Guarantee(
            "regret of the losses, afterwards",
            "(1 + c) beta_{T+1} D^2 + gap_T; of order T^{3/4} (docs/theory.md), but the constant "
            "is too large to say anything beforehand",
            bound,
            worst,
            ("convex losses",),
        )


def _by_regulariser(learner: AdaptiveOCG, snapshot: Snapshot) -> float:
    """Return (1 + c) beta_{T+1} D^2 + gap_T, gap_T the Frank-Wolfe gap of F_T at x_{T+1}."""
    state, X = _numbers(snapshot), learner.decision_set
    _, c, _, _, beta, M = (float(value) for value in state["rule"])
    D2 = X.diameter**2 or 1.0
    direction = state["S"] + 2.0 * beta * (state["x"] - state["x1"])
    gap = float(direction @ state["x"]) - X.minimum(direction)
    return (1.0 + c) * max(beta, M / (c * D2)) * D2 + gap


def _numbers(snapshot: Snapshot) -> dict[str, Vector]:
    """Return a snapshot's numbers by their names."""
    names, sizes = list(snapshot["layout"]), list(snapshot["layout"].values())
    return dict(zip(names, np.split(snapshot["array"], np.cumsum(sizes)[:-1]), strict=True))


def _rates(policy: Constrained[Any]) -> Iterator[Guarantee]:
    """What holds beforehand."""
    learner, surrogate, D = policy.learner, policy.surrogate, policy.decision_set.diameter
    if isinstance(learner, FTPL):
        yield from _ftpl(learner, surrogate)
        return
    if not (isinstance(learner, AdaptiveOCG) and isinstance(learner.steps, PaperSteps)):
        return
    T = learner.steps.horizon
    if isinstance(surrogate, CostOnlySurrogate):
        yield Guarantee(
            "regret over D L, sharper Theorem 2.1",
            "sharper_ocg_regret with D = L = 1 and L_t constant",
            sharper_ocg_regret(1.0, 1.0, T),
            float(T),
            (CONVEX, GRADIENTS),
        )
    elif (potential := _fixed_power(surrogate)) is not None:
        k = float(potential.scale)
        if isinstance(surrogate, CurrentSurrogate) and math.isclose(potential.p, math.log(T)):
            yield from _coco(T, D, k, surrogate.initial)
        if isinstance(surrogate, SignedSurrogate) and potential.p == 2.0:
            yield from _long_term(T, k)


def _fixed_power(surrogate: object) -> FixedPower | None:
    """Return a power potential of one scale in given units, the theory presets' shape."""
    if not isinstance(surrogate, Queued) or not isinstance(surrogate.ranges, GivenRanges):
        return None
    potential = surrogate.potential
    if not (isinstance(potential, PowerPotential) and isinstance(potential.scale, float)):
        return None
    return FixedPower(potential.p, potential.scale)


def _coco(T: int, D: float, k: float, queue: float) -> Iterator[Guarantee]:
    p = math.log(T)
    GD = queue / p  # Q(0) = G D p
    G, worst = GD / D if D else 0.0, GD * T
    B = max(0.0, k / p - long_run.PROOF_CONSTANT * GD * p * T**0.75)  # k = p (C + B)
    if p * B <= 1e-9 * k:
        B = 0.0
        needs: tuple[str, ...] = (CONVEX, ONE_CONSTANT, FEASIBLE, ANALYTIC)
        regret, ccv = long_run.coco_regret(G, D, T), long_run.coco_ccv(G, D, T)
        yield Guarantee(
            "regret, Theorem 3.4", "c p T^{3/4} + (G D p)^p/V + 1", regret, worst, needs
        )
        text = "max((4 c V T)^{1/p} + 2 G D p, 2 c p^2 T^{3/4}) - Q(0)"
        yield Guarantee("CCV, Theorem 3.4", text, ccv, worst, needs)
    else:
        within = f"a benchmark that violates by at most {B:.3g} in all"
        needs = (CONVEX, ONE_CONSTANT, within, ANALYTIC, "no round violates by more than G D")
    C = long_run.surrogate_constant(G, D, T)
    text = "C + (Q(0)/k)^p + (1/p)((p-1)/p)^{p-1} (p (C + B)/k)^p"
    regret = long_run.general_regret(p, k, C, queue, B)
    yield Guarantee("regret, sharper", text, regret, worst, needs)
    text = "p (C + B) + k (G D T + C + (Q(0)/k)^p)^{1/p} - Q(0)"
    ccv = long_run.general_ccv(p, k, C, worst, queue, B)
    yield Guarantee("CCV, sharper", text, ccv, worst, needs)


def _long_term(T: int, k: float) -> Iterator[Guarantee]:
    GD = k**2 / (long_run.PROOF_CONSTANT * math.log(T) * T**0.75)  # V = 144 G D p T^{3/4}
    needs = (CONVEX, ONE_CONSTANT, "|g_t| <= G D", FEASIBLE, ANALYTIC)
    of_regret = f"C + T F^2/C + 2 M, of order T^{{7/8}}; {DOMINATED}"
    for name, text, bound in (
        ("regret", of_regret, long_run.long_term_regret),
        ("signed sum", "M = 2 C + sqrt(T F^2 + C G D T + C^2)", long_run.long_term_sum),
    ):
        yield Guarantee(f"{name}, quadratic drift", text, bound(1.0, GD, T), GD * T, needs)


def _ftpl_horizon(surrogate: object) -> int | None:
    potential = surrogate.potential if isinstance(surrogate, Queued) else None
    if isinstance(potential, PowerPotential) and isinstance(potential.scale, float):
        return round(potential.scale**4)  # V = sqrt T = scale^2
    return None


def _ftpl(learner: FTPL, surrogate: object) -> Iterator[Guarantee]:
    T = _ftpl_horizon(surrogate)
    if T is None:
        return
    literal = learner.noise.offset is not None and isinstance(
        getattr(surrogate, "ranges", None), GivenRanges
    )
    needs: tuple[str, ...] = (
        OBLIVIOUS,
        "linear costs and constraints without constants",
        "norms of f_t, g_t and all points at most 1",
        "the quoted bound of Gaussian noise",
    )
    if not literal:
        needs = (*needs, "the theory preset; learnt units are measured, not proved")
    for name, bound, worst in (
        ("expected regret, Theorem 5.1", perturbed.ftpl_regret, 2.0 * T),
        ("expected signed sum, Theorem 5.1", perturbed.ftpl_sum, float(T)),
    ):
        yield Guarantee(name, "of order T^{3/4}", bound(T) if literal else None, worst, needs)


def _bandit(policy: ConstrainedBandit, learner: BlockBandit) -> Iterator[Guarantee]:
    T = learner.steps.horizon
    yield Guarantee(
        "oracle calls",
        "at most one a round, by the cap of K calls a block of K rounds",
        float(T),
        None,
        (),
    )
    surrogate, potential = policy.surrogate, _fixed_power(policy.surrogate)
    if potential is None or not isinstance(surrogate, LaggedSurrogate):
        return
    if not isinstance(learner.steps, PaperBlocks):
        return
    p = math.log(T)
    c, GD = potential.scale / (p * T**0.75), surrogate.initial / (p * math.sqrt(T))
    uncapped = f"no block at its cap of K oracle calls (so far {learner.capped_blocks} were)"
    needs = (OBLIVIOUS, CONVEX, FEASIBLE, "one Lipschitz constant G and one bound F", uncapped)
    for name, bound in (
        ("expected regret, Theorem 4.2", bandit.cbco_regret),
        ("CCV, expected, Theorem 4.2", bandit.cbco_ccv),
    ):
        yield Guarantee(name, "of order T^{3/4}", bound(c, GD, T), GD * T, needs)


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
