"""Rounds of other kinds, several constraints and bandits: `simulate` equals `play` bit for bit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pytest
from test_simulate import WEIGHED, assert_same_game, bits

import hedgerow as hr
from hedgerow.feedback import EvalGrad, first_order_each
from hedgerow.games import simulate, simulate_chunks
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.block_ocg import BlockOCG
from hedgerow.learners.block_rules import PaperBlocks, PracticalBlocks
from hedgerow.learners.restarted_block_bandit import RestartedBlockBandit, WangBlocks
from hedgerow.learners.steps import CertificateSteps
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.constrained_bandit import ConstrainedBandit, DeclaredValues
from hedgerow.problems import FortzThorup, QueueingDelay, TrafficEngineering
from hedgerow.protocols.trace import Trace
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates import (
    CurrentSurrogate,
    CurrentValues,
    DriftSurrogate,
    LaggedSurrogate,
    PerConstraintSurrogate,
    SignedSurrogate,
)
from hedgerow.surrogates.potentials import AnytimeExponential, ExponentialPotential, PowerPotential
from hedgerow.surrogates.ranges import FixedRanges, ObservedRanges

ROUNDS = 40
DAG = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4)]
SETS: dict[str, Callable[[], DecisionSet]] = {
    "simplex": lambda: hr.sets.Simplex(5, total=2.0),
    "box": lambda: hr.sets.Box([-1.0, 0.0, 2.0], [1.0, 5.0, 4.0]),
    "ball": lambda: hr.sets.L2Ball(9, radius=2.0),
    "paths": lambda: hr.sets.DagPaths(DAG, 0, 4),
}
EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (1, 0), (2, 1), (3, 2), (0, 3), (0, 2), (2, 0)]


def linear(rng: np.random.Generator, n: int, offset: float = -0.2) -> hr.Linear:
    return hr.Linear(rng.standard_normal(n), offset + rng.standard_normal())


def quadratic(rng: np.random.Generator, n: int, kind: int) -> hr.Quadratic:
    a, b = rng.standard_normal(n), rng.standard_normal()
    M = rng.standard_normal((n, n))
    return hr.Quadratic([rng.uniform(), rng.uniform(0.0, 2.0, n), M @ M.T][kind], a, b)


def drawn(
    X: DecisionSet, seed: int, constraints: int = 3, maxima: bool = False
) -> hr.RecordedProblem:
    """Rounds of every kind, some of them with ties, zeros or several parts."""
    rng, n, rounds = np.random.default_rng(seed), X.dim, []
    for t in range(ROUNDS):
        costs: list[Any] = [linear(rng, n), *(quadratic(rng, n, kind) for kind in range(3))]
        costs.append(hr.Maximum([linear(rng, n), quadratic(rng, n, 1)]) if maxima else costs[1])
        parts: list[Any] = [linear(rng, n) for _ in range(constraints)]
        parts[t % constraints] = quadratic(rng, n, t % 3)
        if t == 9:
            parts = [hr.Linear(np.zeros(n), -1.0)] * constraints
        if t == 11:
            parts = [parts[0]] * constraints  # a tie
        rounds.append((costs[t % 5] if t != 6 else hr.Linear(np.zeros(n)), hr.Maximum(parts)))
    return hr.RecordedProblem(X, rounds)


def traffic(T: int = ROUNDS, seed: int = 0, **options: Any) -> TrafficEngineering:
    rng = np.random.default_rng(seed)
    pairs = [(0, 1), (0, 2), (1, 3), (3, 1), (2, 0)]
    latency = rng.uniform(1.0, 5.0, len(EDGES))
    X = hr.sets.PathShares(EDGES, pairs, 3, latency)
    demands = rng.gamma(2.0, 1.0, (T, len(pairs)))
    demands[5] = 0.0
    return TrafficEngineering(X, demands, latency, np.full(len(EDGES), 6.0), 0.5, **options)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    "make",
    [
        hr.projection_free_coco,
        hr.projection_free_long_term,
        lambda X: hr.projection_free_coco(X, constraints=3),
        lambda X: hr.projection_free_long_term(X, constraints=3),
    ],
)
def test_quadratics_and_maxima(name, make):
    X = SETS[name]()
    problem = drawn(X, 1)
    assert_same_game(lambda: make(X), problem)
    fast, slow = simulate(make(X), problem), Trace.of(hr.play(make(X), problem))
    assert fast.violations_each.shape == (3, ROUNDS)
    assert fast.violations_each.tobytes() == slow.violations_each.tobytes()


@pytest.mark.parametrize("name", ["box", "ball"])
def test_methods_that_project(name):
    X = SETS[name]()
    assert_same_game(lambda: hr.baselines.sinha_vaze_2024(X, ROUNDS), drawn(X, 2, maxima=True))


def weighed(method: str, X: DecisionSet, preset: str = "practical", T: int = ROUNDS) -> Any:
    """A policy of weighed steps; `Normalised` in the practical preset."""
    known = {"lipschitz": 9.0} if preset == "theory" and method != "liakopoulos_cold" else {}
    return getattr(hr.baselines, method)(X, T, preset=preset, **known)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("method", WEIGHED)
def test_policies_of_weighed_steps(method, name):
    X = SETS[name]()
    problem = drawn(X, 12, maxima=True)
    for make in (
        partial(weighed, method, X),
        partial(weighed, method, X, "theory", 2000),
    ):
        assert_same_game(make, problem)
        fast, plain = make(), make()
        vars(getattr(plain, "policy", plain))["set_kernels"] = None  # each kernel by itself
        trace, slow = simulate(fast, problem), simulate(plain, problem)
        assert (trace.compiled, slow.compiled) == (True, False)
        assert trace.violations.min() < 0.0 < trace.violations.max()
        assert trace.violations_each.shape == (3, ROUNDS)
        assert trace.violations_each.tobytes() == slow.violations_each.tobytes()
        assert bits(fast.state()) == bits(plain.state())


@pytest.mark.parametrize("method", WEIGHED)
def test_weighed_steps_on_traffic_and_against_rules_that_react(method):
    problems: list[hr.Problem] = [traffic(**options) for options in TRAFFIC.values()]
    for problem in (*problems, *REACTING):
        assert_same_game(partial(weighed, method, problem.decision_set), problem)


def test_the_horizon_of_weighed_steps_is_passed_with_the_same_warning():
    X = SETS["ball"]()
    problem, policies = drawn(X, 13), [weighed("sun_safe", X, T=20) for _ in range(2)]
    games = simulate, lambda policy, rounds: list(hr.play(policy, rounds))
    for policy, game in zip(policies, games, strict=True):
        with pytest.warns(UserWarning, match="round 21 is beyond the horizon 20") as said:
            game(policy, problem)
        assert len(said) == 1
    assert bits(policies[0].state()) == bits(policies[1].state())


def test_costs_that_are_maxima():
    X = SETS["simplex"]()
    problem = drawn(X, 10, maxima=True)
    assert_same_game(lambda: hr.projection_free_coco(X), problem)
    assert_same_game(lambda: hr.projection_free_coco(X, constraints=3), problem)


LOSS = np.array([1.0, -2.0, 0.5])
FUNCTIONS = {
    "number": hr.Quadratic(3.0, LOSS, 1.5),
    "diagonal": hr.Quadratic([1.0, 0.0, 4.0], LOSS, 1.5),
    "matrix": hr.Quadratic(
        np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]]), LOSS, 1.5
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_quadratic_is_its_formula(name):
    f, x = FUNCTIONS[name], np.array([0.3, -1.0, 2.0])
    M = f.matrix if f.matrix.ndim == 2 else np.diag(np.broadcast_to(f.matrix, 3))
    assert f(x) == pytest.approx(0.5 * x @ M @ x + LOSS @ x + 1.5, rel=1e-14)
    np.testing.assert_allclose(f.grad(x), M @ x + LOSS, rtol=1e-14)
    with pytest.raises(ValueError, match="x must"):
        f(np.zeros(2))


TRAFFIC: dict[str, dict[str, Any]] = {
    "latency": {},
    "fortz thorup": {"cost": FortzThorup()},
    "queueing": {"cost": QueueingDelay(0.6)},
    "each link": {"per_link": True},
    "failures": {"available": np.random.default_rng(3).uniform(0.2, 1.0, (ROUNDS, len(EDGES)))},
}


@pytest.mark.parametrize("name", TRAFFIC)
def test_traffic(name):
    problem = traffic(**TRAFFIC[name])
    X = problem.decision_set
    assert_same_game(lambda: hr.projection_free_coco(X), problem)
    assert_same_game(lambda: hr.baselines.sinha_vaze_2024(X, ROUNDS), problem)

    def blocks() -> ConstrainedPolicy:
        learner = BlockOCG(X)
        return ConstrainedPolicy(learner, CurrentSurrogate(PowerPotential(2.0, 1.0)))

    assert_same_game(blocks, problem)
    if problem.per_link:
        assert_same_game(lambda: hr.projection_free_coco(X, constraints=len(EDGES)), problem)


def test_ten_thousand_blocks_are_one_compiled_call():
    X = hr.sets.Product(*[hr.sets.Simplex(2)] * 10_000)
    rng = np.random.default_rng(5)
    rounds = [(hr.Linear(a), hr.Linear(c, -9e3)) for a, c in rng.random((3, 2, X.dim))]

    def make() -> ConstrainedPolicy:
        learner = BlockOCG(X)
        assert not learner.step_table.in_python  # oracle and step, by one kernel
        return ConstrainedPolicy(learner, CurrentSurrogate(PowerPotential(2.0, 1.0)))

    assert_same_game(make, hr.RecordedProblem(X, rounds))


def test_the_loads_of_compiled_rounds_are_those_of_a_dense_matrix():
    problem = traffic(cost=QueueingDelay(0.6), available=TRAFFIC["failures"]["available"])
    x, A = problem.decision_set.start(), problem.decision_set.incidence.toarray()
    for t, (f, g) in enumerate(problem):
        carried = problem.demands[t][problem.decision_set.pair_of] * x
        capacity = problem.capacity * problem.available[t]
        used = A @ carried / capacity
        assert g(x) == pytest.approx(used.max() - problem.limit, rel=1e-13)
        below = np.minimum(used, 0.6)
        delay = below / (1.0 - below) + np.maximum(0.0, used - 0.6) / 0.16
        assert f(x) == pytest.approx(delay.sum() / (problem.demands[t].sum() or 1.0), rel=1e-12)


class Steep:
    """A congestion cost of the user's own."""

    by_capacity = False

    def value(self, u: np.ndarray) -> np.ndarray:
        return u**2

    def slope(self, u: np.ndarray) -> np.ndarray:
        return 2.0 * u


