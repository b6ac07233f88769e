"""The practical presets have no units: rescaling costs and constraints leaves the plays alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr

exponents = st.integers(min_value=-60, max_value=60)


def plays(make, problem, a=1.0, b=1.0):
    policy, points = make(problem.decision_set), []
    for cost, constraint in problem:
        x = policy.ask()
        points.append(x)
        f, g = hr.first_order(cost, x), hr.first_order(constraint, x)
        policy.tell(
            hr.feedback.EvalGrad(a * f.value, a * f.grad),
            hr.feedback.EvalGrad(b * g.value, b * g.grad),
        )
    return np.array(points)


PROBLEMS = {
    "simplex": lambda seed: hr.problems.IidSimplex(n=8, horizon=60, seed=seed),
    "ball": lambda seed: hr.problems.SwitchingBall(n=4, horizon=60, seed=seed),
    "box": lambda seed: hr.problems.QuadraticBox(n=4, horizon=60, seed=seed),
    "paths": lambda seed: hr.ShortestPath.random_network(nodes=15, edges=40, horizon=60, seed=seed),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("make", [hr.projection_free_coco, hr.projection_free_long_term])
@given(i=exponents, j=exponents, seed=st.integers(0, 50))
@settings(max_examples=15, deadline=None)
def test_powers_of_two_leave_the_plays_bit_for_bit(name, make, i, j, seed):
    problem = PROBLEMS[name](seed)
    np.testing.assert_array_equal(
        plays(make, problem), plays(make, problem, a=2.0**i, b=2.0**j), strict=True
    )


@pytest.mark.parametrize("name", PROBLEMS)
def test_costs_that_start_at_zero_leave_no_trace(name):
    """While every cost is zero the constraint alone is played, at no price beside later costs."""
    problem = PROBLEMS[name](0)
    X = problem.decision_set
    moved = hr.projection_free_coco(X)
    rounds = list(problem)
    grads = []
    for t, (cost, constraint) in enumerate(rounds):
        x = moved.ask()
        f = hr.first_order(cost, x) if t >= 20 else hr.feedback.EvalGrad(0.0, np.zeros(X.dim))
        moved.tell(f, hr.first_order(constraint, x))
        grads.append(f.grad)
        if t == 19:
            early = moved.learner._state["S"].copy()
    if early.any():  # the constraint was felt before the first cost
        assert np.abs(early).max() < 1e-60 * np.abs(moved.learner._state["S"]).max()


def test_a_cost_that_is_always_zero_still_keeps_the_constraint():
    problem = hr.problems.IidSimplex(n=8, horizon=800, seed=3)
    policy, violation = hr.projection_free_coco(problem.decision_set), []
    for _, constraint in problem:
        x = policy.ask()
        policy.tell(hr.feedback.EvalGrad(0.0, np.zeros(8)), hr.first_order(constraint, x))
        violation.append(max(0.0, constraint(x)))
    blind = sum(max(0.0, g(problem.decision_set.start())) for _, g in problem)
    assert sum(violation[400:]) < 0.5 * blind / 2  # it learnt where the constraint is kept


def test_ranges_that_are_given_replace_the_learnt_ones():
    problem = hr.problems.IidSimplex(n=8, horizon=100, seed=1)
    X = problem.decision_set
    policy = hr.projection_free_coco(X, lipschitz=(3.0, 2.0), violation_unit=5.0)
    for cost, constraint in problem:
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
    ranges = policy.surrogate.ranges
    assert (ranges.violation, ranges.ratio, ranges.oracle_calls) == (5.0, 1.5, 0)
    assert policy.oracle_calls == 100


def test_violation_budget_is_how_much_may_be_spent():
    problem = hr.problems.IidSimplex(n=8, horizon=3000, seed=1)
    spent = []
    for scale in (20.0, 80.0, 320.0):
        policy = hr.projection_free_coco(problem.decision_set, violation_budget=scale)
        spent.append(hr.simulate(policy, problem).ccv)
    assert spent[0] < spent[1] < spent[2]
    assert all(0.1 * s < ccv < 3.0 * s for s, ccv in zip((20.0, 80.0, 320.0), spent, strict=True))


@pytest.mark.parametrize("kind", [hr.problems.IidSimplex, hr.problems.Ranking])
def test_a_smaller_violation_range_is_more_eager(kind):
    """In the sum of six games."""
    found = np.zeros(4)
    for problem in (kind(horizon=1000, seed=seed) for seed in range(11, 17)):
        X = problem.decision_set
        policy = hr.projection_free_coco(X)
        hr.simulate(policy, problem)
        unit = policy.surrogate.ranges.violation
        for i, factor in enumerate((4.0, 1.0, 0.25, 0.0625)):
            policy = hr.projection_free_coco(X, violation_unit=factor * unit)
            found[i] += hr.simulate(policy, problem).ccv
    assert (np.diff(found) < 0.0).all()
