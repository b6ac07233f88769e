"""Learners that project, or pull back into the set: pseudocode, properties, bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.learners.ftrl import FTRL
from hedgerow.learners.projected_descent import OGD, AdaGrad, StronglyConvexOGD
from hedgerow.learners.separation_ogd import SeparationAdaGrad, SeparationOGD
from hedgerow.learners.steps import BETA, M
from hedgerow.testing import check_learner
from true_projections import SETS, along, nearest

T = 300
EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4), (5, 4)]
SMALL = {
    "simplex": lambda: hr.sets.Simplex(5),
    "point": lambda: hr.sets.Simplex(1),
    "l2ball": lambda: hr.sets.L2Ball(4, radius=3.0),
    "box": lambda: hr.sets.Box([-1.0, 0.0, 2.0], [1.0, 5.0, 2.0]),
    "dag": lambda: hr.sets.DagPaths(EDGES, 0, 4),
    "k-subsets": lambda: hr.sets.KSubsets(6, 2),
}
PROJECTED = {
    "ogd": OGD,
    "ogd-lipschitz": lambda X: OGD(X, lipschitz=2.0),
    "ogd-strongly-convex": lambda X: StronglyConvexOGD(X, 0.5),
    "adagrad": AdaGrad,
    "ftrl-paper": lambda X: FTRL(X, hr.learners.steps.PaperSteps(1000)),
    "ftrl-rms": lambda X: FTRL(X, hr.learners.steps.RmsSteps()),
    "ftrl-certificate": lambda X: FTRL(X, hr.learners.steps.CertificateSteps()),
}
SEPARATING = {
    "separation-ogd": lambda X: SeparationOGD(X, 10**5, 1.0),
    "separation-adagrad": SeparationAdaGrad,
}


@pytest.mark.parametrize("learner", PROJECTED)
@pytest.mark.parametrize("name", SMALL)
def test_projected_learners_conform(name, learner):
    check_learner(lambda: PROJECTED[learner](SMALL[name]()), rounds=20, oracle_calls_per_round=0)


@pytest.mark.parametrize("learner", SEPARATING)
@pytest.mark.parametrize("name", [name for name in SMALL if name != "point"])
def test_separating_learners_conform(name, learner):
    check_learner(lambda: SEPARATING[learner](SMALL[name]()), rounds=20, oracle_calls_per_round=0)


# Pseudocode


def pulls(X, seed, rounds=T):
    """Quadratic losses whose minimisers lie beyond a corner: some gradients are zero."""
    rng = np.random.default_rng(seed)
    corner = X.lmo(X.start())  # far from the start
    targets = 2.0 * corner - X.start() + 0.5 * rng.standard_normal((rounds, X.dim))
    weights = rng.uniform(0.0, 3.0, rounds) * (rng.uniform(size=rounds) > 0.1)
    return lambda t, x: weights[t - 1] * (x - targets[t - 1])


def descent(X, gradient_at, eta_of):
    """x_{t+1} = P_X(x_t - eta_t grad_t)."""
    x, plays, norms = X.start(), [], []
    for t in range(1, T + 1):
        plays.append(x)
        g = along(X, gradient_at(t, x))
        norms.append(float(np.linalg.norm(g)))
        if max(norms) > 0:
            x = nearest(X, x - eta_of(t, norms) * g)
    return plays


def algorithm_5(X, gradient_at, eta_of):
    """x_{t+1} = argmin of <sum of grad, x> + ||x - x_1||^2 / eta_t, by completing the square."""
    x = x1 = X.start()
    plays, norms, S = [], [], np.zeros(X.dim)
    for t in range(1, T + 1):
        plays.append(x)
        g = gradient_at(t, x)
        norms.append((float(np.linalg.norm(g)), float(np.linalg.norm(along(X, g)))))
        S = S + g
        if norms[-1][0] > 0 or S.any():
            x = nearest(X, x1 - eta_of(t, norms) / 2 * along(X, S))
    return plays


def agree(learner, plays, gradient_at):
    for t, expected in enumerate(plays, start=1):
        x = learner.ask()
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-9)
        learner.tell(hr.feedback.EvalGrad(0.0, gradient_at(t, x)))
    assert np.ptp(plays, axis=0).max() > 0.1, "the plays must move, or this test shows nothing"


@pytest.mark.parametrize("name", SETS)
def test_descents_are_their_formulas(name):
    X, D = SETS[name](), SETS[name]().diameter
    gradient_at = pulls(X, seed=1)
    formulas = [
        (OGD(X), lambda t, norms: D / (max(norms) * math.sqrt(t))),
        (OGD(X, 50.0), lambda t, norms: D / (max(50.0, *norms) * math.sqrt(t))),
        (AdaGrad(X), lambda _, norms: D / math.sqrt(2 * sum(n**2 for n in norms))),
        (AdaGrad(X, 0.3), lambda _, norms: 0.3 * D / math.sqrt(sum(n**2 for n in norms))),
        (StronglyConvexOGD(X, 0.7), lambda t, _: 1 / (0.7 * t)),
    ]
    for learner, eta_of in formulas:
        agree(learner, descent(X, gradient_at, eta_of), gradient_at)


@pytest.mark.parametrize("name", SETS)
def test_ftrl_is_algorithm_5(name):
    X, D = SETS[name](), SETS[name]().diameter
    gradient_at = pulls(X, seed=2)

    def paper(_, norms):
        return D / (2 * max(plain for plain, _ in norms) * T**0.75)

    def rms(t, norms):
        return 16 * D / (2 * t**0.25 * math.sqrt(sum(n**2 for _, n in norms)))

    for learner, eta_of in (
        (FTRL(X, hr.learners.steps.PaperSteps(T)), paper),
        (FTRL(X, hr.learners.steps.RmsSteps()), rms),
    ):
        agree(learner, algorithm_5(X, gradient_at, eta_of), gradient_at)


def separation_step(X, P, centre, pull, y, step):
    """One round of SO-OGD in the set's own coordinates; P projects on the hull's directions."""
    y = y - step
    y = centre + (y - centre) * min(1.0, X.diameter / np.linalg.norm(y - centre))
    pulled = 0
    while (a := X.separate(y)) is not None:
        y = y - pull * P @ a / np.linalg.norm(P @ a)
        pulled += 1
    return y, pulled


ROUND = {
    "simplex": lambda: hr.sets.Simplex(3),
    "ball": lambda: hr.sets.L2Ball(7, radius=2.0),
    "box": lambda: hr.sets.Box([-1.0, -1.0, 3.0, -2.0], [1.0, 1.0, 3.0, 0.0]),
    "dag": lambda: hr.sets.DagPaths(EDGES, 0, 4),
}


@pytest.mark.parametrize("name", ROUND)
def test_separation_descents_are_their_pseudocode(name):
    """Each step from the library's own point: separating directions lose digits near the set."""
    X, G, rounds = ROUND[name](), 1.0, 500
    D, (centre, r) = X.diameter, X.ball()
    horizon = max(rounds, math.ceil(20 * (D / r) ** 2))
    gradient_at, P = pulls(X, 3, rounds), X.hull()[1] @ X.hull()[1].T

    def steady(norms):
        return r / (max(G, *norms) * math.sqrt(horizon))

    def adaptive(norms):
        return D / math.sqrt(2 * sum(n**2 for n in norms))

    for learner, eta_of, T_of in (
        (SeparationOGD(X, horizon, G), steady, lambda _: horizon),
        (SeparationAdaGrad(X, horizon), adaptive, lambda _: horizon),
        (SeparationAdaGrad(X), adaptive, lambda t: max(t, 64 * (D / r) ** 2)),  # delta <= 1/2
    ):
        norms, calls, pulled = [], 0, 0
        np.testing.assert_allclose(learner.ask(), centre, rtol=0, atol=1e-12)
        for t in range(1, rounds + 1):
            x = learner.ask()
            g = gradient_at(t, x)
            learner.tell(hr.feedback.EvalGrad(0.0, g))
            norms.append(float(np.linalg.norm(P @ g)))
            if not g.any():
                np.testing.assert_array_equal(learner.ask(), x)
                continue
            delta = 4 * D / (r * math.sqrt(T_of(t)))
            step = eta_of(norms) * P @ g
            expected, pulls_now = separation_step(X, P, centre, delta * r, x, step)
            np.testing.assert_allclose(learner.ask(), expected, rtol=0, atol=1e-9)
            assert X.contains(learner.ask())
            calls, pulled = calls + 1 + pulls_now, pulled + pulls_now
        assert learner.separations == calls
        assert pulled > 5, "it must have been pulled back, or this test shows nothing"


