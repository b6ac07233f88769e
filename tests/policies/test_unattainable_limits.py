"""A limit that no action meets for a while, or ever: what could be avoided is avoided."""

import numpy as np
import pytest

import hedgerow as hr

ROUNDS = 3000
LATENCIES, PRICES = np.array([80.0, 128.0, 150.0]), [1.0, 2.0, 1.7]


def incidents(cap, seed):
    """Six incidents of 150 rounds, in which the cheapest backend takes 195 ms; 5 % noise."""
    rng = np.random.default_rng(seed)
    seen = LATENCIES * (1.0 + 0.05 * rng.standard_normal((ROUNDS, 3)))
    for begin in range(200, 200 + 6 * 480, 480):
        seen[begin : begin + 150, 0] *= 195.0 / 80.0
    rounds = [(hr.Linear(PRICES), hr.Linear(row, -cap)) for row in seen]
    return hr.Recorded(hr.sets.Simplex(3), rounds), np.maximum(0.0, seen.min(axis=1) - cap)


def avoidable(policy, cap, seed):
    """Return the violation that some action would have avoided."""
    problem, least = incidents(cap, seed)
    trace = hr.simulate(policy(problem.decision_set), problem)
    return float(np.maximum(0.0, np.maximum(0.0, trace.violations) - least).sum())


@pytest.mark.parametrize("cap", [60.0, 100.0, 120.0, 140.0])
def test_avoidable_violation_is_below_that_of_a_method_that_projects(cap):
    ours = avoidable(hr.projection_free_coco, cap, 500)
    assert ours <= avoidable(lambda X: hr.baselines.sinha_vaze_2024(X, ROUNDS), cap, 500)
    assert ours <= 0.1 * avoidable(hr.unconstrained, cap, 500)


def test_a_stricter_limit_leads_to_little_more_violation_of_a_looser_one():
    """At most half as much again: each incident is paid for by the rounds until it is noticed."""
    caps = np.array([60.0, 90.0, 100.0, 110.0, 130.0, 140.0])
    latency = []
    for cap in caps:
        problem, _ = incidents(cap, 501)
        policy = hr.projection_free_coco(problem.decision_set)
        latency.append(hr.simulate(policy, problem).violations + cap)
    for strict in range(caps.size):
        for loose in range(strict + 1, caps.size):
            above = [np.maximum(0.0, latency[k] - caps[loose]).sum() for k in (strict, loose)]
            assert above[0] <= 1.5 * above[1], (caps[strict], caps[loose])
