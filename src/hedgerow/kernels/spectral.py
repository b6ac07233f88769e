"""The least eigenvector of a symmetric matrix by the Lanczos method.

`scipy.sparse.linalg.eigsh` finds it too. Where both start from the last answer, as learners do, it
takes about 1.5 times as long at orders 200 and 500, and 4 times at 60.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
from llvmlite import binding  # type: ignore[import-untyped]
from numba import types
from numba.extending import get_cython_function_address

from hedgerow._engine.kernel import COMPILED, kernel, number, read, whole, write

Array = Any
vector = types.Array(types.float64, 1, "C")
matrix = types.Array(types.float64, 2, "C", readonly=True)
write_matrix = types.Array(types.float64, 2, "C")

CHECK_EVERY = 4
"""Steps between two checks of the Ritz value: a check costs about as much as a small step."""

# BLAS's symmetric product reads half the matrix: 1.5 times as fast as np.dot at order 500, 1.6 at
# 1000. By name, not by address, so that what calls it can be cached on disk.
address = get_cython_function_address("scipy.linalg.cython_blas", "dsymv")
binding.add_symbol("hedgerow_dsymv", address)
dsymv: Any = (
    types.ExternalFunction("hedgerow_dsymv", types.void(*[types.voidptr] * 10))
    if COMPILED
    else ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 10)(address)
)


@kernel(types.boolean, write, write, whole, number)
def any_below(diagonal: Array, beside: Array, m: int, x: float) -> bool:
    """Whether the tridiagonal matrix of order m has an eigenvalue at or below x."""
    pivot = diagonal[0] - x
    for k in range(1, m):
        if pivot <= 0.0:
            return True
        pivot = diagonal[k] - x - beside[k - 1] * (beside[k - 1] / pivot)
    return pivot <= 0.0


@kernel(number, write, write, whole, number, number)
def least_eigenvalue(diagonal: Array, beside: Array, m: int, low: float, high: float) -> float:
    """Bisect: no eigenvalue of the tridiagonal matrix is at or below the answer, one just above."""
    width = 2.0**-52 * max(abs(low), abs(high))
    while high - low > width:
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        if any_below(diagonal, beside, m, middle):
            high = middle
        else:
            low = middle
    return low


@kernel(number, write)
def length(x: Array) -> float:
    """Return ||x||, of moderate size."""
    return math.sqrt(np.dot(x, x))


@kernel(types.void, write, write)
def normalise(x: Array, unit: Array) -> None:
    """Write x / ||x|| into `unit`, which may be x."""
    norm = length(x)
    for k in range(len(x)):
        unit[k] = x[k] / norm


@kernel(types.void, write, write, whole, number, write, write, write)
def tridiagonal_vector(
    diagonal: Array, beside: Array, m: int, x: float, down: Array, up: Array, s: Array
) -> None:
    """Write the unit eigenvector for the least eigenvalue, just above x, into s[:m].

    Twisted factorisation: pivots of T - x from both ends, joined where they agree best, so that
    every entry is a product and none suffers from cancellation.
    """
    tiny = 1e-300
    down[0] = max(diagonal[0] - x, tiny)
    for k in range(1, m):
        down[k] = max(diagonal[k] - x - beside[k - 1] * (beside[k - 1] / down[k - 1]), tiny)
    up[m - 1] = max(diagonal[m - 1] - x, tiny)
    for k in range(m - 2, -1, -1):
        up[k] = max(diagonal[k] - x - beside[k] * (beside[k] / up[k + 1]), tiny)
    twist, best = 0, np.inf
    for k in range(m):
        meeting = abs(down[k] + up[k] - (diagonal[k] - x))
        if meeting < best:
            twist, best = k, meeting
    s[twist] = 1.0
    for k in range(twist - 1, -1, -1):
        s[k] = -beside[k] / down[k] * s[k + 1]
    for k in range(twist + 1, m):
        s[k] = -beside[k - 1] / up[k] * s[k - 1]
    normalise(s[:m], s[:m])


@kernel(vector, matrix, whole, write)
def multiply(C: Array, kind: int, q: Array) -> Array:
    """Return A q without forming A, which is C = C' (kind 0), -C'C (1) or -CC' (2)."""
    if kind != 0:
        w = np.dot(C.T, np.dot(C, q)) if kind == 1 else np.dot(C, np.dot(C.T, q))
        for i in range(len(w)):
            w[i] = -w[i]
        return w
    lower = np.array([76], np.uint8)  # "L"
    order, stride = np.array([len(q)], np.int32), np.array([1], np.int32)
    one, zero = np.ones(1), np.zeros(1)
    w = np.zeros(len(q))
    dsymv(
        lower.ctypes, order.ctypes, one.ctypes, C.ctypes, order.ctypes,
        q.ctypes, stride.ctypes, zero.ctypes, w.ctypes, stride.ctypes,
    )  # fmt: skip
    return w


@kernel(whole, matrix, whole, read, number, write_matrix, write)
def least_eigenvector(C: Array, kind: int, start: Array, tol: float, basis: Array, v: Array) -> int:
    """Write a unit vector v with ||A v - r v|| <= tol x (width of A's spectrum) and r least.

    Lanczos from `start` with full reorthogonalisation, in the rows of `basis`. Return the steps
    taken, or 0 if the basis was full before the residual was small: then v is not written.
    """
    most = basis.shape[0]
    diagonal, beside = np.empty(most), np.empty(most)
    down, up, s, overlap = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    shed = start.copy()
    normalise(shed, basis[0])
    low, high, ritz = np.inf, -np.inf, np.inf
    for j in range(most):
        m = j + 1
        # One Lanczos step; w is made orthogonal to all earlier vectors, against rounding.
        w = multiply(C, kind, basis[j])
        beside[j] = length(w)
        for again in range(2):  # twice is enough; once, where little was cancelled
            before = beside[j]
            np.dot(basis[:m], w, overlap[:m])
            if not again:
                diagonal[j] = overlap[j]
            np.dot(basis[:m].T, overlap[:m], shed)
            for i in range(len(w)):
                w[i] -= shed[i]
            beside[j] = length(w)
            if beside[j] > 0.5 * before:
                break
        # Gershgorin's interval of the tridiagonal matrix, its last row complete.
        reach = beside[j] + (beside[j - 1] if j > 0 else 0.0)
        low, high = min(low, diagonal[j] - reach), max(high, diagonal[j] + reach)
        floor = 1e-14 * max(abs(low), abs(high))
        ended = beside[j] <= floor or m == len(v)
        if ended or m % CHECK_EVERY == 0:
            ritz = least_eigenvalue(diagonal, beside, m, low - floor, min(ritz, diagonal[j]))
            tridiagonal_vector(diagonal, beside, m, ritz, down, up, s)
            if ended or beside[j] * abs(s[j]) <= tol * (high - low) + floor:
                np.dot(basis[:m].T, s[:m], v)
                normalise(v, v)
                return m
        if m < most:
            normalise(w, basis[m])
    return 0