# Properties


UNIT_FREE = {
    **{name: PROJECTED[name] for name in ("ogd", "adagrad", "ftrl-rms", "ftrl-certificate")},
    "separation-adagrad": SeparationAdaGrad,
}


@pytest.mark.parametrize("learner", UNIT_FREE)
@given(
    exponent=st.integers(-60, 60),
    across=st.sampled_from([0.0, 1.0, 1e6]),
    name=st.sampled_from(["simplex", "l2ball", "box", "dag", "k-subsets"]),
    seed=st.integers(0, 50),
)
@settings(max_examples=20, deadline=None)
def test_no_unit_matters_and_plays_stay_inside(learner, exponent, across, name, seed):
    X = SMALL[name]()
    rng = np.random.default_rng(seed)
    gradients = rng.standard_normal((15, X.dim)) * 10.0 ** rng.uniform(-3, 3, (15, 1)) + across
    one, other = UNIT_FREE[learner](X), UNIT_FREE[learner](X)
    for g in gradients:
        x = one.ask()
        assert X.contains(x)
        np.testing.assert_array_equal(x, other.ask(), strict=True)
        one.tell(hr.feedback.EvalGrad(0.0, g))
        other.tell(hr.feedback.EvalGrad(0.0, 2.0**exponent * g))


@pytest.mark.parametrize("learner", [name for name in PROJECTED if name != "ftrl-paper"])
def test_what_the_set_cannot_feel_moves_nothing(learner):
    """`PaperSteps` apart, whose norms are the paper's, plain ones."""
    X = hr.sets.Simplex(6)
    plain, lifted = PROJECTED[learner](X), PROJECTED[learner](X)
    for g in np.random.default_rng(0).standard_normal((40, 6)):
        plain.tell(hr.feedback.EvalGrad(0.0, g))
        lifted.tell(hr.feedback.EvalGrad(0.0, g + 100.0))
        np.testing.assert_allclose(plain.ask(), lifted.ask(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("learner", PROJECTED)
def test_warm_starts_are_forgotten_at_a_snapshot(learner):
    X = hr.ShortestPath.random_network(nodes=25, edges=90, horizon=8, seed=3).decision_set
    gradients = np.random.default_rng(0).uniform(0.0, 1.0, (40, X.dim))
    one, other = PROJECTED[learner](X), PROJECTED[learner](X)
    for t, g in enumerate(gradients):
        if t == 20:
            other.restore(one.state())
        if t >= 20:
            np.testing.assert_array_equal(one.ask(), other.ask(), strict=True)
            other.tell(hr.feedback.EvalGrad(0.0, g))
        one.tell(hr.feedback.EvalGrad(0.0, g))


class Counted(hr.DecisionSet):
    """A simplex that counts how often it is asked to project, and how often for its oracle."""

    dim, diameter = 4, hr.sets.Simplex(4).diameter
    projected = minimised = 0

    def lmo(self, c):
        self.minimised += 1
        return hr.sets.Simplex(4).lmo(c)

    def project(self, y):
        self.projected += 1
        return hr.sets.Simplex(4).project(y)

    def contains(self, x, tol=1e-9):
        return hr.sets.Simplex(4).contains(x, tol)

    def tangent(self, c):
        return hr.sets.Simplex(4).tangent(c)

    def start(self):
        return hr.sets.Simplex(4).start()


@pytest.mark.parametrize("learner", PROJECTED)
def test_the_declared_projections_are_the_real_ones(learner):
    X = Counted()
    player = PROJECTED[learner](X)
    for t, g in enumerate(np.random.default_rng(0).standard_normal((20, 4))):
        assert player.projections == X.projected == t
        player.tell(hr.feedback.EvalGrad(0.0, g))
    assert player.oracle_calls == X.minimised == 0


class Bare(hr.DecisionSet):
    """A simplex with its oracle alone."""

    dim, diameter = 4, hr.sets.Simplex(4).diameter

    def lmo(self, c):
        return hr.sets.Simplex(4).lmo(c)

    def contains(self, x, tol=1e-9):
        return hr.sets.Simplex(4).contains(x, tol)

    def supports(self, capability):  # noqa: ARG002
        return False


@pytest.mark.parametrize("learner", PROJECTED)
def test_a_set_that_cannot_project_is_refused(learner):
    with pytest.raises(ValueError, match=r"has no projection.*AdaptiveOCG"):
        PROJECTED[learner](Bare())


def test_what_cannot_be_pulled_is_refused():
    with pytest.raises(ValueError, match="needs a hyperplane between a point and the set"):
        SeparationAdaGrad(Bare())
    with pytest.raises(ValueError, match="more than one point"):
        SeparationAdaGrad(hr.sets.Simplex(1))
    with pytest.raises(ValueError, match=r"must be below 1, got 1.2.*horizon above 64"):
        SeparationOGD(hr.sets.L2Ball(3), 40, 1.0)
    with pytest.raises(ValueError, match="R / r of at most 1000, got 2e"):
        SeparationAdaGrad(hr.sets.Box([0.0, 0.0], [1.0, 1e-4]))
    with pytest.raises(ValueError, match="start must lie in the decision set"):
        AdaGrad(hr.sets.Simplex(3), start=[1.0, 1.0, 1.0])


# What a round may take

K5 = [(u, v) for v in range(5) for u in range(v)]
MOVED = {
    "simplex": lambda: hr.sets.Simplex(5),
    "ball": lambda: hr.sets.L2Ball(3),
    "trees": lambda: hr.sets.SpanningTrees(K5),
    "scaled-spectrahedron": lambda: hr.sets.Scaled(hr.sets.Spectrahedron(2), 3.0),
}


@pytest.mark.parametrize("name", MOVED)
def test_where_a_set_lies_costs_no_separations(name):
    """The loop ended by luck, or never, where equations of the set were off by rounding."""

    def play(X):
        learner, rng = SeparationAdaGrad(X), np.random.default_rng(5)
        for _ in range(30):
            learner.tell(hr.feedback.EvalGrad(0.0, rng.standard_normal(X.dim)))
        return learner.ask(), learner.separations

    inner = MOVED[name]()
    expected, separations = play(inner)
    for offset in (-1e3, 1e6, 1e9):
        X = hr.sets.Translated(inner, np.full(inner.dim, offset))
        x, asked = play(X)
        assert asked == separations
        np.testing.assert_allclose(x - offset, expected, rtol=0, atol=4e-16 * abs(offset) + 1e-12)
        assert X.contains(x)


class Unreachable(hr.DecisionSet):
    """A simplex whose separation oracle never finds a point inside."""

    dim, diameter, asked = 3, hr.sets.Simplex(3).diameter, 0

    def lmo(self, c):
        return hr.sets.Simplex(3).lmo(c)

    def contains(self, x, tol=1e-9):
        return hr.sets.Simplex(3).contains(x, tol)

    def hull(self):
        return hr.sets.Simplex(3).hull()

    def ball(self):
        return hr.sets.Simplex(3).ball()

    def separate(self, y):  # noqa: ARG002
        type(self).asked += 1
        return self.normal + np.sin(self.asked * np.arange(1.0, 4.0)) * self.turning


@pytest.mark.parametrize(
    ("normal", "turning", "why"),
    [
        ([0.0, 0.0, 0.0], 1.0, "still separates the point after .* pulls, which its inner ball"),
        ([1.0, 1.0, 1.0], 0.0, "a direction that is the same on all of its hull"),
    ],
)
def test_a_set_that_always_separates_is_told_so(normal, turning, why):
    X = Unreachable()
    X.normal, X.turning = np.array(normal), turning
    learner = SeparationAdaGrad(X)
    before, most = learner.state()["array"], learner.most_separations(0.5)
    asked = X.asked
    with pytest.raises(RuntimeError, match=why):
        learner.tell(hr.feedback.EvalGrad(0.0, np.array([1.0, 0.0, -1.0])))
    assert X.asked - asked <= most
    np.testing.assert_array_equal(learner.state()["array"], before)


@pytest.mark.parametrize("horizon", [None, 10**4, 10**5])
@pytest.mark.parametrize("name", ROUND)
def test_no_round_takes_more_separations_than_was_said(name, horizon):
    X = ROUND[name]()
    learner, rng, before = SeparationAdaGrad(X, horizon), np.random.default_rng(1), 0
    for t in range(1, 200):
        learner.tell(
            hr.feedback.EvalGrad(0.0, 10.0 ** rng.integers(0, 4) * rng.standard_normal(X.dim))
        )
        assert learner.separations - before <= learner.most_separations(learner.squeeze(t))
        before = learner.separations


def test_the_number_that_is_said_is_not_far_too_large():
    """A ball is left straight outward: 1/delta pulls lead back from 2r, 3/2 as many are said."""
    learner = SeparationAdaGrad(hr.sets.L2Ball(3), 10**6)
    learner.tell(hr.feedback.EvalGrad(0.0, np.array([1.0, 0.0, 0.0])))  # y = -sqrt(2) e_1
    assert learner.separations > 0.25 * learner.most_separations(learner.squeeze(1.0))


def test_expensive_rounds_are_announced_before_the_first():
    flat = hr.sets.Box([0.0, 0.0], [1.0, 0.01])
    with pytest.warns(
        hr.learners.ExpensiveRoundWarning, match="R / r = 200 .*up to 53340 separations"
    ):
        assert SeparationAdaGrad(flat).most_separations(0.5) == 53340
    with pytest.warns(
        hr.learners.ExpensiveRoundWarning, match=r"a squeeze of 0.0008 .* 24[0-9]{3} sep"
    ):
        hr.baselines.lu_bagel(hr.sets.Simplex(5), 10**9, preset="theory", lipschitz=1.0)
    SeparationAdaGrad(hr.sets.Box([0.0, 0.0], [1.0, 0.1]))  # 535 at most: no word


# Bounds


def regrets(learner, gradient_at, rounds):
    """The regret against the best fixed point after every round, and the gradients' norms."""
    X, S, paid, out, norms = learner.decision_set, 0.0, 0.0, [], []
    for t in range(1, rounds + 1):
        x = learner.ask()
        g = gradient_at(t, x)
        learner.tell(hr.feedback.EvalGrad(float(g @ x), g))
        S, paid = S + g, paid + float(g @ x)
        out.append(paid - X.minimum(S))
        norms.append(float(np.linalg.norm(along(X, g))))
    return np.array(out), np.array(norms)


def chasing(_, x):
    """Charges for being where the player is."""
    return np.where(x >= 0.0, 1.0, -1.0) / math.sqrt(x.size)


def drifting(t, x):
    return np.cos(np.arange(1.0, x.size + 1) * t / 40.0)


def growing(t, x):
    return math.sqrt(t) * chasing(t, x)


GAMES = {"chasing": chasing, "drifting": drifting, "growing": growing}
CUBE = hr.sets.LinfBall(3)


@pytest.mark.parametrize(
    "X", [CUBE, hr.sets.L2Ball(4), hr.sets.Simplex(5)], ids=["cube", "ball", "simplex"]
)
@pytest.mark.parametrize("game", GAMES)
def test_adagrad_keeps_its_bound_after_every_round(game, X):
    regret, norms = regrets(AdaGrad(X), GAMES[game], 400)
    assert (regret <= math.sqrt(2) * X.diameter * np.sqrt(np.cumsum(norms**2)) + 1e-9).all()


def test_adagrads_bound_can_fail():
    """With steps that are twenty times as long it does."""
    regret, norms = regrets(AdaGrad(CUBE, factor=20.0), chasing, 400)
    assert regret[-1] > math.sqrt(2) * CUBE.diameter * math.sqrt(np.sum(norms**2))


@pytest.mark.parametrize(
    "X", [CUBE, hr.sets.L2Ball(4), hr.sets.Simplex(5)], ids=["cube", "ball", "simplex"]
)
@pytest.mark.parametrize("game", GAMES)
def test_ogd_keeps_its_bound_after_every_round(game, X):
    """With the largest norm so far for G, whether G was given too small or not at all."""
    t = np.arange(1, 401)
    for learner in (OGD(X), OGD(X, lipschitz=0.01), OGD(X, lipschitz=1.0)):
        least = learner._state["rule"][1]
        regret, norms = regrets(learner, GAMES[game], 400)
        G = np.maximum(least, np.maximum.accumulate(norms))
        assert (regret <= 1.5 * G * X.diameter * np.sqrt(t) + 1e-9).all()


def test_ogds_bound_can_fail():
    """A diameter that is twenty times too large in the steps breaks it."""
    learner = OGD(CUBE)
    learner._state["rule"][0] *= 20.0
    regret, _ = regrets(learner, chasing, 400)
    assert regret[-1] > 1.5 * CUBE.diameter * math.sqrt(400)


@pytest.mark.parametrize("game", GAMES)
def test_ftrl_keeps_both_its_bounds(game):
    rounds = 400
    regret, norms = regrets(FTRL(CUBE, hr.learners.steps.PaperSteps(rounds)), GAMES[game], rounds)
    eta = CUBE.diameter / (2 * np.maximum.accumulate(norms) * rounds**0.75)
    before = np.append(eta[0], eta[:-1])
    bound = CUBE.diameter**2 / eta + np.cumsum(before * norms**2) / 4
    assert (regret <= bound + 1e-9).all()
    learner = FTRL(CUBE, hr.learners.steps.CertificateSteps())
    regret, _ = regrets(learner, GAMES[game], rounds)
    rule, R = learner._state["rule"], CUBE.radius_around(CUBE.start())
    assert regret[-1] <= (rule[M] + rule[BETA] * R**2) * (1.0 + 1e-9)


def test_strongly_convex_descent_keeps_its_bound_and_can_fail():
    """On a/2 ||x - z||^2 with z chosen against the player; ten times the steps break it."""
    X, a, rounds = hr.sets.L2Ball(3), 2.0, 400

    def regret(modulus):
        learner, seen, paid, total = StronglyConvexOGD(X, modulus), [], [], []
        for _ in range(rounds):
            x = learner.ask()
            z = -x / (np.linalg.norm(x) or 1.0) if x.any() else np.array([1.0, 0.0, 0.0])
            seen.append(z)
            paid.append(a / 2 * np.sum((x - z) ** 2))
            learner.tell(hr.feedback.EvalGrad(paid[-1], a * (x - z)))
            best = np.mean(seen, axis=0)
            total.append(sum(paid) - a / 2 * np.sum((best - np.array(seen)) ** 2))
        return np.array(total)

    G = a * X.diameter
    bound = G**2 / (2 * a) * (1 + np.log(np.arange(1, rounds + 1)))
    assert (regret(a) <= bound + 1e-9).all()
    assert regret(a / 100)[-1] > bound[-1]


@pytest.mark.parametrize("speed", [0.0, 1 / 40, 1 / 4])
@pytest.mark.parametrize("X", [hr.sets.L2Ball(3), hr.sets.LinfBall(2)], ids=["ball", "square"])
def test_separation_ogd_keeps_its_bounds(speed, X):
    """Regret; and pulls, each of which shortens ||y||^2 by delta (2 - delta) r^2 at least."""
    rounds, G, (centre, r) = 2000, math.sqrt(3.0), X.ball()
    learner = SeparationOGD(X, rounds, G)
    D, delta, eta = X.diameter, 4 * X.diameter / (r * math.sqrt(rounds)), r / (G * rounds**0.5)
    lengthened = 0.0

    def gradient_at(t, x):
        nonlocal lengthened
        g = drifting(speed * t, x)
        lengthened += max(0.0, -2 * eta * g @ (x - centre)) + eta**2 * g @ g
        return g

    regret, _ = regrets(learner, gradient_at, rounds)
    bound = (4.5 * D**2 / r + r / 2) * G * math.sqrt(rounds)
    assert bound < G * D * rounds, "the bound must be below the trivial one"
    assert regret[-1] <= bound
    pulled = learner.separations - rounds
    assert 0 < pulled <= lengthened / (delta * (2 - delta) * r**2)
    most = 1 + 1 / (2 * (2 - delta)) + r / (4 * D * (2 - delta) * math.sqrt(rounds))
    assert learner.separations <= most * rounds


@pytest.mark.parametrize("game", GAMES)
def test_separation_adagrad_keeps_its_bound_after_every_round(game):
    X, rounds = hr.sets.L2Ball(4), 1000
    regret, norms = regrets(SeparationAdaGrad(X, rounds), GAMES[game], rounds)
    delta = 4 * X.diameter / math.sqrt(rounds)
    bound = math.sqrt(2) * np.sqrt(np.cumsum(norms**2)) + delta * np.cumsum(norms)
    assert (regret <= X.diameter * bound + 1e-9).all()


def test_snapshots_of_learners_built_otherwise_are_refused():
    X = hr.sets.Simplex(3)
    for one, other in (
        (AdaGrad(X), AdaGrad(X, 0.5)),
        (OGD(X), OGD(X, 2.0)),
        (StronglyConvexOGD(X, 1.0), StronglyConvexOGD(X, 2.0)),
        (FTRL(X, hr.learners.steps.RmsSteps()), FTRL(X, hr.learners.steps.RmsSteps(8.0))),
        (SeparationOGD(X, 999, 1.0), SeparationOGD(X, 999, 2.0)),
        (SeparationAdaGrad(X), SeparationAdaGrad(X, 999)),
        (AdaGrad(X), AdaGrad(X, start=[1.0, 0.0, 0.0])),
    ):
        with pytest.raises(ValueError, match="built with other arguments"):
            other.restore(one.state())
