"""Shortest paths in any directed graph, for costs that are never negative."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.inputs import Vector, as_direction
from hedgerow.sets.edges import frozen
from hedgerow.sets.graph import Edges, Index, ends, no_path, slots


@dataclass(frozen=True, eq=False)
class DijkstraPaths:
    """An oracle for simple paths from source to target in any digraph, by Dijkstra's method.

    It is not a `DecisionSet`: learners ask for directions of any sign, and the cheapest simple
    path for these is NP-hard, as is `contains`. Directions with a negative entry are refused. For
    learners take `DagPaths` (acyclic graphs), `HopLimitedWalks` or `UnitFlow` (any digraph).

    Oracle: O(edges log edges). Diameter: the bound sqrt(2 x (nodes - 1)).

    Args:
        edges: pairs (tail, head) of any hashable nodes, or an integer array of shape (m, 2).
        source: the node where paths begin.
        target: the node where paths end.

    Reference: Dijkstra, A note on two problems in connexion with graphs (1959).

    >>> paths = DijkstraPaths([("s", "a"), ("a", "s"), ("a", "t"), ("s", "t")], "s", "t")
    >>> paths.lmo([1.0, 0.0, 1.0, 3.0])
    array([1., 0., 1., 0.])

    """

    edges: Edges
    source: Hashable
    target: Hashable
    _slots: tuple[Index, Index, Index, Index] = field(init=False, repr=False)
    _supply: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", frozen(self.edges))
        tail, head, source, target = ends(self.edges, self.source, self.target)
        nodes = int(max(tail.max(), head.max())) + 1
        supply = np.zeros(nodes)
        supply[source], supply[target] = -1.0, 1.0
        object.__setattr__(self, "_slots", slots(tail, head, nodes))
        object.__setattr__(self, "_supply", supply)
        self.lmo(np.zeros(self.dim))

    @property
    def dim(self) -> int:
        """The number of edges."""
        return self._slots[1].size // 2

    @property
    def diameter(self) -> float:
        """A bound: two simple paths have at most nodes - 1 edges each."""
        return math.sqrt(2.0 * (self._supply.size - 1))

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the shortest path for lengths c >= 0."""
        c = as_direction(c, self.dim)
        if c.min() < 0.0:
            raise ValueError(
                "Dijkstra's method needs lengths of at least 0, got "
                f"{c.min():g} on edge {int(np.argmin(c))}; for costs of any sign use DagPaths "
                "if the graph is acyclic, else HopLimitedWalks or UnitFlow"
            )
        path, potential = np.empty(self.dim), np.empty(self._supply.size)
        if kernels.flows.cheapest_flow(*self._slots, c, self._supply, potential, path):
            raise no_path(self.source, self.target)
        return path
