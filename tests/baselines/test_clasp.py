"""CLASP: its update with an independent projection, the steps of its proof, its bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.baselines.clasp import Clasp, ClaspRates, ferreira_clasp
from hedgerow.learners import AdaGrad
from hedgerow.testing import check_policy
from rival_games import (
    SETS,
    check_powers_of_two,
    check_size_is_a_unit,
    fixed_limit,
    means,
    plays_of,
    random_rounds,
    reacting_game,
)

D, G = 2.0, 1.0
"""Diameter and Lipschitz constant of the games on the unit ball."""


@pytest.mark.parametrize("preset", ["practical", "theory"])
@pytest.mark.parametrize("name", SETS)
def test_it_conforms(name, preset):
    known = {"lipschitz": 5.0} if preset == "theory" else {}
    check_policy(
        lambda: ferreira_clasp(SETS[name](), preset=preset, **known),
        rounds=6,
        feedback=hr.feedback.full_information,
    )


def project_by_bisection(X, y, g):
    """Project onto X and g <= 0: the multiplier of a linear g by bisection, slow and plain."""
    if g(X.project(y)) <= 0.0:
        return X.project(y)
    low, high = 0.0, 1.0
    while g(X.project(y - high * g.coefficients)) > 0.0:
        high *= 2.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        outside = g(X.project(y - middle * g.coefficients)) > 0.0
        low, high = (middle, high) if outside else (low, middle)
    return X.project(y - high * g.coefficients)


@pytest.mark.parametrize("beta", [0.3, 0.5])
@pytest.mark.parametrize("name", SETS)
def test_it_is_the_papers_update(name, beta):
    X, lipschitz, compared = SETS[name](), 6.0, 0
    policy = ferreira_clasp(X, preset="theory", lipschitz=lipschitz, trade_off=beta)
    for t, (cost, constraint) in enumerate(random_rounds(X, 40, seed=1), start=1):
        x = policy.ask()
        policy.tell(
            hr.feedback.full_information(cost, x), hr.feedback.full_information(constraint, x)
        )
        if X.minimum(constraint.coefficients) + constraint.offset < -0.01:
            eta = X.diameter / (lipschitz * t**beta)
            expected = project_by_bisection(X, x - eta * cost.coefficients, constraint)
            np.testing.assert_allclose(policy.ask(), expected, rtol=0, atol=1e-7)
            compared += 1
    assert compared > 20


def test_a_curved_constraint_is_projected_onto():
    """In a wide box the projection onto a ball is known: shrink to its radius."""
    X, radius = hr.sets.Box(-3.0 * np.ones(3), 3.0 * np.ones(3)), 0.8
    ball = hr.Quadratic.distance(np.zeros(3), 2.0, -(radius**2))  # ||x||^2 <= radius^2
    policy = ferreira_clasp(X, preset="theory", lipschitz=7.0)
    rng = np.random.default_rng(3)
    for t in range(1, 15):
        cost, x = hr.Linear(rng.normal(-1.0, 1.0, 3)), policy.ask()
        policy.tell(hr.feedback.full_information(cost, x), hr.feedback.full_information(ball, x))
        y = x - X.diameter / (7.0 * math.sqrt(t)) * cost.coefficients
        expected = y * min(1.0, radius / np.linalg.norm(y))
        # cuts within 1e-9 of the constraint put the point within the square root of that
        np.testing.assert_allclose(policy.ask(), expected, rtol=0, atol=1e-4 * X.diameter)
    assert policy.unsatisfied == 0


@given(seed=st.integers(0, 10**6), name=st.sampled_from(sorted(SETS)))
@settings(max_examples=40, deadline=None)
def test_decisions_stay_in_the_set_and_satisfy_the_last_constraint(seed, name):
    X = SETS[name]()
    policy, size = ferreira_clasp(X), 0.0
    for cost, constraint in random_rounds(X, 8, seed):
        x = policy.ask()
        policy.tell(
            hr.feedback.full_information(cost, x), hr.feedback.full_information(constraint, x)
        )
        size = max(size, X.tangent_norm(constraint.coefficients))
        least = X.minimum(constraint.coefficients) + constraint.offset
        assert X.contains(policy.ask(), tol=1e-7)
        assert constraint(policy.ask()) <= max(0.0, least) + 2e-8 * size * X.diameter + 1e-9


@pytest.mark.parametrize("beta", [0.3, 0.5, 0.7])
def test_the_steps_and_the_bounds_of_its_proof(beta):
    """Costs and constraints react to the plays; 0 satisfies all constraints."""
    X, T = hr.sets.L2Ball(3), 1000
    policy = ferreira_clasp(X, preset="theory", lipschitz=G, trade_off=beta)
    rounds, plays = reacting_game(policy, T, hr.feedback.full_information, seed=4)
    best = hr.hindsight(X, rounds).x
    for t in range(1, T):
        (cost, constraint), x, later = rounds[t - 1], plays[t - 1], plays[t]
        eta, moved = D / (G * t**beta), later - x
        before, after = np.sum((x - best) ** 2), np.sum((later - best) ** 2)
        pull = 2.0 * eta * float(cost.coefficients @ (later - best))
        assert after <= before - moved @ moved - pull + 1e-6
        assert max(0.0, constraint(x)) <= G * np.linalg.norm(moved) + 1e-7
    regret, squared = totals(rounds, plays, best)
    assert regret <= G * D * (T**beta + T ** (1 - beta) / (1 - beta)) / 2
    assert squared <= squared_bound(T, beta)
    assert squared > 1.0, "a game without violations tests nothing"


def totals(rounds, plays, best):
    """Return the regret, and the sum of the squared violations."""
    regret = sum(f(x) - f(best) for (f, _), x in zip(rounds, plays, strict=True))
    violations = np.array([max(0.0, g(x)) for (_, g), x in zip(rounds, plays, strict=True)])
    return regret, float(violations @ violations)


def squared_bound(T, beta):
    return G**2 * D**2 * (1.0 + 2.0 * T ** (1.0 - beta) / (1.0 - beta))


def test_a_step_that_forgets_the_constraint_breaks_the_bound():
    X, T = hr.sets.L2Ball(2), 1000
    wall = hr.Linear([1.0, 0.0])
    rounds = [(hr.Linear([-1.0, 0.0]), wall)] * T
    policy = ferreira_clasp(X, preset="theory", lipschitz=G)
    _, squared = totals(rounds, plays_of(policy, rounds, hr.feedback.full_information), np.zeros(2))
    assert squared <= 1e-12
    forgetful, plays = AdaGrad(X), []
    for cost, _ in rounds:
        plays.append(forgetful.ask())
        forgetful.tell(hr.first_order(cost, plays[-1]))
    assert totals(rounds, plays, np.zeros(2))[1] > squared_bound(T, 0.5)


def test_a_round_that_nothing_satisfies_is_counted_and_played_on():
    X = hr.sets.Box([0.0, 0.0], [1.0, 1.0])
    policy = Clasp(X, ClaspRates(step=0.5, beta=0.5, diameter=X.diameter, lipschitz=1.0))
    cost = hr.Linear([1.0, 0.0])
    for impossible in (hr.Linear([-1.0, 0.0], 1.5), hr.Quadratic.distance([2.0, 0.0], 1.0, -0.1)):
        x, before = policy.ask(), policy.unsatisfied
        policy.tell(
            hr.feedback.full_information(cost, x), hr.feedback.full_information(impossible, x)
        )
        assert policy.unsatisfied == before + 1
        assert policy.ask()[0] == pytest.approx(1.0, abs=1e-6), "the least violation"
    x = policy.ask()
    policy.tell(
        hr.feedback.full_information(cost, x),
        hr.feedback.full_information(hr.Linear([1.0, 0.0], -0.25), x),
    )
    assert policy.unsatisfied == 2
    assert policy.ask()[0] <= 0.25 + 1e-9


def test_constraints_with_a_large_multiplier_or_none_are_satisfied():
    """The half-space touches a ball; it leaves a corner of a box at an angle of 1e-6."""
    pulled = hr.Linear([-1.0, 0.5])
    for X, g in (
        (hr.sets.L2Ball(2), hr.Linear([1.0, 0.0], 1.0)),
        (hr.sets.Box([0.0, 0.0], [1.0, 1.0]), hr.Linear([1e-6, 1.0])),
    ):
        policy = ferreira_clasp(X, preset="theory", lipschitz=1.2)
        for _ in range(5):
            x = policy.ask()
            policy.tell(hr.feedback.full_information(pulled, x), hr.feedback.full_information(g, x))
            assert g(policy.ask()) <= 1e-8
        assert policy.unsatisfied == 0
    np.testing.assert_allclose(policy.ask(), [0.0, 0.0], atol=1e-5)


def test_it_is_anytime_and_resumes_bit_for_bit():
    X = SETS["k-subsets"]()
    rounds = random_rounds(X, 30, seed=6)
    whole = plays_of(ferreira_clasp(X), rounds, hr.feedback.full_information)
    np.testing.assert_array_equal(
        whole, plays_of(ferreira_clasp(X, 10**6), rounds, hr.feedback.full_information)
    )
    first, second = ferreira_clasp(X), ferreira_clasp(X)
    plays_of(first, rounds[:13], hr.feedback.full_information)
    second.restore(first.state())
    np.testing.assert_array_equal(
        whole[13:], plays_of(second, rounds[13:], hr.feedback.full_information)
    )


def test_powers_of_two_leave_the_plays_bit_for_bit():
    check_powers_of_two(ferreira_clasp, 28, hr.feedback.full_information)


def test_the_size_of_the_set_is_only_a_unit():
    check_size_is_a_unit(ferreira_clasp, 38, hr.feedback.full_information)


def test_violation_and_regret_grow_slower_than_the_rounds():
    regret, violation = means(
        ferreira_clasp(hr.sets.Simplex(4)), fixed_limit(400, seed=8), hr.feedback.full_information
    )
    assert regret < 0.03
    assert violation[1:].max() <= 1e-9, "the limit stays, so the last round's is the next one's"


def test_more_eagerness_means_less_violation():
    problem = hr.problems.IidSimplex(horizon=300, seed=20)
    X = problem.decision_set
    ccv = [hr.simulate(ferreira_clasp(X, eagerness=e), problem).ccv for e in (0.25, 1.0, 4.0)]
    assert ccv[0] > ccv[1] > ccv[2]


def test_what_does_not_fit_is_refused():
    X = hr.sets.Simplex(3)
    with pytest.raises(ValueError, match="takes no eagerness"):
        ferreira_clasp(X, preset="theory", lipschitz=1.0, eagerness=2.0)
    with pytest.raises(ValueError, match="needs lipschitz"):
        ferreira_clasp(X, preset="theory")
    with pytest.raises(ValueError, match="between 0 and 1"):
        ferreira_clasp(X, trade_off=1.0)
