"""An outage that no action avoids: it is forgiven, and forgotten as soon as it is over."""

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.games import simulation

ROUNDS, EVENT, LENGTH = 2000, 1000, 60


def game(offset, seed):
    """Rounds on a simplex whose only safe arm is dear; in the outage every arm violates."""
    rng = np.random.default_rng(seed)
    n = 10
    a = rng.uniform(0.0, 1.0, n) + 0.3 * rng.standard_normal((ROUNDS, n))
    mean = rng.uniform(-1.0, 1.0, n)
    c = mean + 0.3 * rng.standard_normal((ROUNDS, n))
    k = int(mean.argmin())
    c[:, k], a[:, k] = -np.abs(c[:, k]) - 0.2, a[:, k] + 0.5
    out = np.where((np.arange(ROUNDS) >= EVENT) & (np.arange(ROUNDS) < EVENT + LENGTH), offset, 0.0)
    rounds = [(hr.Linear(x), hr.Linear(y, float(o))) for x, y, o in zip(a, c, out, strict=True)]
    return hr.RecordedProblem(hr.sets.Simplex(n), rounds)


@pytest.mark.parametrize("tracking", [True, False])
@pytest.mark.parametrize("seed", [200, 201])
def test_an_outage_is_forgotten_within_its_own_length(tracking, seed):
    traces = []
    for offset in (0.0, 20.0):
        problem = game(offset, seed)
        policy = hr.projection_free_coco(problem.decision_set, tracking=tracking)
        traces.append(hr.simulate(policy, problem))
    after = slice(EVENT + LENGTH, EVENT + 6 * LENGTH)
    calm, hit = (trace.costs[after].mean() for trace in traces)
    rounds = list(problem)[after]
    safe = min(range(10), key=lambda k: sum(g.coefficients[k] for _, g in rounds))
    dear = np.mean([f.coefficients[safe] for f, _ in rounds])  # who still fears pays this
    assert hit - calm <= 0.15 * (dear - calm)
    during = traces[1].violations[EVENT : EVENT + LENGTH].sum()
    rounds = list(game(20.0, seed))[EVENT : EVENT + LENGTH]
    unavoidable = sum(20.0 + g.coefficients.min() for _, g in rounds)
    assert during <= 1.05 * unavoidable


def test_the_rounds_of_an_outage_weigh_as_the_first_violation_does():
    """They add nothing to the queue, and their slope is the least one."""
    problem = game(20.0, 202)
    policy = hr.projection_free_coco(problem.decision_set)
    for t, (f, g) in enumerate(problem):
        x = policy.ask()
        queue = policy.surrogate.queue
        policy.tell(hr.first_order(f, x), hr.first_order(g, x))
        if EVENT <= t < EVENT + LENGTH:
            assert policy.surrogate.unavoidable > 0.0
            assert policy.surrogate.queue == queue
            assert policy.surrogate.reaction == pytest.approx(0.5, rel=1e-12)
    assert policy.surrogate.reaction > 0.5


@pytest.mark.parametrize("tracking", [True, False])
def test_the_compiled_loop_asks_how_much_of_a_violation_can_be_avoided(monkeypatch, tracking):
    """It leaves no round of an outage to the objects, and learns bit for bit what they learn."""
    problem = game(20.0, 203)
    policies = [hr.projection_free_coco(problem.decision_set, tracking=tracking) for _ in range(3)]
    policies[2].surrogate.table = policies[2].surrogate.python_table
    for policy in policies[1:]:
        for f, g in problem:
            x = policy.ask()
            policy.tell(hr.first_order(f, x), hr.first_order(g, x))
    monkeypatch.setattr(simulation, "turn", None)  # the objects' round
    trace = hr.simulate(policies[0], problem)
    assert trace.compiled
    assert policies[0].surrogate.oracle_calls > LENGTH
    states = [policy.state()["checksum"] for policy in policies]
    assert states[0] == states[1] == states[2]


def test_late_feedback_of_an_outage_is_judged_where_it_was_seen():
    problem = game(20.0, 204)
    policies = [hr.projection_free_coco(problem.decision_set) for _ in range(2)]
    policies[1].surrogate.table = policies[1].surrogate.python_table
    for policy in policies:
        before = policy.ask()
        for f, g in list(problem)[EVENT - 200 : EVENT + LENGTH]:
            policy.tell(hr.first_order(f, before), hr.first_order(g, before), at=before)
            before = policy.ask() if policy.learner.rounds % 3 == 0 else before
    assert policies[0].surrogate.oracle_calls > LENGTH
    assert policies[0].state()["checksum"] == policies[1].state()["checksum"]