class Louder(hr.Linear):
    """A subclass that changes the value."""

    def __call__(self, x: np.ndarray) -> float:
        return 2.0 * super().__call__(x)


def test_what_has_no_kernel_is_played_by_the_objects():
    X = SETS["simplex"]()
    rng = np.random.default_rng(0)
    inner = hr.Maximum([linear(rng, 5), linear(rng, 5)])
    for constraint in (Louder(np.ones(5)), hr.Maximum([inner, linear(rng, 5)])):
        problem = hr.RecordedProblem(X, [(quadratic(rng, 5, 1), constraint)] * 4)
        assert not simulate(hr.projection_free_coco(X), problem).compiled
    problem = traffic(cost=Steep())
    assert not simulate(hr.projection_free_coco(problem.decision_set), problem).compiled


@pytest.mark.parametrize("make", [hr.projection_free_coco, partial(weighed, "sun_safe")])
def test_a_kind_that_comes_late_is_played_by_the_objects_then(make):
    X = SETS["simplex"]()
    rounds = list(drawn(X, 3))
    rounds[30] = (rounds[30][0], Louder(np.ones(5), -1.0))
    problem = hr.RecordedProblem(X, rounds)
    fast, slow = make(X), make(X)
    parts = list(simulate_chunks(fast, problem, size=8))
    assert [part.compiled for part in parts] == [True, True, True, False, True]
    steps = Trace.of(hr.play(slow, problem))
    assert Trace.joined(parts).costs.tobytes() == steps.costs.tobytes()
    assert bits(fast.state()) == bits(slow.state())


