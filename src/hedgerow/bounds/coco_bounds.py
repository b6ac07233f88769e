"""Bounds of regret and violation: Theorem 3.4, what holds for any V, and Theorem 5.1.

Theorem 3.4 follows from the regret of the surrogate, and its bounds rest on one inequality. With
z = Q(T)/k, k = V^{1/p} the potential's scale, and the surrogate's regret at most C (1 + w),
w = (p/k) z^{p-1} the last weight,

    z^p + Regret_T <= (Q(0)/k)^p + C + (p (C + B)/k) z^{p-1}

against every benchmark with sum g_t^+ <= B (0 for one that satisfies all rounds). V itself, 1e46 in
the paper's experiment, is never formed.

Theorem 5.1 is about Algorithm 7, follow the perturbed leader with a signed queue, with V = sqrt T.
With R(t)^2 = sum of E Q^2 up to t, the drift and the leader's regret give
E Q(t)^2 + V E Regret_t <= t + 2 + 2 sqrt(2) V sqrt t + 4 sqrt(2) R(t-1): the cross term of
||V f + 2 Q g||^2 <= 2 V^2 + 8 Q^2 is kept (erratum). Both need ||f_t||, ||g_t|| <= 1, all points of
norm at most 1 (erratum: else the drift's 1 is wrong), g_t(x) = <g_t, x>, rounds fixed beforehand,
and the regret 2 sqrt(1 + sum ||loss||^2) that the paper quotes for Gaussian noise, which is one
for the ball.
"""

from __future__ import annotations

import math

from hedgerow.bounds.ocg_bounds import sharper_ocg_regret

ROOT2 = math.sqrt(2.0)
PROOF_CONSTANT = 144.0
"""c/(G D): 3 x 48, and 48 covers Theorem 2.1's 47."""


def surrogate_ratio(horizon: float) -> float:
    """Lemma: L_t/L_{t-1} <= 1 + e^{1 - 2/p} <= 1 + e for L_t = G (V + p Q(t)^{p-1}), p = log T.

    Needs Q(0) >= G D p, increments of Q of at most G D, and p >= 2. Errata: not "for any T >= 1"
    but T >= 8, and not for the running maximum of ||grad_t||, whose first ratios may be anything.

    Args:
        horizon: T.

    Reference: Lemma [ratio-bd] of the paper.

    """
    return 1.0 + math.exp(1.0 - 2.0 / math.log(horizon))


def surrogate_log_growth(horizon: float) -> float:
    """Lemma: log(L_T/L_1) <= (p - 1) log(1 + T/p) <= log(T)^2 for the same L_t.

    Needs what `surrogate_ratio` needs; the paper's form is sqrt(log(L_T/L_1)) <= log T.

    Args:
        horizon: T.

    Reference: Lemma [sqrt-ratio] of the paper.

    """
    p = math.log(horizon)
    return min(p * p, (p - 1.0) * math.log1p(horizon / p))


def surrogate_constant(lipschitz: float, diameter: float, horizon: float) -> float:
    """The least proved C with Regret' <= C (1 + w_T): the sharper Theorem 2.1, D3.

    The paper's is 144 G D log(T) T^{3/4}. Needs L_t of at most G (1 + w_t), nondecreasing.

    Args:
        lipschitz: G, of costs and constraints.
        diameter: D.
        horizon: T.

    """
    return sharper_ocg_regret(diameter, lipschitz, horizon)


def general_regret(
    p: float, scale: float, surrogate: float, queue: float = 0.0, budget: float = 0.0
) -> float:
    """Regret for any scale: C + (Q(0)/k)^p + (1/p) ((p-1)/p)^{p-1} (p (C + B)/k)^p.

    The last term is the maximum of A z^{p-1} - z^p over z >= 0, A = p (C + B)/k. It is about
    1/(e (p-1)) of the paper's A^p, and explodes when the scale is far below p (C + B). Needs
    Regret' <= C (1 + w_T).

    Args:
        p: the potential's exponent.
        scale: k = V^{1/p}.
        surrogate: C, such as `surrogate_constant`.
        queue: Q(0).
        budget: B, what the benchmark itself may violate.

    """
    share = (p - 1.0) / p
    peak = -math.log(p) + p * math.log(p * (surrogate + budget) / scale)
    peak += (p - 1.0) * math.log(share) if share > 0.0 else 0.0
    return surrogate + _power(queue / scale, p) + _exp(peak)


