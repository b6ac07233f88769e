"""A limit that no action meets for a while, or ever: what could be avoided is avoided."""

import sys
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr

sys.path.append(str(Path(__file__).parents[2] / "evidence"))
import limits_attack
from unattainable import ROUNDS, incidents, unattainable


def avoidable(policy, cap, seed):
    """Return the violation that some action would have avoided."""
    problem, least = incidents(cap, seed)
    trace = hr.simulate(policy(problem.decision_set), problem)
    return float(np.maximum(0.0, np.maximum(0.0, trace.violations) - least).sum())


@pytest.mark.parametrize("cap", [60.0, 75.0, 100.0, 120.0, 140.0])
def test_avoidable_violation_is_below_that_of_methods_that_project(cap):
    """RECOO sees the whole function."""
    ours = avoidable(hr.projection_free_coco, cap, 500)
    assert ours <= avoidable(lambda X: hr.baselines.sinha_vaze_2024(X, ROUNDS), cap, 500)
    assert ours <= 1.02 * avoidable(lambda X: hr.baselines.guo_recoo(X, ROUNDS), cap, 500)
    assert ours <= 0.1 * avoidable(hr.unconstrained, cap, 500)


def test_the_safest_action_is_played_where_no_action_meets_the_limit():
    """With each round the last one's quickest backend, which the oracle has found."""
    problem, _ = incidents(60.0, 503)
    steps = list(hr.play(hr.projection_free_coco(problem.decision_set), problem))
    quickest = [int(np.argmin(g.coefficients)) for _, g in problem]
    played = [int(step.x.argmax()) if step.x.max() > 1.0 - 1e-9 else -1 for step in steps]
    assert played[1:] == quickest[:-1]


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
    problem = unattainable("for good after 30 rounds", 520)
    policy = hr.projection_free_coco(problem.decision_set, tracking=tracking)
    assert hr.simulate(policy, problem).costs.size == 20_000
    assert policy.surrogate.largest_weight < 200.0  # it was 4e146, or an error in round 1866


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


@pytest.mark.parametrize("name", limits_attack.POLICIES)
def test_no_certificate_and_no_guard_is_false_with_infeasible_rounds_and_margins(name):
    """A sample of the 900 games of evidence/limits_attack.py, with other seeds."""
    found = limits_attack.Found()
    for place, kind in (("simplex", "pull"), ("paths", "lure")):
        for seed in (701, 702, 705):
            limits_attack.attacked(name, limits_attack.SETS[place](), kind, seed, found)
    assert found.what == []
    assert found.compared > 300
    assert found.infeasible_rounds > 0


def test_the_sample_finds_a_certificate_that_ignores_what_others_violate(monkeypatch):
    truth = hr.ConstrainedPolicy.certificate
    monkeypatch.setattr(hr.ConstrainedPolicy, "certificate", lambda self, _=0.0: truth(self))
    found = limits_attack.Found()
    for kind in ("pull", "hurt"):
        limits_attack.attacked("default", limits_attack.SETS["simplex"](), kind, 702, found)
    assert found.broken > 0
