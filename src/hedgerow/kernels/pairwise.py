"""Descent of a quadratic on the weights of a mixture, by steps between two atoms.

D[i, j] is the squared distance of two atoms. For weights w, w' on the simplex
||sum (w' - w)_k a_k||^2 is -(w' - w)^T D (w' - w) / 2, so D says all that a quadratic needs,
whatever the origin is. g is the gradient by the weights, up to a constant.
"""

from __future__ import annotations

from typing import Any

from hedgerow.kernels.atoms import matrix
from hedgerow.kernels.jit import kernel, nothing, number, whole, write

Array = Any
TIE = 1e-6
"""Gradients and decreases that differ by less, relative to what matters, are equal."""


@kernel(whole, write, write, matrix, whole, number, number, whole)
def descend(
    w: Array, g: Array, D: Array, count: int, beta: float, tolerance: float, limit: int
) -> int:
    """Lower <g, w' - w> + beta ||x' - x||^2 by pairwise steps; return how many it took.

    Each moves weight from one atom to the one of least gradient: the one from which that lowers
    most. It ends when no weight sits on a gradient more than `tolerance` above the least. A step
    makes two gradients equal, so ties are common: the first atom wins them, not the rounding.
    """
    for step in range(limit):
        j = 0
        for k in range(1, count):
            if g[k] < g[j] - TIE * tolerance:
                j = k
        i = -1
        best = delta = widest = 0.0
        for k in range(count):
            gap = g[k] - g[j]
            if w[k] > 0.0 and gap > 0.0:
                h = beta * D[k, j]
                move = w[k] if gap >= 2.0 * h * w[k] else gap / (2.0 * h)
                widest = max(widest, gap)
                if move * (gap - h * move) > (1.0 + TIE) * best:
                    i, delta, best = k, move, move * (gap - h * move)
        if i < 0 or widest <= tolerance:
            return step
        w[i] -= delta
        w[j] += delta
        for k in range(count):
            g[k] += beta * delta * (D[k, i] - D[k, j])
    return limit


@kernel(nothing, write, write, matrix, whole, whole, number, number)
def step_towards(
    w: Array, g: Array, D: Array, count: int, k: int, beta: float, sigma: float
) -> None:
    """Move the weights as x += sigma (a_k - x) does, and the gradient with them."""
    for i in range(count):
        spread = D[i, k]
        for j in range(count):
            spread -= w[j] * D[i, j]
        g[i] -= beta * sigma * spread
    for i in range(count):
        w[i] *= 1.0 - sigma
    w[k] += sigma


@kernel(nothing, write, whole)
def normalise(w: Array, count: int) -> None:
    """Make the weights sum to one again."""
    total = 0.0
    for k in range(count):
        total += w[k]
    for k in range(count):
        w[k] /= total
