"""The conformance kit can fail: each part broken on purpose is caught by the check named for it."""

from __future__ import annotations

import copy
import copyreg
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from hedgerow.feedback import EvalGrad, bandit, first_order, linear, semi_bandit
from hedgerow.functions import Linear, Quadratic
from hedgerow.inputs import as_direction, as_vector
from hedgerow.learners.adaptive_ocg import AdaptiveOCG
from hedgerow.learners.block_bandit import BlockBandit
from hedgerow.learners.block_rules import PracticalBlocks
from hedgerow.learners.ftpl import FTPL
from hedgerow.learners.steps import CertificateSteps, RmsSteps
from hedgerow.policies.constrained import ConstrainedPolicy
from hedgerow.policies.paper import projection_free_coco
from hedgerow.policies.sampled import Sampled
from hedgerow.policies.semi_bandit import SemiBandit
from hedgerow.sets.balls.l1_l2_balls import L2Ball
from hedgerow.sets.decision_set import DecisionSet, Rows, Workspace
from hedgerow.sets.simplices.simplex import KSubsets, Simplex
from hedgerow.snapshot import _checksum
from hedgerow.testing import check_learner, check_policy, check_set
from hedgerow.testing.random_rounds import RandomRounds


class Cube(DecisionSet):
    """The cube [0, 1]^4 with every capability, as a user might write it."""

    dim = 4
    diameter = 2.0

    def lmo(self, c):
        return np.where(as_direction(c, self.dim) < 0.0, 1.0, 0.0)

    def contains(self, x, tol=1e-9):
        x = as_vector(x, "x", self.dim)
        return bool(x.min() >= -tol and x.max() <= 1.0 + tol)

    def start(self):
        return np.full(self.dim, 0.5)

    def project(self, y):
        return np.clip(as_vector(y, "y", self.dim), 0.0, 1.0)

    def decompose(self, x):
        x = np.clip(as_vector(x, "x", self.dim), 0.0, 1.0)
        steps = np.sort(np.append(x, [0.0, 1.0]))
        return np.diff(steps), (x > steps[:-1, None]).astype(float)

    def sample(self, x, rng):
        return (rng.random(self.dim) < as_vector(x, "x", self.dim)).astype(float)

    def hull(self):
        return np.zeros(self.dim), np.eye(self.dim)

    def ball(self):
        return np.full(self.dim, 0.5), 0.5

    def rows(self):
        return Rows(np.zeros(self.dim), np.ones(self.dim))

    def separate(self, y):
        a = as_vector(y, "y", self.dim) - self.project(y)
        return None if np.abs(a).max() <= 1e-9 else a


class Maximises(Cube):
    def lmo(self, c):
        return super().lmo(-as_direction(c, self.dim))


class BlindToOneAxis(Cube):
    def lmo(self, c):
        c = as_direction(c, self.dim).copy()
        c[2] = 1.0
        return super().lmo(c)


class ReturnsMiddles(Cube):
    def lmo(self, c):
        c = as_direction(c, self.dim)
        return np.where(c == 0.0, 0.5, super().lmo(c))


class ReturnsItsBuffer(Cube):
    def __init__(self):
        self.buffer = np.empty(self.dim)

    def lmo(self, c):
        self.buffer[:] = super().lmo(c)
        return self.buffer


class WritesIntoItsArgument(Cube):
    def lmo(self, c):
        v = super().lmo(c)
        if isinstance(c, np.ndarray):
            c[0] = 0.0
        return v


class Overflows(Cube):
    def lmo(self, c):
        with np.errstate(over="ignore"):
            huge = as_vector(c, "c", self.dim) * 1e10
        return np.where(np.isinf(huge), 0.0, super().lmo(np.nan_to_num(huge)))


class NeverTheSame(Cube):
    calls = 0

    def lmo(self, c):
        self.calls += 1
        c = as_direction(c, self.dim)
        return np.where(c == 0.0, float(self.calls % 2), super().lmo(c))


class TakesAnything(Cube):
    def lmo(self, c):
        return np.where(np.ravel(np.real(np.asarray(c, dtype=complex)))[: self.dim] < 0.0, 1.0, 0.0)


class TooSmallDiameter(Cube):
    diameter = 1.9


class WrongShape(Cube):
    shape = (3, 2)


class StartsOutside(Cube):
    def start(self):
        return np.full(self.dim, 2.0)


