"""Fallback: its theorem against policies that mean harm, the switch, and what it falls back to."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.bounds import theorem_f_ccv
from hedgerow.feedback import EvalGrad, Parts
from hedgerow.inputs import Vector
from hedgerow.policies.away import away_coco
from hedgerow.policies.fallback import CCV, SHARE, Fallback, theorem_f
from hedgerow.policies.master import RestrictedMaster
from hedgerow.surrogates.violation_weight import FIRST_CONSTANTS

S = hr.sets
GAMES, ROUNDS = 150, 400
SETS: list[Callable[[], hr.DecisionSet]] = [
    lambda: S.Simplex(3),
    lambda: S.L2Ball(2),
    lambda: S.Box(np.zeros(2), np.ones(2)),
    lambda: S.L1Ball(3),
]
HARMS = ("the dearest vertex", "any vertex", "the most violated vertex", "good at first")


class Harmful(RestrictedMaster):
    """A restricted master that then plays otherwise."""

    def __init__(self, X: hr.DecisionSet, constraints: int | None, harm: str, seed: int):
        super().__init__(X, constraints=constraints)
        self.harm, self.rng, self.costs = harm, np.random.default_rng(seed), np.zeros(X.dim)

    def take_in(self, cost: Any, constraint: Any, at: Vector | None) -> Any:
        taken = super().take_in(cost, constraint, at)
        X, largest = self.decision_set, taken[2]
        self.costs += cost.grad
        if self.harm == "the dearest vertex":
            self._state["x"][:] = X.lmo(-cost.grad)
        elif self.harm == "any vertex":
            self._state["x"][:] = X.lmo(self.rng.standard_normal(X.dim))
        elif self.harm == "the most violated vertex":
            self._state["x"][:] = X.lmo(-largest.grad)
        elif self.rounds >= 150:
            self._state["x"][:] = X.lmo(-self.costs)
        return taken


@dataclass
class Sums:
    """What the theorem's inequalities are about, for a policy and a benchmark x*."""

    X: hr.DecisionSet
    q: float
    C: float
    m: int = 1
    regret: float = 0.0
    costs: float = 0.0
    dearest: float = 0.0
    since: list[float] = field(default_factory=list)
    """The sums of ||grad f||^{q'} since the switch."""

    def __post_init__(self) -> None:
        self.ccv, self.grads, self.steepest = np.zeros((3, self.m))
        self.dual = self.q / (self.q - 1.0)

    def add(self, f: EvalGrad, parts: list[EvalGrad], e: Vector, plain: bool) -> None:
        """Add a round; e = x - x*, and `plain` says whether Theorem F has decided it."""
        size = self.X.tangent_norm(f.grad)
        self.regret += float(f.grad @ e)
        self.costs += size**self.dual
        self.dearest = max(self.dearest, size)
        if plain:
            self.since.append(size**self.dual + (self.since[-1] if self.since else 0.0))
        for k, g in enumerate(parts):
            if g.value > 0.0:
                norm = self.X.tangent_norm(g.grad)
                self.ccv[k] += g.value
                self.grads[k] += norm**self.dual
                self.steepest[k] = max(self.steepest[k], norm)

    def shares(self) -> tuple[float, float]:
        """Return the regret and the largest CCV as shares of their bounds."""
        D, both, dual = self.X.diameter, 2.0 ** (1.0 / self.q), self.dual
        most = both * (1.0 + SHARE) * self.C * D * self.costs ** (1.0 / dual) + D * self.dearest
        roots = both * D * self.grads ** (1.0 / dual)
        allowed = CCV * roots + D * self.steepest
        if self.since and (self.ccv > allowed).any():
            allowed = max(CCV, self.factor()) * roots + D * self.steepest
        with np.errstate(invalid="ignore"):
            return self.regret / most, float(np.nanmax([0.0, *(self.ccv / allowed)]))

    def factor(self) -> float:
        """Return Theorem F's factor of the CCV."""
        ratio = (self.since[-1] / self.since[0]) ** (1.0 / self.dual)
        T = len(self.since)
        return theorem_f_ccv(self.C, T, SHARE, int(self.q), ratio, self.m)


