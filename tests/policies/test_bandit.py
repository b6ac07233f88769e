"""Bandit play: promises, proof steps, what each estimate is unbiased for; and mutants, caught."""

from __future__ import annotations

import json
import math
import re
import warnings
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

import hedgerow as hr
from hedgerow.learners import block_bandit
from hedgerow.learners.block_rules import Block, Seen
from hedgerow.sets.simplices.simplex import KSubsets
from hedgerow.surrogates.values import Values

SETS = {
    "ball": lambda: hr.sets.L2Ball(5, radius=3.0),
    "box": lambda: hr.sets.Box([-1.0, 0.0, 2.0], [1.0, 5.0, 2.0]),
    "simplex": lambda: hr.sets.Simplex(5, total=2.0),
    "k-subsets": lambda: KSubsets(6, 2),
    "dag": lambda: hr.sets.DagPaths([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (5, 3)], 0, 3),
    "moved": lambda: hr.sets.Translated(hr.sets.Scaled(hr.sets.L1Ball(3), 4.0), [1.0, -7.0, 0.0]),
}


class Counted(hr.DecisionSet):
    """A set that counts how often its oracle is really asked."""

    def __init__(self, inner):
        self.inner, self.calls = inner, 0
        self.dim, self.diameter = inner.dim, inner.diameter

    dim = diameter = None

    def lmo(self, c):
        self.calls += 1
        return self.inner.lmo(c)

    def contains(self, x, tol=1e-9):
        return self.inner.contains(x, tol)

    def hull(self):
        return self.inner.hull()

    def ball(self):
        return self.inner.ball()


def cbco(X, horizon=100, seed=0, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hr.VacuousConstantsWarning)
        return hr.projection_free_bandit(X, horizon, seed, lipschitz=1.0, bound=1.0, **options)


def advance(policy, rounds, value_seed=1):
    """Play rounds of random values, and return the plays, with the next one."""
    rng = np.random.default_rng(value_seed)
    plays = []
    for _ in range(rounds):
        plays.append(policy.ask())
        f, g = rng.uniform(-1.0, 1.0, 2)
        policy.tell(hr.feedback.Eval(f, 1.0, 1.0), hr.feedback.Eval(g, 1.0, 1.0))
    return np.array([*plays, policy.ask()])


def store(policy):
    return json.dumps(policy.state(), default=np.ndarray.tolist)


# Promises


def broken_promises(X, horizon, seed, steps, loud):
    """Play a game of extreme values; return the names of the promises that were not kept."""
    X = Counted(X)
    learner = hr.learners.BlockBandit(X, steps(horizon), seed)
    rng, K, broken = np.random.default_rng(seed), math.ceil(math.sqrt(horizon)), set()
    for t in range(1, horizon + 1):
        before, x = X.calls, learner._state["x"].copy()
        y = learner.ask()
        if not X.contains(y, 1e-9):
            broken.add("inside")
        value = rng.choice([-1.0, 1.0]) * loud if t % 3 else 0.0
        learner.tell(hr.feedback.Eval(float(value), loud, loud))
        if X.calls - before > (K if t % K == 0 else 0):
            broken.add("calls in a block")
        if t % K and (learner._state["x"] != x).any():
            broken.add("moves only after a block")
        if not learner.oracle_calls == X.calls <= t:
            broken.add("calls")
    return broken


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("steps", [hr.learners.PracticalBlocks, hr.learners.PaperBlocks])
@settings(max_examples=12, deadline=None)
@given(horizon=st.integers(3, 150), seed=st.integers(0, 9), power=st.integers(-40, 40))
def test_promises_are_kept(name, steps, horizon, seed, power):
    X = SETS[name]()
    try:
        steps(horizon).begin(X.hull()[1].shape[1], X.ball()[1], X.diameter)
    except ValueError:
        return  # the paper's steps do not fit; refusals are tested below
    assert broken_promises(X, horizon, seed, steps, 2.0**power) == set()


def no_shrinking(monkeypatch):
    right = hr.learners.BlockBandit.__init__

    def mutant(self, *args):
        right(self, *args)
        self._shrunk.shrink = 1.0

    monkeypatch.setattr(hr.learners.BlockBandit, "__init__", mutant)


