"""What docs/appendix/beyond.md proves, on constrained games."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.learners.steps import BETA
from hedgerow.learners.steps import M as M_
from hedgerow.problems.drifting import DriftingSubsets
from synthetic_games import GAMES

T, C = 150, 0.03
PLAYED = GAMES | {
    "drifting_subsets": lambda seed, T: DriftingSubsets(
        n=9, k=3, window=4, drift=10, rotation=7, horizon=T, seed=seed
    ),
    "random_network": lambda seed, T: hr.ShortestPath.random_network(12, 40, T, seed),
}


def plain(X):
    """The policy, and what its leader plays."""
    policy = hr.projection_free_coco(X, tracking=False)
    return policy, [policy.learner.ask]


def tracking(X):
    """The policy, and what the leader and the follower inside its mixture play."""
    policy = hr.projection_free_coco(X)
    return policy, [lambda: policy.learner.leader_play, lambda: policy.learner.follower_play]


def played(name, make, seed=0):
    """Play, and record what the theorems speak of from the outside."""
    problem = PLAYED[name](seed, T)
    X = problem.decision_set
    policy, (leader, *others) = make(X)
    policy.end_retreat()  # the theorems are about the learner's decisions
    x, own, theirs, mixed, s, rounds, cost, calm = [], [], [], [], [], [], 0.0, [0]
    for f, g in problem.rounds(policy):
        x.append(policy.ask())
        own.append(leader().copy())
        theirs += [play().copy() for play in others]
        mixed += [policy.learner.weights @ [own[-1], theirs[-1]] for _ in others]
        cost += f(x[-1])
        policy.tell(hr.first_order(f, x[-1]), hr.first_order(g, x[-1]))
        active = policy.surrogate.weight if g(x[-1]) > 0.0 else 0.0
        s.append(f.grad(x[-1]) + active * g.grad(x[-1]))
        calm.append(0 if active > 0.0 else calm[-1] + 1)
        rounds.append((f, g))
    x, own, theirs, mixed, s = (np.array(rows) for rows in (x, own, theirs, mixed, s))
    return SimpleNamespace(**locals())


@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize("make", [plain, tracking])
def test_theorem_a(name, make):
    """sum <s, x_t - u> <= M + gap + beta ||u - x_1||^2 <= (1 + c) beta' D^2 + gap, for every u.

    beta and M are the learner's own: were one of them wrong, the first line would fail.
    """
    run = played(name, make)
    X, S = run.X, run.s.sum(axis=0)
    x1, last = run.own[0], run.leader()
    beta, M = run.policy.learner.rule_numbers[[BETA, M_]]
    d = S + 2.0 * beta * (last - x1)
    gap = float(d @ last) - X.minimum(d)
    inner, D2 = float(np.sum(run.s * run.own)), X.diameter**2
    rounding = 1e-9 * (1.0 + float(np.abs(run.s * run.own).sum()))
    rng = np.random.default_rng(0)
    for u in [X.lmo(S), X.start(), *(X.lmo(rng.standard_normal(X.dim)) for _ in range(5))]:
        regret = inner - float(S @ u)
        middle = M + gap + beta * float((u - x1) @ (u - x1))
        assert regret <= middle + rounding
        assert middle <= (1.0 + C) * max(beta, M / (C * D2)) * D2 + gap + rounding


def test_theorem_a_needs_its_terms():
    """Without the regulariser's term it is false: the test above can fail."""
    run = played("iid_simplex", plain)
    S, (beta, M) = run.s.sum(axis=0), run.policy.learner.rule_numbers[[BETA, M_]]
    d = S + 2.0 * beta * (run.leader() - run.own[0])
    gap = float(d @ run.leader()) - run.X.minimum(d)
    assert float(np.sum(run.s * run.own)) - run.X.minimum(S) > M + gap


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


@pytest.mark.parametrize("name", PLAYED)
def test_the_mixture_pays_the_leader_and_adahedge(name):
    """sum <s, m_t - x_k> <= (2 + log2(1 + T) + sum log2(1 + n_i)/5) Delta_T, m_t the mixture.

    Delta_T <= sqrt(ln 2 sum r^2)/2 + max r (2/3 ln 2 + 1), r = |<s, x_A - x_B>|: the variance of
    two losses is at most a quarter of their squared range. n_i are the lengths of the runs without
    violation; the last of them counts against B alone.
    """
    run = played(name, tracking)
    assert run.policy.learner.oracle_calls == T  # one per round for both
    paid = float(np.sum(run.s * (run.mixed - run.own)))
    r = np.abs(np.sum(run.s * (run.own - run.theirs), axis=1))
    log = math.log(2.0)
    Delta = math.sqrt(log * float(r @ r)) / 2.0 + float(r.max()) * (2.0 / 3.0 * log + 1.0)
    ends = [n for n, after in itertools.pairwise(run.calm) if after == 0]
    factor = 2.0 + math.log2(1.0 + T) + sum(math.log2(1.0 + n) for n in ends) / 5.0
    assert paid <= factor * Delta
    against_b = float(np.sum(run.s * (run.mixed - run.theirs)))
    assert against_b <= (factor + math.log2(1.0 + run.calm[-1]) / 5.0) * Delta
    assert paid <= 0.5 * float(r.sum())  # less than to play the worse of both all the time


@pytest.mark.parametrize("name", [n for n in PLAYED if n != "quadratic_box"])
def test_the_tracking_certificate_holds(name):
    run = played(name, tracking)
    best = hr.hindsight(run.X, run.rounds)
    assert run.cost - best.cost <= run.policy.certificate() + 1e-9 * (1.0 + abs(best.cost))
