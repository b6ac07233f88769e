"""Assignments and matchings against all of them, linear and quadratic programmes."""

from __future__ import annotations

import importlib.util
import itertools

import networkx as nx
import numpy as np
import pytest
import quadprog
from scipy.optimize import linprog

from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet, HasLinearDescription
from hedgerow.sets.matchings import bipartite
from hedgerow.sets.matchings.birkhoff import Birkhoff
from hedgerow.sets.matchings.graph_matchings import Matchings


def permutations(n: int) -> Vector:
    return np.array([np.eye(n)[list(p)].ravel() for p in itertools.permutations(range(n))])


def matchings(edges: list[tuple[int, int]]) -> Vector:
    found: list[list[int]] = [[]]
    for e, ends in enumerate(edges):
        found += [[*m, e] for m in found if not {*ends} & {v for f in m for v in edges[f]}]
    return np.array([np.isin(np.arange(len(edges)), m) for m in found], dtype=np.float64)


def random_graph(rng: np.random.Generator, sides: bool) -> list[tuple[int, int]]:
    nodes = int(rng.integers(2, 8))
    pairs = list(itertools.combinations(range(nodes), 2))
    if sides:
        pairs = [(u, v) for u, v in pairs if (u + v) % 2]
    chosen = rng.permutation(len(pairs))[: rng.integers(1, 12)]
    return [pairs[k][:: rng.choice([-1, 1])] for k in chosen]


def directions(n: int, rng: np.random.Generator) -> list[Vector]:
    magnitudes = np.exp(20.0 * rng.standard_normal(n))
    plain, whole = rng.standard_normal(n), rng.integers(-2, 3, n).astype(np.float64)
    return [plain, whole, np.zeros(n), -magnitudes, 1e9 * plain - 1e9]


def nearest(X: DecisionSet, y: Vector) -> Vector:
    """Solve the quadratic programme of the rows."""
    rows = X.rows()
    equations = np.zeros((0, X.dim)) if rows.A_eq is None else rows.A_eq.toarray()
    above = np.zeros((0, X.dim)) if rows.A_ub is None else rows.A_ub.toarray()
    normals = np.vstack([equations, -above, np.eye(X.dim)])
    sides = np.concatenate([np.ones(len(equations)), -np.ones(len(above)), np.zeros(X.dim)])
    return quadprog.solve_qp(np.eye(X.dim), y, normals.T, sides, len(equations))[0]


def assert_mean(X: DecisionSet, x: Vector, vertices: Vector, seed: int, draws: int = 4000) -> None:
    """Draws are vertices, and their mean is x within five standard errors."""
    rng = np.random.default_rng(seed)
    drawn = np.array([X.sample(x, rng) for _ in range(draws)])
    known = {v.tobytes() for v in vertices}
    assert all(v.tobytes() in known for v in drawn)
    error = np.sqrt(np.clip(x * (1.0 - x), 0.0, None) / draws)
    assert (np.abs(drawn.mean(axis=0) - x) <= 5.0 * error + 1e-9).all()


