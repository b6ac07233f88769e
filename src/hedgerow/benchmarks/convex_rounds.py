"""Rounds of any convex functions, held in memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from hedgerow.benchmarks.cuts import Cuts, Numbers
from hedgerow.benchmarks.passes import NEW_TANGENTS, TOLERANCE, Evaluation, Rounds, top_k
from hedgerow.functions import Function, Linear, Maximum, Quadratic
from hedgerow.inputs import Vector, as_vector
from hedgerow.problems.problem import Round


class ConvexRounds(Rounds):
    """Rounds of convex functions, each known by value and subgradient.

    Linear and quadratic costs are added up once.

    Args:
        dim: the number of coordinates.
        rounds: the rounds.
        first: the number of the first one.
        start: a point of the set, where the size of the constraints' gradients is taken.

    """

    finite = False

    def __init__(self, dim: int, rounds: Sequence[Round], first: int, start: Vector):
        self.dim, self.horizon = dim, first + len(rounds) - 1
        self.costs = _added_up([cost for cost, _ in rounds], dim)
        self.parts = [
            (t, part)
            for t, (_, constraint) in enumerate(rounds, start=first)
            for part in _parts(constraint)
        ]
        self.curved = not all(isinstance(cost, Linear) for cost in self.costs)
        sizes = [float(np.abs(g.grad(start)).max(initial=0.0)) for _, g in self.parts]
        self.tolerance = TOLERANCE * max(1e-300, max(sizes, default=0.0))

    def cost_at(self, x: Vector) -> tuple[float, Vector]:
        """Return the sums of the values and of the subgradients."""
        value, slope = 0.0, np.zeros(self.dim)
        for cost in self.costs:
            value += float(cost(x))
            slope = slope + as_vector(cost.grad(x), "the subgradient of a cost", self.dim)
        return value, slope

    def evaluate(self, x: Vector, known: Vector, loaded: Numbers) -> Evaluation:  # noqa: ARG002
        """Evaluate all constraints and take tangents of the most violated ones."""
        values = np.array([float(g(x)) for _, g in self.parts])
        rounds = np.array([t for t, _ in self.parts], dtype=np.intp)
        positive = np.zeros(self.horizon + 1)
        np.maximum.at(positive, rounds, values)
        excess = values - known[rounds]
        found = top_k(excess, NEW_TANGENTS)
        found = found[excess[found] > self.tolerance]
        slopes = np.array([self.parts[i][1].grad(x) for i in found]).reshape(-1, self.dim)
        offsets = values[found] - slopes @ x
        cuts = Cuts(slopes, offsets, rounds[found], np.full(found.size, -1))
        worst = float(values.max(initial=-math.inf))
        broken = int(np.count_nonzero(positive))
        return Evaluation(x, *self.cost_at(x), worst, float(positive.sum()), broken, cuts)


class SpentRounds(Rounds):
    """Convex rounds with one constraint in all: sum max(0, g_t(x)) <= budget.

    One tangent of the sum instead of one for each round keeps the models small; and since the
    constraints are curved, no number of tangents of each would be exact anyway.
    """

    finite = False

    def __init__(self, rounds: ConvexRounds, budget: float):
        self.inner, self.budget = rounds, budget
        self.dim, self.horizon, self.curved = rounds.dim, rounds.horizon, rounds.curved
        self.tolerance = rounds.tolerance * rounds.horizon

    def cost_at(self, x: Vector) -> tuple[float, Vector]:
        """Return the costs of the rounds themselves."""
        return self.inner.cost_at(x)

    def evaluate(self, x: Vector, known: Vector, loaded: Numbers) -> Evaluation:  # noqa: ARG002
        """Take the tangent of the sum; it is the constraint of round 0."""
        largest: dict[int, tuple[float, Function]] = {}
        for t, part in self.inner.parts:
            if (value := float(part(x))) > largest.get(t, (0.0, part))[0]:
                largest[t] = value, part
        total, slope = 0.0, np.zeros(self.dim)
        for value, part in largest.values():
            total, slope = total + value, slope + part.grad(x)
        over = total - self.budget
        zero = np.zeros(1, dtype=np.intp)
        cuts = Cuts(slope[None, :], np.array([over - float(slope @ x)]), zero, zero - 1)
        if over - known[0] <= self.tolerance:
            cuts = Cuts.none(self.dim)
        return Evaluation(x, *self.cost_at(x), over, max(0.0, over), len(largest), cuts)


def _parts(constraint: Function) -> Iterator[Function]:
    """Yield the parts of a maximum, of maxima in it too."""
    if isinstance(constraint, Maximum):
        for part in constraint.parts:
            yield from _parts(part)
    else:
        yield constraint


def _added_up(costs: Sequence[Function], dim: int) -> list[Function]:
    """Return few functions with the same sum."""
    linear, offset, others = np.zeros(dim), 0.0, []
    matrix: Vector = np.zeros(dim)
    for cost in costs:
        if isinstance(cost, Linear):
            linear, offset = linear + cost.coefficients, offset + cost.offset
        elif isinstance(cost, Quadratic):
            linear, offset = linear + cost.linear, offset + cost.offset
            matrix = _plus(matrix, cost.matrix)
        else:
            others.append(cost)
    total = Quadratic(matrix, linear, offset) if matrix.any() else Linear(linear, offset)
    return [total, *others]


def _plus(total: Vector, matrix: Vector) -> Vector:
    """Add matrices that may be given as numbers or diagonals."""
    if total.ndim == matrix.ndim or (total.ndim == 1 and matrix.ndim == 0):
        return total + matrix
    if total.ndim == 1:
        return np.diag(total) + matrix
    return total + np.diag(np.broadcast_to(matrix, len(total)))
