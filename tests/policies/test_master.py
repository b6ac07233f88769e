"""The restricted master: against its text, by property, and in games made by hand."""

from __future__ import annotations

import copy
import math
import pickle
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import daqp
import numpy as np
import pytest

import hedgerow as hr
from hedgerow.feedback import EvalGrad, Parts
from hedgerow.inputs import Vector
from hedgerow.kernels.columns import SAME
from hedgerow.kernels.rows import ALIKE, UNLIKE
from hedgerow.policies.master import ALL, CHANGES, COLUMNS, PRESENT, ROWS, RestrictedMaster
from hedgerow.policies.master_round import MARGIN, STIFFNESS

S = hr.sets
LARGE = ALL + 6
"""Coordinates of a set of which not all vertices can be remembered, and columns are independent."""
Constraint = tuple[Vector, float]
Round = tuple[Vector, list[Constraint]]


def nearest(H: Vector, h: Vector, equal: Vector, G: Vector, b: Vector) -> Vector:
    """Return the minimiser of <y, H y>/2 + <h, y> with `equal` y = 1 and G y <= b."""
    m = len(equal)
    y, _, exitflag, _ = daqp.solve(
        H,
        h,
        np.vstack([equal, G]),
        np.concatenate([np.ones(m), b]),
        np.concatenate([np.ones(m), np.full(len(b), -1e30)]),
        np.repeat(np.array([5, 0], np.int32), [m, len(b)]),
        primal_tol=1e-13,
        dual_tol=1e-13,
        eps_prox=1e-3,  # columns may depend on each other
        eta_prox=1e-14,
    )
    assert exitflag == 1
    return np.asarray(y)


@dataclass
class Row:
    """<c, x> + b, of a part of the constraint of a round."""

    c: Vector
    b: float
    part: int
    violated: bool
    weight: float = 1.0
    alike: float = 1.0

    def __call__(self, x: Vector) -> float:
        return float(self.c @ x) + self.b


