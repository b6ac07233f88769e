"""The k shortest loopless paths, and the sets that split demands over paths or flows."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from table import TWISTED, random_digraph

from hedgerow.sets import MultiCommodityFlow, PathShares, Product, Simplex, UnitFlow


def lengths_of(X: PathShares, length: np.ndarray) -> list[list[float]]:
    by_path = length @ X.incidence.toarray()
    return [by_path[X.pair_of == d].tolist() for d in range(len(X.pairs))]


@pytest.mark.parametrize("seed", range(6))
def test_the_paths_are_the_shortest_loopless_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = np.unique(random_digraph(9, 26, seed), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    length = rng.integers(0 if seed % 2 else 1, 6, len(edges)).astype(float)
    graph = nx.DiGraph()
    for (u, v), w in zip(edges.tolist(), length, strict=True):
        graph.add_edge(u, v, weight=w)
    pairs = [(0, v) for v in range(1, 9)]
    X = PathShares(edges, pairs, k=7, length=length)
    for d, (s, t) in enumerate(pairs):
        simple = nx.all_simple_edge_paths(graph, s, t)
        best = sorted(sum(graph.edges[e]["weight"] for e in path) for path in simple)[:7]
        assert lengths_of(X, length)[d] == best
    for path, d in zip(X.paths, X.pair_of, strict=True):
        nodes = [edges[path[0], 0], *(edges[e, 1] for e in path)]
        assert len(set(nodes)) == len(nodes)
        assert (nodes[0], nodes[-1]) == pairs[d]
        assert all(edges[e, 1] == edges[f, 0] for e, f in itertools.pairwise(path))
    assert len(set(X.paths)) == X.dim


def test_parallel_edges_are_different_paths() -> None:
    X = PathShares([("s", "t"), ("s", "t"), ("s", "t")], [("s", "t")], length=[3.0, 1.0, 2.0])
    assert X.paths == ((1,), (2,), (0,))
    assert X.shortest.tolist() == [1.0, 0.0, 0.0]


def test_the_set_is_the_product_of_simplices() -> None:
    X = PathShares(TWISTED, [("s", "t"), ("b", "a"), ("t", "b")], k=3)
    plain = Product(*(Simplex(F.dim) for F in X.factors))
    c = np.random.default_rng(0).standard_normal(X.dim)
    assert (X.lmo(c) == plain.lmo(c)).all()
    one_by_one = [F.project(part) for F, part in zip(X.factors, X.parts(c), strict=True)]
    assert (X.project(c) == np.concatenate(one_by_one)).all()
    tangents = [F.tangent(part) for F, part in zip(X.factors, X.parts(c), strict=True)]
    assert np.abs(X.tangent(c) - np.concatenate(tangents)).max() < 1e-15
    assert X.tangent_norm(c) == pytest.approx(np.linalg.norm(np.concatenate(tangents)), rel=1e-14)
    assert X.diameter == pytest.approx(np.sqrt(2.0 * sum(F.dim > 1 for F in X.factors)))


def test_the_flow_oracle_is_that_of_each_pair_for_directions_of_any_sign() -> None:
    pairs = [(0, 7), (0, 4), (0, 7)]
    edges = random_digraph(8, 14, seed=3)
    X = MultiCommodityFlow(edges, pairs)
    rng = np.random.default_rng(1)
    for c in (rng.random(X.dim), rng.standard_normal(X.dim)):
        each = [UnitFlow(edges, *p).lmo(q) for p, q in zip(pairs, X.parts(c), strict=True)]
        assert (X.lmo(c) == np.concatenate(each)).all()
    x = X.start()
    assert (X.incidence @ x == sum(X.parts(x))).all()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([(0, 1)], []), "at least one pair"),
        (([(0, 1)], [(0, 2)]), "the node 2 is on no edge"),
        (([(0, 1)], [(1, 1)]), "two different nodes"),
        (([(0, 1)], [(1, 0)]), "no path leads from 1 to 0"),
        (([(0, 1)], [(0, 1)], 0), "k must be at least 1"),
        (([(0, 1)], [(0, 1)], 2, [-1.0]), "lengths must be at least 0, got -1"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        PathShares(*arguments)


def test_flows_without_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one pair"):
        MultiCommodityFlow([(0, 1)], [])
