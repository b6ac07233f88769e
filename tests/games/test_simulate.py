"""The compiled game is the game: `simulate` equals `play` bit for bit, whatever the parts."""

from __future__ import annotations

import gc
import json
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.baselines.primal_dual import ConstantRates, PrimalDual
from hedgerow.games import many, simulate, simulate_chunks, simulate_many
from hedgerow.kernels import ocg, vectors
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.ftpl import FTPL, GaussianNoise
from hedgerow.learners.ocg import OCG
from hedgerow.learners.projected_descent import OGD, AdaGrad, StronglyConvexOGD
from hedgerow.learners.restarted_ocg import RestartAtStart, RestartedOCG, RestartHere
from hedgerow.learners.steps import CertificateSteps, PaperSteps, RmsSteps, WeibelSteps
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.problems.problem import LinearChunk, LinearProblem, chunk_slices
from hedgerow.protocols.trace import Trace
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.surrogates.cost_only import CostOnlySurrogate
from hedgerow.surrogates.current import CurrentSurrogate
from hedgerow.surrogates.potentials import (
    AnytimeExponential,
    ExponentialPotential,
    GrowingScale,
    Potential,
    PowerPotential,
)
from hedgerow.surrogates.ranges import FixedRanges, WorstCaseRanges
from hedgerow.surrogates.signed import SignedSurrogate

ROUNDS = 41
DAG = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4)]
CYCLE = [(0, 1), (1, 2), (2, 0), (0, 2), (2, 3), (1, 3), (5, 6)]
GRAPH = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (3, 5)]
SETS: dict[str, Callable[[], DecisionSet]] = {
    "paths": lambda: hr.sets.DagPaths(DAG, 0, 4),
    "paths with dead edges": lambda: hr.sets.DagPaths([*DAG, (5, 4), (3, 6)], 0, 4),
    "simplex": lambda: hr.sets.Simplex(5, total=3.0),
    "capped simplex": lambda: hr.sets.CappedSimplex(5, [0.5, 0.0, 0.25, 0.5, 0.3]),
    "subsets": lambda: hr.sets.KSubsets(7, 3),
    "box": lambda: hr.sets.Box([-1.0, 0.0, 2.0], [1.0, 5.0, 2.0]),
    "cube": lambda: hr.sets.LinfBall(4, radius=2.0),
    "l1 ball": lambda: hr.sets.L1Ball(5, radius=2.0),
    "l2 ball": lambda: hr.sets.L2Ball(6, radius=3.0),
    "rankings": lambda: hr.sets.Permutahedron([3.0, 1.0, 1.0, 0.5]),
    "walks": lambda: hr.sets.HopLimitedWalks(CYCLE, 0, 3, hops=4),
    "trees": lambda: hr.sets.SpanningTrees(GRAPH),
    "one point": lambda: hr.sets.Box([1.0, 2.0], [1.0, 2.0]),
}
PROJECTING = {
    **{name: SETS[name] for name in ("simplex", "capped simplex", "subsets", "box", "cube")},
    **{name: SETS[name] for name in ("l1 ball", "l2 ball", "one point")},
    "one share": lambda: hr.sets.Simplex(1, total=2.0),
    "full caps": lambda: hr.sets.CappedSimplex(3, 0.5, total=1.5),
    "all items": lambda: hr.sets.KSubsets(3, 3),
    "paths": SETS["paths"],
    "one path": lambda: hr.sets.DagPaths([(0, 1), (1, 2), (1, 3)], 0, 2),
    "larger graph": lambda: (
        hr.ShortestPath.random_network(nodes=30, edges=100, seed=1).decision_set
    ),
}
"""Sets whose projection is a kernel."""
WEIGHED = (
    *("mahdavi_2012", "jenatton_2016", "sun_safe", "yuan_lamperski_2018"),
    *("liakopoulos_cold", "yu_neely_2020"),
)
"""Policies that stand alone and take weighed steps, `Normalised` in the practical preset."""
STEPS = {
    "paper": PaperSteps(10**6),
    "weibel": WeibelSteps(10**6, lipschitz=4.0),
    "rms": RmsSteps(),
    "certificate": CertificateSteps(),
}
POTENTIALS: dict[str, Potential] = {
    "power": PowerPotential(2.0, 3.0),
    "linear": PowerPotential(1.0, 3.0),
    "growing": PowerPotential(8.0, GrowingScale(floor=2.0, factor=0.5)),
    "exponential": ExponentialPotential(0.3),
    "anytime": AnytimeExponential(0.5, 1.0),
}