@dataclass
class Text:
    """The restricted master as its docstrings have it; a mutant leaves something out."""

    X: hr.DecisionSet
    eagerness: float = 1.0
    margin: float = MARGIN
    alike: float = ALIKE
    twice: bool = True
    own_units: bool = True
    parts: bool = True
    own_sizes: bool = True
    each: bool = False
    shifted: bool = True

    def __post_init__(self) -> None:
        X = self.X
        factors = X.factors if isinstance(X, S.Product) else (X,)
        ends = np.cumsum([0] + [factor.dim for factor in factors]).tolist()
        self.where = [slice(begin, end) for begin, end in pairwise(ends)]
        self.capacity = [n + 2 if n + 2 <= ALL else COLUMNS for n in (F.dim for F in factors)]
        self.same = [SAME * factor.diameter**2 for factor in factors]
        self.D, self.x1 = X.diameter, X.start()
        self.x, self.far, self.F2, self.t = self.x1, 0.1 * X.diameter, 0.0, 0
        self.columns = [[self.x1[own]] for own in self.where]
        self.shares = [np.ones(1) for _ in self.where]
        self.memory: list[Row] = []
        self.present: list[Row] = []
        self.infeasible = False
        self.changes: dict[int, list[float]] = {}
        self.done = dict.fromkeys(("dropped", "merged", "unlike", "slackest", "parts"), 0)

    def over(self, c: Vector) -> Vector:
        """Return <c, u> for every choice u of a column in each factor."""
        total = np.zeros(1)
        for columns, own in zip(self.columns, self.where, strict=True):
            total = np.add.outer(total, np.array(columns) @ c[own]).ravel()
        return total

    def difference(self, row: Row, other: Row) -> float:
        """Return the mean square of the difference of two rows over the columns."""
        return float(np.mean((self.over(row.c - other.c) + row.b - other.b) ** 2))

    def least(self, row: Row) -> float:
        """Return the least value of a row over the columns, at least 0."""
        return max(0.0, float(self.over(row.c).min()) + row.b) if self.shifted else 0.0

    def unit(self, c: Vector) -> float:
        """Return by how much a row varies over the columns, in D; its norm if it does not."""
        values = self.over(c)
        width = float(values.max() - values.min())
        return width / self.D if width > 0.0 and self.own_units else float(np.linalg.norm(c))

    def tell(
        self,
        f: Vector,
        constraints: list[tuple[float, Vector]],
        at: Vector,
        policy: RestrictedMaster | None = None,
    ) -> None:
        """Take in a round that was seen at this point, and move; with the columns of a policy."""
        X, self.t = self.X, self.t + 1
        a = X.tangent(f)
        self.far = max(self.far, float(np.linalg.norm(self.x - self.x1)))
        values, size = self.over(a), float(np.linalg.norm(a))
        width = float(values.max() - values.min()) / self.D
        self.F2 += size * (width if width > 0.0 and self.own_sizes else size)
        eta = self.far / (self.eagerness * math.sqrt(self.F2))
        seen = [(value, X.tangent(c)) for value, c in constraints]
        rows = [Row(c, value - float(c @ at), k, value > 0.0) for k, (value, c) in enumerate(seen)]
        for row in rows:
            if len(rows) == 1 or any(old.part == row.part for old in self.memory + self.present):
                self.compare(row)
        for row in self.present:
            if row.violated and self.least(row) == 0.0:
                self.remember(row)
        sizes = [float(np.linalg.norm(c)) if self.each else 1.0 for _, c in seen]
        top = max(range(len(seen)), key=lambda k: seen[k][0] / sizes[k])
        self.present, self.before, self.target = [rows[top]], self.x, self.x - eta * a
        self.move(rows)
        d = self.x - self.target + sum(force * row.c for force, row in self.forces)
        v = X.lmo(d)
        if policy is not None:
            self.take_over(policy, v, d)
            self.move(rows, known=True)
        elif (self.admit(v, d) or self.infeasible) and self.twice:
            self.move(rows, known=True)

    def compare(self, new: Row) -> None:
        """Weigh the rows of a part by how much they resemble the present one."""
        changes = self.changes.setdefault(new.part if self.each else 0, [])
        if last := [row for row in self.present if row.part == new.part]:
            change = self.difference(new, last[0])
            changes += [change] if change > 0.0 else []
        ordered = sorted(changes[-CHANGES:])
        usual = self.alike * ordered[len(ordered) // 2] if ordered else 0.0
        for row in self.memory + self.present:
            if row.part == new.part:
                far2 = self.difference(new, row)
                weight = 1.0 if far2 <= usual else (usual / far2) ** 2
                before, row.alike = row.alike, weight if weight >= UNLIKE else 0.0
                row.weight = max(row.alike, before) if self.least(new) > 0.0 else row.alike

    def remember(self, row: Row) -> None:
        """Keep a row in an empty place, in that of the unlikest or in that of the slackest."""
        if len(self.memory) < ROWS:
            self.memory.append(row)
            return
        slack = [old(self.x) / float(np.linalg.norm(old.c)) for old in self.memory]
        weights = [old.weight for old in self.memory]
        unlike = min(weights) < UNLIKE
        self.done["unlike" if unlike else "slackest"] += 1
        self.memory[int(np.argmin(weights if unlike else slack))] = row

    def move(self, rows: list[Row], known: bool = False) -> None:
        """Solve the programme; add the part that its solution violates most, and so on."""
        self.solve(known)
        while len(rows) > 1 and self.parts and len(self.present) < PRESENT:
            taken = {row.part for row in self.present}
            excess = [
                -math.inf if row.part in taken else row(self.x) / float(np.linalg.norm(row.c))
                for row in rows
            ]
            worst = int(np.argmax(excess))
            if not excess[worst] > 0.0:
                break
            rows[worst].weight = 1.0
            self.present.append(rows[worst])
            self.done["parts"] += 1
            self.solve(known)

    def solve(self, known: bool) -> None:
        """Project the step, softly, onto what is remembered."""
        sizes = [len(columns) for columns in self.columns]
        K, ends = sum(sizes), np.cumsum([0, *sizes]).tolist()
        V, equal = np.zeros((K, self.X.dim)), np.zeros((len(sizes), K))
        for b, (columns, own) in enumerate(zip(self.columns, self.where, strict=True)):
            V[ends[b] : ends[b + 1], own] = np.array(columns) - self.before[own]
            equal[b, ends[b] : ends[b + 1]] = 1.0
        rows = [row for row in self.memory + self.present if row.weight > 0.0]
        units = [self.unit(row.c) for row in rows]
        slack = self.margin * self.D / math.sqrt(self.t)
        rho = np.array([STIFFNESS * row.weight for row in rows])
        A = np.array([V @ row.c / unit for row, unit in zip(rows, units, strict=True)])
        least = [self.least(row) for row in rows]
        self.infeasible = any(value > 0.0 for value in least)
        gone = least if known else [0.0] * len(rows)
        each = list(zip(rows, units, gone, strict=True))
        level = np.array([(row(self.before) - low) / u + slack for row, u, low in each])
        m = len(rows)  # shares and residuals: both at least 0, <A, shares> + level <= residual
        H = np.zeros((K + m, K + m))
        H[:K, :K] = V @ V.T + self.D**2 * equal.T @ equal  # the same on all shares
        H[K:, K:] = np.diag(rho)
        h = np.concatenate([V @ (self.before - self.target), np.zeros(m)])
        G = np.vstack([-np.eye(K + m), np.hstack([A.reshape(m, K), -np.eye(m)])])
        most = np.concatenate([np.zeros(K + m), -level])
        y = nearest(H, h, np.hstack([equal, np.zeros((len(sizes), m))]), G, most)
        y = np.where(y > 1e-11, y, 0.0)
        self.shares = [y[i:j] / y[i:j].sum() for i, j in pairwise(ends)]
        self.mix()
        residuals = [max(0.0, (row(self.x) - low) / u + slack) for row, u, low in each]
        forces = [s * r / u for s, r, u in zip(rho, residuals, units, strict=True)]
        self.forces = list(zip(forces, rows, strict=True))

    def mix(self) -> None:
        """Mix the columns."""
        mixed = zip(self.shares, self.columns, strict=True)
        self.x = np.concatenate([share @ np.array(columns) for share, columns in mixed])

    def admit(self, v: Vector, d: Vector) -> bool:
        """Remember the oracle's answer; False if it is known."""
        new = False
        for b, own in enumerate(self.where):
            columns, share, u = self.columns[b], self.shares[b], v[own]
            if min(np.sum((u - column) ** 2) for column in columns) <= self.same[b]:
                continue
            new = True
            if len(columns) < self.capacity[b]:
                columns.append(u)
                self.shares[b] = np.append(share, 0.0)
            elif (share == 0.0).any():
                slopes = np.where(share == 0.0, np.array(columns) @ d[own], -math.inf)
                columns[int(np.argmax(slopes))] = u
                self.done["dropped"] += 1
            else:
                i, j = np.argsort(share, kind="stable")[:2].tolist()
                total = share[i] + share[j]
                columns[j] = (share[i] * columns[i] + share[j] * columns[j]) / total
                share[i], share[j], columns[i] = 0.0, total, u
                self.done["merged"] += 1
        return new

    def take_over(self, policy: RestrictedMaster, v: Vector, d: Vector) -> None:
        """Take over the columns that a policy has after the round, with one as good as v."""
        hull, state = policy._hull, policy._state
        for b, own in enumerate(self.where):
            used, size = int(state["used"][b]), own.stop - own.start
            entries = state["entries"][int(hull.at[b]) :][: used * size].reshape(used, size)
            self.columns[b] = list(entries + hull.origin[own])
            assert min(d[own] @ (column - v[own]) for column in self.columns[b]) <= 1e-9 * self.D**2


def drawn(
    X: hr.DecisionSet,
    T: int,
    seed: int,
    parts: int = 1,
    regimes: int = 1,
    slack: float = 0.0,
    noise: float = 0.5,
    uneven: float = 1.0,
) -> Iterator[Round]:
    """Costs and constraints that pull apart; the constraints turn round in every other regime."""
    rng = np.random.default_rng(seed)
    push = rng.standard_normal(X.dim)
    kept = 0.3 * X.lmo(push) + 0.7 * X.lmo(-push)
    for t in range(T):
        turned = -0.5 if t * regimes // T % 2 else 1.0
        a = push + 0.5 * rng.standard_normal(X.dim)
        seen = []
        for part in range(parts):
            c = -turned * push + noise * rng.standard_normal(X.dim)
            size, b = uneven**part, -float(c @ kept) - rng.uniform(-0.1, 0.1) - slack
            seen.append((size * c, size * b))
        yield a, seen


@dataclass
class Game:
    """A set, and rounds on it."""

    X: Callable[[], hr.DecisionSet]
    parts: int = 1
    regimes: int = 1
    slack: float = 0.0
    noise: float = 0.5
    uneven: float = 1.0
    T: int = 100
    seed: int = 1
    delay: int = 0
    eagerness: float = 1.0
    constraints: int | None = None
    follows: bool = False
    """Whether the columns are taken over: shares are not unique, and decide which ones are kept."""
    shows: tuple[str, ...] = ()
    """What the game must make it do."""

    def rounds(self) -> Iterator[Round]:
        own = self.parts, self.regimes, self.slack, self.noise, self.uneven
        return drawn(self.X(), self.T, self.seed, *own)


GAMES = {
    "simplex": Game(lambda: S.Simplex(12)),
    "simplex, eager": Game(lambda: S.Simplex(12), eagerness=4.0),
    "simplex, parts": Game(lambda: S.Simplex(12), parts=4, shows=("parts",)),
    "simplex, regimes": Game(lambda: S.Simplex(12), regimes=4, noise=0.2),
    "simplex, each": Game(lambda: S.Simplex(12), parts=4, uneven=10.0, constraints=4),
    "simplex, full": Game(lambda: S.Simplex(12), slack=-0.8, T=400, shows=("slackest",)),
    "simplex, full, regimes": Game(
        lambda: S.Simplex(12), slack=-0.8, regimes=5, noise=0.2, T=400, shows=("unlike",)
    ),
    "simplex, infeasible": Game(lambda: S.Simplex(6), slack=-1.5, noise=1.0),
    "simplex, late": Game(lambda: S.Simplex(12), delay=3),
    "large simplex": Game(lambda: S.Simplex(LARGE), shows=("dropped",)),
    "product": Game(lambda: S.Product(S.Simplex(5), S.Simplex(7, total=2.0))),
    "product, parts": Game(lambda: S.Product(S.Simplex(5), S.Simplex(7)), parts=4),
    "ball": Game(lambda: S.L2Ball(LARGE), shows=("dropped", "merged")),
    "ball, parts": Game(lambda: S.L2Ball(LARGE), parts=4, shows=("parts", "dropped", "merged")),
    "small ball": Game(lambda: S.L2Ball(4, radius=2.0), follows=True),
    "small ball, parts": Game(lambda: S.L2Ball(4), parts=4, follows=True, shows=("parts",)),
    "box": Game(lambda: S.Box(-np.arange(1.0, 7.0), np.ones(6)), follows=True),
    "ball and simplex": Game(lambda: S.Product(S.L2Ball(3), S.Simplex(4)), parts=2, follows=True),
}


def seen_at(x: Vector, a: Vector, constraints: list[Constraint]) -> tuple[EvalGrad, Any]:
    """Return the feedback of a linear round."""
    parts = Parts(EvalGrad(float(c @ x) + b, c) for c, b in constraints)
    return EvalGrad(float(a @ x), a), parts if len(parts) > 1 else parts[0]


def apart(game: Game, text: Text) -> float:
    """Play a game; return the largest distance of decisions to the text's, in diameters."""
    policy = RestrictedMaster(text.X, game.eagerness, game.constraints)
    due, most = deque[Any](), 0.0
    for a, constraints in game.rounds():
        x = policy.ask()
        due.append((x, a, constraints))
        if len(due) > game.delay:
            at, a, constraints = due.popleft()
            policy.tell(*seen_at(at, a, constraints), at=at if game.delay else None)
            seen = [(float(c @ at) + b, c) for c, b in constraints]
            text.tell(a, seen, at, policy if game.follows else None)
            most = max(most, float(np.linalg.norm(policy.ask() - text.x)) / text.D)
    return most


@pytest.mark.parametrize("name", GAMES)
def test_it_plays_its_text(name: str) -> None:
    game = GAMES[name]
    text = Text(game.X(), game.eagerness, each=game.constraints is not None)
    assert apart(game, text) < 1e-8
    assert all(text.done[what] > 0 for what in game.shows)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("simplex", {"margin": 0.0}),
        ("simplex, regimes", {"alike": math.inf}),
        ("simplex, each", {"each": False}),
        ("ball", {"twice": False}),
        ("ball", {"own_units": False}),
        ("ball", {"own_sizes": False}),
        ("simplex, parts", {"parts": False}),
        ("ball, parts", {"parts": False}),
        ("simplex, late", {"eagerness": 1.1}),
        ("simplex, infeasible", {"shifted": False}),
    ],
)
def test_a_text_with_one_thing_changed_plays_otherwise(name: str, change: dict[str, Any]) -> None:
    game = GAMES[name]
    text = Text(game.X(), **{"each": game.constraints is not None} | change)
    far = apart(game, text)
    assert far > 1e-3


