"""Drift-plus-penalty policies: their papers' updates, their queues, and the contract."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.drift_plus_penalty import (
    DriftPlusPenalty,
    VirtualQueue,
    liakopoulos_cold,
    yu_neely_2020,
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

NAMED = {"liakopoulos_cold": liakopoulos_cold, "yu_neely_2020": yu_neely_2020}


@pytest.mark.parametrize("preset", ["practical", "theory"])
@pytest.mark.parametrize("policy", NAMED)
@pytest.mark.parametrize("name", SETS)
def test_they_conform(name, policy, preset):
    needs_G = preset == "theory" and policy == "yu_neely_2020"
    known = {"lipschitz": 5.0} if needs_G else {}
    check_policy(lambda: NAMED[policy](SETS[name](), 100, preset=preset, **known), rounds=6)


def drift_plus_penalty(X, rounds, V, alpha):
    """Yu, Neely and Wei 2017, for g_t^+ and one constraint."""
    x, Q, plays = X.start(), 0.0, []
    for cost, constraint in rounds:
        plays.append(x)
        g = max(0.0, constraint(x))
        slope = X.tangent(constraint.grad(x)) if g > 0 else np.zeros(X.dim)
        d = V * X.tangent(cost.grad(x)) + Q * slope
        new = X.project(x - d / (2 * alpha))
        Q = max(Q + g + slope @ (new - x), 0.0)
        x = new
    return np.array(plays), Q


@pytest.mark.parametrize("name", SETS)
def test_with_a_window_of_one_it_is_the_method_of_the_2017_papers(name):
    X, T = SETS[name](), 200
    rounds = random_rounds(X, T, seed=1)
    expected, Q = drift_plus_penalty(X, rounds, math.sqrt(T), T)
    built = liakopoulos_cold(X, T, preset="theory")
    np.testing.assert_allclose(plays_of(built, rounds), expected, rtol=0, atol=1e-9)
    assert built.queue == pytest.approx(Q, abs=1e-8)
    assert Q > 0.0, "the constraint must have acted"
    assert built.projections == T


@pytest.mark.parametrize("window", [1, 9])
@pytest.mark.parametrize("name", SETS)
def test_cold_is_the_papers(name, window):
    X, T = SETS[name](), 200
    rounds = random_rounds(X, T, seed=2)
    V = math.sqrt(window * T)
    expected, _ = drift_plus_penalty(X, rounds, V, max(T, V * math.sqrt(T)))
    built = liakopoulos_cold(X, T, preset="theory", window=window)
    np.testing.assert_allclose(plays_of(built, rounds), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", SETS)
def test_yu_neely_2020_is_its_pseudocode(name):
    X, T, b = SETS[name](), 200, 2.0
    rounds = random_rounds(X, T, seed=4)
    gamma, alpha = T**0.25, (b**2 + 1) * math.sqrt(T) / 2
    x, Q, expected = X.start(), 0.0, []
    for cost, constraint in rounds:
        expected.append(x)
        gt = gamma * max(0.0, constraint(x))
        slope = gamma * constraint.grad(x) if gt > 0 else np.zeros(X.dim)
        new = X.project(x - X.tangent(cost.grad(x) + (Q + gt) * slope) / (2 * alpha))
        after = gamma * max(0.0, constraint(new))
        Q, x = max(-after, Q + after), new
    built = yu_neely_2020(X, T, preset="theory", lipschitz=b)
    np.testing.assert_allclose(plays_of(built, rounds), expected, rtol=0, atol=1e-8)
    assert built.queue > 0.0


def test_yu_neely_2020_keeps_a_fixed_constraint_up_to_a_constant():
    """O(1): sixteen times as many rounds violate no more. Steps that cross x_1 = 0.2 must count."""
    X, limit = hr.sets.Box(np.zeros(3), np.ones(3)), hr.Linear([1.0, 0.0, 0.0], -0.2)
    ccv = {}
    for T in (200, 3200):
        rng = np.random.default_rng(8)
        rounds = [(hr.Linear([-1.0, *rng.normal(0.0, 0.5, 2)]), limit) for _ in range(T)]
        policy = yu_neely_2020(X, T, preset="theory", lipschitz=1.0)
        ccv[T] = np.maximum(0.0, plays_of(policy, rounds)[:, 0] - 0.2).sum()
    assert 0.0 < ccv[3200] < 1.2 * ccv[200]  # sqrt(16) = 4 where crossings are not counted
    assert ccv[200] < 2.0


def test_the_queue_bounds_the_violation_it_has_seen():
    """Summing the queue's rule: sum of g_t + <grad g_t, x_{t+1} - x_t> <= Q, whatever happens."""
    X = hr.sets.L2Ball(4)
    policy = DriftPlusPenalty(X, V=math.sqrt(300), alpha=300.0)
    total = 0.0
    for cost, constraint in random_rounds(X, 300, seed=5):
        x = policy.ask()
        g = constraint(x)
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
        if g > 0:
            total += g + constraint.grad(x) @ (policy.ask() - x)
        assert total <= policy.queue + 1e-9


