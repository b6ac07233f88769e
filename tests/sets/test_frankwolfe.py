from __future__ import annotations

import numpy as np
import pytest
import quadprog
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import spatial

from hedgerow.sets.balls.boxes import Box
from hedgerow.sets.balls.l1_l2_balls import L1Ball, L2Ball
from hedgerow.sets.compositions.oracle_only import ConvexHull
from hedgerow.sets.compositions.wrappers import Translated
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.projections.frank_wolfe import conditional_gradient, minimum_norm_point
from hedgerow.sets.simplices.simplex import Simplex

SETS = [
    Simplex(1),
    Simplex(6),
    Box([-1.0, 2.0, 0.0], [1.0, 2.0, 5.0]),
    L1Ball(8, radius=3.0),
    L2Ball(4),
    Translated(L2Ball(3), [4.0, -1.0, 2.0]),
    ConvexHull(np.random.default_rng(0).standard_normal((30, 5))),
]


def quadratic(x: np.ndarray, s: np.ndarray, beta: float, centre: np.ndarray) -> float:
    return float(s @ x + beta * (x - centre) @ (x - centre))


@pytest.mark.parametrize("X", SETS, ids=lambda X: type(X).__name__)
def test_each_step_lowers_the_objective_and_the_gap_bounds_what_is_left(X: DecisionSet) -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        s, centre = 3.0 * rng.standard_normal(X.dim), rng.standard_normal(X.dim)
        beta = 10.0 ** rng.uniform(-2, 2)
        best = minimum_norm_point(X.lmo, centre - s / (2.0 * beta), 0.0, 10_000).x
        least = quadratic(best, s, beta, centre)
        previous = quadratic(X.start(), s, beta, centre)
        for cap in range(1, 15):
            end = conditional_gradient(X.lmo, s, beta, centre, X.start(), 0.0, cap)
            value = quadratic(end.x, s, beta, centre)
            slack = 1e-12 * (1.0 + abs(value))
            assert end.calls <= cap
            assert X.contains(end.x)
            assert value <= previous + slack
            assert -slack - 1e-9 * beta <= value - least <= end.gap + slack
            # h_{t+1} <= (1 - sigma) h_t + sigma^2 beta D^2 for every sigma, by the line search.
            for sigma in (0.1, 0.5, 1.0):
                bound = (1.0 - sigma) * (previous - least) + sigma**2 * beta * X.diameter**2
                assert value - least <= bound + slack + 1e-9 * beta
            previous = value


def test_the_step_is_the_best_point_of_its_segment() -> None:
    rng = np.random.default_rng(2)
    X = L1Ball(5)
    for _ in range(50):
        s, centre, x = rng.standard_normal((3, 5))
        x /= 2.0 * np.abs(x).sum()
        beta = 10.0 ** rng.uniform(-2, 1)
        v = X.lmo(s + 2.0 * beta * (x - centre))
        end = conditional_gradient(X.lmo, s, beta, centre, x, 0.0, 1)
        segment = [x + sigma * (v - x) for sigma in np.linspace(0.0, 1.0, 101)]
        best = min(quadratic(z, s, beta, centre) for z in segment)
        assert quadratic(end.x, s, beta, centre) <= best + 1e-12


def test_the_last_step_is_kept_even_when_the_tolerance_is_loose() -> None:
    X, s = Simplex(3), np.array([0.0, 1.0, 2.0])
    end = conditional_gradient(X.lmo, s, 1e-3, X.start(), X.start(), 1e9, 100)
    assert end.calls == 1
    np.testing.assert_array_equal(end.x, [1.0, 0.0, 0.0])


def test_it_stops_at_the_tolerance_and_never_exceeds_the_cap() -> None:
    X, s, centre = L2Ball(4), np.array([1.0, 2.0, 3.0, 4.0]), np.full(4, 0.4)
    for tolerance in (1.0, 1e-2, 1e-4):
        end = conditional_gradient(X.lmo, s, 1.0, centre, X.start(), tolerance, 10_000)
        assert end.gap <= tolerance
        shorter = conditional_gradient(X.lmo, s, 1.0, centre, X.start(), tolerance, end.calls - 1)
        assert shorter.gap > tolerance
        assert shorter.calls == end.calls - 1
    none = conditional_gradient(X.lmo, s, 1.0, centre, X.start(), 1.0, 0)
    assert (none.gap, none.calls) == (np.inf, 0)
    np.testing.assert_array_equal(none.x, X.start())


