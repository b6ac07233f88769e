"""Bounds of guarded weights, powers of the violation: Theorems F and G."""

from __future__ import annotations

import math

from hedgerow.surrogates.guard import C1, SHARE


def guarded_regret(
    C: float, diameter: float, cost_size: float, lam: float = SHARE, lam_e: float = SHARE
) -> float:
    """Theorem G: Regret_T <= (1 + lam_e + lam) C D Phi_T.

    Of any practical weights and steps behind a `Guard`, against every action that satisfies
    all rounds. lam_e = 0 is Theorem F, of its own weights alone.

    Args:
        C: `Growth(q, a).constant(rho)` of the learner's steps.
        diameter: D.
        cost_size: Phi_T = (sum of ||grad f_t||^{q'})^{1/q'}; Gf T^{1/q'} for ||grad f_t|| <= Gf.
        lam: the guard's share for Theorem F's weights.
        lam_e: the guard's share for practical weights and steps.

    """
    return (1.0 + lam_e + lam) * C * diameter * cost_size


def guarded_ccv(
    C: float,
    horizon: float,
    lam: float = SHARE,
    lam_e: float = SHARE,
    q: int = 4,
    cost_ratio: float | None = None,
) -> float:
    """Theorem G: a bound of CCV_T over D (sum ||grad g_t||^{q'})^{1/q'}, for costs of any sizes.

    C ((v/log(1 + v)) log((1 + omega) Phi_T/Phi_1))^{1/q}, v = C^{-q}, where omega is the root of
    omega - (((1 + omega)^{q'} - 1)/q')^{1/q'} = (c1/lam) (1 + lam_e + T^{1/q}/C), and Phi_1 is
    Phi_t in the first violated round. With ||grad g_t|| <= Gg the sum is at most Gg T^{1/q'}: of
    order T^{1/q'} (log T)^{1/q}. It bounds the avoidable violation, the sum of (g_t - u_t)^+, where
    u_t is what the surrogate found that no action avoids.

    Args:
        C: as in `guarded_regret`.
        horizon: T.
        lam: as in `guarded_regret`.
        lam_e: as in `guarded_regret`.
        q: of the growth.
        cost_ratio: Phi_T/Phi_1; T^{1/q'}, that of costs of one size, if left out.

    """
    dual, T = q / (q - 1.0), horizon
    omega = _root(C1[q] / lam * (1.0 + lam_e + T ** (1.0 / q) / C), dual)
    grown = math.log1p(omega) + math.log(T ** (1.0 / dual) if cost_ratio is None else cost_ratio)
    v = C**-q
    return float(C * (v / math.log1p(v) * grown) ** (1.0 / q))


def _root(right: float, dual: float) -> float:
    """Return omega with omega - (((1 + omega)^{q'} - 1)/q')^{1/q'} = right > 0."""

    def left(omega: float) -> float:
        grown = ((1.0 + omega) ** dual - 1.0) / dual
        return omega - float(grown ** (1.0 / dual))

    low, high = 0.0, 1.0
    while left(high) < right:
        low, high = high, 2.0 * high
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
