"""Linear problems that say beforehand how large their rounds can be."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np

from hedgerow.inputs import Vector, read_only
from hedgerow.problems.problem import LinearChunk, LinearProblem


class EnvelopedProblem(LinearProblem):
    """A linear problem on nonnegative points whose coefficients stay between two known rounds.

    If c <= c_t <= C in every coordinate and x >= 0, then <c, x> <= <c_t, x> <= <C, x>, so four
    oracle calls bound all rounds at all points. The bounds are those of the law or of the data,
    not of one draw.

    Attributes:
        feasible: a point that keeps every round's constraint.

    """

    @property
    @abstractmethod
    def envelope(self) -> tuple[LinearChunk, LinearChunk]:
        """Two rounds (chunks of one) with every round between them, offsets included."""

    @cached_property
    def feasible(self) -> Vector:
        """The vertex that keeps the upper envelope of the constraints with the most slack."""
        return read_only(self.decision_set.lmo(self.envelope[1].constraints[0]))

    @property
    def cost_lipschitz(self) -> float:
        """No cost has a longer gradient."""
        low, high = self.envelope
        return _longest(low.costs, high.costs)

    @property
    def constraint_lipschitz(self) -> float:
        """No constraint has a longer gradient."""
        low, high = self.envelope
        return _longest(low.constraints, high.constraints)

    @cached_property
    def cost_range(self) -> tuple[float, float]:
        """Every cost lies between these two, at every point of the set."""
        low, high = self.envelope
        least = self.decision_set.minimum(low.costs[0]) + float(low.cost_offsets[0])
        return least, float(high.cost_offsets[0]) - self.decision_set.minimum(-high.costs[0])

    @cached_property
    def violation_range(self) -> float:
        """No constraint has a larger value anywhere in the set."""
        high = self.envelope[1]
        largest = -self.decision_set.minimum(-high.constraints[0])
        return largest + float(high.constraint_offsets[0])


def one_round(cost: Vector, cost_offset: float, constraint: Vector, offset: float) -> LinearChunk:
    """Return a chunk of one round."""
    return LinearChunk(cost[None], np.array([cost_offset]), constraint[None], np.array([offset]))


def _longest(low: Vector, high: Vector) -> float:
    return float(np.linalg.norm(np.maximum(np.abs(low), np.abs(high))))
