"""b-matchings, perfect matchings and arborescences against all of them."""

from __future__ import annotations

import importlib.util
import itertools

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet, HasLinearDescription
from hedgerow.sets.matchings import graph_matchings
from hedgerow.sets.matchings.b_matchings import BMatchings
from hedgerow.sets.matchings.birkhoff import Birkhoff
from hedgerow.sets.matchings.graph_matchings import Matchings, PerfectMatchings, heaviest_matching
from hedgerow.sets.matroids.arborescences import Arborescences

Edges = list[tuple[int, int]]


def zero_one(m: int) -> Vector:
    return np.array(list(itertools.product([0.0, 1.0], repeat=m)))


def random_graph(rng: np.random.Generator, sides: bool, most: int) -> Edges:
    nodes = int(rng.integers(2, 7))
    pairs = [(u, v) for u, v in itertools.combinations(range(nodes), 2) if not sides or (u + v) % 2]
    chosen = rng.permutation(len(pairs))[: rng.integers(1, most)]
    return [pairs[k][:: rng.choice([-1, 1])] for k in chosen]


def directions(n: int, rng: np.random.Generator) -> list[Vector]:
    plain, whole = rng.standard_normal(n), rng.integers(-2, 3, n).astype(np.float64)
    return [plain, whole, np.zeros(n), -np.exp(10.0 * plain), 1e9 * plain - 1e9]


def assert_cheapest(X: DecisionSet, every: Vector, rng: np.random.Generator) -> None:
    for c in directions(X.dim, rng):
        v = X.lmo(c)
        assert (every == v).all(axis=1).any()
        assert c @ v <= (every @ c).min() + 1e-13 * np.abs(c).max()
    apart = np.abs(every[:, None] - every).sum(axis=2).max()
    assert X.diameter**2 >= apart - 1e-9
    if X.diameter_is_exact:
        assert X.diameter**2 == pytest.approx(apart)
    if X.supports(HasLinearDescription):
        rows, c = X.rows(), rng.standard_normal(X.dim)
        bounds = np.column_stack([rows.lower, rows.upper])
        lifted = c if rows.lift is None else rows.lift.T @ c
        value = linprog(lifted, rows.A_ub, rows.b_ub, rows.A_eq, rows.b_eq, bounds).fun
        assert value == pytest.approx((every @ c).min(), abs=1e-9)


@pytest.mark.parametrize("sides", [True, False])
def test_b_matchings_are_cheapest_of_all(sides: bool) -> None:
    rng = np.random.default_rng(0)
    odd = 0
    for _ in range(50):
        edges = random_graph(rng, sides, 8)
        if rng.random() < 0.3:
            edges.append(edges[0])  # parallel
        nodes = sorted({v for e in edges for v in e})
        room = {v: int(rng.integers(0, 4)) for v in nodes}
        X = BMatchings(edges, room)
        odd += not X.bipartite
        incidence = np.array([[float(v in e) for e in edges] for v in nodes])
        every = zero_one(len(edges))
        every = every[(every @ incidence.T <= list(room.values())).all(axis=1)]
        assert_cheapest(X, every, rng)
        y = 2.0 * rng.standard_normal(X.dim)
        a = X.separate(y)
        assert a is None or a @ y > (every @ a).max()
    assert odd == 0 if sides else odd > 10


def test_capacities_of_one_are_matchings() -> None:
    rng = np.random.default_rng(1)
    for trial in range(30):
        edges = random_graph(rng, bool(trial % 2), 9)
        X, Y = BMatchings(edges, 1), Matchings(edges)
        c = rng.standard_normal(X.dim)
        np.testing.assert_array_equal(X.lmo(c), Y.lmo(c))


@pytest.mark.parametrize("sides", [True, False])
def test_perfect_matchings_are_cheapest_of_all(sides: bool) -> None:
    rng = np.random.default_rng(2)
    found = none = 0
    for _ in range(150):
        edges = random_graph(rng, sides, 11)
        nodes = sorted({v for e in edges for v in e})
        incidence = np.array([[float(v in e) for e in edges] for v in nodes])
        every = zero_one(len(edges))
        every = every[(every @ incidence.T == 1.0).all(axis=1)]
        if not len(every):
            none += 1
            with pytest.raises(ValueError, match=f"no matching meets all {len(nodes)} nodes"):
                PerfectMatchings(edges)
            continue
        found += 1
        X = PerfectMatchings(edges)
        assert_cheapest(X, every, rng)
        x = rng.dirichlet(np.ones(len(every))) @ every
        weights, vertices = X.decompose(x)
        np.testing.assert_allclose(weights @ vertices, x, atol=1e-9)
        v = X.sample(x, rng)
        assert (every == v).all(axis=1).any()
        p = X.project(x + rng.standard_normal(X.dim))
        assert X.contains(p, 1e-8)
    assert min(found, none) > 20


def test_perfect_matchings_of_two_sides_are_assignments() -> None:
    rng = np.random.default_rng(3)
    X, Y = PerfectMatchings([(u, 5 + v) for u in range(5) for v in range(5)]), Birkhoff(5)
    assert X.diameter == Y.diameter
    assert X.diameter_is_exact
    for _ in range(10):
        c = rng.standard_normal(25)
        np.testing.assert_array_equal(X.lmo(c), Y.lmo(c))
        np.testing.assert_allclose(X.project(c), Y.project(c), atol=1e-8)


