"""Projection on simplices, and rounding to a vertex of a capped simplex."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow._engine.kernel import kernel, nothing, number, read, write
from hedgerow.kernels.oracles import ORACLE

Array = Any


@kernel(nothing, read, number, write)
def project(y: Array, total: float, x: Array) -> None:
    """Write max(y - tau, 0) into x, with tau such that it sums to `total` (Michelot 1986).

    Entries that fall below the mean excess of the others leave until none does. Measured from
    the largest entry, what can be positive lies within `total`: large y cost no digits.
    """
    top = np.max(y)
    above, count = 0.0, 0
    for i in range(len(y)):
        z = y[i] - top
        if z > -total:
            x[count] = z
            above += z
            count += 1
    tau = (above - total) / count
    left = 0
    while left != count:
        left = count
        above, count = 0.0, 0
        for i in range(left):
            z = x[i]
            if z > tau:
                x[count] = z
                above += z
                count += 1
        tau = (above - total) / count
    above = 0.0  # once more with small numbers, against the rounding of the sum
    for i in range(count):
        above += x[i] - tau
    tau += (above - total) / count
    for i in range(len(y)):
        x[i] = max(y[i] - top - tau, 0.0)


@kernel(number, read, read, number, number)
def multiplier(y: Array, cap: Array, total: float, mu: float) -> float:
    """Return the mu with sum of clip(y - mu, 0, cap) = total from a guess, 0 < total < sum of caps.

    The sum falls in mu, linearly between breakpoints y_i - cap_i and y_i. Each pass solves the
    piece at mu and stops if the solution lies on it; else the bracket loses a breakpoint, and mu
    moves to that solution, or to the bracket's middle if that is outside or after many passes.
    """
    low, high = np.inf, -np.inf
    for i in range(len(y)):
        low = min(low, y[i] - cap[i])
        high = max(high, y[i])
    mu = min(max(mu, low), high)
    noise = 1e-16 * total * (8.0 + np.sqrt(len(y)))  # of the sums below
    passes = 0
    while True:
        passes += 1
        excess, slope = -total, 0
        left, right = -np.inf, np.inf  # the piece around mu
        for begin in range(0, len(y), 256):  # in blocks, so that roundings do not pile up
            part = 0.0
            for i in range(begin, min(begin + 256, len(y))):
                bottom = y[i] - cap[i]
                if y[i] <= mu:
                    left = max(left, y[i])
                elif bottom > mu:
                    part += cap[i]
                    right = min(right, bottom)
                else:
                    part += y[i] - mu
                    slope += 1
                    left = max(left, bottom)
                    right = min(right, y[i])
            excess += part
        if slope == 0 and abs(excess) <= 1e-12 * total:  # only the rounding of the caps' sum
            return mu
        move = mu + excess / slope if slope > 0 else np.copysign(np.inf, excess)
        if left <= move <= right or (slope > 0 and abs(excess) <= noise):
            return min(max(move, left), right)
        if excess > 0.0:
            low = max(low, right)
        else:
            high = min(high, left)
        middle = low + 0.5 * (high - low)
        if not low < middle < high:
            return middle
        newton = low < move < high and (passes < 8 or passes % 2 == 0)
        mu = move if newton else middle


@kernel(number, read, read, number, number, write)
def project_capped(y: Array, cap: Array, total: float, guess: float, x: Array) -> float:
    """Write clip(y - mu, 0, cap) into x, with mu such that it sums to `total`; return mu.

    The second round works on y - mu: it is exact where x is neither 0 nor its cap, so the rounding
    of a large mu goes.
    """
    mu = multiplier(y, cap, total, guess)
    for i in range(len(y)):
        x[i] = y[i] - mu
    rest = multiplier(x, cap, total, 0.0)
    for i in range(len(y)):
        x[i] = min(max(x[i] - rest, 0.0), cap[i])
    return mu + rest


@kernel(nothing, write, read, read)
def round_randomly(x: Array, cap: Array, uniform: Array) -> None:
    """Make x a vertex of {0 <= x <= cap, same sum}, with mean x (Deville and Tille 1998).

    One open coordinate meets each other one: mass goes one way or back, with probabilities that
    preserve both means, as far as the caps allow; whichever is still open stays.
    """
    j = 0
    for i in range(1, len(x)):
        if x[j] == 0.0 or x[j] == cap[j]:
            j = i
            continue
        forth = min(cap[j] - x[j], x[i])
        back = min(x[j], cap[i] - x[i])
        gain, lose = (i, j) if uniform[i] * (forth + back) >= back else (j, i)
        space = cap[gain] - x[gain]
        if space <= x[lose]:
            x[lose] -= space
            x[gain] = cap[gain]
        else:
            x[gain] += x[lose]
            x[lose] = 0.0
        if x[j] == 0.0 or x[j] == cap[j]:
            j = i


# numbers = [total]
@kernel(*ORACLE)
def cheapest(
    index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array
) -> None:
    """Put the whole total on the smallest entry of c, the first one if several."""
    best = 0
    for i in range(len(c)):
        v[i] = 0.0
        if c[i] < c[best]:
            best = i
    v[best] = numbers[0]


# numbers = [total]
@kernel(*ORACLE)
def nearest(index: Array, numbers: Array, y: Array, links: Array, scratch: Array, x: Array) -> None:
    """Project y on the simplex."""
    project(y, numbers[0], x)


# numbers = [total, anything | caps]
@kernel(*ORACLE)
def nearest_below_caps(
    index: Array, numbers: Array, y: Array, links: Array, scratch: Array, x: Array
) -> None:
    """Project y on the capped simplex, which is not a single point."""
    guess = -numbers[0] / len(y)  # right where no bound acts
    for i in range(len(y)):
        guess += y[i] / len(y)
    project_capped(y, numbers[2:], numbers[0], guess, x)


# index = where simplices begin, and the end; numbers = their totals
@kernel(*ORACLE)
def cheapest_each(
    index: Array, numbers: Array, c: Array, links: Array, scratch: Array, v: Array
) -> None:
    """Put the total of each simplex on its smallest entry of c, the first one if several."""
    for b in range(len(numbers)):
        best = index[b]
        for i in range(index[b], index[b + 1]):
            v[i] = 0.0
            if c[i] < c[best]:
                best = i
        v[best] = numbers[b]


# index and numbers as above
@kernel(*ORACLE)
def nearest_each(
    index: Array, numbers: Array, y: Array, links: Array, scratch: Array, x: Array
) -> None:
    """Project each part of y on its simplex."""
    for b in range(len(numbers)):
        project(y[index[b] : index[b + 1]], numbers[b], x[index[b] : index[b + 1]])
