"""Theorems A and B: certificates of `CertificateSteps` on constrained games."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.learners import AdaptiveOCG
from hedgerow.learners.steps import BETA, CertificateSteps
from hedgerow.learners.steps import M as M_
from hedgerow.problems.drifting import DriftingSubsets
from hedgerow.surrogates import CurrentSurrogate, ObservedRanges, PowerPotential
from synthetic_games import GAMES

T, C = 150, 0.03
PLAYED = GAMES | {
    "drifting_subsets": lambda seed, T: DriftingSubsets(
        n=9, k=3, window=4, drift=10, rotation=7, horizon=T, seed=seed
    ),
    "random_network": lambda seed, T: hr.ShortestPath.random_network(12, 40, T, seed),
}


def played(name, seed=0):
    """Play, and record what the theorems speak of from the outside."""
    problem = PLAYED[name](seed, T)
    X = problem.decision_set
    learner = AdaptiveOCG(X, CertificateSteps())
    square = PowerPotential(2.0, 1.0)
    policy = hr.ConstrainedPolicy(learner, CurrentSurrogate(square, 0.0, ObservedRanges(learner)))
    x, s = [], []
    for f, g in problem.rounds(policy):
        x.append(policy.ask())
        policy.tell(hr.first_order(f, x[-1]), hr.first_order(g, x[-1]))
        active = policy.surrogate.weight if g(x[-1]) > 0.0 else 0.0
        s.append(f.grad(x[-1]) + active * g.grad(x[-1]))
    return SimpleNamespace(X=X, learner=learner, x=np.array(x), s=np.array(s))


@pytest.mark.parametrize("name", PLAYED)
def test_theorem_a(name):
    """sum <s, x_t - u> <= M + gap + beta ||u - x_1||^2 <= (1 + c) beta' D^2 + gap, for every u.

    beta and M are the learner's own: were one of them wrong, the first line would fail.
    """
    run = played(name)
    X, S = run.X, run.s.sum(axis=0)
    x1, last = run.x[0], run.learner.ask()
    beta, M = run.learner.rule_numbers[[BETA, M_]]
    d = S + 2.0 * beta * (last - x1)
    gap = float(d @ last) - X.minimum(d)
    inner, D2 = float(np.sum(run.s * run.x)), X.diameter**2
    rounding = 1e-9 * (1.0 + float(np.abs(run.s * run.x).sum()))
    rng = np.random.default_rng(0)
    for u in [X.lmo(S), X.start(), *(X.lmo(rng.standard_normal(X.dim)) for _ in range(5))]:
        regret = inner - float(S @ u)
        middle = M + gap + beta * float((u - x1) @ (u - x1))
        assert regret <= middle + rounding
        assert middle <= (1.0 + C) * max(beta, M / (C * D2)) * D2 + gap + rounding


def test_theorem_a_needs_its_terms():
    """Without the regulariser's term it is false: the test above can fail."""
    run = played("iid_simplex")
    S, (beta, M) = run.s.sum(axis=0), run.learner.rule_numbers[[BETA, M_]]
    d = S + 2.0 * beta * (run.learner.ask() - run.x[0])
    gap = float(d @ run.learner.ask()) - run.X.minimum(d)
    assert float(np.sum(run.s * run.x)) - run.X.minimum(S) > M + gap


def turning(T, rng):
    """Gradients that turn against whoever has just arrived."""
    return np.where((np.arange(T) // rng.integers(1, 20))[:, None] % 2, 1.0, -1.0) * [1.0, 0.3]


def noisy(T, rng):
    """Gradients with a small mean."""
    return np.add(rng.standard_normal((T, 2)), [0.2, 0.0])


@pytest.mark.parametrize("c", [0.03, 1.0])
@pytest.mark.parametrize("gradients", [turning, noisy])
def test_theorem_b(c, gradients):
    """Exact minimisers on a disc: M_T <= D sqrt(c/2 sum ||s||^2) + 2 L D, at every T."""
    D, s = 2.0, gradients(600, np.random.default_rng(1))
    S, x, beta, margin, inner, squares, L = np.zeros(2), np.zeros(2), 0.0, 0.0, 0.0, 0.0, 0.0
    for g in s:
        beta = max(beta, margin / (c * D**2))
        S, inner, squares = S + g, inner + g @ x, squares + g @ g
        L = max(L, float(np.linalg.norm(g)))
        y = -S / (2.0 * beta) if beta > 0.0 else -1e9 * S
        x = y / max(1.0, float(np.linalg.norm(y)))
        margin = inner - S @ x - beta * (x @ x)  # M_t
        root = D * math.sqrt(0.5 * c * squares)
        assert margin <= root + 2.0 * L * D
        assert inner + float(np.linalg.norm(S)) <= margin + beta * D**2 + 1e-9
    assert margin > 0.2 * root  # the bound is not idle
