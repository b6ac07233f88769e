"""Conditional gradients of other authors: Hazan, Weibel et al., and restarts by doubling."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.learners.ocg import OCG, StronglyConvexOCG
from hedgerow.learners.restarted_ocg import RestartAtStart, RestartedOCG, RestartHere
from hedgerow.learners.steps import CertificateSteps, PaperSteps, RmsSteps, WeibelSteps
from hedgerow.problems.lower_bounds import CyclicArms, FreshCoordinates, RandomSigns, SteadyPush
from hedgerow.sets.simplices.simplex import KSubsets
from hedgerow.testing import check_learner

ROUNDS = 600
EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4), (5, 4)]
SETS = {
    "simplex": lambda: hr.sets.Simplex(12),
    "l2ball": lambda: hr.sets.L2Ball(7, radius=2.0),
    "box": lambda: hr.sets.Box(-np.arange(1.0, 7.0), np.ones(6)),
    "dag": lambda: hr.sets.DagPaths(EDGES, 0, 4),
    "k-subsets": lambda: KSubsets(6, 2),
}
LEARNERS = {
    "ocg": lambda X: OCG(X, 1000, 2.0),
    "weibel": lambda X: hr.learners.AdaptiveOCG(X, WeibelSteps(1000, 2.0)),
    "strongly convex": lambda X: StronglyConvexOCG(X, 0.5),
    "restarted, as Wang et al.": lambda X: RestartedOCG(X, PaperSteps(1000), 1.0),
    "restarted at x_1": lambda X: RestartedOCG(X, RmsSteps(), restart=RestartAtStart()),
    "restarted, certificate": lambda X: RestartedOCG(X, CertificateSteps()),
}


class Recording(hr.DecisionSet):
    """A ball that remembers what its oracle answered."""

    dim, diameter = 3, 2.0

    def __init__(self):
        self.vertices = []

    def lmo(self, c):
        self.vertices.append(hr.sets.L2Ball(3).lmo(c))
        return self.vertices[-1].copy()

    def contains(self, x, tol=1e-9):
        return hr.sets.L2Ball(3).contains(x, tol)

    def start(self):
        return np.zeros(3)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", [*SETS, "point"])
def test_learners_conform(name, learner):
    sets = {**SETS, "point": lambda: hr.sets.Simplex(1)}
    check_learner(lambda: LEARNERS[learner](sets[name]()))


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_declared_oracle_calls_are_the_real_ones(learner):
    X = Recording()
    played = LEARNERS[learner](X)
    rng = np.random.default_rng(0)
    for t in range(20):
        assert played.oracle_calls == len(X.vertices) == t
        played.tell(hr.feedback.EvalGrad(0.0, rng.standard_normal(3) * 2.0**t))


def replay(learner, gradient_at, expected):
    """The learner's plays are the expected ones; `gradient_at(t, x)` is the loss."""
    for t, x_expected in enumerate(expected, start=1):
        x = learner.ask()
        np.testing.assert_allclose(x, x_expected, rtol=0, atol=1e-9)
        learner.tell(hr.feedback.EvalGrad(0.0, gradient_at(t, x)))


def moving_targets(X, seed, growth=0.0):
    """Gradients x - y_t, times a weight that may grow, with some rounds of zero."""
    rng = np.random.default_rng(seed)
    targets = rng.standard_normal((ROUNDS, X.dim)) + rng.standard_normal(X.dim)
    weights = rng.uniform(0.1, 1.0, ROUNDS) * np.exp(growth * np.arange(ROUNDS) / ROUNDS)
    weights[rng.uniform(size=ROUNDS) < 0.1] = 0.0

    def gradient_at(t, x):
        return weights[t - 1] * (x - targets[t - 1])

    return gradient_at


def hazan(X, gradient_at, T, G):
    """Algorithm 27 of Hazan's book: F_t(x) = eta sum_{tau < t} <grad_tau, x> + ||x - x_1||^2."""
    D, x1 = X.diameter, X.start()
    eta = D / (2 * G * T**0.75)
    x, plays, gradients = x1, [], [np.zeros(X.dim)]
    for t in range(1, ROUNDS + 1):
        plays.append(x)
        grad_F = eta * np.sum(gradients, axis=0) + 2 * (x - x1)
        gradients.append(gradient_at(t, x))
        v = X.lmo(grad_F)
        sigma = min(1, 2 / math.sqrt(t))
        x = (1 - sigma) * x + sigma * v
    return plays


