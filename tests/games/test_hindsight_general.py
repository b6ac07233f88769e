"""The best fixed action over every set and for curved rounds, against general solvers."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import quadprog
from scipy import sparse
from scipy.optimize import linprog, minimize

import hedgerow as hr
from hedgerow.games.comparators import master_problem as masters
from sets.table import EXAMPLES

T = 12


def linear_rounds(X, kind, rng):
    """Costs and constraints around a point of the set, kept, just kept, or broken."""
    C, A = rng.standard_normal((2, T, X.dim))
    z = np.mean([X.lmo(rng.standard_normal(X.dim)) for _ in range(6)], axis=0)
    width = X.diameter or 1.0
    room = {"kept": rng.uniform(0.0, 0.3, T), "tight": np.zeros(T), "broken": -np.ones(T)}[kind]
    if kind == "tight":
        A[T // 2 :] = -A[: T - T // 2]  # equations: feasible on a face, or in one point
    return C, A, -A @ z - width * room


@cache
def described(name):
    """The whole set as one polyhedron: its rows, or the hull of all its vertices."""
    X = EXAMPLES[name]()
    if X.supports(hr.sets.HasLinearDescription):
        rows = X.rows()
        n = rows.lower.size
        lift = np.eye(n) if rows.lift is None else rows.lift.toarray()
        shift = np.zeros(X.dim) if rows.shift is None else rows.shift
        return rows, lift, shift
    rng = np.random.default_rng(5)
    V = np.array([X.lmo(rng.standard_normal(X.dim)) for _ in range(2000)])
    V = np.unique(np.round(V, 9), axis=0)
    if len(V) > 300:
        return None  # curved
    k = len(V)
    rows = hr.sets.Rows(np.zeros(k), np.ones(k), sparse.csr_array(np.ones((1, k))), np.ones(1))
    return rows, V.T, np.zeros(X.dim)


def explicit(description, c, A, d, goal):
    """One LP over all rounds: the least cost, the least worst violation or, by budget, both.

    goal is "cost", "worst", "sum", or a budget for the cost.
    """
    rows, lift, shift = description
    n, k = lift.shape[1], len(d)
    summed = goal == "sum" or not isinstance(goal, str)
    extra = {"cost": 0, "worst": 1}.get(goal, k)
    cost = np.concatenate([lift.T @ c, np.zeros(extra)])
    if goal in ("worst", "sum"):
        cost = np.concatenate([np.zeros(n), np.ones(extra)])
    E = -np.eye(k) if summed else -np.ones((k, extra))
    M, m = [np.hstack([A @ lift, E])], [-d - A @ shift]
    if rows.A_ub is not None:
        M.append(np.hstack([rows.A_ub.toarray(), np.zeros((rows.A_ub.shape[0], extra))]))
        m.append(rows.b_ub)
    if not isinstance(goal, str):
        M.append(np.concatenate([np.zeros(n), np.ones(k)])[None, :])
        m.append([goal])
    eq = rows.A_eq
    if eq is not None:
        eq = np.hstack([eq.toarray(), np.zeros((eq.shape[0], extra))])
    least = np.full(extra, 0.0 if summed else -np.inf)
    lower, upper = np.append(rows.lower, least), np.append(rows.upper, np.full(extra, np.inf))
    bounds = np.column_stack([lower, upper])
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    M, m = np.vstack(M), np.concatenate(m)
    result = linprog(cost, M, m, eq, rows.b_eq, bounds, "highs-ds", options=tight)
    if result.status == 2:
        return None
    assert result.status == 0
    return result.fun + (c @ shift if goal not in ("worst", "sum") else 0.0)


def rounds_of(C, A, d):
    return [(hr.Linear(c, 0.5), hr.Linear(a, b)) for c, a, b in zip(C, A, d, strict=True)]


def small(name):
    X = EXAMPLES[name]()
    return X.dim <= (45 if X.supports(hr.sets.HasLinearDescription) else 15)


SMALL = [name for name in EXAMPLES if small(name)]


def check(X, best, optimum, size):
    """lower_bound <= optimum <= cost, up to rounding, and a gap below 1e-6."""
    slack = 1e-8 * (abs(optimum) + size)
    assert best.status == "optimal"
    assert best.lower_bound <= optimum + slack
    assert optimum <= best.cost + slack
    assert 0.0 <= best.gap < 1e-6 * max(abs(best.cost), 1e-2 * size)
    assert X.contains(best.x, 1e-6)


def test_linear_rounds_over_every_set():
    """More than 250 problems over all families, degenerate and infeasible ones among them."""
    rng = np.random.default_rng(0)
    seen = {"optimal": 0, "infeasible": 0, "curved": 0}
    for name in SMALL:
        X = EXAMPLES[name]()
        description = described(name)
        for kind in ("kept", "tight", "broken"):
            C, A, d = linear_rounds(X, kind, rng)
            c = C.sum(axis=0)
            best = hr.hindsight(X, rounds_of(C, A, d))
            values = A @ best.x + d
            size = float(np.abs(c) @ np.abs(best.x)) + 0.5 * T
            seen[best.status] += 1
            assert best.violation == pytest.approx(values.max(), abs=1e-12 * size)
            if description is None:
                seen["curved"] += 1
                if best.status == "optimal":
                    check(X, best, best.cost, size)
                continue
            optimum = explicit(description, c, A, d, "cost")
            if best.status == "infeasible":
                assert optimum is None, (name, kind)
                worst = explicit(description, c, A, d, "worst")
                assert best.violation == pytest.approx(worst, rel=1e-6, abs=1e-8)
                needed = explicit(description, c, A, d, "sum")
                assert best.needed_budget == pytest.approx(needed, rel=1e-6, abs=1e-8)
                continue
            assert optimum is not None, (name, kind)
            assert values.max() <= 1e-8 * np.abs(A).max()
            check(X, best, optimum + 0.5 * T, size)
    assert len(SMALL) * 3 > 250
    assert seen["infeasible"] > 60
    assert seen["optimal"] > 150
    assert seen["curved"] > 20


def test_budgets_over_every_set():
    """The budget benchmark against one LP with a slack variable for every round."""
    rng = np.random.default_rng(1)
    poor = 0
    for name in SMALL:
        X = EXAMPLES[name]()
        description = described(name)
        if description is None:
            continue
        C, A, d = linear_rounds(X, "broken", rng)
        c = C.sum(axis=0)
        needed = explicit(description, c, A, d, "sum")
        free = hr.hindsight(X, rounds_of(C, A, d), constrained=False)
        assert free.cost == pytest.approx(X.minimum(c) + 0.5 * T, rel=1e-9, abs=1e-9)
        for budget in (0.5 * needed, 0.8 * needed + 0.2 * free.ccv, 1.5 * free.ccv):
            if not budget > 0.0:
                continue
            best = hr.hindsight(X, rounds_of(C, A, d), budget=budget)
            if budget < needed * (1.0 - 1e-7):
                poor += 1
                assert best.status == "infeasible"
                assert best.needed_budget == pytest.approx(needed, rel=1e-6)
                assert set(best.conflict) <= set(range(1, T + 1))
                continue
            size = float(np.abs(c) @ np.abs(best.x)) + 0.5 * T
            spent = np.maximum(0.0, A @ best.x + d).sum()
            assert best.ccv == pytest.approx(spent, abs=1e-9 * (1.0 + spent))
            assert spent <= budget + 1e-7 * np.abs(A).max()
            check(X, best, explicit(description, c, A, d, budget) + 0.5 * T, size)
    assert poor > 40


def test_the_conflict_is_a_proof():
    rng = np.random.default_rng(2)
    for name in (
        "simplex-40",
        "box-6",
        "dag-30-nodes",
        "trees-complete-5",
        "l2ball-3",
        "hull-flat",
    ):
        X = EXAMPLES[name]()
        C, A, d = linear_rounds(X, "broken", rng)
        rounds = rounds_of(C, A, d)
        best = hr.hindsight(X, rounds)
        assert best.status == "infeasible"
        assert 1 <= len(best.conflict) <= X.dim + 1
        few = hr.hindsight(X, [rounds[t - 1] for t in best.conflict])
        assert few.status == "infeasible"
        assert few.violation == pytest.approx(best.violation, rel=1e-5)
        assert hr.hindsight(X, rounds, budget=best.needed_budget * 1.0001).status == "optimal"


def test_rounds_of_one_maximum_share_the_budget():
    X = hr.sets.Box([0.0, 0.0], [1.0, 1.0])
    both = hr.Maximum([hr.Linear([1.0, 0.0]), hr.Linear([0.0, 1.0])])
    best = hr.hindsight(X, [(hr.Linear([-1.0, -1.0]), both)], budget=0.5)
    np.testing.assert_allclose(best.x, [0.5, 0.5], atol=1e-9)
    assert best.ccv == pytest.approx(0.5)


def test_units_do_not_matter():
    rng = np.random.default_rng(3)
    for name in ("simplex-40", "dag-30-nodes", "trees-complete-5", "l2ball-3"):
        X = EXAMPLES[name]()
        C, A, d = linear_rounds(X, "kept", rng)
        plain = hr.hindsight(X, rounds_of(C, A, d))
        odd = hr.hindsight(X, rounds_of(1e9 * C, 1e-7 * A, 1e-7 * d))
        assert odd.status == plain.status == "optimal"
        cost = (odd.cost - 0.5 * T) * 1e-9 + 0.5 * T
        assert cost == pytest.approx(plain.cost, rel=1e-6)


@pytest.mark.parametrize("name", ["l2ball-1", "l2ball-3", "nuclear-1x4", "k-sparse-6-6"])
def test_balls_against_a_general_solver(name):
    X = EXAMPLES[name]()
    radius = 0.5 * X.diameter
    rng = np.random.default_rng(4)
    for kind in ("kept", "tight", "kept"):
        C, A, d = linear_rounds(X, kind, rng)
        c = C.sum(axis=0)
        if kind == "tight":
            A, d = A[:1], d[:1]
        best = hr.hindsight(X, rounds_of(C[: len(A)], A, d) + rounds_of(C, 0.0 * C, -np.ones(T)))
        c = C[: len(A)].sum(axis=0) + c
        solved = minimize(
            lambda x, c=c: c @ x,
            X.start() * 0.1,
            jac=lambda _, c=c: c,
            method="SLSQP",
            constraints=[
                {"type": "ineq", "fun": lambda x, A=A, d=d: -A @ x - d},
                {"type": "ineq", "fun": lambda x: radius**2 - x @ x},
            ],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        offset = 0.5 * (len(A) + T)
        assert best.status == "optimal"
        assert best.lower_bound <= solved.fun + offset + 1e-6
        assert best.cost == pytest.approx(solved.fun + offset, rel=1e-6, abs=1e-6)


def test_quadratic_costs_against_a_quadratic_programme():
    rng = np.random.default_rng(5)
    for trial in range(20):
        n = 2 + trial % 4
        X = hr.sets.Box(-np.ones(n), np.ones(n))
        roots = rng.standard_normal((6, n, n)) / 2
        M = [root @ root.T for root in roots]
        a = rng.standard_normal((6, n))
        A, d = rng.standard_normal((6, n)), -rng.uniform(0.0, 0.4, 6)
        rounds = [
            (hr.Quadratic(m, v, 1.0), hr.Linear(s, b))
            for m, v, s, b in zip(M, a, A, d, strict=True)
        ]
        best = hr.hindsight(X, rounds)
        G = np.vstack([A, np.eye(n), -np.eye(n)])
        h = np.concatenate([-d, np.ones(2 * n)])
        optimum = quadprog.solve_qp(sum(M), -a.sum(axis=0), -G.T, -h)[1] + 6.0
        assert best.status == "optimal"
        assert best.lower_bound <= optimum + 1e-8
        assert optimum <= best.cost + 1e-8
        assert best.gap < 1e-6 * max(1.0, abs(best.cost))


def test_curved_constraints_against_a_general_solver():
    rng = np.random.default_rng(6)
    for X in (
        hr.sets.Simplex(4),
        hr.sets.L2Ball(3),
        hr.sets.Box(-np.ones(3), np.ones(3)),
        hr.sets.KSubsets(5, 2),
    ):
        z = np.mean([X.lmo(rng.standard_normal(X.dim)) for _ in range(8)], axis=0)
        costs = [hr.Quadratic.distance(2.0 * rng.standard_normal(X.dim)) for _ in range(8)]
        discs = [
            hr.Maximum(
                [
                    hr.Quadratic.distance(z + 0.1 * rng.standard_normal(X.dim), 2.0, -0.16),
                    hr.Linear(slope := rng.standard_normal(X.dim), -float(slope @ z)),
                ]
            )
            for _ in range(8)
        ]
        best = hr.hindsight(X, list(zip(costs, discs, strict=True)))
        solved = against(X, costs, discs, z)
        assert best.status == "optimal"
        assert best.lower_bound <= solved + 1e-6
        assert best.cost == pytest.approx(solved, rel=1e-5)
        assert best.violation <= 1e-8
        budget = hr.hindsight(X, list(zip(costs, discs, strict=True)), budget=0.3)
        assert budget.lower_bound <= best.cost
        assert budget.ccv <= 0.3 + 1e-7
        assert budget.status == "optimal"


def against(X, costs, constraints, start):
    """The least total cost by SLSQP."""
    limits = [
        {"type": "ineq", "fun": lambda x, g=g: -g(x), "jac": lambda x, g=g: -g.grad(x)}
        for constraint in constraints
        for g in constraint.parts
    ]
    bounds = None
    if isinstance(X, hr.sets.L2Ball):
        limits.append({"type": "ineq", "fun": lambda x: 1.0 - x @ x, "jac": lambda x: -2.0 * x})
    else:
        rows = X.rows()
        bounds = np.column_stack([rows.lower, rows.upper])
        if rows.A_eq is not None:
            E = rows.A_eq.toarray()
            limits.append({"type": "eq", "fun": lambda x: E @ x - rows.b_eq, "jac": lambda _: E})
    result = minimize(
        lambda x: sum(f(x) for f in costs),
        start,
        jac=lambda x: sum(f.grad(x) for f in costs),
        bounds=bounds,
        method="SLSQP",
        constraints=limits,
        options={"ftol": 1e-13, "maxiter": 500},
    )
    return result.fun


def test_infeasible_discs():
    X = hr.sets.Box([-1.0, -1.0], [1.0, 1.0])
    centres = [[-0.8, 0.0], [0.8, 0.0], [0.0, 0.1]]
    rounds = [(hr.Linear([0.0, 1.0]), hr.Quadratic.distance(c, 2.0, -0.25)) for c in centres]
    best = hr.hindsight(X, rounds)
    assert best.status == "infeasible"
    assert best.violation == pytest.approx(0.64 - 0.25, abs=1e-7)
    assert best.conflict == (1, 2)
    assert hr.hindsight(X, rounds, budget=0.77).status == "infeasible"
    assert hr.hindsight(X, rounds, budget=0.79).status == "optimal"


def test_a_gap_is_reported_when_the_calls_are_spent(monkeypatch):
    rng = np.random.default_rng(7)
    X = hr.sets.L2Ball(12)
    C, A, d = linear_rounds(X, "kept", rng)
    true = hr.hindsight(X, rounds_of(C, A, d))
    gaps = []
    for calls in (10, 40, 2000):
        monkeypatch.setattr(masters, "MOST_CALLS", calls)
        best = hr.hindsight(X, rounds_of(C, A, d))
        assert best.lower_bound <= true.cost * (1.0 + np.sign(true.cost) * 1e-8)
        gaps.append(true.cost - best.lower_bound)
        assert best.status == ("optimal" if calls == 2000 else "gap")
    assert all(a > b for a, b in pairwise(gaps))


@pytest.mark.parametrize("name", ["trees-complete-5", "hull-12-points", "box-6"])
def test_one_face_is_all_that_is_left(name):
    """The constraint touches the set: rounding must not make it infeasible."""
    X = EXAMPLES[name]()
    rng = np.random.default_rng(8)
    for _ in range(5):
        a, c = rng.standard_normal((2, X.dim))
        touching = hr.Linear(a, -X.minimum(a))
        for budget in (0.0, 1e-3):
            best = hr.hindsight(X, [(hr.Linear(c), touching)], budget=budget)
            assert best.status == "optimal"
            assert best.violation <= budget + 1e-8
        beyond = hr.Linear(a, -X.minimum(a) + 1e-6)
        assert hr.hindsight(X, [(hr.Linear(c), beyond)]).status == "infeasible"


def test_the_violation_of_an_unfinished_search_is_shown(monkeypatch):
    X = hr.sets.L2Ball(12)
    rounds = rounds_of(*linear_rounds(X, "kept", np.random.default_rng(7)))
    monkeypatch.setattr(masters, "MOST_CALLS", 2)
    best = hr.hindsight(X, rounds)
    assert best.status == "gap"
    assert best.gap == np.inf
    assert best.violation > 0.0
    assert np.isfinite(best.lower_bound)


def test_a_constraint_that_touches_a_ball_in_one_point():
    """Ill-conditioned for column generation: it may end with a gap, never wrong or in a crash."""
    X, rng = hr.sets.L2Ball(3), np.random.default_rng(8)
    for _ in range(5):
        a, c = rng.standard_normal((2, 3))
        only = X.lmo(a)
        best = hr.hindsight(X, [(hr.Linear(c), hr.Linear(a, -X.minimum(a)))])
        assert best.status in ("optimal", "gap")
        assert best.lower_bound <= float(c @ only) + 1e-6
