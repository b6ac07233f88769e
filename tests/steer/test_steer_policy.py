"""The policy that steers: quick reactions and bounded whole weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.feedback import EvalGrad
from hedgerow.steer import BoundedWeights, LastLimit, WithAdviser, steering_policy
from hedgerow.steer.weights import WHOLE, least_weights, step_towards, whole_weights

X = hr.sets.Simplex(3)
PRICE, LATENCY = np.array([4.0, 2.0, 1.0]), np.array([50.0, 100.0, 160.0])


def seen(x, price=PRICE, latency=LATENCY, limit=120.0):
    return EvalGrad(float(price @ x), price), EvalGrad(float(latency @ x) - limit, latency)


def shares(n):
    return st.lists(st.floats(0.001, 1.0), min_size=n, max_size=n).map(
        lambda drawn: np.array(drawn) / sum(drawn)
    )


@given(st.integers(2, 40).flatmap(shares), st.floats(0.0, 0.02))
@settings(max_examples=60, deadline=None)
def test_whole_weights_sum_to_256_and_are_near(x, least_share):
    least = least_weights(np.full(x.size, least_share))
    weights = whole_weights(np.maximum(x, least_share), least)
    assert weights.sum() == WHOLE
    assert (weights >= least).all()
    inside = least / WHOLE + (1.0 - least.sum() / WHOLE) * x  # a point of the set of shares
    assert np.abs(whole_weights(inside, least) - WHOLE * inside).max() < 1.0


@given(shares(8), shares(8), st.integers(1, 256))
@settings(max_examples=60, deadline=None)
def test_a_step_is_bounded_and_arrives(x, y, most):
    least = np.zeros(8, dtype=np.int64)
    found, wanted = whole_weights(x, least), whole_weights(y, least)
    for _ in range(1 + 256 // most + 8):
        after = step_towards(found, wanted, most, least)
        assert after.sum() == WHOLE
        assert np.abs(after - found).max() <= most
        found = after
    assert np.array_equal(found, wanted)


def test_the_last_limit_is_satisfied_with_the_least_mixing():
    """A transcription: between y and the safest action, the first point within the limit."""
    policy = LastLimit(hr.projection_free_coco(X, tracking=False))
    rng = np.random.default_rng(0)
    moved = 0
    for _ in range(60):
        x = policy.ask()
        latency = LATENCY * rng.uniform(0.7, 1.6, 3)
        cost, limit = seen(x, latency=latency)
        policy.tell(cost, limit)
        y, z = policy.policy.ask(), policy.ask()
        if latency @ y <= 120.0:
            assert np.array_equal(z, y)
            continue
        safest = np.eye(3)[int(np.argmin(latency))]
        line = [y + a * (safest - y) for a in np.linspace(0.0, 1.0, 4001)]
        first = next((p for p in line if latency @ p <= 120.0), safest)
        assert np.abs(z - first).max() < 1e-3
        moved += 1
    assert moved > 5


def test_the_policy_inside_learns_from_the_point_that_was_used():
    """Mutant: reporting the value at another point than that of the decision."""
    outer, inner = (hr.projection_free_coco(X, tracking=False) for _ in range(2))
    outer = LastLimit(outer)
    for factor in (1.0, 2.0, 1.5, 0.8, 2.0):
        x = outer.ask()
        cost, limit = seen(x, latency=factor * LATENCY)
        if np.array_equal(x, inner.ask()):
            inner.tell(cost, limit)
        else:
            inner.tell(cost, limit, at=x)
        outer.tell(cost, limit)
        assert np.array_equal(outer.policy.ask(), inner.ask())
    assert outer.certificate() == inner.certificate()


def test_several_limits_need_each_in_every_round():
    policy = LastLimit(hr.projection_free_coco(X, constraints=2), 2)
    cost, limit = seen(policy.ask())
    policy.tell(cost, [limit, limit])
    with pytest.raises(ValueError, match="a round must have 2 constraints here, got 1"):
        policy.tell(cost, limit)


def test_decisions_are_whole_weights_with_bounded_change():
    policy = steering_policy(np.array([0.02, 0.02, 0.02]), [0.01], 0.1)
    rng, before = np.random.default_rng(1), None
    for t in range(200):
        x = policy.ask()
        weights = np.rint(x * WHOLE)
        assert np.array_equal(weights / WHOLE, x)
        assert weights.sum() == WHOLE
        assert x.min() >= 0.02
        if before is not None:
            assert np.abs(x - before).max() <= 0.1
        before = x
        incident = np.array([1.0, 1.0, 3.0 if 80 <= t < 120 else 1.0])
        policy.tell(*seen(x, latency=LATENCY * incident * rng.lognormal(0.0, 0.05, 3)))
    inner = policy.policy.policy.policy.policy
    assert isinstance(inner, hr.policies.Fallback)
    assert policy.certificate() < np.inf
    assert (policy.weight, policy.binding()) == (inner.weight, inner.binding())
    rule = hr.baselines.last_round(X)  # it remembers no rounds
    assert LastLimit(rule).binding() == hr.policies.ViolatedShare(rule, 0.1).binding() == ()


def test_a_decision_that_was_never_used_changes_nothing():
    policy = steering_policy(np.full(3, 0.02), [0.01], 0.1)
    assert np.array_equal(policy.ask(), policy.ask())


def test_late_feedback_moves_on_from_the_point_it_is_about():
    policy = BoundedWeights(hr.projection_free_coco(X), 0.1, np.zeros(3))
    point = np.array([192.0, 32.0, 32.0]) / WHOLE
    policy.tell(*seen(point), at=point)
    assert np.abs(policy.ask() - point).max() <= 0.1


@pytest.mark.parametrize("limits", [1, 2])
def test_it_is_restored_bit_for_bit(limits):
    def new():
        return steering_policy(np.full(3, 0.01), [0.01] * limits, 0.2)

    policy = new()
    for _ in range(30):
        cost, limit = seen(policy.ask(), latency=LATENCY * 1.2)
        policy.tell(cost, limit if limits == 1 else [limit, limit])
    again = new()
    again.restore(policy.state())
    for _ in range(30):
        assert np.array_equal(policy.ask(), again.ask())
        for one in (policy, again):
            cost, limit = seen(one.ask(), latency=LATENCY * 0.9)
            one.tell(cost, limit if limits == 1 else [limit, limit])


def test_it_reacts_to_an_incident_within_a_few_intervals():
    """And the mutant without `LastLimit` and without memory does not."""
    quick = steering_policy(np.full(3, 0.01), [0.01], 0.2)
    inner = hr.projection_free_coco(quick.decision_set, tracking=False)
    slow = BoundedWeights(hr.policies.ViolatedShare(inner, 0.01), 0.2, np.full(3, 0.01))
    bad = {}
    for name, policy in (("quick", quick), ("slow", slow)):
        rng, values = np.random.default_rng(3), []
        for t in range(430):
            x = policy.ask()
            latency = LATENCY * rng.lognormal(0.0, 0.05, 3)
            latency *= np.array([1.0, 2.0, 2.0]) if t >= 400 else 1.0
            cost, limit = seen(x, latency=latency)
            values.append(limit.value)
            policy.tell(cost, limit)
        bad[name] = sum(value > 0.0 for value in values[400:])
    assert bad["quick"] <= 4  # the change is bounded: it takes three intervals
    assert bad["slow"] > 2 * bad["quick"]


def test_a_rule_advises_and_both_learn_at_the_point_that_was_used():
    policy = WithAdviser(hr.projection_free_coco(X, advisers=["rule"]), hr.baselines.last_round(X))
    alone, rule = hr.projection_free_coco(X, advisers=["rule"]), hr.baselines.last_round(X)
    used = np.array([0.5, 0.3, 0.2])
    for t in range(40):
        x = policy.ask()
        np.testing.assert_array_equal(x, alone.ask(advice=rule.ask()))
        point = used if t % 4 == 3 else x  # sometimes other shares were in force
        latency = LATENCY * (1.0 + 0.1 * np.sin(t))
        for one in (alone, rule):
            one.tell(*seen(point, latency=latency), at=point)
        policy.tell(*seen(point, latency=latency), at=point)
    heir = WithAdviser(hr.projection_free_coco(X, advisers=["rule"]), hr.baselines.last_round(X))
    heir.restore(policy.state())
    np.testing.assert_array_equal(heir.ask(), policy.ask())
    assert policy.policy.summary().advisers[0].rounds == 40


class Hostile:
    """Always proposes the cheapest and slowest backend."""

    def ask(self):
        return np.array([0.0, 0.0, 1.0])

    def tell(self, cost, constraint, *, at=None):
        pass


def test_a_hostile_rule_loses_its_weight():
    policy = hr.projection_free_coco(X, advisers=["rule"])
    advised = WithAdviser(policy, Hostile())
    for _ in range(300):
        advised.tell(*seen(advised.ask()))
    assert policy.voices["rule"] < 0.5
    assert LATENCY @ advised.ask() < 123.0
