"""Step rules: the regulariser beta_t = 1/eta_t, the step sigma_t, and what is learnt after it.

Every rule is three kernels on one small array `rule`, with the same signatures for all rules:
`regularise(rule, t, norm2) -> beta`, `relax(rule, t, beta, gap, distance2) -> sigma` and
`settle(rule, margin)`, where margin = sum <s, x_tau> - F_t(x_{t+1}).
"""

from __future__ import annotations

import math
from typing import Any

from hedgerow.kernels.jit import kernel, nothing, number, write

Array = Any
regularises = (number, write, number, number)
relaxes = (number, write, number, number, number, number)
settles = (nothing, write, number)


@kernel(*relaxes)
def line_search(rule: Array, t: float, beta: float, gap: float, distance2: float) -> float:
    """sigma_t = clip(<grad F, x - v> / (2 beta ||v - x||^2), 0, 1), the exact minimiser."""
    if gap <= 0.0 or distance2 <= 0.0:
        return 0.0
    if gap >= 2.0 * beta * distance2:
        return 1.0
    return gap / (2.0 * beta * distance2)


@kernel(*settles)
def nothing_to_settle(rule: Array, margin: float) -> None:
    """Rules that do not look back."""


# rule = [D, T, L]
@kernel(*regularises)
def paper_regularise(rule: Array, t: float, norm2: float) -> float:
    """1/eta_t = 2 L_t T^{3/4} / D, L_t the running maximum of ||grad_t||."""
    rule[2] = max(rule[2], math.sqrt(norm2))
    return 2.0 * rule[2] * rule[1] ** 0.75 / rule[0]


@kernel(*relaxes)
def paper_relax(rule: Array, t: float, beta: float, gap: float, distance2: float) -> float:
    """sigma_t = min(1, 2/sqrt t); no move while no gradient has been seen."""
    if rule[2] == 0.0:
        return 0.0
    return min(1.0, 2.0 / math.sqrt(t))


# rule = [D, T, M]
@kernel(*regularises)
def weibel_regularise(rule: Array, t: float, norm2: float) -> float:
    """1/(2 eta) = (M/D) (T/3)^{3/4}, the same in all rounds."""
    return rule[2] / rule[0] * (rule[1] / 3.0) ** 0.75


@kernel(*relaxes)
def weibel_relax(rule: Array, t: float, beta: float, gap: float, distance2: float) -> float:
    """Return sigma = min(1, sqrt(3/T)), the same in all rounds."""
    return min(1.0, math.sqrt(3.0 / rule[1]))


# rule = [D, kappa, sum of ||grad||^2]
@kernel(*regularises)
def rms_regularise(rule: Array, t: float, norm2: float) -> float:
    """1/eta_t = 2 t^{1/4} sqrt(sum ||grad||^2) / (kappa D)."""
    rule[2] += norm2
    return 2.0 * t**0.25 * math.sqrt(rule[2]) / (rule[1] * rule[0])


# rule = [D, c, floor, sum of ||grad||^2, beta, M]
@kernel(*regularises)
def certificate_regularise(rule: Array, t: float, norm2: float) -> float:
    """beta_t = max(beta_{t-1}, M_{t-1} / (c D^2), 2 t^{1/4} sqrt(sum ||grad||^2) / (floor D))."""
    rule[3] += norm2
    lowest = 2.0 * t**0.25 * math.sqrt(rule[3]) / (rule[2] * rule[0])
    rule[4] = max(rule[4], rule[5] / (rule[1] * rule[0] * rule[0]), lowest)
    return rule[4]


@kernel(*settles)
def certificate_settle(rule: Array, margin: float) -> None:
    """M_t = sum <s, x_tau> - F_t(x_{t+1})."""
    rule[5] = margin
