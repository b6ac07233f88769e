"""Garber and Kretzu's learner and policies: transcriptions, proof steps, contracts."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr
from convex_steps import prox_by_scipy, sq
from hedgerow.baselines.garber_kretzu import (
    budget_tolerance,
    garber_kretzu_2024_bandit,
    garber_kretzu_2024_dpp,
    garber_kretzu_2024_lpm,
)
from hedgerow.baselines.penalty_prox import Affine, PenaltyProx
from hedgerow.learners.block_rules import FixedLooBlocks, PracticalLooBlocks
from hedgerow.learners.blocked_ogd import BlockedOGD, FeasibleFollower
from hedgerow.learners.hull_coordinates import ShrunkHull
from hedgerow.learners.one_point import OnePoint
from hedgerow.surrogates.dual import DualSteps, DualSurrogate
from pulling_games import SETS, kept_point, linear_rounds, plays


def directions(X):
    """The orthogonal projector on the differences of the set's points."""
    rng = np.random.default_rng(0)
    vertices = np.array([X.lmo(rng.standard_normal(X.dim)) for _ in range(80)])
    spread = vertices - vertices[0]
    basis = np.linalg.svd(spread)[2][: np.linalg.matrix_rank(spread)]
    return basis.T @ basis


def afp(X, x, y, eps):
    """Section 2 of Garber and Kretzu (2023), with Frank-Wolfe written out."""
    if sq(x - y) <= 3 * eps:
        return x, y
    while True:
        while True:
            v = X.lmo(x - y)
            gap = float((x - y) @ (x - v))
            if gap <= eps or sq(x - y) <= 3 * eps:
                break
            x = x + min(1.0, gap / sq(v - x)) * (v - x)
        if sq(x - y) <= 3 * eps:
            return x, y
        y = y - 2 / 3 * (y - x)


def back_in_ball(y, centre, R):
    return centre + (y - centre) * min(1.0, R / max(1e-300, math.sqrt(sq(y - centre))))


def lpm_by_hand(X, rounds, T, G, c, theta, mu):
    """Algorithm 4, the reconstruction's box."""
    R, K, P = X.diameter, math.ceil(math.sqrt(T)), directions(X)
    eta, eps = R / G * T**-0.75, c * R**2 / math.sqrt(T)
    x = y = x1 = X.start()
    lam, xs, lams = 0.0, [], []
    for block in (rounds[i : i + K] for i in range(0, T, K)):
        p, S = np.zeros(X.dim), 0.0
        for f, g in block:
            xs.append(x)
            p = p + f.grad(x) + (lam * g.grad(x) if g(x) > 0 else 0.0)
            S += max(0.0, g(x))
        x, y = afp(X, x, back_in_ball(y - eta * (P @ p), x1, R), eps)
        lam = max(0.0, lam + mu * (S - K * theta * lam))
        lams.append(lam)
    return np.array(xs), lams


@pytest.mark.parametrize("name", SETS)
def test_lpm_is_its_box(name):
    X, T, G, c = SETS[name](), 400, 1.0, 0.1
    R, K = X.diameter, 20
    rounds = list(linear_rounds(X, T, seed=3))
    theta, mu = 4 * R * G * T**-0.25 / 30, 30 * T**-0.75 / (4 * R * G)
    expected, lams = lpm_by_hand(X, rounds, T, G, c, theta, mu)
    surrogate = DualSurrogate(DualSteps(K, theta, mu))
    policy = hr.ConstrainedPolicy(BlockedOGD(X, FixedLooBlocks(T, G, 1.0, c)), surrogate)
    np.testing.assert_allclose(plays(policy, rounds), expected, rtol=0, atol=1e-9)
    assert surrogate.weight == pytest.approx(lams[-1], abs=1e-9)
    assert max(lams) > 0.5, "the constraint must have acted, or this test shows nothing"
    assert len(np.unique(expected.round(6), axis=0)) > 5


def dpp_by_hand(X, rounds, T, G, c, lam):
    """Algorithm 3, the reconstruction's box, with scipy for the step over the ball."""
    R, K, P = X.diameter, math.ceil(math.sqrt(T)), directions(X)
    eta, eps = R / G * T**-0.75, c * R**2 / math.sqrt(T)
    x = y = x1 = X.start()
    xs = []
    for block in (rounds[i : i + K] for i in range(0, T, K)):
        xs += [x] * len(block)
        cost = P @ sum(f.grad(x) for f, _ in block)
        slopes = np.array([P @ g.coefficients for _, g in block])
        values = np.array([g(x1) for _, g in block])
        pieces = Affine(slopes, values, np.arange(len(block) + 1, dtype=np.uint32))
        z = prox_by_scipy(cost, pieces, lam, eta, y - x1, R)
        x, y = afp(X, x, x1 + z, eps)
    return np.array(xs)