class Rounds(LinearProblem):
    """Random linear rounds, some of them zero, constant or full of ties."""

    def __init__(self, decision_set: DecisionSet, seed: int, horizon: int = ROUNDS):
        self.decision_set, self.horizon = decision_set, horizon
        rng = np.random.default_rng(seed)
        costs = rng.standard_normal((horizon, decision_set.dim))
        constraints = rng.standard_normal(costs.shape)
        costs[5] = constraints[7] = costs[9] = constraints[9] = 0.0
        costs[11], constraints[12] = 1.0, -1.0  # not felt where sums are fixed
        costs[13:17], constraints[15:19] = np.round(costs[13:17]), np.round(constraints[15:19])
        offsets = rng.standard_normal((2, horizon))
        self._all = LinearChunk(costs, offsets[0], constraints, offsets[1] - 0.3)

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        for rounds in chunk_slices(self.horizon, size):
            yield LinearChunk(*(part[rounds] for part in self._all))


@pytest.mark.parametrize("n", [1, 7, 8, 9, 16, 29])
def test_sums_in_eight_accumulators_are_sums(n):
    a, c, x, y, S, s, d = np.random.default_rng(n).standard_normal((7, n))
    close = partial(np.testing.assert_allclose, rtol=1e-13, atol=1e-13)
    close(vectors.dot(a, c), a @ c)
    close(vectors.spread_of(a), (a.mean(), n * a.var()))
    close(vectors.dots_and_norms(a, c, x), (a @ x, c @ x, a @ a, c @ c))
    close(vectors.mix(s, a, c, 0.7, x), ((a + 0.7 * c) @ x, (a + 0.7 * c) @ (a + 0.7 * c)))
    np.testing.assert_array_equal(s, a + 0.7 * c)
    close(vectors.descent(a, x, y), (a @ (x - y), np.abs(a * (x - y)).sum(), (x - y) @ (x - y)))
    close(vectors.place(S, x, y), (S @ x, (x - y) @ (x - y)))
    after = S + s
    found = ocg.accumulate_and_gradient(d, S, s, x, y, 0.3)
    np.testing.assert_array_equal(S, after)
    close(d, after + 0.6 * (x - y))
    close(found, (after @ x, (x - y) @ (x - y), d @ x, np.abs(d * x).sum(), x @ x))


@pytest.mark.parametrize("name", SETS)
def test_compiled_oracles_break_ties_as_the_sets_do(name):
    X = SETS[name]()
    workspace, rng = X.workspace(), np.random.default_rng(0)
    assert workspace.space is not None
    for c in rng.integers(-1, 2, (60, X.dim)).astype(np.float64):
        np.testing.assert_array_equal(workspace.lmo(c), X.lmo(c), strict=True)
        norm = np.linalg.norm(X.tangent(c))
        assert X.tangent_norm(c) == pytest.approx(norm if norm > 1e-12 else 0.0, abs=1e-15)


def composed(
    X: DecisionSet, steps, surrogate, potential: Potential, learnt: bool
) -> ConstrainedPolicy:
    learner = AdaptiveOCG(X, steps)
    return ConstrainedPolicy(learner, _surrogate(surrogate, potential, learner, learnt))


def _surrogate(kind, potential, learner, learnt):
    if kind is CostOnlySurrogate:
        return kind()
    ranges = WorstCaseRanges(learner) if learnt else FixedRanges(violation=2.0, ratio=0.5)
    return kind(potential, 1.5, ranges)


def bits(snapshot) -> str:
    """Every bit of a snapshot, random streams included."""
    return json.dumps(snapshot, default=lambda array: array.tobytes().hex(), sort_keys=True)


