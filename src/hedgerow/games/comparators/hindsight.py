"""The best fixed action in hindsight, with a proof of how good it is."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal

import numpy as np

from hedgerow.functions import Function, Maximum, parts_of, scaled
from hedgerow.games.comparators.cutting_planes import Search
from hedgerow.games.comparators.evaluated_rounds import (
    BudgetRounds,
    ConvexRounds,
    Rounds,
    from_list,
    from_problem,
)
from hedgerow.games.comparators.linear_models import Cuts, Deadline
from hedgerow.games.comparators.master_problem import master_for
from hedgerow.inputs import Vector, as_count, as_number, as_vector
from hedgerow.problems.problem import GivenRound, LinearProblem, Problem, RecordedProblem, Round
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.protocols.limits import LimitName, names_of, refuse_sum
from hedgerow.sets.decision_set import DecisionSet

ALLOWANCE = 1e-6
"""The least violation is known up to this share, so the search for the cost may have so much."""
WIDE = 1e3
"""On sets wider than this constraint values are rounded at more than the usual tolerance."""


def hindsight(
    problem: Problem | DecisionSet,
    rounds: Iterable[GivenRound] | None = None,
    *,
    budget: float | Literal["minimum"] = 0.0,
    interval: tuple[int, int] | None = None,
    constrained: bool = True,
    time_limit: float | None = None,
    units: Sequence[float] | None = None,
) -> Benchmark:
    """Return the best fixed action that satisfies the constraint in every round.

    min over X of sum f_t(x) subject to g_t(x) <= 0 for all t, or with a budget B to
    sum max(0, g_t(x)) <= B. A cutting-plane method solves a model with few rounds, and adds the
    rounds that its solution violates most, until none is left. Models are linear programmes over
    the linear description of the set, or over vertices from its oracle. The lower bound is the
    Lagrangian at the model's multipliers, minimised by the set's own oracle, so it does not depend
    on the accuracy of a solver. Rounds of a `LinearProblem` are read in chunks, never all at once.

    On polytopes with linear rounds the result is exact up to rounding. Otherwise it converges.
    Status "gap" means that the gap was still above 1e-6 of the cost when the search ended, after at
    most 500 models. `hindsight_steps` shows the progress.

    Args:
        problem: an oblivious problem; or a decision set, when `rounds` are given.
        rounds: recorded rounds, such as those of an adaptive game, as `RecordedProblem` takes them.
        budget: the sum of positive constraint values that the action may have, at least 0; or
            "minimum": 0 where some action satisfies every round, else the least sum that any action
            has. `comparator` of the answer says which it was. Of several constraints in a round the
            largest value counts, so their units must agree, or `units` must be known.
        interval: (first, last), the only rounds that count, from 1; all by default.
        constrained: False for the best action without constraints.
        time_limit: the seconds after which the search ends, with status "time limit", the best
            action and the best lower bound so far. The rounds are read once in any case, and a pass
            over them is not broken off. Where no action was found that satisfies the constraints,
            the gap is infinite and `cost` is not a bound; `lower_bound` always is.
        units: a size for each of several constraints, by which their values are divided before
            they are compared and added, all 1 where they have one unit; a budget needs them,
            unless the problem says that all have one unit. Left out, those that the problem
            declares.

    >>> from hedgerow.functions import Linear
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> game = [(Linear([1.0, 2.0]), Linear([1.0, 0.0], -0.25)) for _ in range(4)]
    >>> best = hindsight(Simplex(2), game)
    >>> best.x.round(9), round(best.cost, 9), best.status
    (array([0.25, 0.75]), 7.0, 'optimal')
    >>> round(hindsight(Simplex(2), game, budget=1.0).cost, 9)
    6.0
    >>> torn = [*game, (Linear([1.0, 2.0]), Linear([-1.0, 0.0], 0.5))]
    >>> print(hindsight(Simplex(2), torn).comparator)
    none: no fixed action satisfies every round
    >>> print(hindsight(Simplex(2), torn, budget="minimum").comparator)
    the best fixed action of those that violate least, by 0.25 in all; none satisfies every round

    """
    steps = hindsight_steps(
        problem,
        rounds,
        budget=budget,
        interval=interval,
        constrained=constrained,
        time_limit=time_limit,
        units=units,
    )
    (best,) = deque(steps, maxlen=1)
    return best


def hindsight_steps(
    problem: Problem | DecisionSet,
    rounds: Iterable[GivenRound] | None = None,
    *,
    budget: float | Literal["minimum"] = 0.0,
    interval: tuple[int, int] | None = None,
    constrained: bool = True,
    time_limit: float | None = None,
    units: Sequence[float] | None = None,
) -> Iterator[Benchmark]:
    """Yield the best action and the best bound so far, and finally the result of `hindsight`.

    Whatever is yielded is proved, so one may stop at any time. The arguments are those of
    `hindsight`.

    >>> from hedgerow.functions import Linear
    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> game = [(Linear([1.0, 2.0]), Linear([1.0, 0.0], -0.25)) for _ in range(4)]
    >>> [(best.status, best.gap) for best in hindsight_steps(Simplex(2), game)]
    [('gap', inf), ('optimal', 0.0)]

    """
    begin, deadline = perf_counter(), Deadline(time_limit)
    allowed = (
        0.0 if budget == "minimum" else as_number(budget, 'the budget, a number or "minimum",')
    )
    if allowed < 0.0:
        raise ValueError(f"the budget must be at least 0, got {allowed:g}")
    game = HindsightGame.of(problem, rounds)
    sizes = getattr(problem, "constraint_units", None) if units is None else units
    if constrained and (budget == "minimum" or allowed > 0.0):
        game = game.in_units(None if sizes is None else as_vector(sizes, "units"))
        if game.units is None and not game.one_unit:
            refuse_sum(
                game.limits,
                game.constraints,
                "their violations cannot be added to compare them with a budget",
                "give units, one size for each constraint, such as "
                f"units={[1.0] * game.constraints} where all have one unit",
            )
    first, last = (1, game.horizon) if interval is None else _interval(interval)
    most = allowed if constrained else math.inf
    search = _least_first if budget == "minimum" and constrained else _search
    table = game.between(first, last)
    steps = search(game.decision_set, table, most, deadline)
    if not game.one_unit:
        steps = (game.without_sums(best, first, last, table.tolerance) for best in steps)
    scale = () if game.units is None else tuple(game.units.tolist())
    return (replace(best, seconds=perf_counter() - begin, units=scale) for best in steps)


def _least_first(
    X: DecisionSet, rounds: Rounds, budget: float, deadline: Deadline
) -> Iterator[Benchmark]:
    """Search for an action that satisfies every round, else for one that violates least."""
    for best in _search(X, rounds, budget, deadline):
        if best.status != "infeasible":
            yield best
    if best.status != "infeasible":
        return
    needed = best.needed_budget
    if needed is None:  # not cheap to find: ask for less than any sum
        (best,) = deque(_search(X, rounds, rounds.tolerance, deadline), maxlen=1)
        needed = best.needed_budget
    if needed is None:  # out of time
        yield best
        return
    most = needed * (1.0 + ALLOWANCE) + rounds.tolerance
    for best in _search(X, rounds, most, deadline):
        yield replace(best, needed_budget=needed, least=True)


def _search(
    X: DecisionSet, rounds: Rounds, budget: float, deadline: Deadline
) -> Iterator[Benchmark]:
    """Search for the best action; a budget over curved constraints becomes one constraint."""
    limits = Cuts.none(X.dim)
    return (replace(best, budget=budget) for best in _searched(X, rounds, budget, deadline, limits))


def _searched(
    X: DecisionSet, rounds: Rounds, budget: float, deadline: Deadline, limits: Cuts
) -> Iterator[Benchmark]:
    if not (isinstance(rounds, ConvexRounds) and 0.0 < budget < math.inf):
        yield from Search(X, rounds, master_for(X), budget, limits, deadline).steps()
        return
    spent = BudgetRounds(rounds, budget)
    for best in Search(X, spent, master_for(X), 0.0, limits, deadline).steps():
        evaluation = rounds.evaluate(
            best.x, np.zeros(rounds.horizon + 1), np.zeros(0, dtype=np.intp)
        )
        needed = evaluation.total if best.status == "infeasible" else None
        yield replace(
            best,
            violation=evaluation.worst,
            ccv=evaluation.total,
            conflict=(),
            needed_budget=needed,
        )


def _interval(interval: tuple[int, int]) -> tuple[int, int]:
    first = as_count(interval[0], "the first round of the interval")
    return first, as_count(interval[1], "the last round of the interval", first)


@dataclass(frozen=True, eq=False)
class HindsightGame:
    """A decision set and its rounds, which are read in chunks or held in memory.

    `one_unit` is whether violations of a round's constraints may be added as they are; otherwise
    they may once they are divided by `units`.
    """

    decision_set: DecisionSet
    horizon: int
    source: LinearProblem | list[Round]
    units: Vector | None = None
    one_unit: bool = True
    limits: tuple[LimitName, ...] = ()

    @property
    def constraints(self) -> int:
        """The largest number of constraints that a round has."""
        if isinstance(self.source, LinearProblem):
            return 1
        return max((len(parts_of(constraint)) for _, constraint in self.source), default=1)

    def in_units(self, units: Vector | None) -> HindsightGame:
        """Return the game with every constraint of several divided by its unit."""
        if units is None or isinstance(self.source, LinearProblem) or self.constraints == 1:
            return self
        counts = {len(parts_of(constraint)) for _, constraint in self.source}
        if counts != {units.size} or not (units > 0.0).all():
            raise ValueError(
                f"units must have one positive number for each constraint, got {units.tolist()}; "
                f"rounds have {', '.join(map(str, sorted(counts)))} constraints"
            )
        if (units == 1.0).all():
            return replace(self, units=units)
        rounds = [(cost, _divided(constraint, units)) for cost, constraint in self.source]
        return replace(self, source=rounds, units=units)

    @classmethod
    def of(
        cls, problem: Problem | DecisionSet, rounds: Iterable[GivenRound] | None
    ) -> HindsightGame:
        """Take the problem's rounds, unless others are given."""
        if not isinstance(problem, Problem | DecisionSet):
            raise TypeError(
                f"hindsight needs a problem, or a decision set and its rounds, got a "
                f"{type(problem).__name__}; call hindsight(problem) or hindsight(X, rounds)"
            )
        if isinstance(problem, LinearProblem) and rounds is None:
            return cls(problem.decision_set, problem.horizon, problem)
        if rounds is None:
            if isinstance(problem, DecisionSet):
                raise TypeError(
                    "hindsight of a decision set needs the rounds: hindsight(X, rounds)"
                )
            rounds = problem
        X = problem.decision_set if isinstance(problem, Problem) else problem
        recorded = RecordedProblem(X, rounds)
        # Rounds that were played by a problem have its units.
        own = problem if isinstance(problem, Problem) else recorded
        one_unit = recorded.one_unit and own.one_unit
        return cls(X, recorded.horizon, list(recorded), None, one_unit, names_of(own.limits))

    def without_sums(self, best: Benchmark, first: int, last: int, tolerance: float) -> Benchmark:
        """Return a benchmark with the CCV of each constraint, in its own unit.

        What compares or adds values of several units is left out, unless `units` made them one.
        """
        assert isinstance(self.source, list)
        rounds, units = self.source[first - 1 : last], self.units
        rows = [[part(best.x) for part in parts_of(g)] for _, g in rounds]
        if len({len(row) for row in rows}) == 1:
            each = np.maximum(rows, 0.0).sum(axis=0) * (1.0 if units is None else units)
            best = replace(best, ccv_each=tuple(each.tolist()))
        if units is not None or best.violation <= tolerance:
            return best
        return replace(best, violation=math.nan, ccv=math.nan, needed_budget=None)

    def between(self, first: int, last: int) -> Rounds:
        """Return the rounds with these numbers, both counted in."""
        if last > self.horizon:
            raise ValueError(f"round {last} was asked for, but there are only {self.horizon}")
        table = self._table(first, last)
        width = self.decision_set.diameter
        table.tolerance *= min(1.0, width) if width > 0.0 else 1.0
        table.tolerance *= max(1.0, width / WIDE)
        return table

    def _table(self, first: int, last: int) -> Rounds:
        if isinstance(self.source, LinearProblem):
            return from_problem(self.source, first, last)
        X, kept = self.decision_set, self.source[first - 1 : last]
        linear = from_list(X.dim, kept, first)
        return ConvexRounds(X.dim, kept, first, X.start()) if linear is None else linear


def _divided(constraint: Function, units: Vector) -> Function:
    pairs = zip(parts_of(constraint), units.tolist(), strict=True)
    return Maximum([scaled(part, 1.0 / unit) for part, unit in pairs])
