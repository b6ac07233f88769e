"""AdaHedge and mixtures of learners: the reference's algorithm, its bounds, shared oracle calls."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.feedback import EvalGrad, first_order
from hedgerow.learners.adahedge import AdaHedge
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.corrective_omd import CorrectiveOMD
from hedgerow.learners.ftpl import FTPL
from hedgerow.learners.mixture import Mixture, SharesOracle
from hedgerow.learners.steps import CertificateSteps, PaperSteps, RmsSteps
from hedgerow.policies.constrained import Constrained
from hedgerow.policies.paper import PRACTICAL_P, PRACTICAL_SCALE
from hedgerow.policies.tracking import tracking_learner
from hedgerow.potentials import PowerPotential
from hedgerow.problems.synthetic import IidSimplex
from hedgerow.sets.balls import L2Ball
from hedgerow.sets.simplices import Simplex
from hedgerow.surrogates.current import CurrentSurrogate
from hedgerow.surrogates.ranges import LearntRanges
from hedgerow.testing import check_learner, check_policy
from test_learners_conform import SETS, Counted


def tracking_policy(X):
    learner = tracking_learner(X)
    potential = PowerPotential(PRACTICAL_P, PRACTICAL_SCALE)
    return Constrained(learner, CurrentSurrogate(potential, PRACTICAL_P, LearntRanges(learner)))


# AdaHedge.


@pytest.mark.parametrize("experts", [1, 2, 5])
def test_adahedge_conforms(experts):
    check_learner(lambda: AdaHedge(experts), oracle_calls_per_round=0)


def adahedge(losses):
    """The reference's algorithm with the mix loss as a difference of sums, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        rows = [[Decimal(float(v)) for v in row] for row in losses]
        K = len(rows[0])
        L, Delta, weights = [Decimal(0)] * K, Decimal(0), []

        def mix(eta):
            least = min(L)
            if eta is None:
                w = [Decimal(int(v == least)) for v in L]
            else:
                w = [(-eta * (v - least)).exp() for v in L]
            total = sum(w)
            M = least - ((total / K).ln() / eta if eta is not None else 0)
            return [v / total for v in w], M

        for row in rows:
            eta = Decimal(K).ln() / Delta if Delta > 0 else None
            w, before = mix(eta)
            h = sum(a * b for a, b in zip(w, row, strict=True))
            L = [a + b for a, b in zip(L, row, strict=True)]
            Delta += max(Decimal(0), h - (mix(eta)[1] - before))
            weights.append([float(v) for v in w])
        return np.array(weights), float(Delta)


def run(losses):
    hedge, weights = AdaHedge(losses.shape[1]), []
    for row in losses:
        weights.append(hedge.ask())
        hedge.tell(EvalGrad(0.0, row))
    return np.array(weights), float(hedge._state["Delta"][0])


def draw(seed, rounds=200, experts=4, drift=0.0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.0, 1.0, (rounds, experts)) + drift * np.arange(experts)


@pytest.mark.parametrize(
    "losses",
    [
        draw(0),
        draw(1, experts=2, drift=0.3),
        1e6 + draw(2),
        np.eye(2)[np.arange(120) % 2],  # the leader changes in every round
        np.round(draw(3, rounds=60)),  # ties
        draw(4, rounds=30) * np.array([1e9, 1.0, 1e-9, 1.0]),
    ],
)
def test_adahedge_is_the_references(losses):
    weights, Delta = run(losses)
    expected, expected_Delta = adahedge(losses)
    np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-8)
    assert Delta == pytest.approx(expected_Delta, rel=1e-8)


finite = st.floats(-10.0, 10.0, allow_subnormal=False)


@given(
    st.integers(2, 5).flatmap(lambda K: st.lists(st.tuples(*[finite] * K), min_size=1, max_size=80))
)
@settings(max_examples=150, deadline=None)
def test_the_regret_is_within_the_bounds_of_the_reference(rows):
    """Both steps can fail: R <= 2 Delta, and Delta <= sqrt(V ln K) + S (2/3 ln K + 1)."""
    losses = np.array(rows)
    weights, Delta = run(losses)
    played = np.sum(weights * losses, axis=1)
    variance = np.sum(weights * (losses - played[:, None]) ** 2)
    log, S = np.log(losses.shape[1]), np.ptp(losses, axis=1).max()
    assert played.sum() - losses.sum(axis=0).min() <= 2.0 * Delta + 1e-9
    assert Delta <= np.sqrt(variance * log) + S * (2.0 / 3.0 * log + 1.0) + 1e-9


