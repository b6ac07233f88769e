"""Garber and Kretzu (2024): blocks of gradient steps that a feasible point follows.

D. Garber and B. Kretzu, "Projection-free online convex optimization with time-varying
constraints", ICML 2024 (PMLR 235, arXiv 2402.08799). Both policies here are reconstructions: the
sub-routines follow the authors' papers of 2022 and 2023, the two main loops were rebuilt from the
abstract and from what later papers say of them, with constants for which the published rates can
be derived.
"""

from __future__ import annotations

import math
import warnings

from hedgerow.baselines.normalised import Normalised
from hedgerow.baselines.penalty_prox import PenaltyProx
from hedgerow.feedback import EvalGrad, Full
from hedgerow.inputs import RNG, as_count, as_positive, as_seed, level_outside
from hedgerow.learners.block_rules import FixedLooBlocks, PracticalBlocks, PracticalLooBlocks
from hedgerow.learners.blocked_ogd import BlockedOGD
from hedgerow.learners.hull_coordinates import HullCoordinates, ShrunkHull
from hedgerow.learners.one_point import OnePoint
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.constrained_bandit import ConstrainedBandit, DeclaredValues
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import (
    Lipschitz,
    Preset,
    VacuousConstantsWarning,
    as_pair,
    check_preset,
    needed_horizon,
    needed_lipschitz,
    refuse_eagerness,
)
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.dual import DualSteps, DualSurrogate, DualValues

DPP_KAPPA, DPP_TOLERANCE = 0.25, 0.003
"""Algorithm 3's practical step and tolerance c.

By the score, games, seeds and horizon of `TUNED`: 0.62, 0.61, 0.77, 1.32, 2.78 at kappa 1/8,
1/4, 1/2, 1, 2 with c = 0.01, then 0.75, 0.61, 0.54 at c = 0.03, 0.01, 0.003; with the last, paths
need 0.9 oracle calls per round, and no smaller one was tried. lam = T^{1/8} is the theorem's; 3
times that scores the same. A lam below 1 lets a cost outweigh a constraint that pulls the other
way."""
LPM_KAPPA, LPM_TOLERANCE, LPM_THETA, LPM_MU = 0.125, 0.03, 1.0 / 300.0, 300.0
"""Algorithm 4's practical step, tolerance c, and factors on theta and mu.

Chosen in the same way among 37 mixtures of kappa 1/16 to 1, or fixed steps 1/2 to 8 times the
theorem's, c 0.01 to 0.1, theta 1/3000 to 1/30 and mu 30 to 3000, no game with more than one oracle
call per round: a score of 1.02, where fixed steps had 2.3 to 14 and swung. It is flat from there:
mu = 1000 has 1.00."""