@pytest.mark.parametrize("name", SETS)
def test_dpp_is_its_box(name):
    X, T, G, c = SETS[name](), 100, 0.25, 0.01
    lam = T**0.125
    rounds = list(linear_rounds(X, T, seed=5))
    expected = dpp_by_hand(X, rounds, T, G, c, lam)
    policy = PenaltyProx(X, FixedLooBlocks(T, G, 1.0, c), lam)
    found = plays(policy, rounds, hr.feedback.full_information)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5)
    assert len(np.unique(expected.round(4), axis=0)) > 3


def test_the_theory_presets_have_the_constants_of_their_theorems():
    X, T, G = hr.sets.Simplex(4), 10**6, 3.0
    R, K = math.sqrt(2.0), 1000
    c = budget_tolerance(T)
    assert 27 * (2.25 * math.log(4 * math.sqrt(T) / c) + 1) == pytest.approx(c)
    dpp = garber_kretzu_2024_dpp(X, T, preset="theory", lipschitz=G)
    lpm = garber_kretzu_2024_lpm(X, T, preset="theory", lipschitz=G)
    for steps in (dpp.steps, lpm.learner.steps):
        assert steps.begin(R) == pytest.approx((K, c * R**2 / 1000))
        assert steps.eta(R, 0.0) == pytest.approx(R / G * T**-0.75)
    assert dpp.weight == pytest.approx(T**0.125)
    dual = lpm.surrogate.steps
    assert (dual.block, dual.theta) == (K, pytest.approx(4 * R * G * T**-0.25))
    assert dual.mu == pytest.approx(T**-0.75 / (4 * R * G))
    paper = FixedLooBlocks(T, G)
    assert paper.begin(R) == pytest.approx((5000, 60 * R**2 / 1000))


@pytest.mark.parametrize("make", [garber_kretzu_2024_dpp, garber_kretzu_2024_lpm])
def test_presets_refuse_and_warn(make):
    X = hr.sets.Simplex(3)
    with pytest.raises(ValueError, match="takes no eagerness"):
        make(X, 10**6, preset="theory", lipschitz=1.0, eagerness=2.0)
    with pytest.raises(ValueError, match="needs lipschitz"):
        make(X, 10**6, preset="theory")
    with pytest.raises(ValueError, match="eagerness must be above 0"):
        make(X, 100, eagerness=0.0)
    with pytest.warns(hr.VacuousConstantsWarning, match="never moves"):
        make(X, 285_021, preset="theory", lipschitz=1.0)
    make(X, 285_022, preset="theory", lipschitz=1.0)  # no warning: 3 eps < R^2


class Followed(FeasibleFollower):
    """A pursuer that keeps what it was told to follow, and where it stood."""

    def follow(self, y):
        before = (self.x, self.y)
        super().follow(y)
        self.seen = [*getattr(self, "seen", []), (*before, y, self.x, self.y)]


@pytest.mark.parametrize("name", SETS)
def test_every_step_of_the_proof_of_dpp_holds(name):
    X, T, lam = SETS[name](), 225, 1.5
    rounds = list(linear_rounds(X, T, seed=11))
    rng = np.random.default_rng(1)
    vertices = np.array([X.lmo(rng.standard_normal(X.dim)) for _ in range(40)])
    mixed = np.vstack([vertices, rng.dirichlet(np.ones(40), size=40) @ vertices])
    feasible = [z for z in mixed if all(g(z) <= 0.0 for _, g in rounds)] + [kept_point(X, 11)]
    steps = FixedLooBlocks(T, 0.25, 1.0, 0.1)
    R, K, P = X.diameter, 15, directions(X)
    eta = steps.eta(R, 0.0)
    policy = PenaltyProx(X, steps, lam)
    policy._pursuer = Followed(policy.workspace, X.start(), R, steps.begin(R).eps)
    plays(policy, rounds, hr.feedback.full_information)
    left, squares = np.zeros(len(feasible)), 0.0
    for m, (x, y0, y1, x1, y2) in enumerate(policy._pursuer.seen):
        block = rounds[m * K : (m + 1) * K]
        c = P @ sum(f.grad(x) for f, _ in block)
        penalty = lam * sum(max(0.0, g(y1)) for _, g in block)
        squares += sq(c)
        assert sq(x1 - y2) <= 3 * steps.begin(R).eps
        for k, z in enumerate(feasible):
            prox = c @ (y1 - z) + penalty + (sq(y1 - y0) + sq(y1 - z)) / (2 * eta)
            assert prox <= sq(z - y0) / (2 * eta) + 1e-7 * R**2 / eta  # strong convexity
            assert sq(y2 - z) <= sq(y1 - z) * (1 + 1e-12)  # the projection's third promise
            left[k] += c @ (y0 - z) + penalty + sq(y1 - y0) / (4 * eta)
    start = np.array([sq(z - X.start()) for z in feasible])
    assert (left <= start / (2 * eta) + eta * squares + 1e-5 * R**2 / eta).all()


