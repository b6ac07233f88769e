"""The heaviest matching of any graph, by Edmonds' blossom method in whole numbers."""

from __future__ import annotations

from typing import Any

from hedgerow.sets.solvers import loaded

BITS = 120
"""Weights times nodes of up to so many bits are left to rustworkx, which counts in 128."""


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