def test_parts_in_different_numbers_are_not_rows():
    X = SETS["simplex"]()
    rng = np.random.default_rng(4)
    several = [hr.Maximum([linear(rng, 5) for _ in range(1 + t % 3)]) for t in range(12)]
    problem = hr.RecordedProblem(X, [(linear(rng, 5), g) for g in several])
    assert_same_game(lambda: hr.projection_free_coco(X), problem)
    assert simulate(hr.projection_free_coco(X), problem).violations_each is None


@pytest.mark.parametrize(
    "make",
    [
        hr.projection_free_coco,
        partial(hr.projection_free_coco, constraints=3),
        *(partial(weighed, method) for method in WEIGHED),
    ],
)
def test_chunks_of_any_size_and_a_resumed_run(make):
    X = SETS["paths"]()
    problem = drawn(X, 5)
    whole = make(X)
    trace = simulate(whole, problem)
    for size in (1, 7, 100):
        policy = make(X)
        parts = list(islice(simulate_chunks(policy, problem, size=size), 2))
        done = sum(part.costs.size for part in parts)
        stored, policy = policy.state(), make(X)
        policy.restore(stored)
        parts.extend(simulate_chunks(policy, problem, size=size, skip=done))
        joined = Trace.joined(parts)
        assert joined.costs.tobytes() == trace.costs.tobytes()
        assert joined.violations_each.tobytes() == trace.violations_each.tobytes()
        assert bits(policy.state()) == bits(whole.state())


