"""What every problem with a story promises: feasibility, bounds, the same rounds, good play."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from stories import STORIES

import hedgerow as hr

LINEAR = [name for name in STORIES if name not in ("log portfolio", "ad slots")]


def points(problem, count, rng):
    """Random mixtures of a few vertices, and vertices that random and real directions choose."""
    X = problem.decision_set
    first = [cost.grad(X.start()) for cost, _ in itertools.islice(problem, 10)]
    first += [limit.grad(X.start()) for _, limit in itertools.islice(problem, 10)]
    directions = [*first, *(-c for c in first), *rng.standard_normal((200, X.dim))]
    vertices = np.array([X.lmo(c) for c in directions])
    chosen = rng.integers(0, len(vertices), (count - len(vertices), 4))
    shares = rng.dirichlet(np.full(4, 0.5), len(chosen))
    return np.concatenate([vertices, np.einsum("ij,ijk->ik", shares, vertices[chosen])])


def table(problem):
    return hr.problems.LinearChunk(
        *(np.concatenate(part) for part in zip(*problem.chunks(), strict=True))
    )


def values(problem, rng):
    """Costs, constraint values and gradient norms of 1000 points in all rounds, or in 20 each."""
    at = points(problem, 1000, rng)
    if isinstance(problem, hr.problems.LinearProblem):
        rounds = table(problem)
        norms = (np.linalg.norm(part, axis=1) for part in (rounds.costs, rounds.constraints))
        costs = at @ rounds.costs.T + rounds.cost_offsets
        return (costs, at @ rounds.constraints.T + rounds.constraint_offsets, *norms)
    rounds = list(problem)
    pairs = [(x, rounds[t]) for x in at for t in rng.integers(0, len(rounds), 20)]
    rows = [
        (f(x), g(x), np.linalg.norm(f.grad(x)), np.linalg.norm(g.grad(x))) for x, (f, g) in pairs
    ]
    return tuple(np.array(rows).T)


@pytest.mark.parametrize("name", STORIES)
def test_the_feasible_point_satisfies_every_round(name):
    for seed in range(3):
        problem = STORIES[name](seed, 300)
        assert problem.decision_set.contains(problem.feasible)
        rounds = list(problem)
        assert len(rounds) == problem.horizon == 300
        assert all(g(problem.feasible) <= 0.0 for _, g in rounds)


@pytest.mark.parametrize("name", STORIES)
def test_declared_constants_hold_and_are_not_idle(name):
    rng = np.random.default_rng(1)
    for seed in range(2):
        problem = STORIES[name](seed, 300)
        costs, limits, cost_norms, limit_norms = values(problem, rng)
        low, high = problem.cost_range
        slack = 1e-12 * max(abs(low), abs(high))
        assert low - slack <= costs.min() < costs.max() <= high + slack
        assert limits.max() <= problem.violation_range * (1.0 + 1e-12)
        assert cost_norms.max() <= problem.cost_lipschitz * (1.0 + 1e-12)
        assert limit_norms.max() <= problem.constraint_lipschitz * (1.0 + 1e-12)
        assert costs.max() - costs.min() >= 0.3 * (high - low), "the range is far too wide"
        assert limits.max() >= 0.3 * problem.violation_range, "the range is far too wide"
        assert cost_norms.max() >= 0.3 * problem.cost_lipschitz
        assert limit_norms.max() >= 0.3 * problem.constraint_lipschitz


@pytest.mark.parametrize("name", LINEAR)
def test_chunks_are_the_rounds(name):
    problem = STORIES[name](3, 150)
    whole = next(iter(problem.chunks(150)))
    for size in (1, 7, 64, 1000):
        pieces = list(problem.chunks(size))
        for i in range(4):
            np.testing.assert_array_equal(np.concatenate([p[i] for p in pieces]), whole[i])
    for t, (cost, constraint) in enumerate(problem):
        np.testing.assert_array_equal(cost.coefficients, whole.costs[t])
        np.testing.assert_array_equal(constraint.coefficients, whole.constraints[t])
        assert (cost.offset, constraint.offset) == (whole.cost_offsets[t], whole[3][t])


@pytest.mark.parametrize("name", STORIES)
def test_one_seed_fixes_everything(name):
    x = STORIES[name](5, 40).decision_set.start()
    once, again, other = ([(f(x), g(x)) for f, g in STORIES[name](seed, 40)] for seed in (5, 5, 6))
    assert once == again
    assert once != other


@pytest.mark.parametrize("name", STORIES)
def test_played_for_a_thousand_rounds(name):
    problem = STORIES[name](0, 1000)
    X = problem.decision_set
    policy, blind = hr.projection_free_coco(X), hr.unconstrained(X)
    trace, ignorant = hr.simulate(policy, problem), hr.simulate(blind, problem)
    at_feasible = sum(cost(problem.feasible) for cost, _ in problem)
    assert trace.cost - at_feasible <= policy.certificate() + 1e-9
    assert trace.ccv < 0.25 * ignorant.ccv
    assert ignorant.ccv > problem.violation_range, "the constraint must bind"
    if name != "log portfolio":
        best = hr.hindsight(problem)
        assert best.status == "optimal"
        assert abs(best.gap) <= 1e-7 * max(1.0, abs(best.cost))
        assert best.cost <= at_feasible + 1e-9
        assert trace.regret(best) <= policy.certificate() + 1e-9
