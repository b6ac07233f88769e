"""Constraints of many parts: the default sees them all and retreats from all of them."""

from __future__ import annotations

import copy
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import hedgerow as hr
from hedgerow.baselines.methods import METHODS
from hedgerow.feedback import EvalGrad, Parts, first_order_each
from hedgerow.functions import HasParts
from hedgerow.kernels.retreat import share_of_way
from hedgerow.networks import Topology
from hedgerow.problems import TrafficEngineering, gravity_demands, link_loads
from hedgerow.snapshot import states
from way_back import Avoided, approached, candidates, transcribed_share

DAY, HOURS = hr.sets.Simplex(24), np.arange(24)
PRICE = 1.0 + 0.35 * np.sin((HOURS - 13) / 12 * np.pi)
BASE = 0.55 + 0.25 * np.sin((HOURS - 12) / 12 * np.pi)


def load(seed, rounds=120, sites=1):
    """Return days of 24 hours: energy at noisy prices, and no hour above a cap."""
    rng = np.random.default_rng(seed)
    base = BASE * (1.0 + 0.06 * rng.standard_normal((rounds, 24)))
    energy, cap = 7.0 * rng.uniform(0.9, 1.1, rounds), 1.05 * base.max()
    days = []
    for e, now in zip(energy, base, strict=True):
        price = e / sites * np.tile(PRICE * (1.0 + 0.1 * rng.standard_normal(24)), sites)
        hours = np.tile(e / sites * np.eye(24), sites)
        days.append((hr.Linear(price), hr.Maximum(list(map(hr.Linear, hours, now - cap)))))
    return hr.RecordedProblem(DAY if sites == 1 else hr.sets.Product(*[DAY] * sites), days)


def traffic(seed=400, rounds=60, **settings):
    """Return demands on Abilene; the constraint is the largest utilisation of a link."""
    network = Topology.shipped("topozoo/Abilene")
    demands = gravity_demands(network, rounds, seed, pairs=20)
    return TrafficEngineering.from_network(network, demands, **settings)


GAMES = {
    "hours": lambda: load(402),
    "hours of two sites": lambda: load(402, sites=2),
    "links": traffic,
    "failing links": lambda: traffic(available=failing(60, traffic().capacity.size)),
    "links, congestion": lambda: traffic(cost=hr.problems.FortzThorup()),
}


def failing(rounds, links):
    """Return shares of capacity: one link in five loses most of it for ten rounds."""
    left = np.ones((rounds, links))
    left[20:30, ::5] = 0.1
    return left


def transcribed(problem, **settings):
    """Play as the docstring of Retreat has it, in NumPy; return decisions and what they lost."""
    X = problem.decision_set
    learner = hr.projection_free_coco(X, **settings)
    learner.end_retreat()  # told at its own decisions, one part at a time
    y = z = learner.ask()
    decisions, lost, roots, avoided = [], np.zeros(2), np.zeros(2), Avoided(learner)
    for cost, constraint in problem:
        decisions.append(y)
        x, a = learner.ask(), cost.coefficients
        G = np.array([part.coefficients for part in constraint.parts])
        b = np.array([part.offset for part in constraint.parts])
        here, at_x = G @ y + b, G @ x + b
        top = at_x.argmax()
        learner.tell(hr.first_order(cost, x), EvalGrad(at_x[top], G[top]))
        avoided.add(a, y, x)
        lost += a @ (y - x), max(0.0, here.max()) - max(0.0, at_x.max())
        steepest = G[here.argmax()]
        roots += a @ a, steepest @ steepest if here.max() > 0.0 else 0.0
        found, *safest = learner.retreat.refuge
        at_z = (G @ z + b).max()
        if here.max() <= 0.0:
            z = y
        elif at_z > 0.0:
            if found and (G @ safest + b).max() < at_z:
                z = np.array(safest)
            elif here.max() < at_z:
                z = y
        x, limits = learner.ask(), X.diameter * np.sqrt(roots) * [1.0, 1 / 64]
        if (lost > limits).any():
            y = x
            continue
        x = approached(y, x, avoided.paid, lambda point: (G @ point + b).max())  # noqa: B023
        y = x
        if (G @ x + b).max() > 1e-12:
            y = x + transcribed_share(G @ x + b, G @ z + b) * (z - x)
    return np.array(decisions), np.array([*lost, avoided.total])


@pytest.mark.parametrize("tracking", [True, False])
@pytest.mark.parametrize(("seed", "sites"), [(400, 1), (401, 2)])
def test_it_plays_the_transcription(seed, sites, tracking):
    problem = load(seed, 60, sites)
    policy = hr.projection_free_coco(problem.decision_set, tracking=tracking)
    played = [step.x for step in hr.play(policy, problem)]
    expected, lost = transcribed(problem, tracking=tracking)
    np.testing.assert_allclose(played, expected, atol=1e-9)
    found = policy.retreat.more_cost, *policy.retreat.more_ccv, policy.retreat.paid
    np.testing.assert_allclose(found, lost, rtol=1e-7, atol=1e-9)
    assert lost[0] != 0.0