def assert_same_game(make: Callable[[], Any], problem: hr.Problem) -> None:
    fast, told, slow = make(), make(), make()
    if isinstance(slow, ConstrainedPolicy):  # its surrogate is told, then its learner
        vars(slow).update(_table=None, _tell_parts=lambda *_: False)
    trace = simulate(fast, problem)
    assert trace.compiled
    assert trace.oracle_calls is not None
    for policy in (told, slow):
        steps = list(hr.play(policy, problem))
        assert trace.costs.tobytes() == np.array([step.cost for step in steps]).tobytes()
        assert trace.violations.tobytes() == np.array([step.violation for step in steps]).tobytes()
        assert bits(fast.state()) == bits(policy.state())
        assert fast.oracle_calls == policy.oracle_calls
        assert fast.ask().tobytes() == policy.ask().tobytes()
        if not isinstance(policy, ConstrainedPolicy):
            continue
        assert fast.certificate() == policy.certificate()
        if isinstance(policy.learner, AdaptiveOCG):
            for mine, theirs in zip(fast.learner.last_step, policy.learner.last_step, strict=True):
                assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("name", SETS)
def test_every_step_rule_on_every_set(name, steps):
    X = SETS[name]()
    potential = POTENTIALS["growing"]
    for seed, learnt in ((0, True), (1, False)):
        assert_same_game(
            lambda learnt=learnt: composed(X, STEPS[steps], CurrentSurrogate, potential, learnt),
            Rounds(X, seed),
        )


@pytest.mark.parametrize("potential", POTENTIALS)
@pytest.mark.parametrize("kind", [CurrentSurrogate, SignedSurrogate, CostOnlySurrogate])
def test_every_surrogate_with_every_potential(kind, potential):
    for name in ("simplex", "paths with dead edges", "l2 ball", "trees"):
        X = SETS[name]()
        for seed, learnt in ((0, True), (1, False)):
            assert_same_game(
                lambda X=X, learnt=learnt: composed(
                    X, CertificateSteps(), kind, POTENTIALS[potential], learnt
                ),
                Rounds(X, seed),
            )


@pytest.mark.parametrize("kind", [CurrentSurrogate, SignedSurrogate, CostOnlySurrogate])
@pytest.mark.parametrize("offset", [None, 0.01])
@pytest.mark.parametrize("name", SETS)
def test_the_perturbed_leader_draws_the_same_noise(name, offset, kind):
    X = SETS[name]()

    def make() -> ConstrainedPolicy:
        learner = FTPL(X, 7, GaussianNoise(offset=offset))
        return ConstrainedPolicy(learner, _surrogate(kind, POTENTIALS["power"], learner, True))

    assert_same_game(make, Rounds(X, 3))


@pytest.mark.parametrize("restart", [RestartHere(), RestartAtStart()])
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("name", SETS)
def test_restarts_happen_in_the_same_rounds(name, steps, restart):
    X, made = SETS[name](), []

    def make(guess: float | None) -> ConstrainedPolicy:
        learner = RestartedOCG(X, STEPS[steps], guess, restart)
        made.append(learner)
        return ConstrainedPolicy(
            learner, _surrogate(CurrentSurrogate, POTENTIALS["power"], learner, True)
        )

    for seed, guess in ((0, None), (1, 0.01), (2, 1e6)):
        problem = Rounds(X, seed)
        problem._all.costs[:] *= np.arange(1.0, ROUNDS + 1.0)[:, None]  # steeper and steeper
        assert_same_game(lambda guess=guess: make(guess), problem)
        often = made[-1].restarts
        assert often == 0 if guess == 1e6 or X.diameter == 0.0 else often > 2


@pytest.mark.parametrize("kind", [CurrentSurrogate, SignedSurrogate, CostOnlySurrogate])
@pytest.mark.parametrize("name", PROJECTING)
def test_projected_descent_lands_on_the_same_points(name, kind):
    X = PROJECTING[name]()
    learners = {
        "adagrad": lambda: AdaGrad(X),
        "learnt": lambda: OGD(X),
        "given": lambda: OGD(X, lipschitz=5.0),
        "strongly convex": lambda: StronglyConvexOGD(X, 2.0),
    }
    for learner in learners.values():
        for learnt in (True, False):

            def make(learner=learner, learnt=learnt) -> ConstrainedPolicy:
                player = learner()
                return ConstrainedPolicy(
                    player, _surrogate(kind, POTENTIALS["exponential"], player, learnt)
                )

            assert_same_game(make, Rounds(X, 6))


