"""The k shortest loopless paths between two nodes of a directed graph."""

from __future__ import annotations

import heapq
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from hedgerow.inputs import Vector
from hedgerow.sets.paths.edges import Index

Path = tuple[int, ...]
"""The numbers of its edges, in order."""


class Adjacency(NamedTuple):
    """For each node its edges out of it, or into it: (edge, other end)."""

    out: list[list[tuple[int, int]]]
    into: list[list[tuple[int, int]]]

    @classmethod
    def of(cls, tail: Index, head: Index, nodes: int) -> Adjacency:
        """Sort the edges by their ends; loops are on no loopless path."""
        out: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
        into: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
        for e, (u, v) in enumerate(zip(tail.tolist(), head.tolist(), strict=True)):
            if u != v:
                out[u].append((e, v))
                into[v].append((e, u))
        return cls(out, into)


def distances_to(target: int, graph: Adjacency, length: Sequence[float]) -> list[float]:
    """Return the distance of every node to the target, infinite where no path leads there."""
    distance = [math.inf] * len(graph.out)
    distance[target] = 0.0
    waiting = [(0.0, target)]
    while waiting:
        d, v = heapq.heappop(waiting)
        if d > distance[v]:
            continue
        for e, u in graph.into[v]:
            if d + length[e] < distance[u]:
                distance[u] = d + length[e]
                heapq.heappush(waiting, (distance[u], u))
    return distance


def shortest_from(
    node: int,
    target: int,
    graph: Adjacency,
    length: Sequence[float],
    rest: Sequence[float],
    without: Iterable[int],
    avoided: Iterable[int],
) -> Path | None:
    """Return the shortest path, None if there is none, without some first edges and some nodes.

    A* search: `rest` is the distance of every node to the target in the whole graph.
    """
    forbidden, closed = set(without), set(avoided)
    reached = {node: 0.0}
    came: dict[int, tuple[int, int]] = {}
    waiting = [(rest[node], node)]
    while waiting:
        _, u = heapq.heappop(waiting)
        if u in closed:
            continue
        if u == target:
            path = []
            while u != node:
                e, u = came[u]
                path.append(e)
            return tuple(reversed(path))
        closed.add(u)
        for e, v in graph.out[u]:
            if v in closed or (u == node and e in forbidden):
                continue
            d = reached[u] + length[e]
            if d < reached.get(v, math.inf) and rest[v] < math.inf:
                reached[v], came[v] = d, (e, u)
                heapq.heappush(waiting, (d + rest[v], v))
    return None


def k_shortest(
    source: int,
    target: int,
    k: int,
    graph: Adjacency,
    length: Sequence[float],
    head: Sequence[int],
    rest: Sequence[float],
) -> list[Path]:
    """Return at most k loopless paths, the shortest first; few edges first among equal lengths.

    Reference: Yen, Finding the k shortest loopless paths in a network (1971).
    """
    first = shortest_from(source, target, graph, length, rest, (), ())
    if first is None:
        return []
    found: list[Path] = []
    waiting = [_ranked(first, length)]
    known = {first}
    while waiting and len(found) < k:
        path = heapq.heappop(waiting)[2]
        found.append(path)
        node = source
        behind: list[int] = []
        for i, e in enumerate(path):
            taken = {other[i] for other in found if len(other) > i and other[:i] == path[:i]}
            spur = shortest_from(node, target, graph, length, rest, taken, behind)
            if spur is not None and (new := path[:i] + spur) not in known:
                known.add(new)
                heapq.heappush(waiting, _ranked(new, length))
            behind.append(node)
            node = head[e]
    return found


def _ranked(path: Path, length: Sequence[float]) -> tuple[float, int, Path]:
    return math.fsum(length[e] for e in path), len(path), path


def k_shortest_of_pairs(
    pairs: Sequence[tuple[int, int]], k: int, tail: Index, head: Index, nodes: int, length: Vector
) -> list[list[Path]]:
    """Return the k shortest loopless paths of each pair; an empty list where no path leads."""
    graph, lengths, heads = Adjacency.of(tail, head, nodes), length.tolist(), head.tolist()
    rest: dict[Hashable, list[float]] = {}
    found = []
    for source, target in pairs:
        if target not in rest:
            rest[target] = distances_to(target, graph, lengths)
        found.append(k_shortest(source, target, k, graph, lengths, heads, rest[target]))
    return found