def weibel(X, gradient_at, T, M):
    """Direction (x_t - x_1) + eta sum_{s <= t} grad_s, with constant eta and sigma."""
    D, x1 = X.diameter, X.start()
    eta, sigma = D / (2 * M) * (3 / T) ** 0.75, min(1, math.sqrt(3 / T))
    x, plays, A = x1, [], np.zeros(X.dim)
    for t in range(1, ROUNDS + 1):
        plays.append(x)
        A = A + gradient_at(t, x)
        x = (1 - sigma) * x + sigma * X.lmo((x - x1) + eta * A)
    return plays


@pytest.mark.parametrize("name", SETS)
def test_ocg_is_hazans(name):
    X = SETS[name]()
    gradient_at = moving_targets(X, 1)
    replay(OCG(X, ROUNDS, 3.0), gradient_at, hazan(X, gradient_at, ROUNDS, 3.0))


@pytest.mark.parametrize("name", SETS)
def test_weibel_steps_are_weibels(name):
    X = SETS[name]()
    gradient_at = moving_targets(X, 2)
    learner = hr.learners.AdaptiveOCG(X, WeibelSteps(ROUNDS, 3.0))
    replay(learner, gradient_at, weibel(X, gradient_at, ROUNDS, 3.0))


@pytest.mark.parametrize("name", SETS)
def test_the_strongly_convex_learner_is_its_pseudocode(name):
    X, a = SETS[name](), 0.3
    gradient_at = moving_targets(X, 3)
    x, plays, A, B = X.start(), [], np.zeros(X.dim), np.zeros(X.dim)
    for t in range(1, ROUNDS + 1):
        plays.append(x)
        A, B = A + gradient_at(t, x), B + x
        grad = A + 2 * (a / 2) * (t * x - B)
        v = X.lmo(grad)
        if (v != x).any():
            sigma = np.clip(grad @ (x - v) / (2 * (a / 2) * t * np.sum((v - x) ** 2)), 0, 1)
            x = x + sigma * (v - x)
    replay(StronglyConvexOCG(X, a), gradient_at, plays)


def restarted(X, gradient_at, need_at, T, guess, at_start, kappa=None):
    """Section OFW of Wang et al. (2025), with the step clipped; or with kappa and line search."""
    D, x1 = X.diameter, X.start()
    x, anchor, s, A, squares = x1, x1, 1, np.zeros(X.dim), guess**2
    plays, epochs = [], []
    for t in range(1, ROUNDS + 1):
        plays.append(x)
        grad = gradient_at(t, x)
        if guess < need_at(grad):
            while guess < need_at(grad):
                guess = 2 * guess
            x = x1 if at_start else x
            s, anchor, A, squares = t, x, np.zeros(X.dim), guess**2
            epochs.append(t)
        A = A + grad
        age = t - s + 1
        eta = D / (2 * guess * T**0.75)
        if kappa is not None:
            squares += need_at(grad) ** 2 if age > 1 else 0.0
            eta = kappa * D / (2 * age**0.25 * math.sqrt(squares))
        direction = eta * A + 2 * (x - anchor)
        v = X.lmo(direction)
        sigma = min(1, 2 / math.sqrt(age))
        if kappa is not None:
            d2 = np.sum((v - x) ** 2)
            sigma = 0 if d2 == 0 else np.clip(direction @ (x - v) / (2 * d2), 0, 1)
        x = (1 - sigma) * x + sigma * v
    return plays, epochs


@pytest.mark.parametrize("at_start", [False, True])
@pytest.mark.parametrize("kappa", [None, 16.0])
@pytest.mark.parametrize("name", SETS)
def test_restarts_are_their_pseudocode(name, kappa, at_start):
    X = SETS[name]()
    gradient_at = moving_targets(X, 4, growth=4.0)
    plays, epochs = restarted(X, gradient_at, X.tangent_norm, ROUNDS, 1.0, at_start, kappa)
    assert len(epochs) >= 4
    learner = RestartedOCG(
        X,
        PaperSteps(ROUNDS) if kappa is None else RmsSteps(kappa),
        1.0,
        RestartAtStart() if at_start else RestartHere(),
    )
    replay(learner, gradient_at, plays)
    assert learner.restarts == len(epochs)