@pytest.mark.parametrize("name", PROJECTING)
def test_kernels_along_the_set_are_those_of_the_set(name):
    X, rng = PROJECTING[name](), np.random.default_rng(1)
    compiled = X.workspace().space.compiled
    zero = np.zeros(X.dim)
    for scale in (0.1, 1.0, 30.0):
        c = scale * rng.standard_normal(X.dim)
        assert np.array_equal(compiled.tangent(c), X.tangent(c))
        assert np.linalg.norm(X.tangent(X.tangent(c)) - X.tangent(c)) <= 1e-14 * scale
        for v in (X.lmo(rng.standard_normal(X.dim)) for _ in range(5)):  # nothing across it is lost
            along = v - X.start()
            assert c @ along == pytest.approx(X.tangent(c) @ along, abs=1e-12 * scale)
        if X.diameter > 0.0:
            x = X.workspace().space.project(c)
            assert np.array_equal(x, X.project(c))
            assert X.contains(x)
            # conservation holds to 1e-12, and the error is the root of a gap
            size = X.diameter if isinstance(X, hr.sets.DagPaths) else scale
            assert X.projection_error(c, x) <= 1e-7 * size
    assert not X.tangent(zero).any()


def test_a_declared_steepness_restarts_sooner_than_a_seen_one():
    X = SETS["simplex"]()
    seen, declared = (RestartedOCG(X, PaperSteps(10**6), guess=1.0) for _ in range(2))
    gradient = np.array([0.5, 0.0, 0.0, 0.0, 0.0])
    seen.tell(hr.feedback.EvalGrad(0.0, gradient))
    declared.tell(hr.feedback.EvalGrad(0.0, gradient, 9.0))
    assert (seen.restarts, seen.guess) == (0, 1.0)
    assert (declared.restarts, declared.guess) == (1, 16.0)


@pytest.mark.parametrize(
    "make",
    [
        hr.projection_free_coco,
        partial(hr.projection_free_coco, tracking=False),
        hr.policies.theorem_f,
        hr.projection_free_long_term,
        hr.unconstrained,
        lambda X: hr.ftpl_coco(X, ROUNDS, 3),
        lambda X: hr.baselines.wang_2025(X, ROUNDS),
        lambda X: hr.baselines.wang_2025(X, ROUNDS, preset="theory", lipschitz=5.0),
        lambda X: hr.baselines.wang_2025_strongly_convex(X, ROUNDS, 0.5),
        lambda X: ConstrainedPolicy(OCG(X, ROUNDS, 5.0), CostOnlySurrogate()),
    ],
)
@pytest.mark.filterwarnings("ignore::hedgerow.policies.presets.VacuousConstantsWarning")
def test_named_policies(make):
    for name in ("paths", "subsets", "box"):
        X = SETS[name]()
        assert_same_game(lambda X=X: make(X), Rounds(X, 5))


def test_a_surrogate_declares_its_losses_in_the_loop_too():
    """The learner restarts by what is declared, not by the gradients that it sees."""
    X, guesses = SETS["simplex"](), []
    for declared in (None, 30.0):

        def make(declared=declared):
            learner = RestartedOCG(X, CertificateSteps(), 1.0)
            surrogate = CurrentSurrogate(PowerPotential(2.0, 3.0), lipschitz=declared)
            return ConstrainedPolicy(learner, surrogate)

        assert_same_game(make, Rounds(X, 6))
        policy = make()
        simulate(policy, Rounds(X, 6))
        guesses.append(policy.learner.guess)
    assert guesses[1] > guesses[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda X: hr.baselines.sinha_vaze_2024(X, ROUNDS),
        lambda X: hr.baselines.sinha_vaze_2024(X, 200, preset="theory", lipschitz=4.0),
        hr.baselines.sarkar_sinha_2025,
        lambda X: hr.baselines.sinha_vaze_2024_strongly_convex(X, ROUNDS, 1.0),
    ],
)
def test_named_policies_that_project(make):
    for name in ("subsets", "box", "l2 ball", "larger graph"):
        X = PROJECTING[name]()
        assert_same_game(lambda X=X: make(X), Rounds(X, 5))


