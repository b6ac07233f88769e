"""Retreat with a queue for each constraint: units may differ, and each is bounded by itself."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.feedback import EvalGrad
from hedgerow.kernels import retreat as kernels
from hedgerow.kernels.parts import parts_of_memory
from hedgerow.policies.retreat import Retreat
from hedgerow.snapshot import states
from way_back import Avoided, approached, transcribed_share

X = hr.sets.Simplex(6)
UNITS = np.array([1.0, 300.0, 0.02])


def drawn(seed, rounds=80, noise=0.15):
    """Return rounds that pull to three options, each with a cap in a unit of its own."""
    rng, recorded = np.random.default_rng(seed), []
    for _ in range(rounds):
        rows = UNITS[:, None] * (np.eye(3, 6) + noise * rng.uniform(-1.0, 1.0, (3, 6)))
        caps = [hr.Linear(row, -0.25 * unit) for row, unit in zip(rows, UNITS, strict=True)]
        cost = [-2.0, -1.7, -1.4, 0.0, 0.0, 0.0] + 0.3 * rng.standard_normal(6)
        recorded.append((hr.Linear(cost), caps))
    return hr.RecordedProblem(X, recorded)


def alone(**settings):
    """Return the policy with a queue for each whose learner decides."""
    policy = hr.projection_free_coco(X, constraints=3, **settings)
    policy.end_retreat()
    return policy


def transcribed(problem, **settings):
    """Play as the docstring of Retreat has it, in NumPy; return decisions and what they lost."""
    learner = alone(**settings)
    y = z = learner.ask()
    decisions, lost, roots, avoided = [], np.zeros(4), np.zeros(4), Avoided(learner)
    for cost, caps in problem:
        decisions.append(y)
        x, a = learner.ask(), cost.coefficients
        G, b = np.array([cap.coefficients for cap in caps]), np.array([cap.offset for cap in caps])
        here, at_x = G @ y + b, G @ x + b
        learner.tell(hr.first_order(cost, x), [hr.first_order(cap, x) for cap in caps])
        avoided.add(a, y, x)
        lost += [a @ (y - x), *(np.maximum(0.0, here) - np.maximum(0.0, at_x))]
        roots += [a @ a, *np.where(here > 0.0, (G * G).sum(axis=1), 0.0)]
        found, *safest = learner.retreat.refuge
        norms = np.linalg.norm(G, axis=1)
        far = lambda point: (G @ point + b) / norms  # noqa: B023, E731 - used in this round alone
        if far(y).max() <= 0.0:
            z = y
        elif far(z).max() > 0.0:
            if found and far(safest).max() < far(z).max():
                z = np.array(safest)
            elif far(y).max() < far(z).max():
                z = y
        x = learner.ask()
        limits = X.diameter * np.sqrt(roots) * [1.0, 1 / 64, 1 / 64, 1 / 64]
        if (lost > limits).any():
            y = x
            continue
        x = approached(y, x, avoided.paid, lambda point: far(point).max())  # noqa: B023
        y = x
        if far(x).max() > 1e-12:
            y = x + transcribed_share(far(x), far(z)) * (z - x)
    return np.array(decisions), np.array([*lost, avoided.total])


@pytest.mark.parametrize("tracking", [True, False])
@pytest.mark.parametrize("seed", [400, 401])
def test_it_plays_the_transcription(seed, tracking):
    problem = drawn(seed, 60)
    policy = hr.projection_free_coco(X, constraints=3, tracking=tracking)
    played = [step.x for step in hr.play(policy, problem)]
    expected, lost = transcribed(problem, tracking=tracking)
    np.testing.assert_allclose(played, expected, atol=1e-9)
    found = policy.retreat.more_cost, *policy.retreat.more_ccv, policy.retreat.paid
    np.testing.assert_allclose(found, lost, rtol=1e-7, atol=1e-7)
    assert (lost != 0.0).all()


@pytest.mark.parametrize("advisers", [None, ["plan"]])
def test_rounds_by_one_kernel_in_turns_and_in_python_are_the_same(advisers):
    problem = drawn(402)
    policies = [hr.projection_free_coco(X, constraints=3, advisers=advisers) for _ in range(4)]
    for part in policies[2].surrogate.surrogates:
        part.table = part.python_table
    trace = hr.simulate(policies[0], problem)
    assert trace.compiled
    for policy in policies[1:3]:
        turns = hr.Trace.of(hr.play(policy, problem))
        np.testing.assert_array_equal(turns.costs, trace.costs, strict=True)
        np.testing.assert_array_equal(turns.violations_each, trace.violations_each, strict=True)
        for state, other in zip(states(policies[0]), states(policy), strict=True):
            np.testing.assert_array_equal(state.array, other.array, strict=True)
        assert policy.certificate() == policies[0].certificate()
    for _ in hr.games.simulate_chunks(policies[3], problem, size=30):
        break
    again = hr.projection_free_coco(X, constraints=3, advisers=advisers)
    again.restore(policies[3].state())
    rest = hr.Trace.joined(hr.games.simulate_chunks(again, problem, skip=30))
    np.testing.assert_array_equal(rest.costs, trace.costs[30:], strict=True)


@pytest.mark.parametrize("seed", range(500, 503))
def test_certificate_and_audit_hold(seed):
    problem = drawn(seed, 200)
    policy, best = hr.projection_free_coco(X, constraints=3), hr.hindsight(problem)
    steps = list(hr.play(policy, problem))
    assert hr.Trace.of(steps).regret(best) <= policy.certificate() + 1e-9
    again = hr.projection_free_coco(X, constraints=3)
    audited = hr.testing.audit(steps, problem, policy=again, benchmark=best)
    assert audited.ok, audited
    assert "the certificate" in str(audited)


def test_each_is_violated_less():
    """The noise is new in every round; the retreat knows the last one alone."""
    games = [drawn(seed, 200) for seed in range(500, 506)]
    played = [
        (hr.simulate(hr.projection_free_coco(X, constraints=3), game), hr.simulate(alone(), game))
        for game in games
    ]
    for trace, without in played:
        assert (trace.ccv_each < without.ccv_each).all()
    with_it, without_it = (
        sum(trace.ccv_each for trace in traces) for traces in zip(*played, strict=True)
    )
    assert (with_it < 0.5 * without_it).all()
    costs = [sum(trace.cost for trace in traces) for traces in zip(*played, strict=True)]
    assert costs[0] < costs[1] + 0.05 * abs(costs[1])
    mild = [hr.simulate(hr.projection_free_coco(X, constraints=3, eagerness=0.6), g) for g in games]
    assert (sum(trace.ccv_each for trace in mild) < 0.85 * without_it).all()
    assert sum(trace.cost for trace in mild) < costs[1]  # less of both


@pytest.mark.parametrize("seed", range(4))
def test_what_it_loses_is_bounded_for_each_in_every_round(seed):
    """Costs and constraints of all sizes, against the decision and for the learner's."""
    rng, T = np.random.default_rng(seed), 300
    policy, sizes, worst, apart = hr.projection_free_coco(X, constraints=3), np.zeros(4), 0.0, 0
    for t in range(T):
        y, away = policy.ask(), policy.learner.ask() - policy.ask()
        apart += bool(away.any())
        a = 10.0 ** rng.integers(-3, 3) * (rng.standard_normal(6) + (5.0 * away if t % 3 else 0.0))
        rows = rng.standard_normal((3, 6)) + (2.0 * away if t % 4 == 1 else 0.0)
        rows *= UNITS[:, None]
        values = rows @ y - 0.1 * UNITS
        seen = [EvalGrad(float(value), row) for value, row in zip(values, rows, strict=True)]
        policy.tell(EvalGrad(float(a @ y), a), seen)
        squares = (rows * rows).sum(axis=1)
        sizes += [a @ a, *np.where(values > 0.0, squares, 0.0)]
        worst = np.maximum(worst, np.sqrt([a @ a, *squares]))
        lost = np.array([policy.retreat.more_cost, *policy.retreat.more_ccv])
        limits = X.diameter * (np.sqrt(sizes) * [1.0, 1 / 64, 1 / 64, 1 / 64] + worst)
        assert (lost <= limits * (1.0 + 1e-9)).all()
    assert apart > 1
    np.testing.assert_allclose(policy.retreat.grad_roots, np.sqrt(sizes[1:]), rtol=1e-9)


