"""The proximal penalty step, against independent solvers and its own optimality conditions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.baselines.penalised_step import falling_root, penalty_step
from rival_games import SETS


def quadprog_step(X, c, w, parts, alpha, y):
    """Solve it as a QP in (x, s): s >= <a_i, x> + b_i, s >= 0, x in the set's rows."""
    quadprog = pytest.importorskip("quadprog")
    rows, n = X.rows(), X.dim
    assert rows.lift is None
    A = np.array([part.coefficients for part in parts])
    b = np.array([part.offset for part in parts])
    free = rows.lower < rows.upper
    equal = [np.append(r, 0.0) for r in (rows.A_eq.toarray() if rows.A_eq is not None else [])]
    equal += [np.append(np.eye(n)[i], 0.0) for i in np.flatnonzero(~free)]
    right = [*(rows.b_eq if rows.b_eq is not None else []), *rows.lower[~free]]
    more = [np.append(-a, 1.0) for a in A] + [np.append(np.zeros(n), 1.0)]
    least = [*b, 0.0]
    for i in np.flatnonzero(free):
        more += [np.append(np.eye(n)[i], 0.0)]
        least += [rows.lower[i]]
        if math.isfinite(rows.upper[i]):
            more += [np.append(-np.eye(n)[i], 0.0)]
            least += [-rows.upper[i]]
    if rows.A_ub is not None:
        more += [np.append(-r, 0.0) for r in rows.A_ub.toarray()]
        least += list(-rows.b_ub)
    C, d = np.array([*equal, *more]).T, np.array([*right, *least])
    soft, s = 1e-2, 0.0  # quadprog needs a positive definite matrix: proximal point steps in s
    H = np.diag([*np.full(n, 2.0 * alpha), soft])
    for _ in range(40):
        *x, s = quadprog.solve_qp(
            H, np.append(2.0 * alpha * y - c, soft * s - w), C, d, len(equal)
        )[0]
    return np.array(x)


def drawn(X, rng, parts=1):
    c, y = rng.standard_normal(X.dim), X.project(X.start() + rng.standard_normal(X.dim))
    alpha = 10.0 ** rng.uniform(-1.0, 1.0)
    cuts = []
    for _ in range(parts):
        a = rng.standard_normal(X.dim)
        cuts.append(hr.Linear(a, -float(a @ y) + rng.normal(0.0, 0.5)))
    return c, y, alpha, cuts


@pytest.mark.parametrize("name", ["simplex", "box", "dag", "k-subsets"])
def test_linear_steps_are_those_of_a_qp_solver(name):
    X, rng = SETS[name](), np.random.default_rng(1)
    for trial in range(40):
        c, y, alpha, (g,) = drawn(X, rng)
        w = 10.0 ** rng.uniform(-2.0, 3.0)
        step = penalty_step(X.project, X.tangent, c, w, g, alpha, y)
        expected = quadprog_step(X, c, w, [g], alpha, y)
        np.testing.assert_allclose(step.x, expected, rtol=0, atol=1e-7, err_msg=f"{trial}")
        assert step.projections <= 20


@pytest.mark.parametrize("name", ["simplex", "box", "k-subsets"])
def test_a_maximum_of_linear_parts_is_that_of_a_qp_solver(name):
    X, rng = SETS[name](), np.random.default_rng(2)
    for _ in range(15):
        c, y, alpha, cuts = drawn(X, rng, parts=3)
        w = 10.0 ** rng.uniform(-1.0, 1.5)
        step = penalty_step(X.project, X.tangent, c, w, hr.Maximum(cuts), alpha, y)
        expected = quadprog_step(X, c, w, cuts, alpha, y)
        assert step.gap <= 1e-6 * w
        np.testing.assert_allclose(step.x, expected, rtol=0, atol=1e-4)


@given(seed=st.integers(0, 10**6), exponent=st.floats(0.0, 12.0))
@settings(max_examples=30, deadline=None)
def test_any_weight_leaves_a_proved_gap(seed, exponent):
    """||x - x*||^2 <= gap/alpha, and the gap comes from a dual point: nothing can be better."""
    X, rng = hr.sets.Simplex(6), np.random.default_rng(seed)
    c, y, alpha, (g,) = drawn(X, rng)
    w = 10.0**exponent
    step = penalty_step(X.project, X.tangent, c, w, g, alpha, y)
    assert X.contains(step.x)
    assert step.gap <= 1e-11 * w * (1.0 + float(np.abs(g.coefficients).sum()))

    def objective(x):
        return c @ x + w * max(0.0, g(x)) + alpha * np.sum((x - y) ** 2)

    own = objective(step.x)
    for _ in range(30):
        z = X.project(step.x + 10.0 ** rng.uniform(-6.0, 0.0) * rng.standard_normal(6))
        assert objective(z) >= own - step.gap - 1e-12 * (1.0 + abs(own))


