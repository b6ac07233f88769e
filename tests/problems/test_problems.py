from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from synthetic_games import GAMES


@pytest.mark.parametrize("game", GAMES)
def test_the_feasible_point_satisfies_every_round_and_something_violates(game):
    for seed in range(3):
        problem = GAMES[game](seed, 200)
        z = problem.feasible
        assert problem.decision_set.contains(z)
        policy = hr.unconstrained(problem.decision_set)
        rounds = list(problem.rounds(policy)) if not problem.adaptive else []
        violated = 0
        if problem.adaptive:
            for cost, constraint in problem.rounds(policy):
                x = policy.ask()
                policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
                rounds.append((cost, constraint))
                violated += constraint(x) > 0
        else:
            violated = sum(step.violation > 0 for step in hr.play(policy, problem))
        assert len(rounds) == problem.horizon
        assert all(g(z) <= 1e-12 for _, g in rounds)
        assert violated > 10, "the constraint must bind on a policy that ignores it"


@pytest.mark.parametrize("game", ["iid_simplex", "switching_ball", "quadratic_box"])
def test_the_same_seed_gives_the_same_rounds(game):
    x = GAMES[game](5, 30).decision_set.lmo(np.arange(1.0, 1.0 + GAMES[game](5, 30).n))
    once, again, other = ([(f(x), g(x)) for f, g in GAMES[game](seed, 30)] for seed in (5, 5, 6))
    assert once == again
    assert once != other


@pytest.mark.parametrize(
    "problem",
    [
        hr.problems.IidSimplex(horizon=50),
        hr.problems.IidLinear(hr.sets.L1Ball(4), horizon=50),
        hr.problems.SwitchingBall(horizon=50),
    ],
)
def test_chunks_are_the_rounds(problem):
    whole = next(iter(problem.chunks(50)))
    for size in (1, 7, 50, 99):
        pieces = list(problem.chunks(size))
        for i in range(4):
            np.testing.assert_array_equal(np.concatenate([p[i] for p in pieces]), whole[i])


def test_adaptive_problems_need_a_policy():
    problem = hr.problems.OrthogonalBall(horizon=5)
    with pytest.raises(TypeError, match="cannot be iterated alone"):
        iter(problem)
    with pytest.raises(TypeError, match=r"use rounds\(policy\)"):
        next(problem.rounds())


def test_play_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="dimension 3, the problem in 20"):
        hr.play(hr.unconstrained(hr.sets.Simplex(3)), hr.problems.IidSimplex(horizon=5))
    policy = hr.ftpl_coco(hr.sets.L2Ball(10), 5, seed=0)
    with pytest.raises(ValueError, match="reacts to the plays"):
        hr.play(policy, hr.problems.OrthogonalBall(horizon=5))


def test_the_trace_adds_up():
    problem = hr.problems.IidSimplex(horizon=40, seed=1)
    trace = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
    steps = list(hr.play(hr.projection_free_coco(problem.decision_set), problem))
    assert [step.t for step in steps] == list(range(1, 41))
    assert trace.cost == pytest.approx(sum(step.cost for step in steps))
    assert trace.ccv == pytest.approx(sum(max(0.0, step.violation) for step in steps))
    assert trace.signed_ccv == pytest.approx(sum(step.violation for step in steps))
    assert 40 <= trace.oracle_calls <= 42  # and a few for certificates
    assert trace.seconds > 0.0
    best = hr.hindsight(problem)
    assert trace.regret(best) == pytest.approx(trace.cost - best.cost)


def test_steps_beyond_the_horizon_warn_once():
    learner = hr.learners.AdaptiveOCG(hr.sets.Simplex(2), hr.learners.steps.PaperSteps(3))
    loss = hr.feedback.EvalGrad(0.0, np.array([1.0, 0.0]))
    for _ in range(3):
        learner.tell(loss)
    with pytest.warns(UserWarning, match="round 4 is beyond the horizon 3"):
        learner.tell(loss)
    for _ in range(5):
        learner.tell(loss)  # warnings are errors here: a second one would fail


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"preset": "fast"}, "'practical' or 'theory', got 'fast'"),
        ({"preset": "theory"}, "needs a horizon"),
        ({"preset": "theory", "horizon": 100}, "needs lipschitz"),
        ({"preset": "theory", "horizon": 5, "lipschitz": 1.0}, "at least 8"),
        ({"preset": "theory", "horizon": 9, "violation_unit": 1.0}, "takes no violation_unit"),
        ({"preset": "theory", "horizon": 9, "lipschitz": -1.0}, "lipschitz must be above 0"),
        ({"preset": "theory", "horizon": 9, "lipschitz": [1.0, 2.0, 3.0]}, "a pair"),
        ({"lipschitz": 1.0}, "lipschitz=1.0 has no effect any more"),
        ({"violation_unit": 1.0}, "violation_unit=1.0 has no effect any more"),
        ({"violation_budget": 1.0}, "violation_budget=1.0 has no effect any more"),
        ({"benchmark_budget": 1.0}, "benchmark_budget=1.0 has no effect any more"),
    ],
)
def test_presets_refuse_in_a_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        hr.projection_free_coco(hr.sets.Simplex(3), **arguments)


def test_long_term_keeps_the_signed_sum():
    problem = hr.ShortestPath.random_network(nodes=40, edges=150, horizon=1500, seed=1)
    X, total = problem.decision_set, problem.horizon * problem.threshold
    signed = hr.simulate(hr.projection_free_long_term(X), problem)
    hard = hr.simulate(hr.projection_free_coco(X), problem)
    blind = hr.simulate(hr.unconstrained(X), problem)
    assert signed.signed_ccv < 0.02 * total < blind.signed_ccv
    assert hard.ccv < signed.ccv < blind.ccv, "slack pays for violation in the signed policy only"


def test_invalid_problems_sets_and_feedback_are_refused_in_a_sentence():
    policy = hr.projection_free_coco(hr.sets.Simplex(3))
    with pytest.raises(TypeError, match=r"become one with RecordedProblem\(decision_set, rounds\)"):
        hr.play(policy, [])
    with pytest.raises(TypeError, match="plays on a DecisionSet, got 3"):
        hr.projection_free_coco(3)
    with pytest.raises(TypeError, match=r"was given as Eval; observe it with first_order\(f, x\)"):
        policy.tell(hr.feedback.Eval(1.0, 1.0, 1.0), hr.feedback.Eval(1.0, 1.0, 1.0))
    for horizon in (-5, "abc"):
        with pytest.raises((TypeError, ValueError), match="horizon must be"):
            hr.unconstrained(hr.sets.Simplex(3), horizon)
    with pytest.raises(ValueError, match="more than one point"):
        hr.projection_free_coco(hr.sets.Simplex(1), 100, preset="theory", lipschitz=1.0)


def test_no_regret_against_an_infeasible_benchmark():
    X = hr.sets.Simplex(2)
    rounds = [(hr.Linear([1.0, 0.0]), hr.Linear([1.0, 1.0], 1.0))]
    trace = hr.simulate(hr.projection_free_coco(X), hr.RecordedProblem(X, rounds))
    best = hr.hindsight(X, rounds)
    assert best.status == "infeasible"
    with pytest.raises(ValueError, match="there is no regret"):
        trace.regret(best)


def test_simulate_shows_what_the_feedback_shows():
    problem = hr.ShortestPath.random_network(nodes=12, edges=30, horizon=40, seed=1)
    trace = hr.simulate(
        hr.semi_bandit_coco(problem.decision_set, 40, seed=0), problem, feedback=hr.semi_bandit
    )
    assert trace.oracle_calls is not None
    assert len(trace.costs) == 40
