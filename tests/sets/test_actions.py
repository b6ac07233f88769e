"""Plays as actions: named routes, trees and pairs, rounded, and as whole weights."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.sets import Actions
from hedgerow.sets.actions import Action

EDGES = [("Oslo", "Bergen"), ("Bergen", "Riga"), ("Oslo", "Turku"), ("Turku", "Riga"),
         ("Bergen", "Turku"), ("Oslo", "Riga")]  # fmt: skip


def mixture(X, rng, count=5):
    vertices = [X.lmo(rng.standard_normal(X.dim)) for _ in range(count)]
    return rng.dirichlet(np.ones(count)) @ np.array(vertices)


SETS = [
    hr.sets.DagPaths(EDGES, "Oslo", "Riga"),
    hr.sets.UnitFlow([*EDGES, ("Riga", "Oslo")], "Oslo", "Riga"),
    hr.sets.SpanningTrees(EDGES),
    hr.sets.Matchings(EDGES),
    hr.sets.Birkhoff(3),
    hr.sets.KSubsets(6, 2),
    hr.sets.Simplex(4),
]


@pytest.mark.parametrize("X", SETS, ids=lambda X: type(X).__name__)
def test_actions_make_up_the_play(X):
    rng = np.random.default_rng(0)
    for _ in range(10):
        x = mixture(X, rng)
        actions = X.describe(x)
        assert sum(a.share for a in actions) == pytest.approx(1.0)
        assert np.allclose(actions.x, x, atol=1e-8)
        shares = [a.share for a in actions]
        assert shares == sorted(shares, reverse=True)
        assert len({a.name for a in actions}) == len(actions)


def test_routes_are_named_from_source_to_target():
    X = SETS[0]
    for action in X.routes(mixture(X, np.random.default_rng(1))):
        nodes = action.name.split(" > ")
        assert (nodes[0], nodes[-1]) == ("Oslo", "Riga")
        used = {EDGES[e] for e in np.flatnonzero(action.x)}
        assert used == set(pairwise(nodes))


def test_cycles_beside_a_route_are_named_too():
    edges = [("s", "t"), ("a", "b"), ("b", "a"), ("s", "a"), ("b", "t")]
    X = hr.sets.UnitFlow(edges, "s", "t")
    (action,) = X.routes(X.lmo([-1.0, -1.0, -1.0, 5.0, 5.0]))
    assert action.name == "s > t + a > b > a"


def test_trees_and_pairs_have_the_names_of_their_nodes():
    (tree,) = hr.sets.SpanningTrees([("a", "b"), ("b", "c")]).describe([1.0, 1.0])
    assert tree.name == "a-b, b-c"
    (pairs,) = hr.sets.Birkhoff(2).describe([0.0, 1.0, 1.0, 0.0])
    assert pairs.name == "0-1, 1-0"
    (chosen,) = hr.sets.KSubsets(4, 2).describe([0.0, 1.0, 0.0, 1.0])
    assert chosen.name == "1, 3"


def test_a_set_of_your_own_is_decomposed_through_its_oracle():
    class Segment(hr.DecisionSet):
        dim = 1

        def lmo(self, c):
            return np.array([float(c[0] < 0.0)])

    assert [round(action.share, 9) for action in Segment().describe([0.25])] == [0.75, 0.25]


def made(shares):
    return Actions(tuple(Action(s, f"r{i}", np.eye(len(shares))[i]) for i, s in enumerate(shares)))


@given(
    st.lists(st.floats(0.001, 1.0), min_size=1, max_size=12),
    st.integers(1, 1000),
)
def test_weights_are_whole_and_sum_exactly(raw, total):
    shares = sorted((s / sum(raw) for s in raw), reverse=True)
    actions = made(shares)
    weights = actions.weights(total)
    assert sum(weights.values()) == total
    assert all(isinstance(w, int) and w > 0 for w in weights.values())
    for i, share in enumerate(shares):
        assert abs(weights.get(f"r{i}", 0) - total * share) < 1.0 + 1e-9
    played = actions.weighted(total)
    assert sum(a.share for a in played) == pytest.approx(1.0)
    assert played.moved == pytest.approx(0.5 * np.abs(played.x - actions.x).sum(), abs=1e-12)


def test_largest_remainders_are_raised():
    assert made([0.336, 0.334, 0.33]).weights(100) == {"r0": 34, "r1": 33, "r2": 33}
    assert made([0.5, 0.3, 0.2]).weights(1) == {"r0": 1}


def test_rounding_says_what_it_costs():
    X = SETS[0]
    x = mixture(X, np.random.default_rng(2), 8)
    actions = X.routes(x)
    two = actions.rounded(2)
    assert len(two) == 2
    assert two.moved == pytest.approx(1.0 - actions[0].share - actions[1].share)
    assert two[0].share / two[1].share == pytest.approx(actions[0].share / actions[1].share)
    assert X.contains(two.x)
    price = hr.Linear(np.arange(6.0))
    assert two.change(price, x) == pytest.approx(price(two.x) - price(x))
    assert actions.rounded(100).moved == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ValueError, match="most must be"):
        actions.rounded(0)
