from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import hedgerow as hr

COST = hr.feedback.EvalGrad(2.0, np.array([1.0, 0.0]))
POTENTIAL = hr.surrogates.PowerPotential(3.0, 2.0)


def seen(value, *grad):
    return hr.feedback.EvalGrad(value, np.array(grad))


def test_current_counts_this_round_and_ignores_slack():
    surrogate = hr.surrogates.CurrentSurrogate(POTENTIAL, queue=1.0)
    loss = surrogate.tell(COST, seen(-5.0, 3.0, 3.0))
    np.testing.assert_array_equal(loss.grad, COST.grad)
    assert (surrogate.queue, loss.value) == (1.0, 2.0)
    loss = surrogate.tell(COST, seen(0.5, 0.0, 2.0))
    w = POTENTIAL.weight(1.5)
    assert surrogate.queue == 1.5
    assert loss.value == pytest.approx(2.0 + w * 0.5)
    np.testing.assert_allclose(loss.grad, [1.0, 2.0 * w])


def test_signed_looks_at_the_past_and_lets_slack_pay():
    surrogate = hr.surrogates.SignedSurrogate(POTENTIAL)
    assert surrogate.tell(COST, seen(4.0, 0.0, 1.0)).value == 2.0  # Q(0) = 0: no weight yet
    loss = surrogate.tell(COST, seen(-1.0, 0.0, 1.0))
    w = POTENTIAL.weight(4.0)
    assert loss.value == pytest.approx(2.0 - w)
    np.testing.assert_allclose(loss.grad, [1.0, w])
    surrogate.tell(COST, seen(-10.0, 0.0, 1.0))
    assert surrogate.queue == 0.0
    started = hr.surrogates.SignedSurrogate(POTENTIAL, queue=1.0)
    started.tell(COST, seen(-0.25, 0.0, 1.0))
    assert started.queue == 0.75  # slack pays for Q(0) too


def test_given_ranges_are_the_units():
    surrogate = hr.surrogates.CurrentSurrogate(
        POTENTIAL, 1.0, hr.surrogates.FixedRanges(violation=4.0, ratio=3.0)
    )
    surrogate.tell(COST, seen(2.0, 0.0, 1.0))
    assert surrogate.queue == 1.5
    assert surrogate.weight == pytest.approx(3.0 * POTENTIAL.weight(1.5))


def test_an_unsatisfiable_round_is_counted_and_nothing_is_added():
    learner = hr.learners.AdaptiveOCG(hr.sets.Simplex(2), hr.learners.steps.CertificateSteps())
    for ranges in (hr.surrogates.FixedRanges(), hr.surrogates.WorstCaseRanges(learner)):
        surrogate = hr.surrogates.CurrentSurrogate(POTENTIAL, 1.0, ranges)
        loss = surrogate.tell(COST, seen(1.0, 0.0, 0.0))
        np.testing.assert_array_equal(loss.grad, COST.grad)
        assert surrogate.price == 0.0
        assert surrogate.queue == 2.0
    surrogate.tell(COST, seen(1.0, 5.0, 5.0))  # constant along the simplex: no play can help
    assert surrogate.price == 0.0


def test_one_queue_per_constraint():
    parts = [
        hr.surrogates.CurrentSurrogate(POTENTIAL, 1.0),
        hr.surrogates.SignedSurrogate(POTENTIAL, 2.0),
    ]
    surrogate = hr.surrogates.PerConstraintSurrogate(parts)
    loss = surrogate.tell(COST, (seen(1.0, 1.0, 0.0), seen(-0.5, 0.0, 1.0)))
    first, second = POTENTIAL.weight(2.0), POTENTIAL.weight(2.0)
    np.testing.assert_allclose(loss.grad, [1.0 + first, second])
    np.testing.assert_allclose(surrogate.queues, [2.0, 1.5])
    assert loss.value == pytest.approx(2.0 + first - 0.5 * second)
    with pytest.raises(ValueError, match="queue for each of 2 constraints, got feedback of 1"):
        surrogate.tell(COST, seen(1.0, 1.0, 0.0))


