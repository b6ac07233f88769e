"""Sinha and Vaze's policies and their kin: pseudocode, presets, theorems."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.baselines.sinha_vaze import (
    lu_bagel,
    sarkar_sinha_2025,
    sinha_vaze_2024,
    sinha_vaze_2024_strongly_convex,
)
from hedgerow.learners.projected_descent import AdaGrad
from hedgerow.learners.separation_ogd import SeparationAdaGrad
from hedgerow.surrogates.potentials import AnytimeExponential
from hedgerow.testing import check_policy
from true_projections import SETS, along, nearest

T = 400


# Pseudocode


def box(X, rounds, G, lam_of):
    """The algorithm box for convex costs, with beta; each round is (f', (g', offset))."""
    D = X.diameter
    beta, V = 1 / (2 * G * D), 1.0
    x, Q, S, plays, weights = X.start(), 0.0, 0.0, [], []
    for t, (a, (b, offset)) in enumerate(rounds, start=1):
        plays.append(x)
        g = float(b @ x) + offset
        Q = Q + beta * max(0.0, g)
        lam = lam_of(t)
        w = lam * math.exp(lam * Q)
        grad = beta * along(X, V * a + (w * b if g > 0 else 0.0))
        S = S + float(grad @ grad)
        if S > 0:
            x = nearest(X, x - math.sqrt(2) * D / (2 * math.sqrt(S)) * grad)
        weights.append(w if g > 0 else 0.0)
    return plays, weights


def linear_rounds(X, seed, drift=0.0):
    rng = np.random.default_rng(seed)
    centre = X.start()
    for t in range(T):
        a = rng.uniform(0.2, 1.0, X.dim) * (t % 9 != 0)
        b = 0.6 * rng.standard_normal(X.dim) - a - drift
        yield a, (b, -float(b @ centre) + rng.normal(0.0, 0.3))


def agree(policy, rounds, plays, weights):
    for (a, (b, offset)), expected, weight in zip(rounds, plays, weights, strict=True):
        x = policy.ask()
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-9)
        policy.tell(
            hr.feedback.EvalGrad(float(a @ x), a), hr.feedback.EvalGrad(float(b @ x) + offset, b)
        )
        assert policy.surrogate.weight == pytest.approx(weight, rel=1e-6)
    assert max(weights) > 0.5, "the constraint must have acted, or this test shows nothing"


@pytest.mark.parametrize("name", SETS)
def test_the_theory_preset_is_the_algorithm_box(name):
    """G is chosen too small on purpose, so that the weight becomes large within few rounds."""
    X, G = SETS[name](), 0.03
    rounds = list(linear_rounds(X, seed=1))
    plays, weights = box(X, rounds, G, lambda _: 1 / (2 * math.sqrt(T)))
    agree(sinha_vaze_2024(X, T, preset="theory", lipschitz=G), rounds, plays, weights)


@pytest.mark.parametrize("name", SETS)
def test_the_anytime_policy_has_a_rate_that_falls(name):
    X, G = SETS[name](), 0.05
    rounds = list(linear_rounds(X, seed=2))
    plays, weights = box(X, rounds, G, lambda t: 1 / (2 * math.sqrt(t)))
    agree(sarkar_sinha_2025(X, preset="theory", lipschitz=G), rounds, plays, weights)


@pytest.mark.parametrize("name", SETS)
def test_the_strongly_convex_policy_is_its_pseudocode(name):
    """V f + 2 Q g^+ with V formed, steps 1/(V a t)."""
    X, G, a = SETS[name](), 0.5, 0.4
    rng = np.random.default_rng(3)
    corner = X.lmo(rng.standard_normal(X.dim))
    targets = corner + 0.3 * rng.standard_normal((T, X.dim))
    normals = rng.standard_normal((T, X.dim)) + (corner - X.start())
    V, Q, x = 8 * G**2 * math.log(T * math.e) / a, 0.0, X.start()
    policy = sinha_vaze_2024_strongly_convex(X, T, a, preset="theory", lipschitz=G)
    weights = []
    for t, (z, b) in enumerate(zip(targets, normals, strict=True), start=1):
        play = policy.ask()
        np.testing.assert_allclose(play, x, rtol=0, atol=1e-9)
        offset = 0.1 - float(b @ X.start())
        g = float(b @ x) + offset
        cost, constraint = hr.Quadratic.distance(z, a), hr.Linear(b, offset)
        policy.tell(hr.first_order(cost, play), hr.first_order(constraint, play))
        Q = Q + max(0.0, g)
        grad = V * a * (x - z) + (2 * Q * b if g > 0 else 0.0)
        x = nearest(X, x - along(X, grad) / (V * a * t))
        weights.append(policy.surrogate.weight)
    assert max(weights) > 0.5, "the constraint must have acted, or this test shows nothing"


@pytest.mark.parametrize("horizon", [None, 300])
def test_the_practical_weight_is_its_formula(horizon):
    X = hr.sets.Simplex(4)
    policy = sinha_vaze_2024(X, horizon, eagerness=0.5)
    rng = np.random.default_rng(6)
    Mg = Gf = Gg = ccv = 0.0
    for t in range(1, 300):
        x = policy.ask()
        a, b = rng.uniform(0, 1, 4), rng.standard_normal(4)
        g = float(b @ x) + (-1.0 if t < 40 else 0.2)  # the first violation comes late
        policy.tell(hr.feedback.EvalGrad(float(a @ x), a), hr.feedback.EvalGrad(g, b))
        Gf = max(Gf, float(np.linalg.norm(a - a.mean())))
        expected = 0.0
        if g > 0:
            Mg = max(Mg, g) if ccv else g + float(max(b) - b @ x)
            ccv += g
            Gg = max(Gg, float(np.linalg.norm(b - b.mean())))
            lam = 0.5 * (6 / math.sqrt(300) if horizon else min(0.3, 6 / math.sqrt(t)))
            expected = (Gf / Gg) * lam * math.exp(lam * ccv / Mg)
        assert policy.surrogate.weight == pytest.approx(expected, rel=1e-12)
        assert policy.oracle_calls == bool(ccv)
        assert policy.learner.projections == t
    assert ccv > 0


def test_bagel_is_the_surrogate_on_separation_descent():
    X = hr.sets.L2Ball(3)
    theory = lu_bagel(X, 500, preset="theory", lipschitz=2.0)
    other = sinha_vaze_2024(X, 500, preset="theory", lipschitz=2.0)
    assert isinstance(theory.learner, SeparationAdaGrad)
    assert theory.learner.horizon == 500
    assert theory.surrogate.potential == other.surrogate.potential
    assert theory.surrogate.ranges.violation == other.surrogate.ranges.violation == 2 * 2.0 * 2.0
    practical = lu_bagel(X, 500, eagerness=2.0)
    assert practical.learner.horizon is None
    assert (
        practical.surrogate.potential == sinha_vaze_2024(X, 500, eagerness=2.0).surrogate.potential
    )


# up to q = 25 the largest weight, the cap, does not bind
@given(
    q=st.floats(0.0, 25.0),
    t=st.integers(1, 10**6),
    rate=st.floats(0.1, 5.0),
    top=st.floats(0.01, 1),
)
@settings(deadline=None)
def test_the_anytime_potential_only_falls_and_its_slope_is_its_weight(q, t, rate, top):
    potential = AnytimeExponential(rate, top)
    assert potential.value(q, t + 1) <= potential.value(q, t)
    step = 1e-4
    rise = potential.value(q + step, t) - potential.value(q, t)
    slack = 1e-9 * (1.0 + potential.value(q + step, t))
    assert potential.weight(q, t) * step <= rise + slack  # convex
    assert rise <= potential.weight(q + step, t) * step + slack


# Presets


POLICIES = {
    "sinha_vaze_2024": sinha_vaze_2024,
    "sinha_vaze_2024-horizon": lambda X, horizon=None: sinha_vaze_2024(X, horizon or 40),
    "sarkar_sinha_2025": sarkar_sinha_2025,
    "lu_bagel": lu_bagel,
}
PROBLEMS = {
    "simplex": lambda seed: hr.problems.IidSimplex(n=8, horizon=40, seed=seed),
    "ball": lambda seed: hr.problems.SwitchingBall(n=4, horizon=40, seed=seed),
    "box": lambda seed: hr.problems.QuadraticBox(n=4, horizon=40, seed=seed),
    "paths": lambda seed: hr.ShortestPath.random_network(nodes=15, edges=40, horizon=40, seed=seed),
}


def plays(policy, problem, a=1.0, b=1.0):
    points = []
    for cost, constraint in problem:
        x = policy.ask()
        points.append(x)
        f, g = hr.first_order(cost, x), hr.first_order(constraint, x)
        policy.tell(
            hr.feedback.EvalGrad(a * f.value, a * f.grad),
            hr.feedback.EvalGrad(b * g.value, b * g.grad),
        )
    return np.array(points)


@pytest.mark.parametrize("policy", POLICIES)
@given(
    i=st.integers(-60, 60),
    j=st.integers(-60, 60),
    seed=st.integers(0, 20),
    name=st.sampled_from(sorted(PROBLEMS)),
)
@settings(max_examples=8, deadline=None)
def test_powers_of_two_leave_the_plays_bit_for_bit(policy, i, j, seed, name):
    problem = PROBLEMS[name](seed)
    X, make = problem.decision_set, POLICIES[policy]
    one, other = plays(make(X), problem), plays(make(X), problem, a=2.0**i, b=2.0**j)
    np.testing.assert_array_equal(one, other, strict=True)
    assert all(X.contains(x) for x in one)


def test_the_strongly_convex_policy_has_no_unit_if_its_modulus_moves_along():
    problem = PROBLEMS["box"](1)
    X = problem.decision_set
    one = plays(sinha_vaze_2024_strongly_convex(X, 60, 0.5), problem)
    other = plays(sinha_vaze_2024_strongly_convex(X, 60, 4.0), problem, a=8.0, b=0.25)
    np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("preset", ["practical", "theory"])
def test_anytime_plays_do_not_depend_on_the_horizon(preset):
    problem = PROBLEMS["simplex"](0)
    X, given = problem.decision_set, {"lipschitz": 3.0} if preset == "theory" else {}
    runs = [
        plays(sarkar_sinha_2025(X, horizon, preset=preset, **given), problem)
        for horizon in (None, 10, 10**6)
    ]
    np.testing.assert_array_equal(runs[0], runs[1], strict=True)
    np.testing.assert_array_equal(runs[0], runs[2], strict=True)


@pytest.mark.parametrize("policy", [sinha_vaze_2024, sarkar_sinha_2025, lu_bagel])
def test_more_eagerness_means_less_violation_and_more_cost(policy):
    problem = hr.problems.IidSimplex(n=8, horizon=1000, seed=1)
    runs = [
        hr.simulate(policy(problem.decision_set, 1000, eagerness=e), problem)
        for e in (0.25, 1.0, 4.0)
    ]
    assert runs[0].ccv > 1.5 * runs[1].ccv > 2.25 * runs[2].ccv
    assert runs[0].cost < runs[1].cost < runs[2].cost


def test_a_weight_that_cannot_matter_is_said():
    X = hr.sets.L2Ball(3)
    with pytest.warns(hr.VacuousConstantsWarning, match="at T = 100"):
        sinha_vaze_2024(X, 100, preset="theory", lipschitz=1.0)
    with pytest.warns(hr.VacuousConstantsWarning, match="at T = 20"):
        sinha_vaze_2024_strongly_convex(X, 20, 0.1, preset="theory", lipschitz=1.0)
    sinha_vaze_2024(X, 1600, preset="theory", lipschitz=1.0)  # it can matter: no warning
    sinha_vaze_2024_strongly_convex(X, 400, 0.1, preset="theory", lipschitz=1.0)


def test_what_the_theorem_does_not_know_is_refused():
    X = hr.sets.L2Ball(3)
    for policy in (sinha_vaze_2024, sarkar_sinha_2025, lu_bagel):
        with pytest.raises(ValueError, match="takes no eagerness"):
            policy(X, 1000, preset="theory", lipschitz=1.0, eagerness=2.0)
        with pytest.raises(ValueError, match="needs lipschitz"):
            policy(X, 1000, preset="theory")
        with pytest.raises(ValueError, match="eagerness must be above 0"):
            policy(X, 1000, eagerness=0.0)
    for policy in (sinha_vaze_2024, lu_bagel):
        with pytest.raises(ValueError, match="needs a horizon"):
            policy(X, preset="theory", lipschitz=1.0)
    with pytest.raises(ValueError, match="modulus must be above 0"):
        sinha_vaze_2024_strongly_convex(X, 100, 0.0)
    with pytest.raises(ValueError, match="takes no eagerness"):
        sinha_vaze_2024_strongly_convex(X, 100, 1.0, preset="theory", lipschitz=1.0, eagerness=2.0)


EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4), (5, 4)]
SMALL = {
    "simplex": lambda: hr.sets.Simplex(5),
    "l2ball": lambda: hr.sets.L2Ball(4, radius=3.0),
    "box": lambda: hr.sets.Box([-1.0, 0.0, 2.0], [1.0, 5.0, 2.0]),
    "dag": lambda: hr.sets.DagPaths(EDGES, 0, 4),
    "k-subsets": lambda: hr.sets.KSubsets(6, 2),
}
CONFORMING = {
    **POLICIES,
    "sinha_vaze_2024-theory": lambda X: sinha_vaze_2024(X, 1000, preset="theory", lipschitz=10.0),
    "strongly-convex": lambda X: sinha_vaze_2024_strongly_convex(X, 100, 0.5),
    "sarkar_sinha_2025-theory": lambda X: sarkar_sinha_2025(X, preset="theory", lipschitz=10.0),
    "lu_bagel-theory": lambda X: lu_bagel(X, 10**5, preset="theory", lipschitz=10.0),
}


@pytest.mark.parametrize("policy", CONFORMING)
@pytest.mark.parametrize("name", SMALL)
def test_policies_conform(name, policy):
    check_policy(lambda: CONFORMING[policy](SMALL[name]()), rounds=12)


# Theorems. G = 1 and D = 2 below, on [-1, 1].


SEGMENT = hr.sets.Box([-1.0], [1.0])


def always_wrong(policy, rounds):
    """The cost pulls right, and only the left end satisfies the constraint x + 1 <= 0."""
    ccv = 0.0
    for _ in range(rounds):
        x = policy.ask()
        policy.tell(
            hr.feedback.EvalGrad(-x[0], -np.ones(1)), hr.feedback.EvalGrad(x[0] + 1.0, np.ones(1))
        )
        ccv += max(0.0, x[0] + 1.0)
    return ccv


def violation_bound(horizon):
    return 4 * 2 * math.sqrt(horizon) * math.log(2 * (1 + 2 * horizon))


@pytest.mark.parametrize("horizon", [1600, 6400])
def test_the_violation_keeps_its_bound_where_that_says_something(horizon):
    assert violation_bound(horizon) < 2 * horizon, "the bound must be below the trivial G D T"
    ccv = always_wrong(sinha_vaze_2024(SEGMENT, horizon, preset="theory", lipschitz=1.0), horizon)
    assert ccv <= violation_bound(horizon)
    assert ccv > 0.2 * violation_bound(horizon), "the game must come near the bound"


def test_explain_has_the_bounds_that_are_checked_here():
    X, T = hr.sets.Box([-1.0], [1.0]), 1600  # G = 1, D = 2
    policy = hr.baselines.sinha_vaze_2024(X, T, preset="theory", lipschitz=1.0)
    guarantees = {part.name: part for part in hr.explain(policy).guarantees}
    assert guarantees["CCV, Sinha and Vaze 2024"].value == pytest.approx(violation_bound(T))
    assert guarantees["regret, Sinha and Vaze 2024"].value == 2 * 2 * (math.sqrt(T) + 1)
    assert guarantees["CCV, Sinha and Vaze 2024"].trivial == 2 * T


def test_the_bound_of_the_violation_can_fail():
    """With a third of the theorem's rate it does."""
    surrogate = hr.surrogates.CurrentSurrogate(
        hr.surrogates.ExponentialPotential(1 / (6 * math.sqrt(1600))),
        0.0,
        hr.surrogates.FixedRanges(violation=4.0),
    )
    policy = hr.ConstrainedPolicy(AdaGrad(SEGMENT), surrogate)
    assert always_wrong(policy, 1600) > violation_bound(1600)


