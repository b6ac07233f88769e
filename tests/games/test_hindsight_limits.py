"""The best fixed action under a time limit, step by step, on large graphs and at every size."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.games.comparators import linear_models
from hedgerow.games.comparators import master_problem as masters

GAMES = {
    "linear-rows": lambda rng: (hr.sets.KSubsets(12, 4), *linear(12, rng)),
    "linear-columns": lambda rng: (hr.sets.L2Ball(4), *linear(4, rng)),
    "curved": lambda rng: (hr.sets.L2Ball(4), *curved(4, rng, -0.3)),
    "curved-rows": lambda rng: (hr.sets.Simplex(6), *curved(6, rng, -0.12)),
    "budget": lambda rng: (
        hr.sets.Box(-np.ones(4), np.ones(4)),
        curved(4, rng)[0],
        {"budget": 2.0},
    ),
    "infeasible": lambda rng: (hr.sets.Simplex(5), impossible(5, rng), {}),
}


def linear(n, rng):
    """Constraints through a common point of small norm, and costs against them."""
    A = rng.standard_normal((60, n))
    A[:, 0] += 1.0
    costs = rng.standard_normal((60, n)) - A
    z = np.full(n, 4.0 / 12.0) if n == 12 else np.zeros(n)
    return [
        (hr.Linear(c), hr.Linear(a, -float(a @ z) - 0.05)) for a, c in zip(A, costs, strict=True)
    ], {}


def curved(n, rng, offset=-0.6):
    return [
        (hr.Quadratic.distance(y), hr.Quadratic.distance(z, factor=2.0, offset=offset))
        for y, z in zip(
            rng.normal(0.7, 0.3, (40, n)), rng.normal(1.0 / n, 0.1, (40, n)), strict=True
        )
    ], {}


def impossible(n, rng):
    return [
        (hr.Linear(rng.standard_normal(n)), hr.Linear(-np.eye(n)[t % n], 0.3)) for t in range(9)
    ]


def proved(best, true):
    """Both bounds hold, whatever the status."""
    slack = 1e-6 * (1.0 + abs(true.cost))
    if true.status == "infeasible":
        assert best.status == "infeasible" or best.gap == math.inf
        return
    assert best.lower_bound <= true.cost + slack
    assert best.status != "infeasible"
    if best.gap < math.inf:
        assert best.cost >= true.lower_bound - slack
        assert best.gap == pytest.approx(best.cost - best.lower_bound, abs=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_the_limit_may_come_at_any_time(name, monkeypatch):
    """A clock that goes on by one second at each look, and limits that end at each of them."""
    X, game, options = GAMES[name](np.random.default_rng(3))
    true = hr.hindsight(X, game, **options)
    assert true.status in ("optimal", "infeasible")
    late = 0
    for limit in (*range(25), 10_000):
        monkeypatch.setattr(linear_models, "perf_counter", itertools.count().__next__)
        best = hr.hindsight(X, game, time_limit=limit, **options)
        proved(best, true)
        assert X.contains(best.x, 1e-7)
        late += best.status == "time limit"
        assert best.status in ("time limit", true.status)
    assert best.status == true.status
    assert late > 0


@pytest.mark.parametrize("name", GAMES)
def test_every_step_is_proved_and_no_bound_falls(name):
    X, game, options = GAMES[name](np.random.default_rng(4))
    steps = list(hr.games.hindsight_steps(X, game, **options))
    true = hr.hindsight(X, game, **options)
    assert len(steps) > 1
    for best in steps:
        proved(best, true)
    lower = [best.lower_bound for best in steps]
    assert lower == sorted(lower)
    upper = [best.cost if best.gap < math.inf else math.inf for best in steps]
    assert upper == sorted(upper, reverse=True)
    assert (steps[-1].cost, steps[-1].status) == (true.cost, true.status)


@pytest.mark.parametrize("limit", [-1.0, math.nan, math.inf, "soon"])
def test_a_limit_that_is_none_is_refused_at_once(limit):
    with pytest.raises((ValueError, TypeError), match="time_limit must be"):
        hr.games.hindsight_steps(hr.sets.Simplex(2), [], time_limit=limit)


def test_a_solver_that_runs_out_of_time_says_so(monkeypatch):
    """The programme itself is broken off: what was proved before stands."""
    given = []

    def slow(*programme_and_seconds):
        given.append(programme_and_seconds[-1])
        monkeypatch.setattr(linear_models, "perf_counter", lambda: math.inf)
        return type("Result", (), {"status": 1, "message": "Time limit reached."})()

    X, game, _ = GAMES["linear-rows"](np.random.default_rng(3))
    true = hr.hindsight(X, game)
    monkeypatch.setattr(linear_models, "linear_programme", slow)
    best = hr.hindsight(X, game, time_limit=30.0)
    assert best.status == "time limit"
    assert 0.0 < given[0] <= 30.0
    proved(best, true)


# Large graphs


def paths():
    return hr.ShortestPath.random_network(nodes=60, edges=300, horizon=120, seed=3)


def test_paths_in_a_large_graph_are_searched_by_vertices(monkeypatch):
    true = hr.hindsight(paths())
    monkeypatch.setattr(masters, "MANY_ROWS", 40)
    monkeypatch.setattr(masters.ByRows, "solve", None)
    best = hr.hindsight(paths())
    assert isinstance(masters.master_for(paths().decision_set), masters.ColumnsThenRows)
    assert best.status == true.status == "optimal"
    assert best.cost == pytest.approx(true.cost, rel=1e-9)


@pytest.mark.parametrize("calls", [2, 5, 9])
def test_when_vertices_are_not_enough_the_rows_decide(calls, monkeypatch):
    true = hr.hindsight(paths())
    monkeypatch.setattr(masters, "MANY_ROWS", 40)
    monkeypatch.setattr(masters, "MOST_CALLS", calls)
    best = hr.hindsight(paths())
    assert best.status == "optimal"
    assert best.cost == pytest.approx(true.cost, rel=1e-9)


def test_a_small_description_is_used_as_it_is():
    assert isinstance(masters.master_for(hr.sets.KSubsets(3000, 4)), masters.ByRows)
    assert isinstance(masters.master_for(hr.sets.Birkhoff(4)), masters.ByRows)
    assert isinstance(masters.master_for(hr.sets.L2Ball(3)), masters.ByColumns)
    chain = hr.sets.DagPaths([(v, v + 1 + k) for v in range(1200) for k in range(2)], 0, 1200)
    assert isinstance(masters.master_for(chain), masters.ColumnsThenRows)


# Curved costs


@pytest.mark.parametrize(
    "X",
    [
        hr.sets.Simplex(65),
        hr.sets.Box(-np.ones(65), np.ones(65)),
        hr.sets.L2Ball(65),
        hr.sets.KSubsets(65, 20),
    ],
    ids=lambda X: type(X).__name__,
)
@pytest.mark.parametrize("constrained", [True, False])
def test_curved_costs_that_meet_no_constraint_take_few_models(X, constrained, monkeypatch):
    """Cutting planes alone were still 0.1 to 50 percent off after 500 models."""
    rng, solved = np.random.default_rng(0), []
    solve = masters.least_theta
    monkeypatch.setattr(masters, "least_theta", lambda *a: solved.append(a) or solve(*a))
    free = hr.Linear(np.zeros(65), -0.3) if constrained else hr.Linear(np.zeros(65), 1.0)
    game = [(hr.Quadratic(1.0, rng.standard_normal(65), 0.0), free) for _ in range(30)]
    best = hr.hindsight(X, game, constrained=constrained)
    centre = -np.mean([cost.linear for cost, _ in game], axis=0)
    assert best.status == "optimal"
    assert len(solved) <= 10
    np.testing.assert_allclose(best.x, X.project(centre), rtol=0.0, atol=1e-3)


# Sizes


@pytest.mark.parametrize("size", [1e-99, 1e-12, 1e12, 1e99])
@pytest.mark.parametrize(
    "make",
    [
        lambda s: hr.sets.Simplex(4, total=s),
        lambda s: hr.sets.L2Ball(4, radius=s),
        lambda s: hr.sets.Box(np.zeros(4), np.full(4, s)),
        lambda s: hr.sets.L1Ball(4, radius=s),
        lambda s: hr.sets.Scaled(hr.sets.KSubsets(4, 2), s),
    ],
    ids=["simplex", "l2", "box", "l1", "scaled"],
)
def test_the_unit_of_the_set_does_not_matter(make, size):
    """Constraints that are broken by little in a small set are broken."""
    C, A = np.random.default_rng(0).standard_normal((2, 30, 4))

    def game(s):
        z = make(s).start()
        return [
            (hr.Linear(c), hr.Linear(a, -float(a @ z) - 0.1 * s)) for a, c in zip(A, C, strict=True)
        ]

    true, best = hr.hindsight(make(1.0), game(1.0)), hr.hindsight(make(size), game(size))
    assert true.status == best.status == "optimal"
    assert best.cost / size == pytest.approx(true.cost, rel=1e-6)
    assert best.violation / size <= 1e-6
    free = hr.hindsight(make(1.0), game(1.0), constrained=False)
    assert free.cost < true.cost - 0.1, "the constraints must matter, or this test shows nothing"
