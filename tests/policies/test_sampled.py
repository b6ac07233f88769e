"""Integral play: sampled, lazily sampled and semi-bandit; what they keep, and what ruins them."""

from __future__ import annotations

import json
import math
from functools import partial

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.sets.matroids.spanning_trees import SpanningTrees
from hedgerow.sets.simplices.simplex import KSubsets

plain_coco = partial(hr.projection_free_coco, tracking=False)
"""Its learner moves by mixing, as lazy sampling needs."""

COMPLETE = [(i, j) for i in range(5) for j in range(i + 1, 5)]
EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4), (5, 4)]
SETS = {
    "dag": lambda: hr.sets.DagPaths(EDGES, 0, 4),
    "k-subsets": lambda: KSubsets(6, 2),
    "trees": lambda: SpanningTrees(COMPLETE),
}
WRAPPERS = {"fresh": hr.Sampled, "lazy": hr.LazySampled}
PROBLEM = hr.ShortestPath.random_network(nodes=12, edges=30, horizon=250, seed=5)
ROUNDS = list(PROBLEM)


def coco():
    return plain_coco(PROBLEM.decision_set)


def game(policy, rounds=ROUNDS):
    """Play linear rounds; return total cost, signed sum, CCV, and the inner plays."""
    cost = signed = ccv = 0.0
    inner = []
    for f, g in rounds:
        inner.append(policy.policy.ask())
        x = policy.ask()
        cost, signed, ccv = cost + f(x), signed + g(x), ccv + max(0.0, g(x))
        policy.tell(hr.feedback.linear(f, x), hr.feedback.linear(g, x))
    return cost, signed, ccv, np.array(inner)


@pytest.fixture(scope="module")
def fractional():
    policy, plays = coco(), []
    cost = signed = ccv = 0.0
    for f, g in ROUNDS:
        x = policy.ask()
        plays.append(x)
        cost, signed, ccv = cost + f(x), signed + g(x), ccv + max(0.0, g(x))
        policy.tell(hr.first_order(f, x), hr.first_order(g, x))
    return cost, signed, ccv, np.array(plays)


@pytest.fixture(scope="module")
def sampled():
    """Many games of each sampler: a table of cost, signed sum, CCV and switches."""
    tables = {}
    for name, runs in (("fresh", 30), ("lazy", 80)):
        rows = []
        for seed in range(runs):
            policy = WRAPPERS[name](coco(), seed)
            *totals, inner = game(policy)
            rows.append([*totals, policy.switches])
        tables[name] = (np.array(rows), inner)
    return tables


@pytest.mark.parametrize("name", WRAPPERS)
def test_mean_cost_and_signed_sum_are_the_fractional_ones(name, sampled, fractional):
    rows, inner = sampled[name]
    # fed at x_t: rounding of values there grows slowly, and quickly near the end
    np.testing.assert_allclose(inner[:150], fractional[3][:150], rtol=0, atol=1e-9)
    for column in (0, 1):
        totals = rows[:, column]
        error = totals.std(ddof=1) / math.sqrt(len(totals))
        assert error > 0.0
        assert abs(totals.mean() - fractional[column]) < 3.0 * error


def test_the_ccv_of_vertices_is_larger(sampled, fractional):
    for name in WRAPPERS:
        assert sampled[name][0][:, 2].mean() > 3.0 * fractional[2]


def test_lazy_play_switches_far_less_and_deviates_more(sampled):
    fresh, lazy = (sampled[name][0] for name in ("fresh", "lazy"))
    assert lazy[:, 3].mean() < 0.2 * fresh[:, 3].mean()
    assert lazy[:, 0].std() > 1.5 * fresh[:, 0].std()


@pytest.mark.parametrize("name", WRAPPERS)
@pytest.mark.parametrize("of", SETS)
def test_every_play_is_a_vertex(name, of):
    X = SETS[of]()
    policy, rng = (
        WRAPPERS[name](plain_coco(X), 0),
        np.random.default_rng(0),
    )
    for _ in range(60):
        x = policy.ask()
        assert np.isin(x, (0.0, 1.0)).all()
        assert X.contains(x)
        f, g = rng.standard_normal((2, X.dim))
        policy.tell(
            hr.feedback.EvalLinear(float(f @ x), f), hr.feedback.EvalLinear(float(g @ x) - 0.2, g)
        )