def replace_descent(monkeypatch, mutant):
    """Let a mutant take the place of Algorithm 6, in rounds that run in Python."""
    monkeypatch.setattr(block_bandit, "kernel_matches", lambda *_: False)
    monkeypatch.setattr(block_bandit, "conditional_gradient", mutant)


def no_cap(monkeypatch):
    right = block_bandit.conditional_gradient

    def mutant(table, x, beta, tolerance, cap):
        return right(table, x, beta, 1e-12 * tolerance, 10 * cap)

    replace_descent(monkeypatch, mutant)


def moves_every_round(monkeypatch):
    right = hr.learners.BlockBandit.tell

    def mutant(self, loss):
        right(self, loss)
        block_bandit.add_block(self._state.array, self.decision_set.dim)
        x = self._state["x"]
        block_bandit.conditional_gradient(self.table.descent, x, 1.0, 1e-9, 10)

    monkeypatch.setattr(hr.learners.BlockBandit, "tell", mutant)


@pytest.mark.parametrize(
    ("mutant", "promise"),
    [
        (no_shrinking, "inside"),
        (no_cap, "calls in a block"),
        (moves_every_round, "moves only after a block"),
    ],
)
def test_mutants_break_promises(mutant, promise, monkeypatch):
    mutant(monkeypatch)
    broken = set()
    for name in SETS:
        broken |= broken_promises(SETS[name](), 100, 0, hr.learners.PracticalBlocks, 1.0)
    assert promise in broken


def test_a_short_last_block_and_rounds_beyond_the_horizon():
    learner = hr.learners.BlockBandit(
        hr.sets.L2Ball(3), hr.learners.PracticalBlocks(10), 0
    )  # K = 4: 4 + 4 + 2
    points = []
    for t in range(14):
        points.append(learner._state["x"].copy())
        with nullcontext() if t != 10 else pytest.warns(UserWarning, match="beyond the horizon 10"):
            learner.tell(hr.feedback.Eval(math.sin(t), 1.0, 1.0))
    changes = [t for t in range(1, 14) if (points[t] != points[t - 1]).any()]
    assert changes == [4, 8, 12]
    assert learner.oracle_calls <= 12


def test_zero_values_move_nothing():
    learner = hr.learners.BlockBandit(hr.sets.L2Ball(3), hr.learners.PracticalBlocks(100), 0)
    for _ in range(60):
        learner.tell(hr.feedback.Eval(0.0, 0.0, 5.0))
        assert (learner._state["x"] == 0.0).all()
    assert learner.oracle_calls == 0


# Refusals


@pytest.mark.parametrize(
    "make",
    [
        lambda: hr.sets.L2Ball(7, radius=0.3),
        lambda: hr.sets.L2Ball(3, radius=0.1),
        lambda: hr.sets.Simplex(9),
        lambda: hr.sets.Simplex(23),
        lambda: hr.sets.Box([0.0, 0.0, 0.0], [0.1, 5.0, 3.0]),
        lambda: hr.sets.Box([0.0], [1.0 / 3.0]),
        SETS["dag"],
        lambda: KSubsets(17, 5),
    ],
)
def test_paper_blocks_refuse_with_a_horizon_that_works(make):
    X = make()
    with pytest.raises(ValueError, match="inner radius") as refusal:
        cbco(X, 10, preset="theory")
    given = int(re.search(r"T >= ([0-9]+),", str(refusal.value)).group(1))
    policy = cbco(X, given, preset="theory")
    assert X.contains(policy.ask())
    with pytest.raises(ValueError, match="inner radius"):
        cbco(X, math.floor(0.999 * given), preset="theory")  # and it is not much too large
    assert X.contains(cbco(X, 10).ask()), "practical steps fit everywhere"


class OracleAlone(hr.DecisionSet):
    dim, diameter = 2, 2.0

    def lmo(self, c):
        return -np.sign(c)

    def contains(self, x, tol=1e-9):
        return float(np.abs(x).max()) <= 1.0 + tol

    def supports(self, capability):  # noqa: ARG002
        return False


class NoBall(OracleAlone):
    def supports(self, capability):
        return capability is hr.sets.HasAffineHull


