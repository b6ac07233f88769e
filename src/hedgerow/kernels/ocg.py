"""The vector arithmetic of online conditional gradient, Algorithm 1."""

from __future__ import annotations

from typing import Any

from numba import types

from hedgerow.kernels.jit import kernel, nothing, number, read, write
from hedgerow.kernels.simd import WIDTH, broadcast, hsum, load, store
from hedgerow.kernels.vectors import descent, dot, place

Array = Any
pair = types.UniTuple(types.float64, 2)
EPS = 2.0**-52


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


@kernel(pair, write, write, read, read, read, number)
def accumulate_and_gradient(
    d: Array, S: Array, s: Array, x: Array, x1: Array, beta: float
) -> tuple[float, float]:
    """S_t = S_{t-1} + s_t and D = grad F_t(x), in one pass; return <S_t, x> and ||x - x_1||^2."""
    v = q = broadcast(0.0)
    v1 = q1 = 0.0
    factor, whole = broadcast(2.0 * beta), len(d) - len(d) % WIDTH
    for i in range(0, whole, WIDTH):
        T, X = load(S, i) + load(s, i), load(x, i)
        e = X - load(x1, i)
        v += T * X
        q += e * e
        store(S, i, T)
        store(d, i, T + factor * e)
    for i in range(whole, len(d)):
        S[i] += s[i]
        e1 = x[i] - x1[i]
        v1 += S[i] * x[i]
        q1 += e1 * e1
        d[i] = S[i] + 2.0 * beta * e1
    return hsum(v) + v1, hsum(q) + q1


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
