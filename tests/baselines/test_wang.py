"""The policies of Wang, Wan and Zhang (2025), typed off their pseudocode, against the library.

Their bounds are not tested: OFW-TVC's CCV is at least 2 T^{3/4}/beta = 128 G D T^{3/4} times a
logarithm, which no policy can exceed before T = 2.7e8, and the regret's constant is not printed.
The step of the proof that can fail is.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.wang import wang_2025, wang_2025_bandit, wang_2025_strongly_convex
from hedgerow.learners.restarted_block_bandit import RestartedBlockBandit, WangBlocks
from hedgerow.learners.restarted_ocg import RestartedOCG
from hedgerow.sets.simplices.simplex import KSubsets
from hedgerow.surrogates.values import CurrentValues
from hedgerow.testing import check_learner, check_policy

ROUNDS = 600
EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4), (5, 4)]
SETS = {
    "simplex": lambda: hr.sets.Simplex(12),
    "l2ball": lambda: hr.sets.L2Ball(7, radius=2.0),
    "box": lambda: hr.sets.Box(-np.arange(1.0, 7.0), np.ones(6)),
    "dag": lambda: hr.sets.DagPaths(EDGES, 0, 4),
    "k-subsets": lambda: KSubsets(6, 2),
}
VALUES = partial(hr.bandit, lipschitz=2.0, bound=1.0)


def warned(make, *arguments, **named):
    with pytest.warns(hr.VacuousConstantsWarning):
        return make(*arguments, preset="theory", **named)


POLICIES = {
    "ofw": lambda X: wang_2025(X, 1000),
    "ofw, ratio known": lambda X: wang_2025(X, 1000, lipschitz=(1.0, 2.0), eagerness=2.0),
    "ofw, theory": lambda X: warned(wang_2025, X, 1000, lipschitz=10.0),
    "strongly convex": lambda X: wang_2025_strongly_convex(X, 1000, 0.5),
    "strongly convex, theory": lambda X: wang_2025_strongly_convex(
        X, 1000, 0.5, preset="theory", lipschitz=10.0
    ),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", SETS)
def test_policies_conform(name, policy):
    check_policy(lambda: POLICIES[policy](SETS[name]()))


@pytest.mark.parametrize("name", SETS)
def test_the_bandit_conforms(name):
    def make():
        return wang_2025_bandit(SETS[name](), 40, 3, lipschitz=2.0, bound=1.0)

    check_policy(make, feedback=VALUES)


@pytest.mark.parametrize("name", ["l2ball", "simplex"])
def test_the_letters_bandit_conforms(name):
    def make():
        return warned(wang_2025_bandit, SETS[name](), 40, 3, lipschitz=2.0, bound=1.0)

    check_policy(make, feedback=VALUES)


@pytest.mark.parametrize("guess", [None, 0.5])
def test_the_bandit_learner_conforms(guess):
    check_learner(
        lambda: RestartedBlockBandit(
            hr.sets.L2Ball(4, radius=3.0), WangBlocks(40, 1.0, 2.0), 3, guess
        ),
        oracle_calls_per_round=None,
        feedback=VALUES,
    )


def random_rounds(X, seed, modulus=0.0):
    """Costs and constraints that pull apart; about every other round cannot be kept."""
    rng = np.random.default_rng(seed)
    centre = X.start()
    for _ in range(ROUNDS):
        a = rng.uniform(0.2, 1.0, X.dim)
        b = 0.6 * rng.standard_normal(X.dim) - a
        cost = hr.Linear(a)
        if modulus:
            cost = hr.Quadratic(modulus, a - modulus * centre, 0.0)
        yield cost, hr.Linear(b, -float(b @ centre) + rng.normal(0.3, 0.3))


def ofw_tvc(X, rounds, T, G, beta, Phi_prime):
    """OFW-TVC, in its printed units: surrogate beta f + Phi'(beta Q) beta g^+, guess 1."""
    D, x = X.diameter, X.start()
    anchor, guess, s, Q, A = x, 1.0, 1, 0.0, np.zeros(X.dim)
    plays, epochs, weights = [], [], []
    for t, (f, g) in enumerate(rounds, start=1):
        plays.append(x)
        Q = Q + max(0.0, g(x))
        weights.append(Phi_prime(beta * Q))
        need = beta * G * (1 + weights[-1])
        if guess < need:
            while guess < need:
                guess = 2 * guess
            s, anchor, A = t, x, np.zeros(X.dim)
            epochs.append(t)
        nabla = beta * f.grad(x)
        if g(x) > 0:
            nabla = nabla + weights[-1] * beta * g.grad(x)
        A = A + nabla
        eta = D / (2 * guess * T**0.75)
        v = X.lmo(eta * A + 2 * (x - anchor))
        sigma = min(1, 2 / math.sqrt(t - s + 1))
        x = x + sigma * (v - x)
    return plays, epochs, weights