@baseline(
    source="Garber and Kretzu 2024, Algorithm 3",
    regret="T^{3/4} sqrt(log T)",
    ccv="T^{7/8}, every interval",
    per_round="theory: at most 1 linear minimisation, amortised; a convex programme over a ball "
    "per block",
    sees="whole",
    needs="known T; theory: G on a ball",
    confidence="medium: reconstruction",
    remark="reconstruction",
)
def garber_kretzu_2024_dpp(
    decision_set: DecisionSet,
    horizon: int,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
) -> PenaltyProx | Normalised[Full]:
    """Algorithm 3 of Garber and Kretzu (2024), drift-plus-penalty (a reconstruction).

    `PenaltyProx`: one point a block of K = ceil(sqrt T) rounds, then a proximal step over a ball
    on cost plus lam times violation, then an approximately feasible projection. It needs the whole
    constraint of every round (`full` feedback), defined on a ball of radius D about the set. There
    is no memory of old violation: the weight is constant.

    `theory`: eta = (R/G) T^{-3/4}, lam = T^{1/8}, eps = c R^2 / sqrt T with R the diameter and c
    such that no block needs more than K oracle calls. Then, on the whole horizon,
    Regret <= 3 G R T^{3/4} + G T sqrt(3 eps) and
    CCV <= G T sqrt(3 eps) + G T sqrt(8 K eta R G) + O(G R T)/lam = O(T^{7/8}); the published rates
    are T^{3/4} sqrt(log T) and T^{7/8} on every interval. Below T = 285 022 the tolerance is wider
    than the set and the play never moves; it warns and says so.

    `practical`: rounds in their own units (`Normalised`), eta_m = 0.25 R / sqrt(sum of ||c_j||^2),
    eps = 0.003 R^2 / sqrt T, lam = T^{1/8}: tuned, not proved. Oracle calls are then not
    bounded by T; measured at T = 1600: 0.01 to 0.03 per round on balls and boxes, 0.2 on a simplex,
    0.3 to 0.9 on paths.

    Args:
        decision_set: where to play.
        horizon: the number of rounds T; K and eps depend on it in both presets.
        preset: "practical" or "theory".
        lipschitz: G, a bound of all gradients' norms; only `theory` needs it.
        eagerness: a factor on lam; above 1 less violation and more regret. `theory` takes none.

    """
    check_preset(preset, decision_set, horizon)
    if preset == "theory":
        letter = _theory_steps(horizon, lipschitz, eagerness)
        return PenaltyProx(decision_set, letter, letter.horizon**0.125)
    T = as_count(horizon, "horizon")
    weight = as_positive(eagerness, "eagerness") * T**0.125
    steps = PracticalLooBlocks(T, DPP_KAPPA, DPP_TOLERANCE)
    return Normalised(PenaltyProx(decision_set, steps, weight))


@baseline(
    source="Garber and Kretzu 2024, Algorithm 4",
    regret="T^{3/4} sqrt(log T)",
    ccv="T^{7/8}",
    per_round="theory: at most 1 linear minimisation, amortised",
    sees="gradients",
    needs="known T; theory: G",
    confidence="medium: reconstruction",
    remark="reconstruction",
)
def garber_kretzu_2024_lpm(
    decision_set: DecisionSet,
    horizon: int,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    eagerness: float = 1.0,
) -> ConstrainedPolicy[EvalGrad] | Normalised[EvalGrad]:
    """Algorithm 4 of Garber and Kretzu (2024), the Lagrangian method LPM (a reconstruction).

    `BlockedOGD` plays the losses f_t + lam_m g_t^+ of a dual variable that is fixed in a block and
    then moves to lam_{m+1} = max(0, lam_m + mu (S_m - K theta lam_m)), S_m the block's violation.
    First-order feedback and linear minimisation alone.

    `theory`: K = ceil(sqrt T), eta = (R/G) T^{-3/4}, theta = 4 eta K G^2, mu = T^{-3/4}/(4 R G) and
    eps = c R^2 / sqrt T with c such that no block needs more than K oracle calls. From T = 64 on,
    Regret <= G R T^{3/4} (4 + sqrt(3c) + 1.5 c) and
    CCV <= sqrt(16 R G T^{3/4} (2 R G T + that)) = O(T^{7/8}), over the whole horizon. Below
    T = 285 022 the tolerance is wider than the set and the play never moves; it warns and says so.

    `practical`: rounds in their own units (`Normalised`),
    eta_m = R / (8 sqrt(sum of ||p_j||^2)) with p_j the sum of block j's gradients,
    eps = 0.03 R^2 / sqrt T, theta divided by 300, mu times 300: tuned, not proved. Oracle
    calls are then not bounded by T; measured at T = 1600: 0.01 to 0.02 per round on balls and
    boxes, 0.4 on a simplex, 0.1 on paths.

    Args:
        decision_set: where to play.
        horizon: the number of rounds T; K and eps depend on it in both presets.
        preset: "practical" or "theory".
        lipschitz: G, a bound of all gradients' norms; only `theory` needs it.
        eagerness: a factor on lam (mu is multiplied and theta divided by it); above 1 less
            violation and more regret. `theory` takes none.

    """
    check_preset(preset, decision_set, horizon)
    R = decision_set.diameter
    if preset == "theory":
        steps = _theory_steps(horizon, lipschitz, eagerness)
        T, G = steps.horizon, steps.lipschitz
        K = steps.begin(R).length
        theta, mu = 4.0 * steps.eta(R, 0.0) * K * G**2, T**-0.75 / (4.0 * R * G)
        return ConstrainedPolicy(
            BlockedOGD(decision_set, steps), DualSurrogate(DualSteps(K, theta, mu))
        )
    T, R, eager = as_count(horizon, "horizon"), R or 1.0, as_positive(eagerness, "eagerness")
    quicker = PracticalLooBlocks(T, LPM_KAPPA, LPM_TOLERANCE)
    theta = LPM_THETA / eager * 4.0 * R * T**-0.25
    mu = LPM_MU * eager * T**-0.75 / (4.0 * R)
    dual = DualSurrogate(DualSteps(quicker.begin(R).length, theta, mu))
    return Normalised(ConstrainedPolicy(BlockedOGD(decision_set, quicker), dual))


