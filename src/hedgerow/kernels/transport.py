"""The cheapest way to carry goods from sources to sinks: the network simplex method."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import kernel, nothing, read, rows, whole, write_rows

Whole = Any
wholes = types.Array(types.int64, 1, "C", readonly=True)
write_wholes = types.Array(types.int64, 1, "C")
write = types.Array(types.float64, 1, "C")
EPS = float(np.finfo(np.float64).eps)


@kernel(whole, rows, wholes, wholes, write_wholes, write_wholes)
def first_tree(cost: Any, supply: Whole, demand: Whole, parent: Whole, flow: Whole) -> int:
    """Write a tree in which each source went to its cheapest open sinks, and return its root.

    Nodes are the sources, then the sinks. A sink that has all it wants is closed and hangs below
    the source that filled it; a source that is empty hangs below its last sink. When both happen at
    once the sink is closed, and the source carries nothing to another one: an edge without flow
    leads from a source towards the root.
    """
    m, n = len(supply), len(demand)
    wanted = demand.copy()
    closed = np.zeros(n, np.bool_)
    left_open = n
    for i in range(m):
        left = supply[i]
        while True:
            j = -1  # the cheapest open sink, the first one if several
            for k in range(n):
                if not closed[k] and (j < 0 or cost[i, k] < cost[i, j]):
                    j = k
            moved = min(left, wanted[j])
            left -= moved
            wanted[j] -= moved
            if left_open == 1 or wanted[j] > 0:
                break
            closed[j] = True
            left_open -= 1
            parent[m + j] = i
            flow[m + j] = moved
        parent[i] = m + j
        flow[i] = moved
    root = m
    while closed[root - m]:
        root += 1
    parent[root] = -1
    flow[root] = 0
    return root


@kernel(nothing, rows, whole, whole, write_wholes, write_wholes, write_wholes, write_wholes, write)
def refresh(
    cost: Any,
    m: int,
    top: int,
    parent: Whole,
    child: Whole,
    following: Whole,
    depth: Whole,
    price: Any,
) -> None:
    """Compute depths and prices below a node anew: cost[i, j] = price[i] + price[m + j]."""
    v = top
    while True:
        p = parent[v]
        if p >= 0:
            depth[v] = depth[p] + 1
            price[v] = (cost[v, p - m] if v < m else cost[p, v - m]) - price[p]
        else:
            depth[v] = 0
            price[v] = 0.0
        if child[v] >= 0:
            v = child[v]
            continue
        while v != top and following[v] < 0:
            v = parent[v]
        if v == top:
            return
        v = following[v]


@kernel(nothing, whole, write_wholes, write_wholes, write_wholes, write_wholes)
def unlink(v: int, parent: Whole, child: Whole, following: Whole, before: Whole) -> None:
    """Take a node off the list of its parent's children."""
    if before[v] >= 0:
        following[before[v]] = following[v]
    else:
        child[parent[v]] = following[v]
    if following[v] >= 0:
        before[following[v]] = before[v]


@kernel(nothing, whole, write_wholes, write_wholes, write_wholes, write_wholes)
def link(v: int, parent: Whole, child: Whole, following: Whole, before: Whole) -> None:
    """Put a node on the list of its parent's children."""
    first = child[parent[v]]
    following[v] = first
    before[v] = -1
    child[parent[v]] = v
    if first >= 0:
        before[first] = v


@kernel(whole, rows, wholes, wholes, write_wholes, write_wholes, whole)
def best_tree(
    cost: Any, supply: Whole, demand: Whole, parent: Whole, flow: Whole, pivots: int
) -> int:
    """Write the tree of a cheapest transport, its flows by node towards the parent.

    Supplies and demands are whole, so that flows are exact. Cells are priced in blocks, the best
    of a block enters. Of the cells that block, the last one on the cycle leaves, seen from its
    apex: trees stay strongly feasible, and the method ends. Returns 1 if `pivots` did not suffice.

    Reference: Cunningham, A network simplex method (1976).
    """
    m, n = len(supply), len(demand)
    root = first_tree(cost, supply, demand, parent, flow)
    child = np.full(m + n, -1, np.int64)
    following = np.full(m + n, -1, np.int64)
    before = np.full(m + n, -1, np.int64)
    depth = np.zeros(m + n, np.int64)
    price = np.zeros(m + n)
    for v in range(m + n):
        if v != root:
            link(v, parent, child, following, before)
    refresh(cost, m, root, parent, child, following, depth, price)
    block = max(10, int(np.sqrt(m * n)))
    row, column = 0, 0
    for _ in range(pivots):
        # The cell of the least reduced cost enters, of the first block that has a negative one.
        worst, i, j, seen = 0.0, -1, -1, 0
        while seen < m * n:
            for _ in range(min(block, m * n - seen)):
                reduced = cost[row, column] - price[row] - price[m + column]
                if reduced < worst:
                    size = abs(cost[row, column]) + abs(price[row]) + abs(price[m + column])
                    if reduced < -8.0 * EPS * size:
                        worst, i, j = reduced, row, m + column
                column += 1
                if column == n:
                    column = 0
                    row = row + 1 if row + 1 < m else 0
            seen += block
            if i >= 0:
                break
        if i < 0:
            return 0
        # The cycle: up from i and from j to where they meet.
        u, v, out, side = i, j, -1, 0
        most = np.int64(2) ** 62
        while u != v:
            if depth[u] > depth[v]:
                if u < m and flow[u] < most:  # the first one above i is the last one on the cycle
                    most, out, side = flow[u], u, 0
                u = parent[u]
            else:
                if v >= m and flow[v] < most:
                    most, out, side = flow[v], v, 1
                v = parent[v]
        v = j  # at equal flows the side of j goes first, nearest to the apex
        while v != u:
            if v >= m and flow[v] == most:
                out, side = v, 1
            v = parent[v]
        v = i
        while v != u:
            flow[v] += -most if v < m else most
            v = parent[v]
        v = j
        while v != u:
            flow[v] += -most if v >= m else most
            v = parent[v]
        # Turn the path from the entering cell to the leaving one upside down.
        top, above = (i, j) if side == 0 else (j, i)
        v, carried = top, most
        while True:
            old, kept = parent[v], flow[v]
            unlink(v, parent, child, following, before)
            parent[v] = above
            flow[v] = carried
            link(v, parent, child, following, before)
            if v == out:
                break
            v, above, carried = old, v, kept
        refresh(cost, m, top, parent, child, following, depth, price)
    return 1


@kernel(nothing, read, read, wholes, wholes, write_rows)
def carry(supply: Any, demand: Any, parent: Whole, flow: Whole, x: Any) -> None:
    """Write what a tree carries between the given supplies and demands, from its leaves on."""
    m, n = len(supply), len(demand)
    left = np.concatenate((supply, demand))
    children = np.zeros(m + n, np.int64)
    for v in range(m + n):
        if parent[v] >= 0:
            children[parent[v]] += 1
    x[:] = 0.0
    for start in range(m + n):
        v = start
        while parent[v] >= 0 and children[v] == 0:
            children[v] = -1  # done
            p = parent[v]
            moved = max(0.0, left[v]) if flow[v] > 0 else 0.0
            left[p] -= moved
            if v < m:
                x[v, p - m] = moved
            else:
                x[p, v - m] = moved
            children[p] -= 1
            v = p