def replay(policy, rounds, expected):
    """Play the rounds, compare the plays, and return the rounds of restarts and the values of g."""
    found, values = [], []
    for t, (f, g) in enumerate(rounds, start=1):
        x = policy.ask()
        np.testing.assert_allclose(x, expected[t - 1], rtol=0, atol=1e-9)
        before = getattr(policy.learner, "restarts", 0)
        policy.tell(hr.first_order(f, x), hr.first_order(g, x))
        values.append(g(x))
        if getattr(policy.learner, "restarts", 0) > before:
            found.append(t)
    return found, values


RATES = {"simplex": 0.2, "l2ball": 0.1, "box": 0.05, "dag": 0.2, "k-subsets": 0.2}


def composed(X, T, G, beta, rate):
    """OFW-TVC with other constants than the theorem's, divided by beta."""
    potential, units = (
        hr.surrogates.ExponentialPotential(rate),
        hr.surrogates.FixedRanges(violation=1.0 / beta),
    )
    return hr.ConstrainedPolicy(
        RestartedOCG(X, hr.learners.steps.PaperSteps(T), 1.0 / beta),
        hr.surrogates.CurrentSurrogate(potential, 0.0, units, lipschitz=G),
    )


def predicted_restarts(values, G, beta, rate):
    """The rounds in which beta G (1 + Phi'(beta Q_t)) first exceeds a power of two, from 1 on."""
    need = beta * G * (1 + rate * np.exp(rate * beta * np.cumsum(np.maximum(values, 0.0))))
    level = np.maximum(0.0, np.ceil(np.log2(need)))
    return (1 + np.flatnonzero(np.diff(level, prepend=0.0) > 0)).tolist()


@pytest.mark.parametrize("name", SETS)
def test_ofw_tvc_is_its_pseudocode(name):
    """With constants at which restarts happen, and exactly when the queue says so."""
    X, G, rate = SETS[name](), 4.0, RATES[name]
    beta = 1.0 / (2.0 * G)
    rounds = list(random_rounds(X, 1))
    plays, epochs, weights = ofw_tvc(
        X, rounds, ROUNDS, G, beta, lambda z: rate * math.exp(rate * z)
    )
    found, values = replay(composed(X, ROUNDS, G, beta, rate), rounds, plays)
    assert found == epochs == predicted_restarts(values, G, beta, rate)
    assert len(epochs) >= 2
    assert max(weights) > 1.0, "the constraint must have acted, or this test shows nothing"


@pytest.mark.parametrize("name", [*SETS, "tiny"])
def test_the_theory_preset_is_the_theorems_letter(name):
    X = {**SETS, "tiny": lambda: hr.sets.Box(np.zeros(3), np.full(3, 1e-3))}[name]()
    G = 4.0
    rounds = list(random_rounds(X, 2))
    lam = 1 / (2 * ROUNDS**0.75)
    plays, epochs, weights = ofw_tvc(
        X, rounds, ROUNDS, G, 1 / (64 * G * X.diameter), lambda z: lam * math.exp(lam * z)
    )
    found, _ = replay(warned(wang_2025, X, ROUNDS, lipschitz=G), rounds, plays)
    assert found == []
    if name == "tiny":  # D < 1/64: round 1 doubles the guess, which is no restart
        assert epochs == [1]
    else:
        assert epochs == []
        assert max(weights) < 0.0043  # next to nothing: what the docstring warns of


def test_the_number_of_restarts_of_a_game_with_a_constant_violation():
    """beta G = 1/2 and Q_t = t: the guess doubles when 0.1 exp(t/80) passes 1, 3, 7, 15, ..."""
    X, G = hr.sets.Box([-1.0], [1.0]), 4.0
    policy = composed(X, ROUNDS, G, 1.0 / (2.0 * G), 0.1)
    found = []
    for t in range(1, ROUNDS + 1):
        x, before = policy.ask(), policy.learner.restarts
        policy.tell(
            hr.feedback.EvalGrad(float(x[0]), np.ones(1)),
            hr.feedback.EvalGrad(1.0, np.full(1, 1e-9)),
        )
        found += [t] * (policy.learner.restarts - before)
    # 80 log(10 w) = 184.2, 272.1, 339.9, 400.9, 458.9, 515.7, 571.7 for w = 1, 3, 7, ..., 127
    assert found == [185, 273, 340, 401, 459, 516, 572]


