"""A policy's summary counts what was played, in both speeds."""

from __future__ import annotations

import copy
from functools import partial

import numpy as np
import pytest

import hedgerow as hr


def game(horizon: int = 300) -> hr.ShortestPath:
    return hr.ShortestPath.random_network(nodes=20, edges=60, horizon=horizon, seed=3)


@pytest.mark.parametrize(
    "make",
    [hr.projection_free_coco, partial(hr.projection_free_coco, tracking=False), hr.unconstrained],
)
def test_both_speeds_count_alike_and_as_the_trace_says(make):
    problem = game()
    fast, slow = make(problem.decision_set), make(problem.decision_set)
    trace = hr.simulate(fast, problem)
    steps = list(hr.play(slow, problem))
    assert trace.compiled
    assert fast.summary() == slow.summary()
    assert np.array_equal(fast.state()["array"], slow.state()["array"])
    summary, violations = fast.summary(), np.array([step.violation for step in steps])
    assert summary.rounds == problem.horizon
    assert summary.cost == pytest.approx(trace.cost, rel=1e-12)
    assert summary.ccv == pytest.approx(trace.ccv, rel=1e-12)
    assert summary.violated == (violations > 0.0).sum() > 0
    assert summary.violated_share == summary.violated / problem.horizon
    assert (summary.oracle_calls, summary.projections) == (trace.oracle_calls, 0)


def test_totals_are_saved_and_copied():
    problem = game(50)
    policy = hr.projection_free_coco(problem.decision_set)
    hr.simulate(policy, problem)
    restored = hr.projection_free_coco(problem.decision_set)
    restored.restore(policy.state())
    assert restored.summary() == copy.deepcopy(policy).summary() == policy.summary()
    assert restored.summary() != hr.projection_free_coco(problem.decision_set).summary()
    summary = policy.summary()
    assert summary.weight == policy.weight
    assert 0.0 < summary.weight <= summary.largest_weight
    assert summary.binding == policy.binding()
    assert f"{summary.largest_weight:.4g} at most" in str(summary)


def test_bandits_and_projecting_policies_have_one_too():
    problem = hr.problems.SwitchingBall(n=3, horizon=60, seed=0)
    X = problem.decision_set
    bandit = hr.projection_free_bandit(X, 60, 0, lipschitz=2.0, bound=2.0)
    for policy in (bandit, hr.baselines.sinha_vaze_2024(X), hr.baselines.guo_recoo(X)):
        trace = hr.simulate(policy, problem)
        summary = policy.summary()
        assert summary.rounds == 60
        assert summary.cost == pytest.approx(trace.cost, rel=1e-12)
        assert summary.ccv == pytest.approx(trace.ccv, rel=1e-12)
        assert summary.violated == (trace.violations > 0.0).sum()
        assert summary.projections == policy.projections
    assert bandit.summary().projections == 0 < policy.summary().projections


def test_a_refused_round_is_not_counted():
    X = hr.sets.Simplex(3)
    policy, look = hr.projection_free_coco(X), hr.feedback.EvalGrad
    with pytest.raises(ValueError, match="finite"):
        policy.tell(look(np.nan, np.ones(3)), look(1.0, np.ones(3)))
    assert policy.summary().rounds == 0
    assert "0.0 %" in str(policy.summary())
    policy.tell(look(2.0, np.ones(3)), look(-1.0, np.ones(3)))
    assert "total cost         2, 2 per round" in str(policy.summary())
