"""Paths of a million pairs at once: shortest ones and detours, in one block of 32-bit numbers."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.files import replace_files
from hedgerow.inputs import Vector, as_count, as_vector
from hedgerow.sets.compiled import Index
from hedgerow.sets.paths.graph import no_path

PENALTY = 16.0
"""An edge that is used counts this many times as long in the next tree; 2 finds fewer detours."""
AT_ONCE = 64
"""Destinations that a thread takes at a time."""
PAIRS, PATHS, HOPS, COUNTS = range(4)


@dataclass(frozen=True, eq=False)
class PathBlock:
    """The paths of many pairs, in one array of 32-bit numbers, which may be a file on disk.

    Args:
        numbers: [pairs, paths, hops | first path of each pair, and the end | first hop of each
            path, and the end | the edge of each hop].

    """

    numbers: Index

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return int(self.numbers[PAIRS])

    @property
    def paths(self) -> int:
        """How many paths all pairs have together."""
        return int(self.numbers[PATHS])

    @cached_property
    def first(self) -> Index:
        """The first path of each pair, and the end."""
        return self.numbers[COUNTS : COUNTS + self.pairs + 1]

    @cached_property
    def ptr(self) -> Index:
        """The first hop of each path, and the end."""
        begin = COUNTS + self.pairs + 1
        return self.numbers[begin : begin + self.paths + 1]

    @cached_property
    def hops(self) -> Index:
        """The edge of each hop."""
        return self.numbers[self.numbers.size - int(self.numbers[HOPS]) :]

    def part(self, begin: int, end: int) -> PathBlock:
        """Return the paths of the pairs begin .. end, numbered from 0."""
        first = self.first[begin : end + 1]
        ptr = self.ptr[first[0] : int(first[-1]) + 1]
        hops = self.hops[ptr[0] : ptr[-1]]
        return PathBlock.joined(first - first[0], ptr - ptr[0], hops)

    def edges_of(self, path: int) -> list[int]:
        """Return the edges of a path, in order."""
        return [int(e) for e in self.hops[self.ptr[path] : self.ptr[path + 1]]]

    def along(self, of_edge: Vector) -> Vector:
        """Return the sum of a quantity of edges along each path."""
        sums: Vector = np.add.reduceat(of_edge[self.hops], self.ptr[:-1])
        return sums

    @classmethod
    def joined(cls, first: Index, ptr: Index, hops: Index) -> PathBlock:
        """Return a block of these parts."""
        counts = np.array([first.size - 1, ptr.size - 1, hops.size], np.uint32)
        return cls(np.concatenate([counts, first, ptr, hops], dtype=np.uint32))


class _Graph(NamedTuple):
    table: Any
    nodes: int
    length: Vector


def bulk_paths(
    edges: ArrayLike,
    pairs: ArrayLike,
    k: int = 4,
    length: ArrayLike | None = None,
    *,
    folder: Path | str | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PathBlock:
    """Return up to k paths of each pair: the shortest, and detours around its links.

    For each destination one tree of shortest paths (Dijkstra's method, compiled), then k - 1 more
    in which every link that the pairs use in an earlier tree counts 16 times as long. So a graph of
    n nodes needs at most k n trees, however many pairs there are. A pair that has fewer than k
    different paths then gets the shortest ones with another first link. All are loopless.
    `PathShares` has the k shortest paths by Yen's method, which takes far longer and finds paths
    that are more alike; scale.md compares both.

    Args:
        edges: one row (tail, head) of node numbers for each edge.
        pairs: one row (origin, destination) for each pair.
        k: how many paths a pair has at most.
        length: of each edge, above 0; None counts edges.
        folder: where blocks are kept, by a digest of all other arguments; None keeps nothing. A
            block that is found there is mapped into memory and not read.
        threads: how many search at once; None for one for each processor.
        progress: called with the number of destinations done, and of all.

    >>> block = bulk_paths([(0, 1), (1, 2), (0, 2)], [(0, 2), (0, 1)], k=2)
    >>> [block.edges_of(path) for path in range(block.paths)]
    [[2], [0, 1], [0]]

    """
    ends, wanted, k = _checked(edges, "edges"), _checked(pairs, "pairs"), as_count(k, "k")
    lengths = np.ones(len(ends)) if length is None else as_vector(length, "length", len(ends))
    if not lengths.min() > 0.0:
        raise ValueError(f"lengths must be above 0 for detours, got {lengths.min():g}")
    if wanted.max() > ends.max():
        raise ValueError(f"the node {wanted.max()} is on no edge; nodes are numbered from 0")
    if (wanted[:, 0] == wanted[:, 1]).any():
        raise ValueError(
            f"a pair joins two different nodes, got {wanted[wanted[:, 0] == wanted[:, 1]][0, 0]} "
            "twice"
        )
    path = None
    if folder is not None:
        path = Path(folder) / f"{_digest(ends, wanted, lengths, k)}.npy"
        if path.exists():
            return PathBlock(np.load(path, mmap_mode="r"))
    block = _search(_graph(ends, lengths), wanted, k, threads or os.cpu_count() or 1, progress)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        content = io.BytesIO()
        np.save(content, block.numbers)
        replace_files({path: content.getvalue()})
    return block


def _checked(given: ArrayLike, name: str) -> NDArray[np.uint32]:
    rows = np.asarray(given)
    if rows.ndim != 2 or rows.shape[1] != 2 or not len(rows) or rows.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be rows of two node numbers, got {rows.dtype} of shape {rows.shape}"
        )
    if rows.min() < 0 or rows.max() >= kernels.path_trees.NONE:
        raise ValueError(f"{name} must have node numbers from 0 to 2^32 - 2, got {rows.min()}")
    return np.ascontiguousarray(rows, np.uint32)


def _digest(*parts: Any) -> str:
    digest = hashlib.sha256(f"paths 1, penalty {PENALTY:g}".encode())
    for part in parts:
        digest.update(str(np.shape(part)).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _graph(ends: NDArray[np.uint32], length: Vector) -> _Graph:
    nodes = int(ends.max()) + 1
    tail, head = (np.ascontiguousarray(column) for column in ends.T)

    def listed(key: Index) -> tuple[Index, Index]:
        begin, order = np.zeros(nodes + 1, np.uint32), np.zeros(len(ends), np.uint32)
        kernels.paths.count_in(key, begin, order, np.zeros(nodes + 1, np.uint32))
        return begin, order

    (into_begin, into), (out_begin, out) = listed(head), listed(tail)
    table = kernels.path_trees.graph_table.filled(
        into_begin=into_begin, into=into, out_begin=out_begin, out=out, tail=tail, head=head
    )
    return _Graph(table, nodes, length)


def _search(
    graph: _Graph,
    pairs: NDArray[np.uint32],
    k: int,
    threads: int,
    progress: Callable[[int, int], None] | None,
) -> PathBlock:
    order = np.argsort(pairs[:, 1], kind="stable")
    sources = np.ascontiguousarray(pairs[order, 0])
    targets, begin = np.unique(pairs[order, 1], return_index=True)
    groups: Sequence[Index] = np.split(sources, begin[1:])
    hops, edges = [], []

    def search(begin: int) -> list[tuple[Index, Index]]:
        end = begin + AT_ONCE
        return list(_paths_to(graph, targets[begin:end], groups[begin:end], k))

    with ThreadPoolExecutor(threads) as pool:
        for results in pool.map(search, range(0, len(groups), AT_ONCE)):
            for counted, listed in results:
                hops.append(counted)
                edges.append(listed)
            if progress is not None:
                progress(len(hops), len(groups))
    return _in_order(np.concatenate(hops).reshape(-1, k), np.concatenate(edges), order)


def _paths_to(
    graph: _Graph, targets: Index, groups: Sequence[Index], k: int
) -> Iterator[tuple[Index, Index]]:
    """Yield the number of hops of each path to each target, and the edges of all of them."""
    trees, (nearest, distance) = np.empty(k * graph.nodes, np.uint32), np.empty((2, graph.nodes))
    heap, place = np.empty((2, graph.nodes), np.uint32)
    search = kernels.path_trees
    for target, sources in zip(targets.tolist(), groups, strict=True):
        length = graph.length.copy()
        for j, tree in enumerate(trees.reshape(k, -1)):
            found = nearest if j == 0 else distance
            search.find_tree(graph.table, length, target, found, tree, heap, place)
            search.lengthen(graph.table, tree, sources, target, place, PENALTY, length)
        if not np.isfinite(nearest[sources]).all():
            raise no_path(int(sources[int(np.argmax(nearest[sources]))]), target)
        hops, chosen = (np.empty(m * sources.size * k, np.uint32) for m in (1, 2))
        search.choose_paths(
            graph.table, trees, graph.length, nearest, sources, target, chosen, hops
        )
        edges = np.empty(int(hops.sum()), np.uint32)
        search.list_edges(graph.table, trees, chosen, hops, edges)
        yield hops, edges


def _in_order(hops: Index, edges: Index, order: NDArray[np.intp]) -> PathBlock:
    """Return the paths in the order of the pairs; row i of `hops` is of pair order[i]."""
    lengths = hops.sum(axis=1, dtype=np.int64)
    begin = np.cumsum(lengths) - lengths  # of each row's edges
    back = np.argsort(order, kind="stable")
    hops, lengths, begin = hops[back], lengths[back], begin[back]
    shift = np.repeat(begin - (np.cumsum(lengths) - lengths), lengths)
    edges = edges[shift + np.arange(edges.size)]
    first = np.concatenate([[0], np.cumsum((hops > 0).sum(axis=1))]).astype(np.uint32)
    ptr = np.concatenate([[0], np.cumsum(hops[hops > 0], dtype=np.int64)]).astype(np.uint32)
    return PathBlock.joined(first, ptr, edges)
