"""Demands of many pairs of nodes: shares of the shortest paths, or flows by any route."""

from __future__ import annotations

import heapq
import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_count, as_vector, freeze, read_only
from hedgerow.labels import Labels
from hedgerow.sets.compositions.product import Product
from hedgerow.sets.decision_set import Rows
from hedgerow.sets.paths.graph import Edges, Index, as_edges, no_path, number_nodes
from hedgerow.sets.paths.unit_flow import UnitFlow
from hedgerow.sets.simplices.simplex import Simplex

if TYPE_CHECKING:
    from scipy import sparse

Pair = tuple[Hashable, Hashable]
Path = tuple[int, ...]
"""The numbers of its edges, in order."""


@dataclass(frozen=True, eq=False, init=False)
class PathShares(Product):
    """Path shares: each origin-destination pair splits one unit over its k shortest paths.

    The paths are loopless, shortest by `length`; a pair may have fewer than k. Oracle: the best
    path of each pair, one pass over all shares. Diameter: sqrt(2 x pairs with a choice), exact.

    Args:
        edges: pairs (tail, head) of any hashable nodes, or an integer array of shape (m, 2).
        pairs: (origin, destination) of each demand.
        k: how many paths a pair may use, at most.
        length: the length of each edge, at least 0; None counts edges.

    Attributes:
        paths: the edges of each path, in order, by coordinate.
        pair_of: which pair each coordinate belongs to.

    Reference for the paths: Yen, Finding the k shortest loopless paths in a network (1971).

    >>> X = PathShares([("s", "a"), ("a", "t"), ("s", "t")], [("s", "t"), ("s", "a")], k=2)
    >>> X.labels
    ('s-t', 's-a-t', 's-a')
    >>> X.lmo([2.0, 1.0, 5.0])
    array([0., 1., 1.])
    >>> X.incidence.toarray()
    array([[0., 1., 1.],
           [0., 1., 0.],
           [1., 0., 0.]])

    """

    edges: Edges
    pairs: tuple[Pair, ...]
    paths: tuple[Path, ...]
    pair_of: NDArray[np.intp]

    def __init__(
        self,
        edges: Edges,
        pairs: Sequence[Pair],
        k: int = 4,
        length: ArrayLike | None = None,
    ):
        edges, given, k = as_edges(edges), tuple(pairs), as_count(k, "k")
        tail, head, number = number_nodes(edges)
        lengths = np.ones(tail.size) if length is None else as_vector(length, "length", tail.size)
        if lengths.min() < 0.0:
            raise ValueError(f"lengths must be at least 0, got {lengths.min():g}")
        ends = numbered_pairs(given, number)
        found = k_shortest_of_pairs(ends, k, tail, head, len(number), lengths)
        for (source, target), paths in zip(given, found, strict=True):
            if not paths:
                raise no_path(source, target)
        simplices = {n: Simplex(n) for n in {len(paths) for paths in found}}
        super().__init__(*(simplices[len(paths)] for paths in found))
        sizes = [len(paths) for paths in found]
        freeze(
            self,
            edges=edges,
            pairs=given,
            paths=tuple(path for paths in found for path in paths),
            pair_of=np.repeat(np.arange(len(sizes)), sizes),
        )

    def _in_short(self) -> str:
        return f"{len(self.pairs)} pairs, {self.dim} paths, {len(self.edges)} edges"

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """Which path uses which edge, edges x paths; times the shares it gives each edge's load."""
        from scipy import sparse

        hops = [len(path) for path in self.paths]
        begin = np.concatenate([[0], np.cumsum(hops)])
        edge = np.fromiter((e for path in self.paths for e in path), np.intp, int(begin[-1]))
        shape = (self.dim, len(self.edges))
        return sparse.csr_array(sparse.csr_array((np.ones(edge.size), edge, begin), shape=shape).T)

    def rows(self) -> Rows:
        """Return one equation for each pair, and the bounds."""
        from scipy import sparse

        ends = np.concatenate([[0], np.cumsum(np.bincount(self.pair_of))])
        places = np.ones(self.dim), np.arange(self.dim), ends
        A_eq = sparse.csr_array(places, shape=(len(self.pairs), self.dim))
        return Rows(np.zeros(self.dim), np.ones(self.dim), A_eq, np.ones(len(self.pairs)))

    @cached_property
    def _own_labels(self) -> Labels:
        """The nodes of each path, joined by dashes."""
        nodes = [[str(node) for node in edge] for edge in self.edges]
        return tuple("-".join([nodes[p[0]][0], *(nodes[e][1] for e in p)]) for p in self.paths)

    @cached_property
    def shortest(self) -> Vector:
        """Each pair on its shortest path alone."""
        return read_only(np.diff(self.pair_of, prepend=-1).astype(np.float64))


def numbered_pairs(pairs: Sequence[Pair], number: dict[Hashable, int]) -> list[tuple[int, int]]:
    """Return the pairs as numbers of nodes, or refuse those that cannot be."""
    if not pairs:
        raise ValueError("path shares need at least one pair of nodes, got none")
    for source, target in pairs:
        for node in (source, target):
            if node not in number:
                raise ValueError(f"the node {node!r} is on no edge; check its spelling")
        if source == target:
            raise ValueError(f"a pair joins two different nodes, got {source!r} twice")
    return [(number[source], number[target]) for source, target in pairs]


@dataclass(frozen=True, eq=False, init=False)
class MultiCommodityFlow(Product):
    """Multi-commodity flow: one unit from origin to destination for each pair, by any route.

    A product of `UnitFlow`: no path is left out, and circulations are part of the set. Oracle: for
    each pair one search by Dijkstra's method where its directions are at least 0, else the exact
    minimum-cost flow. Diameter: the bound of `UnitFlow`, joined.

    Args:
        edges: pairs (tail, head) of any hashable nodes, or an integer array of shape (m, 2).
        pairs: (origin, destination) of each demand.

    Attributes:
        pair_of: which pair each coordinate belongs to.

    >>> X = MultiCommodityFlow([("s", "a"), ("a", "t"), ("s", "t")], [("s", "t"), ("s", "a")])
    >>> X.lmo([1.0, 1.0, 3.0, 1.0, 1.0, 1.0])
    array([1., 1., 0., 1., 0., 0.])

    """

    edges: Edges
    pairs: tuple[Pair, ...]
    pair_of: NDArray[np.intp]

    def __init__(self, edges: Edges, pairs: Sequence[Pair]):
        edges, given = as_edges(edges), tuple(pairs)
        if not given:
            raise ValueError("a multi-commodity flow needs at least one pair of nodes, got none")
        flows = {pair: UnitFlow(edges, *pair) for pair in set(given)}
        super().__init__(*(flows[pair] for pair in given))
        freeze(self, edges=edges, pairs=given)
        owner = np.repeat(np.arange(len(given)), len(edges))
        freeze(self, pair_of=owner)

    def _in_short(self) -> str:
        return f"{len(self.pairs)} pairs, {len(self.edges)} edges"

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """Which coordinate is a flow on which edge; times the flows it gives each edge's load."""
        from scipy import sparse

        return sparse.csr_array(
            sparse.hstack([sparse.eye_array(len(self.edges))] * len(self.pairs))
        )


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

    `scipy.sparse.csgraph.yen` does not serve: its matrix holds one edge for each pair of nodes, and
    it does not order paths of equal length.

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
