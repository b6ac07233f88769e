"""Series, frames and mappings: matched with the names of coordinates, never by position."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.baselines.methods import METHODS
from hedgerow.feedback import EvalGrad
from hedgerow.policies.method import Constants

NAMES = ["rail", "road", "sea", "air"]
X = hr.sets.Simplex(4)
NAMED = X.named(NAMES)
COST = np.array([3.0, 1.0, 2.0, 4.0])
ORDERS = st.permutations(range(4))


def series(values, order=range(4)):
    return pd.Series(values, index=NAMES).iloc[[*order]]


@given(order=ORDERS)
def test_a_set_takes_a_series_in_any_order(order):
    labelled = series(COST, order)
    for given_ in (labelled, labelled.to_dict()):
        np.testing.assert_array_equal(NAMED.lmo(given_), X.lmo(COST))
        np.testing.assert_array_equal(NAMED.project(given_), X.project(COST))
        assert not NAMED.contains(given_)
    np.testing.assert_array_equal(NAMED.lmo(COST), X.lmo(COST))


@given(order=ORDERS, other=ORDERS)
def test_functions_match_the_point_and_give_back_its_labels(order, other):
    x = np.array([0.1, 0.2, 0.3, 0.4])
    matrix = pd.DataFrame(np.diag([1.0, 2.0, 3.0, 4.0]) + 1.0, index=NAMES, columns=NAMES)
    mixed = matrix.iloc[[*other], [*order]]
    pairs = [
        (hr.Linear(series(COST, order), 1.0), hr.Linear(COST, 1.0)),
        (hr.Quadratic(mixed, series(COST, order)), hr.Quadratic(matrix.to_numpy(), COST)),
        (hr.Quadratic.distance(series(COST, order)), hr.Quadratic.distance(COST)),
        (hr.Maximum([hr.Linear(series(COST, order))]), hr.Linear(COST)),
    ]
    for labelled, plain in pairs:
        assert labelled(series(x, other)) == pytest.approx(plain(x), rel=1e-14)
        slope = labelled.grad(series(x, other))
        assert [*slope.index] == [NAMES[k] for k in other]
        np.testing.assert_allclose(slope[NAMES], plain.grad(x), rtol=1e-14)


def test_labels_on_one_side_alone_are_refused():
    words = r"has labels \('rail', 'road', 'sea', 'air'\), and the coordinates here have none; name"
    for use in (X.lmo, X.project, lambda s: hr.learners.OGD(X, start=s)):
        with pytest.raises(TypeError, match=words):
            use(series(COST))
    with pytest.raises(TypeError, match=words):
        hr.Linear(COST)(series(COST))
    with pytest.raises(TypeError, match=r"the function has labels, from 'rail' on, and x has none"):
        hr.Linear(series(COST))(X.start())
    policy = hr.projection_free_coco(X)
    with pytest.raises(TypeError, match=f"the gradient of the cost {words}"):
        policy.tell(EvalGrad(1.0, series(COST)), EvalGrad(0.0, COST))
    assert policy.summary().rounds == 0
    # 0, 1, 2, ... is the index of an array; in another order it is one of its own.
    np.testing.assert_array_equal(X.lmo(pd.Series(COST)), X.lmo(COST))
    with pytest.raises(TypeError, match="has labels"):
        X.lmo(pd.Series(COST, index=[3, 1, 2, 0]))


@pytest.mark.parametrize(
    ("index", "says"),
    [
        (["rail", "road", "see", "air"], "has the label 'see', which no coordinate has; did"),
        (["rail", "road", "sea"], "has no entry for 'air'; give one for each of 4 coordinates"),
        (["rail", "road", "sea", "sea"], "must name each coordinate once, got 'sea' twice"),
    ],
)
def test_wrong_labels_are_named(index, says):
    with pytest.raises(ValueError, match=f"the direction {says}"):
        NAMED.lmo(pd.Series(range(len(index)), index=index, dtype=float))


def test_labels_of_a_set_are_as_many_as_coordinates_and_all_different():
    with pytest.raises(ValueError, match="one label for each of 4 coordinates, got 2"):
        X.named(["a", "b"])
    with pytest.raises(ValueError, match="the labels must name each coordinate once, got 'a'"):
        X.named(["a", "b", "a", "c"])
    assert X.labels is None, "the set itself is not changed"


def test_edges_have_names_by_themselves():
    U = hr.sets.UnitFlow([("s", "a"), ("a", "t"), ("s", "t")], "s", "t")
    assert U.labels == ("s - a", "a - t", "s - t")
    by_edge = pd.Series({("s", "t"): 5.0, ("a", "t"): 1.0, ("s", "a"): 1.0})
    assert U.series(U.lmo(by_edge)).to_dict() == {"s - a": 1.0, "a - t": 1.0, "s - t": 0.0}
    twice = hr.sets.UnitFlow([("s", "t"), ("s", "t")], "s", "t")
    assert twice.labels is None, "parallel edges need names of their own"


def test_a_decision_is_a_series():
    x = NAMED.series(hr.projection_free_coco(NAMED).ask())
    assert x.to_dict() == dict.fromkeys(NAMES, 0.25)
    x["rail"] = 7.0  # a copy
    assert [*X.series(X.start()).index] == [0, 1, 2, 3]


def test_bounds_and_relatives_name_the_coordinates():
    box = hr.sets.Box(series(np.zeros(4)), series(np.ones(4), [2, 0, 3, 1]))
    assert box.labels == tuple(NAMES)
    frame = pd.DataFrame(np.full((5, 4), 1.01), columns=NAMES)
    problem = hr.problems.Portfolio(frame, series([1.0, 0.0, 0.0, 0.0], [3, 2, 1, 0]), cap=0.4)
    assert problem.decision_set.labels == tuple(NAMES)
    np.testing.assert_array_equal(problem.exposures, [1.0, 0.0, 0.0, 0.0])


def test_a_named_set_is_the_same_set():
    """Names are no argument: a snapshot of a policy fits whatever its coordinates are called."""
    policy = hr.projection_free_coco(NAMED)
    policy.restore(hr.projection_free_coco(X).state())
    assert policy.decision_set.labels == tuple(NAMES)


GRADIENTS = [name for name, method in METHODS.items() if method.sees != "values"]


@pytest.mark.parametrize("name", GRADIENTS)
def test_every_policy_learns_the_same_from_series(name):
    """In another order in each round; a method that ignored labels would go another way."""
    method, constants = METHODS[name], Constants((3.0, 3.0), (3.0, 3.0))
    plain, labelled = (method.policy(S, 50, 0, "practical", constants) for S in (X, NAMED))
    rng, observe = np.random.default_rng(1), plain.feedback
    for _ in range(5):
        a, b, order = rng.uniform(size=4), rng.uniform(size=4), rng.permutation(4)
        x = plain.ask()
        np.testing.assert_allclose(labelled.ask(), x, rtol=1e-12, atol=1e-15)
        plain.tell(*(observe(f, x) for f in (hr.Linear(a), hr.Linear(b, -0.3))))
        at = series(labelled.ask(), rng.permutation(4))
        labelled.tell(
            observe(hr.Linear(series(a, order)), at), observe(hr.Linear(series(b, order), -0.3), at)
        )
    np.testing.assert_allclose(labelled.ask(), plain.ask(), rtol=1e-12, atol=1e-15)


def frames(rounds=40):
    rng = np.random.default_rng(0)
    costs = pd.DataFrame(rng.uniform(size=(rounds, 4)), columns=NAMES)
    return costs, pd.DataFrame(rng.uniform(size=(rounds, 4)), columns=NAMES)[NAMES[::-1]]


def test_rounds_of_rows_name_the_set_and_run_compiled():
    costs, loads = frames()
    rounds = [
        (hr.Linear(c), hr.Linear(g, -0.4)) for c, g in zip(costs.iloc, loads.iloc, strict=True)
    ]
    problem = hr.RecordedProblem(X, rounds)
    assert problem.decision_set.labels == tuple(NAMES)
    plain = hr.RecordedProblem(
        X,
        [
            (hr.Linear(c), hr.Linear(g, -0.4))
            for c, g in zip(costs.to_numpy(), loads[NAMES].to_numpy(), strict=True)
        ],
    )
    traces = [hr.simulate(hr.projection_free_coco(p.decision_set), p) for p in (problem, plain)]
    assert traces[0].compiled
    np.testing.assert_array_equal(traces[0].costs, traces[1].costs)
    np.testing.assert_array_equal(traces[0].violations, traces[1].violations)
    assert hr.hindsight(problem).cost == hr.hindsight(plain).cost


def test_rounds_with_other_labels_are_refused_by_number():
    costs, loads = frames(2)
    rounds = [(hr.Linear(costs.iloc[0]), hr.Linear(loads.iloc[0].rename({"sea": "ship"})))]
    with pytest.raises(ValueError, match=r"the constraint of round 1 has the label 'ship'"):
        hr.RecordedProblem(NAMED, rounds)


def test_a_problem_of_ones_own_cannot_run_in_another_order():
    class Own(hr.Problem):
        decision_set, horizon = NAMED, 3

        def rounds(self, policy=None):  # noqa: ARG002
            f = hr.Linear(series(COST, [3, 2, 1, 0]))
            return iter([(f, f)] * 3)

    with pytest.raises(TypeError, match="the function has labels, from 'air' on, and x has none"):
        hr.simulate(hr.projection_free_coco(NAMED), Own())


def test_nothing_of_this_imports_pandas():
    code = (
        "import sys, hedgerow as hr\nX = hr.sets.Simplex(2).named(['a', 'b'])\n"
        "print(X.lmo({'b': 1.0, 'a': 2.0}), hr.Linear({'a': 1.0, 'b': 2.0})({'b': 1.0, 'a': 0.0}),"
        " 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[0. 1.] 2.0 False\n"


def test_sets_made_of_named_sets_keep_the_names():
    S = hr.sets
    X, Y = S.Simplex(3).named(["a", "b", "c"]), S.Simplex(2).named(["d", "e"])
    kept = [
        S.Scaled(X, 2.0),
        S.Translated(X, [1.0, 2.0, 3.0]),
        S.HalfspaceCut(X, [1.0, 0.0, 0.0], 0.5),
        S.AffineImage(X, np.diag([1.0, 2.0, 3.0])),
        S.MinkowskiSum(X, X),
    ]
    assert [made.labels for made in kept] == [("a", "b", "c")] * len(kept)
    assert S.AffineImage(X, [[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]]).labels == ("b", "a")
    assert S.Product(X, Y).labels == ("a", "b", "c", "d", "e")
    for mixed in (S.AffineImage(X, np.ones((2, 3))), S.Product(X, X), S.Product(X, S.Simplex(2))):
        assert mixed.labels is None
    paths = S.Scaled(S.DagPaths([("s", "m"), ("m", "t"), ("s", "t")], "s", "t"), 2.0)
    assert paths.labels == ("s - m", "m - t", "s - t")
