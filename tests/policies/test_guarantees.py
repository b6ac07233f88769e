"""Theorems are declared where policies are made, and survive copies."""

from __future__ import annotations

import copy
import pickle
import warnings

import pytest

import hedgerow as hr
from hedgerow.policies.theorem import Theorem

X = hr.sets.Simplex(4)


def theory() -> dict[str, object]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hr.VacuousConstantsWarning)
        return {
            "Theorem 3.4": hr.projection_free_coco(
                X, 1500, preset="theory", lipschitz=2.0, benchmark_budget=3.0
            ),
            "quadratic drift": hr.projection_free_long_term(
                X, 1500, preset="theory", lipschitz=2.0
            ),
            "Sinha and Vaze 2024": hr.baselines.sinha_vaze_2024(
                X, 1500, preset="theory", lipschitz=2.0
            ),
            "sharper Theorem 2.1": hr.unconstrained(X, 1500, preset="theory"),
            "Theorem 5.1": hr.ftpl_coco(X, 1500, 0, preset="theory"),
            "Theorem 4.2": hr.projection_free_bandit(
                X, 1500, 0, preset="theory", lipschitz=2.0, bound=3.0
            ),
        }


@pytest.mark.parametrize("name", theory())
def test_a_theory_preset_declares_its_theorem_and_copies_keep_it(name):
    policy = theory()[name]
    *_, theorem = policy.guarantees()
    assert (theorem.name, theorem.horizon, theorem.proved) == (name, 1500, True)

    told = str(hr.explain(policy))
    assert theorem.assumptions[0] in told
    for other in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        assert other.guarantees() == policy.guarantees()
        assert str(hr.explain(other)) == told


def test_the_constants_are_those_that_were_given():
    D = X.diameter
    (coco,) = theory()["Theorem 3.4"].guarantees()
    assert dict(coco.constants) == {"T": 1500.0, "G": 2.0, "D": D, "B": 3.0}
    assert any("at most 3 in all" in need for need in coco.assumptions)
    *_, bandit = theory()["Theorem 4.2"].guarantees()
    assert bandit["G D"] == 2.0 * D


def test_practical_presets_declare_what_is_proved():
    for m in (None, 2):
        for Y in (X, hr.sets.Product(X, X)):
            (fallback,) = hr.projection_free_coco(Y, constraints=m).guarantees()
            (plain,) = hr.policies.theorem_f(Y, m).guarantees()
            assert (fallback.name, plain.name) == ("Theorem R", "Theorem F")
            assert fallback.proved
            assert fallback.constants == plain.constants
            assert fallback["constraints"] == (m or 1)
            assert hr.projection_free_coco(Y, tracking=False, constraints=m).guarantees() == ()
    (perturbed,) = hr.ftpl_coco(X, 1500, 0).guarantees()
    assert not perturbed.proved
    (calls,) = hr.projection_free_bandit(X, 1500, 0, lipschitz=2.0, bound=3.0).guarantees()
    assert calls.name == "cap of a block"


def test_a_theorem_of_a_users_own_is_stated_without_a_number():
    learner = hr.learners.AdaptiveOCG(X, hr.learners.steps.CertificateSteps())
    own = Theorem("Theorem 1 of mine", (("T", 7.0),), ("luck",))
    policy = hr.ConstrainedPolicy(learner, hr.surrogates.CostOnlySurrogate(), (own,))
    stated = hr.explain(policy).guarantees[-1]
    assert (stated.name, stated.value, stated.assumptions) == ("Theorem 1 of mine", None, ("luck",))


def test_a_snapshot_does_not_restore_a_policy_with_another_theorem():
    policies = theory()
    bare = hr.ConstrainedPolicy(policies["Theorem 3.4"].learner, policies["Theorem 3.4"].surrogate)
    with pytest.raises(ValueError, match="built with other arguments"):
        bare.restore(policies["Theorem 3.4"].state())
