"""What is done today: fixed actions, static routes, equal splits, and yesterday's best."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines import (
    METHODS,
    TODAY,
    BestOfYesterday,
    best_of_yesterday,
    cheapest_path,
    ecmp,
    find_method,
    fixed,
    shortest_path,
)
from hedgerow.testing import check_policy

LAYERS = [
    ("s", "a"), ("s", "b"), ("a", "c"), ("a", "d"), ("b", "d"), ("c", "t"), ("d", "t"), ("s", "t"),
]  # fmt: skip


def paths():
    return hr.sets.DagPaths(LAYERS, "s", "t")


def routes(X):
    points = (np.array(bits, float) for bits in itertools.product((0, 1), repeat=X.dim))
    return [x for x in points if X.contains(x)]


@pytest.mark.parametrize(
    "make",
    [
        lambda: fixed(paths(), ["s", "a", "c", "t"]),
        lambda: shortest_path(paths()),
        lambda: ecmp(paths()),
        lambda: best_of_yesterday(paths(), window=7),
        lambda: shortest_path(hr.sets.Simplex(3)),
    ],
)
def test_they_are_policies(make):
    check_policy(make)


def test_a_fixed_action_never_moves():
    X = paths()
    problem = hr.RecordedProblem(X, [(hr.Linear(np.ones(X.dim)), hr.Linear(np.zeros(X.dim)))] * 5)
    x = 0.5 * X.lmo(np.arange(8.0)) + 0.5 * X.lmo(-np.arange(8.0))
    plays = [step.x for step in hr.play(fixed(X, x), problem)]
    assert all(np.array_equal(play, x) for play in plays)


def test_a_fixed_action_belongs_to_one_problem():
    with pytest.raises(ValueError, match="lies outside of the decision set"):
        fixed(paths(), np.ones(8))
    with pytest.raises(ValueError, match="no link from 'a' to 't' on a route"):
        fixed(paths(), ["s", "a", "t"])
    with pytest.raises(ValueError, match="the route a > c > t must lead from 's' to 't'"):
        fixed(paths(), ["a", "c", "t"])
    with pytest.raises(ValueError, match="Simplex has no routes"):
        fixed(hr.sets.Simplex(2), ["s", "t"])


def test_static_paths_are_the_best_of_all_paths():
    X, rng = paths(), np.random.default_rng(0)
    for _ in range(20):
        lengths = rng.uniform(0.0, 1.0, X.dim)
        least = min(float(lengths @ x) for x in routes(X))
        assert float(lengths @ shortest_path(X, lengths=lengths).ask()) == pytest.approx(least)
        assert float(lengths @ cheapest_path(X, prices=lengths).ask()) == pytest.approx(least)
    assert X.edges[int(np.argmax(shortest_path(X).ask()))] == ("s", "t"), "the fewest links"


def test_ecmp_splits_equally_at_every_node():
    X = paths()
    lengths = np.ones(8)
    lengths[7] = 3.0  # the direct link is as long as the others
    split = dict(zip(X.edges, ecmp(X, metric=lengths).ask(), strict=True))
    third = pytest.approx(1.0 / 3.0)
    assert split["s", "t"] == split["s", "a"] == split["s", "b"] == third
    assert split["a", "c"] == split["a", "d"] == pytest.approx(1.0 / 6.0)
    assert split["d", "t"] == pytest.approx(0.5)
    assert ecmp(X).ask().tolist() == [0.0] * 7 + [1.0]


def test_ecmp_where_a_link_costs_nothing_and_where_there_are_cycles():
    edges = [("s", "a"), ("a", "s"), ("a", "t"), ("s", "t")]
    X = hr.sets.UnitFlow(edges, "s", "t")
    assert ecmp(X, metric=[0.0, 0.0, 1.0, 5.0]).ask().tolist() == [1.0, 0.0, 1.0, 0.0]
    with pytest.raises(ValueError, match="Simplex has none; use DagPaths or UnitFlow"):
        ecmp(hr.sets.Simplex(3))
    with pytest.raises(ValueError, match="at least 0, got -1"):
        ecmp(X, metric=[-1.0, 0.0, 1.0, 5.0])


def test_yesterday_is_the_cheapest_that_kept_its_mean():
    X, rng = paths(), np.random.default_rng(3)
    hits = 0
    for _ in range(30):
        price, delay = rng.uniform(0.0, 1.0, (2, X.dim))
        cap = float(rng.uniform(0.2, 1.5))
        policy = BestOfYesterday(X, window=4)
        noise = 0.1 * rng.standard_normal((4, X.dim))
        for row in noise:
            x = policy.ask()
            cost, limit = hr.Linear(price), hr.Linear(delay + row, -cap)
            policy.tell(hr.first_order(cost, x), hr.first_order(limit, x))
        mean = delay + noise.mean(axis=0)
        kept = [x for x in routes(X) if float(mean @ x) <= cap]
        play = policy.ask()
        if not kept:
            assert float(mean @ play) == pytest.approx(min(float(mean @ x) for x in routes(X)))
            continue
        assert float(mean @ play) <= cap + 1e-9
        hits += float(price @ play) == pytest.approx(min(float(price @ x) for x in kept))
    assert hits >= 15, "the Lagrangian method misses only vertices inside the hull of others"


def test_it_waits_for_the_end_of_the_day():
    X = paths()
    policy = best_of_yesterday(X, window=3)
    first = policy.ask()
    dear = hr.Linear(first)
    for t in range(3):
        assert np.array_equal(policy.ask(), first), t
        policy.tell(hr.first_order(dear, first), hr.first_order(hr.Linear(np.zeros(8)), first))
    assert float(first @ policy.ask()) == 0.0


def test_experiments_know_them_but_all_leaves_them_out():
    assert set(TODAY) == {
        "shortest_path", "cheapest_path", "ecmp", "best_of_yesterday", "threshold_rule",
        "proportional_integral", "last_round",
    }  # fmt: skip
    assert not set(TODAY) & set(METHODS)
    X = paths()
    lengths = np.arange(8.0)
    built = find_method("shortest_path").policy(X, 10, 0, "practical", edges={"lengths": lengths})
    assert np.array_equal(built.ask(), X.lmo(lengths))
    plain = find_method("unconstrained").policy(X, 10, 0, "practical", edges={"lengths": lengths})
    assert plain.decision_set is X


NAMED = {
    "a route": (paths(), "s > a > c > t", [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
    "with commas": (paths(), "s, t", [0.0] * 7 + [1.0]),
    "a simplex": (hr.sets.Simplex(3), "2", [0.0, 0.0, 1.0]),
    "values": (hr.sets.Permutahedron([0.5, 0.0, 1.5]), "0: 1.5, 2: 0.5", [1.5, 0.0, 0.5]),
    "a subset": (hr.sets.KSubsets(4, 2), "0, 3", [1.0, 0.0, 0.0, 1.0]),
    "a matching": (hr.sets.Birkhoff(2), "0-1, 1-0", [0.0, 1.0, 1.0, 0.0]),
    "a tree": (hr.sets.SpanningTrees([(0, 1), (1, 2), (0, 2)]), "0-1, 0-2", [1.0, 0.0, 1.0]),
}


@pytest.mark.parametrize("what", NAMED)
def test_a_vertex_is_found_by_the_name_that_describe_gives_it(what):
    X, name, x = NAMED[what]
    assert fixed(X, name).ask().tolist() == x
    (action,) = X.describe(x)
    assert fixed(X, action.name).ask().tolist() == x


def test_a_name_that_no_vertex_has():
    with pytest.raises(ValueError, match="Simplex has no coordinate '3'; they are named as '0'"):
        fixed(hr.sets.Simplex(3), "3")
    with pytest.raises(ValueError, match="no coordinate '0-4'; they are named as '0-2'"):
        fixed(hr.sets.SpanningTrees([(0, 1), (1, 2), (0, 2)]), "0-4")
    with pytest.raises(ValueError, match="lies outside of the decision set"):
        fixed(hr.sets.KSubsets(4, 2), "0, 1, 3")
    with pytest.raises(ValueError, match="the value of coordinate '0' must be a number, got 'x'"):
        fixed(hr.sets.Simplex(3), "0: x")
