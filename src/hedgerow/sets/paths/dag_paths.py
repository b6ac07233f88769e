"""Paths from a source to a target in a directed acyclic graph."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector, as_direction, as_vector, freeze, read_only
from hedgerow.sets.compiled import NO_INDEX, Compiled, free_mask, pack_uint32
from hedgerow.sets.paths.flow_polytope import FlowPolytope, FlowWorkspace
from hedgerow.sets.paths.graph import (
    Edges,
    FlowNetwork,
    Index,
    as_edges,
    ends,
    group,
    no_path,
    orient,
    reachable,
    topological_order,
)
from hedgerow.sets.paths.path_drawing import SourceToTarget

PAIR_STEPS = 10**7
"""Above this many steps of its dynamic programme the diameter is bounded instead of computed."""
ROUNDING = 1e-12
"""A decomposition may leave out this much of the flow."""


@dataclass(frozen=True, eq=False)
class DagPaths(SourceToTarget, FlowPolytope):
    """The unit flow polytope of a DAG: mixtures of paths from source to target.

    x_e is the share of traffic on edge e. Vertices are exactly the paths, as 0/1 vectors. Edges
    on no such path are dead: zero at every point, and `tangent` ignores them.

    Oracle: the exact shortest path for costs of any sign, one dynamic programme in topological
    order, O(edges). Dijkstra would not do: the learners' directions have negative entries.
    Diameter: exact by a dynamic programme over pairs of nodes on small graphs, else the bound
    sqrt(2 x hops of the longest path); `diameter_is_exact` tells which. Memory: 21 bytes per edge
    besides the edges as given, 1e7 edges take some seconds to build; a conditional-gradient
    learner takes 60 bytes an edge more. Edges are numbered with 32 bits, so up to 4e9 of them.

    Args:
        edges: pairs (tail, head) of any hashable nodes, or an integer array of shape (m, 2).
        source: the node where paths begin.
        target: the node where paths end.

    >>> X = DagPaths([("a", "b"), ("b", "c"), ("a", "c"), ("b", "d")], "a", "c")
    >>> X.lmo([1.0, -3.0, 0.0, 5.0]), X.live
    (array([1., 1., 0., 0.]), array([ True,  True,  True, False]))

    """

    edges: Edges
    source: Hashable
    target: Hashable
    live: NDArray[np.bool_] = field(init=False, repr=False)
    _graph: Index = field(init=False, repr=False)  # the three arrays below, in one
    _begin: Index = field(init=False, repr=False)
    _tail: Index = field(init=False, repr=False)
    _edge: Index = field(init=False, repr=False)
    _network: FlowNetwork = field(init=False, repr=False)
    _base: Vector = field(init=False, repr=False)

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        source: Hashable,
        target: Hashable,
        order: Sequence[Hashable] | Literal["distance"] | None = None,
    ) -> DagPaths:
        """Take the edges of a networkx graph, those that point forward in an order of its nodes.

        Undirected edges are turned to point forward. Directed edges that point backward, loops
        and edges at nodes outside the order are dropped: `X.edges` lists what is left, by which
        costs must be ordered.

        Args:
            graph: any networkx graph.
            source: the node where paths begin.
            target: the node where paths end.
            order: the nodes from first to last; or "distance", by the number of edges from the
                source, nodes at the same distance in the order in which a breadth-first search
                meets them; or None for a graph that is acyclic as it is.

        """
        return cls(orient(graph, source, order), source, target)

    def __post_init__(self) -> None:
        freeze(self, edges=as_edges(self.edges))
        tail, head, source, target = ends(self.edges, self.source, self.target)
        nodes = int(max(tail.max(), head.max())) + 1
        out = group(tail, nodes)
        rank, placed = topological_order(out, head)
        if placed < nodes:
            closing = self.edges[_closing_edge(tail, head, rank == nodes)]
            raise ValueError(
                f"the edges must form no cycle, but the edge {closing} lies on one; "
                "orient the graph by an order of its nodes first"
            )
        from_source = reachable(out, head, source)
        if not from_source[target]:
            raise no_path(self.source, self.target)
        to_target = reachable(group(head, nodes), tail, target)
        live = from_source[tail] & to_target[head]
        # Live nodes, renumbered by topological rank: the source is 0 and the target the last.
        alive = from_source & to_target
        place = np.zeros(nodes, np.uint32)
        ordered = np.argsort(rank, kind="stable")
        ordered = ordered[alive[ordered]]
        place[ordered] = np.arange(ordered.size, dtype=np.uint32)
        edge = np.flatnonzero(live).astype(np.uint32)
        begin, into = group(place[head[edge]], ordered.size)
        edge = edge[into]
        graph = read_only(pack_uint32(ordered.size, begin, place[tail[edge]], edge))
        begin, into, edge = np.split(graph[1:], [begin.size, begin.size + edge.size])
        for name, value in (("_graph", graph), ("_begin", begin), ("_tail", into), ("_edge", edge)):
            object.__setattr__(self, name, value)  # views of one array: no copies
        freeze(self, live=live, _base=np.zeros(tail.size))
        supply = np.zeros(self.nodes)
        supply[0], supply[-1] = -1.0, 1.0
        network = FlowNetwork(self._tail, place[head[edge]], self._edge, supply, math.inf)
        freeze(self, _network=network)

    @property
    def dim(self) -> int:
        """The number of edges, dead ones included."""
        return self.live.size

    @property
    def nodes(self) -> int:
        """The number of nodes on some path."""
        return self._begin.size - 1

    def _in_short(self) -> str:
        return f"{self.nodes} nodes, {self.dim} edges"

    @cached_property
    def compiled(self) -> Compiled:
        """The oracle as a kernel, the shortest path by dynamic programming; and the projection."""
        everywhere = self._edge.size == self.dim
        return Compiled(
            kernels.paths.cheapest,
            kernels.tangents.everywhere if everywhere else kernels.tangents.unfixed,
            self._graph,
            links=self.nodes,
            scratch=2 * self.nodes + 1,
            label=NO_INDEX if everywhere else free_mask(self.live),
            load_project=lambda: kernels.flow_newton.nearest_mixture,
            separate=kernels.paths.most_violated,
            list_ones=kernels.paths.list_cheapest,
        )

    @cached_property
    def _out(self) -> tuple[Index, Index]:
        return group(self._tail, self.nodes)

    @cached_property
    def _diameter(self) -> tuple[float, bool]:
        begin, order = self._out
        head = self._network.head[order]
        if self.nodes * self._edge.size <= PAIR_STEPS:
            apart = np.full((self.nodes, self.nodes), -1, np.int32)
            return math.sqrt(kernels.paths.squared_diameter(begin, head, apart)), True
        return math.sqrt(2.0 * kernels.paths.longest_path(begin, head)), False

    @property
    def diameter(self) -> float:
        """The square root of the most edges in which two paths differ, or a bound of it."""
        return self._diameter[0]

    @property
    def diameter_is_exact(self) -> bool:
        """Whether the dynamic programme over pairs of nodes was small enough to run."""
        return self._diameter[1]

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the path of least total cost; ties go to the edge given first."""
        return self.workspace().lmo(as_direction(c, self))

    def tangent(self, c: ArrayLike) -> Vector:
        """Zero the dead edges."""
        c = as_vector(c, "the direction", self)
        return c if self._edge.size == self.dim else np.where(self.live, c, 0.0)

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return at most edges - nodes + 2 paths: the widest one again and again, O(edges) each."""
        flow = np.maximum(self._inside(x)[self._edge], 0.0)
        path = np.empty(self.nodes, np.uint32)
        weights: list[float] = []
        vertices: list[Vector] = []
        while math.fsum(weights) < 1.0 - ROUNDING:
            weight = kernels.flows.peel(self._begin, self._tail, flow, path)
            if weight <= 0.0:
                break
            vertex = np.zeros(self.dim)
            vertex[self._edge[path[: np.argmax(path == flow.size)]]] = 1.0
            weights.append(weight)
            vertices.append(vertex)
        return np.array(weights) / math.fsum(weights), np.array(vertices)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Walk from the source; at each node take an edge with its share of the node's flow."""
        flow, path = self._inside(x), np.zeros(self.dim)
        (begin, order), head, node = self._out, self._network.head, 0
        while node < self.nodes - 1:
            out = order[begin[node] : begin[node + 1]]
            share = np.cumsum(np.maximum(flow[self._edge[out]], 0.0))
            k = out[np.searchsorted(share[:-1], rng.random() * share[-1], side="right")]
            path[self._edge[k]] = 1.0
            node = int(head[k])
        return path

    def workspace(self) -> PathWorkspace:
        """Return the memory of the dynamic programme and the potentials of the projection."""
        return PathWorkspace(self)


class PathWorkspace(FlowWorkspace):
    """The projection as the kernel that the compiled loop calls."""

    def __init__(self, paths: DagPaths):
        super().__init__(paths)
        self._begin = paths._begin

    def _nearest(self, y: Vector, flow: Vector) -> float:
        network, newton = self._flows._network, kernels.flow_newton
        ends = self._begin, network.tail, network.head
        worst: float = newton.nearest(
            *ends, network.supply, newton.FAR, y[network.edge], self._state.array, flow
        )
        return worst


def _closing_edge(tail: Index, head: Index, stuck: NDArray[np.bool_]) -> int:
    """Return an edge on a cycle: from a stuck node, walk back until a node comes twice."""
    inside = np.flatnonzero(stuck[tail] & stuck[head])
    into = dict(zip(head[inside].tolist(), inside.tolist(), strict=True))
    node = int(head[inside[0]])
    seen: set[int] = set()
    while node not in seen:
        seen.add(node)
        node = int(tail[into[node]])
    return int(into[node])
