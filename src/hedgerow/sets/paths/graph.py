"""A graph as a user gives it, with its nodes numbered, and as the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector

if TYPE_CHECKING:
    from scipy import sparse


Index = NDArray[np.uint32]
Edges = Sequence[tuple[Hashable, Hashable]] | NDArray[np.integer[Any]]
"""Pairs of any hashable nodes, or an integer array of shape (m, 2)."""


def as_edges(edges: Edges) -> Edges:
    """Return an array of edges as it is, others as a tuple."""
    return edges if isinstance(edges, np.ndarray) else tuple(edges)


def number_nodes(edges: Edges) -> tuple[Index, Index, dict[Hashable, int]]:
    """Return the first and the second ends of the edges as numbers, and each node's number."""
    if len(edges) == 0:
        raise ValueError("a graph needs at least one edge, got none")
    number: dict[Hashable, int] = {}
    if isinstance(edges, np.ndarray):
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
            raise ValueError(
                "an array of edges must hold integers and have shape (m, 2), "
                f"got dtype {edges.dtype} and shape {edges.shape}"
            )
        labels, flat = _numbered(edges)
        number.update((node, k) for k, node in enumerate(labels.tolist()))
    else:
        edge: Any
        for edge in edges:
            if not isinstance(edge, (tuple, list)) or len(edge) != 2:
                raise ValueError(f"an edge is a pair of nodes, got {edge!r}")
            for node in edge:
                number.setdefault(node, len(number))
        flat = np.array([number[node] for edge in edges for node in edge])
    ends = flat.reshape(-1, 2).astype(np.uint32)
    return ends[:, 0].copy(), ends[:, 1].copy(), number


def _numbered(edges: NDArray[np.integer[Any]]) -> tuple[NDArray[np.integer[Any]], NDArray[Any]]:
    """Return the nodes, rising, and the place of each end among them."""
    low, high = edges.min(), edges.max()
    if low < 0 or high > 4 * edges.size:
        return np.unique(edges, return_inverse=True)
    present = np.zeros(int(high) + 1, np.bool_)  # few enough numbers to mark them, without a sort
    present[edges] = True
    return np.flatnonzero(present), (np.cumsum(present, dtype=np.uint32) - np.uint32(1))[edges]


def number_undirected(edges: Edges) -> tuple[Index, Index, int]:
    """Return both ends of the edges as numbers and how many nodes there are; refuse loops."""
    one, two, number = number_nodes(edges)
    refuse_loops(edges, one, two)
    return one, two, len(number)


def refuse_loops(edges: Edges, one: Index, two: Index) -> None:
    """Refuse an edge from a node to itself."""
    loops = np.flatnonzero(one == two)
    if loops.size:
        raise ValueError(
            f"an edge joins two different nodes, got the loop {edges[loops[0]]}; leave loops out"
        )


def ends(edges: Edges, source: Hashable, target: Hashable) -> tuple[Index, Index, int, int]:
    """Number the nodes and return tails, heads, source and target as numbers."""
    tail, head, number = number_nodes(edges)
    for name, node in (("source", source), ("target", target)):
        if node not in number:
            raise ValueError(f"the {name} {node!r} is not a node of any edge; check its spelling")
    if source == target:
        raise ValueError(f"source and target must differ, both are {source!r}")
    return tail, head, number[source], number[target]


def no_path(source: Hashable, target: Hashable, limit: str = "") -> ValueError:
    """Return the error for a graph in which the target cannot be reached."""
    return ValueError(
        f"no path{limit} leads from {source!r} to {target!r}; "
        "add edges or choose another source or target"
    )


def group(key: Index, groups: int) -> tuple[Index, Index]:
    """Return where each group begins, and the members by group, then by index."""
    begin, upcoming = np.empty(groups + 1, np.uint32), np.empty(groups + 1, np.uint32)
    order = np.empty(key.size, np.uint32)
    kernels.paths.count_in(np.ascontiguousarray(key, np.uint32), begin, order, upcoming)
    return begin, order


def topological_order(out: tuple[Index, Index], head: Index) -> tuple[Index, int]:
    """Return each node's place in a topological order, and how many have one.

    `out` are the edges by tail, as `group` returns them. Fewer than all means that a cycle remains;
    its nodes and those after it have no place but the number of nodes.
    """
    rank, waiting, queue = (np.empty(out[0].size - 1, np.uint32) for _ in range(3))
    placed = kernels.paths.topological_order(*out, head, rank, waiting, queue)
    return rank, placed


