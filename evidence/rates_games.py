"""Nine games for any set, as rules that the compiled loop plays: five adversarial, four ordinary.

In each f_t(x) = <a_t, x - z> and g_t(x) = <c_t, x - z>, so that z satisfies every round and costs
nothing. The rules read a table: z, some directions of length 1, and vectors of noise of length 0.3,
of which every round draws one.
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
NOISE, DIRECTION, FACTOR, IS_COST = range(4)
"""A round's own numbers: which noise, which direction, its factor, and 1 for a cost."""
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
    d, e = (1 + int(own[DIRECTION])) * n, (1 + DIRECTIONS + int(own[NOISE])) * n
    for i in range(n):
        grad[i] = own[FACTOR] * numbers[d + i] + numbers[e + i]
        value += grad[i] * (x[i] - numbers[i])
    add_cost(own, scratch, grad)
    return value


@kernel(*EVALUATE)
def from_play(
    index: Any, numbers: Any, own: Any, part: int, x: Any, scratch: Any, grad: Any
) -> float:
    """From z to the decision, with length 1, and noise: what was played is dear."""
    n, value, far2 = len(x), 0.0, 1e-300
    e = (1 + DIRECTIONS + int(own[NOISE])) * n
    for i in range(n):
        far2 += (x[i] - numbers[i]) ** 2
    for i in range(n):
        grad[i] = (x[i] - numbers[i]) / math.sqrt(far2) + numbers[e + i]
        value += grad[i] * (x[i] - numbers[i])
    add_cost(own, scratch, grad)
    return value


@kernel(*EVALUATE)
def hurtful(
    index: Any, numbers: Any, own: Any, part: int, x: Any, scratch: Any, grad: Any
) -> float:
    """Noise, with the sign that makes the decision dearer than z."""
    n, value = len(x), 0.0
    e = (1 + DIRECTIONS + int(own[NOISE])) * n
    for i in range(n):
        value += numbers[e + i] * (x[i] - numbers[i])
    sign = 1.0 if value >= 0.0 else -1.0
    for i in range(n):
        grad[i] = sign * numbers[e + i]
    add_cost(own, scratch, grad)
    return sign * value


@kernel(*EVALUATE)
def furthest(
    index: Any, numbers: Any, own: Any, part: int, x: Any, scratch: Any, grad: Any
) -> float:
    """The direction in which the decision is furthest from z, times the factor, and noise."""
    n, best, most, value = len(x), 0, -math.inf, 0.0
    for j in range(DIRECTIONS):
        far = 0.0
        for i in range(n):
            far += numbers[(1 + j) * n + i] * (x[i] - numbers[i])
        if far > most:
            best, most = j, far
    e = (1 + DIRECTIONS + int(own[NOISE])) * n
    for i in range(n):
        grad[i] = own[FACTOR] * numbers[(1 + best) * n + i] + numbers[e + i]
        value += grad[i] * (x[i] - numbers[i])
    add_cost(own, scratch, grad)
    return value


@dataclass(frozen=True)
class Rule:
    """How a function of each round is made.

    Args:
        evaluate: the kernel.
        factor: of the direction.
        noise: whether there is noise.
        turns: the direction's number as a function of the round, from 0.

    """

    evaluate: Any
    factor: float = 1.0
    noise: bool = True
    turns: Callable[[Vector], Vector] = np.zeros_like


def growing(t: Vector) -> Vector:
    """A new direction at intervals that grow like t."""
    return np.floor(4.0 * np.log1p(t))


def phases(t: Vector) -> Vector:
    """A new direction every 500 rounds."""
    return t // 500.0


def walk(t: Vector) -> Vector:
    """A new direction every round, always the same twelve: a season."""
    return t


WORST = Rule(furthest, noise=False)
"""The constraint of an adversary: of twelve halfspaces through z the one that is violated most."""
FIXED, NOISY = Rule(given, noise=False), Rule(given)
GAMES: dict[str, tuple[Rule, Rule]] = {
    "pushed from the play": (Rule(from_play), WORST),
    "pulled into the constraint": (Rule(furthest, -0.6), WORST),
    "the sign that hurts": (Rule(hurtful), WORST),
    "the best moves on": (Rule(furthest), WORST),
    "turning at growing intervals": (Rule(given, -1.0, turns=growing), WORST),
    "alike": (Rule(given, -1.0), NOISY),
    "alike, fixed constraint": (Rule(given, -1.0), FIXED),
    "phases of 500": (Rule(given, -1.0, turns=phases), NOISY),
    "season of 12": (Rule(given, -1.0, turns=walk), NOISY),
}
ADVERSARIAL = tuple(GAMES)[:5]
SETS: dict[str, Callable[[], hr.DecisionSet]] = {
    "simplex, 10": lambda: hr.sets.Simplex(10),
    "simplex, 50": lambda: hr.sets.Simplex(50),
    "cube, 20": lambda: hr.sets.Box([0.0] * 20, [1.0] * 20),
    "paths, 1200 edges": lambda: hr.ShortestPath.atlas_like(seed=400).decision_set,
    "ball, 10": lambda: hr.sets.L2Ball(10),
}


