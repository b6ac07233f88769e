"""Shares per interval: what is reported to the policy, what is missing, and who is next."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.integrations import IntervalShares

PRICES = {"a": 1.0, "b": 2.0, "c": 4.0}


class Recorder:
    """A policy that stays where it is and remembers what it was told."""

    def __init__(self, X):
        self.decision_set, self.told = X, []

    def ask(self):
        return self.decision_set.start()

    def tell(self, cost, constraint):
        self.told.append((cost, constraint))


def recorded(**more):
    return IntervalShares(PRICES, 0.5, policy=Recorder, **more)


def test_a_round_is_the_price_and_the_mean_latency_of_each_backend():
    shares = recorded()
    for name, seconds in (("a", 0.2), ("a", 0.4), ("b", 1.0), ("c", 0.1)):
        shares.observe(name, seconds, PRICES[name])
    interval = shares.decide()
    ((cost, constraint),) = shares.policy.told
    np.testing.assert_allclose(cost.grad, [1.0, 2.0, 4.0])
    np.testing.assert_allclose(constraint.grad, [0.3, 1.0, 0.1])
    assert cost.value == pytest.approx(7.0 / 3.0)
    assert constraint.value == pytest.approx(1.4 / 3.0 - 0.5)
    assert (interval.requests, interval.spend) == (4, 8.0)
    assert interval.latency == pytest.approx(1.7 / 4)
    assert "interval 1: 4 requests, mean 425 ms" in str(interval)


def test_an_unobserved_backend_keeps_its_last_values_and_is_never_zero():
    shares = recorded()
    for name in PRICES:
        shares.observe(name, 0.2, 3.0)
    shares.decide()
    shares.observe("a", 0.6, 5.0)
    interval = shares.decide()
    cost, constraint = shares.policy.told[1]
    np.testing.assert_allclose(constraint.grad, [0.6, 0.2, 0.2])
    np.testing.assert_allclose(cost.grad, [5.0, 3.0, 3.0])
    assert interval.unobserved == ("b", "c")
    assert "not observed: b, c" in str(interval)


def test_a_backend_that_was_never_observed_counts_as_the_others():
    shares = recorded()
    shares.observe("a", 0.2, 1.0)
    shares.observe("b", 0.6, 2.0)
    shares.decide()
    np.testing.assert_allclose(shares.policy.told[0][1].grad, [0.2, 0.6, 0.4])
    np.testing.assert_allclose(shares.policy.told[0][0].grad, [1.0, 2.0, 4.0])  # declared


def test_an_interval_without_requests_is_not_reported():
    shares = recorded()
    interval = shares.decide()
    assert shares.policy.told == []
    assert (interval.requests, interval.unobserved) == (0, ("a", "b", "c"))


def test_prices_are_those_of_a_mean_request():
    shares = recorded()
    shares.observe("a", 0.1, 10.0, tokens=10)  # 1 per token
    shares.observe("b", 0.1, 60.0, tokens=30)  # 2 per token
    shares.decide()
    np.testing.assert_allclose(shares.policy.told[0][0].grad, [20.0, 40.0, 80.0])


def test_a_failure_counts_as_ten_objectives_or_as_long_as_it_took():
    shares = recorded()
    shares.observe_failure("a", 0.1)
    shares.observe_failure("b", 7.0)
    shares.observe("c", 0.1)
    shares.decide()
    np.testing.assert_allclose(shares.policy.told[0][1].grad, [5.0, 7.0, 0.1])
    assert recorded(failure_latency=2.0).failure_latency == 2.0


@settings(max_examples=30, deadline=None)
@given(
    st.floats(0.01, 0.3),
    st.lists(st.lists(st.sampled_from("abc"), max_size=12), min_size=1, max_size=20),
    st.integers(0, 99),
)
def test_every_backend_keeps_its_minimum_share_whatever_is_observed(floor, intervals, seed):
    rng = np.random.default_rng(seed)
    shares = IntervalShares(PRICES, 0.5, minimum_share=floor)
    for names in intervals:
        for name in names:
            shares.observe(name, rng.exponential(), rng.exponential())
        found = shares.decide().shares
        assert min(found.values()) >= floor - 1e-9
        assert sum(found.values()) == pytest.approx(1.0)
        weights = shares.weights(1000)
        assert sum(weights.values()) == 1000
        assert all(abs(weights[name] - 1000 * x) < 1.0 for name, x in found.items())


def test_requests_are_dealt_in_turn_so_that_no_share_is_off_by_more_than_a_request():
    shares = IntervalShares(PRICES, 0.5, minimum_share=0.05)
    for name, seconds in (("a", 0.1), ("b", 0.9), ("c", 0.9)) * 5:
        shares.observe(name, seconds, PRICES[name])
        shares.decide()
    picked, share = Counter(), shares.shares
    for t in range(1, 301):
        picked[shares.pick()] += 1
        assert all(abs(picked[name] - t * x) < 2.0 for name, x in share.items())
    assert {shares.pick(["b", "c"]) for _ in range(20)} == {"b", "c"}


def test_shares_meet_the_objective_and_follow_an_incident():
    """The cheap backend is twice too slow, then the fast one fails: shares move within a few."""
    shares = IntervalShares(PRICES, 0.3)
    latency = {"a": 0.6, "b": 0.4, "c": 0.1}
    for _ in range(60):
        for name, seconds in latency.items():
            shares.observe(name, seconds, PRICES[name])
        shares.decide()
    before = shares.shares
    assert sum(latency[name] * x for name, x in before.items()) < 0.32
    assert before["a"] > 0.03
    for _ in range(10):
        for name, seconds in {"a": 0.2, "b": 0.4, "c": 3.0}.items():
            shares.observe(name, seconds, PRICES[name])
        shares.decide()
    assert shares.shares["c"] < 0.1 < before["c"]


@pytest.mark.parametrize(
    ("prices", "more", "sentence"),
    [
        ({"a": 1.0}, {}, "at least 2 backends, got 1: a"),
        (PRICES, {"minimum_share": 0.4}, "above 0 and below 1/3"),
        (PRICES, {"minimum_share": 0.0}, "above 0 and below 1/3"),
        (PRICES | {"b": float("nan")}, {}, "the price of b must be finite"),
        (PRICES, {"failure_latency": -1.0}, "failure_latency must be above 0"),
    ],
)
def test_wrong_arguments_get_a_sentence(prices, more, sentence):
    with pytest.raises(ValueError, match=sentence):
        IntervalShares(prices, 0.5, **more)
