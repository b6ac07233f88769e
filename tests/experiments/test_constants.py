"""What theorems are told: exact where rounds are linear, and said where it was sampled."""

from __future__ import annotations

import numpy as np
import pytest
from small_experiment import TEXT, small

import hedgerow as hr
from hedgerow.baselines.methods import METHODS
from hedgerow.experiments.constants import SAMPLED_ROUNDS, known_constants
from hedgerow.experiments.executors import serial
from hedgerow.experiments.results import Results
from hedgerow.experiments.sweeps import sweep

LINEAR = {
    "simplex": lambda: hr.problems.IidSimplex(n=4, horizon=40, seed=3),
    "ball": lambda: hr.problems.SwitchingBall(n=3, horizon=40, seed=3),
    "paths": lambda: hr.ShortestPath.random_network(nodes=12, edges=30, horizon=40, seed=3),
    "ranking": lambda: hr.problems.Ranking(n=6, protected=2, horizon=40, seed=3),
}


@pytest.mark.parametrize("name", LINEAR)
def test_a_recorded_linear_game_has_the_constants_of_the_game(name):
    problem = LINEAR[name]()
    recorded = hr.RecordedProblem(problem.decision_set, problem)
    assert known_constants(recorded) == known_constants(problem)
    assert known_constants(recorded).exact


def late(rounds=SAMPLED_ROUNDS + 100):
    """Return linear rounds on a simplex whose one large value no sample sees: late, at a vertex."""
    n = 60
    costs = np.full((rounds, n), 0.01)
    costs[-1, 17] = 50.0
    constraint = hr.Linear(np.full(n, 1.0), -1.0)
    return hr.RecordedProblem(hr.sets.Simplex(n), [(hr.Linear(c), constraint) for c in costs])


def test_no_value_of_a_recorded_game_is_above_its_bound():
    known = known_constants(late())
    assert known.how == "exact: all rounds"
    assert known.constants.bound[0] == 50.0
    assert known.constants.lipschitz[0] == pytest.approx(np.hypot(50.0, 0.01 * np.sqrt(59)))


@pytest.mark.parametrize("name", [name for name, m in METHODS.items() if m.sees == "values"])
def test_a_bandit_plays_a_recorded_game_to_its_end(name):
    problem = late()
    method, known = METHODS[name], known_constants(problem)
    policy = method.policy(
        problem.decision_set, problem.horizon, 0, "practical", known.constants
    )  # fmt: skip
    trace = hr.simulate(policy, problem, method.feedback(known.constants))
    assert trace.costs.size == problem.horizon


def test_what_was_sampled_says_so():
    curved = known_constants(hr.problems.QuadraticBox(n=3, horizon=20, seed=0))
    assert not curved.exact
    assert curved.how.startswith("sampled at 8 vertices in at most 512 rounds, others may exceed")
    problem = hr.problems.QuadraticBox(n=3, horizon=20, seed=0)
    half = [(hr.Linear(np.ones(3)), constraint) for _, constraint in problem]
    mixed = known_constants(hr.RecordedProblem(problem.decision_set, half))
    assert not mixed.exact, "one side is curved"


def test_a_game_that_exceeds_sampled_constants_says_what_they_were(tmp_path, monkeypatch):
    text = TEXT.split("[[problems]]")[0].replace("[20, 21]", "[20]").replace("[60]", "[30]")
    text = text.replace('["projection_free_coco", "ftpl_coco", "unconstrained"]',
                        '["projection_free_bandit"]').replace(', "theory"', "")  # fmt: skip
    monkeypatch.setattr("hedgerow.experiments.constants.SAMPLED_ROUNDS", 0)
    experiment = small(tmp_path, text + "[[problems]]\nkind = 'quadratic_box'\nn = 3")
    tally = sweep(experiment, tmp_path / "out", serial)
    ((_, why),) = tally.failed.items()
    assert "|value| <= bound" in why
    assert why.splitlines()[-1].startswith(
        "the constants that it was given are not bounds: sampled"
    )
    assert Results(tmp_path / "out").runs == ()