def test_the_start_is_not_changed() -> None:
    start = np.full(4, 0.25)
    conditional_gradient(Simplex(4).lmo, np.arange(4.0), 1.0, start, start, 0.0, 5)
    np.testing.assert_array_equal(start, np.full(4, 0.25))


def test_wolfe_agrees_with_a_quadratic_programme_on_random_hulls() -> None:
    rng = np.random.default_rng(3)
    for trial in range(100):
        n = int(rng.integers(2, 6))
        points = rng.standard_normal((int(rng.integers(n + 1, 25)), n)) + 5.0
        if trial % 2:
            points = np.unique(points.round(), axis=0)  # many points on common faces
        y = 5.0 + rng.choice([0.3, 3.0, 300.0]) * rng.standard_normal(n)
        try:
            faces = spatial.ConvexHull(points).equations
        except spatial.QhullError:
            continue  # flat: no facets to compare with
        expected = quadprog.solve_qp(np.eye(n), y, -faces[:, :-1].T, faces[:, -1])[0]
        end = minimum_norm_point(ConvexHull(points).lmo, y, 1e-10, 1000)
        np.testing.assert_allclose(end.x, expected, atol=1e-9)
        assert end.calls < 100


def test_wolfe_comes_closer_at_every_step() -> None:
    rng = np.random.default_rng(6)
    for _ in range(25):  # in the last one, moving too far before a vertex is dropped comes out
        X = ConvexHull(rng.standard_normal((40, 15)))
        y = 0.4 * rng.standard_normal(15)
        last = np.inf
        for cap in range(1, 80):  # finiteness rests on this: no set of vertices comes back
            end = minimum_norm_point(X.lmo, y, 0.0, cap)
            distance = np.linalg.norm(end.x - y)
            assert distance <= last + 1e-13
            last = distance
            if end.calls < cap:
                break


@pytest.mark.parametrize("X", SETS, ids=lambda X: type(X).__name__)
def test_wolfe_keeps_few_independent_vertices(X: DecisionSet) -> None:
    rng = np.random.default_rng(4)
    for size in (0.1, 1.0, 10.0) * 5:
        y = X.start() + size * rng.standard_normal(X.dim)
        end = minimum_norm_point(X.lmo, y, 1e-9, 10_000)
        k = len(end.weights)
        assert 1 <= k <= X.dim + 1
        assert end.weights.min() > 0.0
        assert end.weights.sum() == pytest.approx(1.0, abs=1e-13)
        np.testing.assert_allclose(end.weights @ end.vertices, end.x, atol=1e-12)
        assert np.linalg.matrix_rank(end.vertices[1:] - end.vertices[0], tol=1e-12) == k - 1
        v = X.lmo(end.x - y)
        assert (end.x - y) @ (end.x - v) <= max(end.gap, 1e-18) + 1e-14 * (1.0 + size)


@given(
    st.integers(1, 6),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-6, 1.0, 1e6]),
    st.integers(1, 12),
)
@settings(max_examples=100, deadline=None)
def test_wolfe_keeps_its_cap_and_its_promises_at_every_scale(
    n: int, seed: int, scale: float, cap: int
) -> None:
    rng = np.random.default_rng(seed)
    X = ConvexHull(scale * rng.integers(-2, 3, (8, n)))
    y = scale * rng.standard_normal(n)
    calls = []

    def lmo(c: np.ndarray) -> np.ndarray:
        calls.append(c)
        return X.lmo(c)

    end = minimum_norm_point(lmo, y, 0.0, cap)
    assert end.calls == len(calls) <= cap
    assert end.weights.min() >= 0.0
    exact = minimum_norm_point(X.lmo, y, 0.0, 1000)
    assert np.linalg.norm(end.x - exact.x) ** 2 <= end.gap + 1e-12 * scale**2


def test_a_proved_distance_ends_the_search() -> None:
    rng = np.random.default_rng(5)
    X = ConvexHull(rng.standard_normal((200, 20)))
    y = 3.0 * rng.standard_normal(20)
    exact = minimum_norm_point(X.lmo, y, 1e-9, 10_000)
    distance = np.linalg.norm(exact.x - y)
    early = minimum_norm_point(X.lmo, y, 1e-9, 10_000, far=0.5 * distance)
    length = np.linalg.norm(early.x - y)
    assert early.calls < exact.calls
    assert 0.5 * distance < length - early.gap / length <= distance + 1e-12
    never = minimum_norm_point(X.lmo, y, 1e-9, 10_000, far=1.001 * distance)
    assert never.calls == exact.calls
