"""Bounds of the regret of Algorithm 1, online conditional gradient.

The first part is as the paper proves it: Theorem 2.1, its lemmas, and the leader's own bound.
L_1 <= L_2 <= ... are Lipschitz constants of the losses, and eta_t = D/(2 L_t T^{3/4}). Wherever
L_T/L_1 enters it is given by its logarithm, which fits a float when the ratio does not.

The second part rests on the one-step inequality: any regulariser, no horizon, no Lipschitz
constant. Z_t = M_t + (4/3) h_t, where h_t = F_t(x_{t+1}) - min F_t, grows in one round by at most
min(D^{2/3} ||s_t||^{4/3} beta_t^{-1/3}, (4/3) ||s_t|| D) + (beta_t - beta_{t-1}) ||x_t - x_1||^2/3
where the step is an exact line search. Its bounds are sums of that; theory.md has the proofs.
`schedule_regret` and `universal_regret` take any other `Growth` of the steps as well. D is
the set's diameter, R the largest distance of a point to x_1 (`X.radius_around(x_1)`),
rho = (R/D)^2 <= 1, and P_T = sum of ||s_t||^{4/3}. P_T^{3/4} <= T^{1/4} sqrt(sum ||s_t||^2)
<= L T^{3/4}.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import as_array
from hedgerow.learners.growth import Growth

ONE_STEP = Growth(4, 1.0)
"""What one oracle call and an exact line search gain on every set."""


class Adaptivity(NamedTuple):
    """How the Lipschitz constants grew: what enters these bounds besides L_T.

    An artefact of the analysis: "A shorter analysis" in theory.md has bounds without it.
    """

    log_growth: float  # log(L_T/L_1)
    largest_ratio: float  # the largest L_t/L_{t-1}, with L_0 = L_1


def adaptivity(norms: ArrayLike) -> Adaptivity:
    """Measure how L_t grew in a run, from the norms of its gradients.

    L_t is the running maximum, from the first gradient that is not zero.

    >>> adaptivity([0.0, 1.0, 0.5, 2.0]).largest_ratio
    2.0
    """
    L = np.maximum.accumulate(as_array(norms, "norms"))
    L = L[L > 0.0]
    if not L.size:
        return Adaptivity(0.0, 1.0)
    return Adaptivity(float(np.log(L[-1] / L[0])), float(np.max(L[1:] / L[:-1], initial=1.0)))


def leader_distance(
    diameter: float, lipschitz: float, horizon: float, log_growth: float = 0.0
) -> float:
    """Lemma C: sum L_t ||x_t - x*_{t+1}|| <= 12 D L_T T^{3/4} sqrt(log(e T L_T/L_1)).

    x*_{t+1} minimises F_t, the play of follow-the-regularised-leader. Needs L_t nondecreasing and
    at least ||grad_t||, and sigma_t = min(1, 2/sqrt t). Erratum: the stray bracket after the log.
    The proof uses sigma_t >= 1/sqrt t and so loses a factor: see `sharper_ocg_regret`.

    Args:
        diameter: D.
        lipschitz: L_T.
        horizon: T.
        log_growth: log(L_T/L_1).

    Reference: Lemma [term-a-lemma] of the paper.

    """
    return float(12.0 * diameter * lipschitz * horizon**0.75 * _root_log(horizon, log_growth))


def leader_movement(diameter: float, lipschitz: float, horizon: float) -> float:
    """Lemma D: sum L_t ||x*_{t+1} - x*_t|| <= 3 D L_T sqrt T.

    Needs L_t nondecreasing. Errata: x_1^* in the proof is x_1, and its factor 2 is not needed.

    Args:
        diameter: D.
        lipschitz: L_T.
        horizon: T.

    Reference: Lemma [term-d-lemma] of the paper.

    """
    return 3.0 * diameter * lipschitz * math.sqrt(horizon)


def ftrl_regret(diameter: float, rates: ArrayLike, norms: ArrayLike) -> float:
    """The leader's regret: at most D^2/eta_T + (1/4) sum eta_{t-1} ||grad_t||^2.

    For the plays x*_t = argmin of <S_{t-1}, x> + ||x - x_1||^2/eta_{t-1}. Needs eta_t
    nonincreasing. Erratum: eta_0 is not defined; it is eta_1 here, since x*_1 = x_1 minimises
    with any rate.

    Args:
        diameter: D.
        rates: eta_1, ..., eta_T.
        norms: ||grad_1||, ..., ||grad_T||.

    Reference: Orabona, Corollary 7.9; Theorem [ftrl_bound] of the paper.

    """
    eta, size = as_array(rates, "rates"), as_array(norms, "norms")
    if (np.diff(eta) > 0.0).any():
        raise ValueError("rates must not increase; use the running maximum of the norms")
    before = np.append(eta[:1], eta[:-1])
    return float(diameter**2 / eta[-1] + 0.25 * np.sum(before * size**2))


def ocg_regret(
    diameter: float,
    lipschitz: float,
    horizon: float,
    log_growth: float = 0.0,
    largest_ratio: float = 1.0,
) -> float:
    """Theorem 2.1: 47 D L_T T^{3/4} sqrt(log(e T L_T/L_1)) (1 + rho/(376 sqrt T)).

    Bounds the regret of `AdaptiveOCG` with `PaperSteps` on convex losses, against every point of
    the set and every adversary. Needs L_t nondecreasing, at least the loss's Lipschitz constant,
    and known when eta_t is set: the running maximum of ||grad_t|| will do for linear losses.
    Errata: 47 and 376 are the proof's, 38 and 304 forget term D; "=" is "<="; L_0 = L_1.

    Args:
        diameter: D.
        lipschitz: L_T.
        horizon: T.
        log_growth: log(L_T/L_1).
        largest_ratio: rho, the largest L_t/L_{t-1}.

    Reference: Theorem [ocg-reg-thm] of the paper.

    >>> round(ocg_regret(1.0, 1.0, 1e4) / 1e4, 1)  # above 1: says nothing yet
    15.0

    """
    first = 47.0 * diameter * lipschitz * horizon**0.75 * _root_log(horizon, log_growth)
    return float(first * (1.0 + largest_ratio / (376.0 * math.sqrt(horizon))))


def _root_log(horizon: float, log_growth: float) -> float:
    return math.sqrt(1.0 + math.log(horizon) + log_growth)


def any_regulariser_regret(
    betas: ArrayLike, norms: ArrayLike, diameter: float, radius: float | None = None
) -> float:
    """Theorem D: D^{2/3} sum ||s_t||^{4/3} beta_t^{-1/3} + (4/3) beta_T R^2.

    Bounds sum <s_t, x_t - u> for every u, of conditional gradient with one oracle call and exact
    line search per round. beta_t may depend on all that was seen, s_t too; it must not fall.

    Args:
        betas: beta_1, ..., beta_T.
        norms: ||s_1||, ..., ||s_T||.
        diameter: D.
        radius: R; the diameter if left out.

    """
    beta, size = as_array(betas, "betas"), as_array(norms, "norms")
    if (np.diff(beta) < 0.0).any():
        raise ValueError("betas must not fall; Theorem D needs a nondecreasing regulariser")
    some = size > 0.0
    first = diameter ** (2.0 / 3.0) * np.sum(size[some] ** (4.0 / 3.0) * beta[some] ** (-1.0 / 3.0))
    return float(first + 4.0 / 3.0 * beta[-1] * _radius(diameter, radius) ** 2)


def schedule_regret(
    diameter: float,
    sizes: float,
    kappa: float | None = None,
    radius: float | None = None,
    growth: Growth = ONE_STEP,
) -> float:
    """Theorem H, beta_t = kappa P_t^{1/q'}/D: C D P_T^{1/q'}; D1 is the case q = 4.

    C = q' ((a kappa)^{-1/(q-1)} + rho kappa).

    Args:
        diameter: D.
        sizes: P_T, the sum of ||s_t||^{q'}; T L^{q'} for gradients of norm at most L.
        kappa: the schedule's factor; the best one if left out.
        radius: R; the diameter if left out.
        growth: what is proved of the steps; that of one oracle call, (4, 1), if left out.

    >>> round(schedule_regret(1.0, 1600.0) / 1600.0, 2)
    0.37

    """
    rho = (_radius(diameter, radius) / diameter) ** 2
    k, dual = growth.kappa(rho) if kappa is None else kappa, growth.dual
    C = dual * ((growth.a * k) ** (-1.0 / (growth.q - 1.0)) + rho * k)
    return float(C * diameter * sizes ** (1.0 / dual))


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


def universal_regret(
    norms: ArrayLike,
    diameter: float,
    radius: float | None = None,
    growth: Growth = ONE_STEP,
    c: float = 1.0,
    k: float = 0.05,
    *,
    away: bool = False,
) -> float:
    """Theorem U of theory.md, `UniversalSteps`: of order P_T^{1/q'} for every growth of the steps.

    The learner knows neither q nor a, so the best of the bounds for all growths holds. With
    L = max ||s_t||, any theta in (0, c/rho) and
    V = (1 + theta) [((c + rho)/(q theta a))^{1/q} D P_T^{1/q'} + H + L D], it is
    max((c + rho)/(c - theta rho) V, V + (1 + theta) rho k L D), where H = max(2 L D,
    (eta L^2 D^4 beta)^{1/3}), beta = max(k L/D, V/((c - theta rho) D^2)), and eta is 27/16 for one
    step, 16 for away steps. The least over theta is returned.

    Args:
        norms: ||s_1||, ..., ||s_T||.
        diameter: D.
        radius: R; the diameter if left out.
        growth: (q, a), that of one oracle call if left out.
        c: the rule's c.
        k: the rule's k.
        away: whether the learner takes away steps.

    """
    size = as_array(norms, "norms")
    D, rho = diameter, (_radius(diameter, radius) / diameter) ** 2
    L, P = float(size.max(initial=0.0)), float(np.sum(size**growth.dual))
    if L == 0.0:
        return 0.0
    eta, q = 16.0 if away else 27.0 / 16.0, growth.q

    def bound(theta: float) -> float:
        lead = ((c + rho) / (q * theta * growth.a)) ** (1.0 / q) * D * P ** (1.0 / growth.dual)
        left, H = c - theta * rho, 0.0
        V = (1.0 + theta) * (lead + L * D)
        for _ in range(200):  # H grows with V^{1/3} alone, so this converges from below
            beta = max(k * L / D, V / (left * D * D))
            H = max(2.0 * L * D, (eta * L * L * D**4 * beta) ** (1.0 / 3.0))
            V, before = (1.0 + theta) * (lead + H + L * D), V
            if before * (1.0 + 1e-14) >= V:
                break
        return float(max((c + rho) / left * V, V + (1.0 + theta) * rho * k * L * D))

    thetas = c / rho * np.linspace(0.0, 1.0, 401)[1:-1]
    return float(min(bound(float(theta)) for theta in thetas))


def _radius(diameter: float, radius: float | None) -> float:
    return diameter if radius is None else min(radius, diameter)
