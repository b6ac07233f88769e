"""One-point play in the compiled loop: `simulate` equals `play`, bit for bit."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from test_compiled_kinds import BANDIT_ROUNDS, SETS, assert_same_bandit, bandit_rounds
from test_simulate import Rounds, bits

import hedgerow as hr
from hedgerow.baselines.garber_kretzu import garber_kretzu_2024_bandit
from hedgerow.games import simulate, simulate_chunks
from hedgerow.learners.block_rules import FixedLooBlocks
from hedgerow.learners.blocked_ogd import BlockedOGD
from hedgerow.learners.hull_coordinates import ShrunkHull
from hedgerow.learners.one_point import OnePoint
from hedgerow.policies.constrained_bandit import ConstrainedBandit, DeclaredValues
from hedgerow.protocols.trace import Trace
from hedgerow.surrogates.dual import DualSteps, DualValues

DECLARED = DeclaredValues(30.0, 200.0)
DUAL = DualSteps(block=7, theta=0.01, mu=0.5)


def practical(X):
    return garber_kretzu_2024_bandit(X, BANDIT_ROUNDS, 3, lipschitz=30.0, bound=200.0)


def composed(X, one=OnePoint, blocks=BlockedOGD, dual=DualValues, window=0):
    """Blocks of ten rounds, and a dual variable that moves within them."""
    room = ShrunkHull(X, 0.5 * X.ball()[1])
    learner = one(blocks(room, FixedLooBlocks(BANDIT_ROUNDS, 50.0, 1.0, 0.01)), 5, window)
    return ConstrainedBandit(learner, dual(DUAL), DECLARED)


@pytest.mark.parametrize("name", ["simplex", "box", "paths"])
@pytest.mark.parametrize("make", [practical, composed])
def test_one_point_play_of_any_set(name, make):
    X = SETS[name]()
    for problem in (bandit_rounds(X, 1), Rounds(X, 2)):
        played = assert_same_bandit(lambda: make(X), problem)
        assert played.oracle_calls > 0
        assert played.surrogate.largest_weight > 0.0


def test_a_run_that_is_stopped_within_a_block_is_the_same_run():
    X = SETS["simplex"]()
    problem, whole = bandit_rounds(X, 4), practical(X)
    trace = simulate(whole, problem)
    for size in (1, 7):
        one, parts = practical(X), []
        for part in simulate_chunks(one, problem, size=size):
            parts.append(part)
            if (done := sum(p.costs.size for p in parts)) >= 14:
                break
        assert done % 10, "within a block"
        restored = practical(X)
        restored.restore(one.state())
        for other in (restored, copy.copy(one), one):
            rest = list(simulate_chunks(other, problem, size=9, skip=done))
            assert Trace.joined([*parts, *rest]).costs.tobytes() == trace.costs.tobytes()
            assert bits(other.state()) == bits(whole.state())


def test_objects_and_kernels_take_turns_within_a_block():
    X = SETS["paths"]()
    mixed, slow = composed(X, window=4), composed(X, window=4)
    for k in range(4):
        game = Rounds(X, k, 21)
        (list(hr.play(mixed, game)) if k % 2 else simulate(mixed, game))
        list(hr.play(slow, game))
        assert bits(mixed.state()) == bits(slow.state())


def test_the_horizon_is_passed_with_the_same_warning():
    X = SETS["simplex"]()
    problem = Rounds(X, 0, BANDIT_ROUNDS + 20)
    with pytest.warns(UserWarning, match=f"is beyond the horizon {BANDIT_ROUNDS}"):
        fast = assert_same_bandit(lambda: practical(X), problem)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert simulate(fast, problem).compiled  # said once


@pytest.mark.parametrize("height", [np.nan, 1e101, 1e99])
def test_what_play_refuses_is_refused_in_the_same_round(height):
    X, ends = SETS["simplex"](), []
    problem = Rounds(X, 0)
    problem._all.cost_offsets[34] = height
    for game in (simulate, lambda player, rounds: list(hr.play(player, rounds))):
        policy, told = composed(X), "played"
        try:
            game(policy, problem)
        except ValueError as refusal:
            told = str(refusal)
        ends.append((told, bits(policy.state())))
    assert ends[0] == ends[1]
    assert (ends[0][0] == "played") == (height == 1e99)


class Straight(OnePoint):
    """Does not perturb its play."""

    def _around(self, x):
        return self._shrunk.inside.point(x)


class Slower(BlockedOGD):
    """Halves every gradient."""

    def _add(self, grad):
        super()._add(0.5 * grad)


class Stern(DualValues):
    """Never weighs by less than 1."""

    def _charge(self, value):
        return max(1.0, super()._charge(value))


def test_what_changes_a_part_is_played_by_the_objects():
    X = SETS["simplex"]()
    for parts in ({"one": Straight}, {"blocks": Slower}, {"dual": Stern}):
        assert not simulate(composed(X, **parts), Rounds(X, 3)).compiled
    assert simulate(composed(X), Rounds(X, 3)).compiled
