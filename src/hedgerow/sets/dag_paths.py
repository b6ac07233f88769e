"""Paths from a source to a target in a directed acyclic graph."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector, as_direction, as_vector, read_only
from hedgerow.sets.decision_set import DecisionSet, Rows, Workspace

Index = NDArray[np.uint32]
PAIR_STEPS = 10**7
"""Above this many steps of its dynamic programme the diameter is bounded instead of computed."""


@dataclass(frozen=True, eq=False)
class DagPaths(DecisionSet):
    """The unit flow polytope of a DAG: mixtures of paths from source to target.

    x_e is the share of traffic on edge e. Vertices are exactly the paths, as 0/1 vectors. Edges
    on no such path are dead: zero at every point, and `tangent` ignores them.

    Oracle: the exact shortest path for costs of any sign, one dynamic programme in topological
    order, O(edges). Dijkstra would not do: the learners' directions have negative entries.
    Diameter: exact by a dynamic programme over pairs of nodes on small graphs, else the bound
    sqrt(2 x hops of the longest path); `diameter_is_exact` says which.

    Args:
        edges: pairs (tail, head) of any hashable nodes, or an integer array of shape (m, 2).
        source: the node where paths begin.
        target: the node where paths end.

    >>> X = DagPaths([("a", "b"), ("b", "c"), ("a", "c"), ("b", "d")], "a", "c")
    >>> X.lmo([1.0, -3.0, 0.0, 5.0]), X.live
    (array([1., 1., 0., 0.]), array([ True,  True,  True, False]))

    """

    edges: Sequence[tuple[Hashable, Hashable]] | NDArray[np.integer[Any]]
    source: Hashable
    target: Hashable
    live: NDArray[np.bool_] = field(init=False, repr=False)
    _begin: Index = field(init=False, repr=False)
    _tail: Index = field(init=False, repr=False)
    _edge: Index = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tail, head, source, target = _number_nodes(self.edges, self.source, self.target)
        nodes = int(max(tail.max(), head.max())) + 1
        out_begin, out_order = _group(tail, nodes)
        rank = np.empty(nodes, np.uint32)
        if kernels.paths.topological_order(out_begin, out_order, head, rank) < nodes:
            closing = self.edges[_closing_edge(tail, head, rank == nodes)]
            raise ValueError(
                f"the edges must form no cycle, but the edge {closing} lies on one; "
                "orient the graph by an order of its nodes first"
            )
        from_source, to_target = np.zeros(nodes, np.bool_), np.zeros(nodes, np.bool_)
        kernels.paths.reachable(out_begin, out_order, head, source, from_source)
        if not from_source[target]:
            raise ValueError(
                f"no path leads from {self.source!r} to {self.target!r}; "
                "add edges or choose another source or target"
            )
        kernels.paths.reachable(*_group(head, nodes), tail, target, to_target)
        live = from_source[tail] & to_target[head]
        # Live nodes, renumbered by topological rank: the source is 0 and the target the last.
        alive = from_source & to_target
        place = np.zeros(nodes, np.uint32)
        ordered = np.argsort(rank, kind="stable")
        ordered = ordered[alive[ordered]]
        place[ordered] = np.arange(ordered.size, dtype=np.uint32)
        edge = np.flatnonzero(live).astype(np.uint32)
        begin, into = _group(place[head[edge]], ordered.size)
        edge = edge[into]
        for name, value in (
            ("live", live),
            ("_begin", begin),
            ("_tail", place[tail[edge]]),
            ("_edge", edge),
        ):
            object.__setattr__(self, name, read_only(value))

    @property
    def dim(self) -> int:
        """The number of edges, dead ones included."""
        return self.live.size

    @property
    def nodes(self) -> int:
        """The number of nodes on some path."""
        return self._begin.size - 1

    @property
    def _head(self) -> Index:
        return np.repeat(np.arange(self.nodes, dtype=np.uint32), np.diff(self._begin))

    @property
    def _supply(self) -> Vector:
        supply = np.zeros(self.nodes)
        supply[0], supply[-1] = -1.0, 1.0
        return supply

    @cached_property
    def _diameter(self) -> tuple[float, bool]:
        begin, order = _group(self._tail, self.nodes)
        head = self._head[order]
        if self.nodes * self._edge.size <= PAIR_STEPS:
            return math.sqrt(kernels.paths.squared_diameter(begin, head)), True
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
        return self.workspace().lmo(as_direction(c, self.dim))

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x is a unit flow: conservation at every node, one unit in all, x >= 0."""
        x = as_vector(x, "x", self.dim)
        if x.min() < -tol or np.abs(x[~self.live]).max(initial=0.0) > tol:
            return False
        flow = x[self._edge]
        excess = np.bincount(self._head, flow, self.nodes) - np.bincount(
            self._tail, flow, self.nodes
        )
        return bool(np.abs(excess - self._supply).max() <= tol)

    def start(self) -> Vector:
        """Return the path with the fewest edges."""
        return self.lmo(np.ones(self.dim))

    def tangent(self, c: ArrayLike) -> Vector:
        """Zero the dead edges."""
        c = as_vector(c, "the direction", self.dim)
        return c if self._edge.size == self.dim else np.where(self.live, c, 0.0)

    def workspace(self) -> Workspace:
        """Return the memory of the dynamic programme."""
        return _PathWorkspace(self)

    def rows(self) -> Rows:
        """Return flow conservation, with dead edges fixed at zero."""
        from scipy import sparse

        ones = np.ones(self._edge.size)
        incidence = sparse.coo_array(
            (
                np.append(ones, -ones),
                (
                    np.concatenate([self._head, self._tail]),
                    np.concatenate([self._edge, self._edge]),
                ),
            ),
            shape=(self.nodes, self.dim),
        )
        # One balance is implied by the others; leaving it out keeps the rows independent.
        return Rows(
            np.zeros(self.dim),
            self.live.astype(np.float64),
            A_eq=sparse.csr_array(incidence)[1:],
            b_eq=self._supply[1:],
        )


