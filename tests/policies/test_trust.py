"""What a policy proves stays true whoever touches its parts; refusals change nothing."""

from __future__ import annotations

import copy
import json
import warnings
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.methods import METHODS
from hedgerow.policies.method import Constants
from hedgerow.snapshot import _checksum
from rival_games import SETS, random_rounds

ONE = hr.feedback.EvalGrad(1.0, np.arange(4.0))
LESS = hr.feedback.EvalGrad(-1.0, np.ones(4))
FIRST_ORDER = [name for name, method in METHODS.items() if method.sees in ("gradients", "parts")]

PAIRS = [
    (name, preset)
    for name in FIRST_ORDER
    for preset in ("practical", "theory")
    if (name, preset) != ("projection_free_coco_plain", "theory")  # there is none
]


def played(policy: Any, rounds: Any) -> Any:
    for f, g in rounds:
        x = policy.ask()
        policy.tell(hr.first_order(f, x), hr.first_order(g, x))
    return policy


def stored(policy: Any) -> str:
    return json.dumps(policy.state(), default=np.ndarray.tolist)


# A learner belongs to one policy


def test_two_policies_cannot_share_a_learner() -> None:
    first = hr.projection_free_coco(hr.sets.Simplex(4), tracking=False)
    second = hr.ConstrainedPolicy(first.learner, hr.surrogates.CostOnlySurrogate())
    first.tell(ONE, ONE)
    before = stored(second)
    with pytest.raises(RuntimeError, match="moved without its policy"):
        second.tell(ONE, ONE)
    assert stored(second) == before
    first.tell(ONE, ONE)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_learner_told_from_outside_is_noticed(compiled: bool) -> None:
    policy = hr.projection_free_coco(hr.sets.Simplex(4), tracking=False)
    policy.tell(ONE, ONE)
    policy.learner.tell(hr.feedback.EvalGrad(0.0, np.array([0.0, 5.0, 0.0, -5.0])))
    constraint = ONE if compiled else hr.feedback.EvalGrad(1.0, np.arange(4.0), lipschitz=3.0)
    with pytest.raises(RuntimeError, match="tell the policy alone"):
        policy.tell(ONE, constraint)


def test_a_learner_that_moved_is_noticed_by_simulate_and_by_bandits() -> None:
    problem = hr.problems.IidSimplex(horizon=20, seed=0)
    policy = hr.projection_free_coco(problem.decision_set, tracking=False)
    policy.learner.tell(hr.feedback.EvalGrad(0.0, np.linspace(0.0, 1.0, problem.decision_set.dim)))
    with pytest.raises(RuntimeError, match="moved without its policy"):
        hr.simulate(policy, problem)
    bandit = hr.projection_free_bandit(hr.sets.L2Ball(2), 50, 0, lipschitz=1.0, bound=1.0)
    seen = hr.feedback.Eval(0.5, 1.0, 1.0)
    bandit.learner.tell(seen)
    with pytest.raises(RuntimeError, match="moved without its policy"):
        bandit.tell(seen, seen)


def test_the_sums_of_a_certificate_are_the_policys_own() -> None:
    """A learner that had learnt before plays on, and the certificate is about this policy alone."""
    X = hr.sets.Simplex(4)
    learner = hr.learners.AdaptiveOCG(X, hr.learners.steps.CertificateSteps())
    for _ in range(5):
        learner.tell(hr.feedback.EvalGrad(0.0, np.array([3.0, 1.0, 0.0, 2.0])))
    policy = hr.ConstrainedPolicy(learner, hr.surrogates.CostOnlySurrogate())
    rng, costs, plays = np.random.default_rng(0), [], []
    for _ in range(30):
        costs.append(rng.standard_normal(4))
        plays.append(policy.ask())
        cost = hr.feedback.EvalGrad(float(costs[-1] @ plays[-1]), costs[-1])
        policy.tell(cost, hr.feedback.EvalGrad(-1.0, np.zeros(4)))
    total = np.sum(costs, axis=0)
    regret = sum(float(c @ x) for c, x in zip(costs, plays, strict=True)) - total.min()
    assert policy.certificate() == pytest.approx(regret, abs=1e-9)


