"""Policies know what they may be told, and `play` and `simulate` ask them."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.methods import METHODS
from hedgerow.policies.method import Constants

KNOWN = Constants((2.0, 3.0), (4.0, 5.0))
X = hr.sets.Box(-np.ones(3), np.ones(3))


def problem(rounds: int = 12) -> hr.RecordedProblem:
    rng = np.random.default_rng(0)
    return hr.RecordedProblem(
        X,
        [
            (hr.Linear(0.3 * rng.standard_normal(3)), hr.Linear([0.5, 0.0, 0.0], -0.1))
            for _ in range(rounds)
        ],
    )


@pytest.mark.parametrize(
    ("name", "preset"),
    [
        (name, preset)
        for name in METHODS
        for preset in ("practical", "theory")
        if (name, preset) != ("projection_free_coco_plain", "theory")  # practical alone
    ],
)
def test_every_method_is_told_by_default_what_the_registry_says(name, preset):
    method = METHODS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hr.VacuousConstantsWarning)
        own, told = (method.policy(X, 3000, 7, preset, KNOWN) for _ in range(2))
    f, x = hr.Linear([1.0, 2.0, 3.0], 0.5), X.start()
    assert repr(own.feedback(f, x)) == repr(method.feedback(KNOWN)(f, x))
    plays = [step.x for step in hr.play(own, problem())]
    given = [step.x for step in hr.play(told, problem(), method.feedback(KNOWN))]
    assert np.array_equal(plays, given)
    if hasattr(own, "summary"):  # all but policies that stand alone, in the theory preset
        assert own.summary().rounds == 12


def test_simulate_just_works_for_whole_constraints_and_values():
    rounds = problem(40)
    assert hr.simulate(hr.baselines.guo_recoo(X), rounds).costs.size == 40
    bandit = hr.projection_free_bandit(X, 40, 0, lipschitz=(2.0, 1.0), bound=(1.0, 3.0))
    trace = hr.simulate(bandit, rounds)
    assert bandit.feedback(hr.Linear(np.ones(3)), np.ones(3)) == hr.feedback.Eval(3.0, 2.0, 3.0)
    assert bandit.summary().cost == pytest.approx(trace.cost, abs=1e-12)
    assert hr.audit(trace, rounds, policy=hr.baselines.guo_recoo(X)).ok is False
    again = hr.projection_free_bandit(X, 40, 0, lipschitz=(2.0, 1.0), bound=(1.0, 3.0))
    assert hr.audit(trace, rounds, policy=again).ok


def test_sampled_and_semi_bandit_policies_and_several_constraints():
    simplex = hr.sets.Simplex(3)
    rounds = hr.RecordedProblem(simplex, [(hr.Linear([1.0, 2.0, 3.0]), hr.Linear(np.zeros(3)))] * 5)
    for policy, look in (
        (hr.Sampled(hr.projection_free_coco(simplex), 0), hr.feedback.linear),
        (hr.LazySampled(hr.projection_free_coco(simplex, tracking=False), 0), hr.feedback.linear),
        (hr.semi_bandit_coco(simplex, 5, 0), hr.semi_bandit),
        (hr.projection_free_coco(simplex), hr.feedback.first_order_each),
        (hr.projection_free_coco(simplex, advisers=["plan"]), hr.feedback.first_order_each),
        (hr.projection_free_coco(simplex, tracking=False), hr.first_order),
    ):
        assert policy.feedback is look
        assert copy.deepcopy(policy).feedback is look
        assert hr.simulate(policy, rounds).costs.size == 5
    learner = hr.learners.AdaptiveOCG(simplex, hr.learners.steps.CertificateSteps())
    queues = [
        hr.surrogates.CurrentSurrogate(hr.surrogates.PowerPotential(2.0, 1.0)) for _ in range(2)
    ]
    several = hr.ConstrainedPolicy(learner, hr.surrogates.PerConstraintSurrogate(queues))
    both = hr.Maximum([hr.Linear([1.0, 0.0, 0.0], -0.1), hr.Linear([0.0, 1.0, 0.0], -0.5)])
    trace = hr.simulate(
        several, hr.RecordedProblem(simplex, [(hr.Linear([1.0, 2.0, 3.0]), both)] * 5)
    )
    assert trace.compiled
    assert several.summary().ccv is None
    each = np.maximum(trace.violations_each, 0.0).sum(axis=1)
    assert several.summary().ccv_each == pytest.approx(each, rel=1e-12)


class Still:
    """A policy of a user's own, which does not say what it learns from."""

    decision_set, oracle_calls, oblivious_only = X, 0, False

    def __init__(self) -> None:
        self.told: list[object] = []

    def ask(self) -> np.ndarray:
        return X.start()

    def tell(self, cost: object, constraint: object) -> None:
        self.told += [cost, constraint]


def test_a_policy_that_does_not_say_is_told_to_first_order_and_an_argument_wins():
    policy = Still()
    hr.simulate(policy, problem(3))
    assert {type(seen) for seen in policy.told} == {hr.feedback.EvalGrad}
    policy = Still()
    list(hr.play(policy, problem(3), hr.feedback.full_information))
    assert {type(seen) for seen in policy.told} == {hr.feedback.Full}


def test_a_bandit_without_declared_constants_says_how_to_declare_them():
    made = hr.projection_free_bandit(X, 40, 0, lipschitz=2.0, bound=2.0)
    policy = hr.ConstrainedBandit(made.learner, made.surrogate)
    with pytest.raises(ValueError, match="built without declared constants"):
        hr.simulate(policy, problem())
    copied = pickle.loads(pickle.dumps(made))
    assert copied.feedback == made.feedback


def test_a_lipschitz_constant_counts_for_its_own_round_alone():
    """A round without a constant is measured by its gradient, whatever the last one declared."""
    X, rounds = hr.sets.Simplex(3), np.random.default_rng(0).standard_normal((30, 2, 3))

    def played(at_once):
        learner = hr.learners.RestartedOCG(X, hr.learners.steps.PaperSteps(100))
        potential = hr.surrogates.PowerPotential(2.0, 1.0)
        policy = hr.ConstrainedPolicy(learner, hr.surrogates.CurrentSurrogate(potential))
        for t, (a, c) in enumerate(rounds):
            L = 0.01 if t % 2 == 0 else None
            told = hr.feedback.EvalGrad(0.1, a, L), hr.feedback.EvalGrad(0.5, c, L)
            policy.tell(*told, **({} if at_once else {"at": policy.ask()}))
        return policy.state()["checksum"]

    assert played(True) == played(False)
