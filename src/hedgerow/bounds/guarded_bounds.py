"""Bounds of guarded weights, powers of the violation: Theorems F and G."""

from __future__ import annotations

import math

from hedgerow.surrogates.guard import SHARE, first_constant, norm_of_weights

LARGEST_OMEGA = 1e100
"""A root beyond it says nothing."""


def guarded_regret(
    C: float,
    diameter: float,
    cost_size: float,
    lam: float = SHARE,
    lam_e: float = SHARE,
    steepest: float = 0.0,
) -> float:
    """Theorem G: Regret_T <= (1 + lam_e + lam) C D Phi_T; a mixture adds D max ||grad f_t||.

    Of any practical weights and steps behind a `Guard`, against every action that satisfies
    all rounds. lam_e = 0 is Theorem F, of its own weights alone.

    Args:
        C: `Growth(q, a).constant(rho)` of the learner's steps.
        diameter: D.
        cost_size: Phi_T = (sum of ||grad f_t||^{q'})^{1/q'}; Gf T^{1/q'} for ||grad f_t|| <= Gf.
        lam: the guard's share for Theorem F's weights.
        lam_e: the guard's share for practical weights and steps, and of a mixture's loss.
        steepest: the largest ||grad f_t|| for a mixture, 0 for a learner that is none.

    """
    return ((1.0 + lam_e + lam) * C * cost_size + steepest) * diameter


def guarded_ccv(
    C: float,
    horizon: float,
    lam: float = SHARE,
    lam_e: float = SHARE,
    q: int = 4,
    cost_ratio: float | None = None,
    *,
    mixture: bool = False,
    constraints: int = 1,
) -> float:
    """Theorem G: a bound of CCV_T over D (sum ||grad g_t||^{q'})^{1/q'}, for costs of any sizes.

    C ((v/log(1 + v)) log((1 + omega) Phi_T/Phi_1))^{1/q}, v = C^{-q}, where omega is the root of
    omega - n(omega) = (c1/lam) (1 + lam_e + T^{1/q}/C), of a mixture
    omega - n(omega) - v (1 + omega) = (c1'/lam) (1 + lam_e + (1 + T^{1/q})/C), with
    n(omega) = (((1 + omega)^{q'} - 1)/q')^{1/q'}, c1 = max (n(omega) - omega) and
    c1' = max (n(omega) - omega + v (1 + omega)); Phi_1 is Phi_t in the first
    violated round. With ||grad g_t|| <= Gg the sum is at most Gg T^{1/q'}: of order
    T^{1/q'} (log T)^{1/q}. It bounds the avoidable violation, the sum of (g_t - u_t)^+, where u_t
    is what the surrogate found that no action avoids.

    Args:
        C: as in `guarded_regret`.
        horizon: T.
        lam: as in `guarded_regret`.
        lam_e: as in `guarded_regret`.
        q: of the growth.
        cost_ratio: Phi_T/Phi_1; T^{1/q'}, that of costs of one size, if left out.
        mixture: whether the learner is a mixture, such as `TrackingOCG`.
        constraints: m, for the CCV of one of m constraints with a weight each: lam/m stands for
            lam, and 1 + lam_e + lam (m - 1)/m for 1 + lam_e.

    """
    dual, T, v = q / (q - 1.0), horizon, C**-q
    share, others = v if mixture else 0.0, 1.0 - 1.0 / constraints
    right = 1.0 + lam_e + lam * others + (T ** (1.0 / q) + (1.0 if mixture else 0.0)) / C
    omega = _root(constraints * first_constant(q, share) / lam * right, dual, share)
    grown = math.log1p(omega) + math.log(T ** (1.0 / dual) if cost_ratio is None else cost_ratio)
    return float(C * (v / math.log1p(v) * grown) ** (1.0 / q))


def _root(right: float, dual: float, share: float) -> float:
    """Return omega with omega - n(omega) - share (1 + omega) = right > 0, infinity if none."""

    def left(omega: float) -> float:
        return omega - norm_of_weights(omega, dual) - share * (1.0 + omega)

    low, high = 0.0, 1.0
    while left(high) < right:
        low, high = high, 2.0 * high
        if high > LARGEST_OMEGA:
            return math.inf
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if left(middle) < right else (low, middle)
    return high


def projected_regret(diameter: float, squares: float, lam: float = 0.5) -> float:
    """Theorem F with AdaGrad: Regret_T <= (1 + lam) sqrt(2) D sqrt(sum ||grad f_t||^2).

    Args:
        diameter: D.
        squares: the sum of ||grad f_t||^2; Gf^2 T for ||grad f_t|| <= Gf.
        lam: the share that pays for the weights.

    """
    return (1.0 + lam) * math.sqrt(2.0 * squares) * diameter


def projected_ccv(horizon: float, lam: float = 0.5) -> float:
    """Theorem F with AdaGrad: a bound of CCV_T/(Gg D), of order sqrt(T log T).

    `guarded_ccv` with AdaGrad's constant sqrt(2) for C, q = 2 and lam_e = 0, for ||grad g_t|| <=
    Gg.

    Args:
        horizon: T.
        lam: as in `projected_regret`.

    """
    return math.sqrt(horizon) * guarded_ccv(math.sqrt(2.0), horizon, lam, 0.0, 2)