def test_huge_weights_keep_the_constraint_exactly():
    X = SETS["dag"]()
    rng = np.random.default_rng(3)
    kept = X.lmo(rng.standard_normal(X.dim))
    for w in (1e3, 1e8, 1e14):
        for _ in range(5):
            c, y, alpha, (g,) = drawn(X, rng)
            g = hr.Linear(g.coefficients, -float(g.coefficients @ kept) - 0.01)  # room at `kept`
            x = penalty_step(X.project, X.tangent, c, w, g, alpha, y).x
            assert g(x) <= 1e-10


def test_curved_constraints_come_within_their_gap():
    """Against a fine grid of the multiplier: for ||x||^2 the Lagrangian is a projection too."""
    X = hr.sets.Box(-np.ones(3), np.ones(3))
    rng = np.random.default_rng(4)
    for _ in range(5):
        c, y, alpha, _ = drawn(X, rng)
        w, room = 3.0, 0.3
        g = hr.Quadratic.distance(np.zeros(3), 2.0, -room)  # ||x||^2 - room
        low, high = 0.0, w
        for _ in range(200):  # the multiplier by bisection: argmin of c x + mu ||x||^2 + prox
            mu = 0.5 * (low + high)
            x = X.project((2 * alpha * y - c) / (2 * alpha + 2 * mu))
            low, high = (mu, high) if g(x) > 0 else (low, mu)
        step = penalty_step(X.project, X.tangent, c, w, g, alpha, y)
        assert step.gap <= 1e-5
        np.testing.assert_allclose(step.x, x, atol=math.sqrt(step.gap / alpha) + 1e-7)


def test_a_constraint_that_cannot_be_felt_moves_nothing():
    X = hr.sets.Simplex(3)
    y = X.start()
    step = penalty_step(X.project, X.tangent, np.zeros(3), 5.0, hr.Linear(np.zeros(3), 2.0), 1.0, y)
    np.testing.assert_allclose(step.x, y, atol=1e-15)
    step = penalty_step(X.project, X.tangent, np.zeros(3), 0.0, hr.Linear([1.0, 0.0, 0.0]), 1.0, y)
    np.testing.assert_allclose(step.x, y, atol=1e-15)


@given(
    knots=st.lists(st.floats(0.01, 3.0), min_size=2, max_size=8),
    slopes=st.lists(st.floats(0.0, 5.0), min_size=8, max_size=8),
    height=st.floats(0.1, 4.0),
)
@settings(max_examples=200, deadline=None)
def test_the_root_of_a_falling_function_is_found(knots, slopes, height):
    places = np.cumsum([0.0, *knots])
    values = height - np.cumsum([0.0, *(k * s for k, s in zip(knots, slopes, strict=False))])
    calls = []

    def f(s):
        calls.append(s)
        return float(np.interp(s, places, values))

    end = float(places[-1])
    s = falling_root(f, height, max(slopes) or 1.0, end, 1e-12)
    assert s == calls[-1], "the last call is at the answer"
    assert 0.0 <= s <= end
    if values[-1] > 0.0:
        assert s == end
    else:
        assert abs(f(s)) <= 1e-9


@pytest.mark.parametrize("end", [1.0, 1e12, 1e300])
@pytest.mark.parametrize("width", [1e-300, 1e-3, 0.5, 2.0])
def test_the_search_for_a_root_is_short_whatever_the_scales(width, end):
    """A cliff far out, seen from a start at 1e-300: steps outward come to an end."""
    asked = []

    def f(s):
        asked.append(s)
        return 1.0 if s < width * end else -1.0

    s = falling_root(f, 1.0, 1e300, end, 1e-9)
    assert len(asked) <= 61 + 80
    assert asked[-1] == s
    if width > 1.0:
        assert s == end


def test_a_step_that_rounding_swallows_does_no_harm():
    """The first step ends so near the root that the next one is below rounding."""
    s = falling_root(lambda s: 1e-17 if s == 1.0 else 1.0 - s, 1.0, 1.0, 9.0, 1e-18)
    assert s == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("w", [5.0, 1e16])
def test_a_constraint_that_is_constant_along_the_set_moves_nothing(w):
    """On a simplex the sum of the coordinates is one: no weight on it may drown the cost."""
    X, c = hr.sets.Simplex(5), np.array([0.3, -0.2, 0.1, 0.0, -0.4])
    y = X.start()
    for g in (hr.Linear(np.full(5, 0.1), 2.0), hr.Maximum([hr.Linear(np.full(5, 0.7), 1.0)])):
        step = penalty_step(X.project, X.tangent, c, w, g, 1.0, y)
        np.testing.assert_allclose(step.x, X.project(y - c / 2.0), rtol=0, atol=1e-12)
        assert step.gap == 0.0  # what no play can help is in the least value too
        assert step.projections == 1
