"""Constraints of many parts: the default sees them all, and each may bind its decisions."""

from __future__ import annotations

import copy
import math
from functools import partial

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.methods import METHODS
from hedgerow.feedback import EvalGrad, Parts, first_order_each
from hedgerow.functions import HasParts
from hedgerow.networks import Topology
from hedgerow.problems import TrafficEngineering, gravity_demands, link_loads
from hedgerow.snapshot import states

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
    """Who passes first_order shows one part."""
    problem = load(403)
    X = problem.decision_set
    all_parts = hr.simulate(hr.projection_free_coco(X), problem)
    one_part = hr.simulate(hr.projection_free_coco(X), problem, hr.first_order)
    assert one_part.compiled
    turns = hr.Trace.of(hr.play(hr.projection_free_coco(X), problem, hr.first_order))
    np.testing.assert_array_equal(one_part.costs, turns.costs, strict=True)
    assert all_parts.ccv < one_part.ccv


@pytest.mark.parametrize("seed", [500, 501, 502])
def test_hours_of_load_are_violated_less(seed):
    problem = load(seed)
    X = problem.decision_set
    ours = hr.simulate(hr.projection_free_coco(X), problem)
    alone = hr.simulate(hr.projection_free_coco(X), problem, hr.first_order)
    assert ours.ccv < 0.5 * alone.ccv
    assert ours.violations.max() <= alone.violations.max()


@pytest.mark.parametrize(("name", "seed"), [("Cernet", 501), ("BtEurope", 501), ("Abilene", 401)])
def test_no_reaction_is_worse_than_what_it_reacts_to(name, seed):
    """On these games an earlier default's worst round was two to three times that of free play."""
    network = Topology.shipped(f"topozoo/{name}")
    demands = gravity_demands(network, 400, seed, pairs=40)
    problem = TrafficEngineering.from_network(network, demands)
    X = problem.decision_set
    free = hr.simulate(hr.unconstrained(X), problem)
    trace = hr.simulate(hr.projection_free_coco(X), problem)
    assert trace.violations.max() <= 1.2 * free.violations.max()
    assert trace.ccv < free.ccv


@pytest.mark.parametrize("seed", range(510, 516))
def test_the_certificate_holds(seed):
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
    assert trace.regret(best) <= policy.certificate() + 1e-9
    steps = list(hr.play(hr.projection_free_coco(X), problem))
    audited = hr.testing.audit(steps, problem, policy=hr.projection_free_coco(X), benchmark=best)
    assert audited.ok, audited
    assert "the certificate" in str(audited)


@pytest.mark.parametrize("feedback", [None, hr.first_order])
@pytest.mark.parametrize("name", ["hours", "links"])
@pytest.mark.parametrize("tracking", [True, False])
def test_the_certificate_is_that_of_the_parts_that_were_told(name, feedback, tracking):
    problem = GAMES[name]()
    make = partial(hr.projection_free_coco, problem.decision_set, tracking=tracking)
    steps = list(hr.play(make(), problem, feedback))
    audited = hr.testing.audit(steps, problem, policy=make(), feedback=feedback)
    assert audited.ok, audited
    assert "the certificate" in str(audited)


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


def test_the_method_says_that_it_sees_parts():
    method = METHODS["projection_free_coco"]
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
