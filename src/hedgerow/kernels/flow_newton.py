"""The Euclidean projection onto a flow polytope: Newton's method on the node potentials."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.kernels.jit import index, kernel, number, read, whole, write, write_index
from hedgerow.kernels.laplacians import solve

Index = Any
ACCURACY = 1e-12  # the largest imbalance of a node that counts as none
ENOUGH = 1e-10  # the same where rounding allows no more
LIMIT = 200  # Newton steps beside one for each node; mostly 4 to 12 suffice


@kernel(number, index, index, read, number, read, write)
def imbalance(tail: Index, head: Index, z: Any, upper: float, supply: Any, excess: Any) -> float:
    """Write what each node receives too much when x = clip(z, 0, upper); return the largest."""
    for v in range(len(supply)):
        excess[v] = -supply[v]
    for e in range(len(z)):
        x = min(z[e], upper)
        if x > 0.0:
            excess[head[e]] += x
            excess[tail[e]] -= x
    worst = 0.0
    for v in range(len(supply)):
        worst = max(worst, abs(excess[v]))
    return worst


@kernel(number, read, read, number, read, read)
def step_length(z: Any, change: Any, upper: float, supply: Any, step: Any) -> float:
    """Return t at which the dual function is least along the step, or where little is left to gain.

    Its slope, <change, clip(z + t change, 0, upper)> - <supply, step>, is piecewise linear and
    grows with t: Newton's method between two brackets. Slopes, not values: they keep their digits.
    """
    level = 0.0
    for v in range(len(supply)):
        level += supply[v] * step[v]
    low, high = 0.0, np.inf
    first = 0.0
    t = 0.0
    for attempt in range(100):
        slope, curvature, noise = -level, 0.0, abs(level)
        for e in range(len(z)):
            w = change[e]
            x = z[e] + t * w
            if x > 0.0 and w != 0.0:
                if x < upper:
                    curvature += w * w
                else:
                    x = upper
                slope += w * x
                noise += abs(w * x)
        if attempt == 0:
            first = slope
            if first >= 0.0:
                return 0.0
            t = 1.0
            continue
        if 0.1 * first <= slope <= -1e-8 * first + 1e-15 * noise:
            return t
        if slope < 0.0:
            low = t
        else:
            high = t
        t = t - slope / curvature if curvature > 0.0 else 2.0 * high
        if not low < t < high:
            t = 0.5 * (low + high) if high < np.inf else 4.0 * max(low, 1.0)
    return t


@kernel(whole, index, index, read, number, write_index, write_index)
def free_edges(
    tail: Index, head: Index, z: Any, upper: float, free_tail: Index, free_head: Index
) -> int:
    """Write the ends of the edges inside their bounds, without loops; return their number."""
    count = 0
    for e in range(len(z)):
        if 0.0 <= z[e] <= upper and tail[e] != head[e]:
            free_tail[count] = tail[e]
            free_head[count] = head[e]
            count += 1
    return count


@kernel(number, index, index, read, number, write, write)
def project(tail: Index, head: Index, supply: Any, upper: float, potential: Any, z: Any) -> float:
    """Find the flow nearest to y: its part in and out of node v is A x = supply, 0 <= x <= upper.

    On entry z = y, on return x = clip(z, 0, upper) with z = y + A^T potential. The dual function
    of the potentials is convex, with gradient A x - supply and generalised Jacobian A D A^T, the
    Laplacian of the edges strictly inside their bounds. z itself is updated, not recomputed, so
    that potentials much larger than the flow cost no digits. Returns the largest imbalance.
    """
    nodes = len(supply)
    excess, step = np.empty(nodes), np.empty(nodes)
    change = np.empty(len(z))
    ends = np.empty((2, len(z)), np.uint32)
    for e in range(len(z)):
        z[e] += potential[head[e]] - potential[tail[e]]
    worst = imbalance(tail, head, z, upper, supply, excess)
    for steps in range(LIMIT + nodes):
        if worst <= ACCURACY:
            break
        damping = max(1e-10, min(1e-6, 1e-3 * worst))
        count = free_edges(tail, head, z, upper, ends[0], ends[1])
        for v in range(nodes):
            step[v] = -excess[v]
        solve(ends[0, :count], ends[1, :count], damping, step)
        for e in range(len(z)):
            change[e] = step[head[e]] - step[tail[e]]
        t = step_length(z, change, upper, supply, step)
        before = worst
        for v in range(nodes):
            potential[v] += t * step[v]
        for e in range(len(z)):
            z[e] += t * change[e]
        worst = imbalance(tail, head, z, upper, supply, excess)
        if t == 0.0 or (steps > 50 and 0.5 * before < worst <= ENOUGH):
            break
    return worst
