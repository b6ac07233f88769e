"""Algorithms 3, 4, 6 and 7, typed off the paper after its errata, against the library.

The transcriptions share the library's random stream: one standard normal vector a round, in order.
They work in the set's own coordinates, with V and Phi formed; the library works in coordinates of
the affine hull and divides by V.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.sets.matroids.spanning_trees import SpanningTrees
from hedgerow.sets.projections.frank_wolfe import conditional_gradient
from hedgerow.sets.simplices.simplex import KSubsets

T = 500
SETS = {
    "ball": lambda: hr.sets.L2Ball(4, radius=2.0),
    "box": lambda: hr.sets.Box([-1.0, 0.0, 2.0, 1.0], [1.0, 5.0, 2.0, 4.0]),  # one side is a point
    "simplex": lambda: hr.sets.Simplex(4, total=6.0),
}


def algorithm_6(lmo, s, eta, x1, start, tolerance, cap):
    """Conditional gradient for F(z) = <s, z> + ||z - x1||^2/eta, returning z_{tau+1} (erratum 22).

    The line search is done by trial, not by the closed form that the library uses.
    """

    def F(z):
        return s @ z + np.sum((z - x1) ** 2) / eta

    z, calls, gap = start, 0, math.inf
    while gap > tolerance and calls < cap:
        calls += 1
        nabla = s + 2 * (z - x1) / eta
        v = lmo(nabla)
        gap = nabla @ (z - v)
        # F along the segment is a quadratic: three values give its minimiser
        at0, half, at1 = F(z), F((z + v) / 2), F(v)
        curve, slope = 2 * (at0 - 2 * half + at1), 4 * half - 3 * at0 - at1
        sigma = 0.0 if curve <= 0 else float(np.clip(-slope / (2 * curve), 0, 1))
        z = z + sigma * (v - z)
    return z, calls


def algorithm_3(X, surrogate_value, seed, *, paper, rounds=T):
    """Algorithm 3, with u_t in the estimate and the shrunk set about the inner ball's centre."""
    rng = np.random.default_rng(seed)
    basis, (centre, r), D = X.hull()[1], X.ball(), X.diameter
    n, K = basis.shape[1], math.ceil(math.sqrt(T))
    delta = math.sqrt(n) * T**-0.25 if paper else r * min(0.5, math.sqrt(n) * T**-0.25)
    epsilon = (16 if paper else 0.16) * D**2 * math.sqrt(math.log(T)) / math.sqrt(T)

    def lmo(c):
        return centre + (1 - delta / r) * (X.lmo(c) - centre)  # X_delta

    x, plays, moved, calls = centre, [], 0, 0
    S, squares, M, L, mean = np.zeros(X.dim), 0.0, 0.0, 0.0, 0.0
    block, values = np.zeros(X.dim), []
    for t in range(1, rounds + 1):
        u = basis @ (basis.T @ rng.standard_normal(X.dim))
        u = u / np.linalg.norm(u)
        y = x + delta * u
        plays.append(y)
        value, lipschitz, bound = surrogate_value(t, y)
        block = block + n * (value - (0.0 if paper else mean)) / delta * u
        values.append(value)
        M, L = max(M, bound), max(L, lipschitz)
        if t % K == 0:
            S, squares = S + block, squares + block @ block
            if paper:
                eta = D / ((math.sqrt(n) * M + L) * T**0.75)
            else:
                eta = 0.5 * D / math.sqrt(squares)
            z, used = algorithm_6(lmo, S, eta, centre, x, epsilon / eta, K)
            moved += bool(np.linalg.norm(z - x) > 1e-4 * D)
            x, calls = z, calls + used
            mean, block, values = float(np.mean(values)), np.zeros(X.dim), []
    return np.array(plays), calls, moved


def random_rounds(X, seed):
    """Quadratic costs and linear constraints that pull apart; with constants that hold on X."""
    rng = np.random.default_rng(seed)
    centre, D = X.ball()[0], X.diameter
    rounds = []
    for _ in range(T):
        a = rng.uniform(0.2, 1.0, X.dim)
        cost = hr.Quadratic(0.2, a - 0.2 * centre, rng.normal())
        b = 0.3 * rng.standard_normal(X.dim) - a
        constraint = hr.Linear(b, -float(b @ centre) + rng.normal(-0.1, 0.2))
        rounds.append((cost, constraint))
    return rounds, 0.2 * D + 3.0, 5.0 + 6.0 * D  # Lipschitz constant and bound


