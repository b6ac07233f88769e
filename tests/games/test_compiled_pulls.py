"""Learners that separate, in the compiled loop: `simulate` equals `play`, bit for bit."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
import test_compiled_kinds as kinds
from test_simulate import DAG, PROJECTING, ROUNDS, Centred, Rounds, assert_same_game, bits

import hedgerow as hr
from hedgerow.games import simulate, simulate_chunks
from hedgerow.learners.separation_ogd import SeparationAdaGrad, SeparationOGD
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.protocols.trace import Trace
from hedgerow.surrogates import CurrentSurrogate
from hedgerow.surrogates.potentials import PowerPotential
from pulling_games import linear_rounds

SETS = {
    **{name: PROJECTING[name] for name in ("simplex", "subsets", "box", "l1 ball", "l2 ball")},
    "paths": PROJECTING["paths"],
    "paths with dead edges": lambda: hr.sets.DagPaths([*DAG, (5, 4), (3, 6)], 0, 4),
}


def steady(X):
    """The learner of a known horizon, with a surrogate of given ranges."""
    learner = SeparationOGD(X, 10**5, 1.0)
    return ConstrainedPolicy(learner, CurrentSurrogate(PowerPotential(2.0, 3.0)))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("make", [hr.baselines.lu_bagel, steady])
def test_pulls_of_any_set(name, make):
    X = SETS[name]()
    pulling = hr.RecordedProblem(X, list(linear_rounds(X, 60, seed=3)))
    for problem in (Rounds(X, 7), pulling, kinds.drawn(X, 3)):
        assert_same_game(partial(make, X), problem)
    policy = hr.baselines.lu_bagel(X)
    simulate(policy, pulling)
    assert policy.learner.separations > 60, "some point must have been pulled"


@pytest.mark.parametrize("name", ["paths", "paths with dead edges"])
def test_the_kernel_separates_as_the_set_does(name):
    X, rng, inside = SETS[name](), np.random.default_rng(4), 0
    space = X.workspace().space
    index, numbers, links, scratch = space.arrays
    for k in range(300):
        x = X.start() + 10.0 ** rng.uniform(-12.0, 0.0) * rng.standard_normal(X.dim)
        x = X.project(x) if k % 5 == 0 else x
        expected, a = X.separate(x), np.full(X.dim, np.nan)
        space.compiled.separate(index, numbers, x, links, scratch, a)
        inside += expected is None
        np.testing.assert_array_equal(a, np.zeros(X.dim) if expected is None else expected)
    assert 60 <= inside < 200


@pytest.mark.parametrize("name", ["simplex", "paths"])
def test_chunks_of_any_size_and_a_resumed_run_are_the_same_run(name):
    X, build = SETS[name](), hr.baselines.lu_bagel
    problem, whole = Rounds(X, 4), build(X)
    trace = simulate(whole, problem)
    for size in (1, 5, 40):
        policy, parts = build(X), []
        for part in simulate_chunks(policy, problem, size=size):
            parts.append(part)
            if (done := sum(p.costs.size for p in parts)) >= 12:
                break
        stored, policy = policy.state(), build(X)
        policy.restore(stored)
        parts.extend(simulate_chunks(policy, problem, size=size, skip=done))
        assert Trace.joined(parts).costs.tobytes() == trace.costs.tobytes()
        assert bits(policy.state()) == bits(whole.state())


def test_the_horizon_is_passed_with_the_same_warning():
    X, T = hr.sets.L2Ball(3), 70
    problem, ends = Rounds(X, 0, T + 9), []
    for game in (simulate, lambda policy, rounds: list(hr.play(policy, rounds))):
        policy = ConstrainedPolicy(
            SeparationAdaGrad(X, T), CurrentSurrogate(PowerPotential(2.0, 3.0))
        )
        with pytest.warns(UserWarning, match=f"round {T + 1} is beyond the horizon {T}"):
            game(policy, problem)
        ends.append(bits(policy.state()))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert simulate(policy, problem).compiled  # said once
    assert ends[0] == ends[1]


def test_what_play_refuses_is_refused_in_the_same_round():
    X, ends = SETS["simplex"](), []
    problem = Rounds(X, 0)
    problem._all.constraints[30, 2] = np.nan
    for game in (simulate, lambda policy, rounds: list(hr.play(policy, rounds))):
        policy = hr.baselines.lu_bagel(X)
        with pytest.raises(ValueError, match="finite") as refusal:
            game(policy, problem)
        ends.append((str(refusal.value), bits(policy.state())))
    assert ends[0] == ends[1]


class Flatter(hr.sets.Simplex):
    """Claims an inner ball that it does not have: no number of pulls is enough."""

    def ball(self):
        return super().ball()[0], 10.0


def test_pulls_that_do_not_end_are_left_to_the_objects_which_say_so():
    X, ends = Flatter(5), []
    costs = hr.Linear(np.eye(5)[0] - 0.2), hr.Linear(np.zeros(5), -1.0)
    for game in (simulate, lambda policy, rounds: list(hr.play(policy, rounds))):
        policy, told = hr.baselines.lu_bagel(X), "played"
        try:
            game(policy, hr.RecordedProblem(X, [costs] * 60))
        except RuntimeError as refusal:
            told = str(refusal)
        ends.append((told, bits(policy.state())))
    assert ends[0] == ends[1]
    assert "still separates the point after" in ends[0][0]


def test_a_horizon_beyond_whole_numbers_of_64_bits():
    X = hr.sets.Simplex(3)
    with pytest.warns(hr.learners.ExpensiveRoundWarning):
        learner = SeparationOGD(X, 10**60, 1.0)
    assert learner.most_separations(learner.squeeze(1.0)) > 2**63
    for cost, _ in linear_rounds(X, 5, seed=1):
        learner.tell(hr.first_order(cost, learner.ask()))
    assert (learner.rounds, learner.separations) == (5, 5)


class Longer(SeparationAdaGrad):
    """Squeezes more."""

    def squeeze(self, t):
        return 0.5 * super().squeeze(t)


class Cutting(hr.sets.Simplex):
    """Separates otherwise, without a kernel."""

    def separate(self, y):
        a = super().separate(y)
        return None if a is None else 2.0 * a


def test_a_squeeze_of_ones_own_is_used():
    X, learners = SETS["simplex"](), []
    for kind in (SeparationAdaGrad, Longer):
        learners.append(kind(X))
        for cost, _ in linear_rounds(X, 9, seed=1):
            learners[-1].tell(hr.first_order(cost, learners[-1].ask()))
    assert not np.allclose(learners[0].ask(), learners[1].ask())


def test_what_changes_a_part_is_played_by_the_objects():
    X, surrogate = SETS["simplex"](), partial(CurrentSurrogate, PowerPotential(2.0, 3.0))
    moved = hr.sets.Translated(hr.sets.L2Ball(4), np.ones(4))
    for policy in (
        ConstrainedPolicy(Longer(X), surrogate()),
        hr.baselines.lu_bagel(Cutting(5)),
        hr.baselines.lu_bagel(Centred(5)),
        hr.baselines.lu_bagel(moved),
        hr.baselines.lu_bagel(hr.sets.SpanningTrees([(0, 1), (0, 2), (1, 2)])),
    ):
        problem = Rounds(policy.decision_set, 0)
        trace = simulate(policy, problem)
        assert not trace.compiled
        assert trace.costs.size == ROUNDS
