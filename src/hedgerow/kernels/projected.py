"""The vector arithmetic of projected learners."""

from __future__ import annotations

import math
from typing import Any

from hedgerow._engine.kernel import kernel, nothing, number, read, write

Array = Any


@kernel(nothing, write, read, read, number)
def descend(y: Array, x: Array, g: Array, eta: float) -> None:
    """Write y = x - eta g; y may be x itself."""
    for i in range(len(y)):
        y[i] = x[i] - eta * g[i]


@kernel(nothing, write, read, read, number)
def lead(y: Array, x1: Array, S: Array, beta: float) -> None:
    """Write y = x_1 - S / (2 beta), where <S, x> + beta ||x - x_1||^2 is least."""
    for i in range(len(y)):
        y[i] = x1[i] - S[i] / (2.0 * beta)


@kernel(nothing, write, number)
def into_ball(y: Array, radius: float) -> None:
    """Project y on the ball of this radius around the origin."""
    norm2 = 0.0
    for i in range(len(y)):
        norm2 += y[i] * y[i]
    if norm2 > radius * radius:
        factor = radius / math.sqrt(norm2)
        for i in range(len(y)):
            y[i] *= factor
