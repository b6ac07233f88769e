"""Garber and Kretzu (2024) with bandit feedback: values alone."""

from __future__ import annotations

import math
import warnings

from hedgerow.baselines.garber_kretzu import LPM_MU, LPM_THETA
from hedgerow.inputs import as_count, as_positive
from hedgerow.learners.blocked_ogd import BlockedOGD
from hedgerow.learners.blocks import PracticalBlocks
from hedgerow.learners.hull_coordinates import HullCoordinates, ShrunkHull
from hedgerow.learners.loo_blocks import FixedLooBlocks, PracticalLooBlocks
from hedgerow.learners.one_point import OnePoint
from hedgerow.policies.constrained_bandit import ConstrainedBandit, DeclaredValues
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import (
    Preset,
    VacuousConstantsWarning,
    as_pair,
    check_preset,
    refuse_eagerness,
)
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.dual import DualSteps, DualValues

BANDIT_KAPPA, BANDIT_TOLERANCE = 0.5, 0.1
"""The practical step, that of `PracticalBlocks`, and the tolerance c of `PracticalLooBlocks`.

Neither was tuned for this policy; on random linear games over a simplex, a ball and a box it then
does as well as `projection_free_cbco`."""


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
    seed: int,
    *,
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
        lipschitz: a Lipschitz constant of costs and constraints, or a pair of them.
        bound: a bound of |cost| and |constraint| over the set, or a pair of them.
        preset: "practical" or "theory".
        eagerness: a factor on lam, as in `garber_kretzu_2024_lpm`; `theory` takes none.

    Reference: D. Garber and B. Kretzu, ICML 2024 (PMLR 235); the bandit method of 2022 is in
    COLT 2022 (PMLR 178).

    """
    check_preset(preset, decision_set, horizon)
    T = as_count(horizon, "horizon", least=8)
    (Gf, Gg), M = as_pair(lipschitz, "lipschitz"), max(as_pair(bound, "bound"))
    if preset == "theory":
        refuse_eagerness(eagerness)
        return _theory(decision_set, T, seed, DeclaredValues(max(Gf, Gg), M))
    inside = HullCoordinates(decision_set)
    block = PracticalBlocks(T).begin(inside.dim, inside.radius, decision_set.diameter)
    room = ShrunkHull(decision_set, block.delta, inside)
    R, eager = room.diameter, as_positive(eagerness, "eagerness")
    steps = PracticalLooBlocks(T, BANDIT_KAPPA, max(_tolerance(room, T), BANDIT_TOLERANCE))
    K = steps.begin(R).length
    theta = LPM_THETA / eager * 4.0 * R * Gg**2 / Gf * T**-0.25
    mu = LPM_MU * eager * Gf * T**-0.75 / (4.0 * R * Gg**2)
    learner = OnePoint(BlockedOGD(room, steps), seed, window=K)
    surrogate = DualValues(DualSteps(K, theta, mu))
    return ConstrainedBandit(learner, surrogate, DeclaredValues(max(Gf, Gg), M))


def _theory(X: DecisionSet, T: int, seed: int, declared: DeclaredValues) -> ConstrainedBandit:
    inside, G, M = HullCoordinates(X), declared.lipschitz, declared.bound
    room = ShrunkHull(X, inside.radius * T**-0.25, inside)
    n, R = room.dim, room.diameter
    steps = FixedLooBlocks(T, math.sqrt(n * M), 6.0 * n * M, _tolerance(room, T))
    K = steps.begin(R).length
    if K > T:
        warnings.warn(
            f"a block of 6 n M sqrt(T) = {K} rounds is longer than the game of {T}: the play "
            "never moves. preset='practical' moves at any horizon",
            VacuousConstantsWarning,
            stacklevel=3,
        )
    dual = DualSteps(K, 4.0 * R * G * T**-0.25, T**-0.75 / (4.0 * R * G))
    learner = OnePoint(BlockedOGD(room, steps), seed)
    return ConstrainedBandit(learner, DualValues(dual), declared)


def _tolerance(room: ShrunkHull, T: int) -> float:
    """Return c such that eps = c R^2 / sqrt T is delta^2 / 3."""
    return room.delta**2 * math.sqrt(T) / (3.0 * room.diameter**2)
