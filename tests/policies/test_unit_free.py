"""The practical presets have no units: rescaling costs and constraints leaves the plays alone."""

from __future__ import annotations

from functools import partial

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
@pytest.mark.parametrize(
    "make",
    [
        hr.projection_free_coco,
        partial(hr.projection_free_coco, tracking=False),
        hr.projection_free_long_term,
    ],
)
@given(i=exponents, j=exponents, seed=st.integers(0, 50))
@settings(max_examples=15, deadline=None)
def test_powers_of_two_leave_the_plays_bit_for_bit(name, make, i, j, seed):
    problem = PROBLEMS[name](seed)
    np.testing.assert_array_equal(
        plays(make, problem), plays(make, problem, a=2.0**i, b=2.0**j), strict=True
    )


@pytest.mark.parametrize("name", PROBLEMS)
def test_theorem_f_has_no_units_up_to_rounding(name):
    """Its roots round: so the default keeps its bits until Theorem F takes over."""
    problem = PROBLEMS[name](0)
    expected = plays(hr.policies.theorem_f, problem)
    for a, b in ((2.0, 0.125), (2.0**40, 2.0**-30), (3.0, 0.1)):
        found = plays(hr.policies.theorem_f, problem, a, b)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("tracking", [True, False])
@pytest.mark.parametrize("name", PROBLEMS)
def test_costs_that_start_at_zero_leave_no_trace(name, tracking):
    """While every cost is zero the constraint alone is played, at no price beside later costs."""
    problem = PROBLEMS[name](0)
    X = problem.decision_set
    policy = hr.projection_free_coco(X, tracking=tracking)
    sums = policy.policy._state["pull"] if tracking else policy.learner._state["S"]
    felt = 0
    for t, (cost, constraint) in enumerate(problem):
        x = policy.ask()
        f = hr.first_order(cost, x) if t >= 20 else hr.feedback.EvalGrad(0.0, np.zeros(X.dim))
        g = hr.first_order(constraint, x)
        policy.tell(f, g)
        felt += g.value > 0.0
        if t == 19:
            early, before = sums.copy(), felt
    assert before > 0 or name in ("ball", "box")
    assert np.abs(early).max() <= 1e-60 * np.abs(sums).max()


def test_a_cost_that_is_always_zero_still_keeps_the_constraint():
    problem = hr.problems.IidSimplex(n=8, horizon=800, seed=3)
    policy, violation = hr.projection_free_coco(problem.decision_set), []
    for _, constraint in problem:
        x = policy.ask()
        policy.tell(hr.feedback.EvalGrad(0.0, np.zeros(8)), hr.first_order(constraint, x))
        violation.append(max(0.0, constraint(x)))
    blind = sum(max(0.0, g(problem.decision_set.start())) for _, g in problem)
    assert sum(violation[400:]) < 0.5 * blind / 2  # it learnt where the constraint is kept