def test_the_bound_is_not_idle():
    """On the leader-changing sequence regret is a good part of it; following the leader breaks it.

    Following the leader loses half a unit a round.
    """
    losses = np.eye(2)[np.arange(1, 2001) % 2]
    losses[0] *= 0.5
    weights, Delta = run(losses)
    regret = np.sum(weights * losses) - losses.sum(axis=0).min()
    assert 0.2 * 2.0 * Delta < regret <= 2.0 * Delta < 120.0


@given(seed=st.integers(0, 999), exponent=st.integers(-90, 90))
@settings(max_examples=25, deadline=None)
def test_weights_have_no_unit_no_origin_and_no_order(seed, exponent):
    losses = draw(seed, rounds=60)
    weights, _ = run(losses)
    rng = np.random.default_rng(seed)
    order = rng.permutation(4)
    np.testing.assert_array_equal(run(2.0**exponent * losses)[0], weights)
    moved = run(losses + rng.uniform(-5.0, 5.0, (60, 1)))[0]
    np.testing.assert_allclose(moved, weights, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run(losses[:, order])[0], weights[:, order], rtol=0, atol=1e-9)


def test_a_weight_that_underflowed_comes_back():
    """The naive mix loss is the logarithm of zero here."""
    losses = np.zeros((4000, 2))
    losses[:1000, 0], losses[1000:, 1] = 1.0, 1e3
    weights, Delta = run(losses)
    assert weights[1000, 0] < 1e-300
    assert weights[-1, 1] < 1e-300
    assert np.isfinite(Delta)


# Mixtures.


@pytest.mark.parametrize("name", SETS)
def test_mixtures_conform(name):
    check_learner(lambda: tracking_learner(SETS[name]()))


def test_a_mixture_of_one_learner_is_that_learner():
    X, rng = Simplex(5), np.random.default_rng(0)
    alone, mixed = CorrectiveOMD(X), Mixture([CorrectiveOMD(X)])
    for _ in range(50):
        loss = EvalGrad(0.0, rng.standard_normal(5))
        alone.tell(loss)
        mixed.tell(loss)
        np.testing.assert_array_equal(mixed.ask(), alone.ask())


@pytest.mark.parametrize("steps", [CertificateSteps(), PaperSteps(100), RmsSteps()])
def test_learners_that_share_cost_one_real_oracle_call_a_round_together(steps):
    X = Counted()
    parts = [AdaptiveOCG(X, steps), CorrectiveOMD(X), CorrectiveOMD(X, atoms=4, c=0.3)]
    mixture, rng, shares = Mixture(parts), np.random.default_rng(1), np.zeros(3)
    for t in range(60):
        assert mixture.oracle_calls == X.calls == t
        calls = np.array([part.oracle_calls for part in parts])
        assert (np.abs(calls - shares) < 2.0).all()  # never far from what its weight deserves
        mixture.tell(EvalGrad(0.0, rng.standard_normal(4)))
        shares += 0.8 * mixture.weights + 0.2 / 3.0
        mixture.ask()
        mixture.state()
    assert calls.min() >= 3


def test_a_learner_that_cannot_share_costs_its_own_calls():
    X = Counted()
    assert not isinstance(FTPL(Simplex(4), seed=1), SharesOracle)
    mixture = Mixture([CorrectiveOMD(X), FTPL(X, seed=1), AdaptiveOCG(X, RmsSteps())])
    begin = X.calls
    assert mixture.oracle_calls == begin == 1  # the first perturbed leader
    assert mixture.oblivious_only
    for _ in range(10):
        mixture.tell(EvalGrad(0.0, np.arange(4.0)))
    assert mixture.oracle_calls == X.calls == begin + 20


def test_without_its_oracle_call_a_leader_stays_and_adds_up():
    """All it would have known is known at its next call: S, the sum of <s, x>, the squares."""
    X, rng = L2Ball(3), np.random.default_rng(2)
    learner = AdaptiveOCG(X, CertificateSteps())
    learner.tell(EvalGrad(0.0, rng.standard_normal(3)))
    x, S = learner.ask(), learner._state["S"].copy()
    losses = rng.standard_normal((4, 3))
    inner, squares = learner._state["inner"][0], learner._state["rule"][3]
    for s in losses:
        learner.tell_without_oracle(EvalGrad(0.0, s))
        np.testing.assert_array_equal(learner.ask(), x)
    np.testing.assert_allclose(learner._state["S"], S + losses.sum(axis=0), rtol=1e-14)
    assert learner._state["inner"][0] == pytest.approx(inner + (losses @ x).sum())
    assert learner._state["rule"][3] == pytest.approx(squares + np.sum(losses**2))
    assert (learner.oracle_calls, learner._state["t"][0]) == (1, 5)


