"""Paths, walks and unit flows: projections, oracles and mixtures against independent answers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import networkx as nx
import numpy as np
import pytest
import quadprog
from scipy import optimize

from hedgerow import kernels
from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.paths.dag_paths import DagPaths
from hedgerow.sets.paths.flow_polytope import FlowPolytope
from hedgerow.sets.paths.hop_limited_walks import HopLimitedWalks
from hedgerow.sets.paths.unit_flow import UnitFlow

TWISTED = [("s", "a"), ("a", "b"), ("b", "a"), ("b", "t"), ("s", "b"), ("t", "s"), ("a", "a")]


def dag(nodes: int, edges: int, rng: np.random.Generator) -> DagPaths:
    """A chain with random forward edges, parallel ones included."""
    ends = np.sort(rng.integers(0, nodes, (edges, 2)), axis=1)
    chain = np.column_stack([np.arange(nodes - 1), np.arange(1, nodes)])
    return DagPaths(np.vstack([chain, ends[ends[:, 0] < ends[:, 1]]]), 0, nodes - 1)


def digraph(nodes: int, edges: int, rng: np.random.Generator) -> UnitFlow:
    """Random edges, loops and parallel ones included, through which the target can be reached."""
    while True:
        ends = rng.integers(0, nodes, (edges, 2))
        try:
            return UnitFlow(ends, 0, nodes - 1)
        except ValueError:
            continue


def points(X: DecisionSet, rng: np.random.Generator) -> Iterator[Vector]:
    """Points of every kind: generic, far, with ties, inside, vertices."""
    yield rng.normal(size=X.dim)
    yield 1e4 * rng.normal(size=X.dim)
    yield rng.integers(-1, 3, X.dim).astype(np.float64)
    yield np.zeros(X.dim)
    yield inner(X, rng)
    yield X.lmo(rng.normal(size=X.dim))


def inner(X: DecisionSet, rng: np.random.Generator) -> Vector:
    weights = rng.dirichlet(np.ones(6))
    return weights @ [X.lmo(rng.normal(size=X.dim)) for _ in weights]


def quadratic_programme(X: DecisionSet, y: Vector) -> Vector:
    rows = X.rows()
    moving = np.flatnonzero(rows.upper > rows.lower)
    x = rows.lower.copy()
    if moving.size == 0:
        return x
    equations = rows.A_eq.toarray()
    level = rows.b_eq - equations @ x
    kept = equations[:, moving]
    level, kept = level[np.any(kept != 0.0, axis=1)], kept[np.any(kept != 0.0, axis=1)]
    one = np.eye(moving.size)
    C = np.vstack([kept, one, -one]).T
    b = np.concatenate([level, np.zeros(moving.size), -np.ones(moving.size)])
    x[moving] = quadprog.solve_qp(one, y[moving].copy(), C, b, len(kept))[0]
    return x


def small_sets(rng: np.random.Generator) -> Iterator[FlowPolytope]:
    for _ in range(30):
        nodes = int(rng.integers(2, 9))
        yield dag(nodes, int(rng.integers(0, 25)), rng)
        yield digraph(nodes, nodes + int(rng.integers(0, 15)), rng)
    yield UnitFlow(TWISTED, "s", "t")


def test_projection_agrees_with_a_quadratic_programme() -> None:
    rng = np.random.default_rng(0)
    for X in small_sets(rng):
        for y in points(X, rng):
            x = X.project(y)
            assert X.contains(x)
            np.testing.assert_allclose(x, quadratic_programme(X, y), rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("cyclic", [False, True])
def test_large_projection_keeps_its_variational_inequality(cyclic: bool) -> None:
    rng = np.random.default_rng(1)
    for _ in range(3):
        X = digraph(191, 1200, rng) if cyclic else dag(191, 1200, rng)
        for y in points(X, rng):
            x = X.project(y)
            assert X.contains(x, 1e-10)
            v = X.lmo(x - y)
            assert (y - x) @ (v - x) <= 1e-7 * max(1.0, np.abs(y).max())
            np.testing.assert_allclose(X.project(x), x, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e12, 1e30, 1e200, 1e299])
def test_projection_survives_every_scale(scale: float) -> None:
    rng = np.random.default_rng(2)
    for X in (dag(40, 150, rng), digraph(40, 150, rng)):
        y = scale * rng.uniform(-1.0, 1.0, X.dim)
        x = X.project(y)
        assert X.contains(x)
        if scale < 1.0:
            np.testing.assert_allclose(x, X.project(np.zeros(X.dim)), rtol=0.0, atol=1e-7)
        else:  # the least ratio of costs is far from 1, so the nearest point is the best vertex
            np.testing.assert_allclose(x, X.lmo(-y), rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("cyclic", [False, True])
def test_warm_start_changes_nothing(cyclic: bool) -> None:
    rng = np.random.default_rng(3)
    X = digraph(60, 300, rng) if cyclic else dag(60, 300, rng)
    space = X.workspace()
    y = rng.normal(size=X.dim)
    for _ in range(40):
        y = y + 0.05 * rng.normal(size=X.dim)
        np.testing.assert_allclose(space.project(y), X.project(y), rtol=0.0, atol=1e-9)
    space.clear()
    np.testing.assert_array_equal(space.project(y), X.project(y))


@pytest.mark.parametrize(("nodes", "edges"), [(2, 1), (30, 20), (30, 32), (30, 90), (400, 1200)])
def test_laplacian_solver(nodes: int, edges: int) -> None:
    rng = np.random.default_rng(nodes + edges)
    tail, head = rng.integers(0, nodes, (2, edges)).astype(np.uint32)
    tail, head = tail[tail != head], head[tail != head]
    right = rng.normal(size=nodes)
    A = np.zeros((nodes, tail.size))
    A[head, np.arange(tail.size)] = 1.0
    A[tail, np.arange(tail.size)] -= 1.0
    exact = np.linalg.solve(A @ A.T + 1e-3 * np.eye(nodes), right)
    direct, iterative = right.copy(), right.copy()
    degree = np.bincount(np.concatenate([tail, head]), minlength=nodes).astype(np.uint32)
    begin, near = np.empty(nodes + 1, np.uint32), np.empty(2 * tail.size, np.uint32)
    place, node = np.empty((2, nodes), np.uint32)
    size = kernels.laplacians.narrow_order(tail, head, degree, begin[:nodes], near, place, node)
    node, bottom, begin = node[:size], np.empty(size, np.uint32), begin[: size + 1]
    np.testing.assert_array_equal(np.sort(node), np.flatnonzero(degree))
    np.testing.assert_array_equal(place[node], np.arange(size))
    operations = kernels.laplacians.envelope(place[tail], place[head], bottom, begin)
    diagonal = degree + 1e-3
    inner = right[node]
    factor = np.zeros(begin[size])
    kernels.laplacians.solve_directly(
        place[tail], place[head], begin, diagonal[node], factor, inner
    )
    direct /= 1e-3  # of a node without edges
    direct[node] = inner
    np.testing.assert_allclose(direct, exact, rtol=0.0, atol=1e-9)
    kernels.laplacians.solve_iteratively(tail, head, diagonal, iterative)
    error = (iterative - exact) @ (A @ (A.T @ (iterative - exact)))
    assert error <= 1e-2 * (exact @ (A @ (A.T @ exact)))
    links, scratch = np.empty(7 * nodes + 4 * tail.size + 1, np.uint32), np.empty(3 * nodes)
    kernels.laplacians.solve(tail, head, 1e-3, right, links, scratch)
    large = operations > kernels.laplacians.DENSE * (nodes + edges)
    assert large == (nodes == 400)
    np.testing.assert_allclose(
        right, exact, rtol=0.0, atol=0.1 * np.abs(exact).max() if large else 1e-9
    )


def test_projection_falls_back_when_newton_stalls(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    X = dag(8, 20, rng)
    y = rng.normal(size=X.dim)
    x = X.project(y)
    monkeypatch.setattr(kernels.flow_newton, "nearest", lambda *_: math.nan)
    np.testing.assert_allclose(X.project(y), x, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("damping", sorted(set(kernels.flow_newton.DAMPING)))
def test_every_attempt_of_newton_would_do(damping: float) -> None:
    """What follows where the first attempt stalls finds the same point by itself."""
    rng = np.random.default_rng(6)
    for X in (dag(40, 150, rng), digraph(40, 150, rng)):
        for _ in range(10):
            y, network = rng.normal(size=X.dim), X._network
            z, potential = y[network.edge], np.zeros(network.nodes)
            worst = kernels.flow_newton.project(
                *(network.tail, network.head, network.supply, network.upper),
                *(damping, potential, z),
            )
            assert worst <= kernels.flow_newton.ENOUGH
            flow = np.clip(z, 0.0, network.upper)
            np.testing.assert_allclose(flow, X.project(y)[network.edge], rtol=0.0, atol=1e-8)


def test_decomposition_reproduces_the_point() -> None:
    rng = np.random.default_rng(6)
    for X in [*small_sets(rng), dag(191, 1200, rng), digraph(60, 300, rng)]:
        for x in (X.start(), inner(X, rng), X.project(0.1 * rng.normal(size=X.dim))):
            weights, vertices = X.decompose(x)
            assert weights.min() >= 0.0
            assert abs(weights.sum() - 1.0) <= 1e-12
            assert weights.size <= max(1, X.dim + 1)
            np.testing.assert_allclose(weights @ vertices, x, rtol=0.0, atol=1e-9)
            assert set(np.unique(vertices)) <= {0.0, 1.0}
            assert all(X.contains(v) for v in vertices)
        outside = x + 1e-3
        with pytest.raises(ValueError, match="project it first"):
            X.decompose(outside)


def test_decomposition_of_a_dag_is_short() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        X = dag(12, 40, rng)
        weights, _ = X.decompose(inner(X, rng))
        assert weights.size <= X.live.sum() - X.nodes + 2


def test_sampling_has_the_right_mean() -> None:
    rng = np.random.default_rng(8)
    for X in (dag(10, 30, rng), digraph(8, 24, rng), UnitFlow(TWISTED, "s", "t")):
        x = inner(X, rng)
        draws = np.array([X.sample(x, rng) for _ in range(4000)])
        assert set(np.unique(draws)) <= {0.0, 1.0}
        assert all(X.contains(v) for v in draws[:100])
        bound = 5.0 * np.sqrt(np.maximum(x * (1.0 - x), 1e-6) / len(draws))
        assert (np.abs(draws.mean(axis=0) - x) <= bound).all()


def test_hull_and_ball() -> None:
    rng = np.random.default_rng(9)
    for X in [*small_sets(rng), dag(30, 100, rng), digraph(20, 80, rng)]:
        offset, basis = X.hull()
        d = basis.shape[1]
        np.testing.assert_allclose(basis.T @ basis, np.eye(d), rtol=0.0, atol=1e-12)
        vertices = np.array([X.lmo(rng.normal(size=X.dim)) for _ in range(10)])
        apart = vertices - offset
        np.testing.assert_allclose(apart @ basis @ basis.T, apart, rtol=0.0, atol=1e-12)
        centre, radius = X.ball()
        assert X.contains(centre)
        assert (radius > 0.0) == (d > 0)
        for u in np.vstack([rng.normal(size=(20, X.dim)), np.eye(X.dim), -np.eye(X.dim)]):
            u = basis @ (basis.T @ u)
            if np.linalg.norm(u) > 1e-9:
                assert X.contains(centre + radius * u / np.linalg.norm(u))


def test_ball_is_the_largest() -> None:
    centre, radius = DagPaths([("s", "t")] * 4, "s", "t").ball()
    np.testing.assert_allclose(centre, 0.25)
    assert radius == pytest.approx(0.25 / math.sqrt(0.75))
    centre, radius = UnitFlow([("s", "t"), ("s", "s")], "s", "t").ball()
    np.testing.assert_allclose(centre, [1.0, 0.5])
    assert radius == pytest.approx(0.5)


def test_separation() -> None:
    rng = np.random.default_rng(10)
    for X in small_sets(rng):
        assert X.separate(inner(X, rng)) is None
        for y in points(X, rng):
            a = X.separate(y)
            assert (a is None) == X.contains(y)
            if a is not None:
                assert a @ y > a @ X.lmo(-a) + 5e-10


def all_flows(X: UnitFlow) -> Vector:
    corners = np.array(list(itertools.product([0.0, 1.0], repeat=X.dim)))
    ends = np.asarray(X.edges)
    balance = np.zeros((corners.shape[0], int(ends.max()) + 1))
    for e, (tail, head) in enumerate(ends):
        balance[:, head] += corners[:, e]
        balance[:, tail] -= corners[:, e]
    balance[:, X.source] += 1.0
    balance[:, X.target] -= 1.0
    return corners[np.all(balance == 0.0, axis=1)]


def test_unit_flow_against_all_vertices() -> None:
    rng = np.random.default_rng(11)
    for _ in range(100):
        nodes = int(rng.integers(2, 6))
        X = digraph(nodes, int(rng.integers(nodes, 11)), rng)
        flows = all_flows(X)
        np.testing.assert_array_equal(X.free, np.ptp(flows, axis=0) == 1.0)
        widest = max(np.linalg.norm(flows - v, axis=1).max() for v in flows)
        assert X.diameter >= widest - 1e-12
        for c in (rng.normal(size=X.dim), rng.integers(-2, 3, X.dim), np.zeros(X.dim)):
            v = X.lmo(c)
            assert any(np.array_equal(v, flow) for flow in flows)
            assert c @ v == pytest.approx((flows @ c).min(), abs=1e-12)


def test_unit_flow_against_a_linear_programme() -> None:
    rng = np.random.default_rng(12)
    for trial in range(200):
        nodes = int(rng.integers(2, 15))
        X = digraph(nodes, int(rng.integers(2 * nodes, 5 * nodes + 1)), rng)
        c = rng.normal(size=X.dim) + rng.uniform(-1.0, 2.0)
        if trial % 4 == 0:
            c = np.round(c)
        v, rows = X.lmo(c), X.rows()
        assert set(np.unique(v)) <= {0.0, 1.0}
        assert X.contains(v, 0.0)
        bounds = np.column_stack([rows.lower, rows.upper])
        best = optimize.linprog(c, A_eq=rows.A_eq, b_eq=rows.b_eq, bounds=bounds)
        assert c @ v == pytest.approx(best.fun, abs=1e-9)


@pytest.mark.parametrize("mean", [0.0, 0.5, 1.6, 5.0])
def test_a_flow_is_proved_cheapest_by_its_potentials(mean):
    """However many edges start full: weak duality needs no solver to compare with."""
    rng = np.random.default_rng(4)
    for nodes, edges in ((40, 260), (200, 1500)):
        X = digraph(nodes, edges, rng)
        for scale in (1.0, 1e-200, 1e150):
            c = scale * (rng.standard_normal(edges) + mean)
            flow, potential = X._cheapest(c)
            network = X._network
            assert set(flow) <= {0.0, 1.0}
            assert not network.excess(flow).any()
            reduced = c[network.edge] + potential[network.tail] - potential[network.head]
            rounding = 1e-13 * np.abs(potential).max()
            assert reduced[flow == 0.0].min() >= -rounding
            assert reduced[flow == 1.0].max() <= rounding


def test_unit_flow_fixes_what_a_bridge_forces() -> None:
    X = UnitFlow([("s", "a"), ("a", "s"), ("a", "t"), ("b", "b"), ("b", "s")], "s", "t")
    np.testing.assert_array_equal(X.free, [False, False, False, True, False])
    np.testing.assert_array_equal(X.lmo([1, -5, 1, -1, -1]), [1.0, 0.0, 1.0, 1.0, 0.0])
    assert X.diameter == 1.0
    with pytest.raises(ValueError, match="no path leads from 't' to 's'"):
        UnitFlow([("s", "t")], "t", "s")
    single = UnitFlow([("s", "t")], "s", "t")
    assert single.diameter == 0.0
    assert single.diameter_is_exact
    assert not X.diameter_is_exact
    np.testing.assert_array_equal(single.project([7.0]), [1.0])


def all_walks(ends: np.ndarray, source: int, target: int, hops: int) -> Vector:
    found, front = [], [(source, (0,) * len(ends))]
    for _ in range(hops):
        front = [
            (int(head), (*uses[:e], uses[e] + 1, *uses[e + 1 :]))
            for node, uses in front
            for e, (tail, head) in enumerate(ends)
            if tail == node
        ]
        found += [uses for node, uses in front if node == target]
    return np.unique(np.array(found, dtype=np.float64), axis=0)


def is_no_mixture(v: Vector, others: Vector) -> bool:
    if len(others) == 0:
        return True
    A_eq = np.vstack([others.T, np.ones(len(others))])
    found = optimize.linprog(np.zeros(len(others)), A_eq=A_eq, b_eq=np.append(v, 1.0))
    return bool(found.status == 2)


def test_walks_against_all_walks() -> None:
    rng = np.random.default_rng(13)
    done = 0
    while done < 200:
        nodes, hops = int(rng.integers(2, 5)), int(rng.integers(1, 6))
        ends = rng.integers(0, nodes, (int(rng.integers(1, 8)), 2))
        try:
            X = HopLimitedWalks(ends, 0, nodes - 1, hops)
        except ValueError:
            continue
        done += 1
        walks = all_walks(ends, 0, nodes - 1, hops)
        np.testing.assert_array_equal(X.live, walks.max(axis=0) > 0.0)
        assert X.diameter >= max(np.linalg.norm(walks - v, axis=1).max() for v in walks) - 1e-12
        for c in (rng.normal(size=X.dim), rng.integers(-2, 3, X.dim), np.zeros(X.dim)):
            v = X.lmo(c)
            same = np.all(walks == v, axis=1)
            assert same.sum() == 1
            assert is_no_mixture(v, walks[~same])
            assert c @ v == pytest.approx((walks @ c).min(), abs=1e-12)


def test_a_walk_between_equally_cheap_ones_is_no_answer() -> None:
    ends = np.array([[1, 2], [1, 0], [0, 1], [0, 2], [0, 1], [2, 1], [2, 0]])
    v, walks = HopLimitedWalks(ends, 0, 2, 5).lmo(-np.ones(7)), all_walks(ends, 0, 2, 5)
    assert v.sum() == 5.0
    assert is_no_mixture(v, walks[~np.all(walks == v, axis=1)])


def test_walks_have_lifted_rows_and_mixtures() -> None:
    rng = np.random.default_rng(14)
    ends = np.vstack([[[0, 1], [1, 2], [2, 3]], rng.integers(0, 4, (8, 2))])
    X = HopLimitedWalks(ends, 0, 3, 6)
    rows = X.rows()
    bounds = np.column_stack([rows.lower, rows.upper])
    for _ in range(10):
        c = rng.normal(size=X.dim)
        best = optimize.linprog(c @ rows.lift, A_eq=rows.A_eq, b_eq=rows.b_eq, bounds=bounds)
        assert c @ X.lmo(c) == pytest.approx(best.fun, abs=1e-9)
        x = X.project(2.0 * rng.normal(size=X.dim))
        weights, vertices = X.decompose(x)
        np.testing.assert_allclose(weights @ vertices, x, rtol=0.0, atol=1e-9)
    assert X.separate(x) is None
    assert X.separate(x - 0.1) is not None


def test_walks_on_a_dag_are_its_paths() -> None:
    rng = np.random.default_rng(15)
    X = dag(8, 20, rng)
    walks = HopLimitedWalks(X.edges, 0, 7, 7)
    np.testing.assert_array_equal(walks.live, X.live)
    for y in points(X, rng):
        assert y @ walks.lmo(y) == pytest.approx(y @ X.lmo(y), abs=1e-9)
        np.testing.assert_allclose(walks.project(y), X.project(y), rtol=0.0, atol=1e-7)
    with pytest.raises(ValueError, match="no path of at most 2 edges"):
        HopLimitedWalks([(0, 1), (1, 2), (2, 3)], 0, 3, 2)
    with pytest.raises(ValueError, match="hops must be at least 1"):
        HopLimitedWalks([(0, 1)], 0, 1, 0)


def test_from_networkx() -> None:
    graph = nx.Graph([("s", "a"), ("s", "b"), ("a", "b"), ("b", "t"), ("a", "t"), ("s", "s")])
    by_order = DagPaths.from_networkx(graph, "s", "t", order=["s", "b", "a", "t"])
    kept = {("s", "a"), ("s", "b"), ("b", "a"), ("b", "t"), ("a", "t")}
    assert set(by_order.edges) == kept
    by_distance = DagPaths.from_networkx(graph, "s", "t", order="distance")
    assert set(by_distance.edges) == kept - {("b", "a")} | {("a", "b")}
    assert set(DagPaths.from_networkx(graph, "s", "t", order=["s", "a", "t"]).edges) == {
        ("s", "a"),
        ("a", "t"),
    }
    with pytest.raises(ValueError, match="undirected graph needs an order"):
        DagPaths.from_networkx(graph, "s", "t")
    with pytest.raises(ValueError, match='None or "distance"'):
        DagPaths.from_networkx(graph, "s", "t", order="hops")
    with pytest.raises(ValueError, match="source 'x' is not a node"):
        DagPaths.from_networkx(graph, "x", "t", order="distance")
    directed = nx.DiGraph([("s", "a"), ("a", "t"), ("t", "s"), ("z", "a")])
    assert list(DagPaths.from_networkx(directed, "s", "t", order="distance").edges) == [
        ("s", "a"),
        ("a", "t"),
    ]
    with pytest.raises(ValueError, match="no cycle"):
        DagPaths.from_networkx(directed, "s", "t")
    parallel = nx.MultiDiGraph([("s", "t"), ("s", "t")])
    assert DagPaths.from_networkx(parallel, "s", "t").edges == (("s", "t"), ("s", "t"))


def test_large_dag_projects_without_dense_matrices() -> None:
    rng = np.random.default_rng(17)
    X = dag(5000, 25000, rng)
    y = 0.1 * rng.normal(size=X.dim)
    x = X.project(y)
    assert X.contains(x)
    assert (y - x) @ (X.lmo(x - y) - x) <= 1e-7