def test_the_virtual_queue_never_falls():
    X = hr.sets.Simplex(5)
    policy, last = VirtualQueue(X, gamma=4.0, alpha=30.0), 0.0
    for cost, constraint in random_rounds(X, 200, seed=6):
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
        assert policy.queue >= last
        last = policy.queue
    assert last > 0.0


@pytest.mark.parametrize("policy", NAMED)
def test_violation_and_regret_grow_slower_than_the_rounds(policy):
    """On a fixed constraint the means of regret and violation fall as T grows, as promised."""
    rounds = fixed_limit(1600, seed=7)
    _, early = means(NAMED[policy](hr.sets.Simplex(4), 100), rounds[:100])
    regret, late = means(NAMED[policy](hr.sets.Simplex(4), 1600), rounds)
    assert regret < 0.03
    assert late.mean() < max(0.7 * early.mean(), 0.01)


@pytest.mark.parametrize("policy", NAMED)
def test_powers_of_two_leave_the_plays_bit_for_bit(policy):
    check_powers_of_two(NAMED[policy], 27)


@pytest.mark.parametrize("policy", NAMED)
def test_the_size_of_the_set_is_only_a_unit(policy):
    check_size_is_a_unit(NAMED[policy], 37)


@pytest.mark.parametrize("policy", NAMED)
def test_what_does_not_fit_is_refused(policy):
    X = hr.sets.Simplex(3)
    with pytest.raises(ValueError, match="needs a horizon in both presets"):
        NAMED[policy](X, None)
    known = {"lipschitz": 1.0} if policy == "yu_neely_2020" else {}
    with pytest.raises(ValueError, match="takes no eagerness"):
        NAMED[policy](X, 9, preset="theory", eagerness=2.0, **known)
    with pytest.raises(ValueError, match="preset must be"):
        NAMED[policy](X, 9, preset="quick")


def test_a_window_longer_than_the_horizon_is_refused():
    with pytest.raises(ValueError, match="at most the horizon"):
        liakopoulos_cold(hr.sets.Simplex(3), 10, window=11)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("policy", NAMED)
def test_late_feedback_by_kernels_and_by_python_is_the_same(policy, name):
    """Both run the lines of one kernel, around the set's kernels or around its methods."""
    X = SETS[name]()
    known = {"lipschitz": 5.0} if policy == "yu_neely_2020" else {}
    players = [NAMED[policy](X, 100, preset="theory", **known) for _ in range(2)]
    vars(players[1])["set_kernels"] = None
    for player in players:
        late = player.ask()  # feedback is about the play before the present one
        for cost, constraint in random_rounds(X, 12, seed=5):
            now = player.ask()
            player.tell(hr.first_order(cost, late), hr.first_order(constraint, late), at=late)
            late = now
    assert players[0].queue > 0.0
    assert players[0].state()["array"].tobytes() == players[1].state()["array"].tobytes()
