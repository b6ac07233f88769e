"""A policy needs `ask` and `tell`; all else is for policies that are saved and restored."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr


class FollowTheLeader:
    """Minimise the sum of the gradients so far: nothing but `ask` and `tell`."""

    def __init__(self, X):
        self._lmo, self._total = X.lmo, np.zeros(X.dim)

    def ask(self):
        return self._lmo(self._total)

    def tell(self, cost, constraint):
        self._total += cost.grad + max(0.0, constraint.value) * constraint.grad


PROBLEM = hr.problems.IidSimplex(n=4, horizon=60, seed=3)


def test_ask_and_tell_are_enough_to_play_and_simulate():
    X = PROBLEM.decision_set
    steps = list(hr.play(FollowTheLeader(X), PROBLEM))
    trace = hr.simulate(FollowTheLeader(X), PROBLEM)
    assert [step.cost for step in steps] == trace.costs.tolist()
    assert [step.violation for step in steps] == trace.violations.tolist()
    assert len(steps) == 60
    assert trace.oracle_calls is None
    assert not trace.compiled
    assert hr.audit(steps, PROBLEM).ok


def test_a_problem_that_reacts_plays_it_too():
    problem = hr.problems.HalfspaceBox(n=4, halfspaces=3, horizon=20, seed=1)
    trace = hr.simulate(FollowTheLeader(problem.decision_set), problem)
    assert trace.costs.size == 20


def test_games_in_a_row_and_in_threads_take_it():
    X = PROBLEM.decision_set
    games = [(FollowTheLeader(X), PROBLEM) for _ in range(2)]
    first, second = hr.games.simulate_many(games, 2)
    assert first.costs.tolist() == second.costs.tolist()


def test_its_first_decision_must_fit_the_problem():
    with pytest.raises(ValueError, match="plays in dimension 3, the problem in 4"):
        hr.play(FollowTheLeader(hr.sets.Simplex(3)), PROBLEM)
    box = hr.sets.Box(np.full(4, 2.0), np.full(4, 3.0))
    with pytest.raises(ValueError, match="first decision lies outside the problem's Simplex;"):
        hr.simulate(FollowTheLeader(box), PROBLEM)


def test_what_is_resumed_must_be_resumable(tmp_path):
    policy = FollowTheLeader(PROBLEM.decision_set)
    with pytest.raises(TypeError, match="whose snapshots can be written, got FollowTheLeader"):
        hr.games.simulate_resumable(policy, PROBLEM, tmp_path)
    with pytest.raises(TypeError, match=r"needs state\(\) and restore\(\)"):
        hr.games.simulate_many([(policy, PROBLEM)], processes=1)