class ContainsAll(Cube):
    def contains(self, x, tol=1e-9):  # noqa: ARG002
        return bool(as_vector(x, "x", self.dim).size)


class ContainsTooLittle(Cube):
    def contains(self, x, tol=1e-9):
        return super().contains(x, tol) and bool(np.sum(x) <= 3.5)


class BoundTooHigh(Cube):
    def minimum(self, c):
        return super().minimum(c) + 1e-3


class BoundTooLow(Cube):
    def minimum(self, c):
        return super().minimum(c) - 1.0


class TangentForgetsTooMuch(Cube):
    def tangent(self, c):
        c = as_vector(c, "c", self.dim)
        return c - c.mean()


class TangentOutOfItsBuffer(Cube):
    def __init__(self):
        self.kept = {}

    def tangent(self, c):
        c = as_vector(c, "c", self.dim)
        return self.kept.setdefault(c.tobytes(), c.copy())


class _Stale(Workspace):
    last = None

    def lmo(self, c):
        if self.last is None:
            self.last = super().lmo(c)
        return self.last.copy()

    def clear(self):
        self.last = None


class StaleWorkspace(Cube):
    def workspace(self):
        return _Stale(self)


class _NeverCleared(Workspace):
    calls = 0

    def lmo(self, c):
        self.calls += 1
        return np.where(c == 0.0, float(self.calls > 2), super().lmo(c))


class WorkspaceNotCleared(Cube):
    def workspace(self):
        return _NeverCleared(self)


class _Lazy(Workspace):
    def project(self, y):
        return np.clip(y, 0.0, 0.9)


class WorkspaceProjectsElsewhere(Cube):
    def workspace(self):
        return _Lazy(self)


class ProjectsToAVertex(Cube):
    def project(self, y):
        return self.lmo(0.5 - as_vector(y, "y", self.dim))


class ProjectsOntoItself(Cube):
    def project(self, y):
        y = as_vector(y, "y", self.dim)
        return y if self.contains(y, 0.0) else super().project(y)


class DecomposesIntoInnerPoints(Cube):
    def decompose(self, x):
        return np.ones(1), as_vector(x, "x", self.dim).reshape(1, -1)


class DecomposesWrongly(Cube):
    def decompose(self, x):
        weights, parts = super().decompose(x)
        return np.full(weights.size, 1.0 / weights.size), parts


class DecomposesIntoTooMany(Cube):
    def decompose(self, x):
        weights, parts = super().decompose(x)
        return np.repeat(weights / 2.0, 2), np.repeat(parts, 2, axis=0)


class SamplesItsArgument(Cube):
    def sample(self, x, rng):  # noqa: ARG002
        return as_vector(x, "x", self.dim)


class SamplesWithoutItsSeed(Cube):
    own = np.random.default_rng(0)

    def sample(self, x, rng):  # noqa: ARG002
        return super().sample(x, self.own)


class SkewHull(Cube):
    def hull(self):
        return np.zeros(self.dim), np.eye(self.dim) + 0.1


class HullTooSmall(Cube):
    def hull(self):
        return np.full(self.dim, 0.5), np.eye(self.dim)[:, :3]


class BallTooLarge(Cube):
    def ball(self):
        return np.full(self.dim, 0.5), 0.501


class BallOfNoSize(Cube):
    def ball(self):
        return np.full(self.dim, 0.5), 0.0


class RowsTooLoose(Cube):
    def rows(self):
        return Rows(np.zeros(self.dim), np.full(self.dim, 1.01))


class RowsTooTight(Cube):
    def rows(self):
        return Rows(np.zeros(self.dim), np.full(self.dim, 0.99))


class SeparatesInnerPoints(Cube):
    def separate(self, y):
        return as_vector(y, "y", self.dim) - 0.5


class SeparatesTheWrongWay(Cube):
    def separate(self, y):
        a = super().separate(y)
        return None if a is None else -a


class HidesACapability(Cube):
    def supports(self, capability):
        return capability.method != "ball" and super().supports(capability)


class TiesTakeTurns(Simplex):
    """Where all entries are equal, each call returns the next vertex."""

    def __init__(self):
        super().__init__(4)
        vars(self)["calls"] = 0

    def lmo(self, c):
        c = as_direction(c, self.dim)
        if not c.any() or np.ptp(c) > 0.0:
            return super().lmo(c)
        vars(self)["calls"] += 1
        return np.eye(self.dim)[self.calls % self.dim]


