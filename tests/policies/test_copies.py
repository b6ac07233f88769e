"""Whoever looks at a policy, copies it or restores it leaves its plays as they are, bit for bit."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.methods import METHODS
from hedgerow.policies.method import Constants
from hedgerow.sets.balls.boxes import Box
from hedgerow.sets.balls.l1_l2_balls import L2Ball
from hedgerow.sets.compositions.polytope import Polytope
from hedgerow.sets.compositions.product import Product
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.paths.dag_paths import DagPaths
from hedgerow.sets.paths.unit_flow import UnitFlow
from hedgerow.sets.simplices.simplex import Simplex
from hedgerow.sets.spectral.spectrahedra import NuclearBall
from rival_games import EDGES, random_rounds
from synthetic_games import GAMES

ROUNDS = 22
MOMENTS = (0, 10, 13)
"""Fresh, after ten rounds, and within a block for the methods that have blocks."""
SETS: dict[str, Callable[[], DecisionSet]] = {
    "simplex": lambda: Simplex(5),
    "ball": lambda: L2Ball(4, radius=3.0),
    "box": lambda: Box([-1.0, 0.0, 2.0], [1.0, 5.0, 2.0]),
    "dag": lambda: DagPaths(EDGES, 0, 4),
    "flow": lambda: UnitFlow([(0, 1), (1, 2), (2, 0), (0, 2), (2, 3), (1, 3)], 0, 3),
    "polytope": lambda: Polytope([[1.0, 2.0, 1.0]], [2.0], lower=np.zeros(3), upper=np.ones(3)),
    "product": lambda: Product(DagPaths(EDGES, 0, 4), Simplex(3)),
}
CONSTANTS = Constants((20.0, 20.0), (80.0, 80.0))


def built(method: str, preset: str, X: DecisionSet) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theory constants are vacuous at this horizon
        return METHODS[method].policy(X, ROUNDS, 3, preset, CONSTANTS)


def stored(policy: Any) -> Any:
    return json.loads(json.dumps(policy.state(), default=np.ndarray.tolist))


def restored(policy: Any, method: str, preset: str) -> Any:
    other = built(method, preset, policy.decision_set)
    other.restore(stored(policy))
    return other


@pytest.mark.parametrize("preset", ["practical", "theory"])
@pytest.mark.parametrize("method", METHODS)
def test_looked_at_copied_pickled_and_restored_policies_play_alike(
    method: str, preset: str
) -> None:
    feedback, tried = METHODS[method].feedback(CONSTANTS), 0
    for name, make in SETS.items():
        X = make()
        try:
            policy = built(method, preset, X)
        except (NotImplementedError, ValueError):
            continue  # a refusal: no capability, or a horizon too short for its constants
        rounds = random_rounds(X, ROUNDS, seed=1)

        def play(policy: Any, first: int, rounds: Any = rounds, look: bool = False) -> Any:
            plays = []
            for f, g in rounds[first:]:
                x = policy.ask()
                plays.append(x)
                if look:
                    policy.state()
                policy.tell(feedback(f, x), feedback(g, x))
            return np.array([*plays, policy.ask()])

        expected = play(policy, 0)
        looked = play(built(method, preset, X), 0, look=True)
        np.testing.assert_array_equal(looked, expected, f"{name}: looking changes the play")
        for moment in MOMENTS:
            original = built(method, preset, X)
            for f, g in rounds[:moment]:
                x = original.ask()
                original.tell(feedback(f, x), feedback(g, x))
            twins = {
                "copy": copy.copy(original),
                "deepcopy": copy.deepcopy(original),
                "pickle": pickle.loads(pickle.dumps(original)),
                "restore": restored(original, method, preset),
                "original": original,
            }
            for way, twin in twins.items():
                plays = play(twin, moment)
                np.testing.assert_array_equal(plays, expected[moment:], f"{name}, {way}, {moment}")
                assert stored(twin) == stored(policy), f"{name}, {way}, {moment}: the state differs"
                tried += 1
    assert tried or preset == "theory"


def test_a_warm_eigenvector_is_part_of_the_snapshot() -> None:
    """Above order 50 the oracle starts from its last answer."""
    X = NuclearBall(60, 55)
    rounds = random_rounds(X, 6, seed=2)
    feedback = METHODS["projection_free_coco"].feedback()
    policy, looked = (built("projection_free_coco", "practical", X) for _ in range(2))
    for f, g in rounds:
        x = policy.ask()
        twin = pickle.loads(pickle.dumps(looked))
        for one in (policy, looked, twin):
            one.tell(feedback(f, x), feedback(g, x))
        np.testing.assert_array_equal(looked.ask(), policy.ask())
        np.testing.assert_array_equal(twin.ask(), policy.ask())


def test_a_copy_shares_nothing_but_the_set() -> None:
    policy = built("projection_free_coco", "practical", Simplex(5))
    twin = copy.deepcopy(policy)
    assert twin.decision_set is policy.decision_set
    assert twin.policy is not policy.policy
    inner, other = twin.plain, policy.plain
    assert inner.surrogate.ranges.learner is inner.learner is not other.learner


PROBLEMS: dict[str, Callable[[], Any]] = {
    **{name: partial(make, 1, 40) for name, make in GAMES.items()},
    "hard_box": lambda: hr.problems.HardBox(horizon=40, seed=1),
    "drifting_subsets": lambda: hr.problems.DriftingSubsets(horizon=40, seed=1),
    "shortest_path": lambda: hr.ShortestPath.random_network(nodes=20, edges=60, horizon=40, seed=1),
    "ranking": lambda: hr.problems.Ranking(horizon=40, seed=1),
    "ad_slots": lambda: hr.problems.AdSlots(horizon=40, seed=1),
    "caching": lambda: hr.problems.Caching(horizon=40, seed=1),
    "optimal_transport": lambda: hr.problems.OptimalTransport(horizon=40, seed=1),
    "sensor_coverage": lambda: hr.problems.SensorCoverage(horizon=40, seed=1),
    "job_sequencing": lambda: hr.problems.JobSequencing(horizon=40, seed=1),
    "portfolio": lambda: hr.problems.Portfolio.low_volatility(relatives(), cap=2.0, window=5),
    "log_portfolio": lambda: hr.problems.LogPortfolio(relatives()),
    "recorded": lambda: hr.RecordedProblem(Simplex(5), random_rounds(Simplex(5), 20, 1)),
}


def relatives() -> Any:
    return np.exp(0.02 * np.random.default_rng(1).standard_normal((40, 6)))


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_and_traces_copy_and_pickle(name: str) -> None:
    problem = PROBLEMS[name]()
    policy = hr.projection_free_coco(problem.decision_set)
    trace = hr.simulate(copy.deepcopy(policy), problem)
    for twin in (copy.copy(problem), copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))):
        again = hr.simulate(copy.deepcopy(policy), twin)
        np.testing.assert_array_equal(again.costs, trace.costs)
        np.testing.assert_array_equal(again.violations, trace.violations)
    kept = pickle.loads(pickle.dumps(trace))
    np.testing.assert_array_equal(kept.costs, trace.costs)
    assert kept.oracle_calls == trace.oracle_calls
