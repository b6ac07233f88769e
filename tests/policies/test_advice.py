"""Advice to a policy: games, resuming, late feedback, summaries, and hostile advisers."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines import FixedAction, SameTime, last_round
from hedgerow.bounds import explain
from hedgerow.feedback import EvalGrad
from hedgerow.games import record_advice
from hedgerow.learners.advised_ocg import AdvisedOCG
from hedgerow.policies.violated_share import ViolatedShare
from hedgerow.problems.synthetic import IidSimplex
from hedgerow.sets.simplices.simplex import Simplex
from hedgerow.testing import check_policy

PROBLEM = IidSimplex(6, horizon=200, seed=3)
X = PROBLEM.decision_set


def advised(*names, **options):
    return hr.projection_free_coco(X, advisers=names or ("plan",), **options)


def silent_now_and_then(seed=0):
    """Recorded advice: the programme of the last round, silent in a third of the rounds."""
    rows = record_advice(last_round(X), PROBLEM)
    rows[np.random.default_rng(seed).random(len(rows)) < 1 / 3] = np.nan
    return rows


def report(policy, functions, x):
    policy.tell(*(hr.first_order(f, x) for f in functions))


def same(a, b):
    return all(
        np.array_equal(one.ledger, two.ledger)
        and np.array_equal(one.learner._state.array, two.learner._state.array)
        for one, two in [(a, b)]
    )


def test_a_policy_with_advisers_conforms():
    check_policy(lambda: advised())


def test_without_advice_it_is_the_default_bit_for_bit():
    plain, policy = hr.projection_free_coco(X), advised("a", "b", "c")
    first, second = hr.simulate(plain, PROBLEM), hr.simulate(policy, PROBLEM)
    assert second.compiled
    np.testing.assert_array_equal(first.costs, second.costs)
    np.testing.assert_array_equal(plain.ask(), policy.ask())
    assert plain.certificate() == policy.certificate()


def test_recorded_advice_is_played_alike_in_all_three_ways():
    rows = silent_now_and_then()
    compiled, stepwise, by_hand = advised(), advised(), advised()
    trace = hr.simulate(compiled, PROBLEM, advice=rows)
    steps = list(hr.play(stepwise, PROBLEM, advice={"plan": rows}))
    for functions, row in zip(PROBLEM, rows, strict=True):
        x = by_hand.ask(advice={} if np.isnan(row[0]) else row)
        report(by_hand, functions, x)
    assert trace.compiled
    np.testing.assert_array_equal(trace.costs, [step.cost for step in steps])
    stepwise.ask()
    assert same(compiled, stepwise)
    np.testing.assert_array_equal(compiled.ask(), by_hand.ask())
    assert compiled.certificate() == by_hand.certificate()
    assert str(compiled.summary()) == str(by_hand.summary())


def test_chunks_and_skips_play_on_bit_for_bit():
    rows, policy, whole = silent_now_and_then(), advised(), advised()
    hr.simulate(whole, PROBLEM, advice=rows)
    chunks = hr.games.simulate_chunks(policy, PROBLEM, size=70, advice=rows)
    next(chunks)
    heir = advised()
    heir.restore(policy.state())
    for _ in hr.games.simulate_chunks(heir, PROBLEM, size=33, skip=70, advice=rows):
        pass
    assert same(heir, whole)


def test_a_copy_in_the_middle_of_a_record_has_no_record():
    """Its next rounds have no advice until somebody speaks, whatever its memory held."""
    policy = advised()
    chunks = hr.games.simulate_chunks(policy, PROBLEM, size=50, advice=silent_now_and_then())
    next(chunks)
    heir = copy.copy(policy)
    report(heir, next(iter(PROBLEM)), heir.ask())
    np.testing.assert_array_equal(heir.ask(), heir.learner.learner.ask())


def test_a_saved_policy_remembers_the_advice_for_its_round(tmp_path):
    policy, heir, functions = advised(), advised(), next(iter(PROBLEM))
    x = policy.ask(advice=X.lmo(np.arange(6.0)))
    policy.save(tmp_path / "policy.npz")
    heir.load(tmp_path / "policy.npz")
    np.testing.assert_array_equal(heir.ask(), x)
    for one in (policy, heir):
        report(one, functions, x)
    assert same(policy, heir)


def test_late_feedback_comes_with_the_advice_of_its_decision():
    plan, other = np.eye(6)[0], np.eye(6)[1]
    late, rounds = advised(), list(PROBLEM)[:3]
    first = late.ask(advice=plan)
    second = late.ask(advice=other)
    late.tell(*(hr.first_order(f, first) for f in rounds[0]), at=first, advice=plan)
    late.tell(*(hr.first_order(f, second) for f in rounds[1]), at=second, advice=other)
    assert late.summary().advisers[0].rounds == 2
    linear = [(f.coefficients, f.offset) for f, _ in rounds]
    expected = sum(a @ x + b for (a, b), x in zip(linear, (plan, other), strict=False))
    assert late.summary().advisers[0].cost == pytest.approx(expected)
    assert late.certificate() >= -math.inf


def test_the_summary_has_what_each_adviser_would_have_had():
    rows, fixed = silent_now_and_then(), X.lmo(np.ones(6))
    policy = advised("lp", "fixed")
    hr.simulate(policy, PROBLEM, advice={"lp": rows, "fixed": FixedAction(X, fixed)})
    lp, plan = policy.summary().advisers
    spoke = ~np.isnan(rows[:, 0])
    values = np.array(
        [[f(x), g(x)] for (f, g), x in zip(PROBLEM, rows, strict=True) if not np.isnan(x[0])]
    )
    assert (lp.name, lp.rounds, plan.rounds) == ("lp", int(spoke.sum()), 200)
    assert lp.cost == pytest.approx(values[:, 0].sum())
    assert lp.ccv == pytest.approx(np.maximum(values[:, 1], 0.0).sum())
    assert lp.violated == (values[:, 1] > 1e-12).sum()
    assert "advice: lp" in str(policy.summary())


def test_an_adviser_may_be_a_function_of_the_past():
    seen = []

    def plan(past):
        seen.append(len(past))
        return None if not past else X.lmo(past[-1][0].coefficients)

    policy = advised()
    hr.simulate(policy, PROBLEM, advice=plan)
    assert seen == list(range(200))
    assert policy.summary().advisers[0].rounds == 199


def test_yesterdays_same_time_plays_what_the_period_before_taught():
    rule = SameTime(last_round(X), period=7)
    rows, plain = record_advice(rule, PROBLEM), record_advice(last_round(X), PROBLEM)
    np.testing.assert_allclose(rows[7:], plain[1:-6], atol=1e-9)
    np.testing.assert_allclose(rows[:7], plain[:7], atol=1e-9)


def test_the_mean_of_recent_rounds_is_steadier_than_the_last_round():
    last, mean = (record_advice(last_round(X, rounds=n), PROBLEM) for n in (1, 50))
    moved = [np.abs(np.diff(rows[50:], axis=0)).sum() for rows in (last, mean)]
    assert moved[1] < 0.5 * moved[0]


def test_a_share_of_violated_rounds_takes_advice():
    policy = ViolatedShare(advised(), 0.1)
    rows = silent_now_and_then()
    for functions, row in zip(PROBLEM, rows, strict=True):
        x = policy.ask() if np.isnan(row[0]) else policy.ask(advice=row)
        report(policy, functions, x)
    again = ViolatedShare(advised(), 0.1)
    trace = hr.simulate(again, PROBLEM, advice=rows)
    assert trace.cost == pytest.approx(policy.summary().cost)
    np.testing.assert_array_equal(policy.ask(), again.ask())


def hostile(kind, seed):
    """Advisers that mean harm, on rounds that some action satisfies."""
    rng, rounds = np.random.default_rng(seed), 1500
    costs = rng.standard_normal((rounds, 4)) * 0.3 + np.array([0.0, 0.5, 0.8, 1.0])
    limits = rng.standard_normal((rounds, 4)) * 0.3 + np.array([1.0, 0.2, -0.2, -1.0])
    limits[:, 3] = -np.abs(limits[:, 3])  # the last action satisfies every round

    def advice(t):
        if kind == "worst" or (kind == "turncoat" and t >= 500):
            return np.eye(4)[np.argmax(costs[t] + 5.0 * np.maximum(limits[t], 0.0))]
        if kind == "turncoat":
            return np.eye(4)[3]
        if kind == "infeasible":
            return np.eye(4)[np.argmin(costs[t])]
        return np.eye(4)[t % 2 * 3]  # oscillating

    return costs, limits, [advice(t) for t in range(rounds)]


@pytest.mark.parametrize("kind", ["worst", "turncoat", "infeasible", "oscillating"])
def test_hostile_advice_leaves_theorem_and_practice_as_they_are(kind):
    """The adviser knows the round to come; regret and CCV stay within Theorem G in every round."""
    costs, limits, advice = hostile(kind, 0)
    S, totals = Simplex(4), {}
    for name in ("with", "without"):
        policy = hr.projection_free_coco(S, advisers=["him"] if name == "with" else None)
        cost = ccv = 0.0
        for t, (a, c) in enumerate(zip(costs, limits, strict=True)):
            x = policy.ask(advice=advice[t]) if name == "with" else policy.ask()
            policy.tell(EvalGrad(float(a @ x), a), EvalGrad(float(c @ x), c))
            cost, ccv = cost + float(a @ x), ccv + max(0.0, float(c @ x))
            if name == "with" and t % 100 == 99:
                regret = cost - costs[: t + 1, 3].sum()
                guaranteed = {one.name: one.value for one in explain(policy).guarantees}
                assert regret <= guaranteed["regret, Theorem G"]
                assert ccv <= guaranteed["CCV, Theorem G"]
                assert regret <= policy.certificate() + 1e-9
        totals[name] = cost, ccv
    assert totals["with"][0] <= totals["without"][0] + 0.05 * np.abs(costs).max(axis=1).sum()


def test_a_good_adviser_is_followed():
    rng = np.random.default_rng(0)
    S, best = Simplex(5), 0
    policy = hr.projection_free_coco(S, advisers=["oracle", "noise"])
    cost = ideal = 0.0
    for _ in range(600):
        a = rng.standard_normal(5)
        best = int(np.argmin(a))
        x = policy.ask(advice={"oracle": np.eye(5)[best], "noise": np.eye(5)[rng.integers(5)]})
        policy.tell(EvalGrad(float(a @ x), a), EvalGrad(-1.0, np.zeros(5)))
        cost, ideal = cost + float(a @ x), ideal + float(a[best])
    voices = policy.learner.voices
    assert voices["oracle"] > 0.95 > voices["noise"]
    assert cost - ideal <= policy.learner.lost_to_voices + 1e-9
    assert cost < 0.97 * ideal  # both are below 0


def test_a_policy_without_advisers_says_what_to_do():
    with pytest.raises(TypeError, match=r"no advisers; build it with some"):
        hr.projection_free_coco(X).ask(advice=X.start())
    with pytest.raises(TypeError, match=r"no advisers; build it with some"):
        hr.simulate(hr.projection_free_coco(X), PROBLEM, advice=last_round(X))


def test_what_advisers_need_is_said():
    with pytest.raises(ValueError, match="tracking=True"):
        hr.projection_free_coco(X, advisers=["a"], tracking=False)
    with pytest.raises(ValueError, match="takes no advisers"):
        hr.projection_free_coco(X, 100, preset="theory", lipschitz=1.0, advisers=["a"])
    with pytest.raises(ValueError, match=r"must have shape \(200, 6\)"):
        hr.simulate(advised(), PROBLEM, advice=np.zeros((3, 6)))
    assert isinstance(advised().learner, AdvisedOCG)


def test_late_feedback_during_a_record_takes_the_next_recorded_advice():
    """The table for late feedback was made before the record, and has no place for it."""
    rows, policy = np.tile(np.eye(6)[2], (5, 1)), advised()
    functions = next(iter(PROBLEM))
    x = policy.ask()
    seen = [hr.first_order(f, x) for f in functions]
    policy.tell(*seen, at=x)
    policy.follow(rows)
    policy.tell(*seen, at=x)
    assert policy.learner.advice[0] == 1.0  # the adviser speaks in the next round, too
    np.testing.assert_array_equal(policy.learner._state["advice"], rows[1])


def test_advice_for_one_of_several_advisers_needs_its_name():
    with pytest.raises(ValueError, match=r"there are 2 advisers; name whose advice this is"):
        hr.simulate(advised("a", "b"), PROBLEM, advice=last_round(X))