def _last_of_equal(index, numbers, c, links, scratch, v):  # noqa: ARG001
    v[:] = 0.0
    v[c.size - 1 - int(np.argmin(c[::-1]))] = 1.0


class CompiledTiesDiffer(Simplex):
    """The compiled oracle takes the last of equal entries, `lmo` the first."""

    def __init__(self):
        super().__init__(4)

    @property
    def compiled(self):
        return replace(super().compiled, oracle=_last_of_equal)


BROKEN_SETS: dict[type[DecisionSet], str] = {
    Maximises: "check_oracle",
    BlindToOneAxis: "check_oracle",
    ReturnsMiddles: "check_zero_direction",
    ReturnsItsBuffer: "check_aliasing",
    WritesIntoItsArgument: "check_aliasing",
    Overflows: "check_scales",
    NeverTheSame: "check_aliasing",
    TiesTakeTurns: "check_ties",
    CompiledTiesDiffer: "check_ties",
    TakesAnything: "check_rejection",
    TooSmallDiameter: "check_diameter",
    WrongShape: "check_declarations",
    StartsOutside: "check_start",
    ContainsAll: "check_zero_direction",
    ContainsTooLittle: "check_oracle",
    BoundTooHigh: "check_minimum",
    BoundTooLow: "check_minimum",
    TangentForgetsTooMuch: "check_tangent",
    TangentOutOfItsBuffer: "check_aliasing",
    StaleWorkspace: "check_workspace",
    WorkspaceNotCleared: "check_workspace",
    WorkspaceProjectsElsewhere: "check_workspace",
    ProjectsToAVertex: "check_project",
    ProjectsOntoItself: "check_project",
    DecomposesIntoInnerPoints: "check_decompose",
    DecomposesWrongly: "check_decompose",
    DecomposesIntoTooMany: "check_decompose",
    SamplesItsArgument: "check_sample",
    SamplesWithoutItsSeed: "check_sample",
    SkewHull: "check_hull",
    HullTooSmall: "check_hull",
    BallTooLarge: "check_ball",
    BallOfNoSize: "check_ball",
    RowsTooLoose: "check_rows",
    RowsTooTight: "check_rows",
    SeparatesInnerPoints: "check_separate",
    SeparatesTheWrongWay: "check_separate",
    HidesACapability: "check_refused_capabilities",
}


@pytest.mark.parametrize("seed", range(3))
def test_a_good_set_passes(seed: int) -> None:
    check_set(Cube(), seed=seed)


@pytest.mark.parametrize("broken", BROKEN_SETS, ids=lambda broken: broken.__name__)
def test_a_broken_set_is_caught_by_name(broken: type[DecisionSet]) -> None:
    with pytest.raises(AssertionError, match=f"{broken.__name__} fails {BROKEN_SETS[broken]} "):
        check_set(broken())


class AskMoves(AdaptiveOCG):
    def ask(self):
        self._state["x"][:] = self._state["x"][::-1]
        return super().ask()


class AskLends(AdaptiveOCG):
    def ask(self):
        return self._state["x"]


class LeavesTheSet(AdaptiveOCG):
    def tell(self, loss):
        super().tell(loss)
        self._state["x"][0] += 0.1


class Random(AdaptiveOCG):
    rng = np.random.default_rng(0)

    def tell(self, loss):
        super().tell(loss)
        self._state["x"][:] = self.rng.dirichlet(np.ones(self.decision_set.dim))


class DividesByZero(AdaptiveOCG):
    def tell(self, loss):
        super().tell(loss)
        if not np.any(self._state["S"]):
            self._state["x"][:] = np.nan


class KeepsTheGradient(AdaptiveOCG):
    kept = None

    def tell(self, loss):
        super().tell(loss if self.kept is None else EvalGrad(0.0, np.nan_to_num(self.kept)))
        self.kept = loss.grad


class StateMoves(AdaptiveOCG):
    def state(self):
        self._state["S"][0] += 1.0
        return super().state()


class StateLends(AdaptiveOCG):
    def state(self):
        return {**super().state(), "array": self._state.array}


class RestoreForgetsTheRule(AdaptiveOCG):
    def restore(self, snapshot):
        rule = self._state["rule"].copy()
        super().restore(snapshot)
        self._state["rule"][:] = rule


class RestoreTakesAnything(AdaptiveOCG):
    def restore(self, snapshot):
        self._state.array[:] = snapshot["array"]


