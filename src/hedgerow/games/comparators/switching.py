"""The best few actions in a row: the yardstick for policies that track a changing game."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter

import numpy as np

from hedgerow.games.comparators.cutting_planes import GAP
from hedgerow.games.comparators.hindsight import HindsightGame, hindsight
from hedgerow.inputs import Vector, as_count
from hedgerow.problems.problem import Problem, Round
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.sets.decision_set import DecisionSet

Cuts = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SwitchingBenchmark:
    """A sequence of actions, each held for a while; each satisfies the constraints of its rounds.

    Attributes:
        cost: the total cost of the best sequence found, infinite where none was; an upper bound of
            what such sequences can reach, so a policy may well do better than this one.
        lower_bound: a proved lower bound of the cost of every such sequence, whatever its borders.
        gap: cost - lower_bound: what the grid of borders and the searches may have missed.
        status: "optimal"; "gap" when the gap is not as small as 1e-6 of the cost; or "infeasible"
            when it is proved that this number of switches cannot satisfy the constraints.
        segments: (first round, last round, benchmark of these rounds), in order.
        searches: how many benchmarks of intervals were computed.
        seconds: the wall time that it took.

    """

    cost: float
    lower_bound: float
    gap: float
    status: str
    segments: tuple[tuple[int, int, Benchmark], ...]
    searches: int
    seconds: float


def switching_benchmark(
    problem: Problem | DecisionSet,
    switches: int,
    rounds: Iterable[Round] | None = None,
    *,
    cells: int = 16,
) -> SwitchingBenchmark:
    """Return the best sequence of actions with few switches, by dynamic programming.

    min of sum_i cost of the best action on segment i that satisfies its constraints, over all ways
    to cut the rounds into at most switches + 1 segments at the borders of `cells` equal cells.
    All cells (cells + 1)/2 benchmarks of runs of cells are computed; without switches only one.
    With as many cells as rounds no border is missed. With fewer, a switch inside a cell may be
    better, and the lower bound allows for it: such a cell counts with the least cost of each of
    its rounds alone, constraints aside, at one oracle call per round.

    Args:
        problem: an oblivious problem; or a decision set, when `rounds` are given.
        switches: how often the action may change, at least 0.
        rounds: recorded rounds, such as those of an adaptive game.
        cells: into how many equal cells the rounds are cut, at most one for each round.

    Reference: the comparator of Herbster and Warmuth, Tracking the best expert, Machine Learning
    32 (1998), with constraints.

    >>> from hedgerow.functions import Linear
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> free = Linear([0.0, 0.0])
    >>> game = [(Linear([1.0, 0.0] if t < 6 else [0.0, 2.0]), free) for t in range(10)]
    >>> best = switching_benchmark(Simplex(2), 1, game, cells=10)
    >>> best.cost, [(first, last) for first, last, _ in best.segments]
    (0.0, [(1, 6), (7, 10)])
    >>> switching_benchmark(Simplex(2), 0, game).cost
    6.0

    """
    begin = perf_counter()
    s, K = as_count(switches, "switches", least=0), as_count(cells, "cells")
    game = HindsightGame.of(problem, rounds)
    kept = game.source if isinstance(game.source, list) else None
    T = game.horizon
    ends = borders(T, min(K, T) if s else 1)
    found = {
        (i, j): hindsight(problem, kept, interval=(ends[i] + 1, ends[j]))
        for j in range(1, len(ends))
        for i in range(j)
    }
    on_grid = {ij: best.cost if best.gap < math.inf else math.inf for ij, best in found.items()}
    proved = {ij: best.lower_bound for ij, best in found.items()}
    least = _least_costs(game.decision_set, game.source, ends) if s else np.full(1, math.inf)
    cost, cuts = _cheapest(on_grid, np.full(least.size, math.inf), s)
    lower = min(cost, _cheapest(proved, least, s)[0])
    segments = tuple((ends[i] + 1, ends[j], found[i, j]) for i, j in pairwise(cuts))
    gap = cost - lower if cost < math.inf else math.inf
    status = "infeasible" if lower == math.inf else _status(gap, [b for *_, b in segments])
    seconds = perf_counter() - begin
    return SwitchingBenchmark(cost, lower, gap, status, segments, len(found), seconds)


def borders(horizon: int, parts: int) -> list[int]:
    """Return where equal parts of the rounds end, beginning with 0.

    >>> borders(10, 4)
    [0, 2, 5, 8, 10]
    """
    return [round(horizon * i / parts) for i in range(parts + 1)]


def _cheapest(costs: Mapping[tuple[int, int], float], inside: Vector, s: int) -> tuple[float, Cuts]:
    """Return the least cost of at most s + 1 segments in a row, and where they meet.

    Args:
        costs: of a segment from border i to border j.
        inside: of each cell, if the action changes somewhere inside it.
        s: how often the action may change.

    """
    K = inside.size
    begun: dict[int, tuple[float, Cuts]] = {0: (0.0, (0,))}  # by border: segments begin there
    best: tuple[float, Cuts] = math.inf, ()
    for _ in range(s + 1):
        ended: dict[int, tuple[float, Cuts]] = dict(begun)  # an empty segment costs nothing
        for i, (before, cuts) in begun.items():
            for j in range(i + 1, K + 1):
                if (total := before + costs[i, j]) < ended.get(j, (math.inf,))[0]:
                    ended[j] = total, (*cuts, j)
        if K in ended and ended[K][0] < best[0]:
            best = ended[K]
        begun = dict(ended)  # the action changes at a border,
        for j, (before, cuts) in ended.items():  # or on the way to the next one
            if j < K and (total := before + float(inside[j])) < begun.get(j + 1, (math.inf,))[0]:
                begun[j + 1] = total, (*cuts, j + 1)
    return best


def _least_costs(X: DecisionSet, rounds: Iterable[Round], ends: list[int]) -> Vector:
    """Return for each cell the sum of each round's least cost; infinity where no border is inside.

    f(x) >= f(x_1) + <grad f(x_1), x - x_1> for convex f, with equality where f is linear.
    """
    x1, total = X.start(), np.zeros(len(ends) - 1)
    cell_of = np.repeat(np.arange(total.size), np.diff(ends))
    for cell, (cost, _) in zip(cell_of, rounds, strict=True):
        slope = cost.grad(x1)
        total[cell] += float(cost(x1)) - float(slope @ x1) + X.minimum(slope)
    return np.where(np.diff(ends) > 1, total, math.inf)


def _status(gap: float, segments: list[Benchmark]) -> str:
    """Allow for what the searches of the segments were allowed to miss."""
    size = sum(abs(best.cost) for best in segments)
    allowed = GAP * size + sum(best.gap for best in segments if best.status == "optimal")
    return "optimal" if gap <= allowed else "gap"