values = st.integers(1, 6).flatmap(
    lambda m: arrays.arrays(np.float64, (2, m), elements=st.floats(-10.0, 10.0))
)


@given(values)
def test_the_share_is_the_first_that_makes_the_largest_violation_least(ends):
    at_x, at_z = ends

    def worst(share):
        return np.maximum(0.0, (at_x + np.outer(share, at_z - at_x)).max(axis=1))

    share = share_of_way(at_x, at_z, at_x.size)
    assert 0.0 <= share <= 1.0
    (found,), others = worst([share]), candidates(at_x, at_z)
    assert found <= worst(others).min() + 1e-12
    nearer = others[others < share - 1e-9]
    if worst(others).min() == 0.0:  # it is the first end of the interval without a violation
        assert (worst(nearer) > 0.0).all()


@pytest.mark.parametrize("tracking", [True, False])
@pytest.mark.parametrize("name", GAMES)
def test_compiled_rounds_are_the_same(name, tracking):
    problem = GAMES[name]()
    first, second, third, fourth = (
        hr.projection_free_coco(problem.decision_set, tracking=tracking) for _ in range(4)
    )
    compiled = hr.simulate(first, problem)
    assert compiled.compiled
    turns = hr.Trace.of(hr.play(second, problem))
    np.testing.assert_array_equal(compiled.costs, turns.costs, strict=True)
    np.testing.assert_array_equal(compiled.violations, turns.violations, strict=True)
    for state, other in zip(states(first), states(second), strict=True):
        np.testing.assert_array_equal(state.array, other.array, strict=True)
    assert str(first.summary()) == str(second.summary())
    assert first.certificate() == second.certificate()
    for _ in hr.games.simulate_chunks(third, problem, size=25):
        break
    fourth.restore(third.state())
    rest = hr.Trace.joined(hr.games.simulate_chunks(fourth, problem, skip=25))
    np.testing.assert_array_equal(rest.costs, compiled.costs[25:], strict=True)
    np.testing.assert_array_equal(copy.copy(second).ask(), second.ask(), strict=True)


def test_the_largest_part_alone_is_another_game():
    """Who passes first_order shows one part, as before; so do advisers' policies."""
    problem = load(403)
    X = problem.decision_set
    all_parts = hr.simulate(hr.projection_free_coco(X), problem)
    one_part = hr.simulate(hr.projection_free_coco(X), problem, hr.first_order)
    assert one_part.compiled
    assert all_parts.ccv < one_part.ccv
    advised = hr.projection_free_coco(X, advisers=["plan"])
    assert not advised.sees_parts
    for feedback in (None, first_order_each):
        player = hr.projection_free_coco(X, advisers=["plan"])
        trace = hr.simulate(player, problem, feedback)
        turns = hr.Trace.of(hr.play(hr.projection_free_coco(X, advisers=["plan"]), problem))
        np.testing.assert_array_equal(trace.costs, turns.costs, strict=True)


@pytest.mark.parametrize("seed", [500, 501, 502])
def test_hours_of_load_are_violated_less(seed):
    problem = load(seed)
    X = problem.decision_set
    ours = hr.simulate(hr.projection_free_coco(X), problem)
    alone = hr.simulate(hr.projection_free_coco(X), problem, hr.first_order)
    assert ours.ccv < 0.5 * alone.ccv
    assert ours.violations.max() < 0.25 * alone.violations.max()


@pytest.mark.parametrize("tracking", [True, False])
@pytest.mark.parametrize(("name", "seed"), [("Cernet", 501), ("BtEurope", 501), ("Abilene", 401)])
def test_no_reaction_is_worse_than_what_it_reacts_to(name, seed, tracking):
    """On these games the worst round was two to three times that of unconstrained play."""
    network = Topology.shipped(f"topozoo/{name}")
    demands = gravity_demands(network, 400, seed, pairs=40)
    problem = TrafficEngineering.from_network(network, demands)
    X = problem.decision_set
    free = hr.simulate(hr.unconstrained(X), problem)
    trace = hr.simulate(hr.projection_free_coco(X, tracking=tracking), problem)
    assert trace.violations.max() <= 1.2 * free.violations.max()
    assert trace.ccv < free.ccv


