"""LazyOCG: transcription, the progress it promises, honest counts, conformance, what it costs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.learners.lazy import LazyOCG
from hedgerow.problems.drifting import DriftingSubsets
from hedgerow.testing import check_learner

EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4), (5, 4)]
SETS = {
    "simplex": lambda: hr.sets.Simplex(5),
    "point": lambda: hr.sets.Simplex(1),
    "l2ball": lambda: hr.sets.L2Ball(4, radius=3.0),
    "box": lambda: hr.sets.Box([-1.0, 0.0, 2.0], [1.0, 5.0, 2.0]),
    "dag": lambda: hr.sets.DagPaths(EDGES, 0, 4),
    "k-subsets": lambda: hr.sets.KSubsets(12, 2),
    "birkhoff": lambda: hr.sets.Birkhoff(4),
    "nuclear": lambda: hr.sets.NuclearBall(4, 3),
}
KAPPA = 16.0


def gradients(X, T, seed):
    """A mean that turns slowly, with noise: vertices come again, but not for ever."""
    rng = np.random.default_rng(seed)
    a, b, noise = rng.standard_normal((2, X.dim)), 0, 0.3
    for t in range(T):
        b = 2.0 * math.pi * t / 150.0
        yield math.cos(b) * a[0] + math.sin(b) * a[1] + noise * rng.standard_normal(X.dim)


def transcribed(X, losses, memory, patience):
    """RmsSteps with exact line search and the rule of the docstring, in plain lists."""
    x = x1 = X.start()
    S, q, calls, gap, left, trust = np.zeros(X.dim), 0.0, 0, 0.0, 0, 0
    known: list[np.ndarray] = []  # least recently of use first
    plays = [x]
    for t, s in enumerate(losses, start=1):
        S, q = S + s, q + X.tangent_norm(s) ** 2
        beta = 2.0 * t**0.25 * math.sqrt(q) / (KAPPA * X.diameter)
        d = S + 2.0 * beta * (x - x1)
        tiny = 1e-12 * abs(d @ x)
        best = min(known, key=lambda v: d @ v, default=None)
        progress = -math.inf if best is None else d @ (x - best) + tiny
        if left > 0 and progress >= 0.5 * gap:
            v, left = best, left - 1
        else:
            v, calls = X.lmo(d), calls + 1
            gap = max(0.0, d @ (x - v))
            trust = min(patience, max(1, 2 * trust)) if progress >= 0.5 * gap else 0
            left = trust
        known = [*(w for w in known if not np.array_equal(w, v)), v][-memory:]
        length = 2.0 * beta * ((v - x) @ (v - x))
        sigma = min(1.0, max(0.0, d @ (x - v)) / length) if length > 0.0 else 0.0
        x = x + sigma * (v - x)
        plays.append(x)
    return np.array(plays), calls


@pytest.mark.parametrize(("memory", "patience"), [(32, 8), (3, 2), (1, 1)])
@pytest.mark.parametrize("name", [name for name in SETS if name != "point"])
def test_transcription(name, memory, patience):
    X = SETS[name]()
    losses = list(gradients(X, 200, seed=1))
    learner = LazyOCG(X, hr.learners.steps.RmsSteps(KAPPA), memory=memory, patience=patience)
    plays = [learner.ask()]
    for s in losses:
        learner.tell(hr.feedback.EvalGrad(0.0, s))
        plays.append(learner.ask())
    expected, calls = transcribed(X, losses, memory, patience)
    np.testing.assert_allclose(plays, expected, atol=1e-9)
    assert learner.oracle_calls == calls


class Counted(hr.DecisionSet):
    """Another set, with a count of what reaches its oracle."""

    def __init__(self, inner):
        self.inner, self.asked = inner, 0
        self.start, self.tangent = inner.start, inner.tangent

    dim = property(lambda self: self.inner.dim)
    diameter = property(lambda self: self.inner.diameter)

    def contains(self, x, tol=1e-9):
        return self.inner.contains(x, tol)

    def lmo(self, c):
        self.asked += 1
        return self.inner.lmo(c)


@pytest.mark.parametrize("patience", [1, 3, 8])
@pytest.mark.parametrize("name", ["simplex", "l2ball", "dag", "k-subsets", "birkhoff"])
def test_every_step_is_exact_or_has_the_promised_progress(name, patience):
    X = SETS[name]()
    learner = LazyOCG(X, hr.learners.steps.RmsSteps(KAPPA), patience=patience)
    x1, D = X.start(), X.diameter
    S, q, gap, row, from_memory = np.zeros(X.dim), 0.0, 0.0, 0, 0
    for t, s in enumerate(gradients(X, 400, seed=2), start=1):
        S, q = S + s, q + X.tangent_norm(s) ** 2
        beta = 2.0 * t**0.25 * math.sqrt(q) / (KAPPA * D)
        x, calls = learner.ask(), learner.oracle_calls
        learner.tell(hr.feedback.EvalGrad(0.0, s))
        d = S + 2.0 * beta * (x - x1)
        exact, (v, _) = d @ (x - X.lmo(d)), learner.last_step
        small = 1e-9 * (1.0 + abs(d @ x))
        if learner.oracle_calls > calls:
            row, gap, promised = 0, exact, exact
        else:
            row, promised = row + 1, 0.5 * gap
            from_memory += 1
        assert row <= patience, "no more answers in a row than promised"
        assert d @ (x - v) >= promised - small
        y = learner.ask()  # with exact line search the progress p lowers F_t
        p = max(0.0, promised - small)
        fall = d @ (x - y) - beta * ((x - y) @ (x - y))
        assert fall >= min(0.5 * p, p * p / (4.0 * beta * D * D)) - small
    assert from_memory > 20, "else the test says little"


@pytest.mark.parametrize("name", ["simplex", "dag", "birkhoff"])
def test_the_count_is_of_calls_that_were_made(name):
    X = Counted(SETS[name]())
    learner = LazyOCG(X, hr.learners.steps.CertificateSteps())
    for s in gradients(X, 150, seed=3):
        learner.tell(hr.feedback.EvalGrad(0.0, s))
    assert X.asked == learner.oracle_calls < 50


STEPS = {
    "paper": hr.learners.steps.PaperSteps(1000),
    "rms": hr.learners.steps.RmsSteps(),
    "certificate": hr.learners.steps.CertificateSteps(),
}


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("name", SETS)
def test_conforms(name, steps):
    check_learner(
        lambda: LazyOCG(SETS[name](), STEPS[steps], memory=3), oracle_calls_per_round=None
    )


def test_memory_survives_snapshots_of_a_long_game():
    X = hr.sets.KSubsets(12, 2)
    losses = [hr.feedback.EvalGrad(0.0, s) for s in gradients(X, 300, seed=4)]
    runs = [LazyOCG(X, hr.learners.steps.CertificateSteps()) for _ in range(3)]
    for t, loss in enumerate(losses):
        runs[0].tell(loss)
        runs[1].tell(loss)
        if t % 7 == 0:
            runs[2].restore(runs[1].state())
        else:
            runs[2].tell(loss)
        np.testing.assert_array_equal(runs[0].ask(), runs[2].ask())
    assert runs[0].oracle_calls == runs[2].oracle_calls < 150


def policy(learner):
    """The practical preset of `projection_free_coco`, around a learner."""
    potential = hr.surrogates.PowerPotential(
        8.0, hr.surrogates.GrowingScale(floor=12.0, factor=0.5, power=0.5)
    )
    surrogate = hr.surrogates.CurrentSurrogate(
        potential, 8.0, hr.surrogates.WorstCaseRanges(learner)
    )
    return hr.ConstrainedPolicy(learner, surrogate)


GAMES = {
    "paths": (lambda: hr.ShortestPath.random_network(40, 150, 600, seed=1), 0.3),
    "simplex": (lambda: hr.problems.IidSimplex(n=12, horizon=1000, seed=0), 0.3),
    "subsets": (lambda: DriftingSubsets(horizon=1000, seed=0), 0.5),
}


@pytest.mark.parametrize("game", GAMES)
def test_regret_stays_within_what_is_proved_and_few_calls_are_made(game):
    make, share = GAMES[game]
    problem = make()
    X, best = problem.decision_set, hr.hindsight(problem)
    lazy, eager = (
        policy(kind(X, hr.learners.steps.CertificateSteps(cap=1e9)))  # no cap
        for kind in (LazyOCG, hr.learners.AdaptiveOCG)
    )
    kept, full = hr.simulate(lazy, problem), hr.simulate(eager, problem)
    assert lazy.oracle_calls < share * problem.horizon < eager.oracle_calls
    assert kept.regret(best) <= lazy.certificate()
    units = problem.horizon**0.75 * (full.costs.max() - full.costs.min())
    assert abs(kept.regret(best) - full.regret(best)) <= 0.1 * units
    assert kept.ccv <= 1.1 * full.ccv


@pytest.mark.parametrize("arguments", [{"memory": 0}, {"patience": 0}, {"memory": 2.5}])
def test_refusals(arguments):
    with pytest.raises((TypeError, ValueError), match=f"{next(iter(arguments))} must be"):
        LazyOCG(hr.sets.Simplex(3), hr.learners.steps.RmsSteps(), **arguments)
