"""Transport plans against linear programmes and assignments."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from hedgerow import kernels
from hedgerow.inputs import Vector
from hedgerow.sets.matchings import transport
from hedgerow.sets.matchings.birkhoff import Birkhoff
from hedgerow.sets.matchings.transport import TransportPlans


def marginals(rng: np.random.Generator, whole: bool) -> tuple[Vector, Vector]:
    m, n = rng.integers(1, 9, 2)
    if not whole:
        return rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(n))
    a = rng.integers(0, 4, m).astype(np.float64)
    a[0] += 1.0
    return a, rng.multinomial(int(a.sum()), np.ones(n) / n).astype(np.float64)


def test_plans_are_cheapest_by_a_linear_programme() -> None:
    rng = np.random.default_rng(0)
    for trial in range(120):
        X = TransportPlans(*marginals(rng, whole=bool(trial % 2)))
        rows = X.rows()
        bounds = np.column_stack([rows.lower, rows.upper])
        for c in (rng.standard_normal(X.dim), rng.integers(-2, 3, X.dim).astype(np.float64)):
            v = X.lmo(c)
            value = linprog(c, A_eq=rows.A_eq, b_eq=rows.b_eq, bounds=bounds).fun
            assert c @ v == pytest.approx(value, abs=1e-8)
            assert X.contains(v, 1e-13)
            assert (v > 0.0).sum() <= X.shape[0] + X.shape[1] - 1


def test_whole_marginals_have_whole_vertices() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        X = TransportPlans(*marginals(rng, whole=True))
        v = X.lmo(rng.standard_normal(X.dim))
        np.testing.assert_array_equal(v, np.rint(v))


def test_unit_marginals_are_assignments() -> None:
    rng = np.random.default_rng(2)
    X, Y = TransportPlans(np.ones(7), np.ones(7)), Birkhoff(7)
    assert X.diameter == pytest.approx(Y.diameter)
    assert X.ball()[1] == pytest.approx(Y.ball()[1])
    for _ in range(30):
        c = rng.standard_normal(49)
        np.testing.assert_array_equal(X.lmo(c), Y.lmo(c))
        np.testing.assert_allclose(X.project(c), Y.project(c), atol=1e-8)


def test_projections_by_the_oracle_are_those_of_the_programme(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(4)
    for trial in range(10):
        X = TransportPlans(*marginals(rng, whole=bool(trial % 2)))
        y = X.start() + rng.choice([0.1, 3.0]) * rng.standard_normal(X.dim)
        p = X.project(y)
        with monkeypatch.context() as patch:
            patch.setattr(transport, "DENSE", 0)
            np.testing.assert_allclose(X.project(y), p, atol=1e-8)
        assert (y - p) @ (X.lmo(p - y) - p) <= 1e-9 * max(1.0, float(y @ y))


def test_a_large_plan_is_proved_by_its_prices() -> None:
    """c = u_i + v_j + w_ij with w >= 0, zero on the plan's cells: the plan is cheapest."""
    rng = np.random.default_rng(3)
    m, n = 60, 80
    X = TransportPlans(rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(n)))
    plan = X.lmo(rng.standard_normal(X.dim)).reshape(m, n)
    u, v = rng.integers(-100, 100, m), rng.integers(-100, 100, n)
    w = np.where(plan > 0.0, 0.0, rng.integers(1, 50, (m, n)))
    c = (w + u[:, None] + v).ravel().astype(np.float64)
    best = X.lmo(c)
    assert c @ best == pytest.approx(u @ X.supply + v @ X.demand, abs=1e-10)
    np.testing.assert_allclose(best, plan.ravel(), atol=1e-12)


def test_each_bound_of_the_diameter_is_attained_somewhere() -> None:
    """The box by a square of little freedom, a row's and a column's bound by assignments."""
    square = TransportPlans([0.9, 0.1], [0.9, 0.1])
    corner = np.array([1.0, 0.0, 0.0, 1.0])
    apart = float(np.linalg.norm(square.lmo(corner) - square.lmo(-corner)))
    assert square.diameter == pytest.approx(apart)
    for supply, demand in (([1.0, 1.0], [0.5] * 4), ([0.5] * 4, [1.0, 1.0])):
        X = TransportPlans(supply, demand)
        v = X.lmo(np.arange(8.0) % 3.0)
        assert X.diameter == pytest.approx(np.linalg.norm(v - X.lmo(v)))


def test_the_largest_ball_touches_the_nearest_face() -> None:
    X = TransportPlans([1.0, 2.0, 3.0], [2.0, 4.0])
    centre, r = X.ball()
    axis = np.zeros(6)
    axis[np.argmin(centre)] = -1.0
    outward = X.tangent(axis) / np.linalg.norm(X.tangent(axis))
    assert X.contains(centre + r * outward)
    assert not X.contains(centre + 1.001 * r * outward)


def test_a_run_that_does_not_end_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels.transport, "best_tree", lambda *_: 1)
    with pytest.raises(RuntimeError, match="did not end"):
        TransportPlans([1.0, 1.0], [1.0, 1.0]).lmo(np.zeros(4))


@pytest.mark.parametrize(
    ("supply", "demand", "sentence"),
    [
        ([], [1.0], "supply must hold numbers of at least 0"),
        ([1.0], [-1.0, 2.0], "demand must hold numbers of at least 0"),
        ([0.0], [0.0], "one of them above 0"),
        ([1.0], [2.0], "same total, got 1 and 2; add a source or a sink"),
        ([1.0, 1e-13], [1.0], "0 or at least 1e-12 of the total"),
        ([1e101], [1e101], "at most 1e"),
    ],
)
def test_wrong_marginals_are_refused(
    supply: list[float], demand: list[float], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        TransportPlans(supply, demand)