@dataclass(frozen=True, eq=False)
class SummedChunk(CompiledChunk):
    """Rounds whose cost gradients are added up, in `sums`, as the loop evaluates them."""

    sums: list[Vector] = field(default_factory=list)

    def functions_on(self, n: int) -> FunctionRounds:
        """Return what a loop evaluates; its scratch memory holds the sum."""
        found = super().functions_on(n)
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
        corners = [X.lmo(rng.standard_normal(n)) for _ in range(3)]
        self.feasible = rng.dirichlet(np.ones(4)) @ np.array([X.start(), *corners])
        drawn = rng.standard_normal((DIRECTIONS + NOISES, n))
        rows = np.array([X.tangent(row) for row in drawn])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        rows[DIRECTIONS:] *= 0.3
        table = np.concatenate([self.feasible, rows.reshape(-1)])
        quiet = table.copy()
        quiet[(1 + DIRECTIONS) * n :] = 0.0
        self.tables, self.sums = {True: table, False: quiet}, list[Vector]()

    @property
    def adaptive(self) -> bool:
        """Whether rounds react to the decisions: some do."""
        return True

    def compiled_rounds(self, size: int = 256) -> Iterator[CompiledChunk]:
        """Return the rules, with each round's own numbers."""
        rng = np.random.default_rng([self.seed, self.horizon])
        for rounds in chunk_slices(self.horizon, size):
            t = np.arange(rounds.start, rounds.stop, dtype=float)
            parts = []
            for rule, is_cost in zip(GAMES[self.name], (1.0, 0.0), strict=True):
                own = np.empty((t.size, 4))
                own[:, NOISE] = rng.integers(NOISES, size=t.size)
                own[:, DIRECTION] = rule.turns(t) % DIRECTIONS
                own[:, FACTOR], own[:, IS_COST] = rule.factor, is_cost
                parts.append((rule, own))

            def functions(r: int, x: Vector, parts: Any = parts) -> Round:
                cost, constraint = (self.function(rule, own[r], x) for rule, own in parts)
                return cost, constraint

            n = self.decision_set.dim
            packed = (
                FunctionRows.of_rows(r.evaluate, own, NO_INDEX, self.tables[r.noise], scratch=n)
                for r, own in parts
            )
            yield SummedChunk(t.size, *packed, functions, self.sums)

    def best_cost(self) -> float:
        """Return the least cost, after a game, of an action that satisfies every possible round."""
        n, X, z = self.decision_set.dim, self.decision_set, self.feasible
        rule = GAMES[self.name][1]
        rows = self.tables[True].reshape(-1, n)[1:]
        limits = rows[:DIRECTIONS]
        if rule.evaluate is given:  # its direction is always the first one
            limits = rows[:1] + rows[DIRECTIONS:] if rule.noise else rows[:1]
        total = np.sum(self.sums, axis=0)
        size = float(np.linalg.norm(total)) or 1.0
        rounds = [(Linear(total / (size * len(limits))), Linear(c, -float(c @ z))) for c in limits]
        best = hr.hindsight(X, rounds, time_limit=20.0)
        return size * best.cost - float(total @ z)

    def function(self, rule: Rule, own: Vector, x: Vector) -> Linear:
        """Return a round's function, given the decision."""
        grad, empty = np.empty(x.size), np.empty(0)
        value = rule.evaluate(NO_INDEX, self.tables[rule.noise], own, 0, x, empty, grad)
        return Linear(grad, float(value - grad @ x))

    def rounds(self, policy: Any = None) -> Iterator[Round]:
        """Read the policy's next decision, then yield the round."""
        policy = needs_policy(policy, self)
        for chunk in self.compiled_rounds():
            for r in range(chunk.rounds):
                yield chunk.functions(r, policy.ask())