@pytest.mark.parametrize("seed", range(510, 516))
def test_certificate_and_theorem_hold(seed):
    rng, rounds = np.random.default_rng(seed), []
    X, free = hr.sets.Simplex(5), np.full(5, 0.2)
    for _ in range(80):
        parts = []
        for row in rng.standard_normal((4, 5)):
            parts.append(hr.Linear(row, -float(row @ free) - 0.05 * rng.random()))
        rounds.append((hr.Linear(rng.standard_normal(5)), hr.Maximum(parts)))
    policy, problem = hr.projection_free_coco(X), hr.RecordedProblem(X, rounds)
    trace = hr.simulate(policy, problem)
    best = hr.hindsight(problem)
    assert policy.retreat.more_cost != 0.0
    assert trace.regret(best) <= policy.certificate() + 1e-9
    bounds = {part.name: part for part in hr.explain(policy).guarantees}
    assert trace.regret(best) <= bounds["regret, Theorem G"].value
    assert trace.ccv <= bounds["CCV, Theorem G"].value
    steps = list(hr.play(hr.projection_free_coco(X), problem))
    audited = hr.testing.audit(steps, problem, policy=hr.projection_free_coco(X), benchmark=best)
    assert audited.ok, audited
    assert "the certificate" in str(audited)


@pytest.mark.parametrize("seed", range(4))
def test_what_it_loses_is_bounded_in_every_round(seed):
    """Costs and parts of all sizes, against the decision and for the learner's."""
    rng, X, T = np.random.default_rng(seed), hr.sets.Simplex(6), 300
    policy, sizes, worst, apart = hr.projection_free_coco(X), np.zeros(2), np.zeros(2), 0
    for t in range(T):
        y, away = policy.ask(), policy.learner.ask() - policy.ask()
        apart += bool(away.any())
        a = 10.0 ** rng.integers(-3, 3) * (rng.standard_normal(6) + (5.0 * away if t % 3 else 0.0))
        rows = rng.standard_normal((5, 6)) + (2.0 * away if t % 4 == 1 else 0.0)
        parts = [EvalGrad(float(row @ y) - 0.1, row) for row in rows]
        policy.tell(EvalGrad(float(a @ y), a), parts)
        top = max(parts, key=lambda part: part.value)
        sizes += a @ a, top.grad @ top.grad if top.value > 0.0 else 0.0
        worst = np.maximum(worst, [np.linalg.norm(a), np.linalg.norm(rows, axis=1).max()])
        lost = np.array([policy.retreat.more_cost, *policy.retreat.more_ccv])
        limits = X.diameter * (np.sqrt(sizes) * [1.0, 1.0 / 64.0] + worst)
        assert (lost <= limits * (1.0 + 1e-9)).all()
    assert apart > 1


def test_late_feedback_of_parts_keeps_the_certificate():
    problem, delay = load(409, 60), 3
    policy, due, plays = hr.projection_free_coco(problem.decision_set), [], []
    rounds = list(problem)
    for cost, constraint in rounds:
        x = policy.ask()
        plays.append(x)
        due.append((hr.first_order(cost, x), first_order_each(constraint, x), x))
        if len(due) > delay:
            f, g, at = due.pop(0)
            policy.tell(f, g, at=at)
    told = plays[: len(plays) - delay]
    rounds = rounds[: len(told)]
    best = hr.hindsight(problem.decision_set, rounds)
    cost = sum(f(x) for (f, _), x in zip(rounds, told, strict=True))
    assert cost - best.cost <= policy.certificate()


def test_parts_have_one_unit_and_a_list_may_have_several():
    X, x = hr.sets.Simplex(3), np.full(3, 1.0 / 3.0)
    hours = hr.Maximum([hr.Linear(row) for row in np.eye(3)])
    seen = first_order_each(hours, x)
    assert type(seen) is Parts
    assert [part.value for part in seen] == [1.0 / 3.0] * 3
    as_parts, as_list = hr.projection_free_coco(X), hr.projection_free_coco(X)
    cost = hr.first_order(hr.Linear([1.0, 2.0, 3.0]), x)
    as_parts.tell(cost, seen)
    as_list.tell(cost, list(seen))
    np.testing.assert_array_equal(as_parts.ask(), as_list.ask(), strict=True)
    assert as_parts.summary().ccv == pytest.approx(1.0 / 3.0)
    assert as_list.summary().ccv is None
    single = first_order_each(hr.Maximum([hr.Linear([1.0, 0.0, 0.0])]), x)
    assert type(single) is EvalGrad


def test_a_cost_of_several_parts_counts_by_its_largest():
    X, rng = hr.sets.Simplex(4), np.random.default_rng(0)
    rounds = []
    for _ in range(40):
        cost = hr.Maximum([hr.Linear(row) for row in rng.uniform(0.0, 1.0, (3, 4))])
        limit = hr.Maximum([hr.Linear(row, -0.4) for row in rng.uniform(0.0, 1.0, (2, 4))])
        rounds.append((cost, limit))
    problem = hr.RecordedProblem(X, rounds)
    trace = hr.simulate(hr.projection_free_coco(X), problem)
    turns = hr.Trace.of(hr.play(hr.projection_free_coco(X), problem))
    assert trace.compiled
    np.testing.assert_array_equal(trace.costs, turns.costs, strict=True)
    shared = hr.policies.ViolatedShare(hr.projection_free_coco(X), 0.1)
    assert hr.simulate(shared, problem).costs.size == 40