VERTICES = np.random.default_rng(0).standard_normal((9, 4))


def best_vertex(c: Vector) -> Vector:
    """An oracle in Python alone."""
    return np.asarray(VERTICES[int(np.argmin(VERTICES @ c))])


SETS: dict[str, Callable[[], hr.DecisionSet]] = {
    "simplex": lambda: S.Simplex(20),
    "ball": lambda: S.L2Ball(5, radius=2.0),
    "paths": lambda: hr.ShortestPath.random_network(15, 40, 8, seed=3).decision_set,
    "simplices": lambda: S.Product(S.Simplex(4), S.Simplex(6, total=2.0)),
    "simplex and ball": lambda: S.Product(S.Simplex(4), S.L2Ball(3)),
    "oracle in Python": lambda: S.OracleSet(best_vertex, 4),
}


def continued(policy: RestrictedMaster, rounds: list[Round]) -> list[Vector]:
    """Play on; return the decisions, and the state at the end."""
    decisions = []
    for a, constraints in rounds:
        decisions.append(policy.ask())
        policy.tell(*seen_at(decisions[-1], a, constraints))
    return [*decisions, policy.state()["array"]]


def check_same(found: list[Vector], expected: list[Vector]) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", SETS)
def test_a_saved_policy_goes_on_bit_for_bit(name: str, parts: int) -> None:
    X, constraints = SETS[name](), None if parts == 1 else parts
    rounds = list(drawn(X, 70, 2, parts, regimes=2, slack=-0.2))
    policy = RestrictedMaster(X, 0.5, constraints)
    for begin, end in ((0, 0), (0, 9), (9, 40)):  # before its memory is full, and afterwards
        continued(policy, rounds[begin:end])
        saved = policy.state()
        again = RestrictedMaster(X, 0.5, constraints)
        again.restore(saved)
        assert again.binding() == policy.binding()
        assert again.certificate() == policy.certificate()
        copies = [copy.copy(policy), copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))]
        used = RestrictedMaster(X, 0.5, constraints)
        continued(used, rounds[::-1])
        used.restore(saved)
        expected = continued(copies.pop(), rounds[end:])
        assert not np.array_equal(expected[0], expected[-2])
        for other in (again, used, *copies):
            check_same(continued(other, rounds[end:]), expected)
        np.testing.assert_array_equal(policy.state()["array"], saved["array"])


