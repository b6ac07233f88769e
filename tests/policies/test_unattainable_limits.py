"""A limit that no action meets for a while, or ever: what could be avoided is avoided."""

import sys
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr

sys.path.append(str(Path(__file__).parents[2] / "evidence"))
from unattainable import ROUNDS, incidents


def avoidable(policy, cap, seed):
    """Return the violation that some action would have avoided."""
    problem, least = incidents(cap, seed)
    trace = hr.simulate(policy(problem.decision_set), problem)
    return float(np.maximum(0.0, np.maximum(0.0, trace.violations) - least).sum())


@pytest.mark.parametrize("cap", [60.0, 75.0, 100.0, 120.0, 140.0])
def test_avoidable_violation_is_below_that_of_methods_that_project(cap):
    """RECOO sees the whole function; over many games the default is below it at every limit."""
    ours = avoidable(hr.projection_free_coco, cap, 500)
    assert ours <= avoidable(lambda X: hr.baselines.sinha_vaze_2024(X, ROUNDS), cap, 500)
    assert ours <= 1.05 * avoidable(lambda X: hr.baselines.guo_recoo(X, ROUNDS), cap, 500)
    assert ours <= 0.1 * avoidable(hr.unconstrained, cap, 500)


def test_the_safest_action_is_played_where_no_action_meets_the_limit():
    """The last round's quickest backend, but where that was one of a few unlike the others.

    After a round unlike the one before, both count for one round.
    """
    problem, _ = incidents(60.0, 503)
    steps = list(hr.play(hr.projection_free_coco(problem.decision_set), problem))
    quickest = [int(np.argmin(g.coefficients)) for _, g in problem]
    played = [int(step.x.argmax()) for step in steps]
    mixed = sum(step.x.max() < 1.0 - 1e-9 for step in steps[1:])
    assert mixed < 0.02 * ROUNDS
    assert np.count_nonzero(np.subtract(played[1:], quickest[:-1])) < 0.01 * ROUNDS


def test_a_stricter_limit_leads_to_hardly_more_violation_of_a_looser_one():
    """By at most half a per cent of what unconstrained play violates; noise decides the rest."""
    caps = np.array([60.0, 75.0, 90.0, 100.0, 110.0, 130.0, 140.0])
    latency = []
    for cap in caps:
        problem, _ = incidents(cap, 501)
        policy = hr.projection_free_coco(problem.decision_set)
        latency.append(hr.simulate(policy, problem).violations + cap)
    free = hr.simulate(hr.unconstrained(problem.decision_set), problem).violations + cap
    for strict in range(caps.size):
        for loose in range(strict + 1, caps.size):
            played = latency[strict], latency[loose], free
            above = [np.maximum(0.0, row - caps[loose]).sum() for row in played]
            assert above[0] <= above[1] + 0.005 * above[2], (caps[strict], caps[loose])


@pytest.mark.parametrize("tracking", [True, False])
def test_a_limit_that_is_lost_for_good_never_stops_a_game_of_20000_rounds(tracking):
    rng, X, rounds = np.random.default_rng(520), hr.sets.Simplex(3), []
    for t in range(20_000):
        latency = [300.0, 50.0, 60.0] if t < 30 else [140.0, 150.0, 160.0]
        latency = latency * (1.0 + 0.02 * rng.standard_normal(3))
        rounds.append((hr.Linear([0.0, 1.0, 1.0]), hr.Linear(latency, -100.0)))
    policy = hr.projection_free_coco(X, tracking=tracking)
    assert hr.simulate(policy, hr.RecordedProblem(X, rounds)).costs.size == 20_000
    assert np.isfinite(policy.certificate())
    assert policy.certificate().no_comparator


def test_without_tracking_it_competes_with_the_best_fixed_action():
    """At 60 ms no fixed action avoids much, at 140 ms one avoids nearly all."""
    for cap, least in ((60.0, 0.8), (140.0, 0.0)):
        problem, unavoidable = incidents(cap, 502)
        rounds = [
            (f, hr.Linear(g.coefficients, g.offset - u))
            for (f, g), u in zip(problem, unavoidable, strict=True)
        ]
        best = hr.hindsight(problem.decision_set, rounds, budget="minimum").ccv
        free = avoidable(hr.unconstrained, cap, 502)
        assert best >= least * free
        plain = avoidable(lambda X: hr.projection_free_coco(X, tracking=False), cap, 502)
        assert plain <= 1.15 * best + 0.05 * free