@pytest.mark.parametrize("name", PROJECTING)
@pytest.mark.parametrize("method", WEIGHED)
def test_policies_of_weighed_steps(method, name):
    X, build = PROJECTING[name](), getattr(hr.baselines, method)
    known = {} if method == "liakopoulos_cold" else {"lipschitz": 5.0}
    assert_same_game(lambda: build(X, ROUNDS), Rounds(X, 7))
    if X.diameter > 0.0:
        theory = partial(build, X, 20 * ROUNDS, preset="theory", **known)
        assert_same_game(theory, Rounds(X, 8))


@pytest.mark.parametrize(
    "make",
    [
        hr.projection_free_coco,
        lambda X: hr.baselines.wang_2025(X, 200),
        lambda X: hr.baselines.sinha_vaze_2024(X, 200),
        lambda X: hr.baselines.liakopoulos_cold(X, 200),
    ],
)
def test_the_papers_graph(make):
    problem = hr.ShortestPath.random_network(nodes=30, edges=100, horizon=200, seed=1)
    assert_same_game(lambda: make(problem.decision_set), problem)


def test_recorded_linear_rounds_are_compiled_too():
    X = SETS["simplex"]()
    problem = hr.RecordedProblem(X, list(Rounds(X, 2)))
    assert_same_game(lambda: hr.projection_free_coco(X), problem)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (hr.projection_free_coco, "paths"),
        (lambda X: hr.ftpl_coco(X, ROUNDS, 3), "paths"),
        (lambda X: hr.baselines.wang_2025(X, ROUNDS), "paths"),
        (lambda X: hr.baselines.sinha_vaze_2024(X, ROUNDS), "subsets"),
        (lambda X: hr.baselines.sinha_vaze_2024(X, ROUNDS), "larger graph"),
        (lambda X: hr.baselines.liakopoulos_cold(X, ROUNDS), "larger graph"),
    ],
)
def test_chunks_of_any_size_and_a_resumed_run_are_the_same_run(make, name):
    X = {**SETS, **PROJECTING}[name]()
    problem = Rounds(X, 4)
    whole = make(X)
    trace = simulate(whole, problem)
    for size in (1, 3, 40, 1000):
        policy, parts, done = make(X), [], 0
        for part in simulate_chunks(policy, problem, size=size):
            parts.append(part)
            done += part.costs.size
            if done == 12:
                break  # stopped at the border of a chunk, stored, and taken up by another policy
        stored, policy = policy.state(), make(X)
        policy.restore(stored)
        parts.extend(simulate_chunks(policy, problem, size=size, skip=done))
        joined = Trace.joined(parts)
        assert joined.costs.tobytes() == trace.costs.tobytes()
        assert joined.violations.tobytes() == trace.violations.tobytes()
        assert joined.oracle_calls == trace.oracle_calls
        assert bits(policy.state()) == bits(whole.state())


def test_the_game_keeps_the_memory_that_its_plan_borrows():
    for make, name in (
        (hr.projection_free_coco, "paths"),
        (hr.baselines.sarkar_sinha_2025, "l1 ball"),
    ):
        X = SETS[name]()
        policy, slow = make(X), make(X)
        compiled = policy.compiled_rounds(policy.feedback)
        gc.collect()
        litter = [np.full(size, np.nan) for size in range(1, 60) for _ in range(20)]
        (chunk,) = Rounds(X, 0).chunks(ROUNDS)
        seen, done = np.empty((2, ROUNDS)), 0
        while (done := compiled.play(chunk, done, seen)) < ROUNDS:  # a round for the objects
            list(hr.play(policy, hr.RecordedProblem(X, [list(Rounds(X, 0))[done]])))
            done += 1
        list(hr.play(slow, Rounds(X, 0)))
        assert bits(policy.state()) == bits(slow.state())
        assert all(np.isnan(array).all() for array in litter)


def test_asking_and_telling_goes_on_where_the_compiled_game_stopped():
    X = SETS["trees"]()
    policy, slow = hr.projection_free_coco(X), hr.projection_free_coco(X)
    simulate(policy, Rounds(X, 0))
    list(hr.play(policy, Rounds(X, 1)))
    simulate(policy, Rounds(X, 2))
    for seed in range(3):
        list(hr.play(slow, Rounds(X, seed)))
    assert bits(policy.state()) == bits(slow.state())


