"""Retreat: against its text, by property, and with what a decision beside the learner may lose."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import hedgerow as hr
from hedgerow.feedback import EvalGrad
from hedgerow.kernels import retreat as kernels
from hedgerow.policies.retreat import Retreat
from way_back import Avoided, approached, transcribed_share

P = hr.problems
GAMES = {
    "simplex": lambda seed: P.IidSimplex(n=8, horizon=150, seed=seed),
    "routes": lambda seed: hr.ShortestPath.random_network(20, 60, 150, seed),
    "rankings": lambda seed: P.Ranking(horizon=150, seed=seed),
    "curved": lambda seed: P.QuadraticBox(horizon=150, seed=seed),
    "ball": lambda seed: P.SwitchingBall(horizon=150, seed=seed),
}


def without(X, **settings):
    """Return the default whose learner decides."""
    policy = hr.projection_free_coco(X, **settings)
    policy.end_retreat()
    return policy


def transcribed(problem, **settings):
    """Play as the docstring of Retreat has it; return decisions, what they lost, a bound."""
    X = problem.decision_set
    learner = without(X, **settings)  # told at its own decisions
    y = z = learner.ask()
    decisions, lost, roots, avoided = [], np.zeros(2), np.zeros(2), Avoided(learner)
    for cost, constraint in problem:
        decisions.append(y)
        f, g, x = hr.first_order(cost, y), hr.first_order(constraint, y), learner.ask()
        at_x = g.value + g.grad @ (x - y)
        learner.tell(EvalGrad(f.value + f.grad @ (x - y), f.grad), EvalGrad(at_x, g.grad))
        avoided.add(f.grad, y, x)
        lost += f.grad @ (y - x), max(0.0, g.value) - max(0.0, at_x)
        roots += f.grad @ f.grad, g.grad @ g.grad if g.value > 0.0 else 0.0
        found, *safest = learner.retreat.refuge
        if g.value <= 0.0:
            z = y
        elif found and g.value + g.grad @ (z - y) > 0.0:
            z = np.array(safest)
        x = learner.ask()
        limits = X.diameter * np.sqrt(roots) * [1.0, 1.0 / 64.0]
        if (lost > limits).any():
            y = x
            continue
        tangent = lambda point: g.value + g.grad @ (point - y)  # noqa: B023, E731 - of this round
        x = approached(y, x, avoided.paid, tangent)
        ahead, refuge = tangent(x), tangent(z)
        if ahead <= 1e-12 or refuge >= ahead - 1e-12:
            y = x
        else:
            y = x + (1.0 if refuge >= 0.0 else ahead / (ahead - refuge)) * (z - x)
    return np.array(decisions), [*lost, avoided.total], learner.certificate() + lost[0]


@pytest.mark.parametrize("tracking", [True, False])
@pytest.mark.parametrize("name", GAMES)
def test_it_plays_its_transcription(name, tracking):
    problem = GAMES[name](400)
    policy = hr.projection_free_coco(problem.decision_set, tracking=tracking)
    problem = hr.RecordedProblem(problem.decision_set, list(problem)[:70])  # later, rounding grows
    played = np.array([step.x for step in hr.play(policy, problem)])
    expected, lost, bound = transcribed(problem, tracking=tracking)
    alone = [step.x for step in hr.play(without(problem.decision_set), problem)]
    assert not np.allclose(expected, alone, atol=1e-3)
    np.testing.assert_allclose(played, expected, atol=1e-8)
    found = policy.retreat.more_cost, *policy.retreat.more_ccv, policy.retreat.paid
    np.testing.assert_allclose(found, lost, rtol=1e-6, atol=1e-8)
    assert abs(lost[0]) > 1e-4
    assert policy.certificate() == pytest.approx(bound, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("name", GAMES)
def test_compiled_rounds_are_the_same(name):
    problem = GAMES[name](401)
    policy, told = (hr.projection_free_coco(problem.decision_set) for _ in range(2))
    trace = hr.simulate(policy, problem)
    assert trace.compiled
    steps = list(hr.play(told, problem))
    np.testing.assert_array_equal(trace.costs, [step.cost for step in steps], strict=True)
    np.testing.assert_array_equal(policy.ask(), told.ask(), strict=True)
    np.testing.assert_array_equal(policy.retreat.array, told.retreat.array, strict=True)
    assert policy.certificate() == told.certificate()


def see(retreat, c, value, at):
    """Take in a constraint of one part, as a round does."""
    retreat.tangent.gradients[0] = c
    retreat.tangent.values[0] = value
    kernels.see_constraint(retreat.array, retreat.tangent, 1, at, retreat.refuge)


finite = st.floats(-5.0, 5.0).map(lambda value: round(value, 3))
points = arrays.arrays(np.float64, 4, elements=st.floats(0.0, 1.0).map(lambda v: round(v, 3)))


@given(points, points, arrays.arrays(np.float64, 4, elements=finite), finite, st.booleans())
def test_the_decision_is_the_first_one_that_the_tangent_allows(x, z, c, value, ended):
    """In [0, 1]^4, from a satisfied round at z or a violated one elsewhere; no refuge is found."""
    learner = hr.learners.TrackingOCG(hr.sets.Box(np.zeros(4), np.ones(4)), start=z)
    retreat = Retreat(learner)
    seen_at = z if value <= 0.0 else np.full(4, 0.5)
    see(retreat, c, value, seen_at)
    retreat.decide(x)
    y, along = retreat.decision, np.linspace(0.0, 1.0, 11)
    tangent = lambda point: value + c @ (np.asarray(point) - seen_at)  # noqa: E731
    assert learner.decision_set.contains(y, tol=1e-9)
    assert tangent(y) <= max(0.0, tangent(x)) + 1e-9
    if tangent(x) <= 0.0 or tangent(z) >= tangent(x):
        np.testing.assert_array_equal(y, x)
    elif tangent(z) < -1e-6 and tangent(x) > 1e-6:
        assert tangent(y) == pytest.approx(0.0, abs=1e-8)
        nearer = [x + part * (y - x) for part in along[:-1]]
        assert all(tangent(point) > 0.0 for point in nearer), "no point before it is allowed"
    if ended:
        retreat.end(x)
        np.testing.assert_array_equal(retreat.decision, x)


sums = st.floats(-3.0, 3.0).map(lambda value: round(value, 2))


@given(
    points,
    points,
    points,
    arrays.arrays(np.float64, 4, elements=finite),
    finite,
    sums,
    sums.map(lambda value: value / 30.0),
    sums,
)
def test_it_goes_an_eighth_of_the_way_while_that_has_paid(x, last, z, c, value, cost, ccv, paid):
    """In [0, 1]^4, with what decisions have cost and violated more than x so far."""
    learner = hr.learners.TrackingOCG(hr.sets.Box(np.zeros(4), np.ones(4)), start=last)
    retreat, D = Retreat(learner), 2.0
    see(retreat, c, value, np.full(4, 0.5))
    retreat._state["z"][:] = z
    numbers = kernels.MORE_COST, kernels.COST_ROOT, kernels.PAID
    retreat._state["numbers"][list(numbers)] = cost, 1.0, paid
    retreat._state["of_each"][:] = ccv, 1.0
    tangent = lambda point: value + c @ (np.asarray(point) - 0.5)  # noqa: E731
    assume(abs(c @ (x - last)) > 1e-6 or tangent(x) < -1e-6)  # else rounding decides
    retreat.decide(x)
    expected = x
    if cost <= D and ccv <= D / 64.0:
        expected = approached(last, x, paid > 0.0 and cost <= D / 4.0, tangent)
        if tangent(expected) > 1e-9:
            share = transcribed_share(np.array([tangent(expected)]), np.array([tangent(z)]))
            expected = expected + share * (z - expected)
    np.testing.assert_allclose(retreat.decision, expected, atol=1e-8)
    assert tangent(retreat.decision) <= max(0.0, tangent(x)) + 1e-8, "no reaction is slower"


def outage(rounds=60):
    """Return three options: the cheap one fails in round 20, and only the dear one is quick."""
    rng, X, price = np.random.default_rng(0), hr.sets.Simplex(3), hr.Linear([1.0, 2.0, 4.0])
    latencies = np.array([80.0, 118.0, 95.0]) * (1.0 + 0.01 * rng.standard_normal((rounds, 3)))
    latencies[20:50, 0] = 2000.0
    latencies[20:50, 1] = 130.0
    return hr.RecordedProblem(X, [(price, hr.Linear(row, -120.0)) for row in latencies])


def test_an_outage_is_left_after_one_round():
    """No earlier decision satisfies a round of it; the oracle has found one that does."""
    problem = outage()
    trace = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
    alone = hr.simulate(without(problem.decision_set), problem)
    assert trace.violations[20] > 1000.0
    assert np.maximum(0.0, trace.violations[21:40]).sum() < 20.0
    assert np.maximum(0.0, alone.violations[21:40]).sum() > 2000.0


def test_a_refuge_is_not_taken_where_an_earlier_decision_helps():
    """The safest action is far from what is cheap."""
    X = hr.sets.Simplex(3)
    retreat = Retreat(hr.learners.TrackingOCG(X, start=[1.0, 0.0, 0.0]))
    kernels.show_refuge(retreat.refuge, np.array([0.0, 0.0, 1.0]))
    here, c = np.array([0.0, 1.0, 0.0]), np.array([-1.0, 1.0, -2.0])
    see(retreat, c, 1.0, here)
    np.testing.assert_array_equal(retreat._state["z"], [1.0, 0.0, 0.0])
    see(retreat, -c, 3.0, here)
    np.testing.assert_array_equal(retreat._state["z"], [1.0, 0.0, 0.0], "it violates less")
    see(retreat, np.array([1.0, 1.0, -2.0]), 3.0, here)
    np.testing.assert_array_equal(retreat._state["z"], [0.0, 0.0, 1.0])


def tempting(rounds):
    """Return rounds in which the cheap end of [0, 1] is violated by next to nothing."""
    return hr.RecordedProblem(
        hr.sets.Box([0.0], [1.0]), [(hr.Linear([-1.0]), hr.Linear([1e-9], -1e-12))] * rounds
    )


def test_what_it_loses_is_bounded():
    """It would stay at 0.001 for ever, where a learner of costs alone ignores the constraint."""
    T, problem = 400, tempting(400)
    learner = hr.unconstrained(problem.decision_set).learner
    surrogate = hr.unconstrained(problem.decision_set).surrogate
    begin = Retreat(hr.learners.TrackingOCG(problem.decision_set, start=[0.0]))
    policy = hr.ConstrainedPolicy(learner, surrogate, retreat=begin)
    assert hr.simulate(policy, problem).compiled
    assert 1.0 < policy.retreat.more_cost <= math.sqrt(T) + 1.0  # 399 without a bound


@pytest.mark.parametrize("seed", range(6))
def test_what_it_loses_is_bounded_in_every_round(seed):
    """Costs and constraints of all sizes, against the decision and for the learner's."""
    rng, X, T = np.random.default_rng(seed), hr.sets.Simplex(6), 500
    policy, sizes, worst, apart = hr.projection_free_coco(X), np.zeros(2), np.zeros(2), 0
    for t in range(T):
        y, away = policy.ask(), policy.learner.ask() - policy.ask()
        apart += bool(away.any())
        scale = 10.0 ** rng.integers(-3, 3)
        a = scale * (rng.standard_normal(6) + (5.0 * away if t % 3 else 0.0))
        c = rng.standard_normal(6) + (2.0 * away if t % 4 == 1 else 0.0)
        value = float(c @ y) - 0.05
        policy.tell(EvalGrad(float(a @ y), a), EvalGrad(value, c))
        sizes += a @ a, c @ c if value > 0.0 else 0.0
        worst = np.maximum(worst, [np.linalg.norm(a), np.linalg.norm(c)])
        lost = np.array([policy.retreat.more_cost, *policy.retreat.more_ccv])
        limits = X.diameter * (np.sqrt(sizes) * [1.0, 1.0 / 64.0] + worst)
        assert (lost <= limits * (1.0 + 1e-9)).all()
    assert apart > 1


