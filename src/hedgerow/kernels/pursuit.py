"""A point of a set that comes near another one by Frank-Wolfe steps, or separates it from the set.

`sets/projections/approximate_projection.py` takes the same steps around an oracle in Python, and
has the references.
"""

from __future__ import annotations

from typing import Any

from hedgerow._engine.kernel import kernel, number, read, whole, write
from hedgerow._engine.simd import WIDTH, broadcast, hsum, load
from hedgerow.kernels.frankwolfe import line_search
from hedgerow.kernels.policy_tables import set_table

Array = Any
GAP_RATE = 6.75
"""After k steps some gap is at most 6.75 d^2 / (k + 2), d the longest way to a vertex (Jaggi 2013).

With d <= 2R this makes the paper's 27 R^2 / eps - 2 steps for a gap of eps."""

FAR, NEAR, SEPARATES = range(3)
"""What became of a step: it goes on, x is within sqrt(3 eps) of y, or y - x separates."""
CALLS, LONGEST, GAP, PROGRESS = range(4)
"""The numbers of `progress`, and how many there are."""


@kernel(number, read, read)
def apart2(x: Array, y: Array) -> float:
    """Return ||x - y||^2."""
    lanes, rest = broadcast(0.0), 0.0
    even = len(x) - len(x) % WIDTH
    for i in range(0, even, WIDTH):
        e = load(x, i) - load(y, i)
        lanes += e * e
    for i in range(even, len(x)):
        rest += (x[i] - y[i]) * (x[i] - y[i])
    return hsum(lanes) + rest


@kernel(whole, write, read, write, read, write, write, number)
def come_nearer(
    x: Array, y: Array, slope: Array, v: Array, following: Array, progress: Array, eps: float
) -> int:
    """Move x towards the oracle's answer v to slope = x - y; say whether it is to be asked again.

    `progress` is [oracle calls, the longest ||v - x||^2, gap], all 0 at first.
    """
    gap, squared = line_search(slope, 0.5, x, v, following)
    progress[CALLS] += 1.0
    progress[LONGEST], progress[GAP] = max(progress[LONGEST], squared), gap
    if gap <= eps or progress[CALLS] > GAP_RATE * progress[LONGEST] / eps:
        return SEPARATES  # for the second reason by rounding alone
    nearer2 = apart2(following, y)
    if nearer2 > 3.0 * eps and nearer2 >= apart2(x, y):
        return SEPARATES  # rounding: no step leads nearer
    for i in range(len(x)):
        x[i] = following[i]
        slope[i] = x[i] - y[i]
    return NEAR if nearer2 <= 3.0 * eps else FAR


@kernel(whole, set_table, write, read, number, write)
def approach(table: Any, x: Array, y: Array, eps: float, work: Array) -> int:
    """Move x towards y until it is near or separates y; return the oracle calls.

    x begins further than sqrt(3 eps) from y. `work` is memory for three vectors and the progress.
    """
    n = len(x)
    index, numbers, links, scratch, _, _ = table.space
    slope, v, following = work[:n], work[n : 2 * n], work[2 * n : 3 * n]
    progress, found = work[3 * n :], FAR
    for i in range(n):
        slope[i] = x[i] - y[i]
    for k in range(len(progress)):
        progress[k] = 0.0
    while found == FAR:
        table.oracle(index, numbers, slope, links, scratch, v)
        found = come_nearer(x, y, slope, v, following, progress, eps)
    return int(progress[CALLS])


@kernel(whole, set_table, write, write, number, number, whole, write)
def pursue(table: Any, x: Array, y: Array, eps: float, share: float, most: int, work: Array) -> int:
    """Separate and move until x is near y; return the oracle calls, -1 if `most` were not enough.

    Each time y goes so large a share of its way to the x that separates it.
    """
    calls = 0
    for _ in range(most):
        if apart2(x, y) <= 3.0 * eps:
            return calls
        calls += approach(table, x, y, eps, work)
        if not apart2(x, y) <= 3.0 * eps:
            for i in range(len(y)):
                y[i] -= share * (y[i] - x[i])
    return -1