def test_each_step_makes_the_progress_that_the_proof_needs():
    """h_t(x_{t+1}) <= (1 - sigma_t) h_t(x_t) + ||x_{t+1} - x_t||^2, in every epoch, for eta F_t."""
    X, G, rate = SETS["l2ball"](), 4.0, RATES["l2ball"]
    policy = composed(X, ROUNDS, G, 1.0 / (2.0 * G), rate)
    learner, D, tightest = policy.learner, X.diameter, 0.0
    for f, g in random_rounds(X, 1):
        x = policy.ask()
        policy.tell(hr.first_order(f, x), hr.first_order(g, x))
        state = learner._state
        anchor, age = state["anchor"], state["age"][0]
        slope = state["S"] * D / (2 * learner.guess * ROUNDS**0.75)  # eta A

        def F(y, slope=slope, anchor=anchor):
            return slope @ y + np.sum((y - anchor) ** 2)

        lowest = F(X.project(anchor - slope / 2))
        sigma = min(1, 2 / math.sqrt(age))
        bound = (1 - sigma) * (F(x) - lowest) + np.sum((policy.ask() - x) ** 2)
        assert F(policy.ask()) - lowest <= bound + 1e-9
        tightest = max(tightest, (F(policy.ask()) - lowest) / bound)
    assert learner.restarts >= 2
    assert tightest > 0.5, "the inequality must not be idle"


@pytest.mark.parametrize("name", SETS)
def test_scofw_tvc_is_its_pseudocode(name):
    """In its printed units: gamma beta f + Phi'(beta Q) beta g^+, Phi(z) = z^2 + z."""
    X, G, a = SETS[name](), 3.0, 0.5
    rounds = list(random_rounds(X, 3, modulus=a))
    D, T = X.diameter, ROUNDS
    beta, gamma = 1 / (G * D * T ** (2 / 3)), G / (G + a * D)
    C1 = gamma * beta * a / 2
    x, Q, plays, A, B = X.start(), 0.0, [], np.zeros(X.dim), np.zeros(X.dim)
    for t, (f, g) in enumerate(rounds, start=1):
        plays.append(x)
        Q = Q + max(0.0, g(x))
        nabla = gamma * beta * f.grad(x)
        if g(x) > 0:
            nabla = nabla + (2 * beta * Q + 1) * beta * g.grad(x)
        A, B = A + nabla, B + x
        grad = A + 2 * C1 * (t * x - B)
        v = X.lmo(grad)
        if (v != x).any():
            sigma = np.clip(grad @ (x - v) / (2 * C1 * t * np.sum((v - x) ** 2)), 0, 1)
            x = x + sigma * (v - x)
    policy = wang_2025_strongly_convex(X, T, a, preset="theory", lipschitz=G)
    replay(policy, rounds, plays)
    assert Q * beta > 0.01, "the queue must have acted, or this test shows nothing"


def unit_problem(name, seed):
    return {
        "simplex": hr.problems.IidSimplex,
        "l2ball": hr.problems.SwitchingBall,
        "box": hr.problems.QuadraticBox,
    }[name](n=6, horizon=120, seed=seed)


@pytest.mark.parametrize(("i", "j"), [(-60, 3), (17, -41), (1, 60)])
@pytest.mark.parametrize("name", ["simplex", "l2ball", "box"])
def test_practical_presets_have_no_units(name, i, j):
    """Bit for bit with powers of two; the modulus is in units of cost."""
    problem = unit_problem(name, 4)
    X, a, b = problem.decision_set, 2.0**i, 2.0**j
    pairs = [
        (wang_2025(X, 120), wang_2025(X, 120)),
        (wang_2025_strongly_convex(X, 120, 1.0), wang_2025_strongly_convex(X, 120, a)),
    ]
    for plain, scaled in pairs:
        for cost, constraint in problem:
            x = plain.ask()
            np.testing.assert_array_equal(x, scaled.ask())
            f, g = hr.first_order(cost, x), hr.first_order(constraint, x)
            plain.tell(f, g)
            scaled.tell(
                hr.feedback.EvalGrad(a * f.value, a * f.grad),
                hr.feedback.EvalGrad(b * g.value, b * g.grad),
            )
        assert plain.surrogate.queue > plain.surrogate.initial, "the constraint must have acted"


