"""The registry of methods, and the one knob that all of them share."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.methods import METHODS
from hedgerow.policies.method import Constants

KNOWN = Constants((2.0, 2.0), (4.0, 4.0))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_built_and_plays_what_it_may_see(name):
    method, T = METHODS[name], 20
    rng = np.random.default_rng(0)
    X = hr.sets.Box(-np.ones(3), np.ones(3))
    rounds = [
        (hr.Linear(0.3 * rng.standard_normal(3)), hr.Linear([0.5, 0.0, 0.0], -0.1))
        for _ in range(T)
    ]
    policy = method.policy(X, T, 7, "practical", KNOWN)
    steps = list(hr.play(policy, hr.RecordedProblem(X, rounds), method.feedback(KNOWN)))
    assert len(steps) == T
    assert all(X.contains(step.x) for step in steps)
    assert method.name == name


def test_a_method_without_the_knob_refuses_it_and_others_take_it():
    X = hr.sets.Simplex(3)
    with pytest.raises(ValueError, match="unconstrained has no eagerness"):
        METHODS["unconstrained"].policy(X, 100, 0, "practical", eagerness=2.0)
    policy = METHODS["sinha_vaze_2024"].policy(X, 100, 0, "practical", eagerness=2.0)
    same = hr.baselines.sinha_vaze_2024(X, 100, eagerness=2.0)
    assert policy.surrogate.potential == same.surrogate.potential
    with pytest.raises(ValueError, match="needs declared constants"):
        METHODS["wang_2025_bandit"].feedback()


def test_more_eagerness_means_less_violation():
    problem = hr.problems.IidSimplex(horizon=400, seed=20)
    ccv = [
        hr.simulate(hr.projection_free_coco(problem.decision_set, eagerness=e), problem).ccv
        for e in (0.25, 1.0, 4.0)
    ]
    assert ccv[0] > ccv[1] > ccv[2]


def plays(name, preset="practical", T=120):
    """The plays of a method on a small box, in which all methods can play."""
    method, X = METHODS[name], hr.sets.Box(-np.ones(3), np.ones(3))
    rng = np.random.default_rng(1)
    costs = rng.normal([-0.3, 0.2, 0.1], 0.3, (T, 3))  # they pull over the wall
    walls = np.column_stack([rng.uniform(0.3, 0.6, T), rng.uniform(-0.6, -0.3, T), np.zeros(T)])
    rounds = [(hr.Linear(a), hr.Linear(c, 0.1)) for a, c in zip(costs, walls, strict=True)]
    policy = method.policy(X, T, 7, preset, KNOWN)
    return np.array(
        [s.x for s in hr.play(policy, hr.RecordedProblem(X, rounds), method.feedback(KNOWN))]
    )


def test_no_two_methods_play_the_same():
    found = {}
    for name in METHODS:
        same = found.setdefault(plays(name).tobytes(), name)
        assert same == name, f"{name} plays like {same}; is it registered twice, or a special case?"


def test_mahdavi_and_sun_play_alike_with_practical_constants():
    apart = np.abs(plays("mahdavi_2012") - plays("sun_safe")).max()
    assert 0.0 < apart < 1e-2


def test_a_baseline_is_named_after_its_first_author():
    """`surname_year`, or `surname_method`; the floor of this library has no author."""
    theirs = [m for m in METHODS.values() if m.build.__module__.startswith("hedgerow.baselines.")]
    named = [m for m in theirs if m.name != "follow_the_leader_feasible"]
    assert len(named) > 15
    for method in named:
        surname = method.source.replace(",", " ").split()[0].lower()
        assert method.name.split("_")[0] == surname, (
            f"{method.name}: source begins with its surname"
        )
        exported = getattr(hr.baselines, method.name, None)
        assert method.build is exported, f"export {method.name} in baselines/__init__.pyi"


def test_remarks_are_those_of_the_preset():
    wang, garber = METHODS["wang_2025"], METHODS["garber_kretzu_2024_dpp"]
    assert wang.remarks("practical") == "restarts around Hedgerow's learner"
    assert wang.remarks("theory") == ""
    assert garber.remarks("practical") == garber.remarks("theory") == "reconstruction"
    assert METHODS["mahdavi_2012"].remarks("practical") == "reconstruction; plays like sun_safe"
    rebuilt = {name for name, method in METHODS.items() if "reconstruction" in method.confidence}
    assert rebuilt == {
        name
        for name, method in METHODS.items()
        if "reconstruction" in method.remark or method.remark == "from the abstract"
    }