def test_one_queue_per_constraint_plays_a_maximum():
    X = hr.sets.Simplex(3)
    learner = hr.learners.AdaptiveOCG(X, hr.learners.steps.CertificateSteps())
    parts = [
        hr.surrogates.CurrentSurrogate(
            hr.surrogates.PowerPotential(8.0, 12.0), 8.0, hr.surrogates.WorstCaseRanges(learner)
        )
        for _ in range(2)
    ]
    policy = hr.ConstrainedPolicy(learner, hr.surrogates.PerConstraintSurrogate(parts))
    rng = np.random.default_rng(0)
    cap = hr.Maximum([hr.Linear([1.0, 0.0, 0.0], -0.2), hr.Linear([0.0, 1.0, 0.0], -0.3)])
    rounds = [(hr.Linear([-2.0, -1.0, 0.0] + 0.3 * rng.standard_normal(3)), cap)] * 600
    trace = hr.Trace.of(
        hr.play(policy, hr.RecordedProblem(X, rounds), feedback=hr.feedback.first_order_each)
    )
    np.testing.assert_allclose(policy.ask(), [0.2, 0.3, 0.5], atol=0.05)
    assert trace.violations[-100:].mean() < 0.02
    best = hr.hindsight(X, rounds)
    assert trace.regret(best) <= policy.certificate()


@pytest.mark.parametrize(
    ("cost", "constraint", "error"),
    [
        (seen(np.nan, 1.0, 0.0), COST, ValueError),
        (seen(0.0, np.inf, 0.0), COST, ValueError),
        (COST, seen(np.inf, 1.0, 0.0), ValueError),
        (COST, seen(1.0, 1.0, 0.0, 0.0), ValueError),
        (COST, hr.feedback.EvalGrad(1.0, np.array([1j, 0])), TypeError),
        (seen(0.0, 1e200, 0.0), COST, ValueError),
    ],
)
def test_bad_feedback_changes_nothing(cost, constraint, error):
    for surrogate in (
        hr.surrogates.CurrentSurrogate(POTENTIAL),
        hr.surrogates.SignedSurrogate(POTENTIAL, 1.0),
    ):
        before = surrogate.state()["array"]
        with pytest.raises(error):
            surrogate.tell(cost, constraint)
        np.testing.assert_array_equal(surrogate.state()["array"], before)


@pytest.mark.parametrize("n", [3, 7])
@pytest.mark.parametrize(
    "make", [partial(hr.projection_free_coco, tracking=False), hr.projection_free_long_term]
)
def test_a_constraint_that_no_play_can_change_is_not_weighed(n, make):
    """Its tangent is not exactly zero, but rounding: it must not become a gradient."""
    X, rng = hr.sets.Simplex(n), np.random.default_rng(0)
    for level in (0.1, 0.05):  # kept up to rounding by every play; broken by every play
        policy, blind = make(X), hr.unconstrained(X)
        constant = hr.Linear(np.full(n, 0.1), -level)
        for _ in range(200):
            cost = hr.Linear(rng.uniform(0, 1, n) + np.arange(n))
            for player in (policy, blind):
                x = player.ask()
                player.tell(hr.first_order(cost, x), hr.first_order(constant, x))
            np.testing.assert_array_equal(policy.ask(), blind.ask())
        assert policy.surrogate.price == 0.0


def test_a_cost_that_is_constant_on_the_set_moves_nothing():
    X = hr.sets.Simplex(7)
    for steps in (hr.learners.steps.CertificateSteps(), hr.learners.steps.RmsSteps()):
        learner = hr.learners.AdaptiveOCG(X, steps)
        for _ in range(20):
            learner.tell(hr.feedback.EvalGrad(0.1, np.full(7, 0.1)))
        np.testing.assert_array_equal(learner.ask(), X.start())


@pytest.mark.parametrize("level", [0.0, 0.1, 1.0])
def test_a_cost_that_is_flat_along_the_set_does_not_hide_the_constraint(level):
    policy = hr.projection_free_coco(hr.sets.Simplex(3))
    violation = 0.0
    for _ in range(100):
        x = policy.ask()
        violation += max(0.0, x[0] - 0.1)
        policy.tell(
            hr.feedback.EvalGrad(level * float(x.sum()), np.full(3, level)),
            hr.feedback.EvalGrad(float(x[0] - 0.1), np.array([1.0, 0.0, 0.0])),
        )
    assert violation < 1.0  # it was 23.3 when the weight was lost in the cost
    assert policy.certificate() >= -1e-9


def test_a_surrogate_without_all_its_kernels_is_refused():
    with pytest.raises(TypeError, match=r"^Half has no kernel record; set it on the class"):

        class Half(hr.surrogates.queued.GradientSurrogate):
            needs_gradient = hr.surrogates.CurrentSurrogate.needs_gradient
            observe = hr.surrogates.CurrentSurrogate.observe
