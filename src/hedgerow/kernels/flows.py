"""Cheapest flows and walks in any directed graph, widest paths in acyclic ones."""

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
from hedgerow.kernels.oracles import ORACLE

Index = Any
PASSES, BALANCED = 8, 1.0 / 16.0
"""The most passes that balance potentials, and the share of nodes at which they may stop."""


@kernel(whole, write, write_index, whole, number, whole)
def push(keys: Any, items: Index, size: int, key: float, item: int) -> int:
    """Add an item to a binary heap; return its new size."""
    k = size
    while k > 0 and keys[(k - 1) >> 1] > key:
        keys[k] = keys[(k - 1) >> 1]
        items[k] = items[(k - 1) >> 1]
        k = (k - 1) >> 1
    keys[k] = key
    items[k] = np.uint32(item)
    return size + 1


@kernel(whole, write, write_index, whole)
def pop(keys: Any, items: Index, size: int) -> int:
    """Take the first item, the one of the least key, off a binary heap; return its new size."""
    last = size - 1
    key, item = keys[last], items[last]
    k, child = 0, 1
    while child < last:
        if child + 1 < last and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[k] = keys[child]
        items[k] = items[child]
        k, child = child, 2 * child + 1
    keys[k] = key
    items[k] = item
    return last


@kernel(number, index, index, index, read, read, write)
def balance(begin: Index, entry: Index, other: Index, c: Any, supply: Any, potential: Any) -> float:
    """Move each node's potential to where its edges balance; return how far the nodes were off.

    With edges full where their reduced costs are negative, an edge out of node u fills below the
    potential potential[v] - c, one into it above potential[v] + c. What u has too much grows with
    its potential, so it is balanced between two neighbours in the order of these levels. This is
    coordinate ascent on the dual: a few passes leave little to be sent along paths.
    """
    nodes, edges, off = len(begin) - 1, len(c), 0.0
    levels = np.empty(len(entry))
    for u in range(nodes):
        size = 0
        rank, excess = supply[u], -supply[u]  # the rank of the level at which the node is balanced
        for k in range(begin[u], begin[u + 1]):
            e, at = entry[k], potential[other[k]]
            if e < edges:
                levels[size] = at - c[e]
                rank += 1.0
                excess -= 1.0 if c[e] + potential[u] - at < 0.0 else 0.0
            else:
                levels[size] = at + c[e - edges]
                excess += 1.0 if c[e - edges] + at - potential[u] < 0.0 else 0.0
            size += 1
        off += abs(excess)
        if excess != 0.0 and size > 0:
            level, last = np.sort(levels[:size]), size - 1
            below = level[min(max(int(rank) - 1, 0), last)]
            potential[u] = 0.5 * below + 0.5 * level[min(max(int(rank), 0), last)]
    return off