def test_an_outage_of_one_constraint_is_left_after_one_round():
    """No earlier decision satisfies it; the oracle has found one that does, and that is cheap."""
    rng, price = np.random.default_rng(0), hr.Linear([1.0, 2.0, 4.0])
    latencies = np.array([80.0, 118.0, 95.0]) * (1.0 + 0.01 * rng.standard_normal((60, 3)))
    latencies[20:50, 0] = 2000.0
    latencies[20:50, 1] = 130.0
    share = hr.Linear([0.0, 1.0, 0.0], -0.9)
    simplex = hr.sets.Simplex(3)
    problem = hr.RecordedProblem(
        simplex, [(price, [hr.Linear(row, -120.0), share]) for row in latencies]
    )
    policy, still = (hr.projection_free_coco(simplex, constraints=2) for _ in range(2))
    still.end_retreat()
    after = [
        np.maximum(0.0, hr.simulate(player, problem).violations_each[0, 21:40]).sum()
        for player in (policy, still)
    ]
    assert after[0] < 20.0
    assert after[1] > 2000.0


def test_a_constraint_that_no_action_changes_hinders_no_retreat():
    learner = hr.learners.TrackingOCG(X)
    retreat, at = Retreat(learner, 2), np.full(6, 1.0 / 6.0)
    rows, values = np.zeros((2, 6)), np.array([7.0, -1.0])
    rows[1, 0] = 10.0
    parts = parts_of_memory(rows, values, np.empty(0, np.uint32), np.empty(2))
    kernels.take_each(retreat.tangent, parts, X.diameter)
    assert retreat.tangent.values[0] == -X.diameter
    kernels.see_constraint(retreat.array, retreat.tangent, 2, at, retreat.refuge)
    retreat.decide(np.eye(6)[0])
    np.testing.assert_allclose(10.0 * (retreat.decision[0] - at[0]), 1.0)


