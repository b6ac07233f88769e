"""Games built to hurt: they do what they promise, and what the search found stays bounded."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from scipy.optimize import linprog

import hedgerow as hr
from hedgerow.games.game_search import PATIENCE, evaluate_game, worst_game, worst_game_steps
from hedgerow.games.linear_game import LinearGame, ccv, hindsight_regret, regret, regret_ratio
from hedgerow.learners import steps
from hedgerow.problems.lower_bounds import CyclicArms, FreshCoordinates, RandomSigns, SteadyPush


def plain(X, steps):
    return hr.ConstrainedPolicy(
        hr.learners.AdaptiveOCG(X, steps), hr.surrogates.CostOnlySurrogate()
    )


def leader(X):
    """Follow the leader: the perturbed one, with next to no perturbation."""
    return hr.ConstrainedPolicy(
        hr.learners.FTPL(X, 0, hr.learners.GaussianNoise(factor=1e-9)),
        hr.surrogates.CostOnlySurrogate(),
    )


CONSTRUCTIONS = {
    "random signs": lambda T: RandomSigns(
        hr.sets.Simplex(3), np.array([1.0, -1.0, 0.0]), T, seed=1
    ),
    "cyclic arms": lambda T: CyclicArms(4, T),
    "steady push": lambda T: SteadyPush(2, T),
    "fresh coordinates": lambda T: FreshCoordinates(T, seed=1),
}


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_constructions_have_their_feasible_point_and_chunks_are_the_rounds(name):
    game = CONSTRUCTIONS[name](50)
    assert game.decision_set.contains(game.feasible)
    assert all(g(game.feasible) <= 0.0 for _, g in game)
    whole = next(iter(game.chunks(50)))
    for size in (1, 7, 99):
        pieces = list(game.chunks(size))
        for i in range(4):
            np.testing.assert_array_equal(np.concatenate([p[i] for p in pieces]), whole[i])


def every_sign(game):
    """The same game with every sequence of signs."""
    rows = next(iter(game.chunks(game.horizon)))
    for signs in itertools.product([-1.0, 1.0], repeat=game.horizon):
        yield rows, np.array(signs)


@pytest.mark.parametrize(
    "make",
    [hr.projection_free_coco, hr.unconstrained, leader, partial(hr.ftpl_coco, horizon=6, seed=3)],
)
def test_random_signs_cost_every_learner_the_same(make):
    X, c = hr.sets.Simplex(3), np.array([2.0, -1.0, 0.0])
    game = RandomSigns(X, c, horizon=6)
    regrets = []
    for rows, signs in every_sign(game):
        costs = np.outer(signs, c)
        chunk = hr.problems.LinearChunk(costs, rows[1], rows[2], rows[3])
        trace = hr.simulate(make(X), hr.RecordedProblem(X, chunk.rounds()))
        regrets.append(trace.cost - X.minimum(costs.sum(axis=0)))
    assert np.mean(regrets) == pytest.approx(game.expected_regret, rel=1e-12)
    assert 3.0 * np.sqrt(6 / 8) <= game.expected_regret <= 3.0 * np.sqrt(6) / 2


@pytest.mark.parametrize(
    "make", [hr.projection_free_coco, hr.projection_free_long_term, hr.unconstrained, leader]
)
def test_fresh_coordinates_force_the_trade_off(make):
    game = FreshCoordinates(horizon=6, width=0.5)
    X, sums = game.decision_set, []
    for rows, signs in every_sign(game):
        limits = -rows.costs * signs[:, None]
        problem = hr.RecordedProblem(
            X, hr.problems.LinearChunk(rows[0], rows[1], limits, rows[3]).rounds()
        )
        trace = hr.simulate(make(X), problem)
        best = -0.5 * np.count_nonzero(signs < 0.0)
        sums.append(trace.cost - best + 2.0 * trace.ccv)
    assert np.mean(sums) == pytest.approx(game.trade_off, rel=1e-12)
    assert hr.hindsight(problem).cost == pytest.approx(best)


@pytest.mark.parametrize("n", [2, 5])
def test_cyclic_arms_ruin_the_leader_and_not_conditional_gradient(n):
    game = CyclicArms(n, horizon=800)
    X, best = game.decision_set, hr.hindsight(game)
    assert best.cost <= (game.horizon - 1) / n + 1.0
    assert hr.simulate(leader(X), game).regret(best) >= game.leader_regret
    for rule in (
        steps.PaperSteps(800),
        steps.RmsSteps(),
        steps.CertificateSteps(),
    ):
        assert hr.simulate(plain(X, rule), game).regret(best) < 0.1 * game.leader_regret


def test_a_steady_push_costs_the_papers_steps_their_rate_and_the_others_nothing():
    for T in (100, 1000):
        game = SteadyPush(3, T)
        X = game.decision_set
        regrets = [
            hr.simulate(plain(X, steps), game).cost + T
            for steps in (
                steps.PaperSteps(T),
                steps.RmsSteps(),
                steps.CertificateSteps(),
            )
        ]
        assert game.paper_regret <= regrets[0] <= 2.0 * T**0.75
        assert max(regrets[1:]) < 10.0


GAMES = {
    "simplex": LinearGame(hr.sets.Simplex(4), 40),
    "ball": LinearGame(hr.sets.L2Ball(3), 40, cost_bound=2.0, constraint_bound=0.5, share=0.2),
    "subsets": LinearGame(hr.sets.KSubsets(4, 2), 40, share=0.0),
}


@pytest.mark.parametrize("name", GAMES)
def test_every_sequence_keeps_its_bounds_and_its_comparators_feasible(name):
    game = GAMES[name]
    X = game.decision_set
    found = worst_game(lambda _: hr.projection_free_coco(X), game, ccv, seed=1, evaluations=80)
    for rounds in (found.rounds, *(game.draw(np.random.default_rng(i)) for i in range(20))):
        assert np.linalg.norm(rounds.costs, axis=1).max() <= game.cost_bound * (1.0 + 1e-12)
        assert np.linalg.norm(rounds.constraints, axis=1).max() <= game.constraint_bound + 1e-12
        rng = np.random.default_rng(0)
        u = [X.lmo(rng.standard_normal(X.dim)) for _ in range(50)]
        u = game.centre + game.share * (np.array(u) - game.centre)
        u = np.vstack([u, game.centre, game.comparator(rounds)])
        assert (rounds.constraints @ u.T + rounds.constraint_offsets[:, None]).max() <= 1e-12
        costs = u @ rounds.costs.sum(axis=0)
        assert costs[-1] <= costs.min() + 1e-12


def test_regret_against_the_comparators_is_a_lower_bound_and_can_be_a_loose_one():
    differences = {}
    for share in (0.5, 1.0):
        game = LinearGame(ARMS, 40, share=share)
        differences[share] = []
        for seed in range(20):
            rounds = game.draw(np.random.default_rng(seed))
            exact, bound = (
                evaluate_game(lambda _: hr.unconstrained(ARMS), game, rounds, objective)
                for objective in (hindsight_regret, regret)
            )
            table = (rounds.constraints, -rounds.constraint_offsets, np.ones((1, 5)), [1.0])
            best = linprog(rounds.costs.sum(axis=0), *table, bounds=(0.0, 1.0)).fun
            cheap = rounds.costs.sum(axis=0) @ game.comparator(rounds)
            assert exact - bound == pytest.approx(cheap - best, abs=1e-6)
            differences[share].append(exact - bound)
    assert min(differences[0.5]) >= -1e-6
    assert max(differences[0.5]) > 1.0
    assert max(np.abs(differences[1.0])) <= 1e-6


def test_a_share_of_one_forbids_nothing():
    game = LinearGame(hr.sets.Simplex(4), 30, share=1.0)
    found = worst_game(
        lambda _: hr.unconstrained(hr.sets.Simplex(4)), game, ccv, seed=0, evaluations=20
    )
    assert found.value <= 1e-12


def theory(X, T):
    with pytest.warns(hr.VacuousConstantsWarning):
        return hr.projection_free_coco(X, T, preset="theory", lipschitz=1.0)


BALL, ARMS = hr.sets.L2Ball(3), hr.sets.Simplex(5)
FREE = {X: LinearGame(X, 60, share=1.0) for X in (BALL, ARMS)}
HALF = {X: LinearGame(X, 60) for X in (BALL, ARMS)}
KEPT = {  # policy, game, objective, seed, evaluations, value
    "paper steps": (
        lambda _: plain(BALL, steps.PaperSteps(60)), FREE[BALL], regret_ratio, 0, 120, 0.69206
    ),
    "rms steps": (
        lambda _: plain(ARMS, steps.RmsSteps()), FREE[ARMS], regret_ratio, 0, 120, 0.28304
    ),
    "certificate steps": (
        lambda _: plain(ARMS, steps.CertificateSteps()), FREE[ARMS], regret_ratio, 0, 120, 0.42095
    ),
    "practical, regret": (
        lambda _: hr.projection_free_coco(ARMS), HALF[ARMS], regret_ratio, 0, 120, 0.11846
    ),
    "practical, violation": (
        lambda _: hr.projection_free_coco(BALL), HALF[BALL], ccv, 0, 120, 3.27870
    ),
    "theory, violation": (
        lambda _: theory(ARMS, 60), HALF[ARMS], ccv, 0, 60, 6.98956
    ),
    "long term, regret": (
        lambda _: hr.projection_free_long_term(ARMS), HALF[ARMS], regret_ratio, 0, 120, 0.19343
    ),
}  # fmt: skip
"""Bad sequences that the search found, kept by what makes them.