@pytest.mark.parametrize(
    "make",
    [
        hr.projection_free_coco,
        partial(hr.projection_free_coco, constraints=3),
        partial(weighed, "liakopoulos_cold"),
        partial(weighed, "jenatton_2016", preset="theory"),
    ],
)
def test_what_play_refuses_is_refused_in_the_same_round(make):
    X = SETS["simplex"]()
    rounds, refusals = list(drawn(X, 6)), []
    huge = hr.Linear(np.full(5, 1e99), 3e100)
    rounds[20] = (rounds[20][0], hr.Maximum([*rounds[20][1].parts[:2], huge]))
    problem = hr.RecordedProblem(X, rounds)
    for game in (simulate, lambda policy, rounds: list(hr.play(policy, rounds))):
        policy = make(X)
        with pytest.raises(ValueError, match="above 1e") as refusal:
            game(policy, problem)
        refusals.append((str(refusal.value), bits(policy.state())))
    assert refusals[0] == refusals[1]


def each_of(X: DecisionSet, weights_given: bool) -> ConstrainedPolicy:
    """One queue for each of three constraints, of different kinds."""
    learner = AdaptiveOCG(X, CertificateSteps())

    def ranges() -> Any:
        return FixedRanges(2.0, 0.5) if weights_given else ObservedRanges(learner)

    kinds = [
        CurrentSurrogate(PowerPotential(2.0, 3.0), 1.0, ranges()),
        SignedSurrogate(ExponentialPotential(0.2), 0.5, ranges()),
        CurrentSurrogate(AnytimeExponential(0.5, 1.0), 0.0, ranges()),
    ]
    return ConstrainedPolicy(learner, PerConstraintSurrogate(kinds))


@pytest.mark.parametrize("given", [True, False])
def test_queues_of_different_kinds(given):
    X = SETS["simplex"]()
    assert_same_game(lambda: each_of(X, given), drawn(X, 7))


def test_the_kernel_of_several_queues_weighs_as_they_do_one_by_one():
    X = SETS["paths"]()
    one, other = each_of(X, False), each_of(X, False)
    other.surrogate.tables = None  # each by itself, in Python
    for f, g in drawn(X, 8):
        for policy in (one, other):
            x = policy.ask()
            policy.tell(hr.first_order(f, x), first_order_each(g, x))
        assert bits(one.state()) == bits(other.state())
    assert one.surrogate.largest_weight > 0.0


def test_a_queue_that_leaves_a_round_to_python_takes_the_others_back():
    X = hr.sets.Simplex(3)
    one, other = each_of(X, False), each_of(X, False)
    other.surrogate.tables = None
    cost = EvalGrad(1.0, np.array([1.0, 2.0, 0.0]))
    told = [
        EvalGrad(v, np.array([0.0, v, 1.0])) for v in (-0.5, 0.25, 4.0)
    ]  # the last needs a call
    for policy in (one, other):
        policy.tell(cost, told)
    assert bits(one.state()) == bits(other.state())
    assert one.surrogate.surrogates[1]._state["t"][0] == 1.0


