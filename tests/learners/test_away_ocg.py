"""Away steps: against a transcription, what a round gains, and the rates that follow."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.bounds import schedule_regret, universal_regret
from hedgerow.feedback import EvalGrad
from hedgerow.learners import AdaptiveOCG, AwayOCG, Growth, active_set
from hedgerow.learners.steps import BETA, CertificateSteps, ScheduleSteps, UniversalSteps
from hedgerow.testing import check_learner

EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4)]
SETS = {
    "simplex": lambda: hr.sets.Simplex(6),
    "cube": lambda: hr.sets.Box([0.0] * 4, [1.0] * 4),
    "l1 ball": lambda: hr.sets.L1Ball(5),
    "paths": lambda: hr.sets.DagPaths(EDGES, 0, 4),
    "ball": lambda: hr.sets.L2Ball(3),
    "ellipsoid": lambda: hr.sets.Ellipsoid([1.0, 2.0, 0.5]),
    "product": lambda: hr.sets.Product(hr.sets.Simplex(3), hr.sets.Simplex(2)),
}
RULES = {
    "certificate": CertificateSteps(),
    "universal": UniversalSteps(0.3),
    "schedule": ScheduleSteps(Growth(4, 0.25)),
}


def next_play(learner, s):
    """Transcribe a round of the docstring, from the learner's own vertices; return x_{t+1}."""
    X, c, x = learner.decision_set, learner.first_play, learner.ask()
    part, n = learner.vertices.copy(), X.dim
    w, sizes, rows = active_set.unpack(part, n)
    vertices = []
    for k in range(learner.active):
        vertices.append(np.zeros(n))
        active_set.atoms.add(vertices[k], rows[k * n : (k + 1) * n], int(sizes[k]), 1.0)
    w = list(w[: learner.active])
    S, t = learner.state()["array"][2 * n : 3 * n] + s, float(learner.rounds + 1)
    numbers = learner.rule_numbers.copy()
    loss = X.tangent_norm2(s)[0], float(s @ s), -1.0
    beta = learner.steps.kernels().regularise(numbers, t, loss)

    def mixed():
        return sum(weight * v for weight, v in zip(w, vertices, strict=True))

    def worst():
        d = S + 2 * beta * (x - c)
        k = int(np.argmax([d @ v for v in vertices]))
        return k, float(d @ (vertices[k] - x)), float(np.sum((vertices[k] - x) ** 2))

    while len(vertices) > 1:  # away steps that drop a vertex
        k, gap, far2 = worst()
        if gap < 2 * beta * far2 * w[k] / (1 - w[k]):
            break
        del vertices[k], w[k]
        w = [weight / sum(w) for weight in w]
        x = mixed()
    d = S + 2 * beta * (x - c)
    v = X.lmo(d)
    gap, distance2 = float(d @ (x - v)), float(np.sum((x - v) ** 2))
    sigma = min(1.0, gap / (2 * beta * distance2)) if gap > 0 and distance2 > 0 else 0.0
    towards, best = x + sigma * (v - x), sigma * (gap - beta * sigma * distance2)
    if len(vertices) == 1:
        return towards
    k, away, far2 = worst()
    if away**2 / (4 * beta * far2) <= best:
        return towards
    return x + away / (2 * beta * far2) * (x - vertices[k])


def drawn(X, seed, rounds, kind="turning"):
    """Draw gradients: noise, directions that turn at growing intervals, or of all sizes."""
    rng, direction, turn = np.random.default_rng(seed), np.zeros(X.dim), 0
    for t in range(rounds):
        if t >= turn:
            turn, direction = int(1.3 * turn) + 1, rng.standard_normal(X.dim)
        s = 0.3 * rng.standard_normal(X.dim) + direction
        if kind == "noise":
            s = rng.standard_normal(X.dim)
        yield s * (10.0 ** rng.uniform(-6, 6) if kind == "sizes" else 1.0)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", SETS)
def test_away_ocg_is_its_transcription(name, rule):
    X = SETS[name]()
    learner = AwayOCG(X, RULES[rule])
    for s in drawn(X, 1, 150):
        expected = next_play(learner, s)
        learner.tell(EvalGrad(0.0, s))
        np.testing.assert_allclose(learner.ask(), expected, atol=1e-9)
    assert learner.drops > 0


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", SETS)
def test_away_ocg_conforms(name, rule):
    check_learner(lambda: AwayOCG(SETS[name](), RULES[rule]))