@pytest.mark.parametrize("name", WRAPPERS)
def test_each_round_has_the_fractional_plays_mean(name):
    """P(arm 1) = x_t in every round of one fixed game, over many seeds, within 5 errors."""
    X = hr.sets.Simplex(2)
    rng = np.random.default_rng(3)
    games = [(hr.Linear(rng.uniform(0, 1, 2)), hr.Linear([1.0, -1.0], -0.2)) for _ in range(25)]
    runs = 300
    plays = np.empty((runs, len(games)))
    for seed in range(runs):
        policy = WRAPPERS[name](plain_coco(X), seed)
        for t, (f, g) in enumerate(games):
            x = policy.ask()
            plays[seed, t] = x[0]
            policy.tell(hr.feedback.linear(f, x), hr.feedback.linear(g, x))
    *_, inner = game(WRAPPERS[name](plain_coco(X), 0), games)
    share = inner[:, 0]
    error = np.sqrt(share * (1.0 - share) / runs) + 1e-9
    assert ((share > 0.1) & (share < 0.9)).sum() > 5
    assert (np.abs(plays.mean(axis=0) - share) < 5.0 * error).all()


# What ruins them


class FedAtTheVertex(hr.Sampled):
    """The mutant: feedback goes to the inner policy as it was seen, at the vertex."""

    def tell(self, cost, constraint):
        self.policy.tell(
            hr.feedback.EvalGrad(cost.value, cost.grad),
            hr.feedback.EvalGrad(constraint.value, constraint.grad),
        )
        self._state["vertex"][:] = self._next()


def two_arms(kind, T=4000):
    """The free arm may be played half the time: f = (0, 1), g = x_1 - x_2 <= 0."""
    f, g = hr.Linear([0.0, 1.0]), hr.Linear([1.0, -1.0])
    cost, signed, *_ = game(kind(plain_coco(hr.sets.Simplex(2)), 0), [(f, g)] * T)
    return (cost - 0.5 * T) / T, signed / T


def test_feeding_at_the_vertex_ruins_the_policy():
    regret, signed = two_arms(hr.Sampled)
    assert abs(regret) < 0.05
    assert abs(signed) < 0.1
    regret, signed = two_arms(FedAtTheVertex)
    assert regret > 0.4
    assert signed < -0.8


def against_an_adversary(kind, T=2000):
    """The arm played last costs 1, the other nothing; return cost and the best arm's cost."""
    policy = kind(plain_coco(hr.sets.Simplex(2)), 0)
    harmless = hr.Linear([0.0, 0.0], -1.0)
    last, cost, arms = policy.ask(), 0.0, np.zeros(2)
    for _ in range(T):
        f, x = hr.Linear(last), policy.ask()
        policy.tell(hr.feedback.linear(f, x), hr.feedback.linear(harmless, x))
        cost, arms, last = cost + f(x), arms + f.coefficients, x
    return cost / T, arms.min() / T


def test_lazy_play_fails_against_who_sees_the_held_vertex():
    cost, best = against_an_adversary(hr.LazySampled)
    assert cost > best + 0.3
    cost, best = against_an_adversary(hr.Sampled)
    assert cost < best + 0.05


def test_so_lazy_play_is_refused_against_adversaries_and_fresh_play_is_not():
    problem = hr.problems.HalfspaceBox(n=3, horizon=20)
    with pytest.raises(ValueError, match="reacts to the plays"):
        hr.play(
            hr.LazySampled(plain_coco(problem.decision_set), 0),
            problem,
        )
    policy = hr.Sampled(plain_coco(problem.decision_set), 0)
    assert len(list(hr.play(policy, problem, hr.feedback.linear))) == 20
    assert not policy.oblivious_only
    # over an oblivious policy, fresh draws do not help
    assert hr.Sampled(hr.ftpl_coco(problem.decision_set, 20, 0), 0).oblivious_only