A policy that does much worse, or better, on its own worst case must be looked at again. Another
machine's rounding may lead the search elsewhere, hence the 5 percent; on one machine it is exact.
"""


@pytest.mark.parametrize("name", KEPT)
def test_kept_sequences_are_made_again_and_certificates_hold_on_them(name):
    make, game, objective, seed, evaluations, value = KEPT[name]
    found = worst_game(make, game, objective, seed=seed, evaluations=evaluations)
    assert found.value == pytest.approx(value, rel=0.05)
    assert found.value > found.random_value
    assert evaluate_game(make, game, found.rounds, objective) == found.value

    X, policy = game.decision_set, make(0)
    steps = list(hr.play(policy, found.problem))
    assert all(X.contains(step.x) for step in steps)
    cost = sum(step.cost for step in steps)
    best = game.comparator(found.rounds)
    assert all(g(best) <= 1e-12 for _, g in found.problem)
    assert cost - sum(f(best) for f, _ in found.problem) <= policy.certificate()
    if X.supports(hr.sets.HasLinearDescription):
        assert cost - hr.hindsight(found.problem).lower_bound <= policy.certificate() + 1e-6


def test_the_search_is_fixed_by_its_seed_and_only_ever_gains():
    game = LinearGame(ARMS, 30)
    given = {"evaluations": 60, "draws": 2}
    make = partial(hr.ftpl_coco, ARMS, 30)
    first = list(worst_game_steps(make, game, regret, seed=4, **given))
    again = worst_game(make, game, regret, seed=4, **given)
    other = worst_game(make, game, regret, seed=5, **given)
    assert [found.evaluations for found in first] == list(range(1, 61))
    assert all(a.value <= b.value for a, b in itertools.pairwise(first))
    assert first[14].value == first[14].random_value == first[-1].random_value
    assert first[-1].value == again.value != other.value
    for one, two in zip(first[-1].rounds, again.rounds, strict=True):
        np.testing.assert_array_equal(one, two)
    assert evaluate_game(make, game, again.rounds, regret, draws=2) == again.value


def test_the_search_starts_anew_when_nothing_helps():
    """On a single point nothing can be gained, so every step is stale."""
    point, drawn = hr.sets.ConvexHull(np.zeros((1, 2))), 0

    class Counted(LinearGame):
        def draw(self, rng):
            nonlocal drawn
            drawn += 1
            return super().draw(rng)

    found = worst_game(
        lambda _: hr.unconstrained(point),
        Counted(point, 2),
        regret,
        seed=0,
        evaluations=4 * PATIENCE,
    )
    assert found.value == 0.0
    assert drawn == PATIENCE + 2


def test_bandits_are_searched_through_their_own_feedback():
    game = LinearGame(BALL, 30)
    given = {"lipschitz": 1.0, "bound": 2.0}
    found = worst_game(
        lambda draw: hr.projection_free_bandit(BALL, 30, draw, **given),
        game,
        ccv,
        seed=0,
        evaluations=30,
        draws=2,
        feedback=partial(hr.bandit, **given),
    )
    assert found.value >= found.random_value > 0.0


def test_wrong_games_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match="feasible must lie in the decision set"):
        LinearGame(ARMS, 10, feasible=np.ones(5))
    with pytest.raises(ValueError, match="share must lie between 0 and 1, got 2"):
        LinearGame(ARMS, 10, share=2.0)
    with pytest.raises(ValueError, match="evaluations must be at least 1"):
        worst_game(
            lambda _: hr.unconstrained(ARMS), LinearGame(ARMS, 10), regret, seed=0, evaluations=0
        )