def gains(X, learner, gradients):
    """Yield beta_t, y_t, the gain of the round's steps, and F_t(x_t) - min F_t."""
    S, c = np.zeros(X.dim), learner.first_play
    for s in gradients:
        x = learner.ask()
        learner.tell(EvalGrad(0.0, s))
        S, beta = S + s, float(learner.rule_numbers[BETA])
        best = X.project(c - S / (2 * beta))

        def F(y, S=S, beta=beta):
            return float(S @ y + beta * (y - c) @ (y - c))

        rounding = 1e-9 * (abs(F(x)) + abs(F(best)))
        yield beta, np.linalg.norm(x - best), F(x) - F(learner.ask()) + rounding, F(x) - F(best)


@pytest.mark.parametrize("kind", ["turning", "sizes"])
@pytest.mark.parametrize("name", SETS)
def test_every_round_has_the_growth_that_is_declared(name, kind):
    X = SETS[name]()
    for learner in (AwayOCG(X), AdaptiveOCG(X, CertificateSteps())):
        for beta, y, gain, _ in gains(X, learner, drawn(X, 3, 150, kind)):
            for growth in learner.growths:
                assert gain >= growth.a * beta * X.diameter ** (2 - growth.q) * y**growth.q


def test_declared_growths_follow_the_set():
    """1/(2 n) for simplices, 1/(4 n^2) for cubes; alpha D/2 = 1 on balls."""
    away = {name: AwayOCG(make()).growths for name, make in SETS.items()}
    assert [growth.q for growth in away["simplex"]] == [4, 2]
    assert away["simplex"][1].a == pytest.approx(1 / 12)
    assert away["cube"][1].a == pytest.approx(1 / 64)
    assert away["paths"][1].a == pytest.approx(1 / (4 * 7 * SETS["paths"]().diameter ** 2))
    assert [growth.q for growth in away["ball"]] == [4]
    once = {name: AdaptiveOCG(make(), CertificateSteps()).growths for name, make in SETS.items()}
    assert once["ball"] == (Growth(4, 1.0), Growth(3, 1.0))
    assert [growth.q for growth in once["ellipsoid"]] == [4, 3]
    assert once["simplex"] == (Growth(4, 1.0),)


def test_one_step_has_no_linear_growth_on_a_polytope():
    """What away steps are for: on a simplex one step gains less than (2, a) says."""
    X = hr.sets.Simplex(6)
    a = AwayOCG(X).growths[1].a
    found = gains(X, AdaptiveOCG(X, CertificateSteps()), drawn(X, 3, 600))
    assert any(gain < a * excess for _, _, gain, excess in found if excess > 1e-9)


def test_four_times_the_growth_would_fail_on_the_ball():
    X = hr.sets.L2Ball(3)
    found = gains(X, AdaptiveOCG(X, CertificateSteps()), drawn(X, 3, 150))
    assert any(gain < 4.0 * beta * y**3 / X.diameter for beta, y, gain, _ in found)


@pytest.mark.parametrize("name", ["l1 ball", "cube", "ball"])
def test_caratheodory_keeps_the_active_set_small(name):
    X, most = SETS[name](), 0
    learner = AwayOCG(X, ScheduleSteps(Growth(4, 0.25)))
    for s in drawn(X, 5, 600, "noise"):
        expected = next_play(learner, s)
        learner.tell(EvalGrad(0.0, s))
        np.testing.assert_allclose(learner.ask(), expected, atol=1e-8)
        most = max(most, learner.active)
    assert most == X.dim + 2
    assert learner.merged == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(0, 10**6))
