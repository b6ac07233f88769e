"""Regret as the game goes on: against the final benchmark, or against that of each prefix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.benchmarks.cuts import Cuts
from hedgerow.benchmarks.deadline import Deadline
from hedgerow.benchmarks.masters import master
from hedgerow.benchmarks.reading import Game
from hedgerow.benchmarks.search import Search
from hedgerow.inputs import Vector, as_count, as_vector
from hedgerow.problems.problem import LinearProblem, Problem, Round
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.protocols.trace import Trace
from hedgerow.sets.decision_set import DecisionSet


def regret_curve(
    played: Trace | ArrayLike, problem: Problem | Iterable[Round], best: Benchmark
) -> Vector:
    """Return sum_{s <= t} f_s(x_s) - f_s(x*) for each t, x* the final benchmark's action.

    One pass over the rounds. The last entry is the regret.

    Args:
        played: the trace of a game, or the costs f_t(x_t) that it paid.
        problem: the problem that was played; or its recorded rounds.
        best: the benchmark.

    >>> from hedgerow.functions import Linear
    >>> from hedgerow.benchmarks import hindsight
    >>> from hedgerow.sets.simplices import Simplex
    >>> game = [(Linear([1.0, 2.0]), Linear([0.0, 1.0], -1.0)) for _ in range(3)]
    >>> regret_curve([2.0, 1.5, 1.0], game, hindsight(Simplex(2), game))
    array([1. , 1.5, 1.5])

    """
    costs = as_vector(played.costs if isinstance(played, Trace) else played, "the costs")
    if isinstance(problem, LinearProblem):
        parts = [chunk.costs @ best.x + chunk.cost_offsets for chunk in problem.chunks()]
        fixed = np.concatenate([np.zeros(0), *parts])
    else:
        fixed = np.array([cost(best.x) for cost, _ in problem], dtype=np.float64)
    if fixed.size != costs.size:
        raise ValueError(f"the game has {fixed.size} rounds, but {costs.size} costs were given")
    return np.cumsum(costs - fixed)


def prefix_benchmarks(
    problem: Problem | DecisionSet,
    checkpoints: Sequence[int],
    rounds: Iterable[Round] | None = None,
) -> list[Benchmark]:
    """Return the benchmark of the rounds 1 to k for each checkpoint k.

    What one search learnt (the rounds that matter, the vertices) starts the next, because a
    constraint of a prefix is one of all longer prefixes.

    Args:
        problem: an oblivious problem; or a decision set, when `rounds` are given.
        checkpoints: round numbers, increasing.
        rounds: recorded rounds.

    >>> from hedgerow.functions import Linear
    >>> from hedgerow.sets.simplices import Simplex
    >>> game = [(Linear([1.0, 2.0]), Linear([1.0, 0.0], -1.0 / t)) for t in range(1, 5)]
    >>> [round(best.cost, 9) for best in prefix_benchmarks(Simplex(2), [1, 2, 4], game)]
    [1.0, 3.0, 7.0]

    """
    ends = [as_count(k, "a checkpoint") for k in checkpoints]
    if any(a >= b for a, b in pairwise(ends)):
        raise ValueError(f"the checkpoints must increase, got {ends}")
    game = Game.of(problem, rounds)
    X = game.decision_set
    limits, solver, found = Cuts.none(X.dim), master(X), []
    for k in ends:
        begin = perf_counter()
        search = Search(X, game.between(1, k), solver.renewed(), 0.0, limits, Deadline())
        found.append(replace(search.run(), seconds=perf_counter() - begin))
        limits, solver = search.limits, search.master
    return found
