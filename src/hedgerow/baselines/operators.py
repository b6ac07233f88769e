"""What operators of networks do: fixed splits, and the best split for a matrix that was seen."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from hedgerow.feedback import Full, full, needs
from hedgerow.functions import parts_of
from hedgerow.inputs import Vector, as_vector
from hedgerow.problems.link_loads import LargestUtilisation, LinkUtilisation, SplitLoads
from hedgerow.problems.traffic_engineering import TrafficEngineering
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import State


class FixedSplit(StatefulPlayer):
    """Plays one fixed split: shortest paths, ECMP, or any other.

    Args:
        decision_set: where to play.
        x: the point.

    """

    oblivious_only = False
    feedback = staticmethod(full)
    oracle_calls = 0

    def __init__(self, decision_set: DecisionSet, x: ArrayLike):
        self.decision_set = decision_set
        point = as_vector(x, "x", decision_set.dim)
        if not decision_set.contains(point):
            raise ValueError("x must lie in the decision set")
        self._state = State(x=decision_set.dim)
        self._state["x"][:] = point

    def ask(self) -> Vector:
        """Return the point."""
        return self._state["x"].copy()

    def tell(self, cost: Full, constraint: Full) -> None:
        """Learn nothing."""


class LastMatrix(StatefulPlayer):
    """Plays the best split for the last traffic matrix: what operators do every few minutes.

    One linear programme a round, which sees the whole matrix. Where no split keeps the limit, the
    largest utilisation is made least.

    Args:
        problem: what is known beforehand: set, latencies and limit; its demands are not looked at.
        start: the first split; each pair on its shortest path if left out.

    """

    oblivious_only = False
    feedback = staticmethod(full)

    def __init__(self, problem: TrafficEngineering, start: ArrayLike | None = None):
        X = self.decision_set = problem.decision_set
        self.problem = problem
        self._state = State(x=X.dim, demand=len(X.pairs), t=1)
        x1 = problem.shortest if start is None else as_vector(start, "start", X.dim)
        self._state["x"][:] = x1

    @property
    def oracle_calls(self) -> int:
        """How many linear programmes were solved."""
        return int(self._state["t"][0])

    def ask(self) -> Vector:
        """Return the split for what was seen."""
        return self._state["x"].copy()

    def tell(self, cost: Full, constraint: Full) -> None:  # noqa: ARG002 - the limit has all
        """See the matrix and solve its linear programme."""
        loads, demand = _matrix(constraint)
        self._state["t"][0] += 1.0
        self._state["demand"][:] = self._planned(demand)
        if self._state["demand"].any():
            self._state["x"][:] = self.problem.best_for(loads, self._state["demand"].copy())[0]

    def _planned(self, demand: Vector) -> Vector:
        """Return the demand to plan for, given the last one."""
        return demand

    @property
    def _configuration(self) -> object:
        return (self.problem.limit,)


class MeanMatrix(LastMatrix):
    """Plays the best split for the mean of all traffic matrices so far."""

    def _planned(self, demand: Vector) -> Vector:
        mean = self._state["demand"]
        return mean + (demand - mean) / float(self._state["t"][0])


def _matrix(constraint: Any) -> tuple[SplitLoads, Vector]:
    """Return the links and the demands of a round."""
    needs(Full, constraint, "this policy", "constraint")
    first = parts_of(constraint.function)[0]
    if not isinstance(first, (LargestUtilisation, LinkUtilisation)):
        raise TypeError(
            "this policy reads the demands off a limit on link utilisation, got a "
            f"{type(first).__name__}; play it on TrafficEngineering"
        )
    return first.loads, first.demand
