"""Paths of many pairs at once: shortest first, all different, without loops."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.sets import PathBlock, bulk_paths
from hedgerow.sets.paths import bulk_paths as module


def random_graph(seed: int, n: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return edges of a strongly connected graph, their lengths, and pairs, one of them twice."""
    rng = np.random.default_rng(seed)
    ring = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
    more = rng.integers(0, n, (2 * n, 2))
    edges = np.unique(np.vstack([ring, more[more[:, 0] != more[:, 1]]]), axis=0)
    pairs = rng.integers(0, n, (40, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return edges, rng.uniform(0.5, 2.0, len(edges)), np.vstack([pairs, pairs[:1]])


def paths_of(block: PathBlock, pair: int) -> list[list[int]]:
    return [block.edges_of(p) for p in range(block.first[pair], block.first[pair + 1])]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 5))
def test_paths_join_their_pairs_and_the_first_is_shortest(seed: int, k: int) -> None:
    edges, length, pairs = random_graph(seed)
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(
        (*edge, w) for edge, w in zip(edges.tolist(), length, strict=True)
    )
    block = bulk_paths(edges, pairs, k, length, threads=1)
    assert block.pairs == len(pairs)
    for pair, (source, target) in enumerate(pairs.tolist()):
        found = paths_of(block, pair)
        assert 1 <= len(found) <= k
        assert len({tuple(path) for path in found}) == len(found)
        for path in found:
            nodes = [source, *(int(edges[e, 1]) for e in path)]
            assert [int(edges[e, 0]) for e in path] == nodes[:-1]
            assert nodes[-1] == target
            assert len(set(nodes)) == len(nodes)
        shortest = nx.dijkstra_path_length(graph, source, target)
        assert length[found[0]].sum() == pytest.approx(shortest, rel=1e-12)
        for e in np.flatnonzero(edges[:, 0] == source).tolist():
            way = nx.dijkstra_path(graph, int(edges[e, 1]), target)
            if source not in way and len(found) < k:
                assert e in [path[0] for path in found]  # every other first link was tried


def test_a_detour_avoids_the_link_of_the_shortest_path() -> None:
    edges = [(0, 1), (1, 3), (0, 2), (2, 3), (1, 2)]
    block = bulk_paths(edges, [(0, 3)], 3, [1.0, 1.0, 1.5, 1.5, 0.1])
    assert paths_of(block, 0) == [[0, 1], [2, 3]]
    block = bulk_paths(edges, [(0, 3), (1, 3)], 2, [1.0, 1.0, 1.5, 0.1, 0.1])
    assert [paths_of(block, pair) for pair in (0, 1)] == [[[0, 4, 3], [2, 3]], [[4, 3], [1]]]


def test_one_penalty_for_whole_trees_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    edges, length, pairs = random_graph(3, 30)
    as_is = bulk_paths(edges, pairs, 4, length)
    monkeypatch.setattr(module, "PENALTY", 1.0)
    assert bulk_paths(edges, pairs, 4, length).hops.size != as_is.hops.size


def test_threads_and_the_order_of_pairs_change_nothing() -> None:
    edges, length, pairs = random_graph(5, 200)
    one, three = (bulk_paths(edges, pairs, 4, length, threads=n) for n in (1, 3))
    assert (one.numbers == three.numbers).all()
    back = bulk_paths(edges, pairs[::-1], 4, length)
    for pair in range(len(pairs)):
        assert paths_of(back, len(pairs) - 1 - pair) == paths_of(one, pair)


def test_a_part_has_the_paths_of_its_pairs() -> None:
    edges, length, pairs = random_graph(1)
    block = bulk_paths(edges, pairs, 3, length)
    part = block.part(5, 11)
    assert [paths_of(part, i) for i in range(6)] == [paths_of(block, 5 + i) for i in range(6)]
    assert part.along(length) == pytest.approx(
        [length[part.edges_of(path)].sum() for path in range(part.paths)]
    )


def test_blocks_are_kept_by_what_they_were_made_of(tmp_path: Path) -> None:
    edges, length, pairs = random_graph(2)
    made = bulk_paths(edges, pairs, 3, length, folder=tmp_path)
    calls: list[tuple[int, int]] = []
    found = bulk_paths(
        edges, pairs, 3, length, folder=tmp_path, progress=lambda *n: calls.append(n)
    )
    assert isinstance(found.numbers, np.memmap)
    assert (found.numbers == made.numbers).all()
    assert calls == []  # nothing was searched
    bulk_paths(edges, pairs, 2, length, folder=tmp_path, progress=lambda *n: calls.append(n))
    bulk_paths(edges, pairs, 3, 2.0 * length, folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    targets = len(np.unique(pairs[:, 1]))
    assert calls[-1] == (targets, targets)


@pytest.mark.parametrize(
    ("edges", "pairs", "length", "message"),
    [
        ([(0, 1)], [(0, 0)], None, "two different nodes"),
        ([(0, 1)], [(0, 2)], None, "node 2 is on no edge"),
        ([(0, 1)], [(1, 0)], None, "no path"),
        ([(0, 1)], [(0, 1)], [0.0], "above 0"),
        ([(0, 1)], [(0.5, 1)], None, "node numbers"),
        ([(0, 1)], [(-1, 1)], None, "node numbers from 0"),
        ([(0, 1)], [], None, "rows of two"),
    ],
)
def test_bad_input_is_refused(edges: list, pairs: list, length: list | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bulk_paths(edges, pairs, 2, length)
