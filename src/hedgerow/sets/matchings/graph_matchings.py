"""Matchings and perfect matchings of a graph."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_direction, as_point, read_only
from hedgerow.sets.decision_set import FullDimensional
from hedgerow.sets.directions import whole_costs
from hedgerow.sets.edge_sets import EdgeSet, MatchingPolytope
from hedgerow.sets.matchings.bipartite import Bipartite
from hedgerow.sets.matroids.matroid_bases import diameter_bound
from hedgerow.sets.paths.graph import Edges, Index
from hedgerow.sets.solvers import loaded


@dataclass(frozen=True, eq=False)
class Matchings(FullDimensional, EdgeSet, MatchingPolytope):
    """The matching polytope of a graph: mixtures of sets of edges that share no node.

    x_e is the share of time in which edge e is matched. Vertices are exactly the matchings, the
    empty one among them, as 0/1 vectors. The set is full-dimensional.

    Bipartite graphs, recognised as such, have the description {x >= 0, the shares at each node
    sum to at most 1}. Oracle: an assignment problem by SciPy, O(nodes^3). Diameter: exact, by one
    maximum flow. Projection: a semismooth Newton method on the prices of the nodes. Sampling:
    dependent rounding.

    Graphs with odd cycles need networkx (`pip install ".[graphs]"`). Oracle: Edmonds'
    blossom method, O(nodes^3), exact because the costs become whole numbers. Diameter:
    a bound. There is no description of polynomial size; the rest goes through the oracle.

    Args:
        edges: pairs of any hashable nodes, or an integer array of shape (m, 2); each pair once.

    Reference: Edmonds, Maximum matching and a polyhedron with 0,1-vertices (1965).

    >>> X = Matchings([("ann", "a"), ("ann", "b"), ("bob", "b")])
    >>> X.bipartite, X.lmo([-2.0, -3.0, -2.0])
    (True, array([1., 0., 1.]))
    >>> X.project([0.9, 0.5, 0.0])
    array([0.7, 0.3, 0. ])

    """

    zero_one = True

    def __post_init__(self) -> None:
        self._number_nodes()
        refuse_parallel(self.edges, self._one, self._two, self.nodes)
        self._check_solver("matchings")

    @cached_property
    def _graph(self) -> Bipartite | None:
        return two_sides(self._one, self._two, self.nodes)

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        """Bound the edges of two disjoint matchings by those of a subgraph with degrees <= 2.

        In a bipartite graph such a subgraph splits into two matchings: the bound is exact. Its
        largest size, in halves, is a maximum flow from copies of the nodes to copies of them.
        """
        from scipy import sparse
        from scipy.sparse.csgraph import maximum_flow

        n, source, sink = self.nodes, 2 * self.nodes, 2 * self.nodes + 1
        nodes = np.arange(n)
        tails = np.concatenate([self._one, self._two, np.full(n, source), n + nodes])
        heads = np.concatenate([n + self._two, n + self._one, nodes, np.full(n, sink)])
        most = np.concatenate([np.ones(2 * self.dim, np.int32), np.full(2 * n, 2, np.int32)])
        network = sparse.csr_array((most, (tails, heads)), shape=(sink + 1, sink + 1))
        two_matching = maximum_flow(network, source, sink).flow_value // 2
        matching = int(self.lmo(-np.ones(self.dim)).sum())
        return math.sqrt(min(two_matching, 2 * matching)), self.bipartite

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the matching of least total cost; edges of cost zero or more stay out."""
        c = as_direction(c, self)
        return self._blossom(c) if self._graph is None else self._graph.cheapest(c)

    def _blossom(self, c: Vector) -> Vector:
        chosen = np.flatnonzero(c < 0.0)
        ends = self._one[chosen].tolist(), self._two[chosen].tolist()
        v = np.zeros(self.dim)
        pairs = list(zip(*ends, strict=True))
        v[chosen[heaviest_matching(pairs, whole_costs(-c[chosen]))]] = 1.0
        return v

    def start(self) -> Vector:
        """Return the centre of the inner ball: every edge has the same share."""
        return self.ball()[0]

    def project(self, y: ArrayLike) -> Vector:
        """Return the nearest point, by prices or, with odd cycles, by the oracle."""
        if self._graph is None:
            return super().project(y)
        return self._graph.project(as_point(y, "y", self), super().project)

    def ball(self) -> tuple[Vector, float]:
        """Return shares r = 1 / (d + a) and the radius r, with d the largest degree.

        A sum of k shares stays below b within r of the centre if r (k + sqrt(k)) <= b. At a node
        k <= d and b = 1: a = sqrt(d) is enough. In an odd set of 2b + 1 nodes k <= (2b + 1) q / 2
        with q = min(d, 2b), and (k + sqrt(k)) / b <= d + 1 + sqrt(3): a = max(sqrt(d), 1 + sqrt(3))
        is enough where there are odd cycles.
        """
        d = float(np.bincount(np.concatenate([self._one, self._two])).max())
        extra = math.sqrt(d) if self.bipartite else max(math.sqrt(d), 1.0 + math.sqrt(3.0))
        radius = 1.0 / (d + extra)
        return np.full(self.dim, radius), (1.0 - 1e-12) * radius