def random_digraph(rng: np.random.Generator) -> Edges:
    """A tree from node 0 and more edges, loops, parallel ones and some into the root."""
    nodes = int(rng.integers(2, 6))
    tree = [(int(rng.integers(v)), v) for v in range(1, nodes)]
    more = [(int(u), int(v)) for u, v in rng.integers(0, nodes, (int(rng.integers(0, 8)), 2))]
    edges = [*tree, *more]
    return [edges[k] for k in rng.permutation(len(edges))]


def all_arborescences(edges: Edges) -> Vector:
    nodes = {v for e in edges for v in e}
    found = []
    for chosen in itertools.combinations(range(len(edges)), len(nodes) - 1):
        graph = nx.MultiDiGraph([edges[e] for e in chosen])
        if len(graph) == len(nodes) and nx.is_arborescence(graph) and graph.in_degree(0) == 0:
            found.append(np.isin(np.arange(len(edges)), chosen))
    return np.array(found, dtype=np.float64)


def test_arborescences_are_cheapest_of_all() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        edges = random_digraph(rng)
        X, every = Arborescences(edges, 0), all_arborescences(edges)
        assert_cheapest(X, every, rng)
        assert X.contains(rng.dirichlet(np.ones(len(every))) @ every)
        cycle = np.maximum(0.0, every.mean(axis=0) + 0.3 * rng.standard_normal(X.dim))
        hull = np.vstack([every.T, np.ones(len(every))])
        inside = linprog(np.zeros(len(every)), A_eq=hull, b_eq=np.append(cycle, 1.0)).status == 0
        assert X.contains(cycle, 1e-7) == inside


def test_larger_arborescences_agree_with_networkx() -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        nodes = 25
        pairs = {(int(u), int(v)) for u, v in rng.integers(0, nodes, (150, 2)) if u != v and v != 0}
        edges = sorted(pairs | {(v - 1, v) for v in range(1, nodes)})
        X, c = Arborescences(edges, 0), rng.integers(-50, 50, len(edges)).astype(np.float64)
        graph = nx.DiGraph()
        graph.add_weighted_edges_from((u, v, w) for (u, v), w in zip(edges, c, strict=True))
        least = nx.minimum_spanning_arborescence(graph).size(weight="weight")
        v = X.lmo(c)
        assert c @ v == least
        tree = nx.DiGraph([edge for edge, taken in zip(edges, v, strict=True) if taken])
        assert nx.is_arborescence(tree)
        assert len(tree) == nodes


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: BMatchings([(0, 1)], {0: 1}), "every node needs a capacity, 1 has none"),
        (lambda: BMatchings([(0, 1)], -1), "at least 0, got -1"),
        (lambda: BMatchings([(0, 0)], 1), "loop"),
        (lambda: PerfectMatchings([(0, 1), (1, 0)]), "once only"),
        (lambda: PerfectMatchings([(0, 1), (1, 2)]), "no matching meets all 3 nodes, at most 2"),
        (lambda: Arborescences([(0, 1)], 2), "root 2 is not a node"),
        (lambda: Arborescences([(0, 1), (2, 1)], 0), "no path leads from the root 0 to 2"),
    ],
)
def test_wrong_graphs_are_refused(make, sentence: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize("package", ["rustworkx", "networkx"])
def test_both_packages_find_the_heaviest_matching(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if package == "networkx":
        monkeypatch.setattr(graph_matchings, "loaded", lambda _: None)
    else:
        pytest.importorskip("rustworkx")
        monkeypatch.setattr(graph_matchings, "_networkx", None)
    rng = np.random.default_rng(6)
    for trial in range(60):
        edges = random_graph(rng, False, 11)
        incidence = np.array([[float(v in e) for e in edges] for v in range(6)])
        every = zero_one(len(edges))
        every = every[(every @ incidence.T <= 1.0).all(axis=1)]
        weights = [int(w) << 60 for w in rng.integers(-5, 9, len(edges))]
        largest = bool(trial % 2)
        if largest:
            every = every[every.sum(axis=1) == every.sum(axis=1).max()]
        found = heaviest_matching(edges, weights, largest=largest)
        assert (every == np.isin(np.arange(len(edges)), found)).all(axis=1).any()
        best = max(sum(w for w, x in zip(weights, row, strict=True) if x) for row in every)
        assert sum(weights[e] for e in found) == best


def test_weights_that_do_not_fit_are_left_to_networkx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_matchings, "_rustworkx", None)
    weights = [1 << 130, (1 << 130) + 1, 1 << 130]
    assert heaviest_matching([(0, 1), (1, 2), (2, 0)], weights) == [1]
    X = Matchings([(0, 1), (1, 2), (2, 0)])
    assert X.lmo([-1e-12, -1e20, -1e20 - 1e5]).tolist() == [0.0, 0.0, 1.0]


def test_odd_cycles_without_networkx_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    triangle = [(0, 1), (1, 2), (2, 0)]
    for make in (lambda: BMatchings(triangle, 1), lambda: PerfectMatchings([*triangle, (2, 3)])):
        with pytest.raises(ImportError, match=r"pip install \"\.\[graphs\]\""):
            make()
