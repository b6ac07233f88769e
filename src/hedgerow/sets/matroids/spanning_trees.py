"""Spanning trees of an undirected graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import kernels
from hedgerow.inputs import Vector, as_direction, as_vector, read_only
from hedgerow.sets.compiled import Compiled, pack_uint32
from hedgerow.sets.decision_set import Rows
from hedgerow.sets.directions import ascending
from hedgerow.sets.edge_sets import EdgeSet
from hedgerow.sets.matroids.matroid_bases import Bases, Label
from hedgerow.sets.paths.graph import Index, incident
from hedgerow.sets.simplices.fixed_sum import mixture

ROUNDING = 1e-12
"""Inequalities that are missed by less, in units of what is left to decompose, are equations."""
LEFT_OUT = 1e-10
"""How much of a point a decomposition may leave out."""
MOST_MISSED = 100
"""Rounding may hide this many tight sets before the oracle's method takes over."""
STEPS = 1000
"""The most Newton steps along a ray; a few have been seen, and each drops an inequality."""


@dataclass(frozen=True, eq=False)
class SpanningTrees(EdgeSet, Bases):
    """The spanning tree polytope of a connected graph: mixtures of its spanning trees.

    x_e is the share of time in which edge e is in the tree. Vertices are exactly the spanning
    trees, as 0/1 vectors. The shares of each two-connected block sum to its nodes less one; a
    bridge is in every tree. Parallel edges are allowed, loops are not.

    Oracle: Kruskal's method, one sort and O(edges) after it, for costs of any sign, zero among
    them. Diameter: the bound sqrt(2 sum min(n - 1, m - n + 1)) over the blocks, with n nodes and m
    edges; exact if two trees that attain it are found. Projection, decomposition, sampling,
    membership: through the oracle.

    Args:
        edges: pairs of any hashable nodes, or an integer array of shape (m, 2).

    Reference: Kruskal, On the shortest spanning subtree of a graph (1956); for the rows Martin,
    Using separation algorithms to generate mixed integer model reformulations (1991).

    >>> X = SpanningTrees([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")])
    >>> X.lmo([1.0, 0.0, -2.0, 5.0]), X.component
    (array([0., 1., 1., 1.]), array([1, 1, 1, 0]))
    >>> X.project([1.0, 0.0, 0.4, 0.0]).round(6)
    array([1. , 0.3, 0.7, 1. ])

    """

    def __post_init__(self) -> None:
        self._number_nodes()
        pieces = self.nodes - int(self.lmo(np.zeros(self.dim)).sum())
        if pieces > 1:
            raise ValueError(
                "a spanning tree needs a connected graph, got one in "
                f"{pieces} pieces; add edges or treat each piece on its own"
            )

    @cached_property
    def component(self) -> Label:
        """The number of each edge's two-connected block, counted from 0."""
        block = np.empty(self.dim, np.uint32)
        kernels.matroids.blocks(self._graph, block)
        return block.astype(np.intp)

    def lmo(self, c: ArrayLike) -> Vector:
        """Return the cheapest spanning tree; ties go to the edge given first."""
        c = as_direction(c, self)
        order = ascending(c)
        tree = np.empty(self.dim)
        kernels.matroids.first_tree(order.astype(np.uint32), self._one, self._two, self.nodes, tree)
        return tree

    def independent(self, chosen: list[int]) -> bool:
        """Whether the chosen edges hold no cycle."""
        edges, tree = np.asarray(chosen, np.uint32), np.empty(self.dim)
        count = kernels.matroids.first_tree(edges, self._one, self._two, self.nodes, tree)
        return count == edges.size

    @cached_property
    def compiled(self) -> Compiled:
        """One sort, then Kruskal's method."""
        label = (self.component + 1).astype(np.uint32)
        return Compiled(
            kernels.matroids.cheapest_tree,
            kernels.tangents.grouped,
            pack_uint32(self.nodes, self._one, self._two),
            label=label,
            members=np.bincount(label).astype(np.float64),
        )

    @cached_property
    def _graph(self) -> tuple[Index, ...]:
        """The graph as the kernels read it."""
        begin, around = incident(self._one, self._two, self.nodes)
        return read_only(begin), read_only(around), self._one, self._two

    def _fullest(self, x: Vector, spent: float = 1e-14) -> tuple[float, Vector]:
        """Return how far the shares among some nodes U exceed |U| - 1, and mark their edges."""
        among, x = np.zeros(self.nodes, np.bool_), np.maximum(x, 0.0)
        kernels.matroids.fullest_set(self._graph, x, spent, among, np.empty(0))
        edges = (among[self._one] & among[self._two]).astype(np.float64)
        return max(0.0, float(edges @ x - among.sum() + 1.0)) if among.any() else 0.0, edges

    def _tight(self, x: Vector, spent: float) -> Vector:
        """Count for each edge the tight sets around it, of a family that generates all of them."""
        count = np.zeros(self.dim)
        among = np.zeros(self.nodes, np.bool_)
        kernels.matroids.fullest_set(self._graph, x, spent, among, count)
        return count

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether x >= 0 sums to n - 1, and to at most |U| - 1 among any nodes U; n flows."""
        x = as_vector(x, "x", self)
        return self._off(x, tol) <= tol

    def _off(self, x: Vector, enough: float = 0.0) -> float:
        """Return by how much x breaks the worst of its inequalities; by any above `enough`."""
        off = max(0.0, -float(x.min()), abs(float(x.sum()) - self.nodes + 1))
        return off if off > enough > 0.0 else max(off, self._fullest(x)[0])

    def separate(self, y: ArrayLike) -> Vector | None:
        """Return the normal of a violated inequality, or None if none fails by above 1e-9."""
        y = as_vector(y, "y", self)
        total = float(y.sum()) - self.nodes + 1
        if y.min() < -1e-9:
            return np.where(np.arange(self.dim) == np.argmin(y), -1.0, 0.0)
        if abs(total) > 1e-9:
            return np.full(self.dim, np.sign(total))
        excess, among = self._fullest(y)
        return among if excess > 1e-9 else None

    def _peel(self, x: Vector) -> Iterator[tuple[float, Vector]]:
        """Yield trees, each with its share of what the trees before it have left of x.

        The tree v has equality wherever x has, and prefers large shares.
        From v through x the ray leaves the set where one more inequality becomes an equation.
        Rounding errors grow while x shrinks, and with them what counts as equality; so does by how
        much x was outside of the set to begin with.
        """
        rounding = ROUNDING + self._off(x)
        x, left, missed_sets, misses = np.maximum(x, 0.0), 1.0, np.zeros(self.dim), 0
        # Each tree makes one more inequality an equation.
        for _ in range(self.dim + 1 + MOST_MISSED):
            slack = rounding / left
            x[x <= 0.01 * slack] = 0.0
            worth = x + self.nodes * (self._tight(x, slack) + self.dim * missed_sets)
            v = self.lmo(np.where(x > 0.0, -worth, self.nodes))
            if np.abs(x - v).max() <= slack or left <= LEFT_OUT:
                yield 1.0, v
                return
            length, missed = self._ray(x, x - v, slack)
            if missed is None:
                yield length / (1.0 + length), v
                x, left = x + length * (x - v), left / (1.0 + length)
            else:
                missed_sets, misses = missed_sets + missed, misses + 1
                if misses > MOST_MISSED:
                    break
        weights, trees = super().decompose(super().project(x))
        yield from zip(weights / np.cumsum(weights[::-1])[::-1], trees, strict=True)

    def _ray(self, x: Vector, step: Vector, slack: float) -> tuple[float, Vector | None]:
        """Return how far x + length step stays inside, or the tight set that it leaves at once."""
        falling = step < 0.0
        length = float(np.min(x[falling] / -step[falling]))
        for _ in range(STEPS):  # Newton's method: the excess is convex, piecewise linear
            excess, among = self._fullest(x + length * step, 1e-3 * slack)
            rate = float(among @ step)
            margin = length * rate - excess
            if excess <= 0.01 * slack or (margin <= slack and rate < 0.5):
                return length, None  # on a tight set a rate is whole, up to rounding
            if margin <= slack:
                return 0.0, among
            if margin / rate >= length:  # only through rounding
                break
            length = margin / rate
        return length, None

    def decompose(self, x: ArrayLike) -> tuple[Vector, Vector]:
        """Return at most m + 1 trees and their weights, a few tests of membership for each."""
        x = self._inside(x)
        weights, trees = mixture(self._peel(x))
        if weights.size > self.dim + 1:  # through rounding: the oracle's method returns few
            return super().decompose(super().project(x))
        return weights, trees

    def sample(self, x: ArrayLike, rng: np.random.Generator) -> Vector:
        """Return a tree of the decomposition, which is followed only as far as it has to be."""
        return next(v for share, v in self._peel(self._inside(x)) if rng.random() < share)

    def _inside(self, x: ArrayLike) -> Vector:
        x = as_vector(x, "x", self)
        if not self.contains(x, 1e-7):
            raise ValueError("only a point of the set is a mixture of trees; project it first")
        return x

    def rows(self) -> Rows:
        """Return Martin's description, in 2 n m + m variables and n (n + m) equations.

        For each root k the edges point towards it in shares: y_kuv + y_kvu = x_uv, and every
        node but the root has one edge out.
        """
        from scipy import sparse

        n, m = self.nodes, self.dim
        arcs = 2 * m * np.arange(n)[:, None] + np.arange(2 * m)  # y, by root
        edge = m * np.arange(n)[:, None] + np.tile(np.arange(m), 2)
        tail = n * np.arange(n)[:, None] + np.concatenate([self._one, self._two]).astype(np.int64)
        ones = np.ones(arcs.size)
        pairs = sparse.csr_array((ones, (edge.ravel(), arcs.ravel())), shape=(n * m, 2 * n * m))
        out = sparse.csr_array((ones, (tail.ravel(), arcs.ravel())), shape=(n * n, 2 * n * m))
        shares, none = sparse.vstack([-sparse.eye_array(m)] * n), sparse.csr_array((n * n, m))
        return Rows(
            np.zeros(m + 2 * n * m),
            np.ones(m + 2 * n * m),
            A_eq=sparse.csr_array(
                sparse.vstack([sparse.hstack([shares, pairs]), sparse.hstack([none, out])])
            ),
            b_eq=np.concatenate([np.zeros(n * m), (1.0 - np.eye(n)).ravel()]),
            lift=sparse.csr_array(sparse.eye_array(m, m + 2 * n * m)),
        )
