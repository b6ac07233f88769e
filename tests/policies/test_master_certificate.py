"""The restricted master's certificate: against every action, in drawn games, and mutants of it."""

from __future__ import annotations

import copy
import functools
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.feedback import EvalGrad, Parts
from hedgerow.inputs import Vector
from hedgerow.policies.certificate import Certificate
from hedgerow.policies.master import RestrictedMaster

S = hr.sets
GAMES = 1000
ROUNDING = 1e-12
"""What sums may be off by, in units of D sum ||grad f_t||."""


@dataclass(frozen=True)
class Functions:
    """Convex functions of T rounds with m parts, <x, A x>/2 + <c, x> + b each."""

    A: Vector
    c: Vector
    b: Vector

    def __call__(self, points: Vector) -> Vector:
        """Return the values of all parts, for each point and each round."""
        curved = np.einsum("pi,tmij,pj->ptm", points, self.A, points, optimize=True)
        values: Vector = 0.5 * curved + np.einsum("tmi,pi->ptm", self.c, points) + self.b
        return values

    def seen(self, t: int, x: Vector) -> list[EvalGrad]:
        """Return value and gradient of each part of round t."""
        slopes = self.A[t] @ x
        values = (0.5 * slopes + self.c[t]) @ x + self.b[t]
        return [
            EvalGrad(v, grad) for v, grad in zip(values.tolist(), slopes + self.c[t], strict=True)
        ]


@dataclass(frozen=True)
class Played:
    """A game that was played: its certificate, and regret and violation of drawn actions."""

    certificate: Certificate
    mutants: dict[str, Certificate]
    worst: float
    """D sum ||grad f_t||."""
    regrets: Vector
    """Against each action, of the costs' tangents."""
    curved: Vector
    """The same of the costs themselves."""
    violations: Vector
    """The total violation of each action."""
    charged: bool
    """Whether a constraint has a part in the certificate."""

    @property
    def slack(self) -> Vector:
        """Return by how much the certificate is above each regret, in units of `worst`."""
        return self.slack_of(self.certificate)

    def slack_of(self, certificate: Certificate) -> Vector:
        """Return the same of another certificate."""
        bound = float(certificate) + certificate.price * self.violations
        return (bound - self.regrets) / self.worst


def drawn_set(rng: np.random.Generator) -> hr.DecisionSet:
    n = int(rng.integers(2, 7))
    sets: list[hr.DecisionSet] = [
        S.Simplex(n),
        S.Box(-rng.uniform(0.0, 1.0, n), rng.uniform(0.1, 2.0, n)),
        S.L2Ball(n, radius=float(rng.uniform(0.5, 3.0))),
        S.L1Ball(n),
        S.Product(S.Simplex(n), S.Simplex(int(rng.integers(2, 5)))),
    ]
    return sets[int(rng.integers(len(sets)))]


def drawn_points(X: hr.DecisionSet, rng: np.random.Generator, count: int) -> Vector:
    """Return mixtures of up to three answers of the oracle."""
    points = []
    for _ in range(count):
        shares = rng.dirichlet(np.ones(int(rng.integers(1, 4))))
        points.append(shares @ np.array([X.lmo(rng.standard_normal(X.dim)) for _ in shares]))
    return np.array(points)


def drawn_functions(
    rng: np.random.Generator, shape: tuple[int, int], push: Vector, sizes: Vector, curved: float
) -> Functions:
    """Return functions of these sizes, `curved` of them quadratic."""
    n = len(push)
    c = push + rng.standard_normal((*shape, n))
    roots = rng.standard_normal((*shape, n, n))
    roots[rng.random(size=shape) >= curved] = 0.0
    A = np.einsum("tmij,tmkj->tmik", roots, roots) / n
    return Functions(sizes[..., None, None] * A, sizes[..., None] * c, np.zeros(shape))


def sizes_of(rng: np.random.Generator, shape: tuple[int, int]) -> Vector:
    """Return sizes between 1e-3 and 1e3: one for all rounds, or one for each."""
    of_each = rng.random() < 0.3
    sizes: Vector = 10.0 ** (rng.uniform(-3.0, 3.0, shape) if of_each else rng.uniform(-3.0, 3.0))
    return np.broadcast_to(sizes, shape)


def kept_along(constraints: Functions, kept: Vector, to: Vector) -> Vector:
    """Return the last point on the way from one that satisfies all rounds that does so, too."""
    shares = np.linspace(0.0, 1.0, 65)[:, None]
    points = kept + shares * (to - kept)
    worst: Vector = constraints(points).max(axis=(1, 2))
    last: Vector = points[int(np.flatnonzero(worst <= 0.0)[-1]) if worst[0] <= 0.0 else 0]
    return last