def test_the_practical_weight_is_its_formula():
    X, T, e = hr.sets.Simplex(4), 300, 0.7
    policy = wang_2025(X, T, eagerness=e)
    rng = np.random.default_rng(6)
    Mg = Gf = Gg = ccv = 0.0
    lam = 40 * e * T**-0.75
    for _ in range(T):
        x = policy.ask()
        a, b = rng.uniform(0, 1, 4), rng.standard_normal(4)
        g = float(b @ x) + 0.2
        policy.tell(hr.feedback.EvalGrad(float(a @ x), a), hr.feedback.EvalGrad(g, b))
        Gf = max(Gf, float(np.linalg.norm(a - a.mean())))
        expected = 0.0
        if g > 0:
            Mg = max(Mg, g) if Mg else g + float(max(b) - b @ x)
            ccv += g
            Gg = max(Gg, float(np.linalg.norm(b - b.mean())))
            expected = (Gf / Gg) * lam * math.exp(lam * ccv / Mg)
        assert policy.surrogate.weight == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("make", [wang_2025, partial(wang_2025_strongly_convex, modulus=1.0)])
def test_eagerness_buys_violation_with_cost(make):
    problem = hr.problems.QuadraticBox(horizon=800, seed=7)
    traces = [
        hr.simulate(make(problem.decision_set, 800, eagerness=e), problem) for e in (0.2, 0.5, 1.0)
    ]
    assert traces[0].ccv > traces[1].ccv > traces[2].ccv
    assert traces[0].cost < traces[1].cost < traces[2].cost


@pytest.mark.parametrize(
    "make",
    [
        partial(wang_2025, lipschitz=1.0),
        partial(wang_2025_strongly_convex, modulus=1.0, lipschitz=1.0),
        partial(wang_2025_bandit, seed=1, lipschitz=1.0, bound=1.0),
    ],
)
def test_the_letter_takes_no_eagerness(make):
    with pytest.raises(ValueError, match="takes no eagerness"):
        make(hr.sets.L2Ball(2), 100, preset="theory", eagerness=2.0)


def test_the_letter_needs_a_lipschitz_constant():
    with pytest.raises(ValueError, match="needs lipschitz"):
        wang_2025(hr.sets.Simplex(2), 100, preset="theory")


@pytest.mark.parametrize("bad", [-1.0, math.inf, "steep"])
def test_a_declared_constant_that_is_none_changes_nothing(bad):
    policy = wang_2025(hr.sets.Simplex(2), 100)
    before = policy.state()
    with pytest.raises((TypeError, ValueError), match="Lipschitz constant of the constraint"):
        policy.tell(
            hr.feedback.EvalGrad(1.0, np.ones(2), 1.0), hr.feedback.EvalGrad(1.0, np.ones(2), bad)
        )
    np.testing.assert_equal(policy.state(), before)


def test_the_loss_declares_its_constant_where_both_parts_do():
    surrogate = hr.surrogates.CurrentSurrogate(hr.surrogates.PowerPotential(2.0, 1.0))
    cost, constraint = (
        hr.feedback.EvalGrad(1.0, np.ones(2), 3.0),
        hr.feedback.EvalGrad(0.5, np.ones(2), 5.0),
    )
    assert surrogate.tell(cost, constraint).lipschitz == 3.0 + 1.0 * 5.0  # weight 2 Q = 1
    assert surrogate.tell(cost, hr.feedback.EvalGrad(0.5, np.ones(2))).lipschitz is None
    given = hr.surrogates.CurrentSurrogate(hr.surrogates.PowerPotential(2.0, 1.0), lipschitz=4.0)
    assert given.tell(cost, hr.feedback.EvalGrad(0.5, np.ones(2))).lipschitz == 3.0 + 1.0 * 4.0


