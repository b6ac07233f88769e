"""Sets of edges with a limit on their number at each node."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector, as_count, as_direction, as_vector, freeze
from hedgerow.sets.compositions.oracle_only import ContainsUnitVectors
from hedgerow.sets.decision_set import HasLinearDescription, Rows
from hedgerow.sets.directions import whole_costs
from hedgerow.sets.edge_sets import DescribedIfBipartite, EdgeSet
from hedgerow.sets.matchings.graph_matchings import heaviest_matching, second_side
from hedgerow.sets.paths.graph import Index, slots

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BMatchings(EdgeSet, DescribedIfBipartite, ContainsUnitVectors):
    """The b-matching polytope of a graph: mixtures of edge sets with at most b_v edges at node v.

    x_e is the share of time in which edge e is taken, once at most. Vertices are exactly these
    sets, the empty one among them, as 0/1 vectors. Parallel edges are allowed, loops are not.

    Bipartite graphs, recognised as such, have the description {0 <= x <= 1, the shares at node v
    sum to at most b_v}. Oracle: a cheapest circulation through a hub, one search for each edge of
    negative cost. Diameter: exact, the most edges with twice the capacities.

    Graphs with odd cycles need networkx (`pip install ".[graphs]"`). Oracle: Tutte's graph,
    with b_v copies of node v and two nodes for each edge, by the blossom method; exact because
    the costs become whole numbers. Diameter: a bound, as above.

    Projection and decomposition: by the oracle alone.

    Args:
        edges: pairs of any hashable nodes, or an integer array of shape (m, 2).
        capacities: the most edges at each node: one whole number, or one for each node by name.

    Reference: Tutte, A short proof of the factor theorem for finite graphs (1954); Schrijver,
    Combinatorial Optimization (2003), chapters 21 and 33.

    >>> edges = [("ann", "a"), ("ann", "b"), ("bob", "b")]
    >>> X = BMatchings(edges, {"ann": 2, "bob": 1, "a": 1, "b": 1})
    >>> X.lmo([-1.0, -3.0, -2.0]), X.bipartite
    (array([1., 1., 0.]), True)

    """

    capacities: int | Mapping[Hashable, int]
    _most: Whole = field(init=False, repr=False)

    def __post_init__(self) -> None:
        number, given = self._number_nodes(), self.capacities
        if isinstance(given, Mapping):
            missing = [node for node in number if node not in given]
            if missing:
                raise ValueError(f"every node needs a capacity, {missing[0]!r} has none; add it")
            freeze(self, capacities=dict(given))
            most = [as_count(given[node], "a capacity", least=0) for node in number]
        else:
            most = [as_count(given, "the capacity", least=0)] * self.nodes
        self._check_solver("b-matchings")
        degree = np.bincount(np.concatenate([self._one, self._two]), minlength=self.nodes)
        freeze(self, _most=np.minimum(most, degree).astype(np.int64))

    @cached_property
    def _second(self) -> NDArray[np.bool_] | None:
        """The nodes of the second side; None if the graph has odd cycles."""
        return second_side(self._one, self._two, self.nodes)

    @property
    def bipartite(self) -> bool:
        """Whether the nodes have two sides, with every edge between them."""
        return self._second is not None

    @cached_property
    def _free(self) -> NDArray[np.bool_]:
        """Which edges can be taken at all."""
        return (self._most[self._one] > 0) & (self._most[self._two] > 0)

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        """Two sets differ in edges of which at most 2 b_v meet a node.

        In a bipartite graph such edges can be coloured with two colours, b_v of each at a node.
        """
        edges = float(self._cheapest(-np.ones(self.dim), 2 * self._most).sum())
        return math.sqrt(edges), self.bipartite

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the set of least total cost."""
        return self._cheapest(as_direction(c, self), self._most)

    def _cheapest(self, c: Vector, most: Whole) -> Vector:
        return self._by_blossoms(c, most) if self._second is None else self._by_flow(c, most)

    def _by_flow(self, c: Vector, most: Whole) -> Vector:
        """Find the cheapest circulation from a hub over one side and the other to the hub."""
        network = self._network if most is self._most else self._circulation(most)
        arcs, hub = network[1].size // 2, self._most.size
        cost, flow = np.append(c, np.zeros(arcs - self.dim)), np.empty(arcs)
        supply, potential = np.zeros(hub + 1), np.empty(hub + 1)
        kernels.flows.cheapest_flow(*network, cost, supply, potential, flow)
        return flow[: self.dim].copy()

    @cached_property
    def _network(self) -> tuple[Index, Index, Index, Index]:
        return self._circulation(self._most)

    def _circulation(self, most: Whole) -> tuple[Index, Index, Index, Index]:
        """Return the network: the edges, and an arc at the hub for each unit of capacity."""
        second, hub = self._second, most.size
        assert second is not None
        ends = np.stack([self._one, self._two]).astype(np.intp)
        ends = np.where(second[ends[0]], ends[::-1], ends)
        units = np.minimum(most, np.bincount(ends.ravel(), minlength=hub))
        out = np.repeat(np.flatnonzero(~second), units[~second])
        back = np.repeat(np.flatnonzero(second), units[second])
        tail = np.concatenate([ends[0], np.full(out.size, hub), back]).astype(np.uint32)
        head = np.concatenate([ends[1], out, np.full(back.size, hub)]).astype(np.uint32)
        return slots(tail, head, hub + 1)

    def _by_blossoms(self, c: Vector, most: Whole) -> Vector:
        """Match in Tutte's graph: an edge is taken if both of its own nodes are matched outside.

        All edges that belong to an edge have its weight w, so that it brings w if it is not taken
        and 2 w if it is.
        """
        chosen = np.flatnonzero(c < 0.0)
        first = np.cumsum(most) - most  # copies of nodes come first, then two nodes for each edge
        pairs: list[tuple[int, int]] = []
        weights: list[int] = []
        owners: list[tuple[int, int]] = []  # the edge and its end, (e, -1) for the edge between
        for k, weight in enumerate(whole_costs(-c[chosen])):
            e, own = int(chosen[k]), int(most.sum()) + 2 * k
            pairs.append((own, own + 1))
            owners.append((e, -1))
            for side, v in enumerate((self._one[e], self._two[e])):
                pairs += [(int(first[v]) + copy, own + side) for copy in range(int(most[v]))]
                owners += [(e, side)] * int(most[v])
            weights += [weight] * (len(pairs) - len(weights))
        taken = np.zeros((self.dim, 2), np.bool_)
        for place in heaviest_matching(pairs, weights):
            e, side = owners[place]
            if side >= 0:
                taken[e, side] = True
        return (taken[:, 0] & taken[:, 1]).astype(np.float64)

    def _off(self, x: Vector) -> tuple[Vector, Vector]:
        """Return by how much edges are outside of [0, 1], and nodes above their capacity."""
        n = self._most.size
        excess = -self._most.astype(np.float64)
        excess += np.bincount(self._one, x, n) + np.bincount(self._two, x, n)
        return np.maximum(-x, x - 1.0), excess

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether 0 <= x <= 1 and no node has too much; with odd cycles, by distance."""
        if not self.bipartite:
            return super().contains(x, tol)
        return all(bool(off.max() <= tol) for off in self._off(as_vector(x, "x", self)))

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return the normal of the most violated inequality or, with odd cycles, of the nearest."""
        if not self.bipartite:
            return super().separate(y)
        y = as_vector(y, "y", self)
        away, excess = self._off(y)
        e, v = int(np.argmax(away)), int(np.argmax(excess))
        if max(away[e], excess[v]) <= 1e-9:
            return None
        a = np.zeros(self.dim)
        if away[e] >= excess[v]:
            a[e] = 1.0 if y[e] > 0.5 else -1.0
        else:
            a[(self._one == v) | (self._two == v)] = 1.0
        return a

    def rows(self) -> Rows:
        """Return the sums at the nodes of a bipartite graph."""
        if self._second is None:
            self._refuse(HasLinearDescription)
        from scipy import sparse

        ends, edge = np.concatenate([self._one, self._two]), np.tile(np.arange(self.dim), 2)
        entries = (np.ones(ends.size), (ends.astype(np.intp), edge))
        sums = sparse.csr_array(entries, shape=(self._most.size, self.dim))
        upper = self._free.astype(np.float64)
        return Rows(np.zeros(self.dim), upper, A_ub=sums, b_ub=self._most.astype(np.float64))
