"""Points and directions of an affine hull, x = centre + basis y."""

from __future__ import annotations

from typing import Any

from hedgerow._engine.kernel import kernel, nothing, read, rows, write
from hedgerow.kernels.vectors import dot

Array = Any


@kernel(nothing, read, rows, read, write)
def place(centre: Array, basis: Array, y: Array, x: Array) -> None:
    """Write the point with coordinates y into x."""
    for i in range(len(x)):
        x[i] = centre[i] + dot(basis[i], y)


@kernel(nothing, rows, read, write)
def coordinates(basis: Array, a: Array, g: Array) -> None:
    """Write basis^T a, the part of a along the hull, into g."""
    for j in range(len(g)):
        g[j] = 0.0
    for i in range(len(a)):
        if a[i] != 0.0:
            for j in range(len(g)):
                g[j] += a[i] * basis[i, j]
