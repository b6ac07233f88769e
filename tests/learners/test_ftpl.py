"""Follow the perturbed leader: vertices, noise, units, and what it does not promise."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.sets.simplices.simplex import KSubsets
from policies.test_bandit_transcription import (
    VERTEX_SETS,
    T,
    algorithm_7,
    ftpl_plays,
    vertex_rounds,
)


def is_vertex(X, x):
    """Exact 0/1 entries and a point of the set: with these sets, a vertex."""
    return bool(np.isin(x, (0.0, 1.0)).all()) and X.contains(x)


@pytest.mark.parametrize("preset", ["practical", "theory"])
@pytest.mark.parametrize("name", VERTEX_SETS)
def test_every_play_is_a_vertex(name, preset):
    X = VERTEX_SETS[name]()
    plays, _ = ftpl_plays(hr.ftpl_coco(X, T, 1, preset=preset), list(vertex_rounds(X, 2))[:150])
    assert all(is_vertex(X, x) for x in plays)
    assert len({x.tobytes() for x in plays}) > 3


class ThreePoints(hr.DecisionSet):
    """A set that is not convex: three points, and an oracle that counts."""

    dim, diameter = 2, 2.0
    points = np.array([[0.0, 0.0], [1.0, 0.2], [-1.0, 0.3]])

    def __init__(self):
        self.calls = 0

    def lmo(self, c):
        self.calls += 1
        return self.points[np.argmin(self.points @ c)].copy()

    def contains(self, x, tol=1e-9):
        return bool((np.abs(self.points - x).max(axis=1) <= tol).any())


@pytest.mark.parametrize("preset", ["practical", "theory"])
def test_it_needs_nothing_but_an_oracle_and_asks_once_a_round(preset):
    X = ThreePoints()
    policy = hr.ftpl_coco(X, 100, 0, preset=preset)
    rng = np.random.default_rng(0)
    for t in range(100):
        extra = policy.surrogate.oracle_calls  # ranges are learnt by one call, once
        assert policy.oracle_calls == X.calls == t + 1 + extra
        assert extra <= (preset == "practical")
        assert X.contains(policy.ask())
        f, g = rng.standard_normal((2, 2))
        policy.tell(hr.feedback.EvalGrad(0.1, f), hr.feedback.EvalGrad(rng.normal(), g))


@pytest.mark.parametrize("name", VERTEX_SETS)
def test_the_offset_is_one_over_T_and_not_one(name):
    """Dividing Algorithm 7 by V = sqrt(T) divides the 1 under the root by V^2."""
    X = VERTEX_SETS[name]()
    rounds = list(vertex_rounds(X, seed=6))
    expected, _ = algorithm_7(X, rounds, seed=7)

    def differing(offset):
        learner = hr.learners.FTPL(X, 7, hr.learners.GaussianNoise(offset=offset))
        surrogate = hr.surrogates.SignedSurrogate(hr.surrogates.PowerPotential(2.0, T**0.25))
        plays, _ = ftpl_plays(hr.ConstrainedPolicy(learner, surrogate), rounds)
        return int((plays != expected).any(axis=1).sum())

    assert differing(1.0 / T) == 0
    assert differing(1.0) > 0


def stale_noise(monkeypatch):
    right = hr.learners.FTPL._noise

    def mutant(self):
        self._rng = np.random.default_rng(5)
        return right(self)

    monkeypatch.setattr(hr.learners.FTPL, "_noise", mutant)


def queue_too_early(monkeypatch):
    """The weight sees this round's violation, as in Algorithm 2."""
    right = hr.surrogates.SignedSurrogate.tell

    def mutant(self, cost, constraint):
        before = float(self._state["violation"][0])
        self._state["violation"][0] = max(0.0, before + constraint.value)
        loss = right(self, cost, constraint)
        self._state["violation"][0] = max(0.0, before + constraint.value)
        return loss

    monkeypatch.setattr(hr.surrogates.SignedSurrogate, "tell", mutant)


def louder_noise(monkeypatch):
    right = hr.learners.FTPL._noise
    monkeypatch.setattr(hr.learners.FTPL, "_noise", lambda self: 2.0 * right(self))


@pytest.mark.parametrize("mutant", [stale_noise, queue_too_early, louder_noise])
def test_mutants_differ_from_algorithm_7(mutant, monkeypatch):
    X = VERTEX_SETS["k-subsets"]()
    rounds = list(vertex_rounds(X, seed=4))
    expected, _ = algorithm_7(X, rounds, seed=5)
    mutant(monkeypatch)
    plays, _ = ftpl_plays(hr.ftpl_coco(X, T, 5, preset="theory"), rounds)
    assert (plays != expected).any()


