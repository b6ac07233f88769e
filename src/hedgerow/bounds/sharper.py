"""The same algorithm, bounded with more care; `docs/theory.md` has the derivations."""

from __future__ import annotations

import math

SPLITS = tuple(k / 50.0 for k in range(1, 51))
"""Shares a in the inequality y sqrt(u) <= y^2/(2 a sigma) + a sigma u/2; each gives a bound."""


def sharper_ocg_regret(
    diameter: float,
    lipschitz: float,
    horizon: float,
    log_growth: float = 0.0,
    largest_ratio: float | None = None,
) -> float:
    """A sharper Theorem 2.1, which says something from T = 631 on where L_t is constant.

    sum <grad_t, x_t - x*> <= D L_T [ sqrt(W E) + 2 T^{3/4} + sqrt(T (1 - L_1/L_T)) + T^{1/4}/2
    + min(rho T^{1/4}/8, T^{1/4}/4 + 2) ], where W = T^{3/2}/3 + sqrt(T)/4 + 1 and
    E = [u + (4 + 4 log(T/4) + (1/3 + T^{-1/2}/4 + T^{-3/2})/(8 a) + log(L_T/L_1))/(1 - a/2)]
    / (1 - a/2), u = T^{-3/2}/16, for any a in (0, 1]; the best of a grid is taken.

    Needs what Theorem 2.1 needs, except that L_t has to bound ||grad_t|| only, not a Lipschitz
    constant, and that no ratio has to be bounded. Steps by exact line search on F_t are covered.
    Not the best that can be proved: "A shorter analysis" in docs/theory.md needs no log(L_T/L_1)
    and says something from T = 240 on.

    Args:
        diameter: D.
        lipschitz: L_T.
        horizon: T.
        log_growth: log(L_T/L_1).
        largest_ratio: rho, the largest L_t/L_{t-1}, where known.

    >>> round(sharper_ocg_regret(1.0, 1.0, 1e5) / 1e5, 2)
    0.34

    """
    T = horizon
    waits = _inverse_steps(T)
    distance = math.inf
    for a in SPLITS:
        moved = waits / (8.0 * a * T**1.5)
        rest = (_squared_steps(T) + moved + log_growth) / (1.0 - a / 2.0)
        distance = min(distance, (T**-1.5 / 16.0 + rest) / (1.0 - a / 2.0))
    off_by_one = T**0.25 / 4.0 + 2.0
    if largest_ratio is not None:
        off_by_one = min(off_by_one, largest_ratio * T**0.25 / 8.0)
    total = math.sqrt(waits * distance) + 2.0 * T**0.75 + T**0.25 / 2.0 + off_by_one
    total += math.sqrt(T * -math.expm1(-log_growth))
    return float(diameter * lipschitz * total)


def rms_regret(
    diameter: float, squares: float, horizon: float, kappa: float = 16.0, log_growth: float = 0.0
) -> float:
    """The regret of `RmsSteps`: of order D T^{1/4} sqrt(sum ||grad_t||^2 log), for any horizon.

    sum <grad_t, x_t - x*> <= D sqrt(S_T) [ T^{1/4} (sqrt(E/2) + 2/kappa) + kappa (1 + sqrt(2)/4)
    + sqrt(m) + 2 + sqrt 2 ], where m = log(T)/4 + log(S_T/S_1)/2 and
    E = [u + (4 + 4 log(T/4) + kappa^2 (log(S_T/S_1) + 0.57)/(16 a) + m)/(1 - a/2)]/(1 - a/2),
    u = kappa^2/16 (kappa/2 - 1 for kappa above 4), for any a in (0, 1].

    Never above the order of Theorem 2.1, since S_T <= T L^2, and below it where gradients are
    mostly small. Nothing has to be monotone or known: eta_t falls by itself. Valid at every T >= 4
    of one run. S_1 is the first square that is not zero. Not the best that can be proved: by "A
    shorter analysis" in docs/theory.md (4/3) ((kappa/2)^{1/3} + 2/kappa) D T^{1/4} sqrt(S_T) will
    do, which says something from T = 65 on for kappa = 16, this from 2.2e5 on.

    Args:
        diameter: D.
        squares: S_T, the sum of ||grad_t||^2 (tangent norms).
        horizon: T.
        kappa: the rule's factor.
        log_growth: log(S_T/S_1).

    """
    T = max(4.0, horizon)
    moves = math.log(T) / 4.0 + log_growth / 2.0
    first = kappa**2 / 16.0 if kappa <= 4.0 else kappa / 2.0 - 1.0
    distance = math.inf
    for a in SPLITS:
        moved = kappa**2 * (log_growth + 0.57) / (16.0 * a)
        rest = (_squared_steps(T) + moved + moves) / (1.0 - a / 2.0)
        distance = min(distance, (first + rest) / (1.0 - a / 2.0))
    total = T**0.25 * (math.sqrt(distance / 2.0) + 2.0 / kappa) + math.sqrt(moves)
    total += kappa * (1.0 + math.sqrt(2.0) / 4.0) + 2.0 + math.sqrt(2.0)
    return float(diameter * math.sqrt(squares) * total)


def _squared_steps(T: float) -> float:
    """Bound the sum of sigma_t^2 = min(1, 4/t) over t < T."""
    return min(T, 4.0) + 4.0 * max(0.0, math.log(T / 4.0))


def _inverse_steps(T: float) -> float:
    """Bound the sum of 1/sigma_t = max(1, sqrt(t)/2) over t <= T."""
    return float(T**1.5 / 3.0 + math.sqrt(T) / 4.0 + 1.0)
