"""The policy that benchmarks have in NumPy is the library's: else their ratios would say nothing.

Where columns that differ in little have shares the oracle has ties, which rounding decides. On
paths they come after some ten rounds.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr

BY_HAND = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "by_hand.py"))
BALL, BOX = hr.sets.L2Ball(40), hr.sets.Box(np.full(30, -1.0), np.full(30, 2.0))


def game(X, offset, rounds=100):
    """Return random rounds; offset is added to all constraints."""
    rng = np.random.default_rng(1)
    costs, constraints = (
        rng.standard_normal((rounds, X.dim)) + rng.standard_normal(X.dim) for _ in range(2)
    )
    offsets = offset + 0.2 * rng.standard_normal(rounds)
    return X, hr.problems.LinearChunk(costs, rng.standard_normal(rounds), constraints, offsets)


def paths():
    problem = hr.ShortestPath.random_network(40, 120, 12, seed=3)
    return problem.decision_set, next(problem.chunks(12))


@pytest.mark.parametrize("made", [game(BALL, 1.0), game(BALL, 7.0), game(BOX, 0.0), paths()])
def test_the_benchmark_by_hand_plays_the_policy_of_the_library(made):
    X, table = made
    rounds = list(hr.RecordedProblem(X, list(table.rounds())))
    policy, hand = hr.projection_free_coco(X), BY_HAND["Master"](X, X.lmo)
    cost = ccv = 0.0
    for (f, g), b in zip(rounds, table.constraint_offsets, strict=True):
        x = policy.ask()
        assert np.abs(hand.x - x).max() < 1e-6
        cost, ccv = cost + f(x), ccv + max(0.0, g(x))
        policy.tell(hr.first_order(f, x), hr.first_order(g, x))
        hand.tell(f.coefficients, g.coefficients, b, g(x) > 0.0)
    found = BY_HAND["play_by_hand"](X, table, X.lmo, len(rounds))
    assert found == (pytest.approx(cost, rel=1e-6), pytest.approx(ccv, rel=1e-6))
    assert ccv > 0.0
