"""The vector arithmetic of online conditional gradient, Algorithm 1."""

from __future__ import annotations

from typing import Any

from numba import types

from hedgerow._engine.kernel import index, kernel, nothing, number, read, write
from hedgerow._engine.simd import WIDTH, broadcast, hsum, load, store, vabs
from hedgerow.kernels.vectors import descent, dot, place, three

Array = Any
pair = types.UniTuple(types.float64, 2)
five = types.UniTuple(types.float64, 5)
EPS = 2.0**-52
CANCELLED = 2.0**-30
"""A difference of two sums that is a smaller part of them is added up term by term instead."""


@kernel(nothing, write, read)
def add(S: Array, s: Array) -> None:
    """S_t = S_{t-1} + s_t."""
    for i in range(len(S)):
        S[i] += s[i]


@kernel(number, write, read, read)
def accumulate(S: Array, s: Array, x: Array) -> float:
    """S_t = S_{t-1} + s_t; return <s_t, x_t>."""
    add(S, s)
    return dot(s, x)


@kernel(nothing, write, read, read, number)
def perturb(d: Array, L: Array, p: Array, eta: float) -> None:
    """D = L_t + eta_t p_t."""
    for i in range(len(d)):
        d[i] = L[i] + eta * p[i]


@kernel(five, write, write, read, read, read, number)
def accumulate_and_gradient(
    d: Array, S: Array, s: Array, x: Array, x1: Array, beta: float
) -> tuple[float, float, float, float, float]:
    """S_t = S_{t-1} + s_t and D = grad F_t(x), in one pass.

    Return <S_t, x>, ||x - x_1||^2, <d, x>, the sum of the absolute values of its terms, ||x||^2.
    """
    v = q = p = a = r = broadcast(0.0)
    v1 = q1 = p1 = a1 = r1 = 0.0
    factor, whole = broadcast(2.0 * beta), len(d) - len(d) % WIDTH
    for i in range(0, whole, WIDTH):
        T, X = load(S, i) + load(s, i), load(x, i)
        e = X - load(x1, i)
        D = T + factor * e
        term = D * X
        v += T * X
        q += e * e
        p += term
        a += vabs(term)
        r += X * X
        store(S, i, T)
        store(d, i, D)
    for i in range(whole, len(d)):
        S[i] += s[i]
        e1 = x[i] - x1[i]
        d[i] = S[i] + 2.0 * beta * e1
        v1 += S[i] * x[i]
        q1 += e1 * e1
        p1 += d[i] * x[i]
        a1 += abs(d[i] * x[i])
        r1 += x[i] * x[i]
    return hsum(v) + v1, hsum(q) + q1, hsum(p) + p1, hsum(a) + a1, hsum(r) + r1


@kernel(nothing, write, read, read, read, number)
def gradient(d: Array, S: Array, x: Array, x1: Array, beta: float) -> None:
    """D = grad F_t(x) = S_t + 2 beta (x - x_1), where beta = 1/eta_t."""
    for i in range(len(d)):
        d[i] = S[i] + 2.0 * beta * (x[i] - x1[i])


@kernel(pair, read, read, read)
def gap_and_distance(d: Array, x: Array, v: Array) -> tuple[float, float]:
    """Return the Frank-Wolfe gap <d, x - v>, zero where it is rounding, and ||v - x||^2."""
    progress, size, distance2 = descent(d, x, v)
    return 0.0 if progress <= EPS * len(d) * size else progress, distance2


@kernel(nothing, index, write)
def write_vertex(ones: Array, v: Array) -> None:
    """Write the vertex that has ones in these places, and zeros elsewhere, into v."""
    for i in range(len(v)):
        v[i] = 0.0
    for j in range(len(ones)):
        v[ones[j]] = 1.0


@kernel(pair, read, read, write, index, three)
def gap_and_distance_to(
    d: Array, x: Array, v: Array, ones: Array, at_x: tuple[float, float, float]
) -> tuple[float, float]:
    """Return the same for v, or, if ones are listed, for the vertex that has them.

    `at_x` is <d, x>, sum |d_i x_i| and ||x||^2: few terms are left for <d, v> and <x, v>. Where
    the differences cancel the vertex is written into v, and they are added up term by term.
    """
    if len(ones) > 0:
        inner, size, norm2 = at_x
        p = a = q = 0.0
        for j in range(len(ones)):
            i = ones[j]
            p += d[i]
            a += abs(d[i])
            q += x[i]
        progress, both2 = inner - p, norm2 + len(ones)
        distance2 = both2 - 2.0 * q
        if progress > CANCELLED * (size + a) and distance2 > CANCELLED * both2:
            return progress, distance2
        write_vertex(ones, v)
    return gap_and_distance(d, x, v)


@kernel(pair, number, number, number, number, number, number)
def margin_and_left(
    inner: float, value: float, beta: float, sigma: float, gap: float, distance2: float
) -> tuple[float, float]:
    """Return inner - F(x + sigma (v - x)) for F(x) = value, and the gap less what F fell by.

    F falls by sigma gap - beta sigma^2 ||v - x||^2.
    """
    rise = beta * sigma * sigma * distance2
    return inner - (value - sigma * gap + rise), gap - sigma * gap + rise


@kernel(number, read, read, read, number, number)
def margin(S: Array, x: Array, x1: Array, inner: float, beta: float) -> float:
    """Return inner - F(x), F(x) = <S, x> + beta ||x - x_1||^2."""
    value, distance2 = place(S, x, x1)
    return inner - (value + beta * distance2)


@kernel(nothing, write, read, number)
def move(x: Array, v: Array, sigma: float) -> None:
    """x_{t+1} = (1 - sigma_t) x_t + sigma_t v_t."""
    if sigma == 1.0:
        for i in range(len(x)):
            x[i] = v[i]
    elif sigma > 0.0:
        for i in range(len(x)):
            x[i] = (1.0 - sigma) * x[i] + sigma * v[i]


@kernel(nothing, write, read, index, number)
def move_to(x: Array, v: Array, ones: Array, sigma: float) -> None:
    """Move likewise, to the vertex that has these ones if any are listed."""
    if len(ones) == 0:
        move(x, v, sigma)
    elif sigma == 1.0:
        write_vertex(ones, x)
    elif sigma > 0.0:
        for i in range(len(x)):
            x[i] = (1.0 - sigma) * x[i]
        for j in range(len(ones)):
            x[ones[j]] += sigma
