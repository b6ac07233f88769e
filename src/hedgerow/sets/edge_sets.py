"""Sets of edges of a graph: what matchings, trees and arborescences share."""

from __future__ import annotations

import importlib.util
import math
from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector, as_vector, freeze
from hedgerow.sets.decision_set import FlatSet, HasLinearDescription, Rows
from hedgerow.sets.matchings.bipartite import Bipartite
from hedgerow.sets.paths.graph import Edges, Index, as_edges, number_nodes, refuse_loops


@dataclass(frozen=True, eq=False)
class EdgeSet(FlatSet):
    """Mixtures of sets of edges: x_e is the share of time in which edge e is in the set."""

    edges: Edges
    nodes: int = field(init=False, repr=False)
    _one: Index = field(init=False, repr=False)
    _two: Index = field(init=False, repr=False)

    def _number_nodes(self, *, loops: bool = False) -> dict[Hashable, int]:
        """Store the edges as given and by the numbers of their ends; return these numbers."""
        one, two, number = number_nodes(self.edges)
        if not loops:
            refuse_loops(self.edges, one, two)
        freeze(self, edges=as_edges(self.edges), nodes=len(number), _one=one, _two=two)
        return number

    def _in_short(self) -> str:
        return f"{self.nodes} nodes, {self.dim} edges"

    @property
    def dim(self) -> int:
        """The number of edges."""
        return self._one.size

    @property
    def is_polytope(self) -> bool:
        """Yes, vertices are sets of edges."""
        return True


class DescribedIfBipartite(FlatSet):
    """Matchings: a few inequalities describe those of bipartite graphs, and of no others."""

    @property
    @abstractmethod
    def bipartite(self) -> bool:
        """Whether the nodes have two sides, with every edge between them."""

    @property
    def _has_rows(self) -> bool:
        return self.bipartite

    def _check_solver(self, what: str) -> None:
        if not self.bipartite and importlib.util.find_spec("networkx") is None:
            raise ImportError(
                f"{what} of a graph with odd cycles need networkx; "
                'pip install ".[graphs]" brings it'
            )


class MatchingPolytope(DescribedIfBipartite):
    """Matchings: exact answers if the graph is bipartite, else those of the oracle alone."""

    @property
    @abstractmethod
    def _graph(self) -> Bipartite | None:
        """The bipartite graph, None if there are odd cycles."""

    @property
    def bipartite(self) -> bool:
        """Whether the nodes have two sides, with every edge between them."""
        return self._graph is not None

    @property
    def pyramidal_width(self) -> float:
        """A bound for bipartite graphs, by slacks that are whole at every matching.

        Perfect matchings of k edges: at most dim - k of the slacks x_e vanish on a face, which
        gives 1 / sqrt(dim - k). Matchings: the slacks of an edge and of its two ends make entries
        of the gradient between -2 and 1, which gives 1 / (2 sqrt(dim)).
        """
        if self._graph is None or self.diameter == 0.0:
            return 0.0
        if self._graph.perfect:
            return 1.0 / math.sqrt(self.dim - self._graph.left)
        return 0.5 / math.sqrt(self.dim)

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x >= 0 and the sums at the nodes are right; with odd cycles, by distance."""
        if self._graph is None:
            return super().contains(x, tol)
        return self._graph.contains(as_vector(x, "x", self.dim), tol)

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return at most dim + 1 matchings and their weights."""
        if self._graph is None:
            return super().decompose(x)
        return self._graph.decompose(as_vector(x, "x", self.dim))

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Return a random matching, by dependent rounding or, with odd cycles, a decomposition."""
        if self._graph is None:
            return super().sample(x, rng)
        return self._graph.sample(as_vector(x, "x", self.dim), rng)

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return the normal of the most violated condition or, with odd cycles, of the nearest."""
        if self._graph is None:
            return super().separate(y)
        return self._graph.separate(as_vector(y, "y", self.dim))

    def rows(self) -> Rows:
        """Return the sums at the nodes of a bipartite graph."""
        if self._graph is None:
            self._refuse(HasLinearDescription)
        return self._graph.rows()
