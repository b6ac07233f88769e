"""Exponential weights in logarithms, for AdaHedge. A rate of infinity follows the leaders."""

from __future__ import annotations

import math
from typing import Any

from hedgerow._engine.kernel import kernel, nothing, number, read, write

Array = Any


@kernel(number, read, number)
def log_total(L: Array, eta: float) -> float:
    """Return ln of the sum of exp(-eta L_k), where the least L is 0."""
    total = 0.0
    for k in range(len(L)):
        if L[k] == 0.0:
            total += 1.0
        elif eta < math.inf:
            total += math.exp(-eta * L[k])
    return math.log(total)


@kernel(nothing, write, read, number)
def weigh(p: Array, L: Array, eta: float) -> None:
    """p_k ~ exp(-eta L_k)."""
    logarithm = log_total(L, eta)
    for k in range(len(L)):
        p[k] = math.exp(-logarithm) if L[k] == 0.0 else math.exp(-eta * L[k] - logarithm)


@kernel(number, write, read, read, number)
def lose(L: Array, p: Array, losses: Array, eta: float) -> float:
    """Add the losses to L, relative to the new leader; return the mixability gap delta.

    With l relative to <p, l>, delta = ln(sum of p_k exp(-eta l_k)) / eta. For the p of `weigh`
    that is the least L_k + l_k and two sums relative to leaders: no logarithm of zero.
    """
    mean = 0.0
    for k in range(len(L)):
        mean += p[k] * losses[k]
    least = math.inf
    before = log_total(L, eta)
    for k in range(len(L)):
        L[k] += losses[k] - mean
        least = min(least, L[k])
    for k in range(len(L)):
        L[k] -= least
    delta = -least
    if eta < math.inf:
        delta += (log_total(L, eta) - before) / eta
    return max(0.0, delta)