def test_assignments_are_cheapest_of_all_permutations() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 4, 5):
        X, all_of_them = Birkhoff(n), permutations(n)
        for c in [c for _ in range(40 // 5) for c in directions(X.dim, rng)]:
            v = X.lmo(c)
            assert (all_of_them == v).all(axis=1).any()
            assert c @ v <= (all_of_them @ c).min() + 1e-14 * np.abs(c).max()
        apart = ((all_of_them[:, None] - all_of_them) ** 2).sum(axis=2)
        assert X.diameter == pytest.approx(np.sqrt(apart.max()), abs=1e-12)


@pytest.mark.parametrize("sides", [True, False])
def test_matchings_are_cheapest_of_all(sides: bool) -> None:
    rng = np.random.default_rng(1)
    odd = 0
    for _ in range(100):
        edges = random_graph(rng, sides)
        X, all_of_them = Matchings(edges), matchings(edges)
        odd += not X.bipartite
        assert X.bipartite == nx.is_bipartite(nx.Graph(edges))
        for c in directions(X.dim, rng):
            v = X.lmo(c)
            assert (all_of_them == v).all(axis=1).any()
            assert c @ v <= (all_of_them @ c).min() + 1e-14 * np.abs(c).max()
        apart = np.abs(all_of_them[:, None] - all_of_them).sum(axis=2).max()
        assert X.diameter**2 >= apart - 1e-9
        if X.diameter_is_exact:
            assert X.diameter**2 == pytest.approx(apart)
    assert odd == 0 if sides else odd > 20


def test_blossoms_are_exact_where_rounding_would_decide() -> None:
    """Odd cycles whose best matchings differ by one unit in the last place."""
    edges = [(k, (k + 1) % 7) for k in range(7)]
    X, all_of_them = Matchings(edges), matchings(edges)
    rng = np.random.default_rng(2)
    for _ in range(50):
        c = -1.0 - rng.integers(0, 3, 7) * 2.0**-52
        exact = min(sum((c[v > 0.0] + 1.0) * 2.0**52) - 2**52 * v.sum() for v in all_of_them)
        v = X.lmo(c)
        assert sum((c[v > 0.0] + 1.0) * 2.0**52) - 2**52 * v.sum() == exact


def test_the_sparse_oracle_agrees_with_the_dense_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    for _ in range(100):
        X = Matchings(random_graph(rng, sides=True))
        for c in directions(X.dim, rng)[:3]:
            dense = X.lmo(c)
            with monkeypatch.context() as patch:
                patch.setattr(bipartite, "DENSE", 0)
                sparse = X.lmo(c)
            assert X.contains(sparse)
            assert c @ sparse == pytest.approx(c @ dense, abs=1e-12)


def test_projections_solve_the_quadratic_programme(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    for trial in range(60):
        X = Birkhoff(trial % 5 + 1) if trial % 2 else Matchings(random_graph(rng, sides=True))
        for scale in (0.3, 3.0, 100.0):
            y = scale * rng.standard_normal(X.dim)
            p = X.project(y)
            assert X.contains(p, 1e-11)
            np.testing.assert_allclose(p, nearest(X, y), atol=1e-9 * max(1.0, scale))
            assert (y - p) @ (X.lmo(p - y) - p) <= 1e-9 * scale**2
            with monkeypatch.context() as patch:
                patch.setattr(bipartite, "DENSE", 0)
                np.testing.assert_allclose(X.project(y), p, atol=1e-9)
            with monkeypatch.context() as patch:  # Newton's method is not let run
                patch.setattr(bipartite, "STEPS", 0)
                np.testing.assert_allclose(X.project(y), p, atol=1e-7)


def test_newtons_method_needs_no_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DecisionSet, "project", None)
    rng = np.random.default_rng(12)
    for trial in range(200):
        X = Birkhoff(trial % 9 + 1) if trial % 2 else Matchings(random_graph(rng, sides=True))
        y = 10.0 ** rng.uniform(-3.0, 6.0) * rng.standard_normal(X.dim)
        assert X.contains(X.project(y), 1e-11)
        assert X.contains(X.project(np.rint(y)), 1e-11)


def test_projections_from_afar_are_in_the_set() -> None:
    rng = np.random.default_rng(5)
    for X in (Birkhoff(12), Matchings([(u, 20 + v) for u in range(8) for v in range(9)])):
        for scale in (1e3, 1e6, 1e12):
            y = scale * rng.standard_normal(X.dim)
            p = X.project(y)
            assert X.contains(p, 1e-11)
            assert (y - p) @ (X.lmo(p - y) - p) <= 1e-12 * scale**2


def test_projections_onto_odd_graphs_keep_the_variational_inequality() -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        edges = [(0, 1), (1, 2), (2, 0), *random_graph(rng, sides=True)]
        X = Matchings(list(dict.fromkeys(tuple(sorted(e)) for e in edges)))
        all_of_them = matchings(list(X.edges))
        y = 2.0 * rng.standard_normal(X.dim)
        p = X.project(y)
        assert ((all_of_them - p) @ (y - p)).max() <= 1e-8
        assert X.separate(p) is None
        a = X.separate(y)
        assert a is None or a @ y > (all_of_them @ a).max()
        assert not X.supports(HasLinearDescription)
        with pytest.raises(NotImplementedError, match="rows"):
            X.rows()


def test_mixtures_give_back_the_point() -> None:
    rng = np.random.default_rng(7)
    for trial in range(80):
        n = trial % 6 + 1
        X = Birkhoff(n) if trial % 2 else Matchings(random_graph(rng, sides=trial % 4 == 0))
        k = int(rng.integers(1, 8))
        corners = np.array([X.lmo(rng.standard_normal(X.dim)) for _ in range(k)])
        for x in (rng.dirichlet(np.ones(k)) @ corners, corners.mean(axis=0), X.start()):
            weights, vertices = X.decompose(x)
            limit = (n - 1) ** 2 + 1 if trial % 2 else X.dim + 1
            assert weights.size <= limit
            assert weights.min() >= 0.0
            assert weights.sum() == pytest.approx(1.0, abs=1e-12)
            np.testing.assert_allclose(weights @ vertices, x, atol=1e-12)
            assert set(np.unique(vertices)) <= {0.0, 1.0}
            assert all(X.contains(v) for v in vertices)


def test_points_outside_are_not_mixtures() -> None:
    for X in (Birkhoff(3), Matchings([(0, 1), (1, 2)])):
        for call in (X.decompose, lambda x, X=X: X.sample(x, np.random.default_rng(0))):
            with pytest.raises(ValueError, match="project it first"):
                call(np.full(X.dim, 0.9))


def test_samples_have_the_point_as_their_mean() -> None:
    rng = np.random.default_rng(8)
    X = Birkhoff(4)
    assert_mean(X, X.project(0.3 * rng.random(16)), permutations(4), seed=0)
    assert_mean(X, X.start(), permutations(4), seed=1)
    for seed in range(4):
        edges = random_graph(rng, sides=True)
        Y = Matchings(edges)
        assert_mean(Y, Y.project(0.5 * rng.random(Y.dim)), matchings(edges), seed)
    triangle = Matchings([("a", "b"), ("b", "c"), ("a", "c")])
    assert_mean(triangle, np.array([0.5, 0.2, 0.1]), matchings([(0, 1), (1, 2), (0, 2)]), 5, 300)


def test_samples_of_inexact_points_are_vertices() -> None:
    rng = np.random.default_rng(9)
    X = Birkhoff(6)
    for _ in range(200):
        x = X.project(rng.random(36)) + rng.uniform(0.0, 1e-9, 36)
        v = X.sample(x, rng)
        assert set(np.unique(v)) <= {0.0, 1.0}
        assert X.contains(v)


def test_balls_touch_and_do_not_leave() -> None:
    rng = np.random.default_rng(10)
    for n in (2, 3, 6):
        X = Birkhoff(n)
        centre, r = X.ball()
        _, basis = X.hull()
        axes = X.tangent(np.eye(n * n)[0])
        outward = -axes / np.linalg.norm(axes)
        assert X.contains(centre + r * outward)
        assert not X.contains(centre + 1.001 * r * outward)
        for step in rng.standard_normal((50, basis.shape[1])):
            assert X.contains(centre + r * basis @ step / np.linalg.norm(step))
    for k in range(60):
        complete = k < 6  # where the odd sets are fullest
        edges = list(itertools.combinations(range(k + 2), 2)) if complete else None
        X = Matchings(edges or random_graph(rng, sides=bool(k % 2)))
        centre, r = X.ball()
        ends = np.array(X.edges)
        for size in range(1, int(ends.max()) + 2):
            for some in itertools.combinations(range(int(ends.max()) + 1), size):
                among = np.isin(ends, some).all(axis=1) if size % 2 else np.zeros(len(ends), bool)
                if size == 1:
                    among, most = np.isin(ends, some).any(axis=1), 1.0
                else:
                    most = (size - 1) / 2
                reach = centre[among].sum() + r * np.sqrt(among.sum())
                assert reach <= most or not among.any()
        assert (centre >= r).all()


def test_rows_have_the_oracle_value() -> None:
    rng = np.random.default_rng(11)
    for trial in range(40):
        X = Birkhoff(trial % 4 + 1) if trial % 2 else Matchings(random_graph(rng, sides=True))
        rows, c = X.rows(), rng.standard_normal(X.dim)
        bounds = np.column_stack([rows.lower, rows.upper])
        value = linprog(c, rows.A_ub, rows.b_ub, rows.A_eq, rows.b_eq, bounds).fun
        assert c @ X.lmo(c) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        ([], "at least one edge"),
        ([(1, 1)], "loop"),
        ([(1, 2), (2, 3), (2, 1)], r"once only, got \(1, 2\)"),
        ([(1, 2, 3)], "pair of nodes"),
    ],
)
def test_wrong_graphs_are_refused(edges: list[tuple[int, ...]], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Matchings(edges)  # type: ignore[arg-type]


def test_odd_cycles_without_networkx_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r"pip install \"\.\[graphs\]\""):
        Matchings([(0, 1), (1, 2), (2, 0)])
    assert Matchings([(0, 1), (1, 2)]).bipartite
