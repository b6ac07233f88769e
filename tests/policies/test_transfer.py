"""Topology changes: sums, plays and units go on, the certificate is that of the rounds since."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.policies import RestrictedMaster
from hedgerow.policies.transfer import _brought, _places, _taken

EDGES = [
    ("s", "a"), ("s", "b"), ("s", "c"), ("a", "d"), ("a", "t"), ("b", "d"), ("b", "t"), ("c", "t"),
    ("d", "t"), ("a", "b"),
]  # fmt: skip
LATER = [edge for edge in EDGES if edge != ("b", "t")] + [("c", "d"), ("s", "d")]
POLICIES = {
    "plain": lambda X: hr.projection_free_coco(X, tracking=False),
    "two queues": lambda X: hr.projection_free_coco(X, tracking=False, constraints=2),
}
MASTERS = {
    "default": lambda X: hr.projection_free_coco(X),
    "two constraints": lambda X: hr.projection_free_coco(X, constraints=2),
}
SEVERAL = ("two queues", "two constraints")


def routes(X):
    points = (np.array(bits, float) for bits in itertools.product((0, 1), repeat=X.dim))
    return np.array([x for x in points if X.contains(x)])


def weather(rng, edges, rounds):
    """Prices and delays by name, so that both networks have the same weather."""
    names = sorted({*EDGES, *LATER})
    base = dict(zip(names, rng.uniform(1.0, 5.0, (len(names), 2)), strict=True))
    for _ in range(rounds):
        noise = dict(zip(names, rng.uniform(0.8, 1.2, (len(names), 2)), strict=True))
        values = np.array([base[e] * noise[e] for e in edges]).T
        yield hr.Linear(values[0]), hr.Linear(values[1], -8.5), hr.Linear(values[0], -30.0)


def played(policy, games, several):
    """Play, and return the rounds as they were."""
    seen = []
    for cost, delay, price in games:
        x = policy.ask()
        parts = (hr.first_order(delay, x), hr.first_order(price, x))
        policy.tell(hr.first_order(cost, x), parts if several else parts[0])
        seen.append((cost, delay, x))
    return seen


@pytest.mark.parametrize("name", [*POLICIES, *MASTERS])
def test_the_certificate_holds_for_the_rounds_since(name):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        several = name in SEVERAL
        policy = (POLICIES | MASTERS)[name](hr.sets.DagPaths(EDGES, "s", "t"))
        played(policy, weather(np.random.default_rng(seed), EDGES, 120), several)
        X = hr.sets.DagPaths(LATER, "s", "t")
        heir = policy.transfer(X)
        seen = played(heir, weather(rng, LATER, 120), several)
        assert heir.summary().rounds == 120
        cost = sum(f(x) for f, _, x in seen)
        at = routes(X)
        mixed = np.random.default_rng(1).dirichlet(np.ones(len(at)), 300) @ at
        kept = [x for x in (*at, *mixed) if all(g(x) <= 0.0 for _, g, _ in seen)]
        assert kept, "the game must be one that some action keeps"
        best = min(sum(f(x) for f, _, _ in seen) for x in kept)
        assert cost - best <= heir.certificate() + 1e-9 * abs(cost)
        assert not heir.certificate().no_comparator


@pytest.mark.parametrize("name", POLICIES)
def test_what_applies_goes_on(name):
    several = name == "two queues"
    old = hr.sets.DagPaths(EDGES, "s", "t")
    policy = POLICIES[name](old)
    played(policy, weather(np.random.default_rng(0), EDGES, 80), several)
    before = policy.state()
    new = hr.sets.DagPaths(LATER, "s", "t")
    heir = policy.transfer(new)
    after = policy.state()
    assert before["checksum"] == after["checksum"], "the old policy is left as it is"
    assert new.contains(heir.ask())
    was, now = policy.learner._state["S"], heir.learner._state["S"]
    for e, edge in enumerate(LATER):
        if edge in EDGES:
            assert now[e] == was[EDGES.index(edge)]
    assert heir.surrogate.largest_weight == policy.surrogate.largest_weight
    assert heir.summary().rounds == 0
    assert heir.guarantees() == ()


def test_routes_that_are_left_keep_their_shares():
    old, new = hr.sets.DagPaths(EDGES, "s", "t"), hr.sets.DagPaths(LATER, "s", "t")
    rng = np.random.default_rng(2)
    for _ in range(20):
        x = rng.dirichlet(np.ones(4)) @ np.array(
            [old.lmo(rng.standard_normal(10)) for _ in range(4)]
        )
        places = _places(old, new, None)
        sums = _taken(rng.uniform(0.0, 9.0, old.dim), places)
        moved = _brought(old, new, x, places, sums)
        assert new.contains(moved)
        best = {a.name for a in new.describe(new.lmo(sums))}
        shares = {a.name: a.share for a in old.describe(x)}
        alive = {n: s for n, s in shares.items() if "b > t" not in n and n not in best}
        # the flow of routes that are left is there still: no edge of it carries less
        for e, edge in enumerate(LATER):
            hop = f"{edge[0]} > {edge[1]}"
            least = sum(s for n, s in alive.items() if hop in n)
            assert moved[e] >= least - 1e-9


def test_nothing_changes_where_nothing_changed():
    X = hr.sets.DagPaths(EDGES, "s", "t")
    policy = hr.projection_free_coco(X, tracking=False)
    played(policy, weather(np.random.default_rng(0), EDGES, 80), False)
    heir = policy.transfer(hr.sets.DagPaths(EDGES, "s", "t"))
    assert np.array_equal(heir.ask(), policy.ask())
    assert np.array_equal(heir.learner._state["S"], policy.learner._state["S"])


def test_an_heir_is_a_policy_like_others():
    X = hr.sets.DagPaths(EDGES, "s", "t")
    policy = hr.projection_free_coco(X)
    played(policy, weather(np.random.default_rng(0), EDGES, 30), False)
    heir = policy.transfer(hr.sets.DagPaths(LATER, "s", "t"))
    again = heir.transfer(X)
    game = list(weather(np.random.default_rng(3), EDGES, 20))
    snapshot = again.state()
    first = [x for *_, x in played(again, game, False)]
    again.restore(snapshot)
    assert np.array_equal(first, [x for *_, x in played(again, game, False)])


@pytest.mark.parametrize("name", MASTERS)
def test_columns_and_rows_go_on(name):
    old, new = hr.sets.DagPaths(EDGES, "s", "t"), hr.sets.DagPaths(LATER, "s", "t")
    policy = MASTERS[name](old)
    played(policy, weather(np.random.default_rng(0), EDGES, 80), name in SEVERAL)
    before = policy.state()
    heir = policy.transfer(new)
    assert before["checksum"] == policy.state()["checksum"], "the old policy is left as it is"
    assert new.contains(heir.ask())
    assert heir.summary().rounds == 0
    assert heir.switched is None
    places = _places(old, new, None)
    kept = {
        tuple(there)
        for point, _ in policy.policy.columns()
        if new.contains(there := np.where(places >= 0, point[places], 0.0))
    }
    assert kept
    assert kept <= {tuple(point) for point, _ in heir.policy.columns()}
    was, now = policy.policy._state, heir.policy._state
    assert np.array_equal(was["born"], now["born"])
    assert was["born"].any(), "the game must be one that remembers rounds"
    for j in np.flatnonzero(was["born"]):
        for point in kept:  # on points of both sets rows say what they said
            there = np.array(point)
            back = np.zeros(old.dim)
            back[places[places >= 0]] = there[places >= 0]
            said = was["level"][j] + was["c"].reshape(-1, old.dim)[j] @ (
                back - policy.policy.origin
            )
            says = now["level"][j] + now["c"].reshape(-1, new.dim)[j] @ (there - heir.policy.origin)
            assert says == pytest.approx(said, abs=1e-9)


def test_a_master_that_moves_to_the_same_set_goes_on_as_it_was():
    X = hr.sets.DagPaths(EDGES, "s", "t")
    policy = RestrictedMaster(X)
    played(policy, weather(np.random.default_rng(0), EDGES, 80), False)
    heir = policy.transfer(hr.sets.DagPaths(EDGES, "s", "t"))
    assert heir.ask() == pytest.approx(policy.ask(), abs=1e-12)
    game = list(weather(np.random.default_rng(1), EDGES, 20))
    ours, theirs = played(policy, game, False), played(heir, game, False)
    assert np.allclose([x for *_, x in ours], [x for *_, x in theirs], atol=1e-6)


def test_a_product_is_not_carried_over():
    X = hr.sets.Product(hr.sets.Simplex(2), hr.sets.Simplex(2))
    with pytest.raises(TypeError, match="build a new policy"):
        hr.projection_free_coco(X).transfer(X, [0, 1, 2, 3])
    with pytest.raises(TypeError, match="a policy with advisers is not carried over"):
        hr.projection_free_coco(hr.sets.Simplex(2), advisers=["a"]).transfer(hr.sets.Simplex(2))


def test_what_was_learnt_pays():
    """After a harmless change the heir is cheaper than one that begins anew."""
    old = hr.sets.DagPaths(EDGES, "s", "t")
    new = hr.sets.DagPaths([*EDGES, ("c", "d")], "s", "t")
    better = 0
    for seed in range(5):
        policy = hr.projection_free_coco(old)
        game = list(weather(np.random.default_rng(seed), EDGES, 400))
        played(policy, game[:380], False)
        totals = []
        for player in (policy.transfer(new), hr.projection_free_coco(new)):
            x = player.ask()[:10]
            totals.append(sum(f(x) + 2.0 * max(0.0, g(x)) for f, g, _ in game[380:]))
        better += totals[0] <= totals[1]
    assert better >= 4


@pytest.mark.parametrize(
    ("error", "sentence", "given"),
    [
        (ValueError, "no edges to compare; give kept", (hr.sets.Simplex(3),)),
        (ValueError, "one old coordinate for each of 3 new ones", (hr.sets.Simplex(3), [0])),
        (ValueError, "must name old coordinates, -1 to 2", (hr.sets.Simplex(3), [0, 1, 7])),
        (TypeError, "transfer needs a DecisionSet", (3,)),
    ],
)
@pytest.mark.parametrize("tracking", [True, False])
def test_bad_changes_are_refused(error, sentence, given, tracking):
    with pytest.raises(error, match=sentence):
        hr.projection_free_coco(hr.sets.Simplex(3), tracking=tracking).transfer(*given)


def test_other_learners_say_that_nothing_is_carried_over():
    with pytest.raises(TypeError, match="what a FTPL has learnt is not carried over"):
        hr.ftpl_coco(hr.sets.Simplex(3), 10, seed=0).transfer(hr.sets.Simplex(3), [0, 1, 2])


def test_coordinates_may_be_named_by_hand():
    policy = hr.projection_free_coco(hr.sets.Simplex(3), tracking=False)
    for _ in range(10):
        x = policy.ask()
        policy.tell(
            hr.first_order(hr.Linear([3.0, 1.0, 2.0]), x), hr.first_order(hr.Linear([0.0] * 3), x)
        )
    heir = policy.transfer(hr.sets.Simplex(2), [1, -1])
    assert heir.learner._state["S"].tolist() == [10.0, 10.0]
    assert heir.decision_set.contains(heir.ask())
