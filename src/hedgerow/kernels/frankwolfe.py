"""Steps of Frank-Wolfe for F(x) = <s, x> + beta ||x - centre||^2, and directions along a set."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hedgerow._engine.kernel import index, kernel, nothing, number, read, rows, write, write_rows
from hedgerow.kernels.vectors import descent, dot, two

Array = Any


@kernel(nothing, read, number, read, read, write)
def gradient(s: Array, beta: float, centre: Array, x: Array, slope: Array) -> None:
    """Write s + 2 beta (x - centre), the gradient of F at x."""
    for i in range(len(x)):
        slope[i] = s[i] + 2.0 * beta * (x[i] - centre[i])


@kernel(two, read, number, read, read, write)
def line_search(
    slope: Array, beta: float, x: Array, v: Array, following: Array
) -> tuple[float, float]:
    """Write where the exact line search from x towards v ends; return the gap and ||v - x||^2.

    The gap is <slope, x - v>, or 0 where rounding makes it negative; `following` may be x itself.
    """
    inner, _, squared = descent(slope, x, v)
    gap, curvature = max(0.0, inner), 2.0 * beta * squared
    share = 0.0
    if gap > 0.0:
        share = gap / curvature if gap < curvature else 1.0
    for i in range(len(x)):
        following[i] = v[i] if share == 1.0 else x[i] + share * (v[i] - x[i])
    return gap, squared


@kernel(nothing, write)
def normalise(u: Array) -> None:
    """Divide u by its norm."""
    size = math.sqrt(dot(u, u))
    for i in range(len(u)):
        u[i] /= size


@kernel(nothing, write_rows, index, index, read, rows)
def leave_out(U: Array, ptr: Array, at: Array, data: Array, inverse: Array) -> None:
    """Take from each row of U the part that A sees; `inverse` is that of A A^T.

    The entries of row k of A are `ptr[k]` to `ptr[k + 1]` of `at`, their columns, and of `data`.
    """
    m = len(ptr) - 1
    seen = np.empty(m)
    for r in range(U.shape[0]):
        u = U[r]
        for k in range(m):
            value = 0.0
            for e in range(ptr[k], ptr[k + 1]):
                value += data[e] * u[at[e]]
            seen[k] = value
        for k in range(m):
            weight = dot(inverse[k], seen)
            for e in range(ptr[k], ptr[k + 1]):
                u[at[e]] -= weight * data[e]


@kernel(nothing, write_rows, index, index, read, rows)
def project_out(U: Array, ptr: Array, at: Array, data: Array, inverse: Array) -> None:
    """Make each row of U a unit vector that A maps to 0, with A as in `leave_out`."""
    leave_out(U, ptr, at, data, inverse)
    for r in range(U.shape[0]):
        normalise(U[r])


@kernel(nothing, write_rows, rows)
def project_onto(U: Array, basis: Array) -> None:
    """Make each row of U a unit vector in the span of the basis' rows; no rows stand for axes."""
    parts = np.empty(basis.shape[0])
    for r in range(U.shape[0]):
        u = U[r]
        if len(parts) > 0:
            for j in range(len(parts)):
                parts[j] = dot(basis[j], u)
            for i in range(len(u)):
                u[i] = 0.0
            for j in range(len(parts)):
                for i in range(len(u)):
                    u[i] += parts[j] * basis[j, i]
        normalise(u)
