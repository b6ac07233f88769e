"""Nine games for any set, as rules that the compiled loop plays: five adversarial, four ordinary.

In each f_t(x) = <a_t, x - z> and g_t(x) = <c_t, x - z>, so that z satisfies every round and costs
nothing. The rules read a table of rows: z; directions of length 1, some at random and some towards
vertices; points of the set, each the mean of six vertices; and vectors of noise of length 0.3, of
which every round draws one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import hedgerow as hr
from hedgerow._engine.kernel import nothing, read, write
from hedgerow.extending import EVALUATE, kernel
from hedgerow.functions import Linear
from hedgerow.problems.compiled_rounds import CompiledChunk, FunctionRounds, FunctionRows
from hedgerow.problems.problem import Round, chunk_slices, needs_policy

Vector = np.ndarray[Any, np.dtype[np.float64]]
DIRECTIONS, NOISES = 12, 512
"""How many directions of a kind there are, as many points, and how many vectors of noise."""
AT_RANDOM, TO_VERTICES, POINTS, NOISY_ROWS = (1 + k * DIRECTIONS for k in range(4))
"""Where these rows begin; z is the first row."""
NOISE, ROW, FACTOR, IS_COST = range(4)
"""A round's own numbers: which noise, which row, its factor, and 1 for a cost."""
TREMBLE = 1e-5
"""How much of the noise is added to a movement."""
NO_INDEX = np.zeros(0, np.uint32)


@kernel(nothing, read, write, read)
def add_cost(own: Any, scratch: Any, grad: Any) -> None:
    """Add a cost's gradient to the sum that the best action in hindsight needs."""
    if own[IS_COST] == 1.0 and len(scratch) > 0:
        for i in range(len(grad)):
            scratch[i] += grad[i]


@kernel(*EVALUATE)
def given(index: Any, numbers: Any, own: Any, part: int, x: Any, scratch: Any, grad: Any) -> float:
    """The round's own direction times its factor, and noise."""
    n, value = len(x), 0.0
    d, e = int(own[ROW]) * n, (NOISY_ROWS + int(own[NOISE])) * n
    for i in range(n):
        grad[i] = own[FACTOR] * numbers[d + i] + numbers[e + i]
        value += grad[i] * (x[i] - numbers[i])
    add_cost(own, scratch, grad)
    return value


@kernel(*EVALUATE)
def from_point(
    index: Any, numbers: Any, own: Any, part: int, x: Any, scratch: Any, grad: Any
) -> float:
    """From the round's own point to the decision, with length 1, and noise."""
    n, value, far2 = len(x), 0.0, 1e-300
    d, e = int(own[ROW]) * n, (NOISY_ROWS + int(own[NOISE])) * n
    for i in range(n):
        far2 += (x[i] - numbers[d + i]) ** 2
    for i in range(n):
        grad[i] = (x[i] - numbers[d + i]) / math.sqrt(far2) + numbers[e + i]
        value += grad[i] * (x[i] - numbers[i])
    add_cost(own, scratch, grad)
    return value


@kernel(*EVALUATE)
def movement(
    index: Any, numbers: Any, own: Any, part: int, x: Any, scratch: Any, grad: Any
) -> float:
    """The last movement and a little noise, with length 1; noise alone where a chunk begins."""
    n, value, size2 = len(x), 0.0, 0.0
    e, known = (NOISY_ROWS + int(own[NOISE])) * n, False
    if len(scratch) > 0:
        for i in range(n):
            known = known or scratch[n + i] != 0.0
    for i in range(n):
        grad[i] = TREMBLE * numbers[e + i]
        if known:
            grad[i] += x[i] - scratch[n + i]
        if len(scratch) > 0:
            scratch[n + i] = x[i]
        size2 += grad[i] * grad[i]
    for i in range(n):
        grad[i] /= math.sqrt(size2)
        value += grad[i] * (x[i] - numbers[i])
    add_cost(own, scratch, grad)
    return value


