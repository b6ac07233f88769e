from __future__ import annotations

import itertools
import pickle
import time

import networkx as nx
import numpy as np
import pytest
from table import EXAMPLES

from hedgerow.sets.paths.dag_paths import DagPaths
from hedgerow.testing import check_set


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_keeps_the_contract_of_a_set(name: str) -> None:
    check_set(EXAMPLES[name]())


LOCAL = {name for name in EXAMPLES if name.startswith(("matroid", "oracle"))}
"""Examples made of lambdas."""


@pytest.mark.parametrize("name", sorted(EXAMPLES.keys() - LOCAL))
def test_every_set_can_be_pickled(name: str) -> None:
    pickle.dumps(EXAMPLES[name]())


def random_edges(rng: np.random.Generator) -> tuple[list[tuple[int, int]], int, int]:
    """A small DAG with shuffled labels, parallel and dead edges, and at least one path."""
    nodes = int(rng.integers(2, 8))
    label = rng.permutation(50)[:nodes]
    source, target = sorted(rng.choice(nodes, 2, replace=False))
    ends = np.sort(rng.integers(0, nodes, (int(rng.integers(1, 16)), 2)), axis=1)
    inner = [v for v in range(source + 1, target) if rng.random() < 0.5]
    path = itertools.pairwise([source, *inner, target])
    pairs = [*path, *(pair for pair in ends if pair[0] < pair[1])]
    edges = [(int(label[a]), int(label[b])) for a, b in rng.permutation(pairs)]
    return edges, int(label[source]), int(label[target])


def all_paths(edges: list[tuple[int, int]], source: int, target: int) -> np.ndarray:
    """Every path as a 0/1 row, parallel edges told apart."""
    graph = nx.MultiDiGraph()
    for i, (a, b) in enumerate(edges):
        graph.add_edge(a, b, key=i)
    rows = [
        np.isin(np.arange(len(edges)), [key for _, _, key in path])
        for path in nx.all_simple_edge_paths(graph, source, target)
    ]
    return np.array(rows, dtype=np.float64)


def test_the_path_oracle_is_exact_on_random_graphs() -> None:
    rng = np.random.default_rng(0)
    for trial in range(200):
        edges, source, target = random_edges(rng)
        X = DagPaths(edges, source, target)
        paths = all_paths(edges, source, target)
        np.testing.assert_array_equal(X.live, paths.any(axis=0))
        for c in (rng.integers(-3, 4, X.dim).astype(float), rng.standard_normal(X.dim)):
            v = X.lmo(c)
            assert (paths == v).all(axis=1).any(), f"graph {trial}: no path"
            assert c @ v == pytest.approx((paths @ c).min(), abs=1e-12)
            graph = nx.MultiDiGraph()
            graph.add_weighted_edges_from((a, b, w) for (a, b), w in zip(edges, c, strict=True))
            shortest = nx.bellman_ford_path_length(graph, source, target)
            assert c @ v == pytest.approx(shortest, abs=1e-12)


def test_the_diameter_is_exact_on_random_graphs() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        edges, source, target = random_edges(rng)
        X = DagPaths(edges, source, target)
        paths = all_paths(edges, source, target)
        apart = np.abs(paths[:, None] - paths).sum(axis=2)
        assert X.diameter_is_exact
        assert X.diameter == pytest.approx(np.sqrt(apart.max()), abs=1e-12)


def test_the_bound_of_the_diameter_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hedgerow.sets.paths.dag_paths.PAIR_STEPS", 0)
    rng = np.random.default_rng(2)
    for _ in range(100):
        edges, source, target = random_edges(rng)
        X = DagPaths(edges, source, target)
        paths = all_paths(edges, source, target)
        assert not X.diameter_is_exact
        assert X.diameter == pytest.approx(np.sqrt(2.0 * paths.sum(axis=1).max()))
        assert X.diameter**2 >= np.abs(paths[:, None] - paths).sum(axis=2).max() - 1e-9


@pytest.mark.parametrize(
    ("edges", "source", "target", "sentence"),
    [
        ([], "s", "t", "at least one edge"),
        ([("s", "t")], "x", "t", "the source 'x' is not a node"),
        ([("s", "t")], "s", "x", "the target 'x' is not a node"),
        ([("s", "t")], "s", "s", "must differ, both are 's'"),
        ([("s", "t"), ("t", "s")], "s", "t", "no cycle"),
        ([("s", "t"), ("s", "s")], "s", "t", r"the edge \('s', 's'\) lies on one"),
        ([("s", "a"), ("t", "a")], "s", "t", "no path leads from 's' to 't'"),
        ([("s", "t", 3)], "s", "t", r"an edge is a pair"),
        (["st"], "s", "t", r"an edge is a pair"),
        (np.array([[0, 1]]), 0, 7, "the target 7 is not a node"),
        (np.array([[0, 1]]), "s", 1, "the source 's' is not a node"),
        (np.array([[0, 1, 2]]), 0, 1, r"shape \(m, 2\)"),
        (np.array([0, 1]), 0, 1, r"shape \(m, 2\)"),
        (np.array([[0.0, 1.0]]), 0, 1, "must hold integers"),
        (np.zeros((0, 2), dtype=int), 0, 1, "at least one edge"),
    ],
)
def test_wrong_graphs_are_refused_in_a_sentence(edges, source, target, sentence) -> None:
    with pytest.raises(ValueError, match=sentence):
        DagPaths(edges, source, target)


def test_the_edge_named_in_a_refusal_lies_on_a_cycle() -> None:
    edges = [("s", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "t")]
    with pytest.raises(ValueError, match="no cycle") as refusal:
        DagPaths(edges, "s", "t")
    assert any(str(edge) in str(refusal.value) for edge in edges[1:4])


def test_labels_and_integer_arrays_agree() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        edges, source, target = random_edges(rng)
        by_number = DagPaths(np.array(edges), source, target)
        by_label = DagPaths([(str(a), str(b)) for a, b in edges], str(source), str(target))
        assert by_number.diameter == by_label.diameter
        np.testing.assert_array_equal(by_number.live, by_label.live)
        c = rng.standard_normal(len(edges))
        np.testing.assert_array_equal(by_number.lmo(c), by_label.lmo(c))


def test_a_graph_with_many_edges_is_built_and_searched_quickly() -> None:
    rng = np.random.default_rng(4)
    nodes, m = 20_000, 100_000
    tail = rng.integers(0, nodes - 1, m)
    head = np.minimum(tail + rng.integers(1, 50, m), nodes - 1)
    chain = np.arange(nodes - 1)
    edges = np.column_stack([np.append(chain, tail), np.append(chain + 1, head)])
    DagPaths([(0, 1)], 0, 1).lmo([1.0])  # loads the compiled code
    begin = time.perf_counter()
    X = DagPaths(edges, 0, nodes - 1)
    v = X.lmo(rng.standard_normal(X.dim))
    assert X.contains(v)
    assert X.contains(X.start())
    assert not X.diameter_is_exact
    assert X.diameter == np.sqrt(2.0 * (nodes - 1))
    assert time.perf_counter() - begin < 2.0  # about 0.1 s; a loop in Python would take longer
