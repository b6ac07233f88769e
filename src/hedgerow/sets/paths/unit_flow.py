"""One unit of flow through a directed graph that may have cycles."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector, as_direction, as_vector, freeze
from hedgerow.sets.paths.flow_polytope import FlowPolytope, OracleFlowWorkspace
from hedgerow.sets.paths.graph import (
    Edges,
    FlowNetwork,
    Index,
    as_edges,
    ends,
    incident,
    no_path,
    slots,
)
from hedgerow.sets.paths.path_drawing import SourceToTarget

TIGHT = 1e-14
"""A remainder this near its bound is at its bound."""


@dataclass(frozen=True, eq=False)
class UnitFlow(SourceToTarget, FlowPolytope):
    """Unit flows {x : one unit from source to target, conserved at every node, 0 <= x_e <= 1}.

    Vertices are the 0/1 flows: a path from source to target **plus any number of edge-disjoint
    cycles**. Circulations are part of the set, and the oracle takes every cycle of negative cost.
    This is the price of an exact oracle for costs of any sign: to find the cheapest simple path
    is NP-hard. Where cycles must not appear use `DagPaths`, or `HopLimitedWalks` to bound them.

    Oracle: minimum-cost flow. Coordinate ascent on the dual finds potentials that nearly balance
    the nodes, edges of negative reduced cost start full, then shortest residual paths (Dijkstra
    with potentials) restore the balance, one search for each unit. Diameter: the bound
    sqrt(edges that can change - half the nodes at which their number is odd).

    Args:
        edges: pairs (tail, head) of any hashable nodes, or an integer array of shape (m, 2).
        source: the node where the unit enters.
        target: the node where it leaves.

    Reference: Ahuja, Magnanti and Orlin, Network Flows (1993), section 9.7.

    >>> X = UnitFlow([("s", "a"), ("a", "s"), ("a", "b"), ("b", "a"), ("s", "b")], "s", "b")
    >>> X.lmo([1.0, 1.0, 1.0, 1.0, 3.0]), X.lmo([1.0, 1.0, 1.0, -3.0, 1.0])
    (array([1., 0., 1., 0., 0.]), array([0., 0., 1., 1., 1.]))

    """

    edges: Edges
    source: Hashable
    target: Hashable
    free: NDArray[np.bool_] = field(init=False, repr=False)
    _base: Vector = field(init=False, repr=False)
    _network: FlowNetwork = field(init=False, repr=False)
    _graph: tuple[Index, Index, Index, Index] = field(init=False, repr=False)
    _slots: tuple[Index, Index, Index, Index] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        from scipy import sparse
        from scipy.sparse import csgraph

        freeze(self, edges=as_edges(self.edges))
        tail, head, source, target = ends(self.edges, self.source, self.target)
        nodes = int(max(tail.max(), head.max())) + 1
        supply = np.zeros(nodes)
        supply[source], supply[target] = -1.0, 1.0
        path = np.empty(tail.size)
        ways = slots(tail, head, nodes)
        ones, potential = np.ones(tail.size), np.empty(nodes)
        if kernels.flows.cheapest_flow(*ways, ones, supply, potential, path):
            raise no_path(self.source, self.target)
        # An edge can change if its residual edge lies on a cycle, within a strong component.
        full = path == 1.0
        start, end = np.where(full, head, tail), np.where(full, tail, head)
        residual = sparse.coo_array((np.ones(tail.size), (start, end)), shape=(nodes, nodes))
        strong = csgraph.connected_components(sparse.csr_array(residual), connection="strong")[1]
        free = strong[tail] == strong[head]
        edge = np.flatnonzero(free).astype(np.uint32)
        base = np.where(free, 0.0, path)
        supply -= np.bincount(head, base, nodes) - np.bincount(tail, base, nodes)
        used, place = np.unique(np.concatenate([tail[edge], head[edge]]), return_inverse=True)
        tail, head = place.astype(np.uint32).reshape(2, -1)
        network = FlowNetwork(tail.copy(), head.copy(), edge, supply[used], 1.0)
        freeze(self, free=free, _base=base)
        freeze(self, _network=network)
        at = incident(network.tail, network.head, used.size)
        freeze(
            self,
            _graph=(*at, network.tail, network.head),
            _slots=slots(network.tail, network.head, used.size),
        )

    def _in_short(self) -> str:
        return f"{self._network.nodes} nodes, {self.dim} edges"

    @property
    def dim(self) -> int:
        """The number of edges, those that can never carry flow included."""
        return self.free.size

    @property
    def diameter(self) -> float:
        """A bound: two 0/1 flows differ in a set of edges that meets every node evenly."""
        network = self._network
        degree = np.bincount(network.tail, minlength=network.nodes)
        degree += np.bincount(network.head, minlength=network.nodes)
        return math.sqrt(network.edge.size - np.count_nonzero(degree % 2) // 2)

    @property
    def diameter_is_exact(self) -> bool:
        """Only for a single point is the bound known to be attained."""
        return self._network.edge.size == 0

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the cheapest 0/1 flow: a path and the cycles that lower its cost."""
        c = as_direction(c, self)
        x = self._base.copy()
        x[self._network.edge] = self._cheapest(c)[0]
        return x

    def _cheapest(self, c: Vector) -> tuple[Vector, Vector]:
        network = self._network
        flow, potential = np.empty(network.edge.size), np.empty(network.nodes)
        kernels.flows.cheapest_flow(*self._slots, c[network.edge], network.supply, potential, flow)
        return flow, potential

    def _potentials(self, c: Vector) -> Vector:
        return self._cheapest(c)[1]

    def tangent(self, c: ArrayLike) -> Vector:
        """Zero the edges that cannot change."""
        return np.where(self.free, as_vector(c, "the direction", self), 0.0)

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return at most edges - nodes + 2 flows, one oracle call each.

        Each flow is empty where the remainder is, and full where the remainder is full; it takes
        as much weight as leaves the rest between its bounds, which makes one more edge tight.
        """
        network = self._network
        left, total = np.clip(self._inside(x), 0.0, 1.0), 1.0
        weights: list[float] = []
        vertices: list[Vector] = []
        far = 1.0 + network.edge.size
        while total > 0.0:
            empty, full = left <= TIGHT, left >= total - TIGHT
            cost = total - 2.0 * left
            v = self.lmo(np.where(empty, far, np.where(full, -far, cost / total)))
            weight = np.where(v == 1.0, left, total - left)[self.free].min(initial=total)
            if weight <= TIGHT:
                break
            weights.append(weight)
            vertices.append(v)
            left = left - weight * v
            total -= weight
        return np.array(weights) / math.fsum(weights), np.array(vertices)

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Round x at random along cycles of fractional edges, each push with mean zero."""
        x, edge = np.clip(self._inside(x), 0.0, 1.0), self._network.edge
        flow = x[edge]
        kernels.flows.round_flow(*self._graph, rng.random(edge.size), flow)
        x[edge] = flow
        return x

    def workspace(self) -> OracleFlowWorkspace:
        """Return the potentials of the projection."""
        return OracleFlowWorkspace(self, self._potentials)