def general_ccv(
    p: float,
    scale: float,
    surrogate: float,
    least_regret: float,
    queue: float = 0.0,
    budget: float = 0.0,
) -> float:
    """CCV for any scale: p (C + B) + k (R + C + (Q(0)/k)^p)^{1/p} - Q(0), where Regret >= -R.

    From z^p <= A z^{p-1} + b follows z <= A + b^{1/p}. Smaller scales only help. Needs
    Regret' <= C (1 + w_T).

    Args:
        p: the potential's exponent.
        scale: k = V^{1/p}.
        surrogate: C.
        least_regret: R, how negative the regret may be: G D T, if nothing better is known.
        queue: Q(0).
        budget: B, what the benchmark itself may violate.

    """
    b = least_regret + surrogate + _power(queue / scale, p)
    return p * (surrogate + budget) + scale * math.exp(math.log(b) / p) - queue


def coco_regret(lipschitz: float, diameter: float, horizon: float) -> float:
    """Theorem 3.4, regret: c p T^{3/4} + (G D p)^p/V + 1, c = 144 G D, V = (c p^2 T^{3/4})^p.

    Of Algorithm 2 against every action that satisfies all rounds. Needs convex costs and
    constraints with one Lipschitz constant G, such a benchmark, T >= 8 (erratum: e^2 is 7.39), and
    L_t = G (V + p Q(t)^{p-1}) in the steps. The 1 has the cost's unit (erratum: V f + Phi' g adds
    different units).

    Args:
        lipschitz: G.
        diameter: D.
        horizon: T.

    Reference: eq. [reg-bd-expr] of the paper.

    """
    p, GD = math.log(horizon), lipschitz * diameter
    C = PROOF_CONSTANT * GD * p * horizon**0.75
    return float(C + _power(GD / C, p) + 1.0)


def coco_ccv(lipschitz: float, diameter: float, horizon: float) -> float:
    """Theorem 3.4, CCV: max((4 c V T)^{1/p} + 2 G D p, 2 c p^2 T^{3/4}) - Q(0), with the same c, V.

    Needs what `coco_regret` needs. Errata: Q^p(t) on the left is Q^p(T); the paper bounds Q(T),
    the CCV is Q(T) - Q(0) with Q(0) = G D p.

    Args:
        lipschitz: G.
        diameter: D.
        horizon: T.

    Reference: eq. [violation-bound] of the paper.

    """
    p, GD = math.log(horizon), lipschitz * diameter
    c = PROOF_CONSTANT * GD
    scale = c * p**2 * horizon**0.75
    first = scale * math.exp(math.log(4.0 * c * horizon) / p) + 2.0 * GD * p
    return float(max(first, 2.0 * scale) - GD * p)


def budget_regret(lipschitz: float, diameter: float, horizon: float, budget: float) -> float:
    """The budget appendix, regret: that of `general_regret` with k = p (C + B).

    Against every action with sum g_t^+ <= B. Errata: the appendix drops 144 G D; V must contain
    B, so B must be known beforehand; and a round may violate by G D + g_t^+(x*), so that the ratio
    lemma needs g_t <= G D to be assumed.

    Args:
        lipschitz: G.
        diameter: D.
        horizon: T.
        budget: B.

    Reference: the appendix on budget-constrained benchmarks.

    """
    p, GD = math.log(horizon), lipschitz * diameter
    C = PROOF_CONSTANT * GD * p * horizon**0.75
    return general_regret(p, p * (C + budget), C, GD * p, budget)


