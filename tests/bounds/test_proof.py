"""The steps of the proofs, which can fail, on every synthetic game; and mutants, which do."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import AFTER_ORACLE, BEFORE_ORACLE, OBSERVE
from hedgerow.learners import adaptive_ocg
from hedgerow.surrogates import current
from synthetic_games import GAMES

T = 150
SEEDS = range(10)


def project(X, y):
    """The nearest point, written independently of the library."""
    if isinstance(X, hr.sets.L2Ball):
        return y * min(1.0, X.radius / max(1e-300, float(np.linalg.norm(y))))
    if isinstance(X, hr.sets.Box):
        return np.clip(y, X.lower, X.upper)
    ordered = np.sort(y)[::-1]
    excess = np.cumsum(ordered) - X.total
    k = np.flatnonzero(ordered * np.arange(1, len(y) + 1) > excess)[-1]
    return np.maximum(0.0, y - excess[k] / (k + 1))


def paper_policy(X, rounds):
    """Algorithm 2 with a scale that lets the constraint act."""
    learner = hr.learners.AdaptiveOCG(X, hr.learners.steps.PaperSteps(rounds))
    return hr.ConstrainedPolicy(
        learner,
        hr.surrogates.CurrentSurrogate(
            hr.surrogates.PowerPotential(6.0, 5.0), 3.0, hr.surrogates.FixedRanges()
        ),
    )


def plain_policy(X):
    """The certificate-driven learner with the practical weight, on any set."""
    learner = hr.learners.AdaptiveOCG(X, hr.learners.steps.CertificateSteps())
    square, ranges = hr.surrogates.PowerPotential(2.0, 1.0), hr.surrogates.ObservedRanges(learner)
    return hr.ConstrainedPolicy(learner, hr.surrogates.CurrentSurrogate(square, 0.0, ranges))


class Record:
    """Everything the proofs speak of, taken from the outside."""

    def __init__(self, problem, policy):
        self.X, self.problem = problem.decision_set, problem
        self.plays, self.grads, self.rounds, self.weights = [], [], [], []
        for cost, constraint in problem.rounds(policy):
            x = policy.ask()
            f, g = hr.first_order(cost, x), hr.first_order(constraint, x)
            policy.tell(f, g)
            self.plays.append(x)
            self.rounds.append((cost, constraint))
            self.weights.append(policy.weight)
            self.grads.append(f.grad + policy.weight * g.grad * (g.value > 0))
        self.plays.append(policy.ask())
        self.policy = policy


def failures(record):
    """Names of the proof's steps that do not hold."""
    X, D, x1 = record.X, record.X.diameter, record.plays[0]
    failed = set()
    S, L, previous, ftrl, squares = np.zeros(X.dim), 0.0, None, 0.0, 0.0
    leader = x1  # x*_1
    for t, (x, nabla, after) in enumerate(
        zip(record.plays[:-1], record.grads, record.plays[1:], strict=True), start=1
    ):
        ftrl += nabla @ (leader - record.problem.feasible)
        eta_before = D / (2 * L * T**0.75) if L else None
        L = max(L, float(np.linalg.norm(nabla)))
        S, eta, sigma = S + nabla, D / (2 * L * T**0.75), min(1.0, 2 / math.sqrt(t))
        squares += (eta_before or eta) * nabla @ nabla

        def F(z, S=S, eta=eta):
            return S @ z + np.sum((z - x1) ** 2) / eta

        leader = project(X, x1 - eta / 2 * S)  # x*_{t+1} = argmin F_t
        h, h_after = F(x) - F(leader), F(after) - F(leader)
        rounding = 1e-9 * (1.0 + abs(F(x)))
        direction = S + 2 * (x - x1) / eta
        v = X.lmo(direction)
        step = sigma * direction @ (v - x) + sigma**2 * np.sum((v - x) ** 2) / eta
        if abs(F(after) - F(x) - step) > rounding:  # (a) of that proof, an equality here
            failed.add("step")
        if h_after > (1 - sigma) * h + sigma**2 * D**2 / eta + rounding:  # eq. (eq1)
            failed.add("progress")
        if previous is not None:
            u0, L0, sigma0 = previous
            bound = (1 - 2 * sigma0 / 3) * u0 + 15 / 8 * D**2 * sigma0**2
            if eta * h > bound + 1.5 * D**2 * (1 - L0 / L) + eta * rounding:  # eq. (u-recursion)
                failed.add("u-recursion")
        previous = (eta * h, L, sigma)
    if ftrl > D**2 / eta + squares / 4 + 1e-9:  # Theorem A.3, Orabona's Corollary 7.9
        failed.add("ftrl")
    return failed


