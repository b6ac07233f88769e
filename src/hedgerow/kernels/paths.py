"""Paths in a directed acyclic graph, nodes numbered in topological order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from hedgerow._engine.kernel import flags, index, kernel, nothing, read, whole, write, write_index
from hedgerow.kernels.oracles import ORACLE

Index = Any
SATISFIED = 1e-9
"""What is violated by less than this is satisfied."""


@kernel(nothing, index, index, index, read, write)
def find_distances(begin: Index, tail: Index, edge: Index, c: Any, distance: Any) -> None:
    """Write the cost of the cheapest path from node 0 to each node, for costs of any sign.

    The edges into node v are tail[k] -> v with cost c[edge[k]], k in begin[v] .. begin[v+1]. One
    pass in topological order.
    """
    distance[0] = 0.0
    for v in range(1, len(begin) - 1):
        best = np.inf
        for k in range(begin[v], begin[v + 1]):
            d = distance[tail[k]] + c[edge[k]]
            best = d if d < best else best
        distance[v] = best


@kernel(whole, index, index, index, read, read, whole)
def edge_into(begin: Index, tail: Index, edge: Index, c: Any, distance: Any, v: int) -> int:
    """Return the first edge into v that its distance came by, as its place in `edge`.

    To remember these edges in the pass would cost more.
    """
    k = begin[v]
    while k + 1 < begin[v + 1] and distance[tail[k]] + c[edge[k]] != distance[v]:
        k += np.uint32(1)
    return k


@kernel(nothing, index, index, index, read, write, write)
def shortest_path(begin: Index, tail: Index, edge: Index, c: Any, distance: Any, path: Any) -> None:
    """Write the cheapest path from node 0 to the last node into `path`."""
    find_distances(begin, tail, edge, c, distance)
    for e in range(len(path)):
        path[e] = 0.0
    v = len(begin) - 2
    while v > 0:
        k = edge_into(begin, tail, edge, c, distance, v)
        path[edge[k]] = 1.0
        v = tail[k]


@kernel(nothing, index, index, index, read, write, write_index)
def list_path(begin: Index, tail: Index, edge: Index, c: Any, distance: Any, links: Index) -> None:
    """Write how many edges the cheapest path has, and then which, from the last node back."""
    find_distances(begin, tail, edge, c, distance)
    count, v = 0, len(begin) - 2
    while v > 0:
        k = edge_into(begin, tail, edge, c, distance, v)
        count += 1
        links[count] = edge[k]
        v = tail[k]
    links[0] = count


@kernel(nothing, index, write_index, write_index, write_index)
def count_in(key: Index, begin: Index, order: Index, upcoming: Index) -> None:
    """Write where each key's members begin, and the members by key, then by index.

    `begin` has one entry for each key, and one more; so has `upcoming`, which is scratch memory.
    """
    for k in range(len(begin)):
        begin[k] = np.uint32(0)
    for i in range(len(key)):
        begin[key[i] + 1] += np.uint32(1)
    for k in range(1, len(begin)):
        begin[k] += begin[k - 1]
    for k in range(len(begin)):
        upcoming[k] = begin[k]
    for i in range(len(key)):
        order[upcoming[key[i]]] = i
        upcoming[key[i]] += np.uint32(1)


@kernel(whole, index, index, index, write_index, write_index, write_index)
def topological_order(
    begin: Index, order: Index, head: Index, rank: Index, waiting: Index, queue: Index
) -> int:
    """Write each node's place in a topological order into `rank` and count the nodes placed.

    The edges out of node v are order[begin[v] .. begin[v+1]], with heads head[...]. Fewer nodes
    placed than there are means that a cycle remains; its nodes and those after it get the rank
    `nodes`. `waiting` and `queue` are scratch memory.
    """
    nodes = len(begin) - 1
    for v in range(nodes):
        waiting[v] = np.uint32(0)
    for k in range(len(order)):
        waiting[head[order[k]]] += np.uint32(1)
    # Kahn's method: a node joins the queue when all nodes before it are placed.
    last = 0
    for v in range(nodes):
        rank[v] = np.uint32(nodes)
        if waiting[v] == 0:
            queue[last] = v
            last += 1
    first = 0
    while first < last:
        v = queue[first]
        rank[v] = np.uint32(first)
        first += 1
        for k in range(begin[v], begin[v + 1]):
            w = head[order[k]]
            waiting[w] -= np.uint32(1)
            if waiting[w] == 0:
                queue[last] = w
                last += 1
    return first


@kernel(nothing, index, index, index, whole, flags, write_index)
def reachable(begin: Index, order: Index, head: Index, root: int, seen: Any, queue: Index) -> None:
    """Mark in `seen` every node that can be reached from `root`; `queue` is scratch memory."""
    queue[0] = np.uint32(root)
    seen[root] = True
    first = 0
    last = 1
    while first < last:
        v = queue[first]
        first += 1
        for k in range(begin[v], begin[v + 1]):
            w = head[order[k]]
            if not seen[w]:
                seen[w] = True
                queue[last] = w
                last += 1


@kernel(whole, index, index, types.Array(types.int32, 2, "C"))
def squared_diameter(begin: Index, head: Index, apart: Any) -> int:
    """Count the most edges in which two paths from node 0 to the last node can differ.

    The edges out of node u are head[begin[u] .. begin[u+1]]. Dynamic programme over pairs of
    nodes: the earlier of the two advances; from a common node both take the same edge (0 apart)
    or two different ones (2 apart). `apart` has a row and a column for each node, -1 everywhere.
    """
    nodes = len(begin) - 1
    apart[nodes - 1, nodes - 1] = 0
    for u in range(nodes - 1, -1, -1):
        for v in range(nodes - 1, u, -1):
            best = np.int32(-1)
            for k in range(begin[u], begin[u + 1]):
                a, b = min(head[k], np.uint32(v)), max(head[k], np.uint32(v))
                if apart[a, b] >= 0:
                    best = max(best, np.int32(apart[a, b] + 1))
            apart[u, v] = best
        best = apart[u, u]
        for k in range(begin[u], begin[u + 1]):
            best = max(best, apart[head[k], head[k]])
            for j in range(begin[u], k):
                a, b = min(head[k], head[j]), max(head[k], head[j])
                if apart[a, b] >= 0:
                    best = max(best, np.int32(apart[a, b] + 2))
        apart[u, u] = best
    return apart[0, 0]


@kernel(whole, index, index)
def longest_path(begin: Index, head: Index) -> int:
    """Count the edges of the longest path from node 0 to the last node."""
    nodes = len(begin) - 1
    hops = np.full(nodes, -1, np.int64)
    hops[nodes - 1] = 0
    for u in range(nodes - 2, -1, -1):
        for k in range(begin[u], begin[u + 1]):
            if hops[head[k]] >= 0:
                hops[u] = max(hops[u], hops[head[k]] + 1)
    return hops[0]


@kernel(types.UniTuple(index, 3), index)
def unpack_index(index: Index) -> Any:
    """Return begin, tail and edge of index = [nodes | begin | tail | edge]."""
    nodes = index[0]
    edges = (len(index) - 2 - nodes) // 2
    tail = nodes + 2
    return index[1:tail], index[tail : tail + edges], index[tail + edges :]


@kernel(*ORACLE)
def cheapest(index: Index, numbers: Any, c: Any, links: Index, scratch: Any, v: Any) -> None:
    """Write the cheapest path into v; scratch has the distances."""
    begin, tail, edge = unpack_index(index)
    shortest_path(begin, tail, edge, c, scratch, v)


@kernel(*ORACLE)
def list_cheapest(index: Index, numbers: Any, c: Any, links: Index, scratch: Any, v: Any) -> None:
    """Write the edges of the cheapest path to links, after their number."""
    begin, tail, edge = unpack_index(index)
    list_path(begin, tail, edge, c, scratch, links)


# A flow of 1 from the first node to the last: `c` is at least 0 and balanced at each node.
@kernel(*ORACLE)
def most_violated(index: Index, numbers: Any, c: Any, links: Index, scratch: Any, v: Any) -> None:
    """Write the bound or balance that c violates most into v, as a direction; 0 if none."""
    begin, tail, edge = unpack_index(index)
    nodes = len(begin) - 1
    excess = np.zeros(nodes)
    excess[0], excess[nodes - 1] = 1.0, -1.0
    for i in range(len(c)):
        v[i] = c[i]  # 0 at every flow unless a path uses the edge
    for w in range(nodes):
        for k in range(begin[w], begin[w + 1]):
            flow = c[edge[k]]
            v[edge[k]] = min(flow, 0.0)
            excess[w] += flow
            excess[tail[k]] -= flow
    # Which bound and which balance are violated most, the first ones if several.
    bound, node = 0, 0
    for i in range(len(c)):
        if abs(v[i]) > abs(v[bound]):
            bound = i
    for w in range(nodes):
        if abs(excess[w]) > abs(excess[node]):
            node = w
    off, unbalanced = v[bound], excess[node]
    for i in range(len(c)):
        v[i] = 0.0
    if max(abs(off), abs(unbalanced)) <= SATISFIED:
        return
    if abs(off) >= abs(unbalanced):
        v[bound] = 1.0 if off > 0.0 else -1.0
        return
    sign = 1.0 if unbalanced > 0.0 else -1.0
    for w in range(nodes):
        for k in range(begin[w], begin[w + 1]):
            if w == node:
                v[edge[k]] = sign
            elif tail[k] == node:
                v[edge[k]] = -sign
