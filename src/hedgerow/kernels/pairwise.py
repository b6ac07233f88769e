"""Descent of a quadratic on the weights of a mixture, by steps between two atoms.

D[i, j] is the squared distance of two atoms. For weights w, w' on the simplex
||sum (w' - w)_k a_k||^2 is -(w' - w)^T D (w' - w) / 2, so D says all that a quadratic needs,
whatever the origin is. g is the gradient by the weights, up to a constant.

Arrays by atom, and the rows of D, have room for a multiple of eight entries. Past the last atom w
and D are zero; what g has there is not read.
"""

from __future__ import annotations

from typing import Any

from hedgerow.kernels.atoms import matrix
from hedgerow.kernels.jit import kernel, nothing, number, whole, write
from hedgerow.kernels.simd import WIDTH, broadcast, hmax, load, select, store

Array = Any
TIE = 1e-6
"""Gradients and decreases that differ by less, relative to what matters, are equal."""


@kernel(whole, whole)
def padded(count: int) -> int:
    """Return the multiple of eight that so many entries fit in."""
    return (count + WIDTH - 1) // WIDTH * WIDTH


@kernel(number, write, write, write, write, whole, number, number)
def decreases(
    gain: Array, w: Array, g: Array, near: Array, count: int, least: float, beta: float
) -> float:
    """Write what moving the weight of each atom to the one of least gradient can gain.

    `near` has the squared distances to that one. Return the largest gap of an atom with weight.
    Gains of atoms below the least gradient, by a tie, mean nothing.
    """
    zero, two, B, G = broadcast(0.0), broadcast(2.0), broadcast(beta), broadcast(least)
    widest = zero
    for k in range(0, padded(count), WIDTH):
        W, gap, h = load(w, k), load(g, k) - G, B * load(near, k)
        move = select(gap, two * h * W, W, gap / (two * h))
        store(gain, k, move * (gap - h * move))
        held = select(zero, W, zero, gap)
        widest = select(held, widest, held, widest)
    return hmax(widest)


@kernel(nothing, write, write, write, whole, number)
def shift(g: Array, up: Array, down: Array, count: int, by: float) -> None:
    """G += by (up - down)."""
    B = broadcast(by)
    for k in range(0, padded(count), WIDTH):
        store(g, k, load(g, k) + B * (load(up, k) - load(down, k)))


@kernel(whole, write, write, matrix, whole, number, number, whole, write)
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
    for step in range(limit):
        j = 0
        for k in range(1, count):
            if g[k] < g[j] - TIE * tolerance:
                j = k
        if decreases(gain, w, g, D[j], count, g[j], beta) <= tolerance:
            return step
        i = -1
        best = 0.0
        for k in range(count):
            if gain[k] > (1.0 + TIE) * best and g[k] > g[j]:
                i, best = k, gain[k]
        if i < 0:
            return step
        gap, h = g[i] - g[j], beta * D[j, i]
        delta = w[i] if gap >= 2.0 * h * w[i] else gap / (2.0 * h)
        w[i] -= delta
        w[j] += delta
        shift(g, D[i], D[j], count, beta * delta)
    return limit


@kernel(nothing, write, write, matrix, whole, whole, number, number, write)
def step_towards(
    w: Array, g: Array, D: Array, count: int, k: int, beta: float, sigma: float, spread: Array
) -> None:
    """Move the weights as x += sigma (a_k - x) does, and the gradient with them.

    `spread` is scratch memory.
    """
    end = padded(count)
    for i in range(0, end, WIDTH):
        total = load(D[k], i)
        for j in range(count):
            total = total - broadcast(w[j]) * load(D[j], i)
        store(spread, i, total)
    for i in range(count):
        g[i] -= beta * sigma * spread[i]
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