@kernel(*EVALUATE)
def furthest(
    index: Any, numbers: Any, own: Any, part: int, x: Any, scratch: Any, grad: Any
) -> float:
    """Of the directions from the round's row on, that in which the decision is furthest from z."""
    n, best, most, value = len(x), 0, -math.inf, 0.0
    for j in range(int(own[ROW]), int(own[ROW]) + DIRECTIONS):
        far = 0.0
        for i in range(n):
            far += numbers[j * n + i] * (x[i] - numbers[i])
        if far > most:
            best, most = j, far
    e = (NOISY_ROWS + int(own[NOISE])) * n
    for i in range(n):
        grad[i] = own[FACTOR] * numbers[best * n + i] + numbers[e + i]
        value += grad[i] * (x[i] - numbers[i])
    add_cost(own, scratch, grad)
    return value


@dataclass(frozen=True)
class Rule:
    """How a function of each round is made.

    Args:
        evaluate: the kernel.
        row: the row of the table, or the first one.
        factor: of the direction.
        noise: whether there is noise.
        turns: how many rows further, as a function of the round, from 0.

    """

    evaluate: Any
    row: int = AT_RANDOM
    factor: float = 1.0
    noise: bool = True
    turns: Callable[[Vector], Vector] = np.zeros_like


def growing(t: Vector) -> Vector:
    """Turn at intervals that grow like t."""
    return np.floor(4.0 * np.log1p(t)) % DIRECTIONS


def phases(t: Vector) -> Vector:
    """Turn every 500 rounds."""
    return t // 500.0 % DIRECTIONS


def season(t: Vector) -> Vector:
    """Turn every round, always in the same order."""
    return t % DIRECTIONS


WORST = Rule(furthest, noise=False)
"""The constraint of an adversary: of twelve halfspaces through z the one that is violated most."""
FIXED, NOISY = Rule(given, noise=False), Rule(given)
GAMES: dict[str, tuple[Rule, Rule]] = {
    "pushed from the play": (Rule(from_point, 0), WORST),
    "the nearest vertex is dear": (Rule(furthest, TO_VERTICES), WORST),
    "the target turns": (Rule(from_point, POINTS, turns=growing), WORST),
    "the last movement is dear": (Rule(movement), WORST),
    "pulled into the constraint": (Rule(furthest, factor=-0.6), WORST),
    "alike": (Rule(given, factor=-1.0), NOISY),
    "alike, fixed constraint": (Rule(given, factor=-1.0), FIXED),
    "phases of 500": (Rule(given, factor=-1.0, turns=phases), NOISY),
    "season of 12": (Rule(given, factor=-1.0, turns=season), NOISY),
}
ADVERSARIAL = tuple(GAMES)[:5]
SETS: dict[str, Callable[[], hr.DecisionSet]] = {
    "simplex, 10": lambda: hr.sets.Simplex(10),
    "simplex, 50": lambda: hr.sets.Simplex(50),
    "cube, 20": lambda: hr.sets.Box([0.0] * 20, [1.0] * 20),
    "paths, 1200 edges": lambda: hr.ShortestPath.random_network(seed=400).decision_set,
    "ball, 10": lambda: hr.sets.L2Ball(10),
}


@dataclass(frozen=True, eq=False)
class SummedChunk(CompiledChunk):
    """Rounds whose cost gradients are added up, in `sums`, as the loop evaluates them.

    Behind the sum the loop remembers the last decision.
    """

    sums: list[Vector] = field(default_factory=list)

    def functions_on(self, n: int, by_parts: bool = False) -> FunctionRounds:
        """Return what a loop evaluates; its scratch memory holds the sum."""
        found = super().functions_on(n, by_parts)
        found.table.scratch[:] = 0.0
        self.sums.append(found.table.scratch)
        return found