def test_a_dependency_is_removed_without_moving_the_point(n, seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(-1, 2, (n + 2, n)).astype(float)
    part = np.zeros(active_set.part_size(n, n + 2))
    active_set.begin(part, points[0], n + 2)
    w, sizes, rows = active_set.unpack(part, n)
    for k, point in enumerate(points):
        sizes[k] = active_set.atoms.encode(rows[k * n : (k + 1) * n], point)
    w[:] = rng.dirichlet(np.ones(n + 2))
    part[active_set.COUNT] = n + 2
    x = w @ points
    active_set.reduce(part, n, np.zeros(active_set.scratch_size(n, n + 2)))
    assert part[active_set.COUNT] == n + 1
    assert (w[: n + 1] >= 0.0).all()
    moved = np.zeros(n)
    active_set.mix(moved, part)
    np.testing.assert_allclose(moved, x, atol=1e-9)


def test_a_full_active_set_merges_its_lightest_and_stays_in_the_set():
    X = hr.sets.Simplex(12)
    learner = AwayOCG(X, ScheduleSteps(Growth(4, 0.25)), vertices=4)
    for s in drawn(X, 2, 300, "noise"):
        assert X.contains(learner.ask())
        assert learner.active <= 4
        learner.tell(EvalGrad(0.0, s))
    assert learner.merged > 0


class Counted(hr.sets.Simplex):
    """A simplex that counts how often its oracle is asked."""

    calls = 0

    def lmo(self, c):
        type(self).calls += 1
        return super().lmo(c)


def test_a_round_asks_the_oracle_once():
    learner = AwayOCG(Counted(6))
    before = Counted.calls
    for t, s in enumerate(drawn(learner.decision_set, 0, 60), start=1):
        learner.tell(EvalGrad(0.0, s))
        assert learner.oracle_calls == Counted.calls - before == t
    assert learner.drops > 0


def hostile(X, rng, learner, kind, rounds):
    """Gradients that react to the play, at all scales."""
    before, scale = learner.ask(), 10.0 ** rng.uniform(-6, 6)
    for t in range(rounds):
        x, s = learner.ask(), rng.standard_normal(X.dim)
        if kind == "push":
            s = x - X.start() + 0.1 * s
        elif kind == "turn":
            s = x - before + 1e-3 * s
        elif kind == "flip":
            s = s * (-1.0) ** int(math.log2(t + 1))
        elif kind == "sizes":
            s = s * 10.0 ** rng.uniform(-6, 6)
        before = x
        yield scale * s


KINDS = ["push", "turn", "flip", "sizes"]


@pytest.mark.parametrize("name", SETS)
def test_regret_stays_below_the_schedule_and_the_universal_bound_in_every_round(name):
    X = SETS[name]()
    R, D = X.radius_around(X.start()), X.diameter
    for seed, (kind, make) in enumerate(itertools.product(KINDS, (AdaptiveOCG, AwayOCG))):
        away = make is AwayOCG
        for growth in make(X, CertificateSteps()).growths:
            for steps in (ScheduleSteps(growth, (R / D) ** 2), UniversalSteps(0.3)):
                learner, rng = make(X, steps), np.random.default_rng(seed)
                S, inner, norms = np.zeros(X.dim), 0.0, []
                for t, s in enumerate(hostile(X, rng, learner, kind, 80)):
                    inner, S = inner + float(s @ learner.ask()), S + s
                    learner.tell(EvalGrad(0.0, s))
                    norms.append(X.tangent_norm(s))
                    regret = inner - X.minimum(S) - 1e-9 * D * sum(norms)
                    if isinstance(steps, ScheduleSteps):
                        sizes = sum(norm**growth.dual for norm in norms)
                        assert regret <= schedule_regret(D, sizes, radius=R, growth=growth)
                    elif t % 8 == 7:
                        assert regret <= universal_regret(norms, D, R, growth, 0.3, away=away)


def test_the_universal_bound_approaches_its_leading_constant():
    """For c = 1 and rho = 1/4: 2.39, 1.96 and 1.76 times D P^{1/q'}, as T grows."""
    norms = np.ones(10**7)
    for q, constant in ((2, 2.39), (3, 1.96), (4, 1.76)):
        growth = Growth(q, 1.0)
        share = universal_regret(norms, 1.0, 0.5, growth) / norms.size ** (1 / growth.dual)
        assert constant < share < 1.1 * constant


def test_half_of_the_schedules_bound_is_exceeded():
    """The bound is not idle: an adversary that pushes reaches a third of it within few rounds."""
    X = hr.sets.L2Ball(2)
    growth = Growth(3, 1.0)
    learner = AdaptiveOCG(X, ScheduleSteps(growth, 0.25))
    rng, S, inner, sizes, most = np.random.default_rng(0), np.zeros(2), 0.0, 0.0, 0.0
    for s in hostile(X, rng, learner, "push", 200):
        inner, S = inner + float(s @ learner.ask()), S + s
        learner.tell(EvalGrad(0.0, s))
        sizes += np.linalg.norm(s) ** growth.dual
        most = max(
            most,
            (inner - X.minimum(S)) / schedule_regret(X.diameter, sizes, radius=1.0, growth=growth),
        )
    assert 0.2 < most < 1.0