def refuse_parallel(edges: Edges, one: Index, two: Index, nodes: int) -> None:
    """Refuse an edge that is given twice."""
    low, high = np.minimum(one, two).astype(np.int64), np.maximum(one, two)
    _, first, copies = np.unique(low * nodes + high, return_index=True, return_counts=True)
    if first.size < one.size:
        twice = edges[int(first[np.argmax(copies > 1)])]
        raise ValueError(f"each edge may be given once only, got {twice} twice; leave one out")


def two_sides(one: Index, two: Index, nodes: int) -> Bipartite | None:
    """Return the graph with its nodes renumbered side by side, or None if it has an odd cycle."""
    second = second_side(one, two, nodes)
    if second is None:
        return None
    left = int(nodes - second.sum())
    place = np.empty(nodes, np.intp)
    place[np.argsort(second, kind="stable")] = np.arange(nodes)
    ends = np.sort(np.stack([place[one], place[two]]), axis=0)
    return Bipartite(read_only(ends[0]), read_only(ends[1]), left, nodes - left, perfect=False)


def second_side(one: Index, two: Index, nodes: int) -> NDArray[np.bool_] | None:
    """Mark the nodes of one of two sides between which all edges are, None if there are none such.

    In the graph of two copies of each node, with each edge from copy to other copy, the copies of
    a node are connected by walks of odd length only.
    """
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    here, there = one.astype(np.intp), two.astype(np.intp)
    tails, heads = np.concatenate([here, nodes + here]), np.concatenate([nodes + there, there])
    copies = sparse.csr_array((np.ones(tails.size), (tails, heads)), shape=(2 * nodes, 2 * nodes))
    piece = connected_components(copies, directed=False)[1]
    first, second = piece[:nodes], piece[nodes:]
    return None if (first == second).any() else first > second


