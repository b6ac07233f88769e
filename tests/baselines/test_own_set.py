"""A set of the user's own, known by its oracle alone, with every method of the library."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.methods import METHODS, TODAY
from hedgerow.policies.method import Constants

KNOWN = Constants((2.0, 2.0), (4.0, 4.0))
T = 12


class Triangle(hr.DecisionSet):
    """Shares of three parts, with the least that a set must have."""

    dim = 3

    def lmo(self, c):
        return np.eye(3)[int(np.argmin(c))]


class OracleAlone(Triangle):
    """The same, for an oracle too slow to be called many times per round."""

    def supports(self, capability):  # noqa: ARG002
        return False


def play(method, X):
    rng = np.random.default_rng(0)
    rounds = [
        (hr.Linear(rng.uniform(0.0, 1.0, 3)), hr.Linear(rng.uniform(-1.0, 1.0, 3), -0.1))
        for _ in range(T)
    ]
    policy = method.policy(X, T, 7, "practical", KNOWN)
    feedback = getattr(policy, "feedback", None) or method.feedback(KNOWN)
    return list(hr.play(policy, hr.RecordedProblem(X, rounds), feedback))


NEEDS_ROWS = {"follow_the_leader_feasible"}
"""Methods that solve a linear programme over the set, which no oracle describes."""
NEEDS = {
    "projection": "project(y)",
    "hull": "hull()",
    "separation": "separate()",
    "rows": "rows()",
}


@pytest.mark.parametrize("name", METHODS)
def test_dim_and_oracle_are_enough_for_every_method_but_a_linear_programme(name):
    if name in NEEDS_ROWS:
        with pytest.raises(NotImplementedError, match=r"Triangle has no rows\(\)"):
            play(METHODS[name], Triangle())
        return
    steps = play(METHODS[name], Triangle())
    assert len(steps) == T
    assert all(hr.sets.Simplex(3).contains(step.x, 1e-7) for step in steps)


@pytest.mark.parametrize("name", METHODS)
def test_a_set_that_offers_its_oracle_alone_is_played_or_refused_by_the_name_of_the_operation(name):
    operation = NEEDS_BY_METHOD.get(name)
    if operation is None:
        assert len(play(METHODS[name], OracleAlone())) == T
        return
    with pytest.raises((ValueError, NotImplementedError)) as refusal:
        play(METHODS[name], OracleAlone())
    assert "OracleAlone has no" in str(refusal.value)
    assert NEEDS[operation] in str(refusal.value)


NEEDS_BY_METHOD = {
    **dict.fromkeys(NEEDS_ROWS, "rows"),
    **dict.fromkeys(
        (
            "sinha_vaze_2024", "sarkar_sinha_2025", "sarkar_np_ogd", "ferreira_clasp", "guo_recoo",
            "yi_2023", "yi_2021", "yu_neely_2020", "liakopoulos_cold", "yuan_lamperski_2018",
            "sun_safe", "jenatton_2016", "mahdavi_2012",
        ),
        "projection",
    ),
    "lu_bagel": "separation",
    **dict.fromkeys(
        ("projection_free_bandit", "wang_2025_bandit", "garber_kretzu_2024_bandit"), "hull"
    ),
}  # fmt: skip


class KnownTriangle(Triangle):
    """The same, with what the library's simplex says of itself, but none of its operations."""

    zero_one = True
    diameter = 2.0**0.5
    pyramidal_width = hr.sets.Simplex(3).pyramidal_width

    def tangent(self, c):
        return c - np.mean(c)

    def start(self):
        return np.full(3, 1.0 / 3.0)


def test_an_own_set_plays_as_the_library_s_set_of_the_same_points():
    """The oracle finds the projection on the simplex up to rounding."""
    for name in ("projection_free_coco", "sinha_vaze_2024", "wang_2025", "mahdavi_2012"):
        own, ours = play(METHODS[name], KnownTriangle()), play(METHODS[name], hr.sets.Simplex(3))
        np.testing.assert_allclose([s.x for s in own], [s.x for s in ours], atol=1e-9)


@pytest.mark.parametrize("name", ["threshold_rule", "last_round"])
def test_engineering_rules_run_on_an_own_set_too(name):
    assert len(play(TODAY[name], Triangle())) == T
