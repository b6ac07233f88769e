"""The best fixed action in hindsight, with a proof of how good it is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from time import perf_counter

import numpy as np

from hedgerow.benchmarks.convex_rounds import ConvexRounds, SpentRounds
from hedgerow.benchmarks.cuts import Cuts
from hedgerow.benchmarks.masters import master
from hedgerow.benchmarks.passes import Rounds
from hedgerow.benchmarks.reading import Game
from hedgerow.benchmarks.search import Search
from hedgerow.inputs import as_count, as_number
from hedgerow.problems.problem import Problem
from hedgerow.problems.recorded import GivenRound
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.sets.decision_set import DecisionSet


def hindsight(
    problem: Problem | DecisionSet,
    rounds: Iterable[GivenRound] | None = None,
    *,
    budget: float = 0.0,
    interval: tuple[int, int] | None = None,
    constrained: bool = True,
) -> Benchmark:
    """Return the best fixed action that keeps the constraint in every round.

    min over X of sum f_t(x) subject to g_t(x) <= 0 for all t, or with a budget B to
    sum max(0, g_t(x)) <= B. A model of few cuts is solved, and the rounds that its best point
    violates most join it, until none is left: by linear programmes over the set's description,
    or over vertices that its oracle finds where it has none. The lower bound is the Lagrangian
    at the model's multipliers, minimised by the set's own oracle, so it does not rest on a
    solver's word. Rounds of a `LinearProblem` are read in chunks and never all held.

    On polytopes with linear rounds the answer is exact up to rounding. Otherwise it converges,
    and status "gap" says that the gap was still above 1e-6 of the cost when the search ended.

    Args:
        problem: an oblivious problem; or a decision set, when `rounds` are given.
        rounds: recorded rounds, such as those of an adaptive game, as `Recorded` takes them.
        budget: the sum of positive constraint values that the action may have, at least 0.
        interval: (first, last), the only rounds that count, from 1; all by default.
        constrained: False for the best action whatever the constraints say.

    >>> from hedgerow.functions import Linear
    >>> from hedgerow.sets.simplices import Simplex
    >>> game = [(Linear([1.0, 2.0]), Linear([1.0, 0.0], -0.25)) for _ in range(4)]
    >>> best = hindsight(Simplex(2), game)
    >>> best.x.round(9), round(best.cost, 9), best.status
    (array([0.25, 0.75]), 7.0, 'optimal')
    >>> round(hindsight(Simplex(2), game, budget=1.0).cost, 9)
    6.0

    """
    begin = perf_counter()
    budget = as_number(budget, "the budget")
    if budget < 0.0:
        raise ValueError(f"the budget must be at least 0, got {budget:g}")
    game = Game.of(problem, rounds)
    first, last = (1, game.horizon) if interval is None else _interval(interval)
    table = game.between(first, last)
    best = _solve(game.decision_set, table, budget if constrained else math.inf)
    return replace(best, seconds=perf_counter() - begin)


def _solve(X: DecisionSet, rounds: Rounds, budget: float) -> Benchmark:
    """Search for the best action; a budget over curved constraints becomes one constraint."""
    if not (isinstance(rounds, ConvexRounds) and 0.0 < budget < math.inf):
        return Search(X, rounds, master(X), budget, Cuts.none(X.dim)).run()
    best = Search(X, SpentRounds(rounds, budget), master(X), 0.0, Cuts.none(X.dim)).run()
    evaluation = rounds.evaluate(best.x, np.zeros(rounds.horizon + 1), np.zeros(0, dtype=np.intp))
    needed = evaluation.total if best.status == "infeasible" else None
    return replace(
        best, violation=evaluation.worst, ccv=evaluation.total, conflict=(), needed_budget=needed
    )


def _interval(interval: tuple[int, int]) -> tuple[int, int]:
    first = as_count(interval[0], "the first round of the interval")
    return first, as_count(interval[1], "the last round of the interval", first)