def _theory_steps(horizon: int, lipschitz: Lipschitz, eagerness: float) -> FixedLooBlocks:
    """Return K = ceil(sqrt T), eta = (R/G) T^{-3/4} and the tolerance that T oracle calls allow."""
    refuse_eagerness(eagerness)
    T, G = needed_horizon(horizon), needed_lipschitz(lipschitz)
    c = budget_tolerance(T)
    if 3.0 * c >= math.sqrt(T):  # 3 eps >= R^2: from x_1 no point of the ball is far enough
        warnings.warn(
            f"at T = {T} the tolerance that the oracle calls allow is wider than the set, so the "
            "play never moves; it can move from T = 285022 on. preset='practical' moves at "
            "any horizon",
            VacuousConstantsWarning,
            stacklevel=level_outside(),
        )
    return FixedLooBlocks(T, G, length=1.0, tolerance=c)


def budget_tolerance(horizon: int) -> float:
    """Return the least c for which a block of sqrt(T) rounds needs at most sqrt(T) oracle calls.

    With eps = c R^2 / sqrt T the worst case is (27 sqrt(T) / c) (2.25 ln(4 sqrt(T) / c) + 1) calls,
    so that c + 60.75 ln c = 27 + 60.75 ln(4 sqrt T): c = 60.75 W(4 sqrt(T) e^{4/9} / 60.75) with
    Lambert's W.

    >>> round(budget_tolerance(10_000), 1)
    107.1
    """
    from scipy.special import lambertw

    slope = 27.0 * 2.25
    return slope * float(lambertw(4.0 * math.sqrt(horizon) * math.exp(27.0 / slope) / slope).real)


BANDIT_KAPPA, BANDIT_TOLERANCE = 0.5, 0.1
"""The practical step, that of `PracticalBlocks`, and the tolerance c of `PracticalLooBlocks`.

Neither was tuned for this policy; on random linear games over a simplex, a ball and a box it then
does as well as `projection_free_bandit`."""


