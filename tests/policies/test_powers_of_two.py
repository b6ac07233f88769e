"""Methods that say so play the same points, bit for bit, in units that are powers of two."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.methods import METHODS

WORDS = ("power of two", "`Normalised`")
SAYING = [
    name
    for name, method in METHODS.items()
    if method.sees in ("gradients", "parts")
    and any(words in " ".join((inspect.getdoc(method.build) or "").split()) for words in WORDS)
]


def plays(method, problem, a=1.0, b=1.0):
    policy, points = method.policy(problem.decision_set, problem.horizon, 0, "practical"), []
    for cost, constraint in problem:
        x = policy.ask()
        points.append(x)
        f, g = hr.first_order(cost, x), hr.first_order(constraint, x)
        policy.tell(
            hr.feedback.EvalGrad(a * f.value, a * f.grad),
            hr.feedback.EvalGrad(b * g.value, b * g.grad),
        )
    return np.array(points)


def test_some_do():
    assert {"projection_free_coco", "wang_2025", "garber_kretzu_2024_lpm"} <= set(SAYING)


@pytest.mark.parametrize(("i", "j"), [(1, 0), (0, -3), (40, -55)])
@pytest.mark.parametrize("name", SAYING)
def test_the_plays_are_the_same(name, i, j):
    problem = hr.problems.IidSimplex(n=6, horizon=80, seed=5)
    expected = plays(METHODS[name], problem)
    found = plays(METHODS[name], problem, 2.0**i, 2.0**j)
    np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("name", SAYING)
def test_other_factors_are_not_promised_to_the_last_bit(name):
    """Else the docstrings could say more than they do."""
    problem = hr.problems.IidSimplex(n=6, horizon=80, seed=5)
    found = plays(METHODS[name], problem, 3.0, 0.1)
    assert (found != plays(METHODS[name], problem)).any()
