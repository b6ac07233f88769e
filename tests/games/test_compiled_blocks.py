"""Policies of blocks in the compiled loop: `simulate` equals `play`, bit for bit."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pytest
import test_compiled_kinds as kinds
from test_simulate import PROJECTING, ROUNDS, SETS, Rounds, assert_same_game, bits

import hedgerow as hr
from hedgerow.baselines.garber_kretzu import garber_kretzu_2024_dpp, garber_kretzu_2024_lpm
from hedgerow.baselines.normalised import Normalised
from hedgerow.baselines.penalty_prox import PenaltyProx
from hedgerow.games import simulate, simulate_chunks
from hedgerow.learners.block_rules import FixedLooBlocks, PracticalLooBlocks
from hedgerow.learners.blocked_ogd import BlockedOGD
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.protocols.trace import Trace
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.dual import DualSteps, DualSurrogate
from pulling_games import linear_rounds

STEPS = FixedLooBlocks(ROUNDS, 1.0, 1.0, 0.02)
POLICIES: dict[str, Callable[[DecisionSet], Any]] = {
    "dpp": partial(garber_kretzu_2024_dpp, horizon=ROUNDS),
    "dpp with units": lambda X: PenaltyProx(X, STEPS, 1.5),
    "lpm": partial(garber_kretzu_2024_lpm, horizon=ROUNDS),
    "lpm with units": lambda X: ConstrainedPolicy(
        BlockedOGD(X, STEPS), DualSurrogate(DualSteps(block=3, theta=0.1, mu=0.5))
    ),
}
"""The last one's dual variable moves within the learner's blocks of seven rounds."""


@pytest.mark.parametrize("name", [*SETS, "larger graph"])
@pytest.mark.parametrize("policy", POLICIES)
def test_blocks_of_any_set(policy, name):
    X = {**SETS, **PROJECTING}[name]()
    assert_same_game(partial(POLICIES[policy], X), Rounds(X, 7))


@pytest.mark.parametrize("make", [garber_kretzu_2024_dpp, garber_kretzu_2024_lpm])
def test_the_papers_graph(make):
    problem = hr.ShortestPath.random_network(nodes=30, edges=100, horizon=200, seed=1)
    assert_same_game(lambda: make(problem.decision_set, 200), problem)


@pytest.mark.parametrize("policy", ["lpm", "lpm with units"])
def test_rounds_of_other_kinds(policy):
    for name in ("simplex", "box", "paths"):
        X = kinds.SETS[name]()
        for problem in (kinds.drawn(X, 3), kinds.drawn(X, 4, maxima=True)):
            assert_same_game(partial(POLICIES[policy], X), problem)
    problems = [kinds.traffic(**options) for options in kinds.TRAFFIC.values()]
    for problem in (*problems, *kinds.REACTING):
        assert_same_game(partial(POLICIES[policy], problem.decision_set), problem)


@pytest.mark.parametrize("policy", POLICIES)
def test_costs_and_constraints_pull(policy):
    """Rounds by which the play moves and the weight grows, or equal bits would show little."""
    X = SETS["simplex"]()
    problem = hr.RecordedProblem(X, list(linear_rounds(X, ROUNDS, seed=3)))
    assert_same_game(partial(POLICIES[policy], X), problem)
    player = POLICIES[policy](X)
    xs = [step.x for step in hr.play(player, problem)]
    assert len(np.unique(xs, axis=0)) >= 4
    inner = player.policy if isinstance(player, Normalised) else player
    if isinstance(inner, ConstrainedPolicy):
        assert inner.surrogate.largest_weight > 0.0


@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_that_is_stopped_within_a_block_is_the_same_run(policy):
    X, make = PROJECTING["larger graph"](), POLICIES[policy]
    problem, whole = Rounds(X, 4), make(X)
    trace = simulate(whole, problem)
    for size in (1, 5, 12):
        one, parts = make(X), []
        for part in simulate_chunks(one, problem, size=size):
            parts.append(part)
            if (done := sum(p.costs.size for p in parts)) >= 10:
                break
        assert done % 7, "within a block"
        restored = make(X)
        restored.restore(one.state())
        for other in (restored, copy.copy(one), pickle.loads(pickle.dumps(one)), one):
            rest = list(simulate_chunks(other, problem, size=size, skip=done))
            joined = Trace.joined([*parts, *rest])
            assert joined.costs.tobytes() == trace.costs.tobytes()
            assert joined.violations.tobytes() == trace.violations.tobytes()
            assert joined.oracle_calls == trace.oracle_calls
            assert bits(other.state()) == bits(whole.state())


@pytest.mark.parametrize("policy", POLICIES)
def test_objects_and_kernels_take_turns_within_a_block(policy):
    X = SETS["paths"]()
    mixed, slow = POLICIES[policy](X), POLICIES[policy](X)
    games = [hr.RecordedProblem(X, list(islice(Rounds(X, seed), 5))) for seed in range(6)]
    for k, game in enumerate(games):
        if k % 2:
            list(hr.play(mixed, game))
        else:
            assert simulate(mixed, game).compiled
        list(hr.play(slow, game))
        assert bits(mixed.state()) == bits(slow.state())


def test_curved_constraints_and_maxima_may_stand_in_a_block():
    X = hr.sets.L2Ball(3)
    curved = [(hr.Linear(np.ones(3)), hr.Quadratic.distance([0.4, 0.0, 0.1], 2.0, -0.3))]
    parts = [hr.Linear([1.0, 0.0, 0.0], -0.1), hr.Linear([0.0, 1.0, 0.0], -0.1)]
    maxima = [(hr.Linear(-np.ones(3)), hr.Maximum(parts))]
    mixed, slow = (garber_kretzu_2024_dpp(X, ROUNDS) for _ in range(2))
    for rounds in (curved, maxima):
        problem = hr.RecordedProblem(X, rounds * 2)
        assert not simulate(mixed, problem).compiled
        assert simulate(mixed, Rounds(X, 5, 18)).compiled
        list(hr.play(slow, problem))
        list(hr.play(slow, Rounds(X, 5, 18)))
        assert mixed.ask().tobytes() == slow.ask().tobytes()
    assert bits(simulated := mixed.state()) == bits(slow.state())
    assert simulated["parts"]["policy"]["parts"]["constraints"]["layout"]["values"] == 40 % 7


@pytest.mark.parametrize("policy", POLICIES)
def test_the_horizon_is_passed_with_the_same_warning(policy):
    X = SETS["simplex"]()
    fast, slow = POLICIES[policy](X), POLICIES[policy](X)
    problem = Rounds(X, 0, ROUNDS + 20)
    for game in (partial(simulate, fast), lambda rounds: list(hr.play(slow, rounds))):
        with pytest.warns(UserWarning, match=f"round {ROUNDS + 1} is beyond the horizon {ROUNDS}"):
            game(problem)
    assert bits(fast.state()) == bits(slow.state())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert simulate(fast, problem).compiled  # said once


def _not_a_number(chunk):
    chunk.constraints[30, 2] = np.nan


def _steep(chunk):
    chunk.costs[30] = 1e99  # flat along the set, so it is told times a large factor


def _high(chunk):
    chunk.constraint_offsets[30] = 1e200


@pytest.mark.parametrize("spoil", [_not_a_number, _steep, _high])
@pytest.mark.parametrize("policy", POLICIES)
def test_what_play_refuses_is_refused_in_the_same_round(policy, spoil):
    X = SETS["simplex"]()
    problem, ends = Rounds(X, 0), []
    spoil(problem._all)
    for game in (simulate, lambda player, rounds: list(hr.play(player, rounds))):
        player, told = POLICIES[policy](X), "played"
        try:
            game(player, problem)
        except ValueError as refusal:
            told = str(refusal)
        ends.append((told, bits(player.state())))
    assert ends[0] == ends[1]
    assert spoil is _steep or ends[0][0] != "played"


class Doubling(PenaltyProx):
    """Tells every round twice."""

    def tell(self, cost, constraint):
        super().tell(cost, constraint)
        super().tell(cost, constraint)


class Deaf(Normalised):
    """Tells nothing."""

    def tell(self, cost, constraint, *, at=None):
        del cost, constraint, at


class Slower(BlockedOGD):
    """Halves every gradient."""

    def _add(self, grad):
        super()._add(0.5 * grad)


class Stern(DualSurrogate):
    """Never weighs by less than 1."""

    def _charge(self, value):
        return max(1.0, super()._charge(value))


class Reversed(hr.sets.Simplex):
    """Another oracle, without a kernel."""

    def lmo(self, c):
        return super().lmo(np.asarray(c)[::-1])[::-1].copy()


def test_what_changes_a_part_is_played_by_the_objects():
    X, dual = SETS["simplex"](), DualSteps(3, 0.1, 0.5)
    practical = PracticalLooBlocks(10**4)
    changed = [
        (Doubling(X, STEPS, 1.0), hr.feedback.full_information),
        (Normalised(Doubling(X, practical, 1.0)), hr.feedback.full_information),
        (Deaf(PenaltyProx(X, STEPS, 1.0)), hr.feedback.full_information),
        (PenaltyProx(Reversed(5), practical, 1.0), hr.feedback.full_information),
        (ConstrainedPolicy(Slower(X, STEPS), DualSurrogate(dual)), hr.first_order),
        (ConstrainedPolicy(BlockedOGD(X, STEPS), Stern(dual)), hr.first_order),
        (ConstrainedPolicy(BlockedOGD(Reversed(5), STEPS), DualSurrogate(dual)), hr.first_order),
    ]
    for policy, feedback in changed:
        problem = Rounds(policy.decision_set, 0, 15)
        assert not simulate(policy, problem, feedback).compiled, policy
    with pytest.raises(TypeError, match="learns from Full feedback"):
        simulate(garber_kretzu_2024_dpp(X, 99), Rounds(X, 0), hr.first_order)


def test_units_within_units_are_compiled_too():
    X, practical = SETS["simplex"](), PracticalLooBlocks(10**4)
    assert_same_game(lambda: Normalised(Normalised(PenaltyProx(X, practical, 1.0))), Rounds(X, 0))
    assert_same_game(lambda: Normalised(hr.projection_free_coco(X, tracking=False)), Rounds(X, 0))


def test_a_learner_that_moved_without_its_policy_is_refused():
    X = SETS["simplex"]()
    policy = POLICIES["lpm with units"](X)
    for _ in range(7):
        policy.learner.tell(hr.feedback.EvalGrad(0.0, np.arange(5.0)))
    with pytest.raises(RuntimeError, match="moved without its policy"):
        simulate(policy, Rounds(X, 0))


def test_a_rule_of_ones_own_for_the_dual_variable_is_refused_not_ignored():
    class Doubling(DualSteps):
        def next(self, lam, violation):
            return 2.0 * lam + violation

    with pytest.raises(TypeError, match=r"Doubling has a rule next\(\) of its own"):
        DualSurrogate(Doubling(3, 0.1, 0.5))
