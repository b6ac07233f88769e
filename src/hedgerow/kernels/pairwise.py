"""Descent of a quadratic on the weights of a mixture, by steps between two atoms.

D has the squared distances of each atom to all. For weights w, w' on the simplex
||sum (w' - w)_k a_k||^2 is -(w' - w)^T D (w' - w) / 2, so D says all that a quadratic needs,
whatever the origin is. g is the gradient by the weights, up to a constant.

Arrays by atom, and the rows of D, have one width, a multiple of eight. Past the
last atom w and D are zero, and g is infinite.
"""

from __future__ import annotations

import math
from typing import Any

from hedgerow._engine.kernel import kernel, nothing, number, whole, write
from hedgerow._engine.simd import WIDTH, broadcast, first, hmax, hsum, load, select, store
from hedgerow.kernels.vectors import two

Array = Any
TIE = 1e-6
"""Gradients and decreases that differ by less, relative to what matters, are equal."""


@kernel(whole, whole)
def padded(count: int) -> int:
    """Return the smallest multiple of eight that is not below this count."""
    return (count + WIDTH - 1) // WIDTH * WIDTH


@kernel(number, write, whole)
def least_of(g: Array, count: int) -> float:
    """Return the least of g; past the last atom it is infinite."""
    low = load(g, 0)
    for k in range(WIDTH, padded(count), WIDTH):
        G = load(g, k)
        low = select(low, G, G, low)
    return -hmax(broadcast(0.0) - low)


@kernel(two, write, write, write, write, whole, number, number)
def decreases(
    gain: Array, w: Array, g: Array, near: Array, count: int, least: float, beta: float
) -> tuple[float, float]:
    """Write what moving the weight of each atom to the one of gradient `least` can gain.

    `near` has the squared distances to that one. Return the largest gain, and the largest gap of
    an atom with weight.
    """
    zero, double, B, G = broadcast(0.0), broadcast(2.0), broadcast(beta), broadcast(least)
    best = widest = zero
    for k in range(0, padded(count), WIDTH):
        W, gap, h = load(w, k), load(g, k) - G, B * load(near, k)
        move = select(gap, double * h * W, W, gap / (double * h))
        value = select(zero, gap, zero, move * (gap - h * move))
        held = select(zero, W, zero, gap)
        best, widest = select(value, best, value, best), select(held, widest, held, widest)
        store(gain, k, value)
    return hmax(best), hmax(widest)


@kernel(number, write, write, write, whole, number)
def shift(g: Array, up: Array, down: Array, count: int, by: float) -> float:
    """Add by (up - down) to g, and return its least."""
    B = broadcast(by)
    low = broadcast(math.inf)
    for k in range(0, padded(count), WIDTH):
        G = load(g, k) + B * (load(up, k) - load(down, k))
        low = select(low, G, G, low)
        store(g, k, G)
    return -hmax(broadcast(0.0) - low)


@kernel(whole, write, whole, number)
def first_below(g: Array, count: int, limit: float) -> int:
    """Return the first place with g at most the limit."""
    B, found = broadcast(limit), 0
    for k in range(padded(count) - WIDTH, -1, -WIDTH):
        at = first(B, load(g, k))
        found = k + at if at < WIDTH else found
    return found


@kernel(whole, write, whole, number)
def first_above(gain: Array, count: int, best: float) -> int:
    """Return the first place whose gain ties with the best."""
    B, more, found = broadcast(best), broadcast(1.0 + TIE), 0
    for k in range(padded(count) - WIDTH, -1, -WIDTH):
        at = first(more * load(gain, k), B)
        found = k + at if at < WIDTH else found
    return found


@kernel(whole, write, write, write, whole, number, number, whole, write)
def descend(
    w: Array,
    g: Array,
    D: Array,
    count: int,
    beta: float,
    tolerance: float,
    limit: int,
    gain: Array,
) -> int:
    """Lower <g, w' - w> + beta ||x' - x||^2 by pairwise steps; return how many it took.

    Each moves weight from one atom to the one of least gradient: the one from which that lowers
    most. It ends when no weight sits on a gradient more than `tolerance` above the least. A step
    makes two gradients equal, so ties are common: the first atom wins them, not the rounding.
    `gain` is scratch memory.
    """
    least, width = least_of(g, count), len(w)
    for step in range(limit):
        j = first_below(g, count, least + TIE * tolerance)
        near = D[j * width : (j + 1) * width]
        best, widest = decreases(gain, w, g, near, count, g[j], beta)
        if best == 0.0 or widest <= tolerance:
            return step
        i = first_above(gain, count, best)
        gap, h = g[i] - g[j], beta * near[i]
        delta = w[i] if gap >= 2.0 * h * w[i] else gap / (2.0 * h)
        w[i] -= delta
        w[j] += delta
        least = shift(g, D[i * width : (i + 1) * width], near, count, beta * delta)
    return limit


@kernel(nothing, write, write, write, whole, whole, number, number, write)
def step_towards(
    w: Array, g: Array, D: Array, count: int, k: int, beta: float, sigma: float, spread: Array
) -> None:
    """Move the weights as x += sigma (a_k - x) does, and the gradient with them.

    `spread` is scratch memory.
    """
    width = len(w)
    for i in range(0, padded(count), WIDTH):
        total = load(D, k * width + i)
        for j in range(count):
            total = total - broadcast(w[j]) * load(D, j * width + i)
        store(spread, i, total)
    for i in range(count):
        g[i] -= beta * sigma * spread[i]
    for i in range(count):
        w[i] *= 1.0 - sigma
    w[k] += sigma


@kernel(nothing, write, whole)
def normalise(w: Array, count: int) -> None:
    """Make the weights sum to one again."""
    lanes = broadcast(0.0)
    for k in range(0, padded(count), WIDTH):
        lanes += load(w, k)
    total = broadcast(hsum(lanes))
    for k in range(0, padded(count), WIDTH):
        store(w, k, load(w, k) / total)