@pytest.mark.parametrize("factors", [(2.0**-40, 1.0), (1.0, 2.0**30), (2.0**20, 2.0**-7)])
@pytest.mark.parametrize("name", VERTEX_SETS)
def test_the_practical_preset_has_no_units(name, factors):
    X, (alpha, beta) = VERTEX_SETS[name](), factors
    rounds = list(vertex_rounds(X, seed=8))[:200]
    scaled = [(alpha * f, beta * g, beta * b) for f, g, b in rounds]
    plain, queues = ftpl_plays(hr.ftpl_coco(X, T, 3), rounds)
    other, _ = ftpl_plays(hr.ftpl_coco(X, T, 3), scaled)
    assert np.array_equal(plain, other)
    assert max(queues) > 0.0


def test_the_theory_preset_has_units():
    """Were it unit-free, the test above would show nothing."""
    X = VERTEX_SETS["k-subsets"]()
    rounds = list(vertex_rounds(X, seed=8))[:200]
    scaled = [(2.0**-10 * f, g, b) for f, g, b in rounds]
    plain, _ = ftpl_plays(hr.ftpl_coco(X, T, 3, preset="theory"), rounds)
    other, _ = ftpl_plays(hr.ftpl_coco(X, T, 3, preset="theory"), scaled)
    assert not np.array_equal(plain, other)


def test_play_refuses_it_against_adversaries():
    problem = hr.problems.HalfspaceBox(n=3, horizon=20)
    with pytest.raises(ValueError, match="reacts to the plays"):
        hr.play(hr.ftpl_coco(problem.decision_set, 20, 0), problem)


def test_noise_is_fresh_while_losses_are_zero():
    X = KSubsets(8, 3)
    learner = hr.learners.FTPL(X, 0)
    plays = []
    for _ in range(40):
        plays.append(learner.ask())
        learner.tell(hr.feedback.EvalGrad(0.0, np.zeros(8)))
    assert len({x.tobytes() for x in plays}) > 20


@pytest.mark.parametrize("bad", [{"offset": 0.0}, {"offset": -1.0}, {"factor": 0.0}])
def test_bad_schedules_are_refused(bad):
    with pytest.raises(ValueError, match="above 0"):
        hr.learners.GaussianNoise(**bad)


def test_a_snapshot_of_another_seed_is_refused():
    X = KSubsets(6, 2)
    with pytest.raises(ValueError, match="other arguments"):
        hr.ftpl_coco(X, T, 2).restore(hr.ftpl_coco(X, T, 1).state())


def test_the_signed_sum_stays_small_and_the_ccv_does_not():
    """Cost wants one half of the items, the constraint the other; one vertex cannot do both."""
    n, k, rounds = 8, 3, 3000
    X = KSubsets(n, k)
    c = np.repeat([0.0, 1.0], n // 2)  # cost of the second half
    g, b = -c, 1.5  # at least 1.5 of the second half, on average: 1 or 2
    signed, hard, costs = [], [], []
    for seed in range(3):
        policy, rng = hr.ftpl_coco(X, rounds, seed), np.random.default_rng(seed)
        violations, total = [], 0.0
        for _ in range(rounds):
            x, f = policy.ask(), c + rng.uniform(-0.5, 0.5, n)
            violation = float(g @ x) + b
            policy.tell(hr.feedback.EvalGrad(float(f @ x), f), hr.feedback.EvalGrad(violation, g))
            violations.append(violation)
            total += float(c @ x)
        signed.append(sum(violations))
        hard.append(float(np.maximum(violations, 0.0).sum()))
        costs.append(total)
    best = 1.5 * rounds
    assert max(signed) < 0.05 * rounds
    assert min(hard) > 0.2 * rounds
    assert max(costs) < best + 0.05 * rounds


def test_practical_noise_measures_losses_along_the_set():
    """A constant added to all costs, or dead edges, must not drown the differences in noise."""
    X, rng = hr.sets.Simplex(5), np.random.default_rng(0)
    costs = rng.uniform(0, 1, (1000, 5)) + 0.1 * np.arange(5)
    means = []
    for level in (0.0, 50.0):
        learner, total = hr.learners.FTPL(X, seed=1), 0.0
        for c in costs:
            x = learner.ask()
            total += c @ x
            learner.tell(hr.feedback.EvalGrad(float((c + level) @ x), c + level))
        means.append(total / len(costs))
    assert means[1] == pytest.approx(means[0], abs=0.02)
    assert means[0] < costs.mean() - 0.1
