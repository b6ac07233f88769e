"""An honest record passes; every kind of corruption is found, in its round."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import hedgerow as hr
from falling_back import falling_back
from hedgerow.games import play
from hedgerow.testing.audits import audit
from synthetic_games import GAMES

T = 120


def paper_policy(X):
    """Algorithm 2 with a scale that lets the constraint act."""
    surrogate = hr.surrogates.CurrentSurrogate(hr.surrogates.PowerPotential(6.0, 5.0), 3.0)
    return hr.ConstrainedPolicy(
        hr.learners.AdaptiveOCG(X, hr.learners.steps.PaperSteps(T)), surrogate
    )


POLICIES = {
    "paper": paper_policy,
    "coco": hr.projection_free_coco,
    "falls back": falling_back,
    "without tracking": partial(hr.projection_free_coco, tracking=False),
    "long term": hr.projection_free_long_term,
    "unconstrained": hr.unconstrained,
}


def record(game, policy=hr.projection_free_coco):
    problem = GAMES[game](0, T)
    return problem, list(play(policy(problem.decision_set), problem))


def rounds_of(report):
    return [failure.round for failure in report.failures]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", POLICIES)
def test_honest_records_pass(game, name):
    problem, steps = record(game, POLICIES[name])
    policy = POLICIES[name](problem.decision_set)
    report = audit(steps, problem, policy=policy)
    assert report.ok, str(report)
    assert report.rounds == T
    fell_back = getattr(policy, "switched", None) is not None
    small = game in ("switching_ball", "orthogonal_ball")  # it violates little there
    assert fell_back == (name == "falls back" and not small)
    assert "the certificate" in report.checks
    assert str(report).endswith("all hold")


@pytest.mark.parametrize("name", ["paper", "coco"])
def test_regret_and_decomposition_against_the_benchmark(name):
    problem = hr.problems.IidSimplex(n=6, horizon=T, seed=2)
    best = hr.hindsight(problem)
    trace = hr.simulate(POLICIES[name](problem.decision_set), problem)
    report = audit(trace, problem, policy=POLICIES[name](problem.decision_set), benchmark=best)
    assert report.ok, str(report)
    assert "the regret against it" in report.checks
    assert ("the decomposition" in report.checks) == (name == "paper")


def test_sampled_play_is_audited_with_its_own_feedback():
    problem = hr.ShortestPath.random_network(nodes=12, edges=30, horizon=40, seed=0)

    def policy():
        return hr.Sampled(hr.projection_free_long_term(problem.decision_set), seed=3)

    steps = list(play(policy(), problem, feedback=hr.feedback.linear))
    assert audit(steps, problem, policy=policy(), feedback=hr.feedback.linear).ok


@pytest.mark.parametrize("game", GAMES)
def test_a_play_outside_the_set_is_caught(game):
    problem, steps = record(game)
    moved = steps[49].x.copy()
    moved[0] += 3.0 * problem.decision_set.diameter
    steps[49] = steps[49]._replace(x=moved)
    if problem.adaptive:  # its later rounds react to the moved play
        first = audit(steps, problem).failures[0]
    else:
        report = audit(steps, problem)
        assert set(rounds_of(report)) == {50}
        first = report.failures[0]
    assert first == (50, "the play is outside the set")


def test_a_play_just_outside_is_caught_and_rounding_is_not():
    problem, steps = record("iid_simplex")
    for distance, ok in ((1e-6, False), (1e-12, True)):
        x = steps[9].x + distance
        changed = problem_step(problem, 10, x)
        assert audit([*steps[:9], changed, *steps[10:]], problem).ok == ok


def problem_step(problem, t, x):
    """A step whose numbers are right for its play."""
    cost, constraint = list(problem)[t - 1]
    return hr.Step(t, x, cost(x), constraint(x))


@pytest.mark.parametrize("field", ["cost", "violation"])
@pytest.mark.parametrize("game", GAMES)
def test_the_last_digit_is_caught(game, field):
    problem, steps = record(game)
    changed = math.nextafter(getattr(steps[77], field), math.inf)
    steps[77] = steps[77]._replace(**{field: changed})
    report = audit(steps, problem)
    assert rounds_of(report) == [78]
    assert field in str(report)
    assert repr(changed) in str(report)
    assert audit(steps, problem, rounding=1e-12).ok


@pytest.mark.parametrize("field", ["costs", "violations"])
def test_the_last_digit_of_a_trace_is_caught(field):
    problem, steps = record("iid_simplex")
    trace = hr.Trace.of(steps)
    column = getattr(trace, field).copy()
    column[5] = math.nextafter(column[5], -math.inf)
    corrupted = replace(trace, **{field: column})
    assert audit(steps, problem, trace=trace).ok
    assert rounds_of(audit(steps, problem, trace=corrupted)) == [6]
    fresh = hr.projection_free_coco(problem.decision_set)
    assert rounds_of(audit(corrupted, problem, policy=fresh)) == [6]


def test_another_play_inside_the_set_is_caught_by_playing_again():
    problem, steps = record("iid_simplex")
    steps[30] = problem_step(problem, 31, problem.decision_set.start())
    assert audit(steps, problem).ok  # nothing else is wrong with it
    report = audit(steps, problem, policy=hr.projection_free_coco(problem.decision_set))
    assert rounds_of(report) == [31]
    assert "plays another point" in str(report)


def test_missing_extra_and_swapped_rounds_are_caught():
    problem, steps = record("iid_simplex")
    assert "the problem goes on after round 119" in str(audit(steps[:-1], problem))
    assert "the record goes on after round 120" in str(audit([*steps, steps[-1]], problem))
    swapped = [*steps[:4], steps[5], steps[4], *steps[6:]]
    assert {5, 6} == set(rounds_of(audit(swapped, problem)))
    short = replace(hr.Trace.of(steps), costs=np.zeros(3))
    assert "the trace has 3 rounds, the steps 120" in str(audit(steps, problem, trace=short))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_numbers_that_are_none_are_caught(value):
    problem, steps = record("iid_simplex")
    steps[3] = steps[3]._replace(cost=value)
    steps[4] = steps[4]._replace(x=np.full(12, value))
    steps[5] = steps[5]._replace(x=np.zeros(3))
    assert rounds_of(audit(steps, problem)) == [4, 5, 6]


@pytest.mark.parametrize("constraints", [None, 1, 2])
@pytest.mark.parametrize("build", [hr.projection_free_coco, falling_back])
def test_a_wrong_certificate_is_caught(build, constraints):
    single, limit = hr.problems.IidSimplex(n=6, horizon=T, seed=2), hr.Linear(np.eye(6)[0], -0.5)
    rounds = [(f, [g, limit] if constraints == 2 else g) for f, g in single]
    problem = hr.RecordedProblem(single.decision_set, rounds)
    make = partial(build, single.decision_set, constraints=constraints)
    steps = list(play(make(), problem))
    for wrong in (None, "inner", "charge", "pull", "costs"):
        policy = make()
        if wrong is not None:
            policy.policy._state[wrong][0] -= 1e-3
        report = audit(steps, problem, policy=policy)
        assert report.ok == (wrong is None)
        assert ("the certificate is" in str(report)) == (wrong is not None)
    assert (policy.switched is not None) == (build is falling_back)


def test_a_weight_that_is_too_small_breaks_the_decomposition(monkeypatch):
    problem = hr.problems.IidSimplex(n=6, horizon=T, seed=2)
    best = hr.hindsight(problem)
    monkeypatch.setattr(
        hr.surrogates.PowerPotential, "weight", lambda self, q, t=1.0: 1e-3 * self.value(q, t) / q
    )
    monkeypatch.setattr(hr.surrogates.PowerPotential, "slope", lambda _: None)  # played by objects
    trace = hr.simulate(paper_policy(problem.decision_set), problem)
    report = audit(trace, problem, policy=paper_policy(problem.decision_set), benchmark=best)
    assert "the decomposition fails from round" in str(report)


def test_an_infeasible_benchmark_is_not_compared_with():
    rounds = [(hr.Linear([0.0, 1.0]), hr.Linear([1.0, 0.0], 1.0))] * 20
    problem = hr.RecordedProblem(hr.sets.Simplex(2), rounds)
    best = hr.hindsight(problem)
    assert best.status != "optimal"
    policy = hr.projection_free_coco(problem.decision_set)
    steps = list(play(hr.projection_free_coco(problem.decision_set), problem))
    report = audit(steps, problem, policy=policy, benchmark=best)
    assert report.ok
    assert "the regret against it" not in report.checks


def test_a_trace_alone_is_refused():
    problem, steps = record("iid_simplex")
    trace = hr.Trace.of(steps)
    with pytest.raises(TypeError, match="a trace holds no plays"):
        audit(trace, problem)
    with pytest.raises(TypeError, match="give one trace"):
        audit(trace, problem, trace=trace, policy=hr.unconstrained(problem.decision_set))
