"""The best fixed action, against a plain LP over all rounds at once."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import linprog

import hedgerow as hr
from hedgerow.games import prefix_benchmarks, regret_curve


def sets(rng):
    yield hr.sets.Simplex(5, total=2.0)
    yield hr.sets.Box(-rng.uniform(0, 1, 4), rng.uniform(0, 1, 4))
    yield hr.sets.L1Ball(4, radius=1.5)
    yield hr.ShortestPath.random_network(nodes=8, edges=14, horizon=8, seed=1).decision_set
    yield hr.sets.Translated(hr.sets.Scaled(hr.sets.Simplex(4), 3.0), rng.standard_normal(4))
    yield hr.sets.Scaled(hr.sets.L1Ball(3), 0.5)


def vertices(X, rng):
    """All vertices, by brute force of directions."""
    return np.unique(np.round([X.lmo(rng.standard_normal(X.dim)) for _ in range(3000)], 12), axis=0)


def test_against_one_lp_over_the_vertices():
    rng = np.random.default_rng(0)
    infeasible = 0
    for trial in range(8):
        for X in sets(rng):
            V = vertices(X, rng)
            T = 30
            C, A = rng.standard_normal((T, X.dim)), rng.standard_normal((T, X.dim))
            z = rng.dirichlet(np.ones(len(V))) @ V
            d = -A @ z - rng.uniform(0, 0.5, T) + (2.0 if trial == 7 else 0.0)
            rounds = [(hr.Linear(c, 1.0), hr.Linear(a, b)) for c, a, b in zip(C, A, d, strict=True)]
            best = hr.hindsight(X, rounds)
            lp = linprog(
                V @ C.sum(axis=0), A_ub=A @ V.T, b_ub=-d, A_eq=np.ones((1, len(V))), b_eq=[1.0]
            )
            if lp.status == 2:
                infeasible += 1
                assert best.status == "infeasible"
                level = linprog(
                    np.append(np.zeros(len(V)), 1.0),
                    A_ub=np.column_stack([A @ V.T, -np.ones(T)]),
                    b_ub=-d,
                    A_eq=[np.append(np.ones(len(V)), 0.0)],
                    b_eq=[1.0],
                    bounds=[(0, None)] * len(V) + [(None, None)],
                )
                assert best.violation == pytest.approx(level.fun, abs=1e-7)
                continue
            assert best.status == "optimal"
            assert best.cost == pytest.approx(lp.fun + T, abs=1e-6)
            assert best.lower_bound <= lp.fun + T + 1e-7
            assert abs(best.gap) <= 1e-6
            assert best.violation <= 1e-7
            assert X.contains(best.x, 1e-7)
    assert infeasible > 0


def test_several_constraints_in_a_round():
    X = hr.sets.Simplex(3)
    both = hr.Maximum([hr.Linear([1.0, 0.0, 0.0], -0.2), hr.Linear([0.0, 1.0, 0.0], -0.3)])
    best = hr.hindsight(X, [(hr.Linear([-2.0, -1.0, 0.0]), both)])
    np.testing.assert_allclose(best.x, [0.2, 0.3, 0.5], atol=1e-9)


def test_refusals():
    X = hr.sets.Simplex(3)
    with pytest.raises(TypeError, match="needs the rounds"):
        hr.hindsight(X)
    with pytest.raises(TypeError, match="cannot be iterated alone"):
        hr.hindsight(hr.problems.HalfspaceBox(horizon=5))
    game = [(hr.Linear(np.ones(3)), hr.Linear(np.zeros(3)))]
    with pytest.raises(ValueError, match="budget must be at least 0"):
        hr.hindsight(X, game, budget=-1.0)
    with pytest.raises(ValueError, match="only 1"):
        hr.hindsight(X, game, interval=(1, 2))
    with pytest.raises(ValueError, match="last round of the interval must be at least 2"):
        hr.hindsight(X, game * 3, interval=(2, 1))
    with pytest.raises(ValueError, match="checkpoints must increase"):
        prefix_benchmarks(X, [1, 1], game)
    with pytest.raises(ValueError, match="1 rounds, but 2 costs"):
        regret_curve([1.0, 2.0], game, hr.hindsight(X, game))


def test_no_rounds_at_all():
    with pytest.raises(ValueError, match="there are no rounds"):
        hr.hindsight(hr.sets.Simplex(3), [])


def test_an_interval_counts_only_its_rounds():
    problem = hr.ShortestPath.random_network(nodes=12, edges=30, horizon=700, seed=2)
    rounds = list(problem)
    for first, last in [(1, 1), (250, 260), (257, 512), (600, 700), (1, 700)]:
        best = hr.hindsight(problem, interval=(first, last))
        again = hr.hindsight(problem.decision_set, rounds[first - 1 : last])
        assert best.cost == pytest.approx(again.cost, rel=1e-9)
        recorded = hr.hindsight(problem.decision_set, iter(rounds), interval=(first, last))
        assert recorded.cost == pytest.approx(again.cost, rel=1e-9)
        assert best.seconds > 0.0


def test_memory_does_not_grow_with_the_horizon():
    problem = hr.ShortestPath.random_network(nodes=60, edges=300, horizon=12_000, seed=0)
    hr.hindsight(problem, interval=(1, 10))  # imports
    tracemalloc.start()
    best = hr.hindsight(problem)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert best.status == "optimal"
    assert peak < 0.3 * 12_000 * problem.decision_set.dim * 8


def test_regret_curve_ends_with_the_regret():
    for problem in (hr.problems.IidSimplex(horizon=300), hr.problems.QuadraticBox(n=3, horizon=50)):
        trace = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
        best = hr.hindsight(problem)
        curve = regret_curve(trace, problem, best)
        assert curve[-1] == pytest.approx(trace.regret(best), rel=1e-9, abs=1e-9)
        ten = sum(cost(best.x) for cost, _ in list(problem)[:10])
        assert curve[9] == pytest.approx(trace.costs[:10].sum() - ten, rel=1e-9, abs=1e-9)


def test_prefix_benchmarks_are_those_of_the_prefixes():
    path = hr.ShortestPath.random_network(nodes=12, edges=30, horizon=300, seed=3)
    ball = hr.problems.SwitchingBall(horizon=60)
    curved = hr.problems.QuadraticBox(n=3, horizon=60)
    for problem in (path, ball, curved):
        ends = [1, 7, problem.horizon // 2, problem.horizon]
        for k, best in zip(ends, prefix_benchmarks(problem, ends), strict=True):
            cold = hr.hindsight(problem, interval=(1, k))
            assert best.status == cold.status == "optimal"
            assert best.cost == pytest.approx(cold.cost, rel=1e-6, abs=1e-6)
            assert best.lower_bound <= cold.cost + 1e-8 * (1.0 + abs(cold.cost))
