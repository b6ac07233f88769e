"""Rounds in a file that threads and processes map into their memory: drawn once for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.problems.problem import LinearChunk, LinearProblem, chunk_lengths
from hedgerow.sets.decision_set import DecisionSet


class MappedRounds(LinearProblem):
    """The rounds of a linear problem, as `store_rounds` wrote them.

    Args:
        decision_set: where the game is played.
        horizon: the number of rounds.
        path: the file, which holds all costs, all constraints, and the offsets of both.

    """

    def __init__(self, decision_set: DecisionSet, horizon: int, path: Path):
        self.decision_set, self.horizon, self.path = decision_set, horizon, path

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time; nothing is copied."""
        whole = _parts(np.memmap(self.path, np.float64, "r"), self.horizon)
        done = 0
        for length in chunk_lengths(self.horizon, size):
            yield LinearChunk(*(part[done : done + length] for part in whole))
            done += length


def store_rounds(problem: LinearProblem, path: Path) -> MappedRounds:
    """Draw all rounds of a problem into a new file."""
    horizon, n = problem.horizon, problem.decision_set.dim
    whole = _parts(np.memmap(path, np.float64, "w+", shape=(horizon * (2 * n + 2),)), horizon)
    done = 0
    for chunk in problem.chunks():
        end = done + len(chunk.costs)
        for part, rows in zip(whole, chunk, strict=True):
            part[done:end] = rows
        done = end
    return MappedRounds(problem.decision_set, horizon, path)


def _parts(numbers: Vector, horizon: int) -> LinearChunk:
    """Return views of the file's numbers."""
    table = np.asarray(numbers)
    rows = (table.size - 2 * horizon) // 2
    costs, constraints = table[:rows], table[rows : 2 * rows]
    offsets = table[2 * rows :]
    return LinearChunk(
        costs.reshape(horizon, -1), offsets[:horizon], constraints.reshape(horizon, -1),
        offsets[horizon:],
    )  # fmt: skip
