"""Steps of Frank-Wolfe for F(x) = <s, x> + beta ||x - centre||^2, and directions to perturb in."""

from __future__ import annotations

import math
from typing import Any

from hedgerow.kernels.jit import kernel, nothing, number, read, rows, write, write_rows
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


@kernel(nothing, write_rows, rows, write_rows)
def directions(normal: Array, basis: Array, units: Array) -> None:
    """Write normal draws as unit vectors in the span of a basis' columns; no rows stand for axes.

    The draws are scaled to norm 1, too. Many of them share each row of the basis while it is
    in the cache.
    """
    for r in range(normal.shape[0]):
        size = math.sqrt(dot(normal[r], normal[r]))
        for j in range(normal.shape[1]):
            normal[r, j] /= size
            if basis.shape[0] == 0:
                units[r, j] = normal[r, j]
    for i in range(basis.shape[0]):
        for r in range(normal.shape[0]):
            units[r, i] = dot(basis[i], normal[r])
