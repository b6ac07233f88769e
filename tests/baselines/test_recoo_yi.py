"""RECOO and Yi et al.: their updates with an independent argmin, their promises, the contract."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.rectified_penalty import (
    Recoo,
    RecooRates,
    Yi2021,
    Yi2023,
    YiRates,
    guo_recoo,
    yi_2021,
    yi_2023,
)
from hedgerow.testing import check_policy
from rival_games import (
    SETS,
    check_powers_of_two,
    check_size_is_a_unit,
    fixed_limit,
    means,
    plays_of,
    random_rounds,
)

NAMED = {"guo_recoo": guo_recoo, "yi_2021": yi_2021, "yi_2023": yi_2023}


@pytest.mark.parametrize("preset", ["practical", "theory"])
@pytest.mark.parametrize("policy", NAMED)
@pytest.mark.parametrize("name", SETS)
def test_they_conform(name, policy, preset):
    needs_G = preset == "theory" and policy == "yi_2023"
    known = {"lipschitz": 5.0} if needs_G else {}
    check_policy(
        lambda: NAMED[policy](SETS[name](), preset=preset, **known),
        rounds=6,
        feedback=hr.feedback.full_information,
    )


def argmin_by_bisection(X, c, w, g, alpha, y):
    """The multiplier of g^+ by plain bisection, 200 projections: slow and independent."""

    def point(mu):
        return X.project(y - (c + mu * g.coefficients) / (2 * alpha))

    if g(point(0.0)) <= 0:
        return point(0.0)
    if g(point(w)) >= 0:
        return point(w)
    low, high = 0.0, w
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if g(point(middle)) > 0 else (low, middle)
    return point(high)


@pytest.mark.parametrize("name", SETS)
def test_recoo_is_the_papers(name):
    X = SETS[name]()
    rounds = random_rounds(X, 40, seed=1)
    policy, Q = guo_recoo(X, preset="theory"), 1.0
    for t, (cost, constraint) in enumerate(rounds, start=1):
        x = policy.ask()
        alpha, gamma = math.sqrt(t), t**0.6
        expected = argmin_by_bisection(X, cost.coefficients, Q * gamma, constraint, alpha, x)
        policy.tell(
            hr.feedback.full_information(cost, x), hr.feedback.full_information(constraint, x)
        )
        assert policy.weight == pytest.approx(Q * gamma)
        np.testing.assert_allclose(policy.ask(), expected, rtol=0, atol=1e-7)
        left = max(0.0, constraint(policy.ask()))
        Q = max(Q + gamma * left, math.sqrt(t + 1))
        assert policy.queue == pytest.approx(Q, rel=1e-9)
    assert policy.projections >= 40


@pytest.mark.parametrize("name", SETS)
def test_yi_2021_is_its_pseudocode(name):
    X = SETS[name]()
    policy, q = Yi2021(X, YiRates(alpha_0=2.0, gamma_0=0.7, c=0.4)), 0.0
    for t, (cost, constraint) in enumerate(random_rounds(X, 30, seed=2), start=1):
        x = policy.ask()
        alpha, gamma, later = (
            2 / t**0.4,
            0.7 / math.sqrt(2 / t**0.4),
            0.7 / math.sqrt(2 / (t + 1) ** 0.4),
        )
        g = max(0.0, constraint(x))
        q += gamma * g
        hat = q + gamma * g
        expected = argmin_by_bisection(
            X, alpha * cost.coefficients, alpha * later * hat, constraint, 1.0, x
        )
        policy.tell(
            hr.feedback.full_information(cost, x), hr.feedback.full_information(constraint, x)
        )
        np.testing.assert_allclose(policy.ask(), expected, rtol=0, atol=1e-7)
    assert q > 0.0


@pytest.mark.parametrize("name", SETS)
def test_yi_2023_is_its_pseudocode(name):
    X = SETS[name]()
    policy = Yi2023(X, YiRates(alpha_0=2.0, gamma_0=0.7, c=0.4))
    for t, (cost, constraint) in enumerate(random_rounds(X, 30, seed=3), start=1):
        x = policy.ask()
        alpha = 2 / t**0.4
        v = 0.7 / alpha * max(0.0, constraint(x))
        expected = argmin_by_bisection(X, alpha * cost.coefficients, alpha * v, constraint, 1.0, x)
        policy.tell(
            hr.feedback.full_information(cost, x), hr.feedback.full_information(constraint, x)
        )
        np.testing.assert_allclose(policy.ask(), expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", SETS)
def test_the_theory_presets_have_their_named_rates(name):
    X, G, c = SETS[name](), 2.5, 0.4
    assert yi_2021(X, preset="theory", trade_off=c).rates == YiRates(1.0, 1.0, c)
    later = yi_2023(X, preset="theory", lipschitz=G, trade_off=c)
    assert later.rates == YiRates(1.0, 1.0 / (4.0 * G**2), c)
    assert guo_recoo(X, preset="theory").rates == RecooRates(epsilon=0.1, unit=1.0)


def test_recoos_penalty_never_falls_and_has_its_floor():
    X = hr.sets.Simplex(5)
    policy, last = Recoo(X), 1.0
    for t, (cost, constraint) in enumerate(random_rounds(X, 200, seed=4), start=2):
        x = policy.ask()
        policy.tell(
            hr.feedback.full_information(cost, x), hr.feedback.full_information(constraint, x)
        )
        assert policy.queue >= max(last, math.sqrt(t))
        last = policy.queue


def test_recoo_keeps_a_fixed_constraint_after_the_first_rounds():
    """Fixed g: the sum of g^+(x_{t+1}) is at most sum G D/w_t + D^2 max alpha_t/w_t, a constant."""
    X, rng = hr.sets.L2Ball(4), np.random.default_rng(5)
    limit = hr.Linear([1.0, 0.0, 0.0, 0.0], -0.1)
    costs = [hr.Linear([-1.0, *rng.normal(0.0, 0.5, 3)]) for _ in range(600)]
    policy = guo_recoo(X, preset="theory")
    plays = plays_of(policy, [(f, limit) for f in costs], hr.feedback.full_information)
    ccv = np.maximum(0.0, plays[:, 0] - 0.1).sum()
    G = max(float(np.linalg.norm(f.coefficients)) for f in costs)
    t = np.arange(1, 600)
    bound = (G * 2.0 / t**1.1).sum() + 4.0 * (np.sqrt(t) / t**1.1).max()
    assert ccv <= bound
    assert bound < 0.9 * 600 / 10, "ignoring the constraint would cost more"


@pytest.mark.parametrize("policy", NAMED)
def test_they_are_anytime(policy):
    X = SETS["k-subsets"]()
    rounds = random_rounds(X, 30, seed=6)
    runs = [
        plays_of(NAMED[policy](X, T), rounds, hr.feedback.full_information)
        for T in (None, 30, 10**6)
    ]
    for run in runs[1:]:
        np.testing.assert_array_equal(run, runs[0])


@pytest.mark.parametrize("policy", NAMED)
def test_powers_of_two_leave_the_plays_bit_for_bit(policy):
    check_powers_of_two(NAMED[policy], 28, hr.feedback.full_information)


@pytest.mark.parametrize("policy", NAMED)
def test_violation_and_regret_grow_slower_than_the_rounds(policy):
    regret, violation = means(
        NAMED[policy](hr.sets.Simplex(4)), fixed_limit(400, seed=8), hr.feedback.full_information
    )
    assert regret < 0.03
    assert violation[200:].mean() < max(0.5 * violation[:100].mean(), 0.005)


@pytest.mark.parametrize("policy", NAMED)
def test_the_size_of_the_set_is_only_a_unit(policy):
    check_size_is_a_unit(NAMED[policy], 38, hr.feedback.full_information)


@pytest.mark.parametrize("policy", NAMED)
def test_curved_constraints_are_played(policy):
    X = hr.sets.Box(-np.ones(3), np.ones(3))
    ball = hr.Quadratic.distance(np.zeros(3), 2.0, -0.5)  # ||x||^2 <= 0.5
    rounds = [(hr.Linear([-1.0, -0.5, 0.2]), ball)] * 12
    built = NAMED[policy](X)
    plays = plays_of(built, rounds, hr.feedback.full_information)
    violation = np.mean([max(0.0, ball(x)) for x in plays[2:]])
    assert violation < 1.0  # 2.5 in the corner that costs want; Yi 2023 forgets, and swings
    assert built.policy.largest_gap < 1e-3


def test_what_does_not_fit_is_refused():
    X = hr.sets.Simplex(3)
    with pytest.raises(ValueError, match="takes no eagerness"):
        guo_recoo(X, preset="theory", eagerness=2.0)
    with pytest.raises(ValueError, match="needs lipschitz"):
        yi_2023(X, preset="theory")
    with pytest.raises(ValueError, match="between 0 and 1"):
        yi_2021(X, trade_off=0.0)
    policy, x = Recoo(X, RecooRates()), X.start()
    with pytest.raises(TypeError, match="Full feedback"):
        policy.tell(hr.feedback.EvalGrad(0.0, np.zeros(3)), hr.feedback.EvalGrad(0.0, np.zeros(3)))
    with pytest.raises(TypeError, match="as a function"):
        policy.tell(
            hr.feedback.full_information(hr.Linear(np.zeros(3)), x),
            hr.feedback.Full(0.0, np.zeros(3), None),
        )


class Broken(hr.Quadratic):
    """A constraint that cannot be evaluated."""

    def __call__(self, x):
        raise FloatingPointError(f"no value at {x}")


@pytest.mark.parametrize("policy", NAMED)
def test_a_constraint_that_raises_leaves_the_policy_as_it_was(policy):
    X = hr.sets.Simplex(3)
    player, x = NAMED[policy](X), X.start()
    cost, curved = (
        hr.feedback.full_information(hr.Linear([1.0, 0.0, 2.0]), x),
        hr.Quadratic(1.0, np.zeros(3), -0.2),
    )
    player.tell(cost, hr.feedback.full_information(curved, x))
    before = player.state()
    constraint = replace(
        hr.feedback.full_information(curved, x), function=Broken(1.0, np.zeros(3), -0.2)
    )
    with pytest.raises(FloatingPointError, match="no value at"):
        player.tell(cost, constraint)
    assert str(player.state()) == str(before)


@pytest.mark.parametrize("policy", NAMED)
def test_a_linear_constraint_of_another_dimension_is_refused(policy):
    X = hr.sets.Simplex(3)
    player, x = NAMED[policy](X), X.start()
    cost = hr.feedback.full_information(hr.Linear([1.0, 0.0, 2.0]), x)
    constraint = replace(cost, function=hr.Linear([1.0, 2.0]))
    with pytest.raises(ValueError, match="2"):
        player.tell(cost, constraint)
