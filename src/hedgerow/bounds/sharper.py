"""Bounds by the one-step inequality: any regulariser, no horizon, no Lipschitz constant.

Z_t = M_t + (4/3) h_t, where h_t = F_t(x_{t+1}) - min F_t, grows in one round by at most
min(D^{2/3} ||s_t||^{4/3} beta_t^{-1/3}, (4/3) ||s_t|| D) + (beta_t - beta_{t-1}) ||x_t - x_1||^2/3
where the step is an exact line search. All bounds here are sums of it; theory.md has the
proofs. D is the set's diameter, R the largest distance of a point to x_1 (`X.radius_around(x_1)`),
rho = (R/D)^2 <= 1, and P_T = sum of ||s_t||^{4/3}. P_T^{3/4} <= T^{1/4} sqrt(sum ||s_t||^2)
<= L T^{3/4}.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import as_array


def any_regulariser_regret(
    betas: ArrayLike, norms: ArrayLike, diameter: float, radius: float | None = None
) -> float:
    """Theorem D: D^{2/3} sum ||s_t||^{4/3} beta_t^{-1/3} + (4/3) beta_T R^2.

    Bounds sum <s_t, x_t - u> for every u, of conditional gradient with one oracle call and exact
    line search a round. beta_t may depend on all that was seen, s_t too; it must not fall.

    Args:
        betas: beta_1, ..., beta_T.
        norms: ||s_1||, ..., ||s_T||.
        diameter: D.
        radius: R; the diameter if left out.

    """
    beta, size = as_array(betas, "betas"), as_array(norms, "norms")
    if (np.diff(beta) < 0.0).any():
        raise ValueError("betas must not fall; Theorem D needs a nondecreasing regulariser")
    felt = size > 0.0
    first = diameter ** (2.0 / 3.0) * np.sum(size[felt] ** (4.0 / 3.0) * beta[felt] ** (-1.0 / 3.0))
    return float(first + 4.0 / 3.0 * beta[-1] * _radius(diameter, radius) ** 2)


def schedule_regret(
    diameter: float, sizes: float, kappa: float = 1.0, radius: float | None = None
) -> float:
    """D1, beta_t = kappa P_t^{3/4}/D: (4/3)(kappa^{-1/3} + rho kappa) D P_T^{3/4}.

    Args:
        diameter: D.
        sizes: P_T, the sum of ||s_t||^{4/3}; T L^{4/3} for gradients of norm at most L.
        kappa: the schedule's factor.
        radius: R; the diameter if left out.

    >>> round(schedule_regret(1.0, 1600.0) / 1600.0, 2)
    0.42

    """
    return float(guard_constant(diameter, radius, kappa) * diameter * sizes**0.75)


def guard_constant(
    diameter: float, radius: float | None = None, kappa: float = 1.0, rest: float = 1.0
) -> float:
    """C = (4/3)(b^{1/3} kappa^{-1/3} + rho kappa): 1.67 for balls and boxes, at most 2.67.

    Args:
        diameter: D.
        radius: R; the diameter if left out.
        kappa: the schedule's factor.
        rest: b, for a learner that steps at least once in b rounds, such as 10 for `TrackingOCG`.

    """
    rho = (_radius(diameter, radius) / diameter) ** 2
    return float(4.0 / 3.0 * ((rest / kappa) ** (1.0 / 3.0) + rho * kappa))


def capped_regret(
    diameter: float,
    sizes: float,
    largest: float,
    cap: float = 1.0,
    radius: float | None = None,
) -> float:
    """Theorem E, `CertificateSteps`: (4/3)(cap^{-1/3} + rho cap) D P^{3/4} + (4/3)(H + L D).

    H = max(2 L D, 1.191 cap^{1/3} L^{2/3} D P^{1/4}). Needs floor <= cap and
    (c + rho) cap^{4/3} <= 4/3; it depends neither on c nor on the floor.

    Args:
        diameter: D.
        sizes: P_T, the sum of ||s_t||^{4/3}.
        largest: L, the largest ||s_t||.
        cap: the rule's cap.
        radius: R; the diameter if left out.

    """
    LD = largest * diameter
    H = max(2.0 * LD, 1.191 * cap ** (1.0 / 3.0) * largest ** (2.0 / 3.0) * diameter * sizes**0.25)
    return float(schedule_regret(diameter, sizes, cap, radius) + 4.0 / 3.0 * (H + LD))


def rms_regret(
    diameter: float,
    squares: float,
    horizon: float,
    kappa: float = 16.0,
    radius: float | None = None,
    sizes: float | None = None,
) -> float:
    """D2, `RmsSteps`: (4/3) D [(kappa/2)^{1/3} P^{3/4} + (2 rho/kappa) T^{1/4} sqrt(S)].

    Below the trivial bound D L T from T = 65 on for kappa = 16, on any set.

    Args:
        diameter: D.
        squares: S_T, the sum of ||grad_t||^2 (tangent norms).
        horizon: T.
        kappa: the rule's factor.
        radius: R; the diameter if left out.
        sizes: P_T, the sum of ||grad_t||^{4/3}; at most T^{1/3} S_T^{2/3}, taken if left out.

    """
    rho = (_radius(diameter, radius) / diameter) ** 2
    root = horizon**0.25 * math.sqrt(squares)
    first = root if sizes is None else sizes**0.75
    total = (kappa / 2.0) ** (1.0 / 3.0) * first + 2.0 * rho / kappa * root
    return float(4.0 / 3.0 * diameter * total)


def sharper_ocg_regret(
    diameter: float, lipschitz: float, horizon: float, radius: float | None = None
) -> float:
    """D3, Algorithm 1 with the paper's steps; it needs neither log(L_T/L_1) nor a largest ratio.

    sum <grad_t, x_t - x*> <= D L_T T^{3/4} times the minimum over theta > 0 of
    2 rho (1 + theta) + ((1 + theta)^2/(16 theta)) (1/3 + 1/(4 T) + T^{-3/2})
    + 8 theta (1 + log(T/4)). Needs L_t nondecreasing and at least ||grad_t||, and T >= 4.

    Args:
        diameter: D.
        lipschitz: L_T.
        horizon: T.
        radius: R; the diameter if left out.

    >>> round(sharper_ocg_regret(1.0, 1.0, 1e5) / 1e5, 2)
    0.27

    """
    T = horizon
    rho = (_radius(diameter, radius) / diameter) ** 2
    waits = (1.0 / 3.0 + 1.0 / (4.0 * T) + T**-1.5) / 16.0
    logs = 2.0 * rho + 8.0 * (1.0 + math.log(T / 4.0))
    theta = math.sqrt(waits / (waits + logs))  # of theta (waits + logs) + waits/theta
    total = 2.0 * rho + 2.0 * waits + theta * (waits + logs) + waits / theta
    return float(diameter * lipschitz * T**0.75 * total)


def _radius(diameter: float, radius: float | None) -> float:
    return diameter if radius is None else min(radius, diameter)