def convex(X: hr.DecisionSet, seed: int, parts: int, most: int) -> hr.RecordedProblem:
    """Rounds of curved functions, each with between `parts` and `most` parts."""
    rng, game = np.random.default_rng(seed), []
    for a, constraints in drawn(X, 80, seed, most, regimes=2, slack=-0.2):
        count = int(rng.integers(parts, most + 1))
        curved = rng.uniform(0.0, 1.0, X.dim)
        seen = [
            hr.Quadratic(curved, c, b) if k % 2 else hr.Linear(c, b)
            for k, (c, b) in enumerate(constraints)
        ]
        constraint = hr.Maximum(seen[:count]) if count > 1 else seen[0]
        game.append((hr.Quadratic(0.1 * curved, a), constraint))
    return hr.RecordedProblem(X, game)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    ("constraints", "parts", "most"), [(None, 1, 1), (None, 1, 4), (3, 3, 3), (1, 1, 1)]
)
def test_simulated_games_are_the_played_ones(
    name: str, constraints: int | None, parts: int, most: int
) -> None:
    X = SETS[name]()
    linear = hr.RecordedProblem(
        X, [(hr.Linear(a), hr.Linear(*seen[0])) for a, seen in drawn(X, 80, 4, slack=-0.2)]
    )
    for problem in (linear,) * (most == 1) + (convex(X, 5, parts, most),):
        policy, told = (RestrictedMaster(X, constraints=constraints) for _ in range(2))
        trace, steps = hr.simulate(policy, problem), list(hr.play(told, problem))
        assert trace.compiled == (X.compiled is not None)
        np.testing.assert_array_equal(trace.costs, [step.cost for step in steps])
        np.testing.assert_array_equal(trace.violations, [step.violation for step in steps])
        np.testing.assert_array_equal(policy.state()["array"], told.state()["array"])
        if trace.violations_each is not None:
            np.testing.assert_array_equal(trace.violations_each.T, [step.each for step in steps])
        assert (trace.violations > 0.0).any()
        assert policy.summary() == told.summary()


