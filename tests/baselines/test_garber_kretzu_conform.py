"""Garber and Kretzu's learner and policies keep the contracts, and have no units."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.garber_kretzu import (
    garber_kretzu_2024_bandit,
    garber_kretzu_2024_dpp,
    garber_kretzu_2024_lpm,
)
from hedgerow.baselines.penalty_prox import PenaltyProx
from hedgerow.learners.block_rules import FixedLooBlocks, PracticalLooBlocks
from hedgerow.learners.blocked_ogd import BlockedOGD
from hedgerow.testing import check_learner, check_policy
from pulling_games import SETS, linear_rounds, plays

FACTORS = [(2.0**9, 2.0**-7), (2.0**-20, 2.0**13)]


@pytest.mark.parametrize("factors", FACTORS)
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    ("make", "feedback"),
    [
        (garber_kretzu_2024_dpp, hr.feedback.full_information),
        (garber_kretzu_2024_lpm, hr.first_order),
    ],
)
def test_practical_plays_have_no_units(make, feedback, name, factors):
    X, T = SETS[name](), 144
    rounds = list(linear_rounds(X, T, seed=4))
    other = [
        tuple(
            hr.Linear(k * h.coefficients, k * h.offset) for k, h in zip(factors, pair, strict=True)
        )
        for pair in rounds
    ]
    xs = plays(make(X, T), rounds, feedback)
    assert (xs == plays(make(X, T), other, feedback)).all()
    assert len(np.unique(xs.round(6), axis=0)) > 3


def test_the_bandits_plays_have_no_units():
    X, T = hr.sets.Simplex(4), 144
    rounds = list(linear_rounds(X, T, seed=4))

    def run(a, b):
        policy = garber_kretzu_2024_bandit(X, T, 3, lipschitz=(a, b), bound=(2 * a, 2 * b))
        xs = []
        for f, g in rounds:
            xs.append(policy.ask())
            policy.tell(
                hr.feedback.Eval(a * f(xs[-1]), a, 2 * a),
                hr.feedback.Eval(b * g(xs[-1]), b, 2 * b),
            )
        return np.array(xs)

    assert (run(1.0, 1.0) == run(2.0**8, 2.0**-5)).all()


LEARNERS = {
    "paper": lambda X: BlockedOGD(X, FixedLooBlocks(36, 1.0)),
    "fixed": lambda X: BlockedOGD(X, FixedLooBlocks(36, 1.0, 1.0, 0.5)),
    "practical": lambda X: BlockedOGD(X, PracticalLooBlocks(36, 1.0, 0.5)),
}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", SETS)
def test_the_learner_conforms(name, learner):
    check_learner(lambda: LEARNERS[learner](SETS[name]()), oracle_calls_per_round=None)


def theory(make):
    def build(X):
        with pytest.warns(hr.VacuousConstantsWarning):
            return make(X, 40, preset="theory", lipschitz=3.0)

    return build


POLICIES = {
    "dpp": (partial(garber_kretzu_2024_dpp, horizon=40), hr.feedback.full_information),
    "dpp-theory": (theory(garber_kretzu_2024_dpp), hr.feedback.full_information),
    "dpp-moving": (
        lambda X: PenaltyProx(X, FixedLooBlocks(40, 1.0, 1.0, 0.1), 1.0),
        hr.feedback.full_information,
    ),
    "lpm": (partial(garber_kretzu_2024_lpm, horizon=40), hr.first_order),
    "lpm-theory": (theory(garber_kretzu_2024_lpm), hr.first_order),
    "bandit": (
        lambda X: garber_kretzu_2024_bandit(X, 40, 3, lipschitz=2.0, bound=1.0),
        partial(hr.bandit, lipschitz=2.0, bound=1.0),
    ),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", SETS)
def test_the_policies_conform(name, policy):
    make, feedback = POLICIES[policy]
    check_policy(lambda: make(SETS[name]()), rounds=16, feedback=feedback)


@pytest.mark.parametrize("make", [garber_kretzu_2024_dpp, garber_kretzu_2024_lpm])
def test_a_set_of_one_point_is_played(make):
    X = hr.sets.Simplex(1)
    rounds = [(hr.Linear([1.0]), hr.Linear([1.0], -2.0))] * 10
    assert (
        plays(
            make(X, 10),
            rounds,
            hr.feedback.full_information if make is garber_kretzu_2024_dpp else hr.first_order,
        )
        == 1.0
    ).all()