@pytest.mark.parametrize("kind", [AdaptiveOCG, RestartedOCG])
def test_the_horizon_is_passed_with_the_same_warning(kind):
    X = SETS["simplex"]()
    policies = [ConstrainedPolicy(kind(X, PaperSteps(20)), CostOnlySurrogate()) for _ in range(3)]
    with pytest.warns(UserWarning, match="round 21 is beyond the horizon 20"):
        trace = simulate(policies[0], Rounds(X, 0))
    assert trace.compiled
    for policy in (policies[1], policies[2]):
        with pytest.warns(UserWarning, match="round 21 is beyond the horizon 20"):
            list(hr.play(policy, Rounds(X, 0)))
        assert bits(policies[0].state()) == bits(policy.state())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert simulate(policies[0], Rounds(X, 1)).compiled  # said once


def test_what_play_refuses_is_refused_in_the_same_round():
    X = SETS["simplex"]()
    problem, refusals, states = Rounds(X, 0), [], []
    problem._all.constraints[30, 2] = np.nan
    for game in (simulate, lambda policy, rounds: list(hr.play(policy, rounds))):
        policy = hr.projection_free_coco(X)
        with pytest.raises(ValueError, match="finite") as refusal:
            game(policy, problem)
        refusals.append(str(refusal.value))
        states.append(bits(policy.state()))
    assert refusals[0] == refusals[1]
    assert states[0] == states[1]


class Steeper:
    """A potential of the user's own, without a kernel."""

    def weight(self, q: float, t: float = 1.0) -> float:
        return q**3 + 0.0 * t

    def value(self, q: float, t: float = 1.0) -> float:
        return 0.25 * q**4 + 0.0 * t


class Twice(PowerPotential):
    """A subclass that changes the weight, but not its kernel."""

    def weight(self, q: float, t: float = 1.0) -> float:
        return 2.0 * super().weight(q, t)


class Centred(hr.sets.Simplex):
    """A subclass that changes the projection, but not its kernel."""

    def project(self, y) -> np.ndarray:
        return 0.5 * (super().project(y) + self.start())


class Reversed(hr.sets.Simplex):
    """A subclass that changes the oracle, but not its kernel."""

    def lmo(self, c) -> np.ndarray:
        return super().lmo(c)[::-1].copy()


class Louder(AdaptiveOCG):
    """A subclass that changes what is told."""

    def tell(self, loss) -> None:
        super().tell(hr.feedback.EvalGrad(loss.value, 2.0 * loss.grad))


class Blind(CurrentSurrogate):
    """A subclass that changes the loss."""

    def tell(self, cost, constraint) -> hr.feedback.EvalGrad:
        return super().tell(cost, hr.feedback.EvalGrad(-1.0, constraint.grad))


class Careless(hr.policies.RestrictedMaster):
    """A subclass that sees no violation."""

    def take_in(self, cost, constraint, at):
        return super().take_in(cost, hr.feedback.EvalGrad(-1.0, constraint.grad), at)


def wrapped(policy: ConstrainedPolicy) -> ConstrainedPolicy:
    """Put a wrapper around the learner's own method."""
    inner = policy.learner.tell
    policy.learner.tell = lambda loss: inner(hr.feedback.EvalGrad(loss.value, -loss.grad))
    return policy


def test_what_overrides_or_wraps_a_part_runs_in_both_speeds():
    """In 200 rounds the learner's own tell runs 200 times."""
    X = SETS["simplex"]()
    problem = Rounds(X, 0, horizon=200)
    for make in (
        lambda: ConstrainedPolicy(Louder(X, RmsSteps()), CostOnlySurrogate()),
        lambda: ConstrainedPolicy(AdaptiveOCG(X, RmsSteps()), Blind(POTENTIALS["power"])),
        lambda: wrapped(hr.projection_free_coco(X, tracking=False)),
        lambda: hr.policies.Fallback(Careless(X)),
    ):
        fast, slow = make(), make()
        simulate(fast, problem)
        list(hr.play(slow, problem))
        assert bits(fast.state()) == bits(slow.state())
    counted, calls = hr.projection_free_coco(X, tracking=False), []
    inner = counted.learner.tell
    counted.learner.tell = lambda loss: (calls.append(loss), inner(loss))
    list(hr.play(counted, problem))
    plain = hr.projection_free_coco(X, tracking=False)
    list(hr.play(plain, problem))
    assert len(calls) == 200
    assert bits(counted.state()) == bits(plain.state())


