"""Garber and Kretzu's sub-routines: each promised property, on random cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from convex_steps import prox_by_scipy, sq
from hedgerow.baselines.penalty_prox import Affine, ball_prox
from hedgerow.sets.balls.boxes import Box
from hedgerow.sets.balls.l1_l2_balls import L2Ball
from hedgerow.sets.hulls import hull_projector
from hedgerow.sets.matroids.spanning_trees import SpanningTrees
from hedgerow.sets.paths.dag_paths import DagPaths
from hedgerow.sets.projections import approximate_projection
from hedgerow.sets.projections.approximate_projection import (
    approximately_feasible_projection,
    close_infeasible_projection,
    frank_wolfe_separation,
    project_by_kernels,
)
from hedgerow.sets.simplices.simplex import Simplex

EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4), (1, 4), (5, 4)]
SETS = {
    "simplex": lambda: Simplex(6),
    "ball": lambda: L2Ball(4, radius=2.0),
    "box": lambda: Box(-np.arange(1.0, 5.0), np.ones(4)),
    "dag": lambda: DagPaths(EDGES, 0, 4),
}
CASES = 50  # a set, so 200 in all


def cases(name):
    """Yield the set, a start, y at many distances, eps, and points z of the set."""
    X, rng = SETS[name](), np.random.default_rng(7)
    for _ in range(CASES):
        vertices = np.array([X.lmo(rng.standard_normal(X.dim)) for _ in range(8)])
        start = rng.dirichlet(np.ones(8)) @ vertices
        far = 10.0 ** rng.uniform(-1.5, 0.5) * X.diameter
        u = rng.standard_normal(X.dim)
        y = start + far * u / np.linalg.norm(u)
        z = np.vstack([vertices, rng.dirichlet(np.ones(8), size=8) @ vertices])
        yield X, start, y, 10.0 ** rng.uniform(-3.0, -1.0) * X.diameter**2, z


def nearest_distance(X, y):
    return float(np.linalg.norm(X.project(y) - y))


def by_the_paper(X, x, y, eps):
    """S1 as printed: the oracle first, then both tests."""
    while True:
        v = X.lmo(x - y)
        gap = float((x - y) @ (x - v))
        if gap <= eps or sq(x - y) <= 3 * eps:
            return x
        x = x + min(1.0, gap / sq(v - x)) * (v - x)


@pytest.mark.parametrize("name", SETS)
def test_separation_comes_near_or_separates(name):
    kinds = set()
    for X, start, y, eps, z in cases(name):
        end = frank_wolfe_separation(X.lmo, start, y, eps)
        assert X.contains(end.x)
        assert sq(end.x - y) <= sq(start - y) * (1 + 1e-12)
        assert end.calls <= max(0.0, math.ceil(27 * X.diameter**2 / eps - 2))
        near = sq(end.x - y) <= 3 * eps
        kinds.add(near)
        if near:
            continue
        assert nearest_distance(X, y) ** 2 > eps  # else it had to come near
        inner = (y - z) @ (y - end.x)
        assert inner.min() > 2 * eps
        assert inner.min() > 2 / 3 * sq(end.x - y)
    assert kinds == {True, False}, "both endings must have been seen"


@pytest.mark.parametrize("name", SETS)
def test_separation_returns_the_papers_point(name):
    for X, start, y, eps, _ in cases(name):
        end = frank_wolfe_separation(X.lmo, start, y, eps)
        np.testing.assert_allclose(end.x, by_the_paper(X, start, y, eps), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", SETS)
def test_the_projection_keeps_its_three_promises(name):
    moved = 0
    for X, start, y, eps, z in cases(name):
        end = approximately_feasible_projection(X.lmo, start, y, eps)
        check_promises(X, end, y, eps, z)
        separations = 2.25 * math.log(max(1.0, sq(start - y) / eps)) + 1
        assert end.calls <= 27 * X.diameter**2 / eps * separations
        moved += end.calls > 0
        if sq(start - y) <= 3 * eps:
            assert end.calls == 0
            assert (end.x == start).all()
            assert (end.y == y).all()
    assert moved > CASES // 2


@pytest.mark.parametrize("name", SETS)
def test_the_older_projection_keeps_them_too(name):
    for k, (X, start, y, eps, z) in enumerate(cases(name)):
        if k == 12:
            break
        eps = max(eps, 0.02 * X.diameter**2)  # it takes 1/eps^2 separations
        end = close_infeasible_projection(X.lmo, start, y, eps, start, X.diameter)
        check_promises(X, end, y, eps, z)


def check_promises(X, end, y, eps, z):
    assert X.contains(end.x)
    assert sq(end.x - end.y) <= 3 * eps
    before, after = (np.linalg.norm(z - point, axis=1) for point in (y, end.y))
    assert (after <= before * (1 + 1e-12)).all()


def test_an_oracle_that_hardly_helps_is_not_asked_for_ever():
    """Each vertex is sideways but for a gap of 2 eps: no set has such vertices for long."""
    y, eps, asked = np.array([100.0, 0.0]), 0.1, 0

    def sideways(c):
        nonlocal asked
        asked += 1
        assert asked < 10_000, "without a bound it takes millions of calls"
        x, side = c + y, np.array([-c[1], c[0]]) / np.linalg.norm(c)
        return x - 2.0 * eps * c / (c @ c) + 3.0 * side

    end = frank_wolfe_separation(sideways, np.zeros(2), y, eps)
    assert eps < end.gap < 3.0 * eps
    assert 0 < end.calls <= 6.75 * 9.01 / eps + 1


def test_a_projection_that_would_take_for_ever_is_refused():
    X, y = Simplex(2), np.array([3.0, 0.0])
    with pytest.raises(ValueError, match=r"eps must be above 0.00[0-9]+ for a .*take 1e\+13 sep"):
        close_infeasible_projection(X.lmo, X.start(), y, 3e-7, X.start(), X.diameter)


@pytest.mark.parametrize("name", SETS)
def test_the_kernel_ends_where_python_does(name):
    moved = 0
    for X, start, y, eps, _ in cases(name):
        end = approximately_feasible_projection(X.lmo, start, y, eps)
        x, near = start.copy(), y.copy()
        calls = project_by_kernels(X.workspace().space, x, near, eps)
        assert (x.tobytes(), near.tobytes(), calls) == (end.x.tobytes(), end.y.tobytes(), end.calls)
        moved += calls > 1
    assert moved > CASES // 4


def test_too_few_separations_end_with_the_same_sentence(monkeypatch):
    monkeypatch.setattr(approximate_projection, "_most_2023", lambda *_: -1.0)  # one, not enough
    X, y, told = Simplex(2), np.array([3.0, 0.0]), []
    for project in (
        lambda: approximately_feasible_projection(X.lmo, X.start(), y, 0.1),
        lambda: project_by_kernels(X.workspace().space, X.start(), y.copy(), 0.1),
    ):
        with pytest.raises(RuntimeError, match="use a larger eps") as refusal:
            project()
        told.append(str(refusal.value))
    assert told[0] == told[1]


def test_a_tolerance_of_zero_is_refused():
    X = Simplex(3)
    for method in (frank_wolfe_separation, approximately_feasible_projection):
        with pytest.raises(ValueError, match="eps must be above 0"):
            method(X.lmo, X.start(), np.ones(3), 0.0)


@pytest.mark.parametrize(
    "X",
    [
        Simplex(5),
        DagPaths(EDGES, 0, 4),
        Box([-1.0, 0.0, 2.0], [1.0, 5.0, 2.0]),
        L2Ball(3),
        SpanningTrees([(0, 1), (0, 2), (1, 2), (2, 3)]),
    ],
    ids=lambda X: type(X).__name__,
)
def test_the_hull_projector_is_the_orthogonal_one(X):
    along, rng = hull_projector(X), np.random.default_rng(3)
    vertices = np.array([X.lmo(rng.standard_normal(X.dim)) for _ in range(60)])
    directions = vertices - vertices[0]
    c = rng.standard_normal((4, X.dim))
    np.testing.assert_allclose(along(directions), directions, rtol=0, atol=1e-12)
    basis = np.linalg.svd(directions)[2][: np.linalg.matrix_rank(directions)]
    np.testing.assert_allclose(along(c), c @ basis.T @ basis, rtol=0, atol=1e-9)
    np.testing.assert_allclose(along(c[0]), along(c)[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("weight", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("begin", [range(9), (0, 3, 4, 6, 8)], ids=["affine", "maxima"])
@pytest.mark.parametrize("radius", [0.5, 50.0])
def test_the_ball_step_is_the_minimiser(weight, begin, radius):
    rng = np.random.default_rng(5)
    for _ in range(3):
        rows = rng.standard_normal(10) + 0.4 * rng.standard_normal((8, 10))
        pieces = Affine(rows, rng.normal(-0.2, 0.2, 8), np.array(begin, np.uint32))
        c, z0 = 2.0 * rng.standard_normal(10), 0.1 * rng.standard_normal(10)
        z = ball_prox(c, pieces, weight, 0.3, z0, radius)
        expected = prox_by_scipy(c, pieces, weight, 0.3, z0, radius)
        assert np.linalg.norm(z) <= radius * (1 + 1e-12)
        np.testing.assert_allclose(z, expected, rtol=0, atol=1e-6)


def test_the_ball_step_without_slopes_is_a_projected_gradient_step():
    flat = Affine(np.zeros((1, 2)), np.array([3.0]), np.array([0, 1], np.uint32))
    z = ball_prox(np.array([-3.0, -4.0]), flat, 1.0, 1.0, np.zeros(2), 1.0)
    np.testing.assert_allclose(z, [0.6, 0.8])
