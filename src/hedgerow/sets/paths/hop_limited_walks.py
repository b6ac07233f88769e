"""Walks of bounded length in any directed graph."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector, as_count, as_direction, as_vector, freeze
from hedgerow.sets.compiled import Compiled, KernelWorkspace, free_mask, pack_uint32
from hedgerow.sets.decision_set import Rows
from hedgerow.sets.paths.dag_paths import DagPaths
from hedgerow.sets.paths.graph import (
    Edges,
    Index,
    as_edges,
    ends,
    group,
    hops_from,
    no_path,
    topological_order,
)
from hedgerow.sets.paths.path_drawing import SourceToTarget


@dataclass(frozen=True, eq=False)
class HopLimitedWalks(SourceToTarget):
    """Mixtures of walks from source to target with at most `hops` edges, in any digraph.

    x_e counts how often edge e is used. **Walks need not be simple**: they may come back to a node
    and take an edge again, so vertices are vectors of whole numbers, 2 or more included, and with
    negative costs the oracle goes round a cheap cycle as often as the limit allows. To find the
    cheapest simple path is NP-hard; walks are its exact relaxation, and the limit bounds them.

    Oracle: Bellman's recursion for costs of any sign, exact, O(hops x edges). Diameter: the bound
    sqrt(2 x hops x most uses of one edge).

    Args:
        edges: pairs (tail, head) of any hashable nodes, or an integer array of shape (m, 2).
        source: the node where walks begin.
        target: the node where walks end; they may pass through it before.
        hops: the most edges of a walk.

    >>> X = HopLimitedWalks([("s", "t"), ("t", "s"), ("s", "a"), ("a", "t")], "s", "t", hops=5)
    >>> X.lmo([1.0, 1.0, 2.0, 2.0]), X.lmo([1.0, -3.0, 2.0, 2.0])
    (array([1., 0., 0., 0.]), array([3., 2., 0., 0.]))

    """

    edges: Edges
    source: Hashable
    target: Hashable
    hops: int
    live: NDArray[np.bool_] = field(init=False, repr=False)
    _tail: Index = field(init=False, repr=False)
    _head: Index = field(init=False, repr=False)
    _route: tuple[Index, Index, Index, int, int, int, Vector] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        hops = as_count(self.hops, "hops")
        freeze(self, edges=as_edges(self.edges))
        tail, head, source, target = ends(self.edges, self.source, self.target)
        nodes = int(max(tail.max(), head.max())) + 1
        out = hops_from(source, tail, head, nodes)
        back = hops_from(target, head, tail, nodes)
        if out[target] > hops:
            raise no_path(self.source, self.target, f" of at most {hops} edges")
        live = out[tail] + 1.0 + back[head] <= hops
        edge = np.flatnonzero(live).astype(np.uint32)
        begin, order = group(head[edge], nodes)
        edge = edge[order]
        freeze(self, live=live, _tail=tail, _head=head)
        freeze(self, hops=hops)
        # Among walks of equal cost fewer edges win, then fixed weights in general position: a walk
        # that is a mixture of others never wins.
        tie = 1.0 + np.random.default_rng(0).random(edge.size) / (hops + 1)
        freeze(self, _route=(begin, tail[edge], edge, source, target, hops, tie))

    def _in_short(self) -> str:
        return f"{self.hops} hops, {self.dim} edges"

    @property
    def dim(self) -> int:
        """The number of edges, those that no such walk uses included."""
        return self.live.size

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        """Bound ||x - x'||^2 <= ||x||^2 + ||x'||^2, each at most sum(x) max(x).

        It is exact for a single walk, whose edges are then all that are live.
        """
        if int(self.live.sum()) == int(self.start().sum()):
            return 0.0, True
        tail, head = self._tail[self.live], self._head[self.live]
        nodes = int(max(tail.max(), head.max())) + 1
        if topological_order(group(tail, nodes), head)[1] == nodes:
            uses = 1
        else:
            uses = self.hops if (tail == head).any() else (self.hops + 1) // 2
        return math.sqrt(2.0 * self.hops * uses), False

    @property
    def is_polytope(self) -> bool:
        """Yes, the hull of the walks of limited length."""
        return True

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the cheapest walk; ties go to fewer edges, then to fixed weights of the edges."""
        return KernelWorkspace(self.compiled).lmo(as_direction(c, self.dim))

    @cached_property
    def compiled(self) -> Compiled:
        """The oracle as a kernel: the shortest walk by Bellman's recursion."""
        begin, tail, edge, source, target, hops, tie = self._route
        return Compiled(
            kernels.flows.cheapest_walk,
            kernels.tangents.unfixed,
            pack_uint32(begin.size - 1, source, target, hops, begin, tail, edge),
            tie,
            label=free_mask(self.live),
        )

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Check the signs and the edges of no walk first, then ask the oracle-only method."""
        x = as_vector(x, "x", self.dim)
        slack = tol * max(1.0, float(np.abs(x).max()))
        if x.min() < -slack or np.abs(x[~self.live]).max(initial=0.0) > slack:
            return False
        return super().contains(x, tol)

    def tangent(self, c: ArrayLike) -> Vector:
        """Zero the edges that no walk uses."""
        return np.where(self.live, as_vector(c, "the direction", self.dim), 0.0)

    def rows(self) -> Rows:
        """Return the paths of the layered graph, hop by hop; x sums the copies of each edge."""
        from scipy import sparse

        edge, nodes = np.flatnonzero(self.live), len(self._route[0]) - 1
        hop = np.repeat(np.arange(self.hops), edge.size)
        copies = np.tile(edge, self.hops)
        layered = np.column_stack(
            [hop * nodes + self._tail[copies], (hop + 1) * nodes + self._head[copies]]
        )
        source, target = self._route[3:5]
        end = (self.hops + 1) * nodes
        stops = np.arange(1, self.hops + 1) * nodes + target
        layered = np.vstack([layered, np.column_stack([stops, np.full(self.hops, end)])])
        lift = sparse.coo_array(
            (np.ones(copies.size), (copies, np.arange(copies.size))),
            shape=(self.dim, len(layered)),
        )
        return replace(DagPaths(layered, source, end).rows(), lift=sparse.csr_array(lift))