class CountsBeforeItLooks(AdaptiveOCG):
    def tell(self, loss):
        self._state["t"][0] += 1.0
        super().tell(loss)
        self._state["t"][0] -= 1.0


class TakesBadGradients(AdaptiveOCG):
    def tell(self, loss):
        good = np.zeros(self.decision_set.dim)
        given = np.asarray(loss.grad)
        if given.shape == good.shape and given.dtype == good.dtype:
            good = np.nan_to_num(given)
        super().tell(EvalGrad(0.0, good))


class RefusesHalfway(AdaptiveOCG):
    def tell(self, loss):
        if 1e120 < np.abs(loss.grad).max() < np.inf:
            self._state["S"][0] += 1.0
            raise ValueError("gradients must be below 1e120")
        super().tell(loss)


class TakesAnyValue(AdaptiveOCG):
    def tell(self, loss):
        super().tell(replace(loss, value=0.0))


class RestoreTakesShortArrays(AdaptiveOCG):
    def _numbers_of(self, snapshot):
        given = np.resize(snapshot["array"], self._state.array.size)
        fitting = {**self.state(), "array": given}
        return super()._numbers_of({**fitting, "checksum": _checksum(fitting)})


class StateForgetsWarmStarts(AdaptiveOCG):
    def state(self):
        self._state["x"][:] = np.nextafter(self._state["x"], 1.0)
        return super().state()


class CopiesItsAttributes(AdaptiveOCG):
    """As Python does where nothing is said: views of one array become arrays of their own."""

    __copy__ = None
    __reduce__ = object.__reduce__

    def __reduce_ex__(self, protocol):
        return copyreg.__newobj__, (type(self),), dict(vars(self))

    def __setstate__(self, attributes):
        vars(self).update(attributes)


class SaysNothingOfAdversaries(AdaptiveOCG):
    oblivious_only = None


class CallsTooOften(AdaptiveOCG):
    @property
    def oracle_calls(self):
        return 2 * super().oracle_calls


BROKEN_LEARNERS: dict[type[AdaptiveOCG], str] = {
    AskMoves: "check_ask_is_pure",
    AskLends: "check_ask_is_pure",
    LeavesTheSet: "check_plays_inside",
    Random: "check_determinism",
    DividesByZero: "check_zero_functions",
    KeepsTheGradient: "check_feedback_is_not_kept",
    StateMoves: "check_state_is_pure",
    StateLends: "check_state_is_pure",
    StateForgetsWarmStarts: "check_state_is_pure",
    CopiesItsAttributes: "check_copies",
    RestoreForgetsTheRule: "check_restore",
    RestoreTakesAnything: "check_foreign_snapshots",
    CountsBeforeItLooks: "check_rejection",
    TakesBadGradients: "check_rejection",
    RefusesHalfway: "check_huge_values",
    TakesAnyValue: "check_rejection",
    RestoreTakesShortArrays: "check_foreign_snapshots",
    SaysNothingOfAdversaries: "check_declarations",
    CallsTooOften: "check_oracle_calls",
}


@pytest.mark.parametrize("broken", BROKEN_LEARNERS, ids=lambda broken: broken.__name__)
def test_a_broken_learner_is_caught_by_name(broken: type[AdaptiveOCG]) -> None:
    expected = f"{broken.__name__} fails {BROKEN_LEARNERS[broken]} "
    with pytest.raises(AssertionError, match=expected):
        check_learner(lambda: broken(Simplex(4), RmsSteps()))


class DrawsInAsk(BlockBandit):
    def ask(self):
        self._state["u"][:] = self.draw(1)[0]
        return super().ask()


class DrawsInState(BlockBandit):
    def state(self):
        self._state["u"][:] = self.draw(1)[0]
        return super().state()


class DrawsBeforeItLooks(BlockBandit):
    def tell(self, loss):
        self._state["u"][:] = self.draw(1)[0]
        super().tell(loss)


class SharesItsStream(BlockBandit):
    shared = np.random.default_rng(0)

    def tell(self, loss):
        self._rng = self.shared
        super().tell(loss)


class ForgetsItsStream(BlockBandit):
    _stream = None


class RestoresItsStreamFirst(BlockBandit):
    def restore(self, snapshot):
        self._rng.bit_generator.state = snapshot["random"]
        super().restore(snapshot)


