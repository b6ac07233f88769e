"""Games that drift: feasible in every round, the same in every chunk, bad for fixed actions."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.problems import (
    DriftingSubsets,
    HardBox,
    PeriodicDrift,
    UniformScaling,
    drifting_paths,
)

DRIFTING = {
    "subsets": lambda seed: DriftingSubsets(horizon=700, drift=9, rotation=4, seed=seed),
    "small subsets": lambda seed: DriftingSubsets(8, 3, 5, 1, 1, horizon=300, seed=seed),
    "all covered": lambda seed: DriftingSubsets(5, 4, 5, 3, 2, horizon=100, seed=seed),
    "paths": lambda seed: drifting_paths(30, 110, 400, seed, period=80),
}


def table(problem):
    return hr.problems.LinearChunk(
        *(np.concatenate(part) for part in zip(*problem.chunks(), strict=True))
    )


@pytest.mark.parametrize("name", DRIFTING)
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_the_feasible_point_satisfies_every_round_and_an_unconstrained_policy_does_not(name, seed):
    problem = DRIFTING[name](seed)
    assert problem.decision_set.contains(problem.feasible)
    rounds = table(problem)
    assert (rounds.constraints @ problem.feasible + rounds.constraint_offsets).max() <= 0.0
    blind = np.array([problem.decision_set.lmo(c) for c in rounds.costs])  # cheapest, each round
    violations = (rounds.constraints * blind).sum(axis=1) + rounds.constraint_offsets
    assert (violations > 0.0).mean() > 0.1 or name == "all covered"


@pytest.mark.parametrize("name", DRIFTING)
def test_chunks_are_the_rounds_and_the_seed_is_the_game(name):
    whole, other = table(DRIFTING[name](2)), table(DRIFTING[name](5))
    for size in (1, 7, 99, 10_000):
        pieces = list(DRIFTING[name](2).chunks(size))
        for i in range(4):
            np.testing.assert_array_equal(np.concatenate([p[i] for p in pieces]), whole[i])
    assert not np.array_equal(whole.costs, other.costs)


@pytest.mark.parametrize("name", DRIFTING)
def test_declared_bounds_hold_at_random_vertices(name):
    problem, rng = DRIFTING[name](0), np.random.default_rng(0)
    X, rounds = problem.decision_set, table(problem)
    x = np.array([X.lmo(c) for c in (*rng.standard_normal((50, X.dim)), *rounds.costs[:50])])
    costs = x @ rounds.costs.T
    assert problem.cost_range[0] <= costs.min() <= costs.max() <= problem.cost_range[1]
    assert (x @ rounds.constraints.T + rounds.constraint_offsets).max() <= problem.violation_range
    assert np.linalg.norm(rounds.costs, axis=1).max() <= problem.cost_lipschitz
    assert np.linalg.norm(rounds.constraints, axis=1).max() <= problem.constraint_lipschitz


def test_subsets_are_what_the_formula_says():
    problem = DriftingSubsets(n=10, k=3, window=4, drift=5, rotation=3, horizon=60, seed=1)
    rounds, rank = table(problem), np.random.default_rng([1, 0]).permutation(10)
    for t in range(60):
        whole, part = divmod(t, 5)
        at = [0.5 - 0.4 * np.cos(2 * np.pi * (rank - whole - j) / 10) for j in (0, 1)]
        noise = rounds.costs[t] - (1 - part / 5) * at[0] - part / 5 * at[1]
        assert np.abs(noise).max() <= 0.1
        window = {(-(t // 3) + j) % 10 for j in range(4)}
        asked = np.array([i in window for i in rank])
        cover = -rounds.constraints[t]
        assert not cover[~asked].any()
        assert ((cover[asked] >= 0.8) & (cover[asked] <= 1.2)).all()
    assert problem.need == pytest.approx(0.8 * 4 * 3 / 10)


def test_a_fixed_action_loses_to_one_for_each_phase():
    for problem, size in ((DRIFTING["subsets"](0), 135), (DRIFTING["paths"](0), 40)):
        fixed = hr.hindsight(problem).cost
        firsts = range(1, problem.horizon, size)
        parts = [(a, min(a + size - 1, problem.horizon)) for a in firsts]
        phases = sum(hr.hindsight(problem, interval=part).cost for part in parts)
        assert phases < 0.95 * fixed


def test_tides_stay_between_their_bounds_and_reach_them():
    tide, base = PeriodicDrift(UniformScaling(1.0, 1.0), 0.25, 40), np.array([2.0, 3.0])
    values = np.concatenate(list(tide.chunks(base, 80, 7, np.random.default_rng(0))))
    low, high = tide.bounds(base)
    assert ((low <= values) & (values <= high)).all()
    np.testing.assert_allclose(values[:40], values[40:], rtol=1e-12)
    np.testing.assert_allclose(values.min(axis=0), low, rtol=0.02)
    np.testing.assert_allclose(values.max(axis=0), high, rtol=0.02)
    np.testing.assert_allclose(values[:40].mean(axis=0), base, rtol=1e-12)
    assert tide.extremes(base, np.array([1.0, 0.5])) == (0.75 * 3.5, 1.25 * 3.5)


def test_drifting_paths_begin_as_the_paper_s_graph():
    still, moving = (
        hr.ShortestPath.random_network(100, 600, 50, 3),
        drifting_paths(horizon=50, seed=3),
    )
    np.testing.assert_array_equal(still.latency, moving.latency)
    assert moving.decision_set.dim == 600
    assert moving.threshold <= still.threshold
    assert "tide of 50 % in 800 rounds" in moving.record["latency"]


@pytest.mark.parametrize("seed", range(3))
def test_the_hard_box_is_hard_inside_and_feasible(seed):
    problem = HardBox(n=20, halfspaces=6, horizon=150, seed=seed)
    z, normals = problem.feasible, np.array(problem._normals)
    policy, rounds, worst = hr.unconstrained(problem.decision_set), [], 0.0
    for cost, constraint in problem.rounds(policy):
        x = policy.ask()
        assert constraint(x) == pytest.approx(np.max(normals @ (x - z)), abs=1e-12)
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
        rounds.append((cost, constraint))
        worst = max(worst, constraint(x))
    assert worst > 0.1
    assert max(abs(g(z)) for _, g in rounds) <= 1e-12
    assert all(g(problem.target) >= -1e-12 for _, g in rounds)
    target = sum(-cost.linear for cost, _ in rounds) / len(rounds)
    assert np.abs(target).max() < 1.0, "the optimum of the costs is inside"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: DriftingSubsets(n=4, k=4), "k must be below n = 4, got 4"),
        (lambda: DriftingSubsets(n=4, k=1, window=5), "window must be at most n = 4, got 5"),
        (lambda: DriftingSubsets(drift=0), "drift must be at least 1"),
        (lambda: PeriodicDrift(UniformScaling(1.0, 1.0), 1.0, 5), "below 1, got 1"),
        (lambda: drifting_paths(period=0), "period must be at least 1"),
        (lambda: HardBox(n=0), "n must be at least 1"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_the_hard_box_reacts():
    with pytest.raises(TypeError, match="cannot be iterated alone"):
        iter(HardBox(n=3))
