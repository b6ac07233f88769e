"""Edges of a graph as a user gives them, with the nodes numbered."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import read_only

Index = NDArray[np.uint32]
Edges = Sequence[tuple[Hashable, Hashable]] | NDArray[np.integer[Any]]
"""Pairs of any hashable nodes, or an integer array of shape (m, 2)."""


def frozen(edges: Edges) -> Edges:
    """Return the edges as they were given, but out of the giver's reach."""
    return read_only(edges) if isinstance(edges, np.ndarray) else tuple(edges)


def number_nodes(edges: Edges) -> tuple[Index, Index, dict[Hashable, int]]:
    """Return the first and the second ends of the edges as numbers, and each node's number."""
    if len(edges) == 0:
        raise ValueError("a graph needs at least one edge, got none")
    number: dict[Hashable, int] = {}
    if isinstance(edges, np.ndarray):
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
            raise ValueError(
                "an array of edges must hold integers and have shape (m, 2), "
                f"got dtype {edges.dtype} and shape {edges.shape}"
            )
        labels, flat = _numbered(edges)
        number.update((node, k) for k, node in enumerate(labels.tolist()))
    else:
        for edge in edges:
            if not isinstance(edge, (tuple, list)) or len(edge) != 2:
                raise ValueError(f"an edge is a pair of nodes, got {edge!r}")
            for node in edge:
                number.setdefault(node, len(number))
        flat = np.array([number[node] for edge in edges for node in edge])
    ends = flat.reshape(-1, 2).astype(np.uint32)
    return ends[:, 0].copy(), ends[:, 1].copy(), number


def _numbered(edges: NDArray[np.integer[Any]]) -> tuple[NDArray[np.integer[Any]], NDArray[Any]]:
    """Return the nodes, rising, and the place of each end among them."""
    low, high = edges.min(), edges.max()
    if low < 0 or high > 4 * edges.size:
        return np.unique(edges, return_inverse=True)
    present = np.zeros(int(high) + 1, np.bool_)  # few enough numbers to mark them, without a sort
    present[edges] = True
    return np.flatnonzero(present), (np.cumsum(present, dtype=np.uint32) - np.uint32(1))[edges]


def number_undirected(edges: Edges) -> tuple[Index, Index, int]:
    """Return both ends of the edges as numbers and how many nodes there are; refuse loops."""
    one, two, number = number_nodes(edges)
    loops = np.flatnonzero(one == two)
    if loops.size:
        raise ValueError(
            f"an edge joins two different nodes, got the loop {edges[loops[0]]}; leave loops out"
        )
    return one, two, len(number)