@pytest.mark.parametrize("name", SETS)
def test_lpm_keeps_its_bounds_where_they_say_something(name):
    """With c = 0.1 the bound on the regret is 0.8 of the largest regret G R T at T = 1225.

    The bound on the CCV is above G R T until T is about 1e6: it cannot fail here.
    """
    X, T, c = SETS[name](), 1225, 0.1
    R, K = X.diameter, 35
    eta = R * T**-0.75
    theta, mu = 4 * eta * K, T**-0.75 / (4 * R)
    assert eta * K + mu * K * theta**2 <= 3 * theta / 8 * (1 + 1e-12)
    bound = R * T**0.75 * (4 + math.sqrt(3 * c) + 1.5 * c)
    assert bound < 0.81 * R * T
    policy = hr.ConstrainedPolicy(
        BlockedOGD(X, FixedLooBlocks(T, 1.0, 1.0, c)), DualSurrogate(DualSteps(K, theta, mu))
    )
    rounds = list(linear_rounds(X, T, seed=13))
    xs = plays(policy, rounds)
    total = sum(f.coefficients for f, _ in rounds)
    cost = sum(f(x) for (f, _), x in zip(rounds, xs, strict=True))
    regret = cost - float(total @ kept_point(X, 13))
    assert regret <= min(bound, policy.certificate())


def test_the_dual_variable_follows_its_recursion():
    steps = DualSteps(block=2, theta=0.5, mu=0.25)
    surrogate = DualSurrogate(steps)
    one = np.ones(1)
    lam, used = 0.0, []
    for pair in ([3.0, -1.0], [2.0, 2.0], [-5.0, -5.0], [-5.0, -5.0]):
        for g in pair:
            loss = surrogate.tell(hr.feedback.EvalGrad(1.0, one), hr.feedback.EvalGrad(g, -one))
            used.append(1.0 - float(loss.grad[0]))
            assert used[-1] == (lam if g > 0.0 else 0.0)
            assert loss.value == 1.0 + lam * max(0.0, g)
        lam = max(0.0, lam + 0.25 * (sum(max(0.0, g) for g in pair) - 2 * 0.5 * lam))
        assert surrogate.weight == lam
    assert lam > 0.0


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("T", [10**6, 10**8])
def test_no_block_of_the_theory_preset_needs_more_calls_than_rounds(name, T):
    X, rng = SETS[name](), np.random.default_rng(2)
    R, worst = X.diameter, 0
    eps = FixedLooBlocks(T, 1.0, 1.0, budget_tolerance(T)).begin(R).eps
    for _ in range(20):
        pursuer = FeasibleFollower(X.workspace(), X.start(), R, eps)
        for _ in range(4):
            before = pursuer.oracle_calls
            u = rng.standard_normal(X.dim)
            pursuer.follow(X.start() + R * u / np.linalg.norm(u))
            worst = max(worst, pursuer.oracle_calls - before)
            assert sq(pursuer.x - pursuer.y) <= 3 * eps
    assert 0 < worst <= math.sqrt(T)


@pytest.mark.parametrize("make", [garber_kretzu_2024_dpp, garber_kretzu_2024_lpm])
def test_eagerness_lowers_the_violation(make):
    X, T = hr.sets.Simplex(5), 900
    rounds = list(linear_rounds(X, T, seed=8))

    def ccv(eagerness):
        policy = make(X, T, eagerness=eagerness)
        xs = plays(
            policy,
            rounds,
            hr.feedback.full_information if make is garber_kretzu_2024_dpp else hr.first_order,
        )
        return sum(max(0.0, g(x)) for (_, g), x in zip(rounds, xs, strict=True))

    assert ccv(4.0) < ccv(1.0) < ccv(0.05)


def test_dpp_moves_where_costs_say_nothing():
    """Zero costs, and costs that are flat along the set: the constraint alone must move the play.

    To stay at the start would violate by 1/3 - 0.1 each round, 23 in all.
    """
    X, limit = hr.sets.Simplex(3), hr.Linear([1.0, 0.0, 0.0], -0.1)
    for cost in (hr.Linear(np.zeros(3)), hr.Linear(np.ones(3))):
        xs = plays(
            garber_kretzu_2024_dpp(X, 100), [(cost, limit)] * 100, hr.feedback.full_information
        )
        assert np.maximum(0.0, xs[:, 0] - 0.1).sum() < 10.0


