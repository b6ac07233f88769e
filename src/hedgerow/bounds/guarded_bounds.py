"""Bounds of guarded weights, which are cubic in the violation: Theorems F and G."""

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
        C: `guard_constant(diameter, radius)`.
        diameter: D.
        cost_size: Phi_T = (sum of ||grad f_t||^{4/3})^{3/4}; Gf T^{3/4} for ||grad f_t|| <= Gf.
        lam: the guard's share for Theorem F's weights.
        lam_e: the guard's share for practical weights and steps.

    """
    return (1.0 + lam_e + lam) * C * diameter * cost_size


def guarded_ccv(
    C: float, horizon: float, lam: float = SHARE, lam_e: float = SHARE, known: bool = False
) -> float:
    """Theorem G: a bound of CCV_T/(Gg D), of order T^{3/4} (log T)^{1/4}.

    Ubar^{1/4} C (4/3)^{3/4} T^{3/4}, Ubar = (v/log(1 + v)) log(1 + omega), v = C^{-4}, where omega
    is the root of omega - (3/4)^{3/4} ((1 + omega)^{4/3} - 1)^{3/4} =
    ((1 + lam_e) C D Phi_T + Gf D T)/m_T with m_T = (lam/c1) C D Phi_T. Needs ||grad f_t|| = Gf in
    all rounds, or costs that are a share of a given Gf, and ||grad g_t|| <= Gg.

    Args:
        C: `guard_constant(diameter, radius)`.
        horizon: T.
        lam: as in `guarded_regret`.
        lam_e: as in `guarded_regret`.
        known: True for m_t = m_T in all rounds, which needs the horizon: the factor (4/3)^{3/4}
            is not paid.

    """
    T = horizon
    right = ((1.0 + lam_e) * C + T**0.25) * C1 / (lam * C)
    omega = _root(right)
    v = float(C**-4.0)
    U = v / math.log1p(v) * math.log1p(omega)
    return float(U**0.25 * C * (1.0 if known else (4.0 / 3.0) ** 0.75) * T**0.75)


def _root(right: float) -> float:
    """Return omega with omega - (3/4)^{3/4} ((1 + omega)^{4/3} - 1)^{3/4} = right > 0."""

    def left(omega: float) -> float:
        grown = 0.75 * ((1.0 + omega) ** (4.0 / 3.0) - 1.0)
        return omega - float(grown**0.75)

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

    Ubar^{1/2} 2 sqrt(T), Ubar = (v/log(1 + v)) log(1 + omega) with v = 1/2, where omega is the root
    of omega - sqrt(omega^2/2 + omega) = (sqrt(2) D Phi_T + Gf D T)/m_T. Needs ||grad f_t|| = Gf in
    all rounds and ||grad g_t|| <= Gg.

    Args:
        horizon: T.
        lam: as in `projected_regret`.

    """
    right = (1.0 + math.sqrt(horizon / 2.0)) * (1.0 - math.sqrt(0.5)) / lam
    # omega^2/2 - (2 right + 1) omega + right^2 = 0, the larger root
    omega = (2.0 * right + 1.0) + math.sqrt((2.0 * right + 1.0) ** 2 - 2.0 * right**2)
    U = 0.5 / math.log1p(0.5) * math.log1p(omega)
    return 2.0 * math.sqrt(U * horizon)