class RuleGame(hr.Problem):
    """One of the games on one of the sets.

    The seed fixes z, the directions and the noise; every horizon draws its own rounds.
    """

    def __init__(self, name: str, decision_set: hr.DecisionSet, horizon: int, seed: int):
        self.name, self.decision_set, self.horizon, self.seed = name, decision_set, horizon, seed
        rng, X, n = np.random.default_rng(seed), decision_set, decision_set.dim
        drawn = [X.lmo(rng.standard_normal(n)) for _ in range(8 * DIRECTIONS)]
        corners = rng.permutation(np.unique(drawn, axis=0))
        z = self.feasible = rng.dirichlet(np.ones(4)) @ np.array([X.start(), *corners[:3]])
        points = [rng.choice(corners, 6, replace=False).mean(axis=0) for _ in range(DIRECTIONS)]
        at_random = self._directions(rng.standard_normal((DIRECTIONS, n)))
        to_vertices = self._directions(np.resize(corners, (DIRECTIONS, n)) - z)
        noise = 0.3 * self._directions(rng.standard_normal((NOISES, n)))
        table = np.concatenate([[z], at_random, to_vertices, points, noise])
        quiet = table.copy()
        quiet[NOISY_ROWS:] = 0.0
        self.tables = {True: table.reshape(-1), False: quiet.reshape(-1)}
        self.sums, self.interpreted = list[Vector](), 0

    def _directions(self, rows: Vector) -> Vector:
        """Return vectors of length 1 along the set."""
        along = np.array([self.decision_set.tangent(row) for row in rows])
        return along / np.linalg.norm(along, axis=1, keepdims=True)

    @property
    def adaptive(self) -> bool:
        """Whether rounds react to the decisions: some do."""
        return True

    def compiled_rounds(self, size: int = 256) -> Iterator[CompiledChunk]:
        """Return the rules, with each round's own numbers."""
        rng = np.random.default_rng([self.seed, self.horizon])
        drawn = rng.integers(NOISES, size=(2, self.horizon))
        for rounds in chunk_slices(self.horizon, size):
            t = np.arange(rounds.start, rounds.stop, dtype=float)
            parts = []
            for rule, is_cost, noise in zip(GAMES[self.name], (1.0, 0.0), drawn, strict=True):
                own = np.empty((t.size, 4))
                own[:, NOISE] = noise[rounds]
                own[:, ROW] = rule.row + rule.turns(t)
                own[:, FACTOR], own[:, IS_COST] = rule.factor, is_cost
                parts.append((rule, own))

            def functions(r: int, x: Vector, parts: Any = parts) -> Round:
                cost, constraint = (self.function(rule, own[r], x) for rule, own in parts)
                return cost, constraint

            n = self.decision_set.dim
            packed = (
                FunctionRows.of_rows(r.evaluate, own, NO_INDEX, self.tables[r.noise], scratch=2 * n)
                for r, own in parts
            )
            yield SummedChunk(t.size, *packed, functions, sums=self.sums)

    def cost_gradients(self) -> Vector:
        """Return the sum of all cost gradients of a game that was played."""
        total: Vector = np.sum(self.sums, axis=0)[: self.decision_set.dim]
        return total

    def best_cost(self) -> float:
        """Return the least cost, after a game, of an action that satisfies every possible round."""
        n, X, z = self.decision_set.dim, self.decision_set, self.feasible
        rule, rows = GAMES[self.name][1], self.tables[True].reshape(-1, n)
        limits = rows[AT_RANDOM : AT_RANDOM + DIRECTIONS]
        if rule.evaluate is given:  # its direction is always the first one
            limits = limits[:1] + rows[NOISY_ROWS:] if rule.noise else limits[:1]
        total = self.cost_gradients()
        size = float(np.linalg.norm(total)) or 1.0
        rounds = [(Linear(total / (size * len(limits))), Linear(c, -float(c @ z))) for c in limits]
        best = hr.hindsight(X, rounds, time_limit=20.0)
        return size * best.cost - float(total @ z)

    def function(self, rule: Rule, own: Vector, x: Vector) -> Linear:
        """Return a round's function, given the decision, for rounds outside the compiled loop.

        They are not added to the sum, and no movement is known.
        """
        self.interpreted += 1
        grad, empty = np.empty(x.size), np.empty(0)
        value = rule.evaluate(NO_INDEX, self.tables[rule.noise], own, 0, x, empty, grad)
        return Linear(grad, float(value - grad @ x))

    def rounds(self, policy: Any = None) -> Iterator[Round]:
        """Read the policy's next decision, then yield the round."""
        policy = needs_policy(policy, self)
        for chunk in self.compiled_rounds():
            for r in range(chunk.rounds):
                yield chunk.functions(r, policy.ask())