def curved_rounds(T, seed):
    rng = np.random.default_rng(seed)
    for _ in range(T):
        centre = np.array([0.4, -0.2, 0.1]) + 0.1 * rng.standard_normal(3)
        yield hr.Linear(rng.standard_normal(3) - 0.5), hr.Quadratic.distance(centre, 2.0, -0.3)


def test_curved_constraints_are_cut_until_the_step_is_right():
    from scipy.optimize import minimize

    X, T, lam = hr.sets.L2Ball(3), 16, 0.8
    steps = FixedLooBlocks(T, 1.0, 1.0, 0.05)
    R, eta, K = X.diameter, steps.eta(X.diameter, 0.0), 4
    rounds = list(curved_rounds(T, seed=6))
    policy = PenaltyProx(X, steps, lam)
    policy._pursuer = Followed(policy.workspace, X.start(), R, steps.begin(R).eps)
    plays(policy, rounds, hr.feedback.full_information)
    for m, (x, y0, y1, _, _) in enumerate(policy._pursuer.seen):
        block = rounds[m * K : (m + 1) * K]
        c = sum(f.grad(x) for f, _ in block)

        def objective(y, c=c, block=block, y0=y0):
            return c @ y + lam * sum(max(0.0, g(y)) for _, g in block) + sq(y - y0) / (2 * eta)

        found = minimize(
            objective, y1, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
        )
        assert np.linalg.norm(y1) < R  # the ball does not bind, so scipy needs not know it
        assert objective(y1) <= found.fun + 1.1e-5 * R**2 / eta


def test_snapshots_with_curved_constraints_wait_for_the_blocks_end():
    X, T = hr.sets.L2Ball(3), 36
    policy = PenaltyProx(X, FixedLooBlocks(T, 1.0, 1.0, 0.05), 1.0)
    rounds = list(curved_rounds(6, seed=6))
    plays(policy, rounds[:4], hr.feedback.full_information)
    with pytest.raises(ValueError, match="after the block's last round"):
        policy.state()
    plays(policy, rounds[4:], hr.feedback.full_information)
    other = PenaltyProx(X, FixedLooBlocks(T, 1.0, 1.0, 0.05), 1.0)
    other.restore(policy.state())
    assert (other.ask() == policy.ask()).all()


def test_a_maximum_resumes_within_a_block():
    X = hr.sets.Simplex(3)
    parts = [hr.Linear([1.0, 0.0, 0.0], -0.2), hr.Linear([0.0, 1.0, 0.0], -0.3)]
    rounds = [(hr.Linear([-1.0, -0.5, 0.0]), hr.Maximum(parts))] * 40
    policy, other = garber_kretzu_2024_dpp(X, 64), garber_kretzu_2024_dpp(X, 64)
    plays(policy, rounds[:13], hr.feedback.full_information)
    other.restore(policy.state())
    assert (
        plays(policy, rounds[13:], hr.feedback.full_information)
        == plays(other, rounds[13:], hr.feedback.full_information)
    ).all()
    assert max(part(policy.ask()) for part in parts) < 0.3


def test_one_point_play_needs_room():
    with pytest.raises(TypeError, match="ShrunkHull"):
        OnePoint(BlockedOGD(hr.sets.Simplex(3), PracticalLooBlocks(10)), 0)
    with pytest.raises(ValueError, match="delta < inner radius"):
        ShrunkHull(hr.sets.L2Ball(3), 2.0)
    with pytest.warns(hr.VacuousConstantsWarning, match="longer than the game"):
        garber_kretzu_2024_bandit(
            hr.sets.L2Ball(3), 100, 0, lipschitz=1.0, bound=1.0, preset="theory"
        )


def test_the_estimate_is_unbiased():
    X = hr.sets.L2Ball(3)
    room, slope = ShrunkHull(X, 0.2), np.array([1.0, -2.0, 0.5])
    learner = BlockedOGD(room, PracticalLooBlocks(10**9))  # one block: it only sums
    bandit, N = OnePoint(learner, seed=1, window=50), 4000
    for _ in range(N):
        bandit.tell(hr.feedback.Eval(float(slope @ bandit.ask()) + 1.0, 3.0, 4.0))
    mean = learner._state["p"] / N
    spread = 3 / 0.2 * 1.1 / math.sqrt(N)  # n/delta times the value's size, over sqrt(N)
    assert np.abs(mean - slope).max() <= 4.0 * spread
    assert 4.0 * spread < np.abs(slope).max()