class Plain:
    """A schedule of someone's own, without kernels."""

    def eta(self, t):
        return 1.0 / t

    def multipliers(self, t, lam, g):
        return lam, lam + g / t


class Longer(PrimalDual):
    """A policy of someone's own that tells every round twice."""

    def tell(self, cost, constraint):
        super().tell(cost, constraint)
        super().tell(cost, constraint)


def test_what_has_no_kernel_is_played_by_objects_and_says_so():
    X = SETS["simplex"]()
    matrices = hr.sets.Birkhoff(2)
    unknown = {
        "potential": (composed(X, RmsSteps(), CurrentSurrogate, Steeper(), True), Rounds(X, 0)),
        "subclass": (
            composed(X, RmsSteps(), CurrentSurrogate, Twice(2.0, 3.0), True),
            Rounds(X, 0),
        ),
        "oracle": (hr.projection_free_coco(Reversed(5)), Rounds(Reversed(5), 0)),
        "set": (hr.projection_free_coco(matrices), Rounds(matrices, 0)),
        "projection": (hr.baselines.sinha_vaze_2024(Centred(5), 3), Rounds(Centred(5), 0)),
        "projection of another set": (
            hr.baselines.liakopoulos_cold(Centred(5), 99),
            Rounds(Centred(5), 0),
        ),
        "schedule": (PrimalDual(X, Plain()), Rounds(X, 0)),
        "steps": (Longer(X, ConstantRates(0.1, 0.1, 0.1)), Rounds(X, 0)),
        "learner": (ConstrainedPolicy(Louder(X, RmsSteps()), CostOnlySurrogate()), Rounds(X, 0)),
        "surrogate": (
            ConstrainedPolicy(AdaptiveOCG(X, RmsSteps()), Blind(POTENTIALS["power"])),
            Rounds(X, 0),
        ),
        "wrapped": (wrapped(hr.projection_free_coco(X, tracking=False)), Rounds(X, 0)),
        "inner policy": (hr.policies.Fallback(Careless(X)), Rounds(X, 0)),
        "rounds": (hr.projection_free_coco(X), hr.RecordedProblem(X, [_doubled(5)] * 3)),
        "sampled": (hr.Sampled(hr.projection_free_coco(X), 1), Rounds(X, 0)),
    }
    for what, (policy, problem) in unknown.items():
        feedback = hr.feedback.linear if what == "sampled" else hr.first_order
        trace = simulate(policy, problem, feedback)
        assert not trace.compiled, what
        assert trace.costs.size == problem.horizon
        chunks = list(simulate_chunks(policy, problem, feedback, size=2, skip=1))
        assert sum(part.costs.size for part in chunks) == problem.horizon - 1


def _doubled(n):
    cost, constraint = _curved(n)
    return hr.functions.ScaledFunction(cost, 2.0), constraint  # which has no kernel


def _curved(n):
    return hr.Quadratic(1.0, np.zeros(n)), hr.Linear(np.ones(n), -1.0)


def test_threads_play_the_same_games():
    X = SETS["paths"]()
    games = [
        lambda: (hr.projection_free_coco(X), Rounds(X, 0)),
        lambda: (hr.ftpl_coco(X, ROUNDS, 3), Rounds(X, 1)),
        lambda: (hr.unconstrained(X), hr.RecordedProblem(X, [_curved(X.dim)] * 3)),
        lambda: (hr.projection_free_long_term(X), Rounds(X, 2)),
    ]
    apart = [simulate(*game()) for game in games]
    together = simulate_many([game() for game in games], threads=3)
    for one, other in zip(apart, together, strict=True):
        assert one.costs.tobytes() == other.costs.tobytes()
        assert one.violations.tobytes() == other.violations.tobytes()
        assert (one.compiled, one.oracle_calls) == (other.compiled, other.oracle_calls)
    policy = hr.projection_free_coco(X)
    with pytest.raises(ValueError, match="a policy of its own"):
        simulate_many([(policy, Rounds(X, 0))] * 2)


