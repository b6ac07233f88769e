"""Undirected graphs: spanning trees and two-connected blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import (
    flags,
    index,
    kernel,
    nothing,
    number,
    read,
    whole,
    write,
    write_index,
)
from hedgerow.kernels.oracles import ORACLE

Index = Any

shares = types.Array(types.float64, 2, "C")
graph_type = types.UniTuple(index, 4)
"""begin, around, one, two: the edges at node v are around[begin[v] .. begin[v + 1]]; edge e joins
one[e] and two[e]."""


@kernel(whole, index, index, index, whole, write)
def first_tree(order: Index, one: Index, two: Index, nodes: int, tree: Any) -> int:
    """Mark in `tree` each edge, taken in this order, that closes no cycle, and count them.

    Edge e joins one[e] and two[e]. Components are trees of parents, halved on the way up.
    """
    parent = np.empty(nodes, np.uint32)
    for v in range(nodes):
        parent[v] = np.uint32(v)
    tree[:] = 0.0
    count = 0
    for k in range(len(order)):
        e = order[k]
        u, v = one[e], two[e]
        while parent[u] != u:
            parent[u] = parent[parent[u]]
            u = parent[u]
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        if u != v:
            parent[max(u, v)] = min(u, v)
            tree[e] = 1.0
            count += 1
            if count == nodes - 1:
                break
    return count


@kernel(whole, graph_type, write_index)
def blocks(graph: Any, block: Index) -> int:
    """Number the two-connected blocks of a connected graph, edge by edge, and count them.

    Depth first: a block is complete when no edge below a node reaches above its parent.
    """
    begin, around, one, two = graph
    nodes = len(begin) - 1
    depth = np.full(nodes, -1, np.int64)
    low = np.zeros(nodes, np.int64)  # the least depth that edges from below reach
    upcoming = begin[:-1].copy()
    path = np.zeros(nodes, np.uint32)
    entered = np.zeros(nodes, np.uint32)  # the edge by which the path came to a node
    seen = np.zeros(len(one), np.bool_)
    waiting = np.zeros(len(one), np.uint32)
    edges = 0
    count = 0
    depth[0] = 0
    length = 1
    while length > 0:
        v = path[length - 1]
        if upcoming[v] < begin[v + 1]:
            e = around[upcoming[v]]
            upcoming[v] += np.uint32(1)
            if seen[e]:
                continue
            seen[e] = True
            waiting[edges] = e
            edges += 1
            w = two[e] if one[e] == v else one[e]
            if depth[w] < 0:
                depth[w] = low[w] = length
                path[length] = w
                entered[w] = e
                length += 1
            else:
                low[v] = min(low[v], depth[w])
            continue
        length -= 1
        if length > 0:
            u = path[length - 1]
            low[u] = min(low[u], low[v])
            if low[v] >= depth[u]:  # the edges since v was entered are a block
                while True:
                    edges -= 1
                    block[waiting[edges]] = np.uint32(count)
                    if waiting[edges] == entered[v]:
                        break
                count += 1
    return count


@kernel(whole, graph_type, whole, number, number, shares, write, flags, write_index)
def _search(
    graph: Any,
    root: int,
    spent: float,
    full: float,
    at: Any,
    load: Any,
    reached: Any,
    entered: Index,
) -> int:
    """Go from node to node along edges whose share at the first is above `spent`, breadth first.

    Stop at the first node, other than the root, of load below `full`, and return it, else -1.
    """
    begin, around, one, two = graph
    queue = np.empty(len(load), np.uint32)
    reached[:] = False
    reached[root] = True
    queue[0] = np.uint32(root)
    first, last = 0, 1
    while first < last:
        u = queue[first]
        first += 1
        for k in range(begin[u], begin[u + 1]):
            e = around[k]
            side = 0 if one[e] == u else 1
            w = two[e] if side == 0 else one[e]
            if at[side, e] > spent and not reached[w]:
                reached[w] = True
                entered[w] = e
                if load[w] < full:
                    return int(w)
                queue[last] = w
                last += 1
    return -1


@kernel(number, graph_type, whole, number, number, shares, write, flags)
def _unload(
    graph: Any, root: int, limit: float, spent: float, at: Any, load: Any, reached: Any
) -> float:
    """Move shares from end to end of the edges, along paths that begin at the root.

    Stop when its load is down to the limit and return 0; or, when all nodes that can be reached
    have load 1, return what is left above the limit.
    """
    _, _, one, two = graph
    entered = np.empty(len(load), np.uint32)
    while load[root] > limit + spent:
        end = _search(graph, root, spent, 1.0 - spent, at, load, reached, entered)
        if end < 0:
            return load[root] - limit
        amount = min(load[root] - limit, 1.0 - load[end])
        for move in range(2):  # first how much the path bears, then the move itself
            w: Any = end
            while w != root:
                e = entered[w]
                to = 0 if np.int64(one[e]) == w else 1
                if move == 1:
                    at[to, e] += amount
                    at[1 - to, e] -= amount
                else:
                    amount = min(amount, at[1 - to, e])
                w = np.int64(one[e]) + np.int64(two[e]) - w
        load[root] -= amount
        load[end] += amount
    return 0.0


@kernel(number, graph_type, read, number, flags, write)
def fullest_set(graph: Any, x: Any, spent: float, worst: Any, tight: Any) -> float:
    """Find nodes U among which the shares x >= 0 exceed |U| - 1; mark them, return the excess.

    Each edge's share is split between its ends. There is no excess just if for each node there is
    a split that loads it with 0 and the others with at most 1. Splits pass from node to node by
    augmenting paths; where one fails, the nodes that it reaches are such a set. If `tight` is not
    empty, add to it for each edge the number of edges e whose least set with x(U) = |U| - 1
    around both ends of e holds it: what is reached from the one end while the other is unloaded.
    """
    begin, around, one, two = graph
    nodes = len(begin) - 1
    at = np.empty((2, len(x)))
    at[0] = at[1] = 0.5 * x
    load = np.empty(nodes)
    reached = np.zeros(nodes, np.bool_)
    entered = np.empty(nodes, np.uint32)
    largest = 0.0
    for stage in range(2):
        limit = 1.0 - stage
        for v in range(nodes):
            load[:] = 0.0  # afresh each time: rounding errors would add up
            for e in range(len(x)):
                load[one[e]] += at[0, e]
                load[two[e]] += at[1, e]
            left = _unload(graph, v, limit, spent, at, load, reached)
            if left > 0.0 and left + limit > largest:  # above 1 is above |U|, not |U| - 1
                largest = left + limit
                worst[:] = reached
            if stage == 0 or len(tight) == 0:
                continue
            for k in range(begin[v], begin[v + 1]):
                e = around[k]
                w = two[e] if one[e] == v else one[e]
                if x[e] > spent and v < w:
                    _search(graph, w, spent, -1.0, at, load, reached, entered)
                    for f in range(len(x)):
                        if reached[one[f]] and reached[two[f]]:
                            tight[f] += 1.0
    return largest


# index = [nodes | one | two]
@kernel(*ORACLE)
def cheapest_tree(index: Index, numbers: Any, c: Any, links: Index, scratch: Any, v: Any) -> None:
    """Write the cheapest spanning tree into v; ties go to the edge given first."""
    edges = len(c)
    order = np.argsort(c, kind="mergesort").astype(np.uint32)  # stable
    first_tree(order, index[1 : edges + 1], index[edges + 1 :], int(index[0]), v)


@kernel(nothing, index, index, index, index, write)
def first_laminar(order: Index, inner: Index, outer: Index, most: Index, base: Any) -> None:
    """Mark in `base` each element, taken in this order, unless a group around it is full.

    inner[e] is the smallest group around element e and outer[k] that around group k; as many as
    there are groups stands for none.
    """
    none = len(most)
    left = most.astype(np.int64)
    base[:] = 0.0
    for i in range(len(order)):
        e = order[i]
        k = int(inner[e])
        while k != none and left[k] > 0:
            k = int(outer[k])
        if k == none:
            base[e] = 1.0
            k = int(inner[e])
            while k != none:
                left[k] -= 1
                k = int(outer[k])


# index = [groups | inner | outer | most elements of each group]
@kernel(*ORACLE)
def cheapest_laminar(
    index: Index, numbers: Any, c: Any, links: Index, scratch: Any, v: Any
) -> None:
    """Write the cheapest base of a laminar matroid into v; ties go to the first element."""
    n, groups = len(c), int(index[0])
    order = np.argsort(c, kind="mergesort").astype(np.uint32)  # stable
    inner, outer = index[1 : n + 1], index[n + 1 : n + 1 + groups]
    first_laminar(order, inner, outer, index[n + 1 + groups :], v)
