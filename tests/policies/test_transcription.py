"""Algorithms 1 and 2, typed off the paper line by line, against the library."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.kernels.path_rounds import COST2, FORCE2, PLAIN_COST2, PLAIN_FORCE2, SUMS
from hedgerow.learners.steps import BETA
from hedgerow.surrogates.square_weight import WeightOfSums

ROUNDS = 1000


def dag() -> hr.sets.DagPaths:
    return hr.ShortestPath.random_network(nodes=25, edges=90, horizon=8, seed=3).decision_set


SETS = {
    "simplex": lambda: hr.sets.Simplex(12),
    "ball": lambda: hr.sets.L2Ball(7, radius=2.0),
    "box": lambda: hr.sets.Box(-np.arange(1.0, 7.0), np.ones(6)),
    "dag": dag,
}


def algorithm_1(X, gradient_at, T):
    """Algorithm 1, with L_t the running maximum (errata 1 and 2)."""
    D = X.diameter
    x1 = X.start()
    x, plays, gradients, L = x1, [], [], 0.0
    for t in range(1, T + 1):
        plays.append(x)
        nabla = gradient_at(t, x)
        gradients.append(nabla)
        L = max(L, float(np.linalg.norm(nabla)))
        eta = D / (2 * L * T**0.75)
        sigma = min(1.0, 2 / math.sqrt(t))
        grad_F = np.sum(gradients, axis=0) + 2 * (x - x1) / eta
        v = X.lmo(grad_F)
        x = (1 - sigma) * x + sigma * v
    return np.array(plays)


def algorithm_2(X, rounds, T, V, p, Q0):
    """Algorithm 2, with V and Phi formed: Phi(x) = x^p, surrogate V f + Phi'(Q) g^+."""
    Q = Q0

    def gradient_at(t, x):
        nonlocal Q
        (a, _), (b, d) = rounds[t - 1]
        g = float(b @ x) + d
        Q = Q + max(0.0, g)
        nabla = V * a
        if g > 0:
            nabla = nabla + p * Q ** (p - 1) * b
        return nabla

    return algorithm_1(X, gradient_at, T)


def random_rounds(X, seed):
    rng = np.random.default_rng(seed)
    centre = X.start()
    for _ in range(ROUNDS):
        a = rng.uniform(0.2, 1.0, X.dim)
        b = 0.6 * rng.standard_normal(X.dim) - a
        yield (a, 0.0), (b, -float(b @ centre) + rng.normal(0.0, 0.3))


@pytest.mark.parametrize("name", SETS)
def test_algorithm_1_is_the_papers(name):
    X = SETS[name]()
    rng = np.random.default_rng(1)
    targets = rng.standard_normal((ROUNDS, X.dim))
    weights = rng.uniform(0.0, 3.0, ROUNDS)
    weights[rng.uniform(size=ROUNDS) < 0.1] = 0.0  # some zero gradients; not the first

    def gradient_at(t, x):
        return (weights[t - 1] if t > 1 else 1.0) * (x - targets[t - 1])

    expected = algorithm_1(X, gradient_at, ROUNDS)
    learner = hr.learners.AdaptiveOCG(X, hr.learners.steps.PaperSteps(ROUNDS))
    for t in range(1, ROUNDS + 1):
        x = learner.ask()
        np.testing.assert_allclose(x, expected[t - 1], rtol=0, atol=1e-9)
        learner.tell(hr.feedback.EvalGrad(0.0, gradient_at(t, x)))
    assert learner.oracle_calls == ROUNDS


@pytest.mark.parametrize("name", SETS)
def test_algorithm_2_is_the_papers(name):
    X = SETS[name]()
    p = math.log(ROUNDS)
    scale = 0.1 * ROUNDS**0.75 * X.diameter  # small enough that V is a float and Phi' matters
    Q0 = p * X.diameter
    rounds = list(random_rounds(X, seed=2))
    expected = algorithm_2(X, rounds, ROUNDS, scale**p, p, Q0)
    policy = hr.ConstrainedPolicy(
        hr.learners.AdaptiveOCG(X, hr.learners.steps.PaperSteps(ROUNDS)),
        hr.surrogates.CurrentSurrogate(hr.surrogates.PowerPotential(p, scale), queue=Q0),
    )
    weights = []
    for t, ((a, _), (b, d)) in enumerate(rounds):
        x = policy.ask()
        np.testing.assert_allclose(x, expected[t], rtol=0, atol=1e-9)
        policy.tell(
            hr.feedback.EvalGrad(float(a @ x), a), hr.feedback.EvalGrad(float(b @ x) + d, b)
        )
        weights.append(policy.surrogate.weight)
    assert max(weights) > 0.1, "the constraint must have acted, or this test shows nothing"