def reachable(out: tuple[Index, Index], head: Index, root: int) -> NDArray[np.bool_]:
    """Return which nodes can be reached from the root; `out` are the edges by tail."""
    nodes = out[0].size - 1
    seen, queue = np.zeros(nodes, np.bool_), np.empty(nodes, np.uint32)
    kernels.paths.reachable(*out, head, root, seen, queue)
    return seen


def incident(tail: Index, head: Index, nodes: int) -> tuple[Index, Index]:
    """Return where each node's edges begin, and its edges, those in and those out."""
    begin, order = group(np.concatenate([tail, head]), nodes)
    return begin, order % np.uint32(max(1, tail.size))


def slots(tail: Index, head: Index, nodes: int) -> tuple[Index, Index, Index, Index]:
    """Return the arrays of which `kernels.flows.cheapest_flow` reads a graph."""
    edges, ways = tail.size, 2 * tail.size
    begin, entry = group(np.concatenate([tail, head]), nodes)
    place = np.empty(ways, np.uint32)
    place[entry] = np.arange(ways, dtype=np.uint32)
    mate = place[np.where(entry < edges, entry + np.uint32(edges), entry - np.uint32(edges))]
    return begin, entry, mate, np.concatenate([head, tail])[entry]


def hops_from(root: int, tail: Index, head: Index, nodes: int) -> Vector:
    """Return the least number of edges on a walk from the root to each node, or infinity."""
    from scipy.sparse import csgraph, csr_array

    begin, order = group(tail, nodes)
    edges = np.ones(order.size), head[order].astype(np.int32), begin.astype(np.int32)
    graph = csr_array(edges, shape=(nodes, nodes))
    return np.asarray(csgraph.dijkstra(graph, indices=[root], unweighted=True)[0])


@dataclass(frozen=True, eq=False)
class FlowNetwork:
    """The flows {A x = supply, 0 <= x <= upper}: A x is what each node receives, in minus out.

    `edge` has the coordinate of each edge of the network in the decision set.
    """

    tail: Index
    head: Index
    edge: Index
    supply: Vector
    upper: float

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self.supply.size

    def excess(self, flow: Vector) -> Vector:
        """Return what each node receives too much."""
        received = np.bincount(self.head, flow, self.nodes)
        return received - np.bincount(self.tail, flow, self.nodes) - self.supply

    def balances(self) -> tuple[sparse.csr_array, Vector]:
        """Return independent rows of A x = supply: each component's first node follows."""
        from scipy import sparse
        from scipy.sparse import csgraph

        number, ones = np.arange(self.edge.size), np.ones(self.edge.size)
        shape = (self.nodes, self.edge.size)
        into = sparse.coo_array((ones, (self.head, number)), shape=shape)
        out = sparse.coo_array((ones, (self.tail, number)), shape=shape)
        incidence = sparse.csr_array(into) - sparse.csr_array(out)
        component = csgraph.connected_components(incidence @ incidence.T, directed=False)[1]
        implied = np.unique(component, return_index=True)[1]
        kept = np.delete(np.arange(self.nodes), implied)
        return incidence[kept], self.supply[kept]


def orient(
    graph: Any, source: Hashable, order: Sequence[Hashable] | str | None
) -> list[tuple[Hashable, Hashable]]:
    """Return the edges of a networkx graph, pointing forward in an order of its nodes."""
    pairs = list(graph.edges())
    if order is None:
        if not graph.is_directed():
            raise ValueError(
                "an undirected graph needs an order of its nodes to become acyclic; "
                'give a sequence of nodes or order="distance"'
            )
        return pairs
    if isinstance(order, str):
        if order != "distance":
            raise ValueError(
                f'the order must be a sequence of nodes, None or "distance", got {order!r}'
            )
        order = _by_distance(graph, source)
    rank = {node: k for k, node in enumerate(order)}
    both = pairs if graph.is_directed() else [*pairs, *((v, u) for u, v in pairs)]
    return [(u, v) for u, v in both if u in rank and v in rank and rank[u] < rank[v]]


def _by_distance(graph: Any, source: Hashable) -> list[Hashable]:
    """Return the nodes that the source reaches, breadth first."""
    if source not in graph:
        raise ValueError(f"the source {source!r} is not a node of the graph; check its spelling")
    from networkx import bfs_edges

    return [source, *(node for _, node in bfs_edges(graph, source))]