def restart_rounds(learner, losses):
    """The rounds in which the learner started again."""
    found = []
    for t, loss in enumerate(losses, start=1):
        before = learner.restarts
        learner.tell(loss)
        found += [t] * (learner.restarts - before)
    return found


def test_the_number_of_restarts_of_a_known_game():
    """The guess 1 becomes 4 at norm 3, stays at 4, becomes 8 at 5, and 64 at 33: three restarts."""
    norms = [0.5, 1.0, 0.0, 3.0, 4.0, 5.0, 8.0, 33.0, 64.0, 1.0]
    losses = [hr.feedback.EvalGrad(0.0, np.array([norm, 0.0])) for norm in norms]
    learner = RestartedOCG(hr.sets.L2Ball(2), PaperSteps(100), 1.0)
    assert restart_rounds(learner, losses) == [4, 6, 8]
    assert learner.guess == 64.0


def test_a_declared_lipschitz_constant_decides_instead_of_the_gradient():
    grad = np.array([10.0, 0.0])
    declared = [
        hr.feedback.EvalGrad(0.0, grad, lipschitz) for lipschitz in (0.5, 1.0, 1.5, 2.0, 2.5)
    ]
    learner = RestartedOCG(hr.sets.L2Ball(2), PaperSteps(100), 1.0)
    assert restart_rounds(learner, declared) == [3, 5]


def test_without_a_guess_the_first_gradient_is_one():
    norms = [0.0, 0.3, 0.29, 0.31, 0.6, 0.61]  # 0.3 is the guess, then 0.6, then 1.2
    losses = [hr.feedback.EvalGrad(0.0, np.array([norm, 0.0])) for norm in norms]
    learner = RestartedOCG(hr.sets.L2Ball(2), RmsSteps())
    assert restart_rounds(learner, losses) == [4, 6]
    assert learner.guess == 1.2


