"""The Euclidean projection onto a flow polytope: Newton's method on the node potentials."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow._engine.kernel import (
    index,
    kernel,
    nothing,
    number,
    read,
    whole,
    write,
    write_index,
)
from hedgerow.kernels.laplacians import solve
from hedgerow.kernels.oracles import ORACLE
from hedgerow.kernels.paths import unpack_index

Index = Any
ACCURACY = 1e-12  # the largest imbalance of a node that counts as none
ENOUGH = 1e-10  # the same where rounding allows no more
LIMIT = 200  # Newton steps beside one for each node; mostly 2 to 8 suffice
DAMPING = 1e-10, 1e-10, 1e-6, 1e-3
"""Of the first attempt, and of those that follow where it stalls: more damping, shorter steps."""
FAR = 100.0  # points beyond this are moved nearer by the potentials of their best vertex
PASSES = 12  # each over the potentials gains 15 digits; points have at most 150 before the comma
STALE = 1e4  # potentials larger than this, in units of the point, would cost digits as a start
OPEN = 0.01
"""An edge that is outside its bounds by this share of the worst imbalance may move, too: a new path
then opens in one step, not edge by edge."""


@kernel(number, index, index, write, read, number, number, read, write)
def advance(
    tail: Index,
    head: Index,
    z: Any,
    change: Any,
    t: float,
    upper: float,
    supply: Any,
    excess: Any,
) -> float:
    """Add t change to z and write what nodes receive too much of clip(z, 0, upper).

    Returns the largest imbalance.
    """
    for v in range(len(supply)):
        excess[v] = -supply[v]
    for e in range(len(z)):
        z[e] += t * change[e]
        x = min(z[e], upper)
        if x > 0.0:
            excess[head[e]] += x
            excess[tail[e]] -= x
    worst = 0.0
    for v in range(len(supply)):
        worst = max(worst, abs(excess[v]))
    return worst


@kernel(whole, read, read, number, write, write)
def within_reach(z: Any, change: Any, reach: float, near_z: Any, near_change: Any) -> int:
    """Write the edges that carry flow at z + t change for some t up to the reach; count them."""
    count = 0
    for e in range(len(z)):
        w = change[e]
        if (z[e] > 0.0) | (z[e] + reach * w > 0.0):
            near_z[count], near_change[count] = z[e], w
            count += 1
    return count


@kernel(number, read, read, number, number, number)
def step_length(z: Any, change: Any, upper: float, level: float, reach: float) -> float:
    """Return t at which the dual function is least along the step, or where little is left to gain.

    Its slope, <change, clip(z + t change, 0, upper)> - level, is piecewise linear and grows with t:
    Newton's method between two brackets. Slopes, not values: they lose no digits. A t beyond the
    reach of the edges that are given is returned at once.
    """
    low, high = 0.0, np.inf
    first = 0.0
    t = 0.0
    for attempt in range(100):
        # The slope at t, its derivative, and the sizes of which its rounding error is a share.
        slope, curvature, noise = -level, 0.0, abs(level)
        for e in range(len(z)):
            w = change[e]
            x = z[e] + t * w
            if x > 0.0:
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
        # The minimum is between the last t with a negative slope and the last with a positive one.
        if slope < 0.0:
            low = t
        else:
            high = t
        t = t - slope / curvature if curvature > 0.0 else 2.0 * high
        if not low < t < high:
            t = 0.5 * (low + high) if high < np.inf else 4.0 * max(low, 1.0)
        if t > reach:
            return t
    return t


@kernel(whole, index, index, read, number, number, write_index, write_index)
def free_edges(
    tail: Index,
    head: Index,
    z: Any,
    upper: float,
    outside: float,
    free_tail: Index,
    free_head: Index,
) -> int:
    """Write the ends of the edges inside their bounds, or nearly, without loops; count them."""
    count = 0
    for e in range(len(z)):
        if (z[e] >= -outside) & (z[e] <= upper + outside):
            free_tail[count], free_head[count] = tail[e], head[e]
            count += tail[e] != head[e]
    return count


@kernel(number, index, index, read, number, number, write, write)
def project(
    tail: Index, head: Index, supply: Any, upper: float, damping: float, potential: Any, z: Any
) -> float:
    """Find the flow nearest to y: its part in and out of node v is A x = supply, 0 <= x <= upper.

    On entry z = y, on return x = clip(z, 0, upper) with z = y + A^T potential. The dual function
    of the potentials is convex, with gradient A x - supply and generalised Jacobian A D A^T, the
    Laplacian of the edges strictly inside their bounds. z itself is updated, not recomputed, so
    that potentials much larger than the flow cost no digits. Returns the largest imbalance.
    """
    nodes, edges = len(supply), len(z)
    excess, step, scratch = np.empty(nodes), np.empty(nodes), np.empty(3 * nodes)
    change, near = np.empty(edges), np.empty((2, edges))
    ends, links = np.empty((2, edges), np.uint32), np.empty(7 * nodes + 4 * edges + 1, np.uint32)
    for e in range(edges):
        change[e] = potential[head[e]] - potential[tail[e]]
    worst = advance(tail, head, z, change, 1.0, upper, supply, excess)
    for steps in range(LIMIT + nodes):
        if worst <= ACCURACY:
            break
        # Newton's direction, by the Laplacian of the edges inside their bounds.
        count = free_edges(tail, head, z, upper, OPEN * worst, ends[0], ends[1])
        for v in range(nodes):
            step[v] = -excess[v]
        solve(ends[0, :count], ends[1, :count], damping, step, links, scratch)
        for e in range(edges):
            change[e] = step[head[e]] - step[tail[e]]
        level = 0.0
        for v in range(nodes):
            level += supply[v] * step[v]
        # Steps above 1 are rare: search first among the edges that matter up to 1.
        count = within_reach(z, change, 1.0, near[0], near[1])
        t = step_length(near[0, :count], near[1, :count], upper, level, 1.0)
        if t > 1.0:
            count = within_reach(z, change, np.inf, near[0], near[1])
            t = step_length(near[0, :count], near[1, :count], upper, level, np.inf)
        before = worst
        for v in range(nodes):
            potential[v] += t * step[v]
        worst = advance(tail, head, z, change, t, upper, supply, excess)
        if t == 0.0 or (steps > 50 and 0.5 * before < worst <= ENOUGH):
            break
    return worst


@kernel(nothing, index, index, read, write)
def path_potentials(begin: Index, tail: Index, c: Any, potential: Any) -> None:
    """Write potentials that prove that the cheapest path for c is the cheapest one: distances.

    The edges into node v are tail[k] -> v, k in begin[v] .. begin[v + 1], in topological order.
    """
    potential[0] = 0.0
    for v in range(1, len(potential)):
        least = np.inf
        for k in range(begin[v], begin[v + 1]):
            least = min(least, potential[tail[k]] + c[k])
        potential[v] = least


@kernel(number, read)
def largest(x: Any) -> float:
    """Return the largest absolute value, 0 of none."""
    most = 0.0
    for i in range(len(x)):
        most = max(most, abs(x[i]))
    return most


@kernel(nothing, index, index, index, write, write)
def draw_near(begin: Index, tail: Index, head: Index, y: Any, potential: Any) -> None:
    """Replace y by y' with entries of at most nodes + 1 and the same projection.

    Potentials change nothing, because all flows are balanced. With those of the best vertex w
    the rest r of y is at most 0 where w is empty and at least 0 where it is full. If x = P(y)
    differs from w at an edge e, a cycle through e leads from x towards w: <r, .> gains |r_e| on
    it at least, and ||x||^2 / 2 grows by no more than its length. As x is nearest,
    |r_e| <= nodes; so r can be cut there, and x stays nearest by the optimality conditions.
    Potentials are rounded relative to the largest entries; later passes correct that.
    """
    edges, bound = len(y), len(potential) + 1.0
    c = np.empty(edges)
    for _ in range(PASSES):
        for e in range(edges):
            c[e] = -y[e]
        path_potentials(begin, tail, c, potential)
        for e in range(edges):
            y[e] += potential[head[e]] - potential[tail[e]]
        if largest(potential) <= 1.0:
            break
    for e in range(edges):
        y[e] = min(max(y[e], -bound), bound)


@kernel(number, index, index, index, read, number, write, write, write)
def nearest(
    begin: Index,
    tail: Index,
    head: Index,
    supply: Any,
    far: float,
    y: Any,
    warm: Any,
    x: Any,
) -> float:
    """Write the mixture of paths nearest to y, which may change, into x; return its imbalance.

    `warm` has the potentials of the last call, and 1 if there were any. A first attempt starts from
    them, the others from those of the best vertex.
    """
    nodes, edges = len(supply), len(y)
    potential, start = warm[:nodes], np.empty(nodes)
    if largest(y) > far:
        draw_near(begin, tail, head, y, start)
    size, worst = 1.0 + largest(y), np.inf
    # First from the last potentials, then from those of the best vertex, with more damping.
    for attempt in range(len(DAMPING)):
        if attempt > 0:
            for e in range(edges):
                x[e] = -y[e]
            path_potentials(begin, tail, x, potential)
        elif warm[nodes] == 0.0 or largest(potential) > STALE * size:
            if size > far:
                continue
            potential[:] = 0.0
        for e in range(edges):
            x[e] = y[e]
        worst = project(tail, head, supply, np.inf, DAMPING[attempt], potential, x)
        if worst <= ENOUGH:
            break
    warm[nodes] = 1.0 if worst <= ENOUGH else 0.0
    for e in range(edges):
        x[e] = max(x[e], 0.0)
    return worst


# index = [nodes | begin | tail | edge]; scratch = [distances of the oracle | potentials, warm]
@kernel(*ORACLE)
def nearest_mixture(index: Index, numbers: Any, c: Any, links: Index, scratch: Any, v: Any) -> None:
    """Write the mixture of paths nearest to c into v, or NaN should that fail."""
    begin, tail, edge = unpack_index(index)
    nodes, edges = len(begin) - 1, len(edge)
    head = np.empty(edges, np.uint32)
    supply, y, x = np.zeros(nodes), np.empty(edges), np.empty(edges)
    supply[0], supply[nodes - 1] = -1.0, 1.0
    for w in range(nodes):
        head[begin[w] : begin[w + 1]] = np.uint32(w)
    for k in range(edges):
        y[k] = c[edge[k]]
    warm = scratch[nodes : 2 * nodes + 1]
    worst = nearest(begin, tail, head, supply, FAR, y, warm, x)
    v[:] = 0.0
    for k in range(edges):
        v[edge[k]] = x[k] if worst <= ENOUGH else np.nan
