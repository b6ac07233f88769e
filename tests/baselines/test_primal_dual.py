"""Primal-dual policies: their papers' updates, Jenatton's bounds, and the contract."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.normalised import Normalised
from hedgerow.baselines.primal_dual import (
    ConstantRates,
    DecayingRates,
    ForgetfulRates,
    PrimalDual,
    jenatton_2016,
    mahdavi_2012,
    sun_safe,
    yuan_lamperski_2018,
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

NAMED = {
    "mahdavi_2012": mahdavi_2012,
    "jenatton_2016": jenatton_2016,
    "sun_safe": sun_safe,
    "yuan_lamperski_2018": yuan_lamperski_2018,
}


@pytest.mark.parametrize("preset", ["practical", "theory"])
@pytest.mark.parametrize("policy", NAMED)
@pytest.mark.parametrize("name", SETS)
def test_they_conform(name, policy, preset):
    known = {"lipschitz": 5.0} if preset == "theory" else {}
    check_policy(lambda: NAMED[policy](SETS[name](), 100, preset=preset, **known), rounds=6)


def jenattons_algorithm(X, rounds, R, G, b):
    """Jenatton et al. 2016, with g_t^+ for g, P on X, gradients along X."""
    x, lam, plays = X.start(), 0.0, []
    for t, (cost, constraint) in enumerate(rounds, start=1):
        plays.append(x)
        theta = 6 * R * G / t**b
        eta = R / (G * t**b)
        mu = 1 / (theta * (t + 1))
        g = max(0.0, constraint(x))
        slope = constraint.grad(x) if g > 0 else np.zeros(X.dim)
        new = X.project(x - eta * (X.tangent(cost.grad(x)) + lam * X.tangent(slope)))
        lam = max(0.0, lam + mu * (g - theta * lam))
        x = new
    return np.array(plays)


def suns_algorithm(X, rounds, mu, delta):
    """Sun et al. 2017 with the Euclidean mirror map: L_t = f + lam g - (delta mu/2) lam^2."""
    x, lam, plays = X.start(), 0.0, []
    for cost, constraint in rounds:
        plays.append(x)
        g = max(0.0, constraint(x))
        grad_x = cost.grad(x) + (lam * constraint.grad(x) if g > 0 else 0.0)
        grad_lam = g - delta * mu * lam
        x, lam = X.project(x - mu * X.tangent(grad_x)), max(0.0, lam + mu * grad_lam)
    return np.array(plays)


@pytest.mark.parametrize("b", [0.5, 0.8])
@pytest.mark.parametrize("name", SETS)
def test_jenatton_is_the_papers(name, b):
    X, G = SETS[name](), 2.5
    rounds = random_rounds(X, 200, seed=1)
    expected = jenattons_algorithm(X, rounds, X.diameter, G, b)
    policy = jenatton_2016(X, preset="theory", lipschitz=G, trade_off=b)
    np.testing.assert_allclose(plays_of(policy, rounds), expected, rtol=0, atol=1e-9)
    assert policy.multiplier > 0.0, "the constraint must have acted"
    assert policy.projections == 200
    assert policy.oracle_calls == 0


@pytest.mark.parametrize("name", SETS)
def test_sun_is_the_papers(name):
    X, G, Dg, T = SETS[name](), 2.5, 4.0, 200
    rounds = random_rounds(X, T, seed=2)
    mu = math.sqrt(X.diameter**2 / 2 / (T * (Dg**2 + G**2)))
    policy = sun_safe(X, T, preset="theory", lipschitz=G, bound=Dg)
    expected = suns_algorithm(X, rounds, mu, 2 * G**2)
    np.testing.assert_allclose(plays_of(policy, rounds), expected, rtol=0, atol=1e-9)


def test_mahdavis_constants_satisfy_the_theorem():
    X, G, T = hr.sets.L2Ball(3, radius=2.0), 3.0, 100
    for Dg in (None, 20.0):
        rates = mahdavi_2012(X, T, preset="theory", lipschitz=G, bound=Dg).schedule
        R, range_ = 4.0, Dg or G * 4.0
        assert rates.step == rates.mu
        assert rates.step == pytest.approx(R / math.sqrt(T * (2 * G**2 + 2 * range_**2)))
        delta = rates.theta / rates.step
        assert delta == pytest.approx(2 * G**2 + 2 * delta**2 * rates.step**2)  # the least one
    with pytest.raises(ValueError, match="horizon of at least 128"):  # 16 (eta G)^2 <= 1
        mahdavi_2012(X, 127, preset="theory", lipschitz=G, bound=1e-3)
    mahdavi_2012(X, 129, preset="theory", lipschitz=G, bound=1e-3)


def test_mahdavis_horizon_is_long_enough_for_the_theorem():
    """4 sqrt(2) eta <= 1 binds where gradients are small."""
    X, G, Dg = hr.sets.L2Ball(3, radius=2.0), 0.5, 0.5
    least = math.ceil(32 * 16 / (2 * G**2 + 2 * Dg**2))  # eta = R/sqrt(T (2 G^2 + 2 Dg^2)), R = 4
    with pytest.raises(ValueError, match=f"horizon of at least {least}"):
        mahdavi_2012(X, least - 1, preset="theory", lipschitz=G, bound=Dg)
    rates = mahdavi_2012(X, least, preset="theory", lipschitz=G, bound=Dg).schedule
    assert 4 * math.sqrt(2) * rates.step <= 1.0 + 1e-9


@pytest.mark.parametrize("name", SETS)
def test_yuan_lamperskis_constants(name):
    X, T, G = SETS[name](), 200, 2.5
    policy = yuan_lamperski_2018(X, T, preset="theory", lipschitz=G)
    assert policy.schedule == ForgetfulRates(X.diameter / (G * math.sqrt(2 * T)), 2 * G**2)


def test_yuan_lamperski_forgets():
    """After a violating round the multiplier is its own; after a clean one it is nothing."""
    X = hr.sets.Box([0.0], [1.0])
    policy = PrimalDual(X, ForgetfulRates(step=0.1, sigma=2.0))
    policy.tell(hr.feedback.EvalGrad(0.0, np.zeros(1)), hr.feedback.EvalGrad(0.3, np.ones(1)))
    assert policy.multiplier == pytest.approx(0.3 / 0.2)
    assert policy.ask() == pytest.approx(X.start() - 0.1 * 1.5)
    policy.tell(hr.feedback.EvalGrad(0.0, np.zeros(1)), hr.feedback.EvalGrad(-0.1, np.ones(1)))
    assert policy.multiplier == 0.0


def push_game(T):
    """On [0, 1] costs pull up, only x = 0 satisfies the constraint x <= 0: G = D = F = Dg = 1."""
    return [(hr.Linear([-1.0]), hr.Linear([1.0])) for _ in range(T)]


@pytest.mark.parametrize("b", [0.5, 0.6])
def test_jenattons_bounds_hold_where_they_say_something(b):
    """At T = 4000 both are below the trivial T, what ignoring the constraint would cost."""
    X, T = hr.sets.Box([0.0], [1.0]), 4000
    bound = (1 + 1 / (6 * b)) * T**b + 2 * T ** (1 - b) / (1 - b)
    violation = math.sqrt(24 / (1 - b) * (bound + T) * T ** (1 - b))
    assert bound < T / 2
    assert b != 0.5 or violation < T
    rng = np.random.default_rng(3)
    games = {"push": push_game(T)}
    games["cheap"] = [(hr.Linear([1.0]), g) for _, g in games["push"]]
    games["signs"] = [
        (hr.Linear([s]), g) for s, (_, g) in zip(rng.choice([-1, 1], T), push_game(T), strict=True)
    ]
    for name, rounds in games.items():
        policy = jenatton_2016(X, preset="theory", lipschitz=1.0, trade_off=b)
        plays = plays_of(policy, rounds)[:, 0]
        regret = sum(float(f(np.array([x]))) for x, (f, _) in zip(plays, rounds, strict=True))
        assert regret <= bound, name
        assert plays.sum() <= violation, name  # g = x >= 0 here


@dataclass(frozen=True)
class Upward:
    """Jenatton's rates with the step's sign turned."""

    rates: DecayingRates

    def eta(self, t):
        return -self.rates.eta(t)

    def multipliers(self, t, lam, g):
        return self.rates.multipliers(t, lam, g)


def test_the_bound_of_jenatton_can_fail():
    """A step up instead of down breaks the bound of the regret, on the game called cheap above."""
    X, T, rates = hr.sets.Box([0.0], [1.0]), 4000, DecayingRates(1.0, 1.0, 0.5)
    rounds = [(hr.Linear([1.0]), hr.Linear([1.0]))] * T
    bound = (1 + 1 / 3 + 4) * math.sqrt(T)
    assert plays_of(PrimalDual(X, rates), rounds).sum() <= bound
    assert plays_of(PrimalDual(X, Upward(rates)), rounds).sum() > bound


@pytest.mark.parametrize("policy", NAMED)
def test_violation_and_regret_grow_slower_than_the_rounds(policy):
    """On a fixed constraint the means of regret and violation fall as T grows, as promised."""
    rounds = fixed_limit(1600, seed=5)
    _, early = means(NAMED[policy](hr.sets.Simplex(4), 100), rounds[:100])
    regret, late = means(NAMED[policy](hr.sets.Simplex(4), 1600), rounds)
    assert regret < 0.03
    assert late.mean() < max(0.7 * early.mean(), 0.01)


@pytest.mark.parametrize("policy", NAMED)
def test_powers_of_two_leave_the_plays_bit_for_bit(policy):
    check_powers_of_two(NAMED[policy], 25)


def test_jenatton_is_anytime():
    X = SETS["k-subsets"]()
    rounds = random_rounds(X, 40, seed=6)
    runs = [plays_of(jenatton_2016(X, horizon), rounds) for horizon in (None, 40, 10**6)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run, runs[0])


@pytest.mark.parametrize("policy", NAMED)
def test_eagerness_trades_violation_for_regret(policy):
    problem = hr.problems.IidSimplex(n=8, horizon=400, seed=2)
    ccv = [
        hr.simulate(NAMED[policy](problem.decision_set, 400, eagerness=e), problem).ccv
        for e in (0.1, 1.0)
    ]
    assert ccv[1] < ccv[0]


@pytest.mark.parametrize("policy", ["mahdavi_2012", "sun_safe", "yuan_lamperski_2018"])
def test_a_missing_horizon_is_refused(policy):
    for preset in ("practical", "theory"):
        with pytest.raises(ValueError, match="needs a horizon in both presets"):
            NAMED[policy](hr.sets.Simplex(3), None, preset=preset, lipschitz=1.0)


def test_what_does_not_fit_is_refused():
    X = hr.sets.Simplex(3)
    with pytest.raises(ValueError, match="takes no eagerness"):
        jenatton_2016(X, preset="theory", lipschitz=1.0, eagerness=2.0)
    with pytest.raises(ValueError, match="needs lipschitz"):
        jenatton_2016(X, preset="theory")
    with pytest.raises(ValueError, match="learns lipschitz"):
        jenatton_2016(X, lipschitz=1.0)
    with pytest.raises(ValueError, match="takes no bound"):
        sun_safe(X, 10, bound=1.0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        jenatton_2016(X, trade_off=1.0)
    with pytest.raises(ValueError, match="eagerness must be above 0"):
        jenatton_2016(X, eagerness=0.0)


def test_a_set_without_a_projection_is_refused():
    class Unprojectable(hr.DecisionSet):
        dim, diameter = 2, 1.0

        def lmo(self, c):  # noqa: ARG002
            return np.zeros(2)

        def contains(self, x, tol=1e-9):  # noqa: ARG002
            return True

        def supports(self, capability):  # noqa: ARG002
            return False

    with pytest.raises(ValueError, match=r"has no projection.*projection_free_coco"):
        PrimalDual(Unprojectable(), ConstantRates(0.1, 0.1, 0.1))


def test_it_warns_once_beyond_the_horizon():
    X = hr.sets.Simplex(3)
    policy = sun_safe(X, 8)
    assert isinstance(policy, Normalised)
    rounds = random_rounds(X, 12, seed=7)
    with pytest.warns(UserWarning, match="beyond the horizon") as caught:
        plays_of(policy, rounds)
    assert len(caught) == 1


def test_a_declared_constant_is_told_in_the_units_of_the_round():
    """Of the practical presets: values, gradients and declared constants are divided alike."""
    received = []

    class Heard(PrimalDual):
        def tell(self, cost, constraint):
            received.append((cost, constraint))
            super().tell(cost, constraint)

    policy = Normalised(Heard(hr.sets.Box([0.0], [1.0]), ConstantRates(0.1, 0.1, 0.1)))
    policy.tell(
        hr.feedback.EvalGrad(8.0, np.array([4.0]), 6.0), hr.feedback.EvalGrad(1.0, np.array([-0.5]))
    )
    (cost, constraint), *_ = received
    assert (cost.value, *cost.grad, cost.lipschitz) == (2.0, 1.0, 1.5)
    assert (constraint.value, *constraint.grad, constraint.lipschitz) == (2.0, -1.0, None)


def test_schedules_are_their_formulas():
    rates = DecayingRates(R=2.0, G=3.0, b=0.5)
    assert rates.eta(4) == pytest.approx(2 / (3 * 2))
    lam, kept = rates.multipliers(4, 0.5, 0.2)  # theta = 18, mu = 1/90
    assert (lam, kept) == (0.5, pytest.approx(0.5 + (0.2 - 18 * 0.5) / 90))
    assert rates.multipliers(1, 0.0, 0.0) == (0.0, 0.0)


@pytest.mark.parametrize("policy", NAMED)
def test_the_size_of_the_set_is_only_a_unit(policy):
    check_size_is_a_unit(NAMED[policy], 35)