def test_advice_is_checked_against_every_constraint():
    problem = drawn(403, 40)
    policy = hr.projection_free_coco(X, constraints=3, advisers=["plan"])
    bold, refused = np.eye(6)[0], 0
    for cost, caps in problem:
        x = policy.ask(advice={"plan": bold})
        free = policy.learner.ask()
        refused += not np.array_equal(x, free)
        policy.tell(hr.first_order(cost, x), [hr.first_order(cap, x) for cap in caps])
    assert refused > 5
    rounds = list(problem)
    regret = policy.summary().cost - hr.hindsight(X, rounds).cost
    assert regret <= policy.certificate()


def test_late_feedback_keeps_the_certificate():
    problem, delay = drawn(404, 60), 3
    policy, due, plays = hr.projection_free_coco(X, constraints=3), [], []
    for cost, caps in problem:
        x = policy.ask()
        plays.append(x)
        due.append((hr.first_order(cost, x), [hr.first_order(cap, x) for cap in caps], x))
        if len(due) > delay:
            f, g, at = due.pop(0)
            policy.tell(f, g, at=at)
    rounds = list(problem)[: len(plays) - delay]
    cost = sum(f(x) for (f, _), x in zip(rounds, plays, strict=False))
    assert cost - hr.hindsight(X, rounds).cost <= policy.certificate()


def test_a_retreat_has_as_many_queues_as_the_surrogate():
    policy = hr.projection_free_coco(X, constraints=2)
    for queues in (1, 3):
        with pytest.raises(ValueError, match=f"made for {queues} queues, the surrogate has 2"):
            hr.ConstrainedPolicy(
                policy.learner, policy.surrogate, retreat=Retreat(policy.learner, queues)
            )
    for queues in (0, 1.5, True):
        with pytest.raises((TypeError, ValueError), match="queues must be"):
            Retreat(policy.learner, queues)