def test_ranges_of_another_learner_are_refused() -> None:
    X = hr.sets.Simplex(4)
    one, other = (
        hr.learners.AdaptiveOCG(X, hr.learners.steps.CertificateSteps()) for _ in range(2)
    )
    surrogate = hr.surrogates.CurrentSurrogate(
        hr.surrogates.PowerPotential(2.0, 3.0), 1.0, hr.surrogates.WorstCaseRanges(other)
    )
    with pytest.raises(ValueError, match="measure another learner"):
        hr.ConstrainedPolicy(one, surrogate)
    with pytest.raises(ValueError, match="measure another learner"):
        hr.ConstrainedPolicy(one, hr.surrogates.PerConstraintSurrogate([surrogate]))


# A damaged snapshot


def nested(snapshot: Any) -> Any:
    yield snapshot
    for part in snapshot["parts"].values():
        yield from nested(part)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e300, 0.5])
@pytest.mark.parametrize("name", ["projection_free_coco", "sinha_vaze_2024", "wang_2025"])
def test_a_number_changed_in_a_snapshot_is_noticed(name: str, number: float) -> None:
    X = SETS["simplex"]()
    policy = METHODS[name].policy(X, 100, 0, "practical")
    played(policy, random_rounds(X, 10, seed=0))
    good, before = json.loads(stored(policy)), stored(policy)
    for place, part in enumerate(nested(good)):
        for i in range(len(part["array"])):
            damaged = copy.deepcopy(good)
            list(nested(damaged))[place]["array"][i] = number
            if damaged == good:
                continue
            with pytest.raises(ValueError, match="changed after it was written"):
                policy.restore(damaged)
    assert stored(policy) == before


def test_a_part_from_another_moment_is_noticed() -> None:
    X = SETS["simplex"]()
    policy = hr.projection_free_coco(X)
    rounds = random_rounds(X, 10, seed=0)
    early = played(policy, rounds[:5]).state()
    late = played(policy, rounds[5:]).state()
    late["parts"]["policy"] = early["parts"]["policy"]
    with pytest.raises(ValueError, match="changed after it was written"):
        policy.restore(late)


def test_a_play_outside_the_set_is_refused_even_with_a_checksum() -> None:
    X = hr.sets.Simplex(4)
    learner = hr.learners.AdaptiveOCG(X, hr.learners.steps.CertificateSteps())
    snapshot, before = learner.state(), stored(learner)
    snapshot["array"][:4] = [0.0, 0.0, 0.0, 7.0]
    snapshot["checksum"] = _checksum(snapshot)
    with pytest.raises(ValueError, match="outside of the decision set"):
        learner.restore(snapshot)
    assert stored(learner) == before


@pytest.mark.parametrize("foreign", [None, [], 3.0, {}, {"part": "ConstrainedPolicy"}, "text"])
def test_what_is_no_snapshot_is_refused_in_a_sentence(foreign: Any) -> None:
    with pytest.raises(
        ValueError, match=r"take one with state\(\)|as its state\(\) returns it, got"
    ):
        hr.projection_free_coco(hr.sets.Simplex(3)).restore(foreign)


# Numbers near the end of float64