def bfw_tvc(X, rounds, T, seed, G, M, beta, c, Phi_prime):
    """BFW-TVC, in its printed units and the set's own coordinates; at most K steps a block."""
    rng = np.random.default_rng(seed)
    basis, (centre, r), D = X.hull()[1], X.ball(), X.diameter
    n, K, delta, eps = basis.shape[1], math.ceil(math.sqrt(T)), c * T**-0.25, 4 * D**2 * T**-0.5
    y = anchor = centre
    guess, Q, epoch, hat, need, calls, plays, restarts = 1.0, 0.0, 0.0, 0.0, 0.0, 0, [], 0
    for t, (f, g) in enumerate(rounds, start=1):
        u = basis @ (basis.T @ rng.standard_normal(X.dim))
        u = u / np.linalg.norm(u)
        x = y + delta * u
        plays.append(x)
        violation = max(0.0, g(x))
        Q = Q + violation
        weight = Phi_prime(beta * Q)
        hat = hat + n / delta * (beta * f(x) + weight * beta * violation) * u
        need = max(need, beta * G * (1 + weight))
        if t % K == 0:
            if guess < need:
                while guess < need:
                    guess = 2 * guess
                anchor, epoch, restarts = y, 0.0, restarts + 1
            epoch = epoch + hat
            eta = c * D / (n * M * guess * T**0.75)
            z, gap, steps = y, math.inf, 0
            while gap > eps and steps < K:
                grad = eta * epoch + 2 * (z - anchor)
                v = centre + (1 - delta / r) * (X.lmo(grad) - centre)
                gap, d2 = grad @ (z - v), np.sum((v - z) ** 2)
                z = z + (0 if d2 == 0 else np.clip(gap / (2 * d2), 0, 1)) * (v - z)
                steps += 1
            y, calls, hat, need = z, calls + steps, 0.0, 0.0
    return plays, calls, restarts


@pytest.mark.parametrize("letter", [True, False])
@pytest.mark.parametrize("name", ["l2ball", "box", "simplex"])
def test_bfw_tvc_is_its_pseudocode(name, letter):
    """The letter's constants, and others at which it restarts and moves."""
    X = {
        "l2ball": lambda: hr.sets.L2Ball(4, radius=2.0),
        "box": lambda: hr.sets.Box([-1.0, 0.0, 2.0], [1.0, 5.0, 4.0]),
        "simplex": lambda: hr.sets.Simplex(4, total=6.0),
    }[name]()
    T, seed, G, M = 300, 11, 6.0, 40.0
    rounds = list(random_rounds(X, 5))[:T]
    n, r, D = X.hull()[1].shape[1], X.ball()[1], X.diameter
    c, lam = r, 1 / (2 * T**0.75)
    beta = 1 / (16 * G * (c * D / r + 3 * c + 1 + 2 * c * D / (n * M) + n * M * D / c))
    if not letter:
        beta, lam, M = 1 / (2 * G), 0.3, 0.02
    plays, calls, restarts = bfw_tvc(
        X, rounds, T, seed, G, M, beta, c, lambda z: lam * math.exp(lam * z)
    )
    if letter:
        policy = warned(wang_2025_bandit, X, T, seed, lipschitz=G, bound=M)
    else:
        policy = hr.ConstrainedBandit(
            RestartedBlockBandit(X, WangBlocks(T, M, c), seed, 1 / beta),
            CurrentValues(
                hr.surrogates.ExponentialPotential(lam), 0.0, hr.surrogates.FixedRanges(1 / beta)
            ),
        )
    for (f, g), expected in zip(rounds, plays, strict=True):
        x = policy.ask()
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-9)
        policy.tell(hr.feedback.Eval(f(x), G, 1e3), hr.feedback.Eval(g(x), G, 1e3))
    assert policy.oracle_calls == calls
    assert policy.learner.restarts == restarts
    assert (restarts >= 2) != letter, "the letter never restarts; else it must, or nothing is shown"


def test_the_weight_of_wangs_bandit_depends_on_the_play():
    """So no unbiasedness is promised: two plays of one round are weighed differently."""
    weights = []
    for value in (0.1, 2.0):
        surrogate = CurrentValues(hr.surrogates.ExponentialPotential(1.0))
        surrogate.tell(hr.feedback.Eval(0.0, 1.0, 1.0), hr.feedback.Eval(value, 1.0, 2.0))
        weights.append(surrogate.weight)
    assert weights == pytest.approx([math.exp(0.1), math.exp(2.0)])


def test_too_wide_a_perturbation_is_refused():
    with pytest.raises(ValueError, match="make c smaller"):
        RestartedBlockBandit(hr.sets.L2Ball(3), WangBlocks(100, 1.0, 4.0), 0)
