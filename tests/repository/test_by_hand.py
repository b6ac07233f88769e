"""The policy that benchmarks have in NumPy is the library's: else their ratios would say nothing.

Rounding errors grow from round to round, so games are short.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr

BY_HAND = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "by_hand.py"))


def game(X, rounds, seed, offset=0.0, slope=0.0):
    """Return random rounds; in the last third offset and slope are added to the constraint."""
    rng = np.random.default_rng(seed)
    late = np.where(np.arange(rounds) >= 2 * rounds // 3, 1.0, 0.0)
    table = hr.problems.LinearChunk(
        rng.standard_normal((rounds, X.dim)) + rng.standard_normal(X.dim),
        rng.standard_normal(rounds),
        rng.standard_normal((rounds, X.dim)),
        offset * late + 0.2 * rng.standard_normal(rounds),
    )
    table.constraints[:, 0] += slope * late * rng.choice([-1.0, 1.0], rounds)
    return table


def atlas_game(rounds):
    problem = hr.ShortestPath.random_network(40, 120, rounds, seed=3)
    return problem.decision_set, next(problem.chunks(rounds))


BALL, BOX = hr.sets.L2Ball(4), hr.sets.Box(np.full(5, -1.0), np.full(5, 2.0))
GAMES = {
    "paths": lambda: atlas_game(60),
    "ball": lambda: (BALL, game(BALL, 60, 0)),
    "guarded": lambda: (BOX, game(BOX, 60, 1)),
    "outage": lambda: (BALL, game(BALL, 60, 2, offset=20.0)),
    "steep": lambda: (BALL, game(BALL, 60, 3, slope=40.0)),
}


@pytest.mark.parametrize("name", GAMES)
def test_the_benchmark_by_hand_plays_the_policy_of_the_library(name):
    X, table = GAMES[name]()
    T = len(table.costs)
    policy = hr.projection_free_coco(X, tracking=False)
    trace = hr.simulate(policy, hr.RecordedProblem(X, list(table.rounds())))
    for rounds in (T // 2, T):
        cost, ccv = BY_HAND["play_by_hand"](X, table, X.lmo, rounds)
        size = np.abs(trace.costs[:rounds]).sum()
        assert cost == pytest.approx(trace.costs[:rounds].sum(), abs=1e-9 * size)
        violations = np.maximum(trace.violations[:rounds], 0.0)
        assert ccv == pytest.approx(violations.sum(), rel=1e-9)
    assert violations.sum() > 0.0
    assert (policy.surrogate.unavoidable > 0.0) == (name == "outage")
    assert (policy.surrogate.oracle_calls > 8) == (name in ("outage", "steep"))
    assert name != "guarded" or policy.surrogate.guard.interventions > 0
