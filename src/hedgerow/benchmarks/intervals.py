"""Regret where it hurts most: the largest over intervals of the game."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from numpy.typing import ArrayLike

from hedgerow.benchmarks.best_action import hindsight
from hedgerow.benchmarks.reading import Game
from hedgerow.benchmarks.switching import borders
from hedgerow.inputs import as_count, as_vector
from hedgerow.problems.problem import Problem, Round
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.protocols.trace import Trace
from hedgerow.sets.decision_set import DecisionSet


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

    max over intervals I of sum_{t in I} f_t(x_t) - min of sum_{t in I} f_t(x) over all x that keep
    the constraints of I. The family has 2^(levels + 1) - 1 intervals, each needs one benchmark. As
    not all intervals are looked at, it bounds the largest regret on any interval from below.
    Intervals for which no action was found that keeps their constraints are left out.

    Args:
        played: the trace of a game, or the costs f_t(x_t) that it paid.
        problem: an oblivious problem; or a decision set, when `rounds` are given.
        rounds: recorded rounds, such as those of an adaptive game.
        levels: how often intervals are halved; no further than to single rounds.

    Reference: Hazan and Seshadhri, Efficient learning algorithms for changing environments, ICML
    2009; with constraints and on dyadic intervals.

    >>> from hedgerow.functions import Linear
    >>> from hedgerow.sets.simplices import Simplex
    >>> free = Linear([0.0, 0.0])
    >>> game = [(Linear([1.0, 0.0] if t < 4 else [0.0, 1.0]), free) for t in range(8)]
    >>> worst = interval_regret([0.0] * 4 + [1.0] * 4, Simplex(2), game, levels=1)
    >>> worst.regret, worst.interval, worst.regrets[1, 8]
    (4.0, (5, 8), 0.0)

    """
    game = Game.of(problem, rounds)
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
            "no action was found that keeps the constraints of one of these intervals; "
            "ask for more levels"
        )
    worst = max(regrets, key=lambda part: regrets[part])
    return IntervalRegret(regrets[worst], worst, bests[worst], regrets)