def attacked(
    seed: int,
    change: Callable[[Fallback], None] | None = None,
    m: int | None = None,
    harmful: Callable[[hr.DecisionSet, int | None, str, int], RestrictedMaster] = Harmful,
    around: Callable[[RestrictedMaster], Fallback] = Fallback,
) -> tuple[Fallback, Sums, Vector]:
    """Play a game that reacts, against a benchmark that keeps all rounds; return largest shares."""
    rng, X = np.random.default_rng(seed), SETS[seed % 4]()
    policy = around(harmful(X, m, HARMS[seed // 4 % 4], seed))
    if change is not None:
        change(policy)
    theorem = policy.guarantees()[0]
    sums = Sums(X, theorem["q"], theorem["C"], m or 1)
    best = np.mean([X.lmo(rng.standard_normal(X.dim)) for _ in range(2)], axis=0)
    sizes, most = int(rng.integers(3)), np.zeros(2)
    for _ in range(ROUNDS):
        x, plain = policy.ask(), policy.switched is not None
        assert X.contains(x)
        e = x - best
        a, *cs = 0.1 * rng.standard_normal((1 + (m or 1), X.dim)) * [[1.0], *[[2.0]] * (m or 1)]
        a = 10.0 * a if seed % 3 == 0 else a + e
        a *= (10.0 ** rng.uniform(-3.0, 3.0) if sizes == 1 else 1.0) / np.linalg.norm(a)
        parts = []
        for c in cs:
            c = c + e
            c *= (10.0 ** rng.uniform(-3.0, 3.0) if sizes == 2 else 1.0) / np.linalg.norm(c)
            parts.append(EvalGrad(float(c @ e), c))
        f = EvalGrad(float(a @ x), a)
        sums.add(f, parts, e, plain)
        policy.tell(f, parts if m else parts[0])
        most = np.maximum(most, sums.shares())
    return policy, sums, most


def test_both_inequalities_hold_in_every_round() -> None:
    """Against x*, which keeps every round with nothing to spare, whatever the inner policy does."""
    switched, most = dict.fromkeys(HARMS, 0), np.zeros(2)
    for seed in range(GAMES):
        policy, sums, shares = attacked(seed)
        assert not policy.infeasible
        most = np.maximum(most, shares)
        assert sums.regret <= policy.certificate() + 1e-9 * sums.costs
        switched[policy.policy.harm] += policy.switched is not None  # type: ignore[attr-defined]
    assert (most <= 1.0 + 1e-9).all()
    assert (most > 0.8).all(), "a bound that no harm comes near is no test"
    assert sum(switched.values()) > GAMES // 2
    assert min(switched.values()) > 10


def around_away_steps(policy: RestrictedMaster) -> Fallback:
    return Fallback(policy, away_coco(policy.decision_set).plain)


def test_both_inequalities_hold_with_away_steps() -> None:
    most, rates = np.zeros(2), set()
    for seed in range(60):
        _, sums, shares = attacked(seed, around=around_away_steps)
        most = np.maximum(most, shares)
        rates.add(sums.q)
    assert rates == {2.0, 4.0}
    assert (most <= 1.0 + 1e-9).all()
    assert (most > 0.7).all()


@pytest.mark.parametrize("X", [S.Simplex(3), S.Box(np.zeros(2), np.ones(2)), S.L2Ball(2)], ids=repr)
def test_away_steps_are_fallen_back_to(X: hr.DecisionSet) -> None:
    policy = away_coco(X)
    learner = policy.plain.learner
    (theorem,) = policy.guarantees()
    assert isinstance(policy, Fallback)
    assert isinstance(learner, hr.learners.AwayOCG)
    steps: Any = learner.steps
    assert steps.growth.q == theorem["q"] == (2 if X.pyramidal_width > 0.0 else 4)
    assert theorem["C"] == steps.growth.constant(steps.rho)
    assert theorem.constants == policy.plain.guarantees()[0].constants


def test_each_of_two_constraints_keeps_its_bound() -> None:
    most, switched = np.zeros(2), 0
    for seed in range(60):
        policy, _, shares = attacked(seed, m=2)
        assert not policy.infeasible
        most, switched = np.maximum(most, shares), switched + (policy.switched is not None)
    assert (most <= 1.0 + 1e-9).all()
    assert (most > 0.8).all()
    assert switched > 30


def never(policy: Fallback) -> None:
    """Let the inner policy play on for ever."""
    policy._watch.growth[2] = np.inf
    policy._state["gamma"][:] = np.inf


def tenfold(policy: Fallback) -> None:
    """Make both thresholds ten times larger."""
    policy._watch.growth[0] *= 10.0
    policy._watch.growth[2] *= 10.0


@pytest.mark.parametrize("mutant", [never, tenfold])
def test_mutants_break_both_inequalities(mutant: Callable[[Fallback], None]) -> None:
    shares = np.array([attacked(seed, mutant)[2] for seed in range(32)])
    assert (shares.max(axis=0) > 1.05).all()


def drawn(
    X: hr.DecisionSet, T: int, seed: int, parts: int = 1
) -> list[tuple[hr.Linear, hr.Linear | hr.Maximum]]:
    """Costs and constraints that pull apart, from round 40 on; one point satisfies all of them."""
    rng = np.random.default_rng(seed)
    push = rng.standard_normal(X.dim)
    kept, game = 0.3 * X.lmo(push) + 0.7 * X.lmo(-push), []
    for t in range(T):
        seen, slack = [], 30.0 if t < 40 else 0.0
        for _ in range(parts):
            c = -push + 0.5 * rng.standard_normal(X.dim)
            seen.append(hr.Linear(c, -float(c @ kept) - slack - rng.uniform(0.0, 0.1)))
        constraint = hr.Maximum(seen) if parts > 1 else seen[0]
        game.append((hr.Linear(push + 0.5 * rng.standard_normal(X.dim)), constraint))
    return game


SWITCHING: dict[str, Callable[[], hr.DecisionSet]] = {
    "simplex": lambda: S.Simplex(6),
    "ball": lambda: S.L2Ball(4, radius=2.0),
    "simplices": lambda: S.Product(S.Simplex(3), S.Simplex(4)),
    "paths": lambda: hr.ShortestPath.random_network(15, 40, 8, seed=3).decision_set,
    "simplex and ball": lambda: S.Product(S.Simplex(3), S.L2Ball(2)),
}


def dual_of(policy: Fallback) -> float:
    """Return q' of its theorem."""
    q = policy.guarantees()[0]["q"]
    return q / (q - 1.0)


def near_its_limit(X: hr.DecisionSet, m: int | None = None) -> Fallback:
    """Return a policy that has violated a lot before, and may violate little more."""
    policy, much = Fallback(RestrictedMaster(X, constraints=m)), 1e9
    dual = dual_of(policy)
    policy._state["gamma"][:] = much**dual
    policy._state["ccv"][:] = CCV * X.diameter * much - 0.1
    return policy


def continued(policy: Any, rounds: list[Any]) -> list[Vector]:
    """Play rounds and return the decisions, and the one after them."""
    decisions = []
    for cost, constraint in rounds:
        x = policy.ask()
        decisions.append(x)
        policy.tell(policy.feedback(cost, x), policy.feedback(constraint, x))
    return [*decisions, policy.ask()]


def check_same(found: list[Vector], expected: list[Vector]) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def numbers_of(policy: Fallback) -> Vector:
    """Return the numbers of a policy and of both policies inside."""
    snapshot = policy.state()
    inner = snapshot["parts"]["policy"], snapshot["parts"]["plain"]
    parts = [snapshot, *inner, *inner[1]["parts"].values()]
    return np.concatenate([part["array"] for part in parts])


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", SWITCHING)
def test_it_is_one_policy_and_then_the_other(name: str, parts: int) -> None:
    X, m = SWITCHING[name](), None if parts == 1 else parts
    rounds: list[Any] = drawn(X, 120, 1, parts)
    policy = near_its_limit(X, m)
    decisions, since = continued(policy, rounds), policy.switched
    assert since is not None
    assert 40 < since < 80
    alone = continued(RestrictedMaster(X, constraints=m), rounds)
    check_same(decisions[:since], alone[:since])
    plain = theorem_f(X, m)
    check_same(decisions[since:], continued(plain, rounds[since:]))
    assert not np.allclose(decisions[since + 5], alone[since + 5])
    assert policy.binding() == ()


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("name", SWITCHING)
def test_simulated_games_are_the_played_ones_across_the_switch(
    name: str, each: bool, parts: int
) -> None:
    X = SWITCHING[name]()
    problem, m = hr.RecordedProblem(X, drawn(X, 120, 2, parts)), parts if each else None
    policy, told = near_its_limit(X, m), near_its_limit(X, m)
    trace, steps = hr.simulate(policy, problem), list(hr.play(told, problem))
    assert trace.compiled == (X.compiled is not None)
    assert policy.switched is not None
    assert 40 < policy.switched < 80
    np.testing.assert_array_equal(trace.costs, [step.cost for step in steps])
    np.testing.assert_array_equal(trace.violations, [step.violation for step in steps])
    if parts > 1:
        of_each = [step.each for step in steps]
        np.testing.assert_array_equal(np.transpose(trace.violations_each), of_each)  # type: ignore[arg-type]
    np.testing.assert_array_equal(policy.ask(), told.ask())
    np.testing.assert_array_equal(numbers_of(policy), numbers_of(told))
    assert policy.certificate() == told.certificate()
    summary = policy.summary()
    assert summary == told.summary()
    assert summary.rounds == len(trace.costs)
    assert summary.cost == pytest.approx(trace.cost)
    assert summary.violated == int((trace.violations > 0.0).sum())


@pytest.mark.parametrize("name", SWITCHING)
def test_it_resumes_before_at_and_after_the_switch(name: str) -> None:
    X = SWITCHING[name]()
    rounds: list[Any] = drawn(X, 120, 3)
    policy = near_its_limit(X)
    continued(policy, rounds)
    since = policy.switched
    assert since is not None
    for end in (since - 1, since, since + 10):
        policy = near_its_limit(X)
        continued(policy, rounds[:end])
        again = Fallback(RestrictedMaster(X))
        again.restore(policy.state())
        assert again.switched == policy.switched == (None if end < since else since)
        assert again.certificate() == policy.certificate()
        others = [again, copy.copy(policy), pickle.loads(pickle.dumps(policy))]
        expected = continued(policy, rounds[end:])
        for other in others:
            check_same(continued(other, rounds[end:]), expected)
            np.testing.assert_array_equal(numbers_of(other), numbers_of(policy))


def contradicting(kind: str) -> tuple[hr.DecisionSet, list[Any]]:
    """Return a game that no action satisfies."""
    rng, cost = np.random.default_rng(0), hr.Linear([0.0, 1.0, 2.0])
    latency, X = np.array([130.0, 150.0, 140.0]), S.Simplex(3)
    if kind == "in turn":
        sides = hr.Linear([1.0, 0.0], 0.9), hr.Linear([-1.0, 0.0], 0.9)
        return S.L2Ball(2), [(hr.Linear([0.0, 1.0]), sides[t % 2]) for t in range(400)]
    if kind == "in every round":
        return X, [(cost, hr.Linear(latency, -100.0))] * 100
    if kind == "later":
        before = [(cost, hr.Linear(latency - [0.0, 90.0, 0.0], -100.0))] * 30
        return X, before + [(cost, hr.Linear(latency, -100.0))] * 400
    noise = 1.0 + 0.05 * rng.standard_normal((100, 3))
    return X, [(cost, hr.Linear(row, -100.0)) for row in latency * noise]


@pytest.mark.parametrize("kind", ["in turn", "in every round", "later", "with noise"])
def test_rounds_that_contradict_are_no_reason_to_switch(kind: str) -> None:
    X, rounds = contradicting(kind)
    policy = Fallback(RestrictedMaster(X))
    decisions = continued(policy, rounds)
    assert policy.infeasible
    assert policy.switched is None
    limit = CCV * X.diameter * policy._state["gamma"] ** (1.0 / dual_of(policy))
    violated = sum(max(0.0, g(x)) for (_, g), x in zip(rounds, decisions, strict=False))
    assert violated > limit
    check_same(decisions, continued(RestrictedMaster(X), rounds))


@pytest.mark.parametrize("parts", [1, 3])
def test_no_feasible_game_is_called_infeasible(parts: int) -> None:
    """Where one action keeps all rounds with nothing to spare: it may be a vertex, or mixed."""
    asked = 0
    for seed in range(100):
        rng, X = np.random.default_rng(seed), SETS[seed % 4]()
        policy = Fallback(RestrictedMaster(X))
        best = X.lmo(np.zeros(X.dim)) if seed % 3 else X.lmo(rng.standard_normal(X.dim))
        if seed % 3 == 2:
            best = 0.5 * (best + X.lmo(rng.standard_normal(X.dim)))
        for _ in range(25):
            policy._state["ccv"][:] = 1e6  # so that it asks in every round
            policy._state["since"][:] = 0.0
            policy._take_decision()
            x = policy.ask()
            seen = []
            for _ in range(parts):
                c = x - best + rng.standard_normal(X.dim)
                seen.append(EvalGrad(float(c @ x) - float(c @ best), c))
            a = rng.standard_normal(X.dim)
            policy.tell(EvalGrad(float(a @ x), a), Parts(seen) if parts > 1 else seen[0])
            assert not policy.infeasible
            asked += policy.switched is not None
    assert asked > 2000


def test_a_constraint_that_is_constant_up_to_rounding_proves_nothing() -> None:
    """Shares add up to 1, mostly not to the last bit."""
    X, rng = S.Simplex(3), np.random.default_rng(0)
    policy, above = Fallback(RestrictedMaster(X)), EvalGrad(2.0**-52, np.ones(3))
    for t in range(200):
        cost, limit = hr.Linear(rng.standard_normal(3)), hr.Linear([1.0, 0.0, 0.0], -0.5)
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), above if t % 2 else hr.first_order(limit, x))
    assert not policy.infeasible
    assert policy.switched is None


def parts_of(policy: hr.ConstrainedPolicy[Any]) -> tuple[Any, ...]:
    """Return the surrogate of each constraint."""
    surrogates: tuple[Any, ...] = getattr(policy.surrogate, "surrogates", (policy.surrogate,))
    return surrogates


@dataclass
class TextF:
    """The policy of Theorem F: one oracle call, its schedule, its weights."""

    X: hr.DecisionSet

    def __post_init__(self) -> None:
        X = self.X
        plain = theorem_f(X)
        rule: Any = plain.learner.steps  # type: ignore[attr-defined]
        self.D, self.q = X.diameter, rule.growth.q
        self.C, self.kappa = rule.growth.constant(rule.rho), rule.growth.kappa(rule.rho)
        self.x = self.x1 = X.start()
        self.S, self.phi, self.P, self.W = np.zeros(X.dim), 0.0, 0.0, 0.0

    def tell(self, f: EvalGrad, g: EvalGrad) -> None:
        X, D, C, q = self.X, self.D, self.C, self.q
        dual, w = q / (q - 1.0), 0.0
        self.phi += X.tangent_norm(f.grad) ** dual
        if g.value > 0.0:
            kappa = C * D * X.tangent_norm(g.grad)
            m = SHARE / FIRST_CONSTANTS[q] * C * D * self.phi ** (1.0 / dual)
            w = (m + self.W) / kappa * min(g.value / kappa, 1.0 / C) ** (q - 1.0)
            self.W += w * g.value
        s = f.grad + w * g.grad
        self.P += X.tangent_norm(s) ** dual
        self.S = self.S + s
        beta = self.kappa * self.P ** (1.0 / dual) / D
        d = self.S + 2.0 * beta * (self.x - self.x1)
        v = X.lmo(d)
        gap, distance2 = float(d @ (self.x - v)), float(np.sum((v - self.x) ** 2))
        if gap > 0.0:
            self.x = self.x + min(1.0, gap / (2.0 * beta * distance2)) * (v - self.x)


@pytest.mark.parametrize(
    "X",
    [S.Simplex(6), S.L2Ball(4, radius=2.0), S.Product(S.Simplex(3), S.L2Ball(2))],
    ids=repr,
)
def test_theorem_f_is_its_text(X: hr.DecisionSet) -> None:
    policy, text, weights = theorem_f(X), TextF(X), 0
    for cost, constraint in drawn(X, 200, 4):
        x = policy.ask()
        np.testing.assert_allclose(x, text.x, rtol=0.0, atol=1e-9)
        f, g = hr.first_order(cost, x), hr.first_order(constraint, x)
        policy.tell(f, g)
        text.tell(f, g)
        (surrogate,) = parts_of(policy)
        assert surrogate.queue == pytest.approx(text.W, rel=1e-9)
        weights += surrogate.weight > 0.0
    assert weights > 10


def test_weights_stop_growing_where_no_action_satisfies_all_rounds() -> None:
    X, rounds = contradicting("in turn")
    policy, mutant, queues = theorem_f(X), theorem_f(X), []
    (surrogate,), (other,) = parts_of(policy), parts_of(mutant)
    other._state["costs"][:] = 1e300  # nothing is ever refuted
    for cost, constraint in rounds * 3:
        for player in (policy, mutant):
            x = player.ask()
            player.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
        if surrogate.refuted:
            queues.append(surrogate.queue)
    assert len(queues) > 800
    assert set(queues) == {queues[0]}
    assert policy.surrogate.largest_weight < 100.0
    assert mutant.surrogate.largest_weight > 1e8


@pytest.mark.parametrize("m", [None, 3])
@pytest.mark.parametrize(("factor", "refuted"), [(0.999, False), (1.001, True)])
def test_the_refutation_is_its_inequality(m: int | None, factor: float, refuted: bool) -> None:
    """W - m n(W/m) > (1 + lam (k - 1)/k) C D Phi + D sum ||grad f||, of k constraints."""
    X, k = S.L2Ball(4, radius=2.0), m or 1
    policy, text = theorem_f(X, m), TextF(X)
    parts = parts_of(policy)
    D, C, q, size = text.D, text.C, text.q, 3.0
    dual = q / (q - 1.0)
    unit = SHARE / k / FIRST_CONSTANTS[q] * C * D * size
    most = factor * ((1.0 + SHARE * (k - 1) / k) * C * D * size + D * size)
    low, high = 0.0, 1e6
    for _ in range(80):
        W = 0.5 * (low + high)
        n = (((1.0 + W / unit) ** dual - 1.0) / dual) ** (1.0 / dual)
        low, high = (W, high) if W - unit * n < most else (low, W)
    parts[0]._state["violation"][:] = low
    c = np.eye(4)
    seen = [EvalGrad(1e-9, row) for row in c[:k]]  # it adds next to nothing to W
    policy.tell(EvalGrad(0.0, size * c[3]), seen if m else seen[0])
    assert parts[0].refuted == refuted
    assert not any(part.refuted for part in parts[1:])


@pytest.mark.parametrize("m", [None, 2])
def test_no_feasible_game_is_refuted(m: int | None) -> None:
    """Costs that want to leave x*, and constraints that want to go there."""
    weights = 0
    for seed in range(100):
        rng, X = np.random.default_rng(seed), SETS[seed % 4]()
        policy, size = theorem_f(X, m), 10.0 ** rng.uniform(-3.0, 3.0)
        best = np.mean([X.lmo(rng.standard_normal(X.dim)) for _ in range(1 + seed % 2)], axis=0)
        for _ in range(60):
            x = policy.ask()
            a, *cs = 0.1 * rng.standard_normal((1 + (m or 1), X.dim)) + (x - best)
            seen = [EvalGrad(float(c @ (x - best)), c) for c in cs]
            policy.tell(EvalGrad(0.0, -size * a), seen if m else seen[0])
        parts = parts_of(policy)
        assert not any(part.refuted for part in parts)
        weights += policy.surrogate.largest_weight > 0.0
    assert weights > 90


@pytest.mark.parametrize("delay", [1, 6])
def test_late_feedback_may_be_about_a_decision_before_the_switch(delay: int) -> None:
    X = S.Simplex(5)
    game: list[Any] = drawn(X, 120, 5)
    policy, due, told = near_its_limit(X), [], []
    for cost, constraint in game:
        x = policy.ask()
        assert X.contains(x)
        due.append((cost, constraint, x))
        if len(due) > delay:
            cost, constraint, at = due.pop(0)
            policy.tell(hr.first_order(cost, at), hr.first_order(constraint, at), at=at)
            told.append((cost, at))
    assert policy.switched is not None
    assert policy.switched < len(told) - 10
    best = hr.hindsight(hr.RecordedProblem(X, game[: len(told)])).x
    regret = sum(cost(at) - cost(best) for cost, at in told)
    assert regret <= policy.certificate() < policy.certificate().most