class TakesAnyBound(BlockBandit):
    def tell(self, loss):
        super().tell(replace(loss, bound=1.0))


class RefusesHugeValuesHalfway(BlockBandit):
    def tell(self, loss):
        if isinstance(loss.bound, float) and 1e120 < loss.bound < np.inf:
            self._state["bound"][0] = loss.bound
        super().tell(loss)


class CallsBeforeItMay(BlockBandit):
    @property
    def oracle_calls(self):
        return super().oracle_calls + int(self._state["t"][0] > 0.0) * 7


BROKEN_BANDITS: dict[type[BlockBandit], str] = {
    DrawsInAsk: "check_ask_is_pure",
    DrawsInState: "check_state_is_pure",
    DrawsBeforeItLooks: "check_rejection",
    SharesItsStream: "check_determinism",
    ForgetsItsStream: "check_restore",
    RestoresItsStreamFirst: "check_foreign_snapshots",
    TakesAnyBound: "check_rejection",
    RefusesHugeValuesHalfway: "check_huge_values",
    CallsBeforeItMay: "check_oracle_calls",
}


@pytest.mark.parametrize("broken", BROKEN_BANDITS, ids=lambda broken: broken.__name__)
def test_a_broken_bandit_is_caught_by_name(broken: type[BlockBandit]) -> None:
    expected = f"{broken.__name__} fails {BROKEN_BANDITS[broken]} "
    with pytest.raises(AssertionError, match=expected):
        check_learner(
            lambda: broken(L2Ball(3), PracticalBlocks(40), 0),
            oracle_calls_per_round=None,
            feedback=partial(bandit, lipschitz=2.0, bound=1.0),
        )


def test_calls_are_counted_from_where_they_start() -> None:
    check_learner(lambda: FTPL(Simplex(3), 0))
    assert FTPL(Simplex(3), 0).oracle_calls == 1
    with pytest.raises(AssertionError, match="1 rounds must take 2 oracle calls, got 1"):
        check_learner(lambda: FTPL(Simplex(3), 0), oracle_calls_per_round=2)


class CertifiesTooLittle(ConstrainedPolicy):
    def certificate(self):
        return super().certificate() - 1e-3


class CountsThePriceTwice(ConstrainedPolicy):
    def certificate(self):
        return super().certificate() - self._state["price"][0]


class CertificateMoves(ConstrainedPolicy):
    def certificate(self):
        self._state["price"][0] += 1e-3
        return super().certificate() + 1e-3


class TakesNaN(ConstrainedPolicy):
    def tell(self, cost, constraint):
        good = constraint.value if isinstance(constraint.value, float) else 0.0
        super().tell(cost, replace(constraint, value=float(np.nan_to_num(good))))


class CountsFirst(ConstrainedPolicy):
    def tell(self, cost, constraint):
        self._state["rounds"][0] += 1.0
        super().tell(cost, constraint)
        self._state["rounds"][0] -= 1.0


class ForgetsItsSums(ConstrainedPolicy):
    def __reduce__(self):
        return ConstrainedPolicy, (copy.deepcopy(self.learner), copy.deepcopy(self.surrogate))


BROKEN_POLICIES: dict[type[ConstrainedPolicy], str] = {
    CertifiesTooLittle: "check_certificate",
    CountsThePriceTwice: "check_certificate",
    CertificateMoves: "check_certificate",
    TakesNaN: "check_rejection",
    CountsFirst: "check_rejection",
    ForgetsItsSums: "check_copies",
}


@pytest.mark.parametrize("broken", BROKEN_POLICIES, ids=lambda broken: broken.__name__)
def test_a_broken_policy_is_caught_by_name(broken: type[ConstrainedPolicy]) -> None:
    def make() -> ConstrainedPolicy:
        good = projection_free_coco(Simplex(4), tracking=False)
        return broken(good.learner, good.surrogate)

    with pytest.raises(AssertionError, match=f"{broken.__name__} fails {BROKEN_POLICIES[broken]} "):
        check_policy(make)


class SamplesInAsk(Sampled):
    def ask(self):
        return self._next()


class SamplesBeforeItLooks(Sampled):
    def tell(self, cost, constraint):
        self._state["vertex"][:] = self._next()
        super().tell(cost, constraint)


class LooksAtTheCostAlone(Sampled):
    def tell(self, cost, constraint):
        try:
            super().tell(cost, constraint)
        except (ValueError, TypeError):
            super().tell(cost, cost)