REACTING = (
    hr.problems.HardBox(n=7, halfspaces=5, horizon=ROUNDS, seed=1),
    hr.problems.HalfspaceBox(n=5, halfspaces=6, horizon=ROUNDS, seed=2),
    hr.problems.QuadraticBox(n=4, horizon=ROUNDS, seed=3),
)


@pytest.mark.parametrize("problem", REACTING)
def test_rules_that_are_kernels_react_in_the_loop(problem):
    X = problem.decision_set
    assert_same_game(lambda: hr.projection_free_coco(X), problem)
    assert_same_game(lambda: hr.baselines.sinha_vaze_2024(X, ROUNDS), problem)


def test_the_halfspace_that_is_shown_is_the_most_violated_one():
    problem = hr.problems.HalfspaceBox(n=3, halfspaces=9, horizon=20, seed=4)
    policy = hr.projection_free_coco(problem.decision_set)
    rng = np.random.default_rng([4, 1])
    normals = rng.standard_normal((9, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    for step in hr.play(policy, problem):
        worst = (normals @ (step.x - problem.feasible)).max()
        assert step.violation == pytest.approx(worst, abs=1e-14)


def test_a_rule_with_a_memory_is_played_by_the_objects():
    problem = hr.problems.OrthogonalBall(n=4, horizon=10)
    assert not simulate(hr.projection_free_coco(problem.decision_set), problem).compiled


BANDIT_ROUNDS = 90
SURROGATES = {
    "drift": lambda: DriftSurrogate(PowerPotential(3.0, 4.0), 1.0, FixedRanges(2.0, 0.5)),
    "lagged": lambda: LaggedSurrogate(ExponentialPotential(0.3), 0.5, overshoot=0.7),
    "current": lambda: CurrentValues(AnytimeExponential(0.5, 1.0)),
}
LEARNERS: dict[str, Callable[[DecisionSet], Any]] = {
    "practical": lambda X: hr.learners.BlockBandit(X, PracticalBlocks(BANDIT_ROUNDS), 3),
    "paper": lambda X: hr.learners.BlockBandit(X, PaperBlocks(10**9), 3),
    "doubling": lambda X: RestartedBlockBandit(X, PracticalBlocks(BANDIT_ROUNDS), 3, 0.01),
    "wang": lambda X: RestartedBlockBandit(X, WangBlocks(BANDIT_ROUNDS, 20.0, 0.01), 3),
}


def assert_same_bandit(make: Callable[[], ConstrainedBandit], problem: hr.Problem) -> Any:
    fast, slow = make(), make()
    trace, steps = simulate(fast, problem), Trace.of(hr.play(slow, problem))
    assert trace.compiled
    assert trace.costs.tobytes() == steps.costs.tobytes()
    assert trace.violations.tobytes() == steps.violations.tobytes()
    assert bits(fast.state()) == bits(slow.state())
    assert trace.oracle_calls == slow.oracle_calls
    return fast


def bandit_rounds(X: DecisionSet, seed: int) -> hr.RecordedProblem:
    rng, n = np.random.default_rng(seed), X.dim
    return hr.RecordedProblem(
        X, [(quadratic(rng, n, 1), linear(rng, n)) for _ in range(BANDIT_ROUNDS - 5)]
    )


@pytest.mark.parametrize("name", ["simplex", "box", "paths"])
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("surrogate", SURROGATES)
def test_block_bandits(name, learner, surrogate):
    X = SETS[name]()

    def make() -> ConstrainedBandit:
        declared = DeclaredValues(30.0, 200.0)
        return ConstrainedBandit(LEARNERS[learner](X), SURROGATES[surrogate](), declared)

    played = assert_same_bandit(make, bandit_rounds(X, 1)).learner
    if learner == "practical":
        assert played.oracle_calls > 0
    if learner == "doubling":
        assert played.restarts > 0


def test_bandits_on_linear_rounds_and_beyond_their_horizon():
    problem = hr.problems.IidSimplex(n=4, horizon=60, seed=1)

    def make() -> ConstrainedBandit:
        X = problem.decision_set
        return hr.projection_free_bandit(X, 50, 0, lipschitz=4.0, bound=8.0)

    with pytest.warns(UserWarning, match="beyond the horizon 50"):
        assert_same_bandit(make, problem)
    parts = []
    policy, whole = make(), make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in simulate_chunks(policy, problem, size=11):
            parts.append(part)
            if len(parts) == 2:
                break
        stored, policy = policy.state(), make()
        policy.restore(stored)
        parts.extend(simulate_chunks(policy, problem, size=7, skip=22))
        trace = simulate(whole, problem)
    assert Trace.joined(parts).costs.tobytes() == trace.costs.tobytes()
    assert bits(policy.state()) == bits(whole.state())


def test_a_value_above_its_bound_is_refused_in_the_same_round():
    X = SETS["simplex"]()
    rounds, refusals = list(bandit_rounds(X, 2)), []
    rounds[50] = (hr.Linear(np.full(5, 1e3)), rounds[50][1])
    for game in (simulate, lambda policy, problem: list(hr.play(policy, problem))):
        policy = hr.projection_free_bandit(X, BANDIT_ROUNDS, 0, lipschitz=30.0, bound=200.0)
        with pytest.raises(ValueError, match="declare constants") as refusal:
            game(policy, hr.RecordedProblem(X, rounds))
        refusals.append((str(refusal.value), bits(policy.state())))
    assert refusals[0] == refusals[1]


class Cautious(DriftSurrogate):
    """A subclass that changes what is charged, but not its kernel."""

    def charge(self, constraint, t):
        return replace(super().charge(constraint, t), value=0.0)


class Cubic:
    """A potential of the user's own, without a kernel."""

    def weight(self, q: float, t: float = 1.0) -> float:
        return 3.0 * q**2 + 0.0 * t

    def value(self, q: float, t: float = 1.0) -> float:
        return q**3 + 0.0 * t


@pytest.mark.parametrize(
    "surrogate", [Cautious(PowerPotential(2.0, 1.0)), DriftSurrogate(Cubic(), 0.5)]
)
def test_bandits_that_change_a_part_are_played_by_the_objects(surrogate):
    X = SETS["simplex"]()
    policy = ConstrainedBandit(LEARNERS["practical"](X), surrogate, DeclaredValues(30.0, 200.0))
    assert not simulate(policy, bandit_rounds(X, 3)).compiled


def test_a_potential_in_python_is_charged_by_the_same_lines():
    ours = DriftSurrogate(PowerPotential(3.0, 1.0), 0.5, overshoot=0.25)
    theirs = DriftSurrogate(Cubic(), 0.5, overshoot=0.25)
    seen = hr.feedback.Eval(1.0, 2.0, 3.0), hr.feedback.Eval(0.75, 1.0, 2.0)
    one, other = ours.tell(*seen), theirs.tell(*seen)
    for name in ("value", "lipschitz", "bound"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-12)
    assert one.value == pytest.approx(1.0 + 1.25**3 - 0.5**3, rel=1e-12)


def test_directions_are_unit_vectors_along_the_set():
    X = SETS["paths"]()
    learner = LEARNERS["practical"](X)
    u = learner.draw(400)
    basis = X.hull()[1]
    np.testing.assert_allclose(np.linalg.norm(u, axis=1), 1.0, rtol=1e-13)
    np.testing.assert_allclose(u @ basis @ basis.T, u, atol=1e-13)
    spread = basis.T @ (u.T @ u) @ basis * learner.dim / 400  # its mean is the identity
    assert np.abs(spread - np.eye(learner.dim)).max() < 6.0 / math.sqrt(400.0 / learner.dim)


class Watched(hr.problems.IidSimplex):
    """Has no rounds one by one."""

    def rounds(self, policy: Any = None) -> Iterator[Any]:  # noqa: ARG002
        raise AssertionError("linear rounds come in chunks")


def test_linear_rounds_are_not_packed_one_by_one():
    problem = Watched(n=4, horizon=30)
    assert simulate(hr.projection_free_coco(problem.decision_set), problem).compiled