def budget_ccv(lipschitz: float, diameter: float, horizon: float, budget: float) -> float:
    """The budget appendix, CCV: that of `general_ccv` with k = p (C + B), of order T^{3/4} + p B.

    Needs what `budget_regret` needs.

    Args:
        lipschitz: G.
        diameter: D.
        horizon: T.
        budget: B.

    Reference: the appendix on budget-constrained benchmarks.

    """
    p, GD = math.log(horizon), lipschitz * diameter
    C = PROOF_CONSTANT * GD * p * horizon**0.75
    return general_ccv(p, p * (C + budget), C, GD * horizon, GD * p, budget)


def long_term_sum(lipschitz: float, diameter: float, horizon: float) -> float:
    """Signed sum of Algorithm 2's companion: 2 C + sqrt(T F^2 + C G D T + C^2), F = G D.

    `projection_free_long_term(preset="theory")`: quadratic potential, V = C = 144 G D log(T)
    T^{3/4}. Let M be the largest Q(t). The drift up to its round gives
    M^2 <= T F^2 + V (G D T) + C (V + 2 M), hence M <= 2 C + sqrt(T F^2 + V G D T + C V), of order
    T^{7/8}. Needs |g_t| <= F, L_1 = G V at least, and a benchmark that satisfies all rounds.
    Against that benchmark `coco_ccv`, of order T^{3/4}, bounds the signed sum of Algorithm 2 too.

    Args:
        lipschitz: G.
        diameter: D.
        horizon: T.

    """
    GD = lipschitz * diameter
    C = PROOF_CONSTANT * GD * math.log(horizon) * horizon**0.75
    return float(2.0 * C + math.sqrt(horizon * GD * (GD + C) + C * C))


def long_term_regret(lipschitz: float, diameter: float, horizon: float) -> float:
    """Regret of Algorithm 2's companion: C + T F^2/C + 2 M, M = `long_term_sum`.

    From V Regret_T <= T F^2 + C (V + 2 M) - Q(T)^2 with V = C. Of order T^{7/8}: only if the queue
    ends at its largest value does Q(T)^2 cancel the last term and leave T^{3/4}.

    Args:
        lipschitz: G.
        diameter: D.
        horizon: T.

    """
    GD = lipschitz * diameter
    C = PROOF_CONSTANT * GD * math.log(horizon) * horizon**0.75
    return float(C + horizon * GD * GD / C + 2.0 * long_term_sum(lipschitz, diameter, horizon))


def _power(base: float, p: float) -> float:
    return _exp(p * math.log(base)) if base > 0.0 else 0.0


def _exp(logarithm: float) -> float:
    return math.exp(logarithm) if logarithm < 700.0 else math.inf


def ftpl_regret(horizon: float) -> float:
    """Theorem 5.1, expected regret: sqrt T + 2/sqrt T + 2 sqrt(2 T) + 4 sqrt(2) R(T)/sqrt T.

    Of order 4 sqrt(2) T^{3/4}. Erratum: the paper lists sqrt(T/V), its own line gives T/sqrt V.

    Args:
        horizon: T.

    Reference: Theorem [ftpl_perf_thm] of the paper.

    """
    return _right_side(horizon) / math.sqrt(horizon)


def ftpl_sum(horizon: float) -> float:
    """Theorem 5.1, expected signed sum: at most E Q(T), of order sqrt(2) T^{3/4}.

    E Q(T)^2 <= the right side + 2 V T, since regret is at least -2 T. It bounds the sum of g_t,
    not the CCV (erratum).

    Args:
        horizon: T.

    Reference: Theorem [ftpl_perf_thm] of the paper.

    """
    return math.sqrt(_right_side(horizon) + 2.0 * horizon**1.5)


def _right_side(T: float) -> float:
    """The decomposition's right side at t = T; R^2 <= a R + b gives R <= a + sqrt b."""
    V = math.sqrt(T)
    a = 4.0 * ROOT2 * T
    b = V * T * (T + 1.0) + T * (T + 1.0) / 2.0 + 2.0 * T + 4.0 * ROOT2 / 3.0 * V * (T + 1.0) ** 1.5
    return T + 2.0 + 2.0 * ROOT2 * V * math.sqrt(T) + 4.0 * ROOT2 * (a + math.sqrt(b))
