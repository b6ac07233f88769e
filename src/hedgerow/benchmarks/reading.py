"""Which rounds count, and how they are read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hedgerow.benchmarks.convex_rounds import ConvexRounds
from hedgerow.benchmarks.linear_rounds import from_list, from_problem
from hedgerow.benchmarks.passes import Rounds
from hedgerow.problems.problem import LinearProblem, Problem, Round
from hedgerow.problems.recorded import GivenRound, Recorded
from hedgerow.sets.decision_set import DecisionSet

WIDE = 1e3
"""On sets wider than this constraint values are rounded at more than the usual tolerance."""


@dataclass(frozen=True, eq=False)
class Game:
    """A decision set and rounds that are read in chunks, or else held in memory."""

    decision_set: DecisionSet
    horizon: int
    source: LinearProblem | list[Round]

    @classmethod
    def of(cls, problem: Problem | DecisionSet, rounds: Iterable[GivenRound] | None) -> Game:
        """Take the problem's rounds, unless others are given."""
        if isinstance(problem, LinearProblem) and rounds is None:
            return cls(problem.decision_set, problem.horizon, problem)
        if rounds is None:
            if not isinstance(problem, Problem):
                raise TypeError(
                    "hindsight of a decision set needs the rounds: hindsight(X, rounds)"
                )
            rounds = problem
        X = problem.decision_set if isinstance(problem, Problem) else problem
        kept = list(Recorded(X, rounds))
        return cls(X, len(kept), kept)

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
