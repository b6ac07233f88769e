"""Algorithms 1 and 2, typed off the paper line by line, against the library."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.learners.steps import BETA

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


@pytest.mark.parametrize("tracking", [False, True])
def test_the_practical_weight_is_its_formula(tracking):
    """The rule of `AdaptiveSurrogate`, as its docstring has it, with every sum formed.

    Four rounds cannot be satisfied; in thirty others one coordinate of the constraint fails.
    """
    X = hr.sets.Simplex(4)
    kind = hr.learners.TrackingOCG if tracking else hr.learners.AdaptiveOCG
    learner = kind(X, hr.learners.steps.CertificateSteps())
    surrogate = hr.surrogates.AdaptiveSurrogate(hr.surrogates.ObservedRanges(learner))
    policy = hr.ConstrainedPolicy(learner, surrogate)  # without a guard
    rng = np.random.default_rng(6)
    S, inner, paid, F2, V = np.zeros(4), 0.0, 0.0, 0.0, 0.0
    seen, felt, calls, forgiven, rate, dear = [], 0, 0, 0.0, 0.0, 0.0
    slopes, only_steep = [], 0
    for t in range(1, 400):
        x = policy.ask()
        a, b = rng.uniform(0, 1, 4) + 0.2 * np.arange(4), rng.standard_normal(4)
        if 200 <= t < 230:
            b[0] = 60.0
        g = float(b @ x) + (-9.0 if t < 40 else 9.0 if 90 <= t < 94 else 0.2)
        F2 += np.sum((a - a.mean()) ** 2)
        unit = sorted(seen)[-2:][0] if seen else 0.0
        w, before, forgiven = 0.0, forgiven, 0.0
        if g > 0.0:
            slope = float(np.linalg.norm(b - b.mean()))
            steep = len(slopes) > 0 and slope > 4.0 * sum(slopes) / len(slopes)
            only_steep += steep and not (g > 2.0 * unit or before > 0.0)
            if not steep:
                slopes.append(slope)
            if g > 2.0 * unit or before > 0.0 or steep:
                forgiven, calls = max(0.0, g + b.min() - b @ x), calls + 1
                price = (a[b.argmin()] - a @ x) / (b @ x - b.min())
                if forgiven == 0.0:
                    rate = max(0.5 * rate, price)
                elif b @ x - b.min() > 0.1 * unit:
                    dear = max(0.5 * dear, price)  # an infeasible round has its own
            v = g - forgiven
            if forgiven == 0.0 or not seen:
                seen.append(v)
                unit = sorted(seen)[-2:][0]
                V = min(V, (len(seen) - 1) * unit) + min(v, unit)
            felt += 1
            q = 6.0 if forgiven > 0.0 else 6.0 + max(V / unit, math.log2(1.0 + len(seen)))
            ratio = math.sqrt(F2 / t) * (t / felt) ** 0.25 / slope
            ratio = max(ratio, 4.0 * (max(rate, dear) if forgiven > 0.0 else rate))
            lost = max(0.0, inner - S @ x - paid)
            k = min(max(9.0, 0.375 * math.sqrt(t)), 9.0 + 0.375 * lost / (ratio * unit))
            w = ratio * max(0.5, min(5.0 / k * (q / k) ** 4, math.sqrt(t)))
        policy.tell(hr.feedback.EvalGrad(float(a @ x), a), hr.feedback.EvalGrad(g, b))
        assert policy.surrogate.weight == pytest.approx(w, rel=1e-9)
        assert policy.oracle_calls == t + calls
        S, inner, paid = S + a + w * b, inner + (a + w * b) @ x, paid + w * max(0.0, g - forgiven)
    assert calls >= 5
    assert len(seen) > 20
    assert only_steep >= 3, "rounds that are looked at for nothing but their slope"
