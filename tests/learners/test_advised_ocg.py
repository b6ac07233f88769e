"""Advice: a literal transcription, the theorem in every round, and what the guard relies on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_learners_conform import SETS

from hedgerow.feedback import EvalGrad
from hedgerow.learners.advised_ocg import ADVISED, DELTA, OUTSIDE, AdvisedOCG
from hedgerow.learners.steps import APART, LOST
from hedgerow.learners.tracking_ocg import TrackingOCG
from hedgerow.sets.balls.l1_l2_balls import L2Ball
from hedgerow.sets.simplices.simplex import Simplex
from hedgerow.testing import check_learner

NAMES = ("a", "b", "c")


@pytest.mark.parametrize("name", SETS)
def test_a_learner_without_advice_conforms(name):
    check_learner(lambda: AdvisedOCG(SETS[name](), NAMES))


def game(seed, rounds, X, silent=0.4, scale=None):
    """Losses, and what each adviser says in each round: a vertex, or nothing."""
    rng = np.random.default_rng(seed)
    sizes = np.ones(rounds) if scale is None else 10.0 ** rng.uniform(-scale, scale, rounds)
    losses = sizes[:, None] * (rng.standard_normal((rounds, X.dim)) + rng.standard_normal(X.dim))
    favourites = [X.lmo(rng.standard_normal(X.dim)) for _ in NAMES]
    advice = [
        {
            name: X.lmo(rng.standard_normal(X.dim)) if rng.random() < 0.5 else favourite
            for name, favourite in zip(NAMES, favourites, strict=True)
            if rng.random() > silent
        }
        for _ in range(rounds)
    ]
    return losses, advice


def transcribed(losses, advice, X, floor=True, silent_loses=False, normalised=True):
    """Decisions and weights: AdaHedge over silent advisers, as the class describes it.

    The flags are mutants.
    """
    learner, V = TrackingOCG(X), len(NAMES) + 1
    L, Delta, t, decisions, weights = np.zeros(V), 0.0, 0, [], []
    for s, said in zip(losses, advice, strict=True):
        eta = math.log(V) / Delta if Delta > 0.0 else math.inf
        lead = L - L.min()
        q = np.exp(-eta * lead) if eta < math.inf else (lead == 0.0).astype(float)
        q /= q.sum()
        weights.append(q)
        y = learner.ask()
        points = {**said, "policy": y}
        speaks = np.array([name in points for name in (*NAMES, "policy")])
        total = q[speaks].sum() if normalised else 1.0
        rows = np.array([points.get(name, np.zeros(X.dim)) for name in (*NAMES, "policy")])
        decisions.append((q * speaks) @ rows / total)
        if said:
            t += 1
            loss = rows @ s
            mixture = (q * speaks) @ loss / q[speaks].sum()
            if not silent_loses:
                loss = np.where(speaks, loss, mixture)
            if eta < math.inf:
                z = -eta * (loss - loss.min())
                mix = loss.min() - math.log(q @ np.exp(z)) / eta
            else:
                mix = loss[q > 0.0].min()
            if eta == math.inf:
                mix = (L + loss).min() - L.min()
            Delta += max(0.0, q @ loss - mix)
            L = L + loss
            if floor and Delta > 0.0:
                deepest = Delta * math.log((V - 1) * (1.0 + t)) / math.log(V)
                L = np.minimum(L - L.min(), deepest)
        learner.tell(EvalGrad(0.0, s))
    return np.array(decisions), np.array(weights)


def played(losses, advice, X):
    learner, decisions, weights = AdvisedOCG(X, NAMES), [], []
    for s, said in zip(losses, advice, strict=True):
        learner.advise(said)
        decisions.append(learner.ask())
        weights.append(list(learner.voices.values()))
        learner.tell(EvalGrad(0.0, s))
    return np.array(decisions), np.array(weights), learner


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("X", [Simplex(4), L2Ball(3)], ids=["simplex", "ball"])
def test_it_is_the_transcription(X, seed):
    losses, advice = game(seed, 120, X)
    decisions, weights, _ = played(losses, advice, X)
    expected, expected_weights = transcribed(losses, advice, X)
    np.testing.assert_allclose(weights, expected_weights, rtol=0, atol=1e-9)
    np.testing.assert_allclose(decisions, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("mutant", ["floor", "silent_loses", "normalised"])
def test_mutants_play_otherwise(mutant):
    X = Simplex(4)
    losses, advice = game(0, 120, X)
    wrong = {"floor": False, "silent_loses": True, "normalised": False}[mutant]
    decisions, _ = transcribed(losses, advice, X, **{mutant: wrong})
    assert np.abs(decisions - played(losses, advice, X)[0]).max() > 1e-3


@given(seed=st.integers(0, 10_000), scale=st.sampled_from([None, 3.0]))
@settings(max_examples=30, deadline=None)
def test_the_theorem_holds_in_every_round(seed, scale):
    X = Simplex(3)
    losses, advice = game(seed, 60, X, scale=scale)
    learner, V = AdvisedOCG(X, NAMES), len(NAMES) + 1
    lost, variance, S = np.zeros(V), 0.0, 0.0
    for s, said in zip(losses, advice, strict=True):
        learner.advise(said)
        x, y = learner.ask(), learner.learner.ask()
        points = [*(said.get(name, x) for name in NAMES), y]
        loss, q = np.array([s @ point for point in points]), np.array(list(learner.voices.values()))
        if said:
            variance += q @ (loss - q @ loss) ** 2
            S = max(S, np.ptp(loss))
        lost += s @ x - loss
        learner.tell(EvalGrad(0.0, s))
        slack = 1e-9 * (1.0 + np.abs(losses).max())
        assert lost.max() <= learner.lost_to_voices + slack
        Delta, log = float(learner._state["numbers"][DELTA]), math.log(V)
        assert Delta <= math.sqrt(variance * log) + S * (2.0 / 3.0 * log + 1.0) + slack


def test_the_bound_is_not_idle():
    """Losses that hit the heavier adviser: the loss is a good part of Delta, and within the bound.

    The factor 2 + log(1 + T)/log(K + 1) is the price of the floor; no game is known that pays it.
    """
    X, rounds = Simplex(2), 2000
    learner, lost = AdvisedOCG(X, ["a", "b"]), np.zeros(2)
    for _ in range(rounds):
        learner.advise({"a": [1.0, 0.0], "b": [0.0, 1.0]})
        x = learner.ask()
        s = np.eye(2)[int(learner.voices["b"] > learner.voices["a"])]
        lost += s @ x - s
        learner.tell(EvalGrad(0.0, s))
        assert lost.max() <= learner.lost_to_voices + 1e-9
    assert learner._state["numbers"][ADVISED] == rounds
    assert lost.max() > 0.2 * learner._state["numbers"][DELTA]


@pytest.mark.parametrize("seed", range(3))
def test_the_guard_sees_what_the_mixture_lost_and_how_far_it_is(seed):
    """Both numbers that Theorem G's inequality has for a mixture, in every round."""
    X = Simplex(4)
    losses, advice = game(seed, 80, X)
    learner, lost = AdvisedOCG(X, NAMES), 0.0
    for s, said in zip(losses, advice, strict=True):
        learner.advise(said)
        x, leader = learner.ask(), learner.learner.leader_play
        assert learner.rule_numbers[APART] == pytest.approx(np.linalg.norm(x - leader), abs=1e-12)
        lost += float(s @ (x - leader))
        learner.tell(EvalGrad(0.0, s))
        assert learner.rule_numbers[LOST] == pytest.approx(lost, abs=1e-9)
        assert learner.ahead == pytest.approx(lost, abs=1e-9)
    assert abs(learner._state["numbers"][OUTSIDE]) > 0.1  # advice had a part in it