def test_every_link_is_seen_unless_there_are_too_many(monkeypatch):
    problem = traffic()
    x, links = problem.decision_set.start(), problem.capacity.size
    _, constraint = next(iter(problem))
    assert isinstance(constraint, HasParts)
    seen = first_order_each(constraint, x)
    assert len(seen) == links
    assert max(part.value for part in seen) == constraint(x)
    each = next(iter(traffic(per_link=True)))[1]
    for part, link in zip(seen, each.parts, strict=True):
        assert part.value == link(x)
        np.testing.assert_array_equal(part.grad, link.grad(x), strict=True)
    alone = hr.simulate(hr.projection_free_coco(problem.decision_set), problem, hr.first_order)
    monkeypatch.setattr(link_loads, "MOST_PART_NUMBERS", 10)
    seen = first_order_each(constraint, x)
    assert type(seen) is EvalGrad
    trace = hr.simulate(hr.projection_free_coco(problem.decision_set), traffic())
    np.testing.assert_array_equal(trace.costs, alone.costs, strict=True)


def test_the_methods_say_that_they_see_parts():
    for name in ("projection_free_coco", "projection_free_coco_plain"):
        method = METHODS[name]
        assert method.sees == "parts"
        policy = method.policy(hr.sets.Simplex(3), 10, 0, "practical")
        assert policy.feedback is method.feedback() is first_order_each


def test_what_is_refused_changes_nothing():
    X = hr.sets.Simplex(3)
    policy, a = hr.projection_free_coco(X), np.ones(3)
    before = [state.array.copy() for state in states(policy)]
    good = EvalGrad(0.5, a)
    for cost, parts, sentence in (
        (good, [], "an empty sequence"),
        (good, [good, EvalGrad(math.nan, a)], "the value of the constraint"),
        (good, [good, EvalGrad(0.0, np.array([1.0, math.inf, 0.0]))], "the gradient of the co"),
        (good, [good, EvalGrad(-2e100, a)], "the value of the constraint is -2e.100, above 1e.100"),
        (good, [good, EvalGrad(0.0, 1e100 * a)], "a norm above 1e.100"),
        (EvalGrad(math.inf, a), [good, good], "the value of the cost"),
    ):
        with pytest.raises(ValueError, match=sentence):
            policy.tell(cost, parts)
    for state, old in zip(states(policy), before, strict=True):
        np.testing.assert_array_equal(state.array, old)


@pytest.mark.parametrize("c", [np.zeros(24), 1e100 * np.ones(24)])
@pytest.mark.parametrize("play", [hr.simulate, lambda *game: list(hr.play(*game))])
def test_a_game_stops_at_a_part_that_is_too_large(c, play):
    """Also where it is not the largest part: nothing is learnt from such a round."""
    days = list(load(7, 20))
    cost, cap = days[10]
    days[10] = cost, hr.Maximum([*cap.parts, hr.Linear(c, -3e100)])
    policy, other = hr.projection_free_coco(DAY), hr.projection_free_coco(DAY)
    hr.simulate(other, hr.RecordedProblem(DAY, days[:10]))
    with pytest.raises(ValueError, match="measure the function in a larger unit"):
        play(policy, hr.RecordedProblem(DAY, days))
    for state, before in zip(states(policy), states(other), strict=True):
        np.testing.assert_array_equal(state.array, before.array)


def test_a_session_tells_parts_as_a_list(tmp_path):
    problem = load(seed=5, rounds=20)
    fresh = partial(hr.projection_free_coco, problem.decision_set)
    alone = fresh()
    expected, rounds = hr.simulate(alone, problem), list(problem)
    for half in (rounds[:10], rounds[10:]):  # opened twice
        with hr.live.open_session(tmp_path / "s.db", "a", fresh(), every=4) as session:
            for cost, hours in half:
                made = session.ask()
                seen = [hr.first_order(hour, made.action) for hour in hours.parts]
                session.tell(made.id, hr.first_order(cost, made.action), seen)
            told = session.status()
    assert told.cost == pytest.approx(expected.costs.sum(), rel=1e-12)
    np.testing.assert_array_equal(session.policy.ask(), alone.ask(), strict=True)
    with hr.live.open_session(tmp_path / "s.db", "b", fresh()) as session:
        made = session.ask()
        session.tell(made.id, *rounds[0])  # a Maximum itself is one constraint
        assert session.status().violated <= 1
