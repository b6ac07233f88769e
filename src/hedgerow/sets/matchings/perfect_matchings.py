"""Perfect matchings of a graph."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_direction, as_vector, read_only
from hedgerow.sets.compositions.oracle_only import OracleOnly
from hedgerow.sets.decision_set import Capability, HasLinearDescription, Rows
from hedgerow.sets.matchings.bipartite import Bipartite
from hedgerow.sets.matchings.blossoms import heaviest_matching
from hedgerow.sets.matchings.general_matchings import simple_graph
from hedgerow.sets.matroids.matroid_bases import diameter_bound
from hedgerow.sets.paths.edges import Edges, Index, frozen
from hedgerow.sets.whole_costs import whole_costs


@dataclass(frozen=True, eq=False)
class PerfectMatchings(OracleOnly):
    """The perfect matching polytope of a graph: mixtures of matchings that cover every node.

    x_e is the share of time in which edge e is matched. Vertices are exactly the perfect matchings,
    as 0/1 vectors; a graph without any is refused.

    Bipartite graphs, recognised as such, have the description {x >= 0, the shares at each node
    sum to 1}. Oracle: the assignment problem by SciPy, O(nodes^3). Decomposition: Birkhoff's
    method; sampling: dependent rounding.

    Graphs with odd cycles need networkx (`pip install ".[graphs]"`). Oracle: Edmonds'
    blossom method, O(nodes^3), exact because the costs become whole numbers. There is no
    description of polynomial size; the rest goes through the oracle, as the projection always does.

    Diameter: the bound sqrt(nodes), or less where a look shows it; exact if two matchings attain
    it.

    Args:
        edges: pairs of any hashable nodes, or an integer array of shape (m, 2); each pair once.

    Reference: Edmonds, Maximum matching and a polyhedron with 0,1-vertices (1965).

    >>> X = PerfectMatchings([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("a", "d")])
    >>> X.lmo([5.0, 1.0, 0.0, 1.0, 6.0]), X.bipartite
    (array([1., 0., 0., 1., 0.]), False)

    """

    edges: Edges
    _one: Index = field(init=False, repr=False)
    _two: Index = field(init=False, repr=False)
    _nodes: int = field(init=False, repr=False)
    _graph: Bipartite | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        one, two, nodes, graph = simple_graph(self.edges, "perfect matchings")
        object.__setattr__(self, "edges", frozen(self.edges))
        object.__setattr__(self, "_one", read_only(one))
        object.__setattr__(self, "_two", read_only(two))
        object.__setattr__(self, "_nodes", nodes)
        perfect = None if graph is None else replace(graph, perfect=True)
        object.__setattr__(self, "_graph", perfect)
        covered = 2 * int(self._most_edges())
        if covered < nodes:
            raise ValueError(
                f"no matching meets all {nodes} nodes, at most {covered}; add edges, or use "
                "Matchings"
            )

    def _most_edges(self) -> int:
        """Return the number of edges of a largest matching."""
        if self._graph is None:
            return int(self._blossom(np.zeros(self.dim)).sum())
        return int(self._graph.cheapest(-np.ones(self.dim)).sum())

    def _in_short(self) -> str:
        return f"{self._nodes} nodes, {self.dim} edges"

    @property
    def dim(self) -> int:
        """The number of edges."""
        return self._one.size

    @property
    def bipartite(self) -> bool:
        """Whether the nodes have two sides, with every edge between them."""
        return self._graph is not None

    def supports(self, capability: Capability) -> bool:
        """Whether this set has the capability; only bipartite graphs are described by rows."""
        return super().supports(capability) and (
            capability is not HasLinearDescription or self.bipartite
        )

    @cached_property
    def _diameter(self) -> tuple[float, bool]:
        return diameter_bound(self.lmo, self.lmo(np.zeros(self.dim)), float(self._nodes))

    @property
    def diameter(self) -> float:
        """The distance of two matchings with as little as possible in common, or a bound."""
        return self._diameter[0]

    @property
    def diameter_is_exact(self) -> bool:
        """Whether two matchings that attain the bound were found."""
        return self._diameter[1]

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the perfect matching of least total cost."""
        c = as_direction(c, self.dim)
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

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x >= 0 and sums to 1 at each node; with odd cycles, by distance."""
        if self._graph is None:
            return super().contains(x, tol)
        return self._graph.contains(as_vector(x, "x", self.dim), tol)

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return at most m + 1 matchings and their weights."""
        if self._graph is None:
            return super().decompose(x)
        return self._graph.decompose(self._graph.point(as_vector(x, "x", self.dim)))

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Return a random matching, by dependent rounding or, with odd cycles, a decomposition."""
        if self._graph is None:
            return super().sample(x, rng)
        return self._graph.sample(self._graph.point(as_vector(x, "x", self.dim)), rng)

    def rows(self) -> Rows:
        """Return the sums at the nodes of a bipartite graph."""
        if self._graph is None:
            self._refuse(HasLinearDescription)
        sums = self._graph.incidence()
        return Rows(np.zeros(self.dim), np.ones(self.dim), A_eq=sums, b_eq=np.ones(sums.shape[0]))

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return the normal of the most violated condition or, with odd cycles, of the nearest."""
        if self._graph is None:
            return super().separate(y)
        return self._graph.separate(as_vector(y, "y", self.dim))