def decomposition_fails(record):
    """Phi(Q_t)/V + Regret_t <= Phi(Q_0)/V + Regret'_t for every t, eq. (gen-reg-decomp)."""
    potential, Q = record.policy.surrogate.potential, record.policy.surrogate.initial
    z, start, left = record.problem.feasible, potential.value(Q), 0.0
    surrogate_regret = 0.0
    for x, (f, g), w in zip(record.plays, record.rounds, record.weights, strict=False):
        Q += max(0.0, g(x))
        left += f(x) - f(z)
        surrogate_regret += f(x) + w * max(0.0, g(x)) - f(z) - w * max(0.0, g(z))
        slack = 1e-9 * (1.0 + abs(surrogate_regret))
        if potential.value(Q) + left > start + surrogate_regret + slack:
            return True
    return False


def regret(record):
    z = record.problem.feasible
    return sum(f(x) - f(z) for x, (f, _) in zip(record.plays, record.rounds, strict=False))


@pytest.mark.parametrize("game", GAMES)
def test_every_step_of_the_proof_holds(game):
    acted = 0
    for seed in SEEDS:
        problem = GAMES[game](seed, T)
        record = Record(problem, paper_policy(problem.decision_set, T))
        assert failures(record) == set(), f"seed {seed}"
        assert not decomposition_fails(record), f"seed {seed}"
        assert regret(record) <= record.policy.certificate() + 1e-9
        acted += max(record.weights) > 0.0
    assert acted == len(SEEDS), "a game without violations shows nothing"


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(
    "make", [hr.projection_free_coco, plain_policy, hr.projection_free_long_term]
)
def test_certificate_bounds_the_regret(game, make):
    for seed in SEEDS:
        problem = GAMES[game](seed, T)
        record = Record(problem, make(problem.decision_set))
        assert regret(record) <= record.policy.certificate() + 1e-9
        assert all(problem.decision_set.contains(x) for x in record.plays)


@pytest.mark.parametrize("game", GAMES)
def test_certificate_steps_bound_the_surrogate_regret(game):
    """Regret' <= (1 + c) beta_{T+1} D^2 + gap_T for every comparator, after the fact."""
    for seed in range(3):
        problem = GAMES[game](seed, T)
        X = problem.decision_set
        record = Record(problem, plain_policy(X))
        S = np.sum(record.grads, axis=0)
        against_best = sum(
            s @ x for s, x in zip(record.grads, record.plays, strict=False)
        ) - X.minimum(S)
        rule = record.policy.learner._state["rule"]
        x, x1, beta, M = record.plays[-1], record.plays[0], rule[4], rule[5]
        direction = S + 2 * beta * (x - x1)
        gap = direction @ x - X.minimum(direction)
        beta_next = max(beta, M / (0.03 * X.diameter**2))
        assert against_best <= 1.03 * beta_next * X.diameter**2 + gap + 1e-9
        assert against_best <= M + gap + beta * X.diameter**2 + 1e-9  # Theorem A


@kernel(*BEFORE_ORACLE)
def wrong_sign(state, work, s, inner, loss, steps):
    adaptive_ocg.before_oracle(state, work, s, inner, loss, steps)
    for i in range(len(s)):
        work[i] = -work[i]
    return True


@kernel(*BEFORE_ORACLE)
def centre_not_x1(state, work, s, inner, loss, steps):
    n = len(s)
    x1 = state[n : 2 * n].copy()
    for i in range(n):
        state[n + i] = -1.0
    adaptive_ocg.before_oracle(state, work, s, inner, loss, steps)
    for i in range(n):
        state[n + i] = x1[i]
    return True


@kernel(*AFTER_ORACLE)
def sigma_zero(state, work, n, ones, steps):
    x = state[:n].copy()
    adaptive_ocg.after_oracle(state, work, n, ones, steps)
    for i in range(n):
        state[i] = x[i]


@kernel(*OBSERVE)
def queue_not_updated(queue, ranges, units, value, sizes):
    before = queue[1]
    q = current.observe(queue, ranges, units, value, sizes)
    queue[1] = before
    return q - (value if value > 0.0 else 0.0)


MUTANTS = {
    "wrong_sign": (hr.learners.AdaptiveOCG, "before_oracle", wrong_sign),
    "centre_not_x1": (hr.learners.AdaptiveOCG, "before_oracle", centre_not_x1),
    "sigma_zero": (hr.learners.AdaptiveOCG, "after_oracle", sigma_zero),
    "queue_not_updated": (hr.surrogates.CurrentSurrogate, "observe", queue_not_updated),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_caught(mutant, monkeypatch):
    monkeypatch.setattr(*MUTANTS[mutant])
    caught = set()
    for game in GAMES:
        problem = GAMES[game](0, T)
        record = Record(problem, paper_policy(problem.decision_set, T))
        caught |= failures(record)
        if decomposition_fails(record):
            caught.add("decomposition")
    expected = {"decomposition"} if mutant == "queue_not_updated" else {"step"}
    assert expected <= caught
