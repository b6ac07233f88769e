"""The switching yardstick against brute force over all borders, and regret on intervals."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import hedgerow as hr
from hedgerow.games.comparators.regret_curves import interval_regret
from hedgerow.games.comparators.switching import borders, switching_benchmark
from hedgerow.problems.drifting import DriftingSubsets


def random_game(seed, T, n=3):
    rng = np.random.default_rng(seed)
    return [
        (hr.Linear(rng.standard_normal(n)), hr.Linear(rng.standard_normal(n), -0.3))
        for _ in range(T)
    ]


def piece(game, first, last):
    """The best action's cost on a simplex, by a linear programme of its own."""
    rows = game[first - 1 : last]
    c = sum(f.coefficients for f, _ in rows)
    A, b = np.array([g.coefficients for _, g in rows]), [-g.offset for _, g in rows]
    found = linprog(c, A, b, np.ones((1, c.size)), [1.0], bounds=(0.0, 1.0))
    return found.fun if found.status == 0 else math.inf


def brute_force(game, switches):
    T = len(game)
    return min(
        sum(piece(game, a + 1, b) for a, b in pairwise((0, *cuts, T)))
        for s in range(switches + 1)
        for cuts in combinations(range(1, T), s)
    )


@settings(max_examples=6, deadline=None, derandomize=True)
@given(st.integers(0, 1000), st.integers(0, 3))
def test_all_borders_against_brute_force(seed, switches):
    game = random_game(seed, 6)
    best = switching_benchmark(hr.sets.Simplex(3), switches, game)
    truth = brute_force(game, switches)
    assert best.cost == pytest.approx(truth, abs=1e-6)
    if truth == math.inf:
        assert best.status == "infeasible"
        return
    assert best.status == "optimal"
    assert best.searches == (21 if switches else 1)
    assert len(best.segments) <= switches + 1


@settings(max_examples=6, deadline=None, derandomize=True)
@given(st.integers(0, 1000), st.integers(1, 3), st.integers(1, 4))
def test_a_coarse_grid_is_bounded_from_both_sides(seed, switches, cells):
    game = random_game(seed, 7)
    best = switching_benchmark(hr.sets.Simplex(3), switches, game, cells=cells)
    truth = brute_force(game, switches)
    assert best.lower_bound - 1e-6 <= truth <= best.cost + 1e-6
    assert best.searches == cells * (cells + 1) // 2


def test_segments_keep_their_own_rounds_and_add_up():
    problem = DriftingSubsets(6, 2, 3, drift=6, rotation=4, horizon=64, seed=1)
    game = list(problem)
    best = switching_benchmark(problem, 3, cells=8)
    assert [first for first, *_ in best.segments][1:] == [b + 1 for _, b, _ in best.segments][:-1]
    assert best.segments[0][0] == 1
    assert best.segments[-1][1] == 64
    total = 0.0
    for first, last, action in best.segments:
        total += sum(f(action.x) for f, _ in game[first - 1 : last])
        assert max(g(action.x) for _, g in game[first - 1 : last]) <= 1e-6
    assert best.cost == pytest.approx(total)
    again = switching_benchmark(problem.decision_set, 3, game, cells=8)
    assert again.cost == pytest.approx(best.cost, rel=1e-6)


def test_no_switch_is_hindsight_and_more_switches_never_cost_more():
    problem = DriftingSubsets(6, 2, 3, drift=6, rotation=4, horizon=60, seed=0)
    fixed = hr.hindsight(problem)
    bests = [switching_benchmark(problem, s, cells=6) for s in range(7)]
    assert bests[0].cost == fixed.cost
    assert bests[0].lower_bound == fixed.lower_bound
    assert bests[0].searches == 1
    costs = [best.cost for best in bests]
    assert costs == sorted(costs, reverse=True)
    assert costs[1] < 0.99 * costs[0], "a phase of its own pays in this game"
    assert costs[5] == costs[6], "six cells have five borders"
    assert all(best.lower_bound <= best.cost for best in bests)