@pytest.mark.parametrize("name", GAMES)
def test_certificate_and_theorem_are_about_its_decisions(name):
    problem = GAMES[name](402)
    X = problem.decision_set
    policy = hr.projection_free_coco(X)
    trace, best = hr.simulate(policy, problem), hr.hindsight(problem, time_limit=20.0)
    bounds = {part.name: part for part in hr.explain(policy).guarantees}
    assert trace.regret(best) <= policy.certificate() + 1e-9 * abs(policy.certificate())
    assert trace.regret(best) <= bounds["regret, Theorem G"].value
    assert trace.ccv <= bounds["CCV, Theorem G"].value
    fresh = hr.explain(hr.projection_free_coco(X))
    assert sum("a retreat may add" in part.statement for part in fresh.guarantees) == 2
    policy.end_retreat()
    alone = {part.name: part for part in hr.explain(policy).guarantees}
    assert not any("retreat" in part.statement for part in alone.values())
    D, costs, (forces,) = X.diameter, policy.retreat.cost_root, policy.retreat.grad_roots
    for kind, more in (("regret, Theorem G", 2.0 * costs), ("CCV, Theorem G", 65 / 64 * forces)):
        apart = bounds[kind].value - alone[kind].value
        assert apart == pytest.approx(D * more, rel=1e-9)


