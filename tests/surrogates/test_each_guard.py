"""The guard of several constraints: against its text, one constraint, and Theorem G."""

import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.bounds import guarded_ccv, guarded_regret
from hedgerow.feedback import EvalGrad
from hedgerow.learners import AdaptiveOCG, AwayOCG, TrackingOCG
from hedgerow.learners import steps as rules
from hedgerow.surrogates import AdaptiveSurrogate, Guard, ObservedRanges, PerConstraintSurrogate
from hedgerow.surrogates import guard as numbers
from hedgerow.surrogates.each_guard import EACH, EachGuard
from hedgerow.surrogates.make_loss import make_each_loss

SETS = {
    "simplex": lambda: hr.sets.Simplex(4),
    "ball": lambda: hr.sets.L2Ball(3),
    "box": lambda: hr.sets.Box([0.0, -1.0, 0.0], [1.0, 1.0, 3.0]),
}
KINDS = {"one step": AdaptiveOCG, "mixture": TrackingOCG, "away": AwayOCG}


def policy_of(X, m, kind=AdaptiveOCG, eagerness=40.0, guarded=True):
    learner = kind(X, rules.CertificateSteps())
    parts = [AdaptiveSurrogate(ObservedRanges(learner), eagerness) for _ in range(m)]
    guard = EachGuard(learner, m) if guarded else None
    return hr.ConstrainedPolicy(learner, PerConstraintSurrogate(parts, guard))


def reacting(X, seed, policy, rounds, m):
    """Rounds that pull the decision about; the start satisfies every constraint of every round."""
    rng, centre = np.random.default_rng(seed), X.start()
    scales = 10.0 ** rng.uniform(-3, 3, m)  # units of the constraints
    for t in range(rounds):
        x = policy.ask()
        pull = x - centre + 0.3 * rng.standard_normal(X.dim)
        f = pull / np.linalg.norm(pull) * (1.0 if t % 50 < 25 else -1.0)
        rows = f + 0.7 * rng.standard_normal((m, X.dim))
        rows *= scales[:, None] / np.linalg.norm(rows, axis=1, keepdims=True)
        values = rows @ (x - centre)
        yield x, f, [EvalGrad(float(v), g) for v, g in zip(values, rows, strict=True)]


CALM = ("ball", "mixture")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SETS)
def test_one_constraint_is_guarded_as_by_guard(name, kind):
    X = SETS[name]()
    each = policy_of(X, 1, KINDS[kind])
    learner = KINDS[kind](X, rules.CertificateSteps())
    one = hr.ConstrainedPolicy(
        learner, AdaptiveSurrogate(ObservedRanges(learner), 40.0, guard=Guard(learner))
    )
    for x, f, (g,) in reacting(X, 1, one, 200, 1):
        np.testing.assert_allclose(each.ask(), x, atol=1e-7)
        one.tell(EvalGrad(float(f @ x), f), g)
        each.tell(EvalGrad(float(f @ x), f), [g])
        each.restore(each.state())  # all of it is in the snapshot
        assert each.surrogate.surrogates[0].weight == pytest.approx(one.surrogate.weight, rel=1e-6)
    # on a ball, steps that are cut after violations keep the mixture within the inequality
    assert one.surrogate.guard.interventions > 0 or kind == "away" or (name, kind) == CALM
    assert each.surrogate.guard.interventions == one.surrogate.guard.interventions


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SETS)
def test_theorem_g_holds_for_each_of_several_constraints_in_every_round(name, kind):
    X, m, acted = SETS[name](), 3, 0
    D = X.diameter
    for seed in range(2):
        policy = policy_of(X, m, KINDS[kind])
        guard = policy.surrogate.guard
        q, dual, mixture = guard.growth.q, guard.growth.dual, kind == "mixture"
        cost, total, sizes = 0.0, np.zeros(X.dim), 0.0
        ccv, steep = np.zeros(m), np.zeros(m)
        for t, (x, f, parts) in enumerate(reacting(X, seed, policy, 300, m), start=1):
            cost, total = cost + float(f @ x), total + f
            sizes += X.tangent_norm(f) ** dual
            ccv += [max(0.0, g.value) for g in parts]
            steep += [X.tangent_norm(g.grad) ** dual for g in parts]
            policy.tell(EvalGrad(float(f @ x), f), parts)
            Phi = sizes ** (1 / dual)
            bound = guarded_regret(guard.C, D, Phi, 0.25, guard.lam_e, 1.0 if mixture else 0.0)
            assert cost - float(total @ X.start()) <= bound
            share = guarded_ccv(guard.C, t, 0.25, guard.lam_e, q, mixture=mixture, constraints=m)
            assert (ccv <= D * steep ** (1 / dual) * share * (1.0 + 1e-9)).all()
        acted += guard.interventions
        paid = guard.array[EACH:]
        assert paid.sum() == pytest.approx(guard.array[numbers.WC])
    assert acted > 0 or kind == "away"


