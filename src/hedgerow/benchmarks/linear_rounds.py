"""Linear rounds, read chunk by chunk: never all of them are held."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from hedgerow.benchmarks.cuts import Cuts, Numbers
from hedgerow.benchmarks.passes import NEW_CUTS, TOLERANCE, Evaluation, Rounds, top_k
from hedgerow.functions import Linear, Maximum
from hedgerow.inputs import Vector
from hedgerow.problems.problem import LinearChunk, LinearProblem, Round

Stream = Callable[[], Iterator[tuple[LinearChunk, Numbers]]]
"""Begins a pass: chunks with the round number of each constraint."""


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
    table = LinearChunk(*_stacked(costs, dim), *_stacked(limits, dim))
    owners = np.array(numbers, dtype=np.intp)
    return LinearRounds(dim, first + len(costs) - 1, lambda: iter([(table, owners)]))


def _stacked(functions: list[Linear], dim: int) -> tuple[Vector, Vector]:
    slopes = np.array([f.coefficients for f in functions]).reshape(len(functions), dim)
    return slopes, np.array([f.offset for f in functions])
