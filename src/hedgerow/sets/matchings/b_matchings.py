"""Sets of edges with at most so many at each node."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.inputs import Vector, as_count, as_direction, as_vector, read_only
from hedgerow.sets.compositions.oracle_only import OracleOnly
from hedgerow.sets.decision_set import Capability, HasLinearDescription, Rows
from hedgerow.sets.directions import whole_costs
from hedgerow.sets.matchings.graph_matchings import heaviest_matching, second_side
from hedgerow.sets.paths.graph import Edges, Index, frozen, number_nodes, number_undirected, slots

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BMatchings(OracleOnly):
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

    edges: Edges
    capacities: int | Mapping[Hashable, int]
    _one: Index = field(init=False, repr=False)
    _two: Index = field(init=False, repr=False)
    _room: Whole = field(init=False, repr=False)
    _second: NDArray[np.bool_] | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        one, two, nodes = number_undirected(self.edges)
        number = number_nodes(self.edges)[2]
        given = self.capacities
        if isinstance(given, Mapping):
            missing = [node for node in number if node not in given]
            if missing:
                raise ValueError(f"every node needs a capacity, {missing[0]!r} has none; add it")
            object.__setattr__(self, "capacities", dict(given))
            room = [as_count(given[node], "a capacity", least=0) for node in number]
        else:
            room = [as_count(given, "the capacity", least=0)] * nodes
        second = second_side(one.astype(np.intp), two.astype(np.intp), nodes)
        if second is None and importlib.util.find_spec("networkx") is None:
            raise ImportError(
                "b-matchings of a graph with odd cycles need networkx; "
                'pip install ".[graphs]" brings it'
            )
        object.__setattr__(self, "edges", frozen(self.edges))
        object.__setattr__(self, "_one", read_only(one))
        object.__setattr__(self, "_two", read_only(two))
        degree = np.bincount(np.concatenate([one, two]), minlength=nodes)
        object.__setattr__(self, "_room", read_only(np.minimum(room, degree).astype(np.int64)))
        object.__setattr__(self, "_second", None if second is None else read_only(second))

    def _in_short(self) -> str:
        return f"{self._room.size} nodes, {self.dim} edges"

    @property
    def dim(self) -> int:
        """The number of edges."""
        return self._one.size

    @property
    def bipartite(self) -> bool:
        """Whether the nodes have two sides, with every edge between them."""
        return self._second is not None

    def supports(self, capability: Capability) -> bool:
        """Whether this set has the capability; only bipartite graphs are described by rows."""
        return super().supports(capability) and (
            capability is not HasLinearDescription or self.bipartite
        )

    @cached_property
    def _free(self) -> NDArray[np.bool_]:
        """Which edges can be taken at all."""
        return (self._room[self._one] > 0) & (self._room[self._two] > 0)

    @cached_property
    def _diameter(self) -> float:
        """Two sets differ in edges of which at most 2 b_v meet a node.

        In a bipartite graph such edges can be coloured with two colours, b_v of each at a node.
        """
        return math.sqrt(float(self._cheapest(-np.ones(self.dim), 2 * self._room).sum()))

    @property
    def diameter(self) -> float:
        """The square root of the most edges that two disjoint sets have, or a bound of it."""
        return self._diameter

    @property
    def diameter_is_exact(self) -> bool:
        """Whether the graph is bipartite."""
        return self.bipartite

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the set of least total cost."""
        return self._cheapest(as_direction(c, self.dim), self._room)

    def _cheapest(self, c: Vector, room: Whole) -> Vector:
        return self._by_blossoms(c, room) if self._second is None else self._by_flow(c, room)

    def _by_flow(self, c: Vector, room: Whole) -> Vector:
        """Find the cheapest circulation from a hub over one side and the other to the hub."""
        network = self._network if room is self._room else self._circulation(room)
        arcs, hub = network[1].size // 2, self._room.size
        cost, flow = np.append(c, np.zeros(arcs - self.dim)), np.empty(arcs)
        supply, potential = np.zeros(hub + 1), np.empty(hub + 1)
        kernels.flows.cheapest_flow(*network, cost, supply, potential, flow)
        return flow[: self.dim].copy()

    @cached_property
    def _network(self) -> tuple[Index, Index, Index, Index]:
        return self._circulation(self._room)

    def _circulation(self, room: Whole) -> tuple[Index, Index, Index, Index]:
        """Return the network: the edges, and as many arcs from or to the hub as a node has room."""
        second, hub = self._second, room.size
        assert second is not None
        ends = np.stack([self._one, self._two]).astype(np.intp)
        ends = np.where(second[ends[0]], ends[::-1], ends)
        units = np.minimum(room, np.bincount(ends.ravel(), minlength=hub))
        out = np.repeat(np.flatnonzero(~second), units[~second])
        back = np.repeat(np.flatnonzero(second), units[second])
        tail = np.concatenate([ends[0], np.full(out.size, hub), back]).astype(np.uint32)
        head = np.concatenate([ends[1], out, np.full(back.size, hub)]).astype(np.uint32)
        return slots(tail, head, hub + 1)

    def _by_blossoms(self, c: Vector, room: Whole) -> Vector:
        """Match in Tutte's graph: an edge is taken if both of its own nodes are matched outside.

        All edges that belong to an edge have its weight w, so that it brings w if it is not taken
        and 2 w if it is.
        """
        chosen = np.flatnonzero(c < 0.0)
        first = np.cumsum(room) - room  # copies of nodes come first, then two nodes for each edge
        pairs: list[tuple[int, int]] = []
        weights: list[int] = []
        owners: list[tuple[int, int]] = []  # the edge and its end, (e, -1) for the edge between
        for k, weight in enumerate(whole_costs(-c[chosen])):
            e, own = int(chosen[k]), int(room.sum()) + 2 * k
            pairs.append((own, own + 1))
            owners.append((e, -1))
            for side, v in enumerate((self._one[e], self._two[e])):
                pairs += [(int(first[v]) + copy, own + side) for copy in range(int(room[v]))]
                owners += [(e, side)] * int(room[v])
            weights += [weight] * (len(pairs) - len(weights))
        taken = np.zeros((self.dim, 2), np.bool_)
        for place in heaviest_matching(pairs, weights):
            e, side = owners[place]
            if side >= 0:
                taken[e, side] = True
        return (taken[:, 0] & taken[:, 1]).astype(np.float64)

    def _off(self, x: Vector) -> tuple[Vector, Vector]:
        """Return by how much edges are outside of [0, 1], and nodes above their capacity."""
        n = self._room.size
        excess = -self._room.astype(np.float64)
        excess += np.bincount(self._one, x, n) + np.bincount(self._two, x, n)
        return np.maximum(-x, x - 1.0), excess

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether 0 <= x <= 1 and no node has too much; with odd cycles, by distance."""
        if not self.bipartite:
            return super().contains(x, tol)
        return all(bool(off.max() <= tol) for off in self._off(as_vector(x, "x", self.dim)))

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return the normal of the most violated inequality or, with odd cycles, of the nearest."""
        if not self.bipartite:
            return super().separate(y)
        y = as_vector(y, "y", self.dim)
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

    def tangent(self, c: ArrayLike) -> Vector:
        """Zero the edges that can never be taken."""
        return np.where(self._free, as_vector(c, "the direction", self.dim), 0.0)

    def hull(self) -> tuple[Vector, Vector]:
        """Return zero and the axes of the edges that can be taken."""
        return np.zeros(self.dim), np.eye(self.dim)[:, self._free].copy()

    def ball(self) -> tuple[Vector, float]:
        """Return shares r and the radius r: r (m + sqrt(m)) = 1 is enough with m edges.

        Every edge alone is in the set, and so is all that sums to at most 1.
        """
        m = int(self._free.sum())
        radius = 1.0 / (m + math.sqrt(m)) if m else 0.0
        return np.where(self._free, radius, 0.0), (1.0 - 1e-12) * radius

    def start(self) -> Vector:
        """Return the centre of the inner ball."""
        return self.ball()[0]

    def rows(self) -> Rows:
        """Return the sums at the nodes of a bipartite graph."""
        if self._second is None:
            self._refuse(HasLinearDescription)
        from scipy import sparse

        ends, edge = np.concatenate([self._one, self._two]), np.tile(np.arange(self.dim), 2)
        entries = (np.ones(ends.size), (ends.astype(np.intp), edge))
        sums = sparse.csr_array(entries, shape=(self._room.size, self.dim))
        upper = self._free.astype(np.float64)
        return Rows(np.zeros(self.dim), upper, A_ub=sums, b_ub=self._room.astype(np.float64))