class _PathWorkspace(Workspace):
    """Distances and parents, kept between calls; no warm start."""

    def __init__(self, paths: DagPaths):
        super().__init__(paths)
        self._graph = (paths._begin, paths._tail, paths._edge)
        self._distance = np.empty(paths.nodes)
        self._parent = np.empty(paths.nodes, np.uint32)
        self._dim = paths.dim

    def lmo(self, c: Vector) -> Vector:
        path = np.empty(self._dim)
        kernels.paths.shortest_path(*self._graph, c, self._distance, self._parent, path)
        return path


def _number_nodes(edges: Any, source: Hashable, target: Hashable) -> tuple[Index, Index, int, int]:
    """Number the nodes 0, 1, ... and return tails, heads, source and target as numbers."""
    if len(edges) == 0:
        raise ValueError("a graph needs at least one edge, got none")
    if isinstance(edges, np.ndarray):
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
            raise ValueError(
                "an array of edges must hold integers and have shape (m, 2), "
                f"got dtype {edges.dtype} and shape {edges.shape}"
            )
        labels, flat = np.unique(edges, return_inverse=True)
        places: Any = {node: np.flatnonzero(labels == node) for node in (source, target)}
        number = {node: int(place[0]) for node, place in places.items() if place.size}
    else:
        number = {}
        for edge in edges:
            if not isinstance(edge, (tuple, list)) or len(edge) != 2:
                raise ValueError(f"an edge is a pair (tail, head), got {edge!r}")
            for node in edge:
                number.setdefault(node, len(number))
        flat = np.array([number[node] for edge in edges for node in edge])
    for name, node in (("source", source), ("target", target)):
        if node not in number:
            raise ValueError(f"the {name} {node!r} is not a node of any edge; check its spelling")
    if source == target:
        raise ValueError(f"source and target must differ, both are {source!r}")
    ends = flat.reshape(-1, 2).astype(np.uint32)
    return ends[:, 0].copy(), ends[:, 1].copy(), number[source], number[target]


def _group(key: Index, groups: int) -> tuple[Index, Index]:
    """Return where each group begins, and the members by group, then by index."""
    begin = np.zeros(groups + 1, np.uint32)
    begin[1:] = np.cumsum(np.bincount(key, minlength=groups))
    return begin, np.argsort(key, kind="stable").astype(np.uint32)


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
