"""Linear minimisation over boxes, and projection."""

from __future__ import annotations

from typing import Any

from hedgerow._engine.kernel import kernel
from hedgerow.kernels.oracles import ORACLE

Array = Any


# numbers = [lower | upper]
@kernel(*ORACLE)
def corner(index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array) -> None:
    """Take each coordinate's better bound, the lower one if they are equal."""
    n = len(c)
    for i in range(n):
        v[i] = numbers[n + i] if c[i] < 0.0 else numbers[i]


# numbers = [lower | upper]
@kernel(*ORACLE)
def nearest(index: Array, numbers: Array, y: Array, links: Array, scratch: Array, x: Array) -> None:
    """Cut every coordinate at its bounds."""
    n = len(y)
    for i in range(n):
        x[i] = min(max(y[i], numbers[i]), numbers[n + i])