# Refusals


def test_only_linear_functions_are_looked_at():
    x = np.array([1.0, 0.0])
    for f in (hr.Quadratic(1.0, [0.0, 0.0]), hr.Maximum([hr.Linear([1.0, 0.0])])):
        with pytest.raises(TypeError, match="linear functions"):
            hr.feedback.linear(f, x)
        with pytest.raises(TypeError, match="linear functions"):
            hr.semi_bandit(f, x)


class OracleAlone(hr.DecisionSet):
    dim, diameter = 2, 2.0

    def lmo(self, c):
        return -np.sign(c)

    def contains(self, x, tol=1e-9):
        return float(np.abs(x).max()) <= 1.0 + tol

    def supports(self, capability):  # noqa: ARG002
        return False


def test_policies_that_cannot_be_sampled_are_refused():
    for kind in WRAPPERS.values():
        with pytest.raises(ValueError, match="no sample"):
            kind(plain_coco(OracleAlone()), 0)
    with pytest.raises(ValueError, match="FTPL does not have"):
        hr.LazySampled(hr.ftpl_coco(hr.sets.Simplex(3), 10, 0), 0)
    with pytest.raises(ValueError, match="seed"):
        hr.Sampled(plain_coco(hr.sets.Simplex(3)), -1)


def store(policy):
    return json.dumps(policy.state(), default=np.ndarray.tolist)


