"""Regret as the game goes on: against the benchmark of the whole, of each prefix, of intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.games.comparators.cutting_planes import Search
from hedgerow.games.comparators.hindsight import HindsightGame, hindsight
from hedgerow.games.comparators.linear_models import Cuts, Deadline
from hedgerow.games.comparators.master_problem import master_for
from hedgerow.games.comparators.switching import borders
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
    >>> from hedgerow.games import hindsight
    >>> from hedgerow.sets.simplices.simplex import Simplex
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
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> game = [(Linear([1.0, 2.0]), Linear([1.0, 0.0], -1.0 / t)) for t in range(1, 5)]
    >>> [round(best.cost, 9) for best in prefix_benchmarks(Simplex(2), [1, 2, 4], game)]
    [1.0, 3.0, 7.0]

    """
    ends = [as_count(k, "a checkpoint") for k in checkpoints]
    if any(a >= b for a, b in pairwise(ends)):
        raise ValueError(f"the checkpoints must increase, got {ends}")
    game = HindsightGame.of(problem, rounds)
    X = game.decision_set
    limits, solver, found = Cuts.none(X.dim), master_for(X), []
    for k in ends:
        begin = perf_counter()
        search = Search(X, game.between(1, k), solver.renewed(), 0.0, limits, Deadline())
        found.append(replace(search.run(), seconds=perf_counter() - begin))
        limits, solver = search.limits, search.master
    return found


@dataclass(frozen=True, eq=False)
class IntervalRegret:
    """The largest regret over a family of intervals.

    Attributes:
        regret: the cost that was paid on the interval minus that of its benchmark.
        interval: its first and last round.
        best: the benchmark of these rounds.
        regrets: of all intervals of the family, by (first, last).

    """

    regret: float
    interval: tuple[int, int]
    best: Benchmark
    regrets: dict[tuple[int, int], float]


def interval_regret(
    played: Trace | ArrayLike,
    problem: Problem | DecisionSet,
    rounds: Iterable[Round] | None = None,
    *,
    levels: int = 4,
) -> IntervalRegret:
    """Return the largest regret on the whole game, its halves, quarters and so on.

    max over intervals I of sum_{t in I} f_t(x_t) - min of sum_{t in I} f_t(x) over all x that
    satisfy the constraints of I. The family has 2^(levels + 1) - 1 intervals, each needs one
    benchmark. Not all intervals are evaluated, so it bounds the largest regret on any interval from
    below. Intervals for which no action was found that satisfies their constraints are left out.

    Args:
        played: the trace of a game, or the costs f_t(x_t) that it paid.
        problem: an oblivious problem; or a decision set, when `rounds` are given.
        rounds: recorded rounds, such as those of an adaptive game.
        levels: how often intervals are halved; no further than to single rounds.

    Reference: Hazan and Seshadhri, Efficient learning algorithms for changing environments, ICML
    2009; with constraints and on dyadic intervals.

    >>> from hedgerow.functions import Linear
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> free = Linear([0.0, 0.0])
    >>> game = [(Linear([1.0, 0.0] if t < 4 else [0.0, 1.0]), free) for t in range(8)]
    >>> worst = interval_regret([0.0] * 4 + [1.0] * 4, Simplex(2), game, levels=1)
    >>> worst.regret, worst.interval, worst.regrets[1, 8]
    (4.0, (5, 8), 0.0)

    """
    game = HindsightGame.of(problem, rounds)
    kept = game.source if isinstance(game.source, list) else None
    T, depth = game.horizon, as_count(levels, "levels", least=0)
    costs = as_vector(played.costs if isinstance(played, Trace) else played, "the costs")
    if costs.size != T:
        raise ValueError(f"the game has {T} rounds, but {costs.size} costs were given")
    parts = [2**k for k in range(depth + 1) if 2**k <= T]
    family = [(a + 1, b) for k in parts for a, b in pairwise(borders(T, k))]
    bests = {part: hindsight(problem, kept, interval=part) for part in family}
    regrets = {
        (first, last): float(costs[first - 1 : last].sum()) - best.cost
        for (first, last), best in bests.items()
        if best.gap < math.inf
    }
    if not regrets:
        raise ValueError(
            "no action was found that satisfies the constraints of one of these intervals; "
            "ask for more levels"
        )
    worst = max(regrets, key=lambda part: regrets[part])
    return IntervalRegret(regrets[worst], worst, bests[worst], regrets)
