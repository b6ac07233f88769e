"""The routes of a network, with its edges turned so that they form no cycle."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector, as_vector
from hedgerow.sets.paths.dag_paths import DagPaths
from hedgerow.sets.paths.graph import Edges, Index, ends, group, no_path

Orientation = Sequence[Hashable] | Literal["distance"] | None


class Links(Protocol):
    """What a network needs to be routed on: edges, and a latency for each of them.

    Where the edges are numbers of nodes, `nodes` may list their names.
    """

    @property
    def edges(self) -> Any:
        """The edges as pairs (tail, head) of nodes."""

    @property
    def latency_ms(self) -> Any:
        """The latency of each edge, at least 0."""


@dataclass(frozen=True, eq=False)
class Routes:
    """The paths between two nodes of a network.

    Attributes:
        paths: the decision set.
        latency: the base latency of its edges.
        latency_source: what the network calls it: "measured", "proxy:..." or "synthetic:...".
        kept: the numbers of its edges among the network's.
        orientation: how edges were turned, in a few words.

    """

    paths: DagPaths
    latency: Vector
    latency_source: str
    kept: NDArray[np.intp]
    orientation: str


def find_routes(
    network: Links, source: Hashable, target: Hashable, orientation: Orientation
) -> Routes:
    """Keep the edges that point forward in an order of the nodes and lie on a route.

    Args:
        network: edges and latencies.
        source: the node where routes begin, by name or as the edges have it.
        target: the node where they end.
        orientation: the nodes from first to last; or "distance": by latency from the source minus
            latency to the target, along shortest paths, which puts the source first, the target
            last, and keeps every shortest route; or None if the edges form no cycle as they are.

    """
    edges: Edges = network.edges
    latency = as_vector(network.latency_ms, "latency_ms", len(edges))
    if latency.min(initial=0.0) < 0.0:
        raise ValueError(f"latencies must be at least 0, got {latency.min():g} ms")
    source, target = (_node(network, node) for node in (source, target))
    tail, head, first, last = ends(edges, source, target)
    label, forward = "as given", np.ones(len(edges), np.bool_)
    if orientation is not None:
        if isinstance(orientation, str):
            if orientation != "distance":
                raise ValueError(
                    'the orientation must be a sequence of nodes, "distance" or None, '
                    f"got {orientation!r}"
                )
            label = "forward by latency from the source minus latency to the target"
            rank = _by_distance(tail, head, latency, first, last)
        else:
            label = "forward in the given order of nodes"
            order = [_node(network, node) for node in orientation]
            rank = _by_order(edges, tail, head, order)
        forward = rank[tail] < rank[head]  # false where a rank is missing
    kept = np.flatnonzero(forward)
    if not kept.size:
        raise no_path(source, target)
    # Edges on no route are left out: they would only make declared constants larger.
    try:
        kept = kept[DagPaths(_some(edges, kept), source, target).live]
    except ValueError as error:
        if orientation is not None or "form no cycle" not in str(error):
            raise
        raise ValueError(f"{error}: orientation='distance' takes that by latency") from None
    paths = DagPaths(_some(edges, kept), source, target)
    return Routes(paths, latency[kept], getattr(network, "latency_label", "given"), kept, label)


def _node(network: Links, node: Hashable) -> Hashable:
    """Return a node as the edges have it: a name becomes its number where edges are numbers."""
    names = getattr(network, "nodes", None)
    if isinstance(node, str) and isinstance(network.edges, np.ndarray) and names is not None:
        if node not in names:
            raise ValueError(f"the network has no node {node!r}; check its spelling")
        return int(list(names).index(node))
    return node


def _some(edges: Edges, kept: NDArray[np.intp]) -> Edges:
    if isinstance(edges, np.ndarray):
        return edges[kept]
    return [tuple(edges[i]) for i in kept]


def _by_order(edges: Edges, tail: Index, head: Index, order: Sequence[Hashable]) -> Vector:
    """Return each node's place in the order, NaN where it has none."""
    place = {node: float(k) for k, node in enumerate(order)}
    rank = np.full(int(max(tail.max(), head.max())) + 1, math.nan)
    for k, (u, v) in enumerate(edges.tolist() if isinstance(edges, np.ndarray) else edges):
        rank[tail[k]], rank[head[k]] = place.get(u, math.nan), place.get(v, math.nan)
    return rank


def _by_distance(tail: Index, head: Index, latency: Vector, source: int, target: int) -> Vector:
    """Return each node's place between source and target, NaN where it lies on no route."""
    nodes = int(max(tail.max(), head.max())) + 1
    before = _distances(source, tail, head, latency, nodes)
    after = _distances(target, head, tail, latency, nodes)
    middle = np.isfinite(before) & np.isfinite(after)
    middle[[source, target]] = False
    between = np.flatnonzero(middle)
    between = between[np.argsort(before[between] - after[between], kind="stable")]
    rank = np.full(nodes, math.nan)
    rank[source], rank[between] = -1.0, np.arange(between.size)
    rank[target] = between.size
    return rank


def _distances(root: int, tail: Index, head: Index, length: Vector, nodes: int) -> Vector:
    """Return the least length of a path from the root to each node, infinite where none leads."""
    from scipy.sparse import csgraph, csr_array

    begin, order = group(tail, nodes)
    rows = length[order], head[order].astype(np.int32), begin.astype(np.int32)
    graph = csr_array(rows, shape=(nodes, nodes))  # parallel edges stay apart
    return np.asarray(csgraph.dijkstra(graph, indices=[root])[0])
