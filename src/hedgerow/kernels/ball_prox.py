"""The dual of a proximal step over a ball, by accelerated projected gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hedgerow._engine.kernel import index, kernel, nothing, number, read, rows, whole, write
from hedgerow._engine.table import TableType
from hedgerow.kernels.simplices import project

Array = Any
ball_dual = TableType(
    "BallDual",
    {
        "Q": rows,  # A A^T, for the rows A of all pieces
        "Aw": read,  # w is the point where the step would end without pieces and ball
        "values": read,  # of the pieces at the origin
        "begin": index,  # where the pieces of each group begin
        "weight": number,
        "eta": number,
        "free2": number,  # ||w||^2
        "radius": number,
    },
)


@kernel(number, number, number, read, read, read, number)
def shrink(radius: float, free2: float, Aw: Array, mu: Array, Qmu: Array, eta: float) -> float:
    """Return s = min(1, R / ||w - eta A^T mu||) from ||w||^2, A w and Q mu."""
    length2 = free2
    for i in range(len(mu)):
        length2 += eta * mu[i] * (eta * Qmu[i] - 2.0 * Aw[i])
    return 1.0 if length2 <= radius * radius else radius / math.sqrt(length2)


@kernel(nothing, index, number, write)
def into_groups(begin: Array, weight: float, mu: Array) -> None:
    """Project on mu >= 0 with a sum of at most `weight` in each group."""
    for t in range(len(begin) - 1):
        first, last = int(begin[t]), int(begin[t + 1])
        total = 0.0
        for i in range(first, last):
            total += max(0.0, mu[i])
        if total <= weight:
            for i in range(first, last):
                mu[i] = max(0.0, mu[i])
        else:
            part = mu[first:last].copy()
            project(part, weight, mu[first:last])


@kernel(number, index, number, read, read)
def duality_gap(begin: Array, weight: float, slope: Array, mu: Array) -> float:
    """Return weight sum_t max(0, max_{i in t} slope_i) - <mu, slope>."""
    gap = 0.0
    for t in range(len(begin) - 1):
        worst = 0.0
        for i in range(int(begin[t]), int(begin[t + 1])):
            worst = max(worst, slope[i])
            gap -= mu[i] * slope[i]
        gap += weight * worst
    return gap


@kernel(whole, ball_dual, number, number, whole, write)
def ascend(dual: Any, lipschitz: float, enough: float, cap: int, mu: Array) -> int:
    """Maximise the dual over mu, from where it is; return the number of steps.

    The slope is s (A w - eta Q mu) + values, s the shrinking into the ball. Where the momentum
    points against the slope it is dropped.
    """
    Q, Aw, values, begin = dual.Q, dual.Aw, dual.values, dual.begin
    weight, eta, free2, radius = dual.weight, dual.eta, dual.free2, dual.radius
    Qmu = Q @ mu
    ahead, Qahead, momentum = mu.copy(), Qmu.copy(), 1.0
    for step in range(cap):
        s = shrink(radius, free2, Aw, mu, Qmu, eta)
        if duality_gap(begin, weight, s * (Aw - eta * Qmu) + values, mu) <= enough:
            return step
        s = shrink(radius, free2, Aw, ahead, Qahead, eta)
        slope = s * (Aw - eta * Qahead) + values
        new = ahead + slope / lipschitz
        into_groups(begin, weight, new)
        Qnew = Q @ new
        following = 0.5 + math.sqrt(0.25 + momentum * momentum)
        carry = (momentum - 1.0) / following
        if np.dot(slope, new - mu) < 0.0:
            carry, following = 0.0, 1.0
        ahead = new + carry * (new - mu)
        Qahead = Qnew + carry * (Qnew - Qmu)
        mu[:], Qmu, momentum = new, Qnew, following
    return cap