def test_the_step_is_clipped():
    """In the first four rounds of an epoch 2/sqrt(t - s + 1) >= 1, so the next play is v_t."""
    X = Recording()
    rng = np.random.default_rng(5)
    learner = RestartedOCG(X, PaperSteps(100), 1.0)
    for t in range(40):
        grad = rng.standard_normal(3)
        x, norm = learner.ask(), 0.9 * 2.0 ** (t // 8)  # a new epoch every eight rounds
        learner.tell(hr.feedback.EvalGrad(0.0, norm * grad / np.linalg.norm(grad)))
        v, age = X.vertices[-1], t % 8 + 1
        assert (learner.ask() == v).all() == (age <= 4)
        if age < 4 and t >= 8:
            assert not X.contains(x + 2 / math.sqrt(age) * (v - x)), "unclipped, it would leave"
    assert learner.restarts == 4


def test_flat_losses_begin_no_epoch():
    """The guess is the first steepness above zero, and that round is the epoch's first."""
    X, grad = hr.sets.L2Ball(2), np.array([3.0, 4.0])
    early, late = (RestartedOCG(X, PaperSteps(100)) for _ in range(2))
    for _ in range(7):
        late.tell(hr.feedback.EvalGrad(0.0, np.zeros(2), 0.0))
    for _ in range(5):
        np.testing.assert_array_equal(early.ask(), late.ask())
        for learner in (early, late):
            learner.tell(hr.feedback.EvalGrad(0.0, grad, 6.0))
    assert early.guess == late.guess == 6.0


@pytest.mark.parametrize("bad", [-1.0, math.nan, 1e200, "steep"])
def test_a_lipschitz_constant_that_is_none_is_refused(bad):
    learner = RestartedOCG(hr.sets.Simplex(2), PaperSteps(10), 1.0)
    before = learner.state()["array"]
    with pytest.raises((TypeError, ValueError), match="lipschitz"):
        learner.tell(hr.feedback.EvalGrad(0.0, np.ones(2), bad))
    np.testing.assert_array_equal(learner.state()["array"], before)


@pytest.mark.parametrize("learner", ["restarted at x_1", "restarted, certificate"])
@pytest.mark.parametrize("exponent", [-40, 3, 77])
@pytest.mark.parametrize("name", SETS)
def test_without_a_guess_there_are_no_units(name, learner, exponent):
    X = SETS[name]()
    plain, scaled = (LEARNERS[learner](X) for _ in range(2))
    rng = np.random.default_rng(6)
    for t in range(200):
        np.testing.assert_array_equal(plain.ask(), scaled.ask())
        grad = rng.standard_normal(X.dim) * math.exp(t / 50)
        plain.tell(hr.feedback.EvalGrad(0.0, grad))
        scaled.tell(hr.feedback.EvalGrad(0.0, 2.0**exponent * grad))
    assert plain.restarts == scaled.restarts >= 3


HARD = {
    "steady": lambda T: SteadyPush(horizon=T),
    "fresh": lambda T: FreshCoordinates(horizon=T),
    "arms": lambda T: CyclicArms(horizon=T),
    "signs": lambda T: RandomSigns(hr.sets.L2Ball(3), np.array([1.0, 0.0, 0.0]), horizon=T),
}


def regret_of_costs(learner, game):
    """Play the costs alone; return (regret, the same for never moving, largest gradient norm)."""
    X, total = game.decision_set, np.zeros(game.decision_set.dim)
    stay, cost, idle, steepest = X.start(), 0.0, 0.0, 0.0
    for f, _ in game:
        x = learner.ask()
        grad = f.grad(x)
        learner.tell(hr.feedback.EvalGrad(f(x), grad))
        cost, idle, total = cost + f(x), idle + f(stay), total + grad
        steepest = max(steepest, float(np.linalg.norm(grad)))
    best = X.minimum(total)
    return cost - best, idle - best, steepest


@pytest.mark.parametrize("T", [10, 100, 400])
@pytest.mark.parametrize("name", HARD)
def test_weibels_bound_holds_on_hard_games(name, T):
    """4/3^{3/4} M D T^{3/4} is below the trivial M D T from T = 10 on, so this can fail."""
    game = HARD[name](T)
    X = game.decision_set
    M = max(float(np.linalg.norm(f.grad(X.start()))) for f, _ in game)
    regret, idle, steepest = regret_of_costs(hr.learners.AdaptiveOCG(X, WeibelSteps(T, M)), game)
    bound = 4 / 3**0.75 * M * X.diameter * T**0.75
    assert steepest <= M
    assert regret <= bound
    if (name, T) == ("steady", 400):
        assert idle > bound, "a learner that never moves must break it"


def test_hazans_bound_holds_where_it_can_fail():
    """8 D G T^{3/4} is below D G T from T = 4097 on; up to there no learner can break it."""
    T = 5000
    game = SteadyPush(horizon=T)  # f = x_1 on the unit ball: D = 2, G = 1
    regret, _, steepest = regret_of_costs(OCG(game.decision_set, T, 1.0), game)
    bound = 8 * 2.0 * T**0.75
    assert steepest == 1.0
    assert regret <= bound
    assert bound < 2.0 * T, "the worst point of all must break it"


def test_the_gap_of_hazans_proof():
    """h_t(x_t) = F_t(x_t) - min F_t <= 2 D^2 sigma_t, the lemma behind the bound."""
    X, T, G = hr.sets.L2Ball(5), 2000, 1.0
    eta, x1, A = X.diameter / (2 * G * T**0.75), X.start(), np.zeros(5)
    learner = OCG(X, T, G)
    rng = np.random.default_rng(7)
    drift, largest = rng.standard_normal(5), 0.0
    for t in range(1, T + 1):
        x = learner.ask()
        lowest = X.project(x1 - eta * A / 2)  # the minimiser of F_t
        h = eta * A @ (x - lowest) + np.sum((x - x1) ** 2) - np.sum((lowest - x1) ** 2)
        sigma = min(1, 2 / math.sqrt(t))
        assert h <= 2 * X.diameter**2 * sigma + 1e-12
        largest = max(largest, h / (2 * X.diameter**2 * sigma))
        grad = rng.standard_normal(5) + (drift if (t // 200) % 2 else -drift)
        grad *= G / np.linalg.norm(grad)
        A = A + grad
        learner.tell(hr.feedback.EvalGrad(0.0, grad))
    assert largest > 0.02, "the lemma must not be idle"
