"""Trees of shortest paths towards one node, and the paths that several such trees hold.

The edges into node v are `into[into_begin[v] .. into_begin[v + 1]]`, those out of it likewise in
`out`; `tail` and `head` have the ends of each edge. A tree is the edge by which each node leaves.
A path is chosen by its first edge and the tree that it follows from there on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

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
from hedgerow._engine.table import TableType

Array = Any
NONE = np.uint32(2**32 - 1)
"""Stands for no edge: at the target, and where no path leads to it."""
graph_table = TableType(
    "GraphTable",
    dict.fromkeys(("into_begin", "into", "out_begin", "out", "tail", "head"), index),
)


@kernel(nothing, write_index, write_index, read, whole)
def rise(heap: Array, place: Array, distance: Array, k: int) -> None:
    """Move entry k of a heap up until its parent is no farther."""
    v = heap[k]
    while k > 0:
        above = (k - 1) // 2
        if distance[heap[above]] <= distance[v]:
            break
        heap[k] = heap[above]
        place[heap[k]] = k
        k = above
    heap[k] = v
    place[v] = k


@kernel(nothing, write_index, write_index, read, whole)
def sink(heap: Array, place: Array, distance: Array, size: int) -> None:
    """Move the first entry of a heap down until its children are no nearer."""
    v, k = heap[0], 0
    while 2 * k + 1 < size:
        below = 2 * k + 1
        if below + 1 < size and distance[heap[below + 1]] < distance[heap[below]]:
            below += 1
        if distance[v] <= distance[heap[below]]:
            break
        heap[k] = heap[below]
        place[heap[k]] = k
        k = below
    heap[k] = v
    place[v] = k


@kernel(nothing, graph_table, read, whole, write, write_index, write_index, write_index)
def find_tree(
    graph: Any, length: Array, target: int, distance: Array, tree: Array, heap: Array, place: Array
) -> None:
    """Write the tree of shortest paths to the target, by Dijkstra's method; lengths above 0.

    `distance`, `heap` and `place` are memory of one number for each node.
    """
    begin, into, tail = graph.into_begin, graph.into, graph.tail
    for v in range(len(tree)):
        distance[v], tree[v], place[v] = np.inf, NONE, NONE
    distance[target] = 0.0
    heap[0], place[target] = target, 0
    size = 1
    while size > 0:
        v = heap[0]
        size -= 1
        if size > 0:
            heap[0] = heap[size]
            sink(heap, place, distance, size)
        for k in range(begin[v], begin[v + 1]):
            e = into[k]
            u, d = tail[e], distance[v] + length[e]
            if d < distance[u]:
                distance[u], tree[u] = d, e
                if place[u] == NONE:
                    place[u] = size
                    heap[size] = u
                    size += 1
                rise(heap, place, distance, place[u])


@kernel(nothing, graph_table, index, index, whole, write_index, number, write)
def lengthen(
    graph: Any,
    tree: Array,
    sources: Array,
    target: int,
    place: Array,
    factor: float,
    length: Array,
) -> None:
    """Multiply the length of the edges by which the sources reach the target, each once.

    `place` is as `find_tree` has left it; nodes that were passed lose theirs.
    """
    for i in range(len(sources)):
        v = sources[i]
        while v != target and place[v] != NONE:
            length[tree[v]] *= factor
            place[v] = NONE
            v = graph.head[tree[v]]


@kernel(whole, graph_table, index, whole, whole)
def count_edges(graph: Any, tree: Array, first: int, target: int) -> int:
    """Return how many edges a path has; 0 for one that ends nowhere or returns to its source."""
    source, v, count = graph.tail[first], graph.head[first], 1
    while v != target:
        if v == source or tree[v] == NONE:
            return 0
        count += 1
        v = graph.head[tree[v]]
    return count


@kernel(types.boolean, graph_table, index, index, whole, whole)
def is_same_way(graph: Any, one: Array, other: Array, node: int, target: int) -> bool:
    """Return whether two trees lead from a node by the same edges."""
    v = node
    while v != target:
        if one[v] != other[v]:
            return False
        v = graph.head[one[v]]
    return True


@kernel(types.boolean, graph_table, index, index, whole, whole, whole)
def is_new(graph: Any, trees: Array, chosen: Array, first: int, tree: int, target: int) -> bool:
    """Return whether a path is none of those that are chosen, [first edge, tree] of each."""
    n, node = len(graph.into_begin) - 1, graph.head[first]
    own = trees[tree * n : (tree + 1) * n]
    for j in range(len(chosen) // 2):
        other = int(chosen[2 * j + 1])
        if chosen[2 * j] == first and is_same_way(
            graph, trees[other * n : (other + 1) * n], own, node, target
        ):
            return False
    return True


@kernel(whole, graph_table, index, read, read, index, whole, whole)
def best_deviation(
    graph: Any,
    trees: Array,
    length: Array,
    nearest: Array,
    chosen: Array,
    source: int,
    target: int,
) -> int:
    """Return the first edge of the shortest new path that follows the first tree; -1 for none."""
    best, best_length = -1, np.inf
    tree = trees[: len(nearest)]
    for k in range(graph.out_begin[source], graph.out_begin[source + 1]):
        e = int(graph.out[k])
        whole_length = length[e] + nearest[graph.head[e]]
        if (
            whole_length < best_length
            and count_edges(graph, tree, e, target) > 0
            and is_new(graph, trees, chosen, e, 0, target)
        ):
            best, best_length = e, whole_length
    return best


@kernel(nothing, graph_table, index, read, read, index, whole, write_index, write_index)
def choose_paths(
    graph: Any,
    trees: Array,
    length: Array,
    nearest: Array,
    sources: Array,
    target: int,
    chosen: Array,
    hops: Array,
) -> None:
    """Choose k paths of each source: the new ones of each tree, then deviations by the first edge.

    `trees` has one tree after the other, `nearest` the distances of the first one, `chosen` and
    `hops` have one row for each source: [first edge, tree] of each path, and how many edges it has,
    0 where there is no further path.
    """
    n, k = len(nearest), len(hops) // len(sources)
    for i in range(len(sources)):
        own, found = chosen[2 * k * i : 2 * k * (i + 1)], 0
        for j in range(k):
            first = trees[j * n + sources[i]]
            if first != NONE and is_new(graph, trees, own[: 2 * found], first, j, target):
                own[2 * found], own[2 * found + 1] = first, j
                found += 1
        while found < k:
            e = best_deviation(graph, trees, length, nearest, own[: 2 * found], sources[i], target)
            if e < 0:
                break
            own[2 * found], own[2 * found + 1] = e, 0
            found += 1
        for j in range(k):
            hops[k * i + j] = 0
            if j < found:
                tree = int(own[2 * j + 1])
                hops[k * i + j] = count_edges(
                    graph, trees[tree * n : (tree + 1) * n], own[2 * j], target
                )


@kernel(nothing, graph_table, index, index, index, write_index)
def list_edges(graph: Any, trees: Array, chosen: Array, hops: Array, edges: Array) -> None:
    """Write the edges of the chosen paths, one after the other."""
    n, at = len(graph.into_begin) - 1, 0
    for path in range(len(hops)):
        e, tree = chosen[2 * path], int(chosen[2 * path + 1])
        for _ in range(hops[path]):
            edges[at] = e
            at += 1
            e = trees[tree * n + graph.head[e]]