def chased(policy, rounds):
    """Costs sign(x_t) x against the player, constraint x <= 1/2: the regret after every round."""
    paid, S, regret = 0.0, 0.0, []
    for _ in range(rounds):
        x = policy.ask()
        a = 1.0 if x[0] >= 0.0 else -1.0
        policy.tell(
            hr.feedback.EvalGrad(a * x[0], np.array([a])),
            hr.feedback.EvalGrad(x[0] - 0.5, np.ones(1)),
        )
        paid, S = paid + a * x[0], S + a
        regret.append(paid - min(-S, 0.5 * S))  # best of the feasible ends, -1 and 1/2
    return np.array(regret)


def test_the_regret_keeps_its_bound_after_every_round_and_can_fail():
    rounds = 2000
    bound = 2 * 2 * (np.sqrt(np.arange(1, rounds + 1)) + 1)
    policy = sinha_vaze_2024(SEGMENT, rounds, preset="theory", lipschitz=1.0)
    assert (chased(policy, rounds) <= bound).all()
    eager = hr.ConstrainedPolicy(AdaGrad(SEGMENT, factor=30.0), policy.surrogate)
    assert chased(eager, rounds)[-1] > bound[-1]


def test_the_strongly_convex_bounds_hold_after_every_round():
    """a/2 (x - z)^2 with z = 1 mostly, constraint x <= 0. Here G = 2 a and D = 2."""
    a, rounds = 1.0, 2000
    G, D = 2 * a, 2.0
    policy = sinha_vaze_2024_strongly_convex(SEGMENT, rounds, a, preset="theory", lipschitz=G)
    paid, ccv, best = 0.0, 0.0, 0.0
    log = math.log(rounds * math.e)
    for t in range(1, rounds + 1):
        x = policy.ask()[0]
        z = -1.0 if t % 5 == 0 else 1.0
        policy.tell(
            hr.feedback.EvalGrad(a / 2 * (x - z) ** 2, np.array([a * (x - z)])),
            hr.feedback.EvalGrad(x, np.ones(1)),
        )
        paid, ccv, best = paid + a / 2 * (x - z) ** 2, ccv + max(0.0, x), best + a / 2  # x* = 0
        assert paid - best <= G**2 / a * (1 + math.log(t))
        assert ccv <= 4 * G * math.sqrt(G * D / a * t * log) + 4 * G**2 * log / a
    assert 4 * G * math.sqrt(G * D / a * rounds * log) + 4 * G**2 * log / a < G * D * rounds
