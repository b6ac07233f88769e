"""A search for the sequence that hurts a given policy most."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from hedgerow.functions import Function
from hedgerow.games import play
from hedgerow.games.linear_game import TINY, LinearGame, Objective, Played
from hedgerow.inputs import Vector, as_count
from hedgerow.problems.problem import LinearChunk, RecordedProblem
from hedgerow.protocols.parts import Policy
from hedgerow.protocols.trace import Trace

RANDOM_SHARE = 0.25
"""This share of the evaluations goes to random games; the best of them is the first start."""
PATIENCE = 200
"""After this many steps in a row that did not help, start again from a new random game."""

MakePolicy = Callable[[int], Policy[Any, Any]]
Feedback = Callable[[Function, Vector], Any]


@dataclass(frozen=True, eq=False)
class FoundGame:
    """The worst sequence so far.

    Attributes:
        game: what could be chosen from.
        rounds: the sequence, as arrays.
        value: its objective.
        evaluations: how many sequences were tried.
        random_value: the highest objective among the random games tried.

    """

    game: LinearGame
    rounds: LinearChunk
    value: float
    evaluations: int
    random_value: float

    @property
    def problem(self) -> RecordedProblem:
        """The sequence as a problem, to play again."""
        return self.game.problem(self.rounds)


def worst_game(
    make_policy: MakePolicy,
    game: LinearGame,
    objective: Objective,
    *,
    seed: int,
    evaluations: int,
    draws: int = 1,
    feedback: Feedback | None = None,
) -> FoundGame:
    """Search for the sequence of the game that maximises the objective of a policy.

    Random games first, then local steps from the best of them: a block of rounds gets a new
    direction, is disturbed, copied from elsewhere, or turned against the decisions of the policy.
    Steps that do not lower the objective are kept; when nothing helps for long, start anew. The
    result is a sequence and its value, no proof that none is worse. The same arguments give the
    same result.

    Args:
        make_policy: builds the policy; it is given the number of the draw, from 0, to seed a
            randomised policy with, and a deterministic one ignores it.
        game: the set, the horizon and the bounds.
        objective: what to maximise: `regret`, `regret_ratio`, `ccv`, or your own.
        seed: fixes the search.
        evaluations: how many sequences to try.
        draws: how many times a randomised policy plays each sequence; the objective is the mean.
            The search sees these very draws, so judge the result by fresh ones.
        feedback: what the policy observes; left out, its own `feedback`.

    >>> from hedgerow.games.linear_game import ccv
    >>> from hedgerow.policies.paper import projection_free_coco
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> X = Simplex(3)
    >>> game = LinearGame(X, horizon=20)
    >>> found = worst_game(lambda _: projection_free_coco(X), game, ccv, seed=0, evaluations=40)
    >>> found.value >= found.random_value, found.evaluations, found.problem.horizon
    (True, 40, 20)

    """
    steps = worst_game_steps(
        make_policy,
        game,
        objective,
        seed=seed,
        evaluations=evaluations,
        draws=draws,
        feedback=feedback,
    )
    return deque(steps, maxlen=1).pop()


def evaluate_game(
    make_policy: MakePolicy,
    game: LinearGame,
    rounds: LinearChunk,
    objective: Objective,
    *,
    draws: int = 1,
    feedback: Feedback | None = None,
) -> float:
    """Return the objective of a policy against one sequence, the mean over the draws."""
    return _try(make_policy, game, rounds, objective, as_count(draws, "draws"), feedback).value


def worst_game_steps(
    make_policy: MakePolicy,
    game: LinearGame,
    objective: Objective,
    *,
    seed: int,
    evaluations: int,
    draws: int = 1,
    feedback: Feedback | None = None,
) -> Iterator[FoundGame]:
    """Yield what `worst_game` has found so far, after every evaluation."""
    evaluations = as_count(evaluations, "evaluations")
    draws = as_count(draws, "draws")
    rng = np.random.default_rng(as_count(seed, "seed", least=0))

    def tried(rounds: LinearChunk) -> _Tried:
        return _try(make_policy, game, rounds, objective, draws, feedback)

    first = math.ceil(RANDOM_SHARE * evaluations)
    best = current = tried(game.draw(rng))
    random_value, stale = best.value, 0
    yield FoundGame(game, best.rounds, best.value, 1, random_value)
    for count in range(2, evaluations + 1):
        fresh = count <= first or stale >= PATIENCE
        candidate = tried(game.draw(rng) if fresh else _neighbour(game, current, rng))
        if fresh:
            random_value, stale = max(random_value, candidate.value), 0
        else:
            stale = 0 if candidate.value > current.value else stale + 1
        # Steps sideways are taken, else plateaus end the search; a restart is taken as it is.
        if candidate.value >= current.value or (fresh and count > first):
            current = candidate
        best = max(best, candidate, key=lambda one: one.value)
        yield FoundGame(game, best.rounds, best.value, count, random_value)


@dataclass(frozen=True, eq=False)
class _Tried:
    """A sequence, what it did, and the mean plays against it."""

    rounds: LinearChunk
    value: float
    plays: Vector


def _try(
    make_policy: MakePolicy,
    game: LinearGame,
    rounds: LinearChunk,
    objective: Objective,
    draws: int,
    feedback: Feedback | None,
) -> _Tried:
    """Play the sequence and take means over the draws."""
    problem = game.problem(rounds)
    value, plays = 0.0, np.zeros_like(rounds.costs)
    for draw in range(draws):
        policy = make_policy(draw)
        steps = list(play(policy, problem, feedback))
        x = np.array([step.x for step in steps])
        value += objective(Played(policy, game, rounds, x, Trace.of(steps))) / draws
        plays += x / draws
    return _Tried(rounds, value, plays)


def _neighbour(game: LinearGame, tried: _Tried, rng: np.random.Generator) -> LinearChunk:
    """Change the costs, the constraints or both in one block of rounds."""
    T, rounds = game.horizon, tried.rounds
    length = math.ceil(T ** rng.random())
    begin, source = (int(start) for start in rng.integers(0, T - length + 1, 2))
    block, other = slice(begin, begin + length), slice(source, source + length)
    costs, limits, offsets = (a.copy() for a in (rounds.costs, rounds.constraints, rounds[3]))
    kind = _Change(int(rng.integers(len(_Change))))
    part = 0 if game.share == 1.0 else rng.integers(3)  # a share of 1 leaves nothing to forbid
    if part != 1:
        away = tried.plays[block] - game.comparator(rounds)
        costs[block] = _changed(kind, game, costs[block], costs[other], away, rng)
        costs[block] = _within(game.cost_bound, costs[block])
    if part != 0:
        away = tried.plays[block] - game.centre
        limits[block] = _changed(kind, game, limits[block], limits[other], away, rng)
        limits[block] = _within(game.constraint_bound, limits[block])
        offsets[block] = game.offsets(limits[block])
    return LinearChunk(costs, rounds.cost_offsets, limits, offsets)


class _Change(IntEnum):
    """What may happen to a block of rounds."""

    PUSH = 0
    DISTURB = 1
    COPY = 2
    ANSWER = 3


def _changed(
    kind: _Change,
    game: LinearGame,
    old: Vector,
    other: Vector,
    away: Vector,
    rng: np.random.Generator,
) -> Vector:
    """Return new rows for the block, of any length; `away` points from the best to the plays."""
    L = max(game.cost_bound, game.constraint_bound)
    if kind is _Change.PUSH:  # one direction for the whole block
        return np.repeat(L * game.directions(1, rng), len(old), axis=0)
    if kind is _Change.DISTURB:  # noise, a different one each round
        return np.asarray(old + L * rng.random() * game.directions(len(old), rng))
    if kind is _Change.COPY:  # what happens elsewhere, or its opposite
        return other if rng.random() < 0.5 else -other
    # the best answer to each play, if the plays stayed the same
    return np.asarray(L * away / np.maximum(TINY, np.linalg.norm(away, axis=1, keepdims=True)))


def _within(bound: float, rows: Vector) -> Vector:
    """Shorten the rows that are longer than the bound."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows * np.minimum(1.0, bound / np.maximum(TINY, norms)))