def test_the_theory_preset_is_algorithm_2_with_its_constants():
    X, T, G = hr.sets.Simplex(3), 1600, 5.0
    with pytest.warns(hr.VacuousConstantsWarning):
        policy = hr.projection_free_coco(X, T, preset="theory", lipschitz=G)
    p, GD = math.log(T), G * math.sqrt(2.0)
    potential = policy.surrogate.potential
    assert potential.p == p
    assert potential.scale == pytest.approx(144 * GD * p**2 * T**0.75)
    assert policy.surrogate.queue == pytest.approx(GD * p)
    assert policy.learner.steps == hr.learners.steps.PaperSteps(T)


def certificate_step(X, x1, x, beta, S, a, s, P, c=0.03, floor=1 / 32, cap=1.0):
    """One round of the certificate-driven learner, as its pseudocode stands."""
    D = X.diameter
    M = a - S @ x - beta * np.sum((x - x1) ** 2)
    beta = max(beta, floor * P**0.75 / D, min(M / (c * D**2), cap * P**0.75 / D))
    direction = (S + s) + 2 * beta * (x - x1)
    v = X.lmo(direction)
    gap = direction @ (x - v)
    sigma = min(1.0, gap / (2 * beta * np.sum((v - x) ** 2))) if gap > 0 else 0.0
    return x + sigma * (v - x), beta


@pytest.mark.parametrize("name", SETS)
def test_certificate_steps_are_their_pseudocode(name):
    """Each step from the library's own point and beta: rounding in beta grows up to 1/c-fold."""
    X = SETS[name]()
    rng = np.random.default_rng(4)
    gradients = rng.standard_normal((ROUNDS, X.dim)) + 0.2 * rng.standard_normal(X.dim)
    learner = hr.learners.AdaptiveOCG(X, hr.learners.steps.CertificateSteps())
    x1, S, a, P, beta = X.start(), np.zeros(X.dim), 0.0, 0.0, 0.0
    for s in gradients:
        x = learner.ask()
        P += np.sum(X.tangent(s) ** 2) ** (2 / 3)
        expected, expected_beta = certificate_step(X, x1, x, beta, S, a, s, P)
        learner.tell(hr.feedback.EvalGrad(0.0, s))
        S, a, beta = S + s, a + s @ x, learner.rule_numbers[BETA]
        assert beta == pytest.approx(expected_beta, rel=1e-9)
        np.testing.assert_allclose(learner.ask(), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kappa", [8.0, 16.0])
def test_rms_steps_are_their_formula(kappa):
    X = hr.sets.Box(-np.ones(5), np.ones(5))
    rng = np.random.default_rng(5)
    gradients = rng.standard_normal((200, 5)) + 0.2
    learner = hr.learners.AdaptiveOCG(X, hr.learners.steps.RmsSteps(kappa))
    x, S, q = X.start(), np.zeros(5), 0.0
    for t, s in enumerate(gradients, start=1):
        np.testing.assert_allclose(learner.ask(), x, rtol=0, atol=1e-9)
        learner.tell(hr.feedback.EvalGrad(0.0, s))
        S, q = S + s, q + s @ s
        eta = kappa * X.diameter / (2 * t**0.25 * math.sqrt(q))
        d = S + 2 * (x - X.start()) / eta
        v = X.lmo(d)
        if (v != x).any():
            sigma = np.clip(eta * (d @ (x - v)) / (2 * np.sum((v - x) ** 2)), 0.0, 1.0)
            x = x + sigma * (v - x)


@pytest.mark.parametrize("eagerness", [0.5, 1.0, 4.0])
def test_the_practical_weight_is_its_formula(eagerness):
    """2 eagerness (Gf/Gg) Q(t)/Mg, with the largest that were seen; and the same from sums."""
    X, rng = hr.sets.Simplex(4), np.random.default_rng(6)
    policy = hr.projection_free_coco(X, tracking=False, eagerness=eagerness)
    of_sums, Q, Mg, Gf, Gg, weights = WeightOfSums(4, eagerness), 0.0, 0.0, 0.0, 0.0, []
    for _ in range(300):
        x, a, b = policy.ask(), rng.uniform(0, 1, 4), rng.standard_normal(4)
        g, along = float(b @ x) + 0.2, [s - s.mean() for s in (a, b)]
        Gf, w = max(Gf, float(np.linalg.norm(along[0]))), 0.0
        if g > 0.0:
            Q, Mg, Gg = Q + g, max(Mg, g), max(Gg, float(np.linalg.norm(along[1])))
            w = 2.0 * eagerness * Gf / Gg * Q / Mg
        policy.tell(hr.feedback.EvalGrad(float(a @ x), a), hr.feedback.EvalGrad(g, b))
        sums = np.zeros(SUMS)
        sums[[COST2, FORCE2]] = [float(s @ s) for s in along]
        sums[[PLAIN_COST2, PLAIN_FORCE2]] = float(a @ a), float(b @ b)
        weights.append(w)
        assert policy.surrogate.weight == pytest.approx(w, rel=1e-12)
        assert of_sums.tell(g, sums) == pytest.approx(w, rel=1e-12)
    assert np.count_nonzero(weights) > 100
