"""The vector arithmetic of projected learners, and their step sizes.

Every step size is one kernel on a small array `rule`, with the same signature for all:
`eta(rule, t, norm2) -> eta_t`, where norm2 is the squared norm of the gradient of round t. It is 0
while every gradient was 0.
"""

from __future__ import annotations

import math
from typing import Any

from hedgerow.kernels.jit import kernel, nothing, number, read, write

Array = Any
sizes = (number, write, number, number)


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


# rule = [D, G]
@kernel(*sizes)
def falling_eta(rule: Array, t: float, norm2: float) -> float:
    """eta_t = D / (G sqrt t), G the largest norm so far if it is above the one given."""
    rule[1] = max(rule[1], math.sqrt(norm2))
    return rule[0] / (rule[1] * math.sqrt(t)) if rule[1] > 0.0 else 0.0


# rule = [length, G]
@kernel(*sizes)
def steady_eta(rule: Array, t: float, norm2: float) -> float:
    """eta_t = length / G, G as above: each step is at most `length` long."""
    rule[1] = max(rule[1], math.sqrt(norm2))
    return rule[0] / rule[1] if rule[1] > 0.0 else 0.0


# rule = [factor D, sum of ||grad||^2]
@kernel(*sizes)
def adagrad_eta(rule: Array, t: float, norm2: float) -> float:
    """eta_t = factor D / sqrt(sum of ||grad||^2)."""
    rule[1] += norm2
    return rule[0] / math.sqrt(rule[1]) if rule[1] > 0.0 else 0.0


# rule = [modulus]
@kernel(*sizes)
def strongly_convex_eta(rule: Array, t: float, norm2: float) -> float:
    """eta_t = 1 / (modulus t)."""
    return 1.0 / (rule[0] * t)