@pytest.mark.parametrize(("name", "preset"), PAIRS)
def test_huge_values_are_refused_before_anything_changes(name: str, preset: str) -> None:
    X = SETS["box"]()
    constants = Constants((20.0, 20.0), (80.0, 80.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        policy = METHODS[name].policy(X, 5000, 0, preset, constants)
    rounds = random_rounds(X, 6, seed=0)
    played(policy, rounds)
    before = stored(policy)
    grad = np.ones(X.dim)
    fine = hr.feedback.EvalGrad(1.0, grad)
    for value in (1e101, 1e300, -1e300):
        for cost, constraint in (
            (fine, hr.feedback.EvalGrad(value, grad)),
            (hr.feedback.EvalGrad(value, grad), fine),
        ):
            with pytest.raises(ValueError, match="larger unit"):
                policy.tell(cost, constraint)
            assert stored(policy) == before
    for value in (1e60, 0.9e100):
        policy.tell(fine, hr.feedback.EvalGrad(value, 1e-3 * grad))
        played(policy, rounds[:1])
        assert X.contains(policy.ask())
        if hasattr(policy, "certificate"):
            assert np.isfinite(policy.certificate())


def test_a_loss_that_the_learner_refuses_leaves_the_surrogate_as_it_was() -> None:
    X = hr.sets.Simplex(4)
    learner = hr.learners.AdaptiveOCG(X, hr.learners.steps.CertificateSteps())
    potential = hr.surrogates.PowerPotential(2.0, 1e-90, cap=1e120)
    policy = hr.ConstrainedPolicy(learner, hr.surrogates.CurrentSurrogate(potential))
    policy.tell(ONE, ONE)
    before = stored(policy)
    with pytest.raises(ValueError, match="larger unit"):
        policy.tell(ONE, hr.feedback.EvalGrad(1.0, 1e60 * np.arange(4.0)))
    assert stored(policy) == before


def test_a_loss_that_the_compiled_loop_declines_is_charged_once() -> None:
    """The loop takes back what it charged before it leaves the round to the objects."""
    X = hr.sets.Simplex(4)
    potential = hr.surrogates.PowerPotential(2.0, 1e-90, cap=1e120)
    one, huge = hr.Linear(np.arange(4.0), 1.0), hr.Linear(1e60 * np.arange(4.0), 1.0)

    def build() -> Any:
        learner = hr.learners.AdaptiveOCG(X, hr.learners.steps.CertificateSteps())
        return hr.ConstrainedPolicy(learner, hr.surrogates.CurrentSurrogate(potential))

    stopped, fine = build(), build()
    with pytest.raises(ValueError, match="larger unit"):
        hr.simulate(stopped, hr.RecordedProblem(X, [(one, one), (one, huge), (one, one)]))
    hr.simulate(fine, hr.RecordedProblem(X, [(one, one)]))
    assert stored(stopped) == stored(fine)


@pytest.mark.parametrize("wrong", [[ONE, ONE.grad], (None, ONE), None, 3.0, ONE.grad])
@pytest.mark.parametrize("name", sorted({*FIRST_ORDER} - {"unconstrained"}))
def test_what_is_no_constraint_is_refused_in_a_sentence(name: str, wrong: Any) -> None:
    X = hr.sets.Simplex(4)
    policy = METHODS[name].policy(X, 100, 0, "practical")
    before = stored(policy)
    with pytest.raises((TypeError, ValueError), match="EvalGrad"):
        policy.tell(ONE, wrong)
    assert stored(policy) == before


@pytest.mark.parametrize("several", [[ONE], (LESS, ONE)])
@pytest.mark.parametrize("name", sorted(FIRST_ORDER))
def test_several_constraints_are_their_maximum_or_refused(name: str, several: Any) -> None:
    X = hr.sets.Simplex(4)
    policy, other = (METHODS[name].policy(X, 100, 0, "practical") for _ in range(2))
    if hasattr(policy, "take_units"):
        policy.tell(ONE, several)
        other.tell(ONE, ONE)
        assert (policy.summary().ccv is None) == (len(several) > 1)
        other.take_units(len(several) == 1)  # a list may have several units: the only difference
        if not isinstance(policy, hr.ConstrainedPolicy):  # each part is compared with later ones
            np.testing.assert_array_equal(policy.ask(), other.ask(), strict=True)
            return
    else:
        with pytest.raises(TypeError, match="EvalGrad"):
            policy.tell(ONE, several)
    assert stored(policy) == stored(other)