@baseline(
    source="Garber and Kretzu 2024, Algorithm 5",
    regret="T^{3/4} sqrt(log T), expected",
    ccv="T^{7/8} log T, expected",
    per_round="theory: at most 1 linear minimisation, amortised",
    sees="values",
    needs="known T, G, bound; oblivious rounds; inner ball",
    confidence="low to medium: reconstruction",
    remark="reconstruction",
)
def garber_kretzu_2024_bandit(
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
    """Algorithm 5 of Garber and Kretzu (2024), LBPM: LPM from values (a reconstruction).

    Play z_t = x_m + delta u_t with u_t uniform on the sphere; the block's gradient is the sum of
    (n/delta) (f_t(z_t) + lam_m g_t^+(z_t)) u_t, and S_m the sum of g_t^+(z_t). lam_m is fixed
    before the block, so the estimate is unbiased for the smoothed Lagrangian. The published rates
    are T^{3/4} sqrt(log T) and T^{7/8} log T in expectation, for oblivious rounds; of Algorithm 5
    only orders are known, so neither preset comes with a proof. It is least certain of the three.

    `theory`: delta = r T^{-1/4}, K = ceil(6 n M sqrt T), eta = R T^{-3/4} / sqrt(n M) and
    eps = delta^2/3, the constants of the bandit method of 2022 as printed (they have units: M is
    a number there), with theta = 4 R G T^{-1/4} and mu = T^{-3/4}/(4 R G) of the Lagrangian method.
    Where K > T the play never moves; it warns.

    `practical`: delta = r min(1/2, sqrt(n) T^{-1/4}), K = ceil(sqrt T), the last block's mean
    subtracted, eta_m = 0.5 R / sqrt(sum of the blocks' squared estimates),
    eps = max(delta^2/3, 0.1 R^2/sqrt T), theta and mu as in `garber_kretzu_2024_lpm`, in units of
    the declared constants: tuned, not proved.

    Args:
        decision_set: where to play; it needs a hull and an inner ball.
        horizon: the number of rounds T.
        seed: fixes the perturbations.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.
        lipschitz: a Lipschitz constant of costs and constraints, or a pair of them.
        bound: a bound of |cost| and |constraint| over the set, or a pair of them.
        preset: "practical" or "theory".
        eagerness: a factor on lam, as in `garber_kretzu_2024_lpm`; `theory` takes none.

    Reference: D. Garber and B. Kretzu, ICML 2024 (PMLR 235); the bandit method of 2022 is in
    COLT 2022 (PMLR 178).

    """
    check_preset(preset, decision_set, horizon)
    T = as_count(horizon, "horizon", least=8)
    seed = as_seed(seed, rng)
    (Gf, Gg), M = as_pair(lipschitz, "lipschitz"), max(as_pair(bound, "bound"))
    if preset == "theory":
        refuse_eagerness(eagerness)
        return _theory(decision_set, T, seed, DeclaredValues(max(Gf, Gg), M))
    inside = HullCoordinates(decision_set)
    block = PracticalBlocks(T).begin(inside.dim, inside.radius, decision_set.diameter)
    inner_set = ShrunkHull(decision_set, block.delta, inside)
    R, eager = inner_set.diameter, as_positive(eagerness, "eagerness")
    steps = PracticalLooBlocks(T, BANDIT_KAPPA, max(_tolerance(inner_set, T), BANDIT_TOLERANCE))
    K = steps.begin(R).length
    theta = LPM_THETA / eager * 4.0 * R * Gg**2 / Gf * T**-0.25
    mu = LPM_MU * eager * Gf * T**-0.75 / (4.0 * R * Gg**2)
    learner = OnePoint(BlockedOGD(inner_set, steps), seed, window=K)
    surrogate = DualValues(DualSteps(K, theta, mu))
    return ConstrainedBandit(learner, surrogate, DeclaredValues(max(Gf, Gg), M))


def _theory(X: DecisionSet, T: int, seed: int, declared: DeclaredValues) -> ConstrainedBandit:
    inside, G, M = HullCoordinates(X), declared.lipschitz, declared.bound
    inner_set = ShrunkHull(X, inside.radius * T**-0.25, inside)
    n, R = inner_set.dim, inner_set.diameter
    steps = FixedLooBlocks(T, math.sqrt(n * M), 6.0 * n * M, _tolerance(inner_set, T))
    K = steps.begin(R).length
    if K > T:
        warnings.warn(
            f"a block of 6 n M sqrt(T) = {K} rounds is longer than the game of {T}: the play "
            "never moves. preset='practical' moves at any horizon",
            VacuousConstantsWarning,
            stacklevel=level_outside(),
        )
    dual = DualSteps(K, 4.0 * R * G * T**-0.25, T**-0.75 / (4.0 * R * G))
    learner = OnePoint(BlockedOGD(inner_set, steps), seed)
    return ConstrainedBandit(learner, DualValues(dual), declared)


def _tolerance(inner_set: ShrunkHull, T: int) -> float:
    """Return c such that eps = c R^2 / sqrt T is delta^2 / 3."""
    return inner_set.delta**2 * math.sqrt(T) / (3.0 * inner_set.diameter**2)