def test_theorem_fs_weights_are_those_of_each_constraint():
    """wc_i = ((m_t + Wc_i)/kappa_i) (g_i/kappa_i)^{q-1} with lam/m for lam, at eagerness 0."""
    X, m = SETS["box"](), 2
    policy = policy_of(X, m, eagerness=1e-12)
    guard = policy.surrogate.guard
    D, C, phi, paid = X.diameter, guard.C, 0.0, np.zeros(m)
    for x, f, parts in reacting(X, 3, policy, 60, m):
        policy.tell(EvalGrad(float(f @ x), f), parts)
        phi += X.tangent_norm(f) ** (4 / 3)
        for i, g in enumerate(parts):
            v, kappa = max(0.0, g.value), C * D * X.tangent_norm(g.grad)
            m_t = 0.25 / m / numbers.C1[4] * C * D * phi**0.75
            wc = (m_t + paid[i]) / kappa * (v / kappa) ** 3
            if v > 0.0:
                assert policy.surrogate.surrogates[i].weight == pytest.approx(wc, rel=1e-6)
            paid[i] += wc * v
    np.testing.assert_allclose(guard.array[EACH:], paid, rtol=1e-6)


def test_the_guard_is_needed():
    """Without it the same game breaks the inequality's promise that weights stay within it."""
    X = SETS["ball"]()
    largest = []
    for guarded in (True, False):
        policy = policy_of(X, 3, guarded=guarded)
        for x, f, parts in reacting(X, 0, policy, 300, 3):
            policy.tell(EvalGrad(float(f @ x), f), parts)
        scale = [part.ranges.ratio for part in policy.surrogate.surrogates]
        weights = [part.largest_weight for part in policy.surrogate.surrogates]
        largest.append(max(w / r for w, r in zip(weights, scale, strict=True)))
    assert largest[0] < largest[1]


@pytest.mark.parametrize("tracking", [True, False])
def test_the_compiled_loop_guards_as_the_objects_do(tracking):
    rng, X = np.random.default_rng(5), hr.sets.Simplex(5)
    rounds = [
        (
            hr.Linear(rng.standard_normal(5)),
            hr.Maximum(
                [hr.Linear(rng.standard_normal(5), -0.2), hr.Linear(rng.uniform(0, 9, 5), -4.0)]
            ),
        )
        for _ in range(300)
    ]
    policies = [
        hr.projection_free_coco(X, tracking=tracking, constraints=2, eagerness=30.0)
        for _ in range(2)
    ]
    trace = hr.simulate(policies[0], hr.RecordedProblem(X, rounds))
    assert trace.compiled
    for f, g in rounds:
        x = policies[1].ask()
        policies[1].tell(hr.first_order(f, x), hr.feedback.first_order_each(g, x))
    assert policies[0].state()["checksum"] == policies[1].state()["checksum"]
    assert math.isfinite(policies[0].certificate())


def test_a_refused_round_leaves_guard_and_steps_as_they_were():
    """The second part is too large for compiled code, after the first has proposed its weight."""
    X = SETS["simplex"]()
    policy = policy_of(X, 2)
    guard, parts = policy.surrogate.guard, policy.surrogate.surrogates
    for x, f, seen in reacting(X, 2, policy, 20, 2):
        policy.tell(EvalGrad(float(f @ x), f), seen)
    before, x = guard.array.copy(), policy.ask()
    states = [part.state()["checksum"] for part in parts]
    guard.rule[rules.FORCED_BETA] = 7.0  # as if the guard had acted before the refusal
    rows = np.array([f, np.full(4, 1e160)])
    table = policy.surrogate.table([part.table for part in parts], rows, np.array([0.5, 0.5]))
    made = make_each_loss(table, np.empty(4), f, f, 0.5, x, x, (0.0, 0.0, 0.0, 0.0))
    assert math.isnan(made[0])
    assert guard.rule[rules.FORCED_BETA] == 0.0
    np.testing.assert_array_equal(guard.array, before)
    assert [part.state()["checksum"] for part in parts] == states


def test_explain_bounds_each_constraint():
    policy = hr.projection_free_coco(hr.sets.Simplex(4), tracking=False, constraints=3)
    found = {bound.name: bound for bound in hr.explain(policy).guarantees}
    assert "below Gf D T from T = " in found["regret, Theorem G"].statement
    assert "below it from T = " in found["CCV of each constraint, Theorem G"].statement


def test_a_guard_for_another_number_of_constraints_is_refused():
    learner = AdaptiveOCG(hr.sets.Simplex(3), rules.CertificateSteps())
    parts = [AdaptiveSurrogate(ObservedRanges(learner)) for _ in range(2)]
    with pytest.raises(ValueError, match="made for 3 constraints, got 2"):
        PerConstraintSurrogate(parts, EachGuard(learner, 3))
