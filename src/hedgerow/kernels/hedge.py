"""Exponential weights in logarithms, for AdaHedge. A rate of infinity follows the leaders.

p_k ~ exp(-h_k - eta L_k): h_k is the handicap of expert k, 0 where there is none.
"""

from __future__ import annotations

import math
from typing import Any

from hedgerow._engine.kernel import kernel, nothing, number, read, write
from hedgerow._engine.simd import WIDTH, broadcast, hsum, load, store
from hedgerow.kernels.vectors import two

Array = Any


@kernel(number, read, read, number)
def log_total(L: Array, h: Array, eta: float) -> float:
    """Return ln of the sum of exp(-h_k - eta L_k), where the least L is 0."""
    total = 0.0
    for k in range(len(L)):
        if L[k] == 0.0:
            total += math.exp(-h[k])
        elif eta < math.inf:
            total += math.exp(-h[k] - eta * L[k])
    return math.log(total)


@kernel(nothing, write, read, read, number)
def weigh(p: Array, L: Array, h: Array, eta: float) -> None:
    """p_k ~ exp(-h_k - eta L_k)."""
    logarithm = log_total(L, h, eta)
    for k in range(len(L)):
        if L[k] == 0.0:
            p[k] = math.exp(-h[k] - logarithm)
        else:
            p[k] = math.exp(-h[k] - eta * L[k] - logarithm)


@kernel(number, write, read, read, read, number)
def lose(L: Array, h: Array, p: Array, losses: Array, eta: float) -> float:
    """Add the losses to L, relative to the new leader; return the mixability gap delta.

    With l relative to <p, l>, delta = ln(sum of p_k exp(-eta l_k)) / eta. For the p of `weigh`
    that is the least L_k + l_k and two sums relative to leaders: no logarithm of zero.
    """
    mean = 0.0
    for k in range(len(L)):
        mean += p[k] * losses[k]
    least = math.inf
    before = log_total(L, h, eta)
    for k in range(len(L)):
        L[k] += losses[k] - mean
        least = min(least, L[k])
    for k in range(len(L)):
        L[k] -= least
    delta = -least
    if eta < math.inf:
        delta += (log_total(L, h, eta) - before) / eta
    return max(0.0, delta)


@kernel(two, read, read, read)
def compare(s: Array, a: Array, b: Array) -> tuple[float, float]:
    """Return <s, a> and <s, a - b>."""
    v = w = broadcast(0.0)
    v1 = w1 = 0.0
    whole = len(s) - len(s) % WIDTH
    for i in range(0, whole, WIDTH):
        S, A = load(s, i), load(a, i)
        v += S * A
        w += S * (A - load(b, i))
    for i in range(whole, len(s)):
        v1 += s[i] * a[i]
        w1 += s[i] * (a[i] - b[i])
    return hsum(v) + v1, hsum(w) + w1


@kernel(number, write, number, read, number, read)
def combine(x: Array, p: float, a: Array, q: float, b: Array) -> float:
    """Write p a + q b into x; return ||a - b||^2."""
    P, Q, whole = broadcast(p), broadcast(q), len(x) - len(x) % WIDTH
    far2, far2_rest = broadcast(0.0), 0.0
    for i in range(0, whole, WIDTH):
        A, B = load(a, i), load(b, i)
        e = A - B
        far2 += e * e
        store(x, i, P * A + Q * B)
    for i in range(whole, len(x)):
        far2_rest += (a[i] - b[i]) * (a[i] - b[i])
        x[i] = p * a[i] + q * b[i]
    return hsum(far2) + far2_rest