@pytest.mark.parametrize("bad", [np.ones(4), np.array([1.0, np.nan, 0.0]), np.full(3, 1e160)])
@pytest.mark.parametrize("make", [CorrectiveOMD, lambda X: AdaptiveOCG(X, CertificateSteps())])
def test_without_the_oracle_bad_losses_are_refused_too(make, bad):
    learner = make(L2Ball(3))
    before = json.dumps(learner.state(), default=np.ndarray.tolist)
    with pytest.raises(ValueError, match="the gradient of the loss"):
        learner.tell_without_oracle(EvalGrad(0.0, bad))
    assert json.dumps(learner.state(), default=np.ndarray.tolist) == before


def test_the_certificate_rule_holds_with_calls_left_out():
    """sum <s_t, x_t - u> <= (1 + c) beta_{T+1} D^2 + gap_T, for every u, also at half the calls."""
    X, rng, c = Simplex(6), np.random.default_rng(3), 0.03
    learner, played, S = AdaptiveOCG(X, CertificateSteps(c)), 0.0, np.zeros(6)
    for t in range(400):
        s = rng.standard_normal(6) + 0.2 * np.arange(6)
        played, S = played + s @ learner.ask(), S + s
        (learner.tell_without_oracle if t % 2 else learner.tell)(EvalGrad(0.0, s))
    beta, M = learner._state["rule"][4:]
    D2 = X.diameter**2
    d = S + 2.0 * beta * (learner.ask() - X.start())
    gap = d @ learner.ask() - X.minimum(d)
    assert played - X.minimum(S) <= (1.0 + c) * max(beta, M / (c * D2)) * D2 + gap


@pytest.mark.parametrize("name", ["simplex", "l2ball", "box", "dag", "k-subsets"])
@pytest.mark.parametrize("speed", [0.0, 0.05])
def test_a_mixture_is_hardly_worse_than_its_best_learner(name, speed):
    X, rng = SETS[name](), np.random.default_rng(4)
    mixture, phases = tracking_learner(X), rng.uniform(0.0, 6.0, X.dim)
    played, losses, weights = [], [], []
    for t in range(400):
        s = np.sin(speed * t + phases) + 0.3 * rng.standard_normal(X.dim)
        plays = [learner.ask() for learner in mixture.learners]
        np.testing.assert_allclose(mixture.ask(), mixture.weights @ plays, rtol=0, atol=1e-15)
        played.append(mixture.ask() @ s)
        losses.append(plays @ s)
        weights.append(mixture.weights)
        mixture.tell(EvalGrad(0.0, s))
    losses, played = np.array(losses), np.array(played)
    V = np.sum(np.array(weights) * (losses - played[:, None]) ** 2)
    S, log = np.ptp(losses, axis=1).max(), np.log(2.0)
    regret = played.sum() - losses.sum(axis=0).min()
    assert regret <= 2.0 * np.sqrt(V * log) + S * (4.0 / 3.0 * log + 2.0)
    assert regret < 0.5 * np.ptp(losses.sum(axis=0)) + 2.0 * S  # far from the other learner


@pytest.mark.parametrize("name", SETS)
def test_the_tracking_policy_conforms_and_its_certificate_holds(name):
    check_policy(lambda: tracking_policy(SETS[name]()))


@given(i=st.integers(-60, 60), j=st.integers(-60, 60), seed=st.integers(0, 50))
@settings(max_examples=10, deadline=None)
def test_the_tracking_policy_has_no_unit(i, j, seed):
    problem = IidSimplex(n=8, horizon=60, seed=seed)
    plain, scaled = (tracking_policy(problem.decision_set) for _ in range(2))
    for cost, constraint in problem:
        x = plain.ask()
        np.testing.assert_array_equal(x, scaled.ask())
        f, g = first_order(cost, x), first_order(constraint, x)
        plain.tell(f, g)
        scaled.tell(
            EvalGrad(2.0**i * f.value, 2.0**i * f.grad), EvalGrad(2.0**j * g.value, 2.0**j * g.grad)
        )


def test_bad_mixtures_are_refused():
    with pytest.raises(ValueError, match="at least one learner"):
        Mixture([])
    with pytest.raises(ValueError, match="got dimensions \\[2, 3\\]"):
        Mixture([CorrectiveOMD(Simplex(2)), CorrectiveOMD(Simplex(3))])
