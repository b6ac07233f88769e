"""Bounds of weights in proportion to a power of the violation, and of falling back to them."""

from __future__ import annotations

import math

from hedgerow.policies.fallback import CCV, SHARE
from hedgerow.surrogates.violation_weight import FIRST_CONSTANTS, norm_of_weights

LARGEST_OMEGA = 1e100
"""A root beyond it says nothing."""


def theorem_f_regret(C: float, diameter: float, cost_size: float, lam: float = SHARE) -> float:
    """Theorem F: Regret_T <= (1 + lam) C D Phi_T, against every action that satisfies all rounds.

    Args:
        C: `Growth(q, a).constant(rho)` of the learner's steps.
        diameter: D.
        cost_size: Phi_T = (sum of ||grad f_t||^{q'})^{1/q'}; Gf T^{1/q'} for ||grad f_t|| <= Gf.
        lam: the share that pays for the weights.

    """
    return (1.0 + lam) * C * cost_size * diameter


def theorem_f_ccv(
    C: float,
    horizon: float,
    lam: float = SHARE,
    q: int = 4,
    cost_ratio: float | None = None,
    constraints: int = 1,
) -> float:
    """Theorem F: a bound of CCV_T over D (sum ||grad g_t||^{q'})^{1/q'}, for costs of any sizes.

    C ((v/log(1 + v)) log((1 + omega) Phi_T/Phi_1))^{1/q}, v = C^{-q}, where omega is the root of
    omega - n(omega) = (c1/lam) (1 + T^{1/q}/C), n(omega) = (((1 + omega)^{q'} - 1)/q')^{1/q'} and
    c1 = max (n(omega) - omega); Phi_1 is Phi_t in the first violated round. With
    ||grad g_t|| <= Gg the sum is at most Gg T^{1/q'}: of order T^{1/q'} (log T)^{1/q}.

    Args:
        C: as in `theorem_f_regret`.
        horizon: T.
        lam: as in `theorem_f_regret`.
        q: of the growth.
        cost_ratio: Phi_T/Phi_1; T^{1/q'}, that of costs of one size, if left out.
        constraints: m, for the CCV of one of m constraints with a weight each: lam/m stands for
            lam, and 1 + lam (m - 1)/m for 1.

    """
    dual, T, v = q / (q - 1.0), horizon, C**-q
    right = 1.0 + lam * (1.0 - 1.0 / constraints) + T ** (1.0 / q) / C
    omega = _root(constraints * FIRST_CONSTANTS[q] / lam * right, q)
    grown = math.log1p(omega) + math.log(T ** (1.0 / dual) if cost_ratio is None else cost_ratio)
    return float(C * (v / math.log1p(v) * grown) ** (1.0 / q))


def _root(right: float, q: int) -> float:
    """Return omega with omega - n(omega) = right > 0, infinity if none."""

    def left(omega: float) -> float:
        return omega - float(norm_of_weights(omega, float(q)))

    low, high = 0.0, 1.0
    while left(high) < right:
        low, high = high, 2.0 * high
        if high > LARGEST_OMEGA:
            return math.inf
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if left(middle) < right else (low, middle)
    return high


def fallback_regret(
    C: float, diameter: float, cost_size: float, steepest: float, q: int = 4
) -> float:
    """Theorem R: Regret_T <= 2^{1/q} (1 + lam) C D Phi_T + D max ||grad f_t|| of a `Fallback`.

    Args:
        C: as in `theorem_f_regret`.
        diameter: D.
        cost_size: Phi_T, as in `theorem_f_regret`.
        steepest: max ||grad f_t||.
        q: of the growth.

    """
    return float(2.0 ** (1.0 / q) * theorem_f_regret(C, diameter, cost_size) + diameter * steepest)


def fallback_ccv(C: float, horizon: float, q: int = 4, constraints: int = 1) -> float:
    """Theorem R: CCV_T/(Gg D) <= 2^{1/q} max(3, E) T^{1/q'} + 1, E that of Theorem F.

    For ||grad g_t|| <= Gg and costs of one size. Until it falls back, 3 stands for max(3, E).

    Args:
        C: as in `theorem_f_regret`.
        horizon: T.
        q: of the growth.
        constraints: m, for the CCV of one of m constraints.

    """
    largest = max(CCV, theorem_f_ccv(C, horizon, q=q, constraints=constraints))
    return float(2.0 ** (1.0 / q) * largest * horizon ** (1.0 - 1.0 / q) + 1.0)


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

    `theorem_f_ccv` with AdaGrad's constant sqrt(2) for C and q = 2, for ||grad g_t|| <= Gg.

    Args:
        horizon: T.
        lam: as in `projected_regret`.

    """
    return math.sqrt(horizon) * theorem_f_ccv(math.sqrt(2.0), horizon, lam, 2)