@pytest.mark.parametrize("name", ["simplex", "routes", "rankings"])
def test_it_violates_less_at_next_to_no_cost(name):
    """Sums of five games that chose nothing else."""
    with_, alone = np.zeros(2), np.zeros(2)
    for seed in range(403, 408):
        problem = GAMES[name](seed)
        for make, total in ((hr.projection_free_coco, with_), (without, alone)):
            trace = hr.simulate(make(problem.decision_set), problem)
            total += trace.cost, trace.ccv
    assert with_[1] < 0.97 * alone[1]
    assert with_[0] < alone[0] + 0.03 * abs(alone[0])


@pytest.mark.parametrize("tracking", [True, False])
def test_it_does_not_go_slowly_where_that_avoids_too_little(tracking):
    """Going slowly all the time would cost as much again, for little less violation."""
    problem = P.OrthogonalBall(horizon=600, seed=404)
    X = problem.decision_set
    trace = hr.simulate(hr.projection_free_coco(X, tracking=tracking), problem)
    alone = hr.simulate(without(X, tracking=tracking), problem)
    assert trace.cost < 1.2 * alone.cost
    assert trace.ccv <= 1.01 * alone.ccv


def test_late_feedback_is_taken_at_the_decision_it_is_about():
    problem, delay = GAMES["simplex"](409), 3
    policy, due, plays = hr.projection_free_coco(problem.decision_set), [], []
    for cost, constraint in problem:
        x = policy.ask()
        plays.append(x)
        due.append((hr.first_order(cost, x), hr.first_order(constraint, x), x))
        if len(due) > delay:
            f, g, at = due.pop(0)
            policy.tell(f, g, at=at)
    best = hr.hindsight(problem)
    told = plays[: len(plays) - delay]
    rounds = list(problem)[: len(told)]
    cost = sum(f(x) for (f, _), x in zip(rounds, told, strict=True))
    assert cost - sum(f(best.x) for f, _ in rounds) <= policy.certificate()


def test_a_policy_in_the_middle_of_a_retreat_resumes_bit_for_bit(tmp_path):
    problem = GAMES["routes"](410)
    policy = hr.projection_free_coco(problem.decision_set)
    rounds = list(problem)
    for cost, constraint in rounds:
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
        if policy.retreat._state["numbers"][kernels.APART] > 0.0:
            break
    policy.save(tmp_path / "policy.npz")
    again = hr.projection_free_coco(problem.decision_set)
    again.load(tmp_path / "policy.npz")
    for cost, constraint in rounds:
        for player in (policy, again):
            x = player.ask()
            player.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
        np.testing.assert_array_equal(policy.ask(), again.ask(), strict=True)