def plays(
    X: hr.DecisionSet, rounds: list[Round], offset: float = 0.0, f: float = 1.0, g: float = 1.0
) -> Vector:
    """Return the decisions where costs are raised, and costs and constraints multiplied."""
    policy, decisions = RestrictedMaster(X), []
    for a, constraints in rounds:
        decisions.append(policy.ask())
        seen = [(g * c, g * b) for c, b in constraints]
        policy.tell(*seen_at(decisions[-1], f * (a + offset), seen))
    return np.array(decisions)


@pytest.mark.parametrize("offset", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("n", [6, 40])
def test_a_constant_added_to_costs_on_a_simplex_changes_nothing(n: int, offset: float) -> None:
    X = S.Simplex(n)
    rounds = list(drawn(X, 150, 7, regimes=2))
    np.testing.assert_allclose(plays(X, rounds, offset), plays(X, rounds), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(("i", "j"), [(1, 0), (0, 1), (-40, 0), (0, -55), (60, -30)])
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", SETS)
def test_units_that_are_powers_of_two_change_no_bit(name: str, parts: int, i: int, j: int) -> None:
    X = SETS[name]()
    rounds = list(drawn(X, 60, 8, parts, regimes=2))
    expected = plays(X, rounds)
    np.testing.assert_array_equal(plays(X, rounds, f=2.0**i, g=2.0**j), expected)


def moved(X: hr.DecisionSet, rounds: list[Round], shift: float) -> Vector:
    """Return the decisions, moved back, of the same game on a set that was moved."""
    there = S.Translated(X, np.full(X.dim, shift))
    seen = [(a, [(c, b - shift * float(c.sum())) for c, b in parts]) for a, parts in rounds]
    return plays(there, seen) - shift


@pytest.mark.parametrize("shift", [1.0, 1e3, 1e6])
@pytest.mark.parametrize(
    "X", [S.Simplex(6), S.Simplex(LARGE), S.Box(np.zeros(LARGE), np.ones(LARGE))], ids=repr
)
def test_moving_a_set_moves_the_decisions(X: hr.DecisionSet, shift: float) -> None:
    """Up to rounding, where no answers of the oracle tie up to rounding."""
    rounds = list(drawn(X, 100, 9))
    expected = plays(X, rounds)
    np.testing.assert_allclose(moved(X, rounds, shift), expected, rtol=0.0, atol=1e-12 * shift)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", ["simplex", "ball", "simplices"])
def test_feedback_of_any_size_is_taken_in_or_refused(name: str, parts: int) -> None:
    """Costs and constraints of sizes between 1e-300 and 1e105, and then an ordinary round."""
    X, taken, refused = SETS[name](), 0, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        policy = RestrictedMaster(X)
        for _ in range(12):
            f, *g = 10.0 ** rng.uniform(-300.0, 105.0, 1 + parts)
            x = policy.ask()
            a, *cs = (c / np.linalg.norm(c) for c in rng.standard_normal((1 + parts, X.dim)))
            seen = [(s * c, s * rng.uniform(-0.5, 0.5)) for s, c in zip(g, cs, strict=True)]
            cost, constraint = seen_at(x, f * a, seen)
            reported = cost, *(constraint if parts > 1 else [constraint])
            if max(max(abs(one.value), np.linalg.norm(one.grad)) for one in reported) > 1e100:
                refused += 1
                with pytest.raises(ValueError, match="above 1e\\+100; measure the function"):
                    policy.tell(cost, constraint)
                np.testing.assert_array_equal(policy.ask(), x)
            else:
                taken += 1
                policy.tell(cost, constraint)
            assert np.isfinite(policy.state()["array"]).all()
            assert np.isfinite(policy.certificate())
        (a, constraints), x = next(drawn(X, 1, seed, parts)), policy.ask()
        policy.tell(*seen_at(x, a, constraints))
        assert X.contains(policy.ask())
    assert taken > 400
    assert refused > 0


@pytest.mark.parametrize("delay", [1, 5, 20])
@pytest.mark.parametrize("name", SETS)
def test_late_feedback_is_about_the_decision_it_names(name: str, delay: int) -> None:
    X = SETS[name]()
    policy, mistaken, due = RestrictedMaster(X), RestrictedMaster(X), deque[Any]()
    costs, inner, rounds, otherwise = np.zeros(X.dim), 0.0, [], False
    for a, constraints in drawn(X, 60, 10, slack=0.1):
        x = policy.ask()
        assert X.contains(x)
        due.append((x, a, constraints))
        if len(due) > delay:
            at, a, constraints = due.popleft()
            seen = seen_at(at, a, constraints)
            policy.tell(*seen, at=at)
            mistaken.tell(*seen)
            otherwise |= not np.allclose(policy.ask(), mistaken.ask())
            costs, inner = costs + a, inner + float(a @ at)
            rounds.append((hr.Linear(a), hr.Linear(*constraints[0])))
    best = hr.hindsight(hr.RecordedProblem(X, rounds))
    certificate, regret = policy.certificate(), inner - float(costs @ best.x)
    assert best.ccv == pytest.approx(0.0, abs=1e-7)
    assert regret <= certificate + 1e-6
    assert certificate < certificate.most
    assert otherwise


def told(policy: RestrictedMaster, slope: float, c: float, limit: float) -> float:
    """Play a round on [0, 1] with cost slope x and constraint c (x - limit); return x."""
    x = policy.ask()
    value = c * (float(x[0]) - limit)
    policy.tell(EvalGrad(slope * float(x[0]), np.array([slope])), EvalGrad(value, np.array([c])))
    return float(policy.ask()[0])


def test_prices_are_those_of_a_game_by_hand() -> None:
    """On [0, 1] from 1/2 on: cost -x, and one constraint that is violated."""
    policy = RestrictedMaster(S.Box([0.0], [1.0]))
    assert policy.binding() == ()
    # x_1 is the only column, eta = (D/10)/1; the oracle answers 1
    assert told(policy, -1.0, 2.0, 5.0) == pytest.approx(0.6)
    assert policy.binding() == ()
    # the columns 1/2 and 1: the cost varies by D/2, and the solution is 1/2; the oracle answers 0
    eta, m = 0.1 / math.sqrt(1.5), MARGIN / math.sqrt(2.0)
    x = told(policy, -1.0, 2.0, 0.4)
    expected = (0.6 + eta + STIFFNESS * (0.4 - m)) / (1.0 + STIFFNESS)  # the unit is 2
    assert x == pytest.approx(expected, rel=1e-9)
    (one,) = policy.binding()
    assert (one.round, one.part, one.resemblance) == (2, 0, 1.0)
    # a looser round: D is still far from 1/2 to x, and the cost varies by D
    step = x + (eta := max(0.1, 0.5 - x) / math.sqrt(2.5))
    m = MARGIN / math.sqrt(3.0)
    x = told(policy, -1.0, 2.0, 0.45)
    assert x == pytest.approx((step + STIFFNESS * (0.4 - m)) / (1.0 + STIFFNESS), rel=1e-9)
    assert x - 0.45 + m < 0.0, "its own row has slack, with its margin"
    (one,) = policy.binding()
    assert one.round == 2
    assert one.price == pytest.approx((step - x) / (2.0 * eta), rel=1e-9)  # x = step - eta price c


def resemblance(policy: RestrictedMaster) -> dict[int, float]:
    """Return the resemblance of the rows of each round."""
    born, weight = policy._state["born"].tolist(), policy._state["weight"].tolist()
    return {int(t): w for t, w in zip(born, weight, strict=True) if t > 0.0}


def test_a_regime_that_comes_back_brings_its_rows_back() -> None:
    """At most about 0.4 in most rounds; in others at least 0.7."""
    policy = RestrictedMaster(S.Box([0.0], [1.0]))
    told(policy, -1.0, 2.0, 5.0)
    for limit in (0.4, 0.42, 0.41, 0.4, 0.41):
        told(policy, -1.0, 2.0, limit)
    assert {one.round for one in policy.binding()} == {2}
    assert told(policy, 1.0, -2.0, 0.7) > 0.7, "the first round of the other regime is enough"
    assert resemblance(policy) == {2: 0.0, 7: 1.0}
    assert {one.round for one in policy.binding()} == {7}
    told(policy, 1.0, -2.0, 0.7)
    assert {one.round for one in policy.binding()} == {7, 8}
    assert told(policy, -1.0, 2.0, 0.41) < 0.4
    assert resemblance(policy) == {2: 1.0, 7: 0.0, 9: 1.0}
    assert {one.round for one in policy.binding()} == {2}
    prices = [one.price for one in policy.binding()]
    assert prices == sorted(prices, reverse=True)


def backends(T: int) -> hr.RecordedProblem:
    """Return three options: the cheap one fails in round 20, and only the dear one is quick."""
    rng, X, price = np.random.default_rng(0), S.Simplex(3), hr.Linear([1.0, 2.0, 4.0])
    latencies = np.array([80.0, 118.0, 95.0]) * (1.0 + 0.01 * rng.standard_normal((T, 3)))
    latencies[20:50, 0] = 2000.0
    latencies[20:50, 1] = 130.0
    return hr.RecordedProblem(X, [(price, hr.Linear(row, -120.0)) for row in latencies])


def links(T: int) -> hr.RecordedProblem:
    """Return a network of two cheap routes and a dear one; a link of both fails in round 20."""
    edges = [("s", "a"), ("a", "b"), ("a", "c"), ("b", "t"), ("c", "t"), ("s", "t")]
    X, price = S.DagPaths(edges, "s", "t"), hr.Linear([1.0, 1.0, 2.0, 1.0, 1.0, 9.0])
    usual, rng = np.array([20.0, 30.0, 25.0, 20.0, 20.0, 60.0]), np.random.default_rng(1)
    delays = usual * (1.0 + 0.02 * rng.standard_normal((T, 6)))
    delays[20:50, 0] += 1000.0
    return hr.RecordedProblem(X, [(price, hr.Linear(row, -90.0)) for row in delays])


@pytest.mark.parametrize("problem", [backends(120), links(120)], ids=["backend", "link"])
def test_a_failure_is_left_after_one_round_and_forgotten_after_it(
    problem: hr.RecordedProblem,
) -> None:
    steps = list(hr.play(RestrictedMaster(problem.decision_set), problem))
    violations = np.array([max(0.0, step.violation) for step in steps])
    share = np.array([step.x[0] for step in steps])  # of what fails
    assert violations[20] > 800.0
    assert violations[21:].sum() < 1.0
    assert share[20] > 0.9
    assert share[21] < 0.02
    assert share[70] > 0.5


def test_a_set_that_is_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 200000 coordinates, got 200001"):
        RestrictedMaster(S.Simplex(200_001))