def test_curved_costs_have_a_lower_bound_too():
    game = list(hr.problems.QuadraticBox(n=2, horizon=4, seed=0))
    fine = switching_benchmark(hr.sets.Box([-1.0] * 2, [1.0] * 2), 1, game, cells=4)
    coarse = switching_benchmark(hr.sets.Box([-1.0] * 2, [1.0] * 2), 1, game, cells=2)
    assert coarse.lower_bound <= fine.lower_bound + 1e-6
    assert fine.cost <= coarse.cost + 1e-6
    assert fine.status == "optimal"
    assert -math.inf < coarse.lower_bound


def test_what_no_single_action_keeps_needs_a_switch_at_the_right_place():
    X, down, up = hr.sets.Simplex(2), hr.Linear([1.0, 0.0]), hr.Linear([-1.0, 0.0], 1.0)
    game = [(hr.Linear([1.0, 2.0]), down if t < 3 else up) for t in range(8)]
    assert switching_benchmark(X, 0, game).status == "infeasible"
    found = switching_benchmark(X, 1, game)
    assert (found.status, found.cost) == ("optimal", 11.0)
    assert [(a, b) for a, b, _ in found.segments] == [(1, 3), (4, 8)]
    missed = switching_benchmark(X, 1, game, cells=2)  # its border is after round 4
    assert (missed.status, missed.cost, missed.segments) == ("gap", math.inf, ())
    assert missed.lower_bound <= 11.0


@pytest.mark.parametrize("horizon", [1, 5, 64])
def test_the_whole_game_is_one_of_the_intervals(horizon):
    problem = hr.problems.SwitchingBall(n=3, horizon=horizon, seed=2)
    trace = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
    worst = interval_regret(trace, problem, levels=3)
    assert worst.regrets[1, horizon] == pytest.approx(trace.regret(hr.hindsight(problem)))
    assert worst.regret == max(worst.regrets.values()) == worst.regrets[worst.interval]
    if horizon == 64:
        assert len(worst.regrets) == 15
        assert worst.regrets[17, 32] == pytest.approx(
            trace.costs[16:32].sum() - hr.hindsight(problem, interval=(17, 32)).cost
        )
        assert worst.regret > worst.regrets[1, 64], "phases hurt a policy that does not track"


def test_intervals_without_an_action_are_left_out():
    X, down, up = hr.sets.Simplex(2), hr.Linear([1.0, 0.0]), hr.Linear([-1.0, 0.0], 1.0)
    game = [(hr.Linear([1.0, 2.0]), down), (hr.Linear([1.0, 2.0]), up)]
    worst = interval_regret([2.0, 2.0], X, game)
    assert worst.regrets == {(1, 1): 0.0, (2, 2): 1.0}
    with pytest.raises(ValueError, match="ask for more levels"):
        interval_regret([2.0, 2.0], X, game, levels=0)


def test_refusals():
    game = random_game(0, 4)
    with pytest.raises(ValueError, match="switches must be at least 0"):
        switching_benchmark(hr.sets.Simplex(3), -1, game)
    with pytest.raises(ValueError, match="cells must be at least 1"):
        switching_benchmark(hr.sets.Simplex(3), 1, game, cells=0)
    with pytest.raises(ValueError, match="has 4 rounds, but 3 costs"):
        interval_regret([1.0, 2.0, 3.0], hr.sets.Simplex(3), game)
    with pytest.raises(TypeError, match="needs the rounds"):
        switching_benchmark(hr.sets.Simplex(3), 1)


@given(st.integers(1, 200), st.integers(1, 200))
def test_borders_are_increasing_and_even(horizon, parts):
    parts = min(horizon, parts)
    lengths = np.diff(borders(horizon, parts))
    assert lengths.sum() == horizon
    assert lengths.min() >= 1
    assert lengths.max() - lengths.min() <= 2