GOOD = hr.feedback.EvalLinear(0.5, np.ones(8))
BAD = {
    "first order": hr.feedback.EvalGrad(0.5, np.ones(8)),
    "value alone": hr.feedback.Eval(0.5, 1.0, 1.0),
    "a number": 0.5,
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", WRAPPERS)
def test_feedback_of_another_kind_changes_nothing(name, bad):
    policy = WRAPPERS[name](plain_coco(SETS["dag"]()), 0)
    policy.tell(GOOD, GOOD)
    before = store(policy)
    for told in ((BAD[bad], GOOD), (GOOD, BAD[bad])):
        with pytest.raises((ValueError, TypeError), match=" "):
            policy.tell(*told)
        assert store(policy) == before


def semi(X, seed=0, horizon=400):
    return hr.semi_bandit_coco(X, horizon, seed)


# Semi-bandit play


class Still:
    """An inner policy that never moves and remembers what it was told."""

    oblivious_only, oracle_calls = False, 0

    def __init__(self, X, x):
        self.decision_set, self.x, self.told = X, x, []

    def ask(self):
        return self.x.copy()

    def tell(self, cost, constraint):
        self.told.append(np.append(np.concatenate([cost.grad, constraint.grad]), constraint.value))


@pytest.mark.parametrize("of", SETS)
def test_estimates_are_unbiased_in_every_used_coordinate(of):
    """Coefficients of cost and constraint, and the constraint's signed value at x_t."""
    X, rng = SETS[of](), np.random.default_rng(2)
    x = X.lmo(rng.standard_normal(X.dim))  # a vertex: without exploration most chances are zero
    f, g = hr.Linear(rng.standard_normal(X.dim)), hr.Linear(rng.standard_normal(X.dim), 0.4)
    inner = Still(X, x)
    policy = hr.policies.SemiBandit(inner, 5, exploration=0.3)
    live = policy._chances() > 0.0
    assert live.sum() >= X.dim - (of == "dag")  # the one dead edge is never used
    for _ in range(6000):
        vertex = policy.ask()
        assert not vertex[~live].any()
        policy.tell(hr.semi_bandit(f, vertex), hr.semi_bandit(g, vertex))
    told = np.array(inner.told)
    target = np.concatenate([f.coefficients * live, g.coefficients * live, [g(x)]])
    error = told.std(axis=0, ddof=1) / math.sqrt(len(told))
    assert (np.abs(told.mean(axis=0) - target) <= 5.0 * error + 1e-9).all()
    unweighted = told[:, : X.dim] * policy._chances()  # the mutant: no importance weights
    assert (np.abs(unweighted.mean(axis=0) - target[: X.dim]) > 5.0 * error[: X.dim] + 1e-9).any()


@pytest.mark.parametrize("of", SETS)
def test_every_live_coordinate_keeps_a_chance(of):
    X, rng = SETS[of](), np.random.default_rng(4)
    policy = semi(X, horizon=100)
    least = policy.exploration * X.ball()[0]
    f, g = hr.Linear(rng.uniform(0.0, 1.0, X.dim)), hr.Linear(np.zeros(X.dim), -1.0)
    assert (least > 0.0).sum() >= X.dim - (of == "dag")
    for _ in range(100):
        assert (policy._chances() >= least - 1e-12).all()
        x = policy.ask()
        assert np.isin(x, (0.0, 1.0)).all()
        policy.tell(hr.semi_bandit(f, x), hr.semi_bandit(g, x))


@pytest.mark.parametrize(
    "make",
    [
        lambda: hr.sets.L2Ball(3),
        lambda: hr.sets.L1Ball(3),
        lambda: hr.sets.Box(-np.ones(2), np.ones(2)),
        lambda: hr.sets.Simplex(3, total=7.0),
        lambda: hr.sets.Scaled(KSubsets(5, 2), 2.0),
    ],
)
def test_sets_without_binary_vertices_are_refused_for_every_seed(make):
    for seed in range(4):
        with pytest.raises(ValueError, match="0/1 vertices"):
            semi(make(), seed)


@pytest.mark.parametrize("exploration", [0.0, 1.0, -0.5, math.nan])
def test_exploration_lies_between_0_and_1(exploration):
    with pytest.raises(ValueError, match="exploration"):
        hr.policies.SemiBandit(hr.projection_free_long_term(SETS["dag"]()), 0, exploration)


def test_semi_bandit_feedback_of_another_kind_changes_nothing():
    policy = semi(SETS["dag"]())
    good, before = hr.feedback.SemiBanditFeedback(np.ones(int(policy.ask().sum()))), store(policy)
    for seen in (hr.feedback.EvalLinear(1.0, np.ones(8)), hr.feedback.Eval(1.0, 1.0, 1.0), 0.5):
        for told in ((seen, good), (good, seen)):
            with pytest.raises(TypeError, match="learns from SemiBanditFeedback feedback"):
                policy.tell(*told)
            assert store(policy) == before


def test_semi_bandit_play_learns_a_cheap_path():
    """Its cost falls well below that of the centre, where it began, on three seeds."""
    X = hr.sets.DagPaths(EDGES, 0, 4)
    rng = np.random.default_rng(0)
    mean = rng.uniform(0.2, 1.0, X.dim)
    best = X.minimum(mean)
    centre = float(mean @ X.ball()[0])
    harmless = hr.Linear(np.zeros(X.dim), -1.0)
    for seed in range(3):
        policy, costs = semi(X, seed, 2000), []
        for _ in range(2000):
            f = hr.Linear(mean + rng.uniform(-0.2, 0.2, X.dim))
            x = policy.ask()
            costs.append(float(mean @ x))
            policy.tell(hr.semi_bandit(f, x), hr.semi_bandit(harmless, x))
        assert np.mean(costs[1000:]) < best + 0.3 * (centre - best)


def test_semi_bandit_play_keeps_a_long_term_constraint():
    """The cheap items must not be used more than half the time."""
    X, T = KSubsets(4, 2), 4000
    f, g = hr.Linear([0.0, 0.0, 1.0, 1.0]), hr.Linear([1.0, 1.0, 0.0, 0.0], -1.0)
    policy = semi(X, 1, T)
    cost = signed = 0.0
    for _ in range(T):
        x = policy.ask()
        cost, signed = cost + f(x), signed + g(x)
        policy.tell(hr.semi_bandit(f, x), hr.semi_bandit(g, x))
    assert signed < 0.1 * T
    assert cost < 1.1 * T
    assert signed > -0.2 * T
