"""The feasible leader: against its definition, its memory, its fallback, the contract."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.feasible_leader import follow_the_leader_feasible
from hedgerow.testing import check_policy
from rival_games import SETS, plays_of, random_rounds, rescaled_plays

DESCRIBED = [name for name, make in SETS.items() if make().supports(hr.sets.HasLinearDescription)]


@pytest.mark.parametrize("name", DESCRIBED)
def test_it_conforms(name):
    check_policy(lambda: follow_the_leader_feasible(SETS[name]()), rounds=6)


@pytest.mark.parametrize("name", ["simplex", "k-subsets"])
def test_it_is_the_best_of_what_was_seen(name):
    """Each play costs what the best fixed action costs on the rounds before it."""
    X = SETS[name]()
    rng = np.random.default_rng(1)
    kept = X.start()
    rounds = []
    for _ in range(12):
        a, b = rng.standard_normal((2, X.dim))
        rounds.append((hr.Linear(a), hr.Linear(b, -float(b @ kept) - 0.05)))
    plays = plays_of(follow_the_leader_feasible(X), rounds)
    for t in range(1, 12):
        best = hr.hindsight(X, rounds[:t])
        assert sum(f(plays[t]) for f, _ in rounds[:t]) == pytest.approx(best.cost, abs=1e-6)
        assert max(g(plays[t]) for _, g in rounds[:t]) <= 1e-8


def test_constraints_that_exclude_each_other_are_broken_least():
    X = hr.sets.Box([0.0], [1.0])
    policy = follow_the_leader_feasible(X)
    for g in (hr.Linear([1.0], -0.2), hr.Linear([-1.0], 0.6)):  # x <= 0.2 and x >= 0.6
        x = policy.ask()
        policy.tell(hr.first_order(hr.Linear([1.0]), x), hr.first_order(g, x))
    assert policy.ask() == pytest.approx([0.4])


def test_a_full_memory_forgets_what_has_most_room():
    X = hr.sets.Box([0.0, 0.0], [1.0, 1.0])
    policy = follow_the_leader_feasible(X, most_rows=2)
    cost = hr.Linear([-1.0, -1.0])
    limits = [hr.Linear([1.0, 0.0], -0.9), hr.Linear([1.0, 0.0], -0.5), hr.Linear([0.0, 1.0], -0.3)]
    for g in limits:
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(g, x))
    np.testing.assert_allclose(policy.ask(), [0.5, 0.3], atol=1e-9)  # 0.9 was forgotten


def test_powers_of_two_leave_the_plays_bit_for_bit():
    X = SETS["dag"]()
    rounds = random_rounds(X, 15, seed=2)
    own = plays_of(follow_the_leader_feasible(X), rounds)
    other = rescaled_plays(follow_the_leader_feasible(X), rounds, 2.0**30, 2.0**-20)
    np.testing.assert_array_equal(own, other)


def test_a_set_without_rows_is_refused():
    with pytest.raises(NotImplementedError, match="has no rows"):
        follow_the_leader_feasible(hr.sets.L2Ball(3))