@kernel(whole, index, index, index, index, read, read, write, write)
def cheapest_flow(
    begin: Index,
    entry: Index,
    mate: Index,
    other: Index,
    c: Any,
    supply: Any,
    potential: Any,
    x: Any,
) -> int:
    """Write the cheapest 0/1 flow that brings supply[v] more into node v than it takes out.

    The edges at node v are the slots k in begin[v] .. begin[v+1]: edge entry[k] out of v, or edge
    entry[k] - edges into v, to or from node other[k]; mate[k] is its slot there. Costs have any
    sign. Edges of negative reduced cost start full, then units go from nodes with too much to
    nodes with too little along shortest residual paths: Dijkstra's method on reduced costs, only as
    far as the nearest end. Returns how many units could not be sent: above 0 if there is no flow.
    """
    nodes, edges = len(begin) - 1, len(c)
    potential[:] = 0.0
    passes = 0 if edges > 0 and np.min(c) < 0.0 else PASSES  # without negative costs 0 is right
    while passes < PASSES:
        passes += 1
        if balance(begin, entry, other, c, supply, potential) <= nodes * BALANCED:
            break
    cost = np.empty(len(entry))  # of going on from this slot's node, infinite where there is no way
    excess = -supply
    units = 0
    for u in range(nodes):
        for k in range(begin[u], begin[u + 1]):
            e, v = entry[k], other[k]
            if e < edges:
                full = c[e] + potential[u] - potential[v] < 0.0
                cost[k] = np.inf if full else c[e]
                excess[u] -= 1.0 if full else 0.0
            else:
                e -= np.uint32(edges)
                full = c[e] + potential[v] - potential[u] < 0.0
                cost[k] = -c[e] if full else np.inf
                excess[u] += 1.0 if full else 0.0
        units += max(0, int(excess[u]))
    distance = np.full(nodes, np.inf)
    parent = np.empty(nodes, np.uint32)
    done = np.zeros(nodes, np.bool_)
    touched = np.empty(nodes, np.uint32)
    keys = np.empty(nodes + len(entry))
    items = np.empty(nodes + len(entry), np.uint32)
    # One unit at a time, from a node with too much to the nearest node with too little.
    for root in range(nodes):
        while excess[root] > 0.0:
            distance[root] = 0.0
            touched[0] = root
            reached = 1
            size = push(keys, items, 0, 0.0, root)
            goal, length = nodes, np.inf
            while size > 0 and keys[0] < length:
                u = items[0]
                size = pop(keys, items, size)
                if done[u]:
                    continue
                done[u] = True
                least = distance[u]
                base = least + potential[u]
                for k in range(begin[u], begin[u + 1]):
                    v = other[k]
                    d = max(least, base + cost[k] - potential[v])
                    if d < distance[v] and d < length:
                        if distance[v] == np.inf:
                            touched[reached] = v
                            reached += 1
                        distance[v] = d
                        parent[v] = np.uint32(k)
                        if excess[v] < 0.0:
                            goal, length = int(v), d
                        else:
                            size = push(keys, items, size, d, int(v))
            if goal == nodes:
                return units
            # Reduced costs stay at least 0 if potentials grow by what was saved.
            for k in range(reached):
                v = touched[k]
                if done[v]:
                    potential[v] += distance[v] - length
                distance[v] = np.inf
                done[v] = False
            node = np.uint32(goal)
            while node != root:
                k = parent[node]
                cost[mate[k]] = -cost[k]
                cost[k] = np.inf
                node = other[mate[k]]
            excess[goal] += 1.0
            excess[root] -= 1.0
            units -= 1
    for k in range(len(entry)):
        if entry[k] < edges:
            x[entry[k]] = 1.0 if cost[k] == np.inf else 0.0
    return units


# index = [nodes, source, target, hops | begin | tail | edge]; numbers = the edges' tie weights
@kernel(*ORACLE)
def cheapest_walk(index: Index, numbers: Any, c: Any, links: Index, scratch: Any, v: Any) -> None:
    """Write into v how often the cheapest walk of at most `hops` edges takes each edge.

    The edges into node w are tail[k] -> w with cost c[edge[k]], k in begin[w] .. begin[w + 1].
    Bellman's recursion over the number of edges; walks of equal cost are compared by the sum of
    their tie weights. There must be a walk.
    """
    nodes, edges = np.int64(index[0]), len(numbers)
    source, target, hops = int(index[1]), int(index[2]), int(index[3])
    begin, tail = index[4 : nodes + 5], index[nodes + 5 : nodes + 5 + edges]
    edge = index[nodes + 5 + edges :]
    before, after = np.full((2, nodes), np.inf), np.empty((2, nodes))
    parent = np.empty((hops, nodes), np.uint32)
    before[:, source] = 0.0  # the cost and the ties of the best walk of `hop` edges to each node
    best, second, length = np.inf, np.inf, 0
    for hop in range(hops):
        for w in range(nodes):
            least, next_least = np.inf, np.inf
            argleast = np.uint32(0)
            for k in range(begin[w], begin[w + 1]):
                d = before[0, tail[k]] + c[edge[k]]
                if d <= least:
                    e = before[1, tail[k]] + numbers[k]
                    if d < least or e < next_least:
                        least, next_least = d, e
                        argleast = np.uint32(k)
            after[0, w], after[1, w] = least, next_least
            parent[hop, w] = argleast
        before, after = after, before
        d, e = before[0, target], before[1, target]
        if d < best or (d == best and e < second):
            best, second, length = d, e, hop + 1
    v[:] = 0.0
    # Back along the parents, from the best number of edges.
    node = np.uint32(target)
    for hop in range(length - 1, -1, -1):
        k = parent[hop, node]
        v[edge[k]] += 1.0
        node = tail[k]