def test_no_weight_falls_below_the_floor():
    X, rounds = Simplex(2), 500
    learner = AdvisedOCG(X, NAMES)
    for t in range(rounds):
        learner.advise({name: [1.0, 0.0] for name in NAMES})
        learner.tell(EvalGrad(0.0, np.array([1.0, 0.0])))
        weights = np.array(list(learner.voices.values()))
        assert (weights >= weights.max() / (3.0 * (2.0 + t)) - 1e-12).all()
    assert weights[:-1].max() < 0.01


def test_advice_can_be_replaced_and_withdrawn():
    X = Simplex(3)
    learner = AdvisedOCG(X, ["plan"])
    alone = learner.ask()
    learner.advise(np.eye(3)[0])
    first = learner.ask()
    learner.advise({"plan": np.eye(3)[1]})
    assert not np.array_equal(first, learner.ask())
    learner.advise({})
    np.testing.assert_array_equal(learner.ask(), alone)
    learner.advise({"plan": None})
    np.testing.assert_array_equal(learner.ask(), alone)


@pytest.mark.parametrize(
    ("advice", "sentence"),
    [
        ({"plan": [0.5, 0.5, 0.5]}, "the advice of 'plan' is outside of the decision set"),
        ({"plan": [1.0, 0.0]}, "shape"),
        ({"plan": [np.nan, 1.0, 0.0]}, "finite"),
        ({"plam": [1.0, 0.0, 0.0]}, "there is no adviser 'plam', there are 'plan', 'lp'"),
        ([1.0, 0.0, 0.0], "there are 2 advisers; give their advice by name"),
    ],
)
def test_wrong_advice_is_refused_and_changes_nothing(advice, sentence):
    learner = AdvisedOCG(Simplex(3), ["plan", "lp"])
    learner.advise({"plan": np.eye(3)[0]})
    before = learner._state.array.copy()
    with pytest.raises(ValueError, match=sentence):
        learner.advise(advice)
    np.testing.assert_array_equal(learner._state.array, before)


def test_advice_outside_by_rounding_is_projected():
    learner = AdvisedOCG(Simplex(2), ["plan"])
    learner.advise([0.3 + 1e-9, 0.7])
    assert learner.decision_set.contains(learner.ask())


@pytest.mark.parametrize("names", [[], ["a", "a"], ["policy"], [3]])
def test_wrong_names_are_refused(names):
    with pytest.raises(ValueError, match=r"advisers must be|name of the policy"):
        AdvisedOCG(Simplex(2), names)