def play(seed: int, parts: int) -> Played:
    """Play a drawn game and return what became of it."""
    rng = np.random.default_rng(seed)
    X, T, m = drawn_set(rng), int(rng.integers(10, 61)), int(rng.integers(1, parts + 1))
    push = rng.choice([0.0, 2.0]) * rng.standard_normal(X.dim)
    curved, infeasible = rng.choice([0.0, 0.5, 1.0]), rng.random() < 0.3
    costs = drawn_functions(rng, (T, 1), push, sizes_of(rng, (T, 1)), curved)
    sizes = sizes_of(rng, (T, m))
    constraints = drawn_functions(rng, (T, m), -push, sizes, curved)
    kept = drawn_points(X, rng, 1)[0]
    slack = sizes * rng.uniform(-0.3 if infeasible else 0.0, 0.3, (T, m))
    constraints.b[:] = -constraints(kept[None])[0] - slack
    delay, reacts = int(rng.integers(0, 6)), rng.random() < 0.3
    policy = RestrictedMaster(X, float(10.0 ** rng.uniform(-1.5, 1.5)))
    due, told, rounds, steepness = deque[Any](), [], [], 0.0
    for t in range(T):
        x = policy.ask()
        if reacts:  # what is dear and what is violated is where it plays
            costs.c[t] += 2.0 * np.linalg.norm(costs.c[t]) * (x - kept)
        due.append((t, x))
        if len(due) > delay:
            s, at = due.popleft()
            (f,), g = costs.seen(s, at), constraints.seen(s, at)
            policy.tell(f, Parts(g) if m > 1 else g[0], at=at if delay else None)
            told.append((f, at))
            rounds.append(s)
            steepness += X.tangent_norm(f.grad)
    grads, points = np.array([f.grad for f, _ in told]), np.array([at for _, at in told])
    costs = Functions(costs.A[rounds], costs.c[rounds], costs.b[rounds])
    constraints = Functions(constraints.A[rounds], constraints.c[rounds], constraints.b[rounds])
    total, pull = grads.sum(axis=0), policy._state["pull"]
    best = [X.lmo(total), X.lmo(total + pull), X.lmo(pull)]
    some = [kept, *best, *drawn_points(X, rng, 8), *(X.lmo(c) for c in grads[:4])]
    actions = np.array(some + [kept_along(constraints, kept, u) for u in some[1:7]])
    paid = sum(f.value for f, _ in told)
    violations = np.maximum(0.0, constraints(actions)).max(axis=2).sum(axis=1)
    certificate, mutants = policy.certificate(), {}
    for name, (part, factor) in {
        "without the charge": ("charge", 0.0),
        "half of the pull": ("pull", 0.5),
        "a tenth of the price": ("largest_price", 0.1),
    }.items():
        mutant = copy.copy(policy)
        mutant._state[part][:] *= factor
        mutants[name] = mutant.certificate()
    return Played(
        certificate,
        mutants,
        X.diameter * steepness,
        np.sum(grads * points) - actions @ total,
        paid - costs(actions)[..., 0].sum(axis=1),
        violations,
        bool(pull.any()),
    )


@functools.cache
def games(parts: int) -> list[Played]:
    """Play drawn games with up to this many parts."""
    return [play(seed, parts) for seed in range(GAMES if parts == 1 else GAMES // 4)]


@pytest.mark.parametrize("parts", [1, 4])
def test_no_certificate_is_below_a_regret(parts: int) -> None:
    """Of the costs or of their tangents, against actions that satisfy all rounds or do not."""
    checks = kept = near = 0
    for game in games(parts):
        certificate, bound = game.certificate, float(game.certificate) + ROUNDING * game.worst
        assert (game.curved <= game.regrets + ROUNDING * game.worst).all()
        assert (game.slack >= -ROUNDING).all()
        feasible = game.violations == 0.0
        assert (game.regrets[feasible] <= bound).all()
        budget = float(game.violations.max())
        assert (game.regrets <= bound + certificate.price * budget).all()
        checks, kept = checks + feasible.size, kept + int(feasible.sum())
        near += game.charged and bool((game.slack[feasible] < 0.1).any())
    assert checks >= 20 * len(games(parts))
    assert kept > 0.25 * checks
    assert near > 0.25 * len(games(parts)), "a bound that is far above every regret is no test"


def test_it_says_how_much_every_action_violates() -> None:
    """Where it is below the least regret that there can be, no action satisfies all rounds."""
    proved = 0
    for game in games(1):
        least = game.certificate.least_violation
        assert (game.violations >= least * (1.0 - 1e-9)).all()
        assert (game.regrets <= game.certificate.most * (1.0 + 1e-9)).all()
        proved += least > 0.0
        if least > 0.0:
            assert game.certificate.no_comparator
    assert proved > 0


@pytest.mark.parametrize(
    ("mutant", "games_refuting"),
    [("without the charge", 50), ("half of the pull", 100), ("a tenth of the price", 10)],
)
def test_mutants_are_refuted(mutant: str, games_refuting: int) -> None:
    refuted = [(game.slack_of(game.mutants[mutant]) < -1e-6).any() for game in games(1)]
    assert sum(refuted) >= games_refuting


def test_an_action_that_violates_a_maximum_gains_by_all_its_parts() -> None:
    """On [0, 1]^2, at most 0.3 in each coordinate in the first round, then 0.5."""
    X, u = S.Box([0.0, 0.0], [1.0, 1.0]), np.array([0.5, 0.5])
    cost, policy, regret = hr.Linear([-1.0, -1.0]), RestrictedMaster(X), 0.0
    for t in range(60):
        limit = 0.5 if t else 0.3
        constraint = hr.Maximum([hr.Linear(row, -limit) for row in np.eye(2)])
        x = policy.ask()
        regret += cost(x) - cost(u)
        policy.tell(hr.first_order(cost, x), hr.feedback.first_order_each(constraint, x))
    violation = 0.2  # of u, in the first round
    assert regret > policy.certificate()
    assert regret <= policy.certificate(violation)


def test_a_budget_counts_by_the_price() -> None:
    policy = RestrictedMaster(S.Simplex(3))
    hr.simulate(policy, hr.problems.IidSimplex(n=3, horizon=60, seed=0))
    proved = policy.certificate()
    assert proved.price > 0.0
    assert policy.certificate(2.0) == pytest.approx(float(proved) + 2.0 * proved.price)
    gains = f"an action that violates it gains at most {proved.price:.4g} per unit"
    assert proved.comparator.endswith(gains)
