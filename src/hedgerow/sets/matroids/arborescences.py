"""Spanning arborescences of a directed graph."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_direction, as_vector, freeze
from hedgerow.sets.decision_set import Rows
from hedgerow.sets.edge_sets import EdgeSet
from hedgerow.sets.matroids.matroid_bases import diameter_bound
from hedgerow.sets.paths.graph import hops_from

Whole = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Arborescences(EdgeSet):
    """The polytope of spanning arborescences: mixtures of trees that lead from a root to all nodes.

    x_e is the share of time in which edge e is in the tree. Vertices are exactly the spanning
    arborescences, as 0/1 vectors, one edge into each node but the root. Edges into the root, and
    loops, are zero. Parallel edges are allowed.

    Oracle: Chu and Liu's method, O(edges log edges) for each of the rounds in which cycles are
    contracted, a few as a rule; ties go to the edge given first. Diameter: the bound
    sqrt(2 (nodes - 1)), or less where a search shows it; exact if two arborescences attain it.
    Projection, decomposition and membership: by the oracle alone.

    Args:
        edges: pairs (tail, head) of any hashable nodes, or an integer array of shape (m, 2).
        root: the node where all trees begin.

    Reference: Chu and Liu, On the shortest arborescence of a directed graph (1965); Edmonds,
    Optimum branchings (1967).

    >>> X = Arborescences([("r", "a"), ("a", "b"), ("b", "a"), ("r", "b")], "r")
    >>> X.lmo([5.0, 1.0, 1.0, 4.0])
    array([0., 0., 1., 1.])

    """

    root: Hashable
    _root: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        number = self._number_nodes(loops=True)
        if self.root not in number:
            raise ValueError(
                f"the root {self.root!r} is not a node of any edge; check its spelling"
            )
        freeze(self, _root=number[self.root])
        away = np.isinf(hops_from(self._root, self._one, self._two, self.nodes))
        if away.any():
            lost = list(number)[int(np.argmax(away))]
            raise ValueError(
                f"no path leads from the root {self.root!r} to {lost!r}; add edges or choose "
                "another root"
            )

    @cached_property
    def _known_diameter(self) -> tuple[float, bool]:
        return diameter_bound(self.lmo, self.lmo(np.zeros(self.dim)), 2.0 * (self.nodes - 1))

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the arborescence of least total cost."""
        c = as_direction(c, self)
        v = np.zeros(self.dim)
        ends = self._one.astype(np.intp), self._two.astype(np.intp)
        v[_cheapest(*ends, c, self.nodes, self._root)] = 1.0
        return v

    @cached_property
    def _useless(self) -> NDArray[np.bool_]:
        """The edges that no arborescence has for a reason that is seen at once."""
        return np.asarray((self._two == self._root) | (self._two == self._one))

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the distance of x to the set is at most tol; the sums are checked first."""
        x = as_vector(x, "x", self)
        into = np.bincount(self._two, x, self.nodes)
        into[self._root] = 1.0 + np.abs(x[self._useless]).sum()
        if x.min() < -tol or np.abs(into - 1.0).max() > tol * self.dim:
            return False
        return super().contains(x, tol)

    def rows(self) -> Rows:
        """Return one edge into each node, and a unit flow from the root to each node below x.

        There are (nodes - 1) (edges + nodes) + nodes rows in nodes x edges variables.
        """
        from scipy import sparse

        n, m, free = self.nodes, self.dim, (~self._useless).astype(np.float64)
        edge, others = np.arange(m), np.delete(np.arange(n), self._root)
        heads = sparse.csr_array((free, (self._two.astype(np.intp), edge)), shape=(n, m))
        tails = sparse.csr_array((free, (self._one.astype(np.intp), edge)), shape=(n, m))
        balance = sparse.csr_array(heads - tails)
        flows = sparse.block_diag([balance] * (n - 1))
        wanted = np.zeros((n - 1, n))
        wanted[np.arange(n - 1), others], wanted[:, self._root] = 1.0, -1.0
        below = sparse.vstack([-sparse.eye_array(m)] * (n - 1))
        return Rows(
            np.zeros(n * m),
            np.tile(free, n),
            A_eq=sparse.csr_array(sparse.block_diag([heads[others], flows])),
            b_eq=np.concatenate([np.ones(n - 1), wanted.ravel()]),
            A_ub=sparse.csr_array(sparse.hstack([below, sparse.eye_array((n - 1) * m)])),
            b_ub=np.zeros((n - 1) * m),
            lift=sparse.csr_array(sparse.eye_array(m, n * m)),
        )


def _cheapest(tail: Whole, head: Whole, cost: Vector, nodes: int, root: int) -> Whole:
    """Return the edges of the cheapest arborescence.

    The cheapest edge into each node is taken. Where these make cycles, each cycle becomes a node:
    an edge into it costs what it costs more than the edge of the cycle that it replaces.
    """
    kept = np.flatnonzero(head != tail)
    order = kept[np.lexsort((cost[kept], head[kept]))]  # stable: the first of equal ones
    first = np.flatnonzero(np.diff(head[order], prepend=-1))
    best = np.full(nodes, -1)
    best[head[order[first]]] = order[first]
    cycle = _cycles(tail, best, root)
    count = int(cycle.max()) + 1
    if count == 0:
        return np.delete(best, root)
    single = np.flatnonzero(cycle < 0)
    label = cycle.copy()
    label[single] = count + np.arange(single.size)
    into = np.flatnonzero((label[tail] != label[head]) & (head != root))
    saved = np.where(cycle[head[into]] >= 0, cost[best[head[into]]], 0.0)
    ends = label[tail[into]], label[head[into]]
    inner = _cheapest(*ends, cost[into] - saved, count + single.size, int(label[root]))
    chosen = into[inner]
    round_about = np.flatnonzero(cycle >= 0)
    entered = np.zeros(nodes, np.bool_)
    entered[head[chosen]] = True
    return np.concatenate([chosen, best[round_about[~entered[round_about]]]])


def _cycles(tail: Whole, best: Whole, root: int) -> Whole:
    """Number the cycles of the edges best[v] into v, by node; -1 on none."""
    before = np.where(best >= 0, tail[best], root).tolist()
    cycle, seen, count = [-1] * len(before), [-1] * len(before), 0
    seen[root] = len(before)
    for start in range(len(before)):
        v = start
        while seen[v] < 0:
            seen[v] = start
            v = before[v]
        if seen[v] == start:
            u = v
            while cycle[u] < 0:
                cycle[u] = count
                u = before[u]
            count += 1
    return np.array(cycle)
