"""Algorithm 7, follow the perturbed leader with a signed queue: Theorem 5.1 with its constants.

V = sqrt T. With R(t)^2 = sum of E Q^2 up to t, the drift and the leader's regret give
E Q(t)^2 + V E Regret_t <= t + 2 + 2 sqrt(2) V sqrt t + 4 sqrt(2) R(t-1): the cross term of
||V f + 2 Q g||^2 <= 2 V^2 + 8 Q^2 is kept (erratum). Both need ||f_t||, ||g_t|| <= 1, all points of
norm at most 1 (erratum: else the drift's 1 is wrong), g_t(x) = <g_t, x>, rounds fixed beforehand,
and the regret 2 sqrt(1 + sum ||loss||^2) that the paper quotes for Gaussian noise, which is one
for the ball.
"""

from __future__ import annotations

import math

ROOT2 = math.sqrt(2.0)


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
