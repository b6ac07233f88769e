"""Demands split over paths: one simplex of shares for each pair of nodes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_count, as_vector, read_only
from hedgerow.sets.compositions.product import Product
from hedgerow.sets.decision_set import Rows
from hedgerow.sets.paths.edges import Edges, frozen, number_nodes
from hedgerow.sets.paths.graph import no_path
from hedgerow.sets.paths.k_shortest import Path, k_shortest_of_pairs
from hedgerow.sets.simplices.simplex import Simplex

if TYPE_CHECKING:
    from scipy import sparse

Pair = tuple[Hashable, Hashable]


@dataclass(frozen=True, eq=False, init=False)
class PathShares(Product):
    """Path shares: each origin-destination pair splits one unit over its k shortest paths.

    The paths are loopless, shortest by `length`; a pair may have fewer than k. Oracle: the best
    path of each pair, one pass over all shares. Diameter: sqrt(2 x pairs with a choice), exact.

    Args:
        edges: pairs (tail, head) of any hashable nodes, or an integer array of shape (m, 2).
        pairs: (origin, destination) of each demand.
        k: how many paths a pair may use, at most.
        length: the length of each edge, at least 0; None counts edges.

    Attributes:
        paths: the edges of each path, in order, by coordinate.
        pair_of: which pair each coordinate belongs to.

    Reference for the paths: Yen, Finding the k shortest loopless paths in a network (1971).

    >>> X = PathShares([("s", "a"), ("a", "t"), ("s", "t")], [("s", "t"), ("s", "a")], k=2)
    >>> X.labels
    ('s-t', 's-a-t', 's-a')
    >>> X.lmo([2.0, 1.0, 5.0])
    array([0., 1., 1.])
    >>> X.incidence.toarray()
    array([[0., 1., 1.],
           [0., 1., 0.],
           [1., 0., 0.]])

    """

    edges: Edges
    pairs: tuple[Pair, ...]
    paths: tuple[Path, ...]
    pair_of: NDArray[np.intp]

    def __init__(
        self,
        edges: Edges,
        pairs: Sequence[Pair],
        k: int = 4,
        length: ArrayLike | None = None,
    ):
        edges, given, k = frozen(edges), tuple(pairs), as_count(k, "k")
        tail, head, number = number_nodes(edges)
        lengths = np.ones(tail.size) if length is None else as_vector(length, "length", tail.size)
        if lengths.min() < 0.0:
            raise ValueError(f"lengths must be at least 0, got {lengths.min():g}")
        ends = numbered_pairs(given, number)
        found = k_shortest_of_pairs(ends, k, tail, head, len(number), lengths)
        for (source, target), paths in zip(given, found, strict=True):
            if not paths:
                raise no_path(source, target)
        simplices = {n: Simplex(n) for n in {len(paths) for paths in found}}
        super().__init__(*(simplices[len(paths)] for paths in found))
        sizes = [len(paths) for paths in found]
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "pairs", given)
        object.__setattr__(self, "paths", tuple(path for paths in found for path in paths))
        object.__setattr__(self, "pair_of", read_only(np.repeat(np.arange(len(sizes)), sizes)))

    def _in_short(self) -> str:
        return f"{len(self.pairs)} pairs, {self.dim} paths, {len(self.edges)} edges"

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """Which path uses which edge, edges x paths; times the shares it gives each edge's load."""
        from scipy import sparse

        hops = [len(path) for path in self.paths]
        begin = np.concatenate([[0], np.cumsum(hops)])
        edge = np.fromiter((e for path in self.paths for e in path), np.intp, int(begin[-1]))
        shape = (self.dim, len(self.edges))
        return sparse.csr_array(sparse.csr_array((np.ones(edge.size), edge, begin), shape=shape).T)

    def rows(self) -> Rows:
        """Return one equation for each pair, and the bounds."""
        from scipy import sparse

        ends = np.concatenate([[0], np.cumsum(np.bincount(self.pair_of))])
        places = np.ones(self.dim), np.arange(self.dim), ends
        A_eq = sparse.csr_array(places, shape=(len(self.pairs), self.dim))
        return Rows(np.zeros(self.dim), np.ones(self.dim), A_eq, np.ones(len(self.pairs)))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The nodes of each path, joined by dashes."""
        nodes = [[str(node) for node in edge] for edge in self.edges]
        return tuple("-".join([nodes[p[0]][0], *(nodes[e][1] for e in p)]) for p in self.paths)

    @cached_property
    def shortest(self) -> Vector:
        """Each pair on its shortest path alone."""
        return read_only(np.diff(self.pair_of, prepend=-1).astype(np.float64))


def numbered_pairs(pairs: Sequence[Pair], number: dict[Hashable, int]) -> list[tuple[int, int]]:
    """Return the pairs as numbers of nodes, or say which of them cannot be."""
    if not pairs:
        raise ValueError("path shares need at least one pair of nodes, got none")
    for source, target in pairs:
        for node in (source, target):
            if node not in number:
                raise ValueError(f"the node {node!r} is on no edge; check its spelling")
        if source == target:
            raise ValueError(f"a pair joins two different nodes, got {source!r} twice")
    return [(number[source], number[target]) for source, target in pairs]