@dataclass(frozen=True, eq=False)
class PerfectMatchings(EdgeSet, MatchingPolytope):
    """The perfect matching polytope of a graph: mixtures of matchings that cover every node.

    x_e is the share of time in which edge e is matched. Vertices are exactly the perfect matchings,
    as 0/1 vectors; a graph without any is refused.

    Bipartite graphs, recognised as such, have the description {x >= 0, the shares at each node
    sum to 1}. Oracle: the assignment problem by SciPy, O(nodes^3). Decomposition: Birkhoff's
    method; sampling: dependent rounding.

    Graphs with odd cycles need networkx (`pip install ".[graphs]"`). Oracle: Edmonds'
    blossom method, O(nodes^3), exact because the costs become whole numbers. There is no
    description of polynomial size; the rest goes through the oracle, as the projection always does.

    Diameter: the bound sqrt(nodes), or less where a search shows it; exact if two matchings
    attain it.

    Args:
        edges: pairs of any hashable nodes, or an integer array of shape (m, 2); each pair once.

    Reference: Edmonds, Maximum matching and a polyhedron with 0,1-vertices (1965).

    >>> X = PerfectMatchings([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("a", "d")])
    >>> X.lmo([5.0, 1.0, 0.0, 1.0, 6.0]), X.bipartite
    (array([1., 0., 0., 1., 0.]), False)

    """

    def __post_init__(self) -> None:
        self._number_nodes()
        refuse_parallel(self.edges, self._one, self._two, self.nodes)
        self._check_solver("perfect matchings")
        covered = 2 * self._most_edges()
        if covered < self.nodes:
            raise ValueError(
                f"no matching meets all {self.nodes} nodes, at most {covered}; add edges, or use "
                "Matchings"
            )

    @cached_property
    def _graph(self) -> Bipartite | None:
        graph = two_sides(self._one, self._two, self.nodes)
        return None if graph is None else replace(graph, perfect=True)

    def _most_edges(self) -> int:
        """Return the number of edges of a largest matching."""
        if self._graph is None:
            return int(self._blossom(np.zeros(self.dim)).sum())
        return int(self._graph.cheapest(-np.ones(self.dim)).sum())

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        return diameter_bound(self.lmo, self.lmo(np.zeros(self.dim)), float(self.nodes))

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the perfect matching of least total cost."""
        c = as_direction(c, self)
        return self._blossom(c) if self._graph is None else self._assignment(self._graph, c)

    def _assignment(self, graph: Bipartite, c: Vector) -> Vector:
        from scipy.optimize import linear_sum_assignment

        cost = np.full((graph.left, graph.right), np.inf)
        edge = np.zeros(cost.shape, np.intp)
        place = graph.one, graph.two - graph.left
        cost[place], edge[place] = c, np.arange(self.dim)
        v = np.zeros(self.dim)
        v[edge[linear_sum_assignment(cost)]] = 1.0
        return v

    def _blossom(self, c: Vector) -> Vector:
        pairs = list(zip(self._one.tolist(), self._two.tolist(), strict=True))
        v = np.zeros(self.dim)
        v[heaviest_matching(pairs, whole_costs(-c), largest=True)] = 1.0
        return v


BITS = 120
"""The most bits of weights times nodes that rustworkx is given: it counts in 128."""


def heaviest_matching(
    pairs: list[tuple[int, int]], weights: list[int], *, largest: bool = False
) -> list[int]:
    """Return the places, in `pairs`, of the edges of a heaviest matching.

    It is exact, because whole numbers are not rounded: by rustworkx where it is installed and the
    weights fit, else by networkx, some fifty times slower. Where several matchings are heaviest,
    the two may choose differently; each of them chooses the same every time.

    Args:
        pairs: the edges, nodes being whole numbers from 0; each pair once.
        weights: of the edges.
        largest: whether only matchings with the most edges count.

    Reference: Galil, Efficient algorithms for finding maximum matching in graphs (1986).

    >>> heaviest_matching([(0, 1), (1, 2), (2, 0), (2, 3)], [6, 10, 9, 5])
    [0, 3]

    """
    if not pairs:
        return []
    nodes = 1 + max(max(pair) for pair in pairs)
    needed = max(map(abs, weights)).bit_length() + nodes.bit_length()
    rustworkx = loaded("rustworkx") if needed <= BITS else None
    matched = (
        _networkx(pairs, weights, largest)
        if rustworkx is None
        else _rustworkx(rustworkx, nodes, pairs, weights, largest)
    )
    number = {pair: e for e, (u, w) in enumerate(pairs) for pair in ((u, w), (w, u))}
    return sorted(number[pair] for pair in matched)


def _networkx(pairs: list[tuple[int, int]], weights: list[int], largest: bool) -> Any:
    import networkx as nx

    graph = nx.Graph()
    weighted = zip(pairs, weights, strict=True)
    graph.add_weighted_edges_from((*pair, weight) for pair, weight in weighted)
    return nx.max_weight_matching(graph, maxcardinality=largest)


def _rustworkx(
    rustworkx: Any, nodes: int, pairs: list[tuple[int, int]], weights: list[int], largest: bool
) -> Any:
    graph = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from([(*pair, weight) for pair, weight in zip(pairs, weights, strict=True)])
    return rustworkx.max_weight_matching(graph, max_cardinality=largest, weight_fn=int)
