"""What one pass over the rounds of a game tells about an action: linear rounds, or convex ones."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from hedgerow.functions import Function, Linear, Maximum, Quadratic
from hedgerow.games.comparators.linear_models import Cuts, Numbers
from hedgerow.inputs import Vector, as_vector
from hedgerow.problems.problem import LinearChunk, LinearProblem, Round

TOLERANCE = 1e-9
"""Constraint values up to this share of the largest coefficient count as satisfied."""
NEW_CUTS = 100
"""At most this many violated rounds join the model at a time, or as many as it has."""

NEW_TANGENTS = 8
"""The same for curved constraints, of which each round has no end of tangents."""

Stream = Callable[[], Iterator[tuple[LinearChunk, Numbers]]]
"""Begins a pass: chunks with the round number of each constraint."""


class Evaluation(NamedTuple):
    """An action x as all rounds see it.

    Attributes:
        x: the action.
        cost: its total cost.
        slope: a subgradient of the total cost there.
        worst: its largest constraint value.
        total: the sum of its positive constraint values.
        broken: the number of rounds with one.
        cuts: the constraints that are furthest above what was known of them.

    """

    x: Vector
    cost: float
    slope: Vector
    worst: float
    total: float
    broken: int
    cuts: Cuts

    def tangent(self) -> Cuts:
        """Return the tangent of the total cost, as one cut."""
        none = np.full(1, -1)  # a cost belongs to no constraint of a round
        offset = np.array([self.cost - float(self.slope @ self.x)])
        return Cuts(self.slope[None, :], offset, none, none)


class Rounds(ABC):
    """The rounds of a game, to be passed over again and again.

    Attributes:
        dim: the number of coordinates.
        horizon: the number of the last round.
        tolerance: constraint values up to this count as satisfied.
        curved: whether the total cost is not linear.
        finite: whether finitely many cuts describe all constraints.

    """

    dim: int
    horizon: int
    tolerance: float
    curved: bool
    finite: bool

    @abstractmethod
    def cost_at(self, x: Vector) -> tuple[float, Vector]:
        """Return the total cost of x and a subgradient there."""

    @abstractmethod
    def evaluate(self, x: Vector, known: Vector, loaded: Numbers) -> Evaluation:
        """Pass over the rounds once.

        Args:
            x: the action.
            known: by round number, what is already known of its constraint at x.
            loaded: numbers of the linear rows that are known exactly.

        """


def top_k(excess: Vector, most: int = NEW_CUTS) -> Numbers:
    """Return the places of the largest entries, the first of equal ones first."""
    return np.argsort(-excess, kind="stable")[:most]


class LinearRounds(Rounds):
    """Rounds f_t(x) = <c_t, x> + b_t and g_t(x) = <a_t, x> + d_t.

    Args:
        dim: the number of coordinates.
        horizon: the number of the last round.
        stream: begins a pass.

    """

    curved, finite = False, True

    def __init__(self, dim: int, horizon: int, stream: Stream):
        self.dim, self.horizon, self.stream = dim, horizon, stream
        self.slope, self.offset, largest = np.zeros(dim), 0.0, 0.0
        for chunk, _ in stream():
            self.slope += chunk.costs.sum(axis=0)
            self.offset += float(chunk.cost_offsets.sum())
            high, low = chunk.constraints.max(initial=0.0), chunk.constraints.min(initial=0.0)
            largest = max(largest, float(high), -float(low))
        self.tolerance = TOLERANCE * max(1e-300, largest)

    def cost_at(self, x: Vector) -> tuple[float, Vector]:
        """Return <c, x> + b for the sums c and b."""
        return float(self.slope @ x) + self.offset, self.slope

    def evaluate(self, x: Vector, known: Vector, loaded: Numbers) -> Evaluation:
        """Pass over the chunks and keep only the most violated rows."""
        positive, most = np.zeros(self.horizon + 1), max(NEW_CUTS, loaded.size)
        new, excess, worst, done = Cuts.none(self.dim), np.zeros(0), -math.inf, 0
        for chunk, rounds in self.stream():
            values = chunk.constraints @ x + chunk.constraint_offsets
            rows = np.arange(done, done + values.size)
            inside = loaded[(loaded >= done) & (loaded < done + values.size)] - done
            done += values.size
            worst = max(worst, float(values.max(initial=-math.inf)))
            np.maximum.at(positive, rounds, values)
            # Rows that the model has already bring nothing, whatever rounding says of them.
            above = values - known[rounds]
            above[inside] = -math.inf
            found = top_k(above, most)
            found = found[above[found] > self.tolerance]
            if found.size:
                d = chunk.constraint_offsets[found]
                cuts = Cuts(chunk.constraints[found], d, rounds[found], rows[found])
                new, excess = new.joined(cuts), np.append(excess, above[found])
                order = top_k(excess, most)
                new, excess = new.taken(order), excess[order]
        broken = int(np.count_nonzero(positive))
        return Evaluation(x, *self.cost_at(x), worst, float(positive.sum()), broken, new)


def from_problem(problem: LinearProblem, first: int, last: int) -> LinearRounds:
    """Read the rounds `first` to `last` of a problem, drawn anew in every pass."""

    def stream() -> Iterator[tuple[LinearChunk, Numbers]]:
        done = 0
        for chunk in problem.chunks():
            k = len(chunk.cost_offsets)
            part = slice(max(0, first - 1 - done), max(0, min(k, last - done)))
            if part.start < part.stop:
                numbers = done + 1 + np.arange(part.start, part.stop)
                yield LinearChunk(*(column[part] for column in chunk)), numbers
            done += k
            if done >= last:
                return

    return LinearRounds(problem.decision_set.dim, last, stream)


def from_list(dim: int, rounds: Sequence[Round], first: int) -> LinearRounds | None:
    """Read linear rounds from memory, the first of them with this number; None if one is curved.

    A Maximum of linear parts counts as several constraints of its round.
    """
    costs: list[Linear] = []
    limits: list[Linear] = []
    numbers: list[int] = []
    for t, (cost, constraint) in enumerate(rounds, start=first):
        parts = constraint.parts if isinstance(constraint, Maximum) else (constraint,)
        linear = [part for part in parts if isinstance(part, Linear)]
        if not isinstance(cost, Linear) or len(linear) < len(parts):
            return None
        costs.append(cost)
        limits += linear
        numbers += [t] * len(linear)
    table = LinearChunk.stack(costs, limits)
    owners = np.array(numbers, dtype=np.intp)
    return LinearRounds(dim, first + len(costs) - 1, lambda: iter([(table, owners)]))


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


class BudgetRounds(Rounds):
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