class PlaysTheMean(Sampled):
    def _next(self):
        return self.policy.ask() + 0.1


class ForgetsItsDraws(Sampled):
    _stream = None


class ForgetsItsVertex(Sampled):
    def restore(self, snapshot):
        vertex = self._state["vertex"].copy()
        super().restore(snapshot)
        self._state["vertex"][:] = vertex


class WeighsInPlace(SemiBandit):
    def tell(self, cost, constraint):
        super().tell(cost, constraint)
        cost.coefficients[:] /= self._chances().max()


class TakesAnyNumberOfCoefficients(SemiBandit):
    def tell(self, cost, constraint):
        k = int(self.ask().sum())
        super().tell(replace(cost, coefficients=np.resize(cost.coefficients, k)), constraint)


BROKEN_SAMPLERS: dict[type[Sampled | SemiBandit], str] = {
    SamplesInAsk: "check_ask_is_pure",
    SamplesBeforeItLooks: "check_rejection",
    LooksAtTheCostAlone: "check_rejection",
    PlaysTheMean: "check_plays_inside",
    ForgetsItsDraws: "check_restore",
    ForgetsItsVertex: "check_restore",
    WeighsInPlace: "check_feedback_is_not_kept",
    TakesAnyNumberOfCoefficients: "check_rejection",
}


@pytest.mark.parametrize("broken", BROKEN_SAMPLERS, ids=lambda broken: broken.__name__)
def test_a_broken_sampler_is_caught_by_name(broken: type[Sampled | SemiBandit]) -> None:
    def make() -> Sampled | SemiBandit:
        policy = projection_free_coco(KSubsets(5, 2))
        return broken(policy, 0, 0.2) if issubclass(broken, SemiBandit) else broken(policy, 0)

    look = semi_bandit if issubclass(broken, SemiBandit) else linear
    with pytest.raises(AssertionError, match=f"{broken.__name__} fails {BROKEN_SAMPLERS[broken]} "):
        check_policy(make, feedback=look)


@pytest.mark.parametrize(
    ("look", "kinds"),
    [
        (first_order, {Linear, Quadratic}),
        (partial(bandit, lipschitz=3.0, bound=2.0), {Linear, Quadratic}),
        (linear, {Linear}),
        (semi_bandit, {Linear}),
    ],
)
def test_losses_are_what_the_feedback_can_observe(look, kinds) -> None:
    losses = [f for (f,) in RandomRounds(KSubsets(5, 2), look, seed=0).losses(30)]
    assert {type(f) for f in losses} == kinds


def test_functions_keep_the_constants_that_the_feedback_declares() -> None:
    X = Cube()
    draws = RandomRounds(X, partial(bandit, lipschitz=3.0, bound=2.0), seed=0)
    games = draws.games(np.zeros(4), np.full((1, 4), 0.5), 30, None)
    functions = [f for functions in (*draws.losses(30), *games) for f in functions]
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * 4)).reshape(4, -1).T
    values = np.array([[f(x) for x in corners] for f in functions])
    slopes = np.array([[np.linalg.norm(f.grad(x)) for x in corners] for f in functions])
    assert 1.9 < np.abs(values).max() <= 2.0 + 1e-9
    assert 2.9 < slopes.max() <= 3.0 + 1e-9
    assert all(f(np.full(4, 0.5)) <= 1e-9 for f in functions[31::2]), "constraints can be kept"


def test_feedback_that_is_no_dataclass_is_refused() -> None:
    with pytest.raises(TypeError, match="must return a dataclass"):
        check_learner(lambda: FTPL(Simplex(3), 0), feedback=lambda f, x: f(x))


def test_a_snapshot_between_differently_built_learners_is_refused() -> None:
    snapshot = AdaptiveOCG(Simplex(3), RmsSteps()).state()
    others: list[Callable[[], AdaptiveOCG]] = [
        lambda: AdaptiveOCG(Simplex(3), RmsSteps(kappa=8.0)),
        lambda: AdaptiveOCG(Simplex(3), CertificateSteps()),
        lambda: AdaptiveOCG(Simplex(3, total=2.0), RmsSteps()),
        lambda: AdaptiveOCG(Simplex(3), RmsSteps(), start=[1.0, 0.0, 0.0]),
    ]
    for other in others:
        with pytest.raises(ValueError, match="built with other arguments"):
            other().restore(snapshot)