@kernel(number, index, index, write, write_index)
def peel(begin: Index, tail: Index, flow: Any, path: Index) -> float:
    """Take the widest path from node 0 to the last node off a flow; return how wide it was.

    The edges into node v are k in begin[v] .. begin[v+1], nodes in topological order. The path's
    edges go into `path`, backwards, ended by the number of edges.
    """
    nodes = len(begin) - 1
    width = np.zeros(nodes)
    parent = np.empty(nodes, np.uint32)
    width[0] = np.inf
    for v in range(1, nodes):
        for k in range(begin[v], begin[v + 1]):
            w = min(width[tail[k]], flow[k])
            if w > width[v]:
                width[v] = w
                parent[v] = np.uint32(k)
    node = np.uint32(nodes - 1)
    hops = 0
    amount = width[node]
    if amount > 0.0:
        while node > 0:
            k = parent[node]
            flow[k] -= amount
            path[hops] = k
            hops += 1
            node = tail[k]
    path[hops] = np.uint32(len(flow))
    return amount


@kernel(nothing, index, index, index, index, read, write)
def round_flow(begin: Index, arc: Index, tail: Index, head: Index, uniform: Any, x: Any) -> None:
    """Round a flow to 0/1 at random, without changing its mean.

    Edges strictly between 0 and 1 contain a cycle; push along it, one way or the other, until an
    edge is full or empty, with probabilities that preserve the mean. Repeat; uniform[i] decides
    push i.
    """
    nodes = len(begin) - 1
    place = np.full(nodes, -1, np.int64)  # where a node stands on the walk
    edges = np.empty(nodes + 1, np.uint32)
    stops = np.empty(nodes + 1, np.uint32)
    pushes = 0
    for root in range(nodes):
        length = 0
        stops[0] = np.uint32(root)
        place[root] = 0
        while True:
            node = stops[length]
            found = False
            for k in range(begin[node], begin[node + 1]):
                e = arc[k]
                if 0.0 < x[e] < 1.0 and (length == 0 or e != edges[length - 1]):
                    found = True
                    edges[length] = e
                    break
            if not found:
                place[node] = -1
                if length == 0:
                    break
                length -= 1  # a dead end: its edge is 0 or 1 up to rounding
                x[edges[length]] = np.round(x[edges[length]])
                continue
            e = edges[length]
            other = head[e] if tail[e] == node else tail[e]
            length += 1
            stops[length] = other
            if place[other] < 0:
                place[other] = length
                continue
            first = place[other]
            up, down = 1.0, 1.0
            for k in range(first, length):
                e = edges[k]
                forward = tail[e] == stops[k]
                up = min(up, 1.0 - x[e] if forward else x[e])
                down = min(down, x[e] if forward else 1.0 - x[e])
            amount = up if uniform[pushes] * (up + down) < down else -down
            pushes += 1
            for k in range(first, length):
                e = edges[k]
                forward = tail[e] == stops[k]
                x[e] += amount if forward else -amount
                if min(x[e], 1.0 - x[e]) < 1e-12:
                    x[e] = np.round(x[e])
                if k > first:
                    place[stops[k]] = -1
            length = first