@pytest.mark.parametrize("preset", ["practical", "theory"])
@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (OracleAlone(), "has no hull"),
        (NoBall(), "has no ball"),
        (hr.sets.Simplex(1), "more than one point"),
        (hr.sets.Box([1.0, 2.0], [1.0, 2.0]), "more than one point"),
        (KSubsets(5, 5), "more than one point"),
        (hr.sets.DagPaths([(0, 1), (1, 2)], 0, 2), "more than one point"),
    ],
)
def test_sets_without_room_are_refused_before_the_first_round(X, sentence, preset):
    with pytest.raises(ValueError, match=sentence):
        cbco(X, preset=preset)


@pytest.mark.parametrize(
    "options",
    [
        {"horizon": 7},
        {"horizon": 10.0},
        {"seed": -1},
        {"preset": "theory", "violation_unit": 1.0},
        {"violation_unit": 0.0},
        {"benchmark_budget": -1.0},
        {"preset": "fast"},
    ],
)
def test_bad_arguments_are_refused(options):
    with pytest.raises((ValueError, TypeError), match=" "):
        cbco(hr.sets.L2Ball(3, radius=9.0), **options)


OTHER_KINDS = {"first order": hr.feedback.EvalGrad(0.5, np.zeros(5), 1.0), "a number": 0.5}
BAD = {
    "beyond its bound": hr.feedback.Eval(-1.1, 1.0, 1.0),
    "negative lipschitz": hr.feedback.Eval(0.5, -1.0, 1.0),
    "huge": hr.feedback.Eval(1e200, 1.0, 1e200),
    "huge lipschitz": hr.feedback.Eval(0.5, 1e200, 1.0),
    **OTHER_KINDS,
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("preset", ["practical", "theory"])
def test_bad_feedback_changes_nothing(bad, preset):
    policy = cbco(hr.sets.L2Ball(5), preset=preset)
    advance(policy, 13)
    before = store(policy)
    good = hr.feedback.Eval(0.5, 1.0, 1.0)
    for told in ((BAD[bad], good), (good, BAD[bad])):
        with pytest.raises((ValueError, TypeError), match=" "):
            policy.tell(*told)
        assert store(policy) == before


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_losses_of_another_kind_change_nothing_in_the_learner(kind):
    learner = hr.learners.BlockBandit(hr.sets.L2Ball(5), hr.learners.PracticalBlocks(100), 0)
    before = store(learner)
    with pytest.raises(TypeError, match="bandit play learns from Eval feedback"):
        learner.tell(OTHER_KINDS[kind])
    assert store(learner) == before


def test_a_violation_beyond_every_declared_one_is_refused_whole():
    """The potential rises with a power of the queue, to more than the learner takes."""
    policy = cbco(hr.sets.L2Ball(5))
    advance(policy, 13)
    before = store(policy)
    with pytest.raises(ValueError, match=r"the loss was given as .* above 1e"):
        policy.tell(hr.feedback.Eval(0.5, 1.0, 1.0), hr.feedback.Eval(1e60, 1e60, 1e60))
    assert store(policy) == before


@pytest.mark.parametrize("value", [1e99, 1e-280])
def test_values_near_the_ends_of_float64_are_played(value):
    policy = cbco(hr.sets.L2Ball(5), 400)
    rng = np.random.default_rng(0)
    for _ in range(60):
        f, g = rng.uniform(-value, value, 2)
        policy.tell(hr.feedback.Eval(f, value, value), hr.feedback.Eval(g / value, 1.0, 1.0))
        assert policy.decision_set.contains(policy.ask())


# Determinism and snapshots


@pytest.mark.parametrize("change", [{"seed": 4}, {"horizon": 101}, {"benchmark_budget": 1.0}])
def test_foreign_snapshots_are_refused_whole(change):
    policy = cbco(hr.sets.L2Ball(3), **{"seed": 3, **change})
    advance(policy, 7)
    fresh = cbco(hr.sets.L2Ball(3), seed=3)
    before = store(fresh)
    with pytest.raises(ValueError, match="built with other arguments"):
        fresh.restore(policy.state())
    assert store(fresh) == before


def test_the_seed_decides():
    one, same, other = (advance(cbco(hr.sets.L2Ball(3), seed=seed), 40) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert (one != other).any(axis=1).all()


@pytest.mark.parametrize("factors", [(2.0**-30, 1.0), (2.0**40, 1.0), (8.0, 2.0**-20)])
def test_practical_play_has_no_units(factors):
    """Values times powers of two, with their constants: the same plays, bit for bit."""
    rng = np.random.default_rng(0)

    def made(alpha, beta):
        constants = (alpha, 2.0 * beta)
        return hr.projection_free_bandit(
            hr.sets.Simplex(4), 200, 0, lipschitz=constants, bound=constants
        )

    alpha, beta = factors
    plain, scaled, moved = made(1.0, 1.0), made(alpha, beta), False
    for _ in range(200):
        assert np.array_equal(plain.ask(), scaled.ask())
        f, g = rng.uniform(-1.0, 1.0, 2)
        plain.tell(hr.feedback.Eval(f, 1.0, 1.0), hr.feedback.Eval(2 * g, 2.0, 2.0))
        scaled.tell(
            hr.feedback.Eval(alpha * f, alpha, alpha),
            hr.feedback.Eval(2 * beta * g, 2 * beta, 2 * beta),
        )
        moved |= bool(plain.learner._state["x"].any())
    assert moved


def test_play_refuses_bandits_against_adversaries():
    problem = hr.problems.HalfspaceBox(n=3, horizon=20)
    policy = hr.projection_free_bandit(problem.decision_set, 20, 0, lipschitz=9.0, bound=99.0)
    with pytest.raises(ValueError, match="reacts to the plays"):
        hr.play(policy, problem)


def test_play_works_on_oblivious_problems():
    problem = hr.problems.SwitchingBall(n=3, horizon=120)
    policy = hr.projection_free_bandit(problem.decision_set, 120, 0, lipschitz=3.0, bound=3.0)
    trace = hr.Trace.of(hr.play(policy, problem, lambda f, x: hr.bandit(f, x, 3.0, 3.0)))
    assert len(trace.costs) == 120


# Proof steps


def near_minimisers(X, steps, T, seed):
    """Whether each block's new point is as near to the minimum of F_m as Algorithm 6 promises."""
    learner = hr.learners.BlockBandit(X, steps, seed)
    rng, target = np.random.default_rng(seed), np.random.default_rng(9).standard_normal(X.dim)
    shrunk, worst, blocks = learner._shrunk.shrink * X.radius, -math.inf, 0
    for t in range(1, T + 1):
        y, before = learner.ask(), learner.oracle_calls
        value = float(target @ y) + rng.normal()
        learner.tell(hr.feedback.Eval(value, 10.0, 20.0))
        if t % learner._block.length:
            continue
        S = learner._state["S"]
        squares = learner._state["squares"][0]
        beta = steps.beta(X.dim, X.diameter, Seen(10.0, 20.0, squares))

        def F(x, S=S, beta=beta):
            return S @ x + beta * x @ x

        free = -S / (2 * beta)
        best = free * min(1.0, shrunk / float(np.linalg.norm(free)))
        excess = (F(learner._state["x"]) - F(best)) / beta - learner._block.epsilon
        if learner.oracle_calls - before < learner._block.length:
            worst, blocks = max(worst, excess), blocks + 1
    return worst, blocks


@pytest.mark.parametrize("steps", [hr.learners.PaperBlocks(900), hr.learners.PracticalBlocks(900)])
def test_each_block_ends_near_the_minimum(steps):
    worst, blocks = near_minimisers(hr.sets.L2Ball(3, radius=2.0), steps, 900, 0)
    assert blocks >= 20
    assert worst <= 1e-9


def test_a_mutant_that_goes_uphill_is_caught(monkeypatch):
    right = block_bandit.conditional_gradient

    def mutant(table, *rest):
        table.S[:] *= -1.0
        end = right(table, *rest)
        table.S[:] *= -1.0
        return end

    replace_descent(monkeypatch, mutant)
    worst, _ = near_minimisers(
        hr.sets.L2Ball(3, radius=2.0), hr.learners.PracticalBlocks(900), 900, 0
    )
    assert worst > 1e-3


@dataclass(frozen=True)
class Strict:
    """Practical blocks that ask for a smaller gap."""

    horizon: int
    epsilon: float

    def begin(self, dim, radius, diameter):
        return (
            hr.learners.PracticalBlocks(self.horizon)
            .begin(dim, radius, diameter)
            ._replace(epsilon=self.epsilon)
        )

    def beta(self, dim, diameter, seen):
        return hr.learners.PracticalBlocks(self.horizon).beta(dim, diameter, seen)


def told_in_blocks(steps, rounds, monkeypatch):
    """Play on a simplex; return the learner and (gap, asked for, calls) of every block."""
    descents, right = [], block_bandit.conditional_gradient

    def noted(table, x, beta, tolerance, cap):
        gap, calls = right(table, x, beta, tolerance, cap)
        descents.append((gap, tolerance, calls))
        return gap, calls

    replace_descent(monkeypatch, noted)
    learner = hr.learners.BlockBandit(hr.sets.Simplex(6), steps, 0)
    rng, target = np.random.default_rng(1), np.linspace(-1.0, 1.0, 6)
    for _ in range(rounds):
        learner.tell(hr.feedback.Eval(float(target @ learner.ask()) + rng.normal(), 10.0, 20.0))
    return learner, descents


@pytest.mark.parametrize(("epsilon", "some", "every"), [(0.1, 0, 0), (1e-3, 1, 0), (1e-9, 1, 1)])
def test_blocks_that_reach_their_cap_are_counted(epsilon, some, every, monkeypatch):
    learner, descents = told_in_blocks(Strict(400, epsilon), 400, monkeypatch)
    K = learner._block.length
    capped = [gap for gap, wanted, calls in descents if calls == K and gap > wanted]
    assert len(descents) == 20
    assert learner.capped_blocks == len(capped)
    assert (len(capped) > 0, len(capped) == 20) == (bool(some), bool(every))
    other = hr.learners.BlockBandit(hr.sets.Simplex(6), Strict(400, epsilon), 0)
    other.restore(learner.state())
    assert other.capped_blocks == learner.capped_blocks


@pytest.mark.parametrize(("share", "counted"), [(1.0, 0), (1.0 + 1e-12, 1)])
def test_a_gap_that_is_just_reached_with_the_last_call_is_no_cap(share, counted, monkeypatch):
    def last_call(_table, _x, _beta, tolerance, cap):
        return share * tolerance, cap

    replace_descent(monkeypatch, last_call)
    learner = hr.learners.BlockBandit(hr.sets.Simplex(6), hr.learners.PracticalBlocks(9), 0)
    for _ in range(3):
        learner.tell(hr.feedback.Eval(1.0, 10.0, 20.0))
    assert learner.oracle_calls == 3
    assert learner.capped_blocks == counted


class Peeking(Values):
    """The surrogate of Algorithm 2 from values: its weight looks at the play, w(Q + g^+(y))."""

    def charge(self, constraint, t):
        violation = max(0.0, constraint.value)
        self._state["violation"][0] += violation
        w = self.potential.weight(self.queue, t)
        self._state["weight"][0] = w
        return hr.feedback.Eval(w * violation, 99.0, 99.0)


def surrogate_gap(surrogate, seed, rounds=300):
    """Return Regret' - [Phi(Q_T) - Phi(Q_0)]/V - Regret, which the analysis needs to be >= 0."""
    rng = np.random.default_rng(seed)
    ranges, potential = surrogate.ranges, surrogate.potential
    start, gap = surrogate.queue, 0.0
    feasible = np.zeros(3)
    smallest = math.inf
    for _ in range(rounds):
        y = rng.uniform(-1.0, 1.0, 3)
        a, b = rng.uniform(-1.0, 1.0, (2, 3))
        f, g = float(a @ y), float(b @ y) - rng.uniform(0.0, 0.5)
        before, Q = surrogate.queue, None
        loss = surrogate.tell(hr.feedback.Eval(f, 2.0, 4.0), hr.feedback.Eval(g, 2.0, 4.0))
        Q = surrogate.queue
        drift = ranges.ratio * ranges.violation * (potential.value(Q) - potential.value(before))
        at_feasible = float(a @ feasible)  # g^+ is 0 there, and so is what the constraint adds
        gap += (loss.value - at_feasible) - drift - (f - at_feasible)
        smallest = min(smallest, gap)
    assert surrogate.queue > start
    total = ranges.ratio * ranges.violation * potential.value(surrogate.queue)
    return gap / total, smallest / total


RANGES = {"violation": 3.0, "ratio": 0.5}


@pytest.mark.parametrize("seed", range(5))
def test_the_drift_decomposes_with_equality_and_the_lagged_one_with_slack(seed):
    def made(kind, overshoot):
        potential = hr.surrogates.PowerPotential(6.0, 9.0)
        return kind(potential, 2.0, hr.surrogates.FixedRanges(**RANGES), overshoot=overshoot)

    gap, smallest = surrogate_gap(made(hr.surrogates.DriftSurrogate, 1.0), seed)
    assert abs(gap) < 1e-12
    assert abs(smallest) < 1e-12
    gap, smallest = surrogate_gap(made(hr.surrogates.LaggedSurrogate, 1.0), seed)
    assert gap > 0.0
    assert smallest >= 0.0
    _, smallest = surrogate_gap(
        made(hr.surrogates.LaggedSurrogate, 0.0), seed
    )  # the mutant: no overshoot
    assert smallest < -1e-3


numbers = st.floats(-2.0, 2.0)


def drift(q, p, scale, violation, ratio):
    return hr.surrogates.DriftSurrogate(
        hr.surrogates.PowerPotential(p, scale),
        q,
        hr.surrogates.FixedRanges(violation=violation, ratio=ratio),
    )


@settings(max_examples=60, deadline=None)
@given(
    q=st.floats(0.0, 5.0),
    p=st.floats(1.0, 9.0),
    scale=st.floats(1.0, 5.0),
    unit=st.floats(0.2, 5.0),
    ratio=st.floats(0.1, 10.0),
    seed=st.integers(0, 1000),
)
def test_the_drift_is_convex_and_has_the_current_surrogates_gradient(
    q, p, scale, unit, ratio, seed
):
    rng = np.random.default_rng(seed)
    cost = hr.Quadratic.distance(rng.standard_normal(3), 0.5)
    constraint = hr.Linear(rng.standard_normal(3), rng.normal())

    def h(y):
        told = (hr.bandit(cost, y, 1e6, 1e6), hr.bandit(constraint, y, 1e6, 1e6))
        return drift(q, p, scale, unit, ratio).tell(*told).value

    y, z = rng.standard_normal((2, 3))
    size = abs(h(y)) + abs(h(z)) + 1.0
    assert h((y + z) / 2) <= (h(y) + h(z)) / 2 + 1e-12 * size
    if constraint(y) <= 0.0:
        assert h(y) == pytest.approx(cost(y), abs=1e-12)
    potential, ranges = (
        hr.surrogates.PowerPotential(p, scale),
        hr.surrogates.FixedRanges(violation=unit, ratio=ratio),
    )
    current = hr.surrogates.CurrentSurrogate(potential, q, ranges)
    grad = current.tell(hr.first_order(cost, y), hr.first_order(constraint, y)).grad
    step = 1e-5
    if abs(constraint(y)) > 10 * step:
        differences = [(h(y + step * e) - h(y - step * e)) / (2 * step) for e in np.eye(3)]
        tolerance = 1e-6 * (1.0 + float(np.abs(grad).max()))
        np.testing.assert_allclose(differences, grad, rtol=0, atol=tolerance)


# What each one-point estimate is unbiased for


class OneBlock:
    """A rule that never ends its first block: every round is one sample of the estimate."""

    horizon = 10**9

    def __init__(self, centred=False):
        self.centred = centred

    def begin(self, *_):
        return Block(10**9, DELTA, 1.0, self.centred)

    def beta(self, *_):
        return 1.0


DELTA, SAMPLES, QUEUE = 0.5, 15000, 0.4
POTENTIAL = hr.surrogates.PowerPotential(4.0, 1.0)
COST = hr.Quadratic(np.diag([1.0, 0.5, 0.2]), [0.3, -0.2, 0.1])
NORMAL = np.array([0.8, -0.6, 0.0])
CONSTRAINT = hr.Linear(NORMAL, 0.1)  # piecewise linear: g^+ has its kink inside the ball


def smoothed_gradient(slope):
    """grad f(0) + E over the ball of slope(g(v)) 1{g(v) > 0} NORMAL, by quadrature.

    The marginal of the uniform law on the unit ball of R^3 along a line is 3/4 (1 - z^2).
    """
    level = CONSTRAINT.offset

    def integrand(z):
        return slope(level + DELTA * z) * 0.75 * (1.0 - z * z)

    share, error = quad(integrand, -level / DELTA, 1.0, epsabs=1e-12)
    assert error < 1e-9
    return COST.grad(np.zeros(3)) + share * NORMAL  # a quadratic's mean gradient is its own


def weight(g):
    return POTENTIAL.weight(QUEUE + g)


def mean_weight():
    """E of w(Q + g^+(y)) for y on the sphere, whose marginal in R^3 is uniform."""
    level = CONSTRAINT.offset
    return quad(
        lambda z: 0.5 * weight(max(0.0, level + DELTA * z)), -1.0, 1.0, points=[-level / DELTA]
    )[0]


TARGETS = {
    "lagged": smoothed_gradient(lambda _: weight(0.6)),  # overshoot 0.6: g <= 0.1 + DELTA
    "drift": smoothed_gradient(weight),
    "peeking": smoothed_gradient(lambda g: weight(g) + 12.0 * (QUEUE + g) ** 2 * g),  # + w' g
    "E[w] g^+": smoothed_gradient(lambda _: mean_weight()),
}
SURROGATES = {
    "lagged": lambda: hr.surrogates.LaggedSurrogate(POTENTIAL, QUEUE, overshoot=0.6),
    "drift": lambda: hr.surrogates.DriftSurrogate(POTENTIAL, QUEUE),
    "peeking": lambda: Peeking(POTENTIAL, QUEUE),
}


def estimates(surrogate, seed, centred=False, mean=0.0):
    """Sample the library's one-point estimate at x_1 = 0 with the queue where it was."""
    learner = hr.learners.BlockBandit(hr.sets.L2Ball(3), OneBlock(centred), seed)
    learner._state["mean"][0] = mean
    grads = np.empty((SAMPLES, 3))
    for i in range(SAMPLES):
        y = learner.ask()
        surrogate._state["violation"][0] = 0.0
        loss = surrogate.tell(hr.bandit(COST, y, 9.0, 9.0), hr.bandit(CONSTRAINT, y, 9.0, 9.0))
        learner._state["grad"][:] = 0.0
        learner.tell(loss)
        grads[i] = learner._state["grad"]
    return grads


def z_score(grads, target):
    """The largest distance from the target of a coordinate's mean, in standard errors."""
    error = grads.std(axis=0, ddof=1) / math.sqrt(len(grads))
    return float(np.max(np.abs(grads.mean(axis=0) - target) / error))


@pytest.fixture(scope="module")
def sampled():
    return {name: estimates(make(), seed=21) for name, make in SURROGATES.items()}


@pytest.mark.parametrize("name", SURROGATES)
def test_each_estimate_is_unbiased_for_its_own_smoothed_surrogate(name, sampled):
    assert z_score(sampled[name], TARGETS[name]) < 5.0


@pytest.mark.parametrize(
    ("estimate", "target"),
    [
        ("peeking", "E[w] g^+"),  # what the paper means by "no unbiased estimate"
        ("peeking", "lagged"),
        ("lagged", "drift"),
        ("drift", "lagged"),
        ("drift", "peeking"),
    ],
)
def test_and_biased_for_the_others(estimate, target, sampled):
    assert z_score(sampled[estimate], TARGETS[target]) > 10.0


def test_the_drift_has_a_smaller_weight_than_the_lagged_surrogate():
    pull = {name: float(TARGETS[name] @ NORMAL - COST.linear @ NORMAL) for name in TARGETS}
    assert 2.0 * pull["drift"] < pull["lagged"]


def test_centring_leaves_the_mean():
    grads = estimates(SURROGATES["drift"](), seed=22, centred=True, mean=0.3)
    assert z_score(grads, TARGETS["drift"]) < 5.0
    assert z_score(grads, 1.5 * TARGETS["drift"]) > 10.0


@pytest.mark.parametrize("n", [2, 4])
def test_a_mutant_with_another_n_is_biased(n, sampled):
    """(n/delta) f(y) u needs the n of the sphere that u is drawn from."""
    assert z_score(n / 3 * sampled["drift"], TARGETS["drift"]) > 10.0


def test_a_mutant_that_perturbs_along_axes_is_biased(monkeypatch):
    """An axis of either sign is unbiased for linear losses, but not for the smoothed ones here."""

    def along_axes(_, rng, rounds):
        assert rounds == 1
        return (rng.choice([-1.0, 1.0]) * np.eye(3)[rng.integers(3)])[None]

    monkeypatch.setattr(block_bandit.Directions, "draw", along_axes)
    assert z_score(estimates(SURROGATES["drift"](), seed=24), TARGETS["drift"]) > 10.0
