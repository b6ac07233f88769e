"""Bounds of bandit policies, in expectation, against fixed rounds: Theorems 4.1 and 4.2."""

from __future__ import annotations

import math

from hedgerow.bounds.coco_bounds import general_ccv, general_regret


def block_bandit_regret(
    dim: int,
    diameter: float,
    shape: float,
    lipschitz: float,
    bound: float,
    horizon: float,
    gap: float,
    largest_ratio: float = 1.0,
) -> float:
    """Theorem 4.1: [(3 + R/r) sqrt(n) L + D (sqrt(n) M + L)(1 + rho)] T^{3/4} + 3 L T sqrt(eps).

    The expected regret of `BlockBandit` with `PaperBlocks`. Needs delta = sqrt(n) T^{-1/4} < r,
    losses fixed given the past, nondecreasing L and M, and a gap of eps/eta_m after every block:
    no block may reach its cap of K oracle calls, which `BlockBandit.capped_blocks` tells
    afterwards. `PaperBlocks` has eps = 16 D^2 sqrt(log T/T), its R being the diameter. Errata: the
    theorem's 4 sqrt(n) is the proof's only where R = r; estimates within a block are not
    independent, and the martingale split doubles their second moment, which (1 + rho) has room for.

    Args:
        dim: n, of the affine hull.
        diameter: D.
        shape: R/r, outer over inner radius.
        lipschitz: L, of the losses.
        bound: M, of |losses|.
        horizon: T.
        gap: eps, of the conditional gradient.
        largest_ratio: rho, from block to block, of sqrt(n) M + L.

    Reference: Theorem [thm:main-bandit] of the paper.

    """
    root, power = math.sqrt(dim), horizon**0.75
    total = (3.0 + shape) * root * lipschitz * power
    total += 3.0 * lipschitz * horizon * math.sqrt(gap)
    total += diameter * (root * bound + lipschitz) * (1.0 + largest_ratio) * power
    return float(total)


def block_bandit_oracle_calls(
    radius: float, horizon: float, gap: float, log_growth: float = 0.0
) -> float:
    """Theorem 4.1, oracle calls: (16 R^4/eps^2)(sqrt(eps) T^{1/4}/R + 1 + sqrt(log(G_T/G_1))).

    Erratum: the proof omits the change of the regulariser, so the claim is open for large T;
    `BlockBandit` makes at most K calls after a block of K rounds, which keeps them below T; the
    regret bound needs that this cap never binds.

    Args:
        radius: R.
        horizon: T.
        gap: eps.
        log_growth: log(G_T/G_1), G_t = sqrt(n) M_t + L_t.

    Reference: Lemma [lemma:total-calls-LOO] of the paper.

    """
    share = math.sqrt(gap) / radius * horizon**0.25 + 1.0 + math.sqrt(log_growth)
    return float(16.0 * radius**4 / gap**2 * share)


def cbco_constant(
    dim: int, diameter: float, shape: float, lipschitz: float, bound: float, horizon: float
) -> float:
    """Algorithm 4's c: (3 + R/r) sqrt(n) G + 12 G R (log T)^{1/4} + 2 (1 + e) R (sqrt(n) F + G).

    Erratum: the paper's (30 + R/r) sqrt(n) (log T)^{1/4} drops G, F and R.

    Args:
        dim: n.
        diameter: R; any radius of a ball about the inner centre that holds the set will do.
        shape: R/r.
        lipschitz: G, of costs and constraints.
        bound: F, of |costs| and |constraints|.
        horizon: T.

    """
    root, G, R = math.sqrt(dim), lipschitz, diameter
    c = (3.0 + shape) * root * G + 12.0 * G * R * math.log(horizon) ** 0.25
    return float(c + 2.0 * (1.0 + math.e) * R * (root * bound + G))


def cbco_regret(constant: float, violation: float, horizon: float) -> float:
    """Theorem 4.2, expected regret: that of `general_regret` with k = p c T^{3/4}, p = log T.

    Needs what `block_bandit_regret` needs. C = c T^{3/4} e^{1/sqrt T}: the weight is taken at
    Q(t-1) + G D (erratum), which raises it by at most (1 + 1/(p sqrt T))^p. Errata: V lacks a
    factor p in the box; Q(0) = G D p sqrt T.

    Args:
        constant: c, such as `cbco_constant`.
        violation: G D, the most that a round can violate.
        horizon: T.

    Reference: Theorem [perf_thm_bandit] of the paper.

    """
    p, C = math.log(horizon), _late(constant, horizon)
    return general_regret(p, p * constant * horizon**0.75, C, violation * p * math.sqrt(horizon))


def cbco_ccv(constant: float, violation: float, horizon: float) -> float:
    """Theorem 4.2, expected CCV: that of `general_ccv` with the same constants.

    In expectation by Jensen: with y^p = E z^p, y^p <= A y^{p-1} + b, and E z <= y. Erratum: the
    regret is at least -G D T, not -T.

    Args:
        constant: c.
        violation: G D.
        horizon: T.

    Reference: Theorem [perf_thm_bandit] of the paper.

    """
    p, C = math.log(horizon), _late(constant, horizon)
    k, queue = p * constant * horizon**0.75, violation * p * math.sqrt(horizon)
    return general_ccv(p, k, C, violation * horizon, queue)


def _late(constant: float, horizon: float) -> float:
    return float(constant * horizon**0.75 * math.exp(1.0 / math.sqrt(horizon)))