def algorithm_4(X, rounds, G, F, V, p, Q0, seed, *, drift):
    """Algorithm 4: V f + Phi'(Q(t-1) + GD) g^+ at y_t, Phi(x) = x^p, with the queue's update.

    With `drift`, V f + Phi(Q(t-1) + g^+) - Phi(Q(t-1)), and the practical block rule.
    """
    Q, weights = Q0, []

    def surrogate_value(t, y):
        nonlocal Q
        cost, constraint = rounds[t - 1]
        f, violation = cost(y), max(0.0, constraint(y))
        before, Q = Q, Q + violation
        if drift:
            weights.append(p * Q ** (p - 1) / V)
            return V * f + Q**p - before**p, math.nan, math.nan
        w = p * (before + G * X.diameter) ** (p - 1)
        weights.append(w / V)
        return V * f + w * violation, V * G + w * G, V * F + w * F

    plays, calls, moved = algorithm_3(X, surrogate_value, seed, paper=not drift)
    return plays, calls, moved, max(weights)


def compare(policy, rounds, expected, lipschitz, bound):
    largest = 0.0
    for (cost, constraint), wanted in zip(rounds, expected, strict=True):
        y = policy.ask()
        largest = max(largest, float(np.abs(y - wanted).max()))
        policy.tell(
            hr.bandit(cost, y, lipschitz, bound), hr.bandit(constraint, y, lipschitz, bound)
        )
    return largest


@pytest.mark.parametrize("name", SETS)
def test_algorithms_3_4_6_with_the_papers_steps(name):
    X, p = SETS[name](), math.log(T)
    rounds, G, F = random_rounds(X, seed=1)
    scale, Q0 = 30.0, 20.0  # small enough that the constraint matters
    V = scale**p
    expected, calls, moved, weight = algorithm_4(X, rounds, G, F, V, p, Q0, 11, drift=False)
    policy = hr.ConstrainedBandit(
        hr.learners.BlockBandit(X, hr.learners.PaperBlocks(T), seed=11),
        hr.surrogates.LaggedSurrogate(
            hr.surrogates.PowerPotential(p, scale), Q0, overshoot=G * X.diameter
        ),
    )
    assert compare(policy, rounds, expected, G, F) < 1e-9
    assert policy.oracle_calls == calls
    assert weight > 0.1, "the constraint must have acted, or this test shows nothing"
    assert moved > 5, "the learner must have moved, or this test shows nothing"


@pytest.mark.parametrize("name", SETS)
def test_algorithms_3_4_6_with_practical_steps_and_the_drift(name):
    X, p = SETS[name](), math.log(T)
    rounds, G, F = random_rounds(X, seed=2)
    scale, Q0 = 40.0, p
    expected, calls, moved, weight = algorithm_4(X, rounds, G, F, scale**p, p, Q0, 12, drift=True)
    policy = hr.ConstrainedBandit(
        hr.learners.BlockBandit(X, hr.learners.PracticalBlocks(T), seed=12),
        hr.surrogates.DriftSurrogate(hr.surrogates.PowerPotential(p, scale), Q0),
    )
    assert compare(policy, rounds, expected, G, F) < 1e-9
    assert policy.oracle_calls == calls
    assert calls > T // math.ceil(math.sqrt(T)) + 5, "some blocks must need several steps"
    assert weight > 0.1
    assert moved > 5


@pytest.mark.parametrize("name", SETS)
def test_algorithm_6_is_the_papers(name):
    X = SETS[name]()
    rng = np.random.default_rng(3)
    several = 0
    for _ in range(100):
        s, beta = 10 * rng.standard_normal(X.dim), rng.uniform(0.1, 5.0)
        x1, start = rng.standard_normal(X.dim), X.lmo(rng.standard_normal(X.dim))
        tolerance, cap = 10.0 ** rng.uniform(-3, 0), int(rng.integers(1, 30))
        z, calls = algorithm_6(X.lmo, s, 1 / beta, x1, start, tolerance, cap)
        end = conditional_gradient(X.lmo, s, beta, x1, start, tolerance, cap)
        np.testing.assert_allclose(end.x, z, rtol=0, atol=1e-9)
        assert end.calls == calls <= cap
        assert end.gap <= tolerance or calls == cap
        several += calls > 2
    assert several > 10


