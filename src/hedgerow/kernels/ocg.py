"""The vector arithmetic of online conditional gradient, Algorithm 1."""

from __future__ import annotations

from typing import Any

from numba import types

from hedgerow.kernels.jit import kernel, nothing, number, read, write

Array = Any
pair = types.UniTuple(types.float64, 2)
EPS = 2.0**-52


@kernel(number, write, read, read)
def accumulate(S: Array, s: Array, x: Array) -> float:
    """S_t = S_{t-1} + s_t; return <s_t, x_t>."""
    inner = 0.0
    for i in range(len(S)):
        S[i] += s[i]
        inner += s[i] * x[i]
    return inner


@kernel(nothing, write, read, read, read, number)
def gradient(d: Array, S: Array, x: Array, x1: Array, beta: float) -> None:
    """D = grad F_t(x) = S_t + 2 beta (x - x_1), where beta = 1/eta_t."""
    for i in range(len(d)):
        d[i] = S[i] + 2.0 * beta * (x[i] - x1[i])


@kernel(pair, read, read, read)
def gap(d: Array, x: Array, v: Array) -> tuple[float, float]:
    """Return the Frank-Wolfe gap <d, x - v>, zero where it is rounding, and ||v - x||^2."""
    progress = 0.0
    size = 0.0
    distance = 0.0
    for i in range(len(d)):
        e = x[i] - v[i]
        progress += d[i] * e
        size += abs(d[i] * e)
        distance += e * e
    if progress <= EPS * len(d) * size:
        progress = 0.0
    return progress, distance


@kernel(nothing, write, read, number)
def move(x: Array, v: Array, sigma: float) -> None:
    """x_{t+1} = (1 - sigma_t) x_t + sigma_t v_t."""
    if sigma == 1.0:
        x[:] = v
    elif sigma > 0.0:
        for i in range(len(x)):
            x[i] = (1.0 - sigma) * x[i] + sigma * v[i]