def test_processes_play_as_one_after_the_other_does():
    """Records and policies; the rounds come from a file, for three games of four."""
    problem = hr.ShortestPath.random_network(nodes=30, edges=100, horizon=300, seed=1)
    X = problem.decision_set
    curved = hr.RecordedProblem(X, [_curved(X.dim)] * 3)

    def games():
        return [
            (hr.projection_free_coco(X), problem),
            (hr.ftpl_coco(X, 300, 3), problem),
            (hr.unconstrained(X), curved),
            (hr.projection_free_long_term(X), problem),
        ]

    alone, apart = games(), games()
    one, other = [simulate(*game) for game in alone], simulate_many(apart, processes=2)
    for trace, again in zip(one, other, strict=True):
        assert trace.costs.tobytes() == again.costs.tobytes()
        assert trace.violations.tobytes() == again.violations.tobytes()
        assert (trace.compiled, trace.oracle_calls) == (again.compiled, again.oracle_calls)
    for (policy, _), (twin, _) in zip(alone, apart, strict=True):
        assert policy.ask().tobytes() == twin.ask().tobytes()
        assert simulate(policy, problem).costs.tobytes() == simulate(twin, problem).costs.tobytes()
    with pytest.raises(ValueError, match="threads or in processes, got threads=2 and processes=2"):
        simulate_many(games(), 2, processes=2)
    with pytest.raises(TypeError, match="Mute lacks them; use threads"):
        simulate_many([(type("Mute", (), {})(), problem)], processes=2)


def test_rounds_of_several_games_are_drawn_once(tmp_path):
    problem, other = (
        hr.ShortestPath.random_network(nodes=30, edges=100, horizon=70, seed=seed)
        for seed in (1, 2)
    )
    X = problem.decision_set
    policies = [hr.unconstrained(X) for _ in range(3)]
    games = many.shared([*((p, problem) for p in policies[:2]), (policies[2], other)], tmp_path)
    (folder,) = tmp_path.iterdir()
    assert sum(np.load(file).nbytes for file in folder.iterdir()) == 70 * 202 * 8
    mapped = games[0][1]
    assert games[1][1] is mapped
    assert games[2][1] is other
    assert pickle.loads(pickle.dumps(mapped)).folder == mapped.folder == folder
    for size in (1, 64, 70):
        for chunk, given in zip(mapped.chunks(size), problem.chunks(size), strict=True):
            assert [part.tobytes() for part in chunk] == [part.tobytes() for part in given]
    with pytest.raises(ValueError, match="read-only"):
        next(mapped.chunks()).costs[0, 0] = 1.0


def test_rounds_too_large_for_a_file_are_drawn_by_each_game(tmp_path, monkeypatch):
    monkeypatch.setattr(many, "LARGEST_FILE", 70 * 201 * 8)
    problem = hr.ShortestPath.random_network(nodes=30, edges=100, horizon=70, seed=1)
    games = [(hr.unconstrained(problem.decision_set), problem) for _ in range(2)]
    assert many.shared(games, tmp_path) == games
    assert list(tmp_path.iterdir()) == []


SECOND_PROCESS = """
import sys, numba, hedgerow as hr
from numba.core.registry import CPUDispatcher
from hedgerow.games import simulate
from hedgerow.kernels.rounds import play_linear_rounds
problem = hr.ShortestPath.random_network(nodes=30, edges=100, horizon=20, seed=1)
assert simulate(hr.projection_free_coco(problem.decision_set), problem).compiled
modules = [module for name, module in sys.modules.items() if name.startswith("hedgerow")]
found = {k for module in modules for k in vars(module).values() if isinstance(k, CPUDispatcher)}
assert play_linear_rounds in found
print(sum(sum(k.stats.cache_misses.values()) for k in found), len(found))
"""


def test_a_second_process_compiles_nothing():
    problem = hr.ShortestPath.random_network(nodes=30, edges=100, horizon=20, seed=1)
    simulate(hr.projection_free_coco(problem.decision_set), problem)  # fills the cache
    command = [sys.executable, "-c", SECOND_PROCESS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    misses, kernels = map(int, done.stdout.split())
    assert misses == 0
    assert kernels > 30


def test_rounds_that_a_problem_may_remember_are_not_skipped():
    problem = hr.problems.OrthogonalBall(n=4, horizon=9)
    policy = hr.projection_free_coco(problem.decision_set)
    with pytest.raises(ValueError, match="skip=3 leaves out rounds that OrthogonalBall may"):
        next(simulate_chunks(policy, problem, skip=3))