def test_the_theory_preset_is_algorithm_4_with_its_constants():
    """With units: c = (3 + R/r) sqrt(n) G + 12 G R (log T)^{1/4} + 2 (1 + e) R (sqrt(n) F + G)."""
    X, T, G, F = hr.sets.Box(-np.ones(4), 3 * np.ones(4)), 10000, 2.0, 7.0
    with pytest.warns(hr.VacuousConstantsWarning, match="it is ignored"):
        policy = hr.projection_free_bandit(X, T, 0, lipschitz=(1.0, G), bound=F, preset="theory")
    p, D, r = math.log(T), X.diameter, 2.0
    c = (3 + D / r) * 2 * G + 12 * G * D * p**0.25 + 2 * (1 + math.e) * D * (2 * F + G)
    surrogate = policy.surrogate
    assert surrogate.potential.p == p
    assert surrogate.potential.scale == pytest.approx(c * p * T**0.75)
    assert surrogate.queue == pytest.approx(G * D * math.sqrt(T) * p)
    assert surrogate.overshoot == pytest.approx(G * D)
    assert policy.learner.steps == hr.learners.PaperBlocks(T)


def test_the_practical_preset_is_its_formula():
    X, T = hr.sets.L2Ball(3, radius=2.0), 100_000
    policy = hr.projection_free_bandit(X, T, 0, lipschitz=(6.0, 2.0), bound=(9.0, 5.0))
    surrogate, p = policy.surrogate, math.log(T)
    assert isinstance(surrogate, hr.surrogates.DriftSurrogate)
    assert surrogate.ranges.violation == 5.0  # the smaller of 5 and 2 x 4
    assert surrogate.ranges.ratio == 3.0
    assert surrogate.queue == p
    assert surrogate.potential.scale == pytest.approx(max(0.1 * T**0.75, 2 * p))
    assert policy.learner.steps == hr.learners.PracticalBlocks(T)


COMPLETE = [(i, j) for i in range(6) for j in range(i + 1, 6)]
VERTEX_SETS = {
    "k-subsets": lambda: KSubsets(12, 4),
    "trees": lambda: SpanningTrees(COMPLETE),
    "paths": lambda: hr.ShortestPath.random_network(25, 80, horizon=8, seed=3).decision_set,
}


def vertex_rounds(X, seed):
    """Linear rounds whose norms times the points' are 1; b in the value alone (erratum 32)."""
    rng = np.random.default_rng(seed)
    longest = math.sqrt(-X.minimum(-np.ones(X.dim)))  # the points are 0/1 vectors
    for _ in range(T):
        f, g = rng.uniform(0.0, 1.0, (2, X.dim))
        f, g = (c / np.linalg.norm(c) / longest for c in (f, f - 2 * g))
        yield f, g, float(0.5 * -g @ X.start())


def algorithm_7(X, rounds, seed, one=1.0):
    """Algorithm 7, undivided: L_t, V and eta_t with the literal 1."""
    rng = np.random.default_rng(seed)
    N, V = X.dim, math.sqrt(T)
    Q, L, squares, plays, queues = 0.0, np.zeros(N), 0.0, [], []
    for f, g, b in rounds:
        eta = math.sqrt((one + squares) / N)
        x = X.lmo(L + eta * rng.standard_normal(N))
        plays.append(x)
        hat = V * f + 2 * Q * g
        Q = max(0.0, Q + float(g @ x) + b)
        L, squares = L + hat, squares + hat @ hat
        queues.append(Q)
    return np.array(plays), queues


def ftpl_plays(policy, rounds):
    plays, queues = [], []
    for f, g, b in rounds:
        x = policy.ask()
        plays.append(x)
        policy.tell(
            hr.feedback.EvalGrad(float(f @ x), f), hr.feedback.EvalGrad(float(g @ x) + b, g)
        )
        queues.append(policy.surrogate.queue)
    return np.array(plays), queues


@pytest.mark.parametrize("name", VERTEX_SETS)
def test_algorithm_7_is_the_papers(name):
    X = VERTEX_SETS[name]()
    rounds = list(vertex_rounds(X, seed=4))
    expected, queues = algorithm_7(X, rounds, seed=5)
    plays, ours = ftpl_plays(hr.ftpl_coco(X, T, 5, preset="theory"), rounds)
    assert (plays != expected).any(axis=1).sum() == 0
    np.testing.assert_allclose(ours, queues, rtol=0, atol=1e-9)
    assert max(queues) > 0.0
    assert len({x.tobytes() for x in plays}) > 5
