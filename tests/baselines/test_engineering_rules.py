"""The threshold rule, PI control and the last round's linear programme, against transcriptions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import hedgerow as hr
from hedgerow.baselines import last_round, proportional_integral, threshold_rule
from hedgerow.baselines.cheapest_vertex import listed_vertices, vertices_about
from hedgerow.testing import check_policy
from rival_games import SETS, plays_of, random_rounds, rescaled_plays

RULES = {
    "threshold": threshold_rule,
    "threshold of 5": lambda X: threshold_rule(X, rounds=5),
    "margin": lambda X: threshold_rule(X, margin=0.2),
    "pi": proportional_integral,
    "last round": last_round,
}


def vertices(X):
    """All vertices of a set of zeros and ones, by trying every such point."""
    points = (np.array(bits, float) for bits in itertools.product((0, 1), repeat=X.dim))
    return np.array([x for x in points if X.contains(x)])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", SETS)
def test_they_are_policies(rule, name):
    check_policy(lambda: RULES[rule](SETS[name]()))


@pytest.mark.parametrize("rule", RULES)
def test_the_unit_of_costs_does_not_matter(rule):
    X = SETS["dag"]()
    rounds = random_rounds(X, 60, 3)
    plays = plays_of(RULES[rule](X), rounds)
    scaled = rescaled_plays(RULES[rule](X), rounds, 8.0, 1.0 if rule == "margin" else 4.0)
    np.testing.assert_array_equal(plays, scaled)


@pytest.mark.parametrize("name", ["simplex", "dag"])
def test_all_vertices_are_listed(name):
    X = SETS[name]()
    found = {tuple(row) for row in listed_vertices(X)}
    assert found == {tuple(row) for row in vertices(X)}
    assert len(found) == len(listed_vertices(X))
    assert listed_vertices(X, len(found)) is not None
    assert listed_vertices(X, len(found) - 1) is None
    assert listed_vertices(hr.sets.KSubsets(4, 2)) is None
    np.testing.assert_array_equal(listed_vertices(hr.sets.Simplex(2, total=3.0)), 3.0 * np.eye(2))


def threshold_plays(X, rounds, margin, memory=1):
    """The rule in words: readings of all options, their mean, a margin, the cheapest one under."""
    V, x, readings, plays = vertices(X), X.start(), [], []
    costs, missed = [], []
    for f, g in rounds:
        plays.append(x)
        if readings:
            expected = averaged([h(x) for _, h in rounds[: len(readings)]], memory)
            missed.append(abs(g(x) - expected))
        readings.append([g(v) for v in V])
        costs.append([f(v) for v in V])
        width = 2.0 * np.mean(missed) if margin is None and missed else margin or 0.0
        reading, cost = averaged(np.array(readings), memory), averaged(np.array(costs), memory)
        under = [i for i in range(len(V)) if reading[i] <= -width]
        best = min(under, key=lambda i: cost[i]) if under else int(np.argmin(reading))
        x = V[best]
    return np.array(plays)


def averaged(values, memory):
    """The mean of the first `memory` rounds, then 1/memory of each new round."""
    mean = values[0] * 0.0
    for t, value in enumerate(values, start=1):
        mean = mean + (value - mean) / min(t, memory)
    return mean


@pytest.mark.parametrize("name", ["simplex", "dag"])
@pytest.mark.parametrize("margin", [None, 0.0, 0.4])
@pytest.mark.parametrize("memory", [1, 4])
def test_the_threshold_rule_is_its_transcription(name, margin, memory):
    X = SETS[name]()
    for seed in range(4):
        rounds = random_rounds(X, 50, seed)
        plays = plays_of(threshold_rule(X, margin=margin, rounds=memory), rounds)
        np.testing.assert_allclose(plays, threshold_plays(X, rounds, margin, memory), atol=1e-12)


def test_an_option_inside_the_hull_is_taken_where_options_are_listed():
    X, cost = hr.sets.Simplex(3), np.array([0.0, 2.0, 2.5])
    limit = np.array([1.0, -0.1, -2.0])  # the second lies above the line of the others
    _, safe = vertices_about(X.lmo, cost, limit, 0.0)
    assert np.argmax(safe) == 2
    policy = threshold_rule(X, margin=0.0)
    x = policy.ask()
    policy.tell(hr.first_order(hr.Linear(cost), x), hr.first_order(hr.Linear(limit), x))
    assert np.argmax(policy.ask()) == 1


def test_every_one_of_several_constraints_counts():
    X = hr.sets.Simplex(3)
    cost = hr.Linear([0.0, 1.0, 2.0])
    limits = [hr.Linear([1.0, -1.0, -1.0]), hr.Linear([-1.0, 5.0, -1.0])]
    problem = hr.RecordedProblem(X, [(cost, limits)] * 3)
    last = [list(hr.play(rule(X), problem))[-1] for rule in (threshold_rule, last_round)]
    assert np.argmax(last[0].x) == 2
    found = linprog(
        cost.coefficients,
        A_ub=[g.coefficients for g in limits], b_ub=[0.0, 0.0], A_eq=[[1.0] * 3], b_eq=[1.0],
    )  # fmt: skip
    assert last[1].cost == pytest.approx(found.fun)
    assert max(last[1].each) <= 1e-9


def test_without_a_list_the_oracle_finds_the_cheapest_vertex_of_the_hull():
    X, rng = hr.sets.KSubsets(6, 2), np.random.default_rng(0)
    V, hits = vertices(X), 0
    for _ in range(60):
        cost, limit = rng.standard_normal((2, 6))
        offset = float(rng.normal())
        policy, x = threshold_rule(X, margin=0.3), X.start()
        f, g = hr.Linear(cost), hr.Linear(limit, offset)
        policy.tell(hr.first_order(f, x), hr.first_order(g, x))
        values = V @ limit + offset + 0.3
        chosen = float(limit @ policy.ask()) + offset + 0.3
        assert policy.oracle_calls >= 2
        if values.min() > 0.0:
            assert chosen == pytest.approx(values.min())
            continue
        hits += 1
        assert chosen <= 1e-12
        # no price of the limit makes another vertex within it cheaper: on the lower hull
        prices = np.linspace(0.0, 50.0, 2001)
        gaps = [float(np.min(V @ (cost + p * limit))) for p in prices]
        reached = [float((cost + p * limit) @ policy.ask()) for p in prices]
        assert min(np.subtract(reached, gaps)) <= 0.05
    assert hits > 20


@given(seed=st.integers(0, 10_000), name=st.sampled_from(["simplex", "dag", "k-subsets"]))
def test_the_last_round_is_solved(seed, name):
    X = SETS[name]()
    rng = np.random.default_rng(seed)
    V = vertices(X)
    cost, limit, offset = rng.normal(size=X.dim), rng.normal(size=X.dim), float(rng.normal())
    policy, x = last_round(X), X.start()
    f, g = hr.Linear(cost), hr.Linear(limit, offset)
    policy.tell(hr.first_order(f, x), hr.first_order(g, x))
    found = linprog(V @ cost, A_ub=[V @ limit], b_ub=[-offset], A_eq=[np.ones(len(V))], b_eq=[1.0])
    y = policy.ask()
    assert X.contains(y, 1e-9)
    if found.status == 0:
        assert g(y) <= 1e-9
        assert f(y) == pytest.approx(found.fun, abs=1e-7)
    else:
        assert g(y) == pytest.approx(min(g(v) for v in V))


def pi_plays(X, rounds, gains=(0.2, 0.1), memory=20):
    """The controller as its docstring has it."""
    u, before, x, plays, values = 0.0, 0.0, X.start(), [], []
    costs, limits, offsets = [], [], []
    for f, g in rounds:
        plays.append(x)
        if limits:
            expected = averaged(limits, memory) @ x + averaged(offsets, memory)
            values.append(abs(g(x) - expected))
        costs.append(f.coefficients)
        limits.append(g.coefficients)
        offsets.append(g.offset)
        a = averaged(limits, memory)
        cheap, safe = X.lmo(averaged(costs, memory)), X.lmo(a)
        margin = 2.0 * np.mean(values) if values else 0.0
        reach = float(a @ (cheap - safe))
        error = float(np.clip((g(x) + margin) / reach, -1.0, 1.0)) if reach > 0.0 else 0.0
        u = float(np.clip(u + gains[0] * (error - before) + gains[1] * error, 0.0, 1.0))
        before = error
        x = (1.0 - u) * cheap + u * safe
    return np.array(plays)


@pytest.mark.parametrize("name", SETS)
def test_the_controller_is_its_transcription(name):
    X = SETS[name]()
    for seed in range(3):
        rounds = random_rounds(X, 60, seed)
        plays = plays_of(proportional_integral(X), rounds)
        np.testing.assert_allclose(plays, pi_plays(X, rounds), atol=1e-9)
        assert np.abs(plays - pi_plays(X, rounds, (0.0, 0.1))).max() > 1e-3, "no proportional part"
        assert np.abs(plays - pi_plays(X, rounds, (0.2, 0.0))).max() > 1e-3, "no integral part"


def test_the_controller_settles_on_a_limit_that_does_not_change():
    X = hr.sets.Simplex(2)
    rounds = [(hr.Linear([0.0, 1.0]), hr.Linear([1.0, 0.0], -0.3))] * 300
    trace = hr.simulate(proportional_integral(X), hr.RecordedProblem(X, rounds))
    assert abs(trace.violations[-1]) < 1e-2
    assert trace.costs[-1] == pytest.approx(0.7, abs=1e-2)


@pytest.mark.parametrize("rule", [threshold_rule, proportional_integral])
def test_a_margin_is_a_number_of_at_least_zero(rule):
    with pytest.raises(ValueError, match="margin must be at least 0"):
        rule(hr.sets.Simplex(2), margin=-1.0)


def test_gains_are_at_least_zero():
    with pytest.raises(ValueError, match="integral must be at least 0"):
        proportional_integral(hr.sets.Simplex(2), integral=-0.1)


@pytest.mark.parametrize("rule", RULES)
def test_a_refused_round_changes_nothing(rule):
    X = SETS["dag"]()
    policy = RULES[rule](X)
    plays_of(policy, random_rounds(X, 5, 0))
    before, x = policy.state()["checksum"], policy.ask()
    good = hr.first_order(hr.Linear(np.ones(X.dim)), x)
    with pytest.raises(ValueError, match=r"finite|NaN"):
        policy.tell(good, hr.feedback.EvalGrad(float("nan"), np.ones(X.dim)))
    assert policy.state()["checksum"] == before
