"""What a round cannot do without: reading its two rows once, and one pass over the graph."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

import hedgerow as hr
from hedgerow.kernels.paths import list_path


@numba.njit(fastmath=True)
def stream(costs: Any, constraints: Any) -> float:
    """Add up all entries, row by row, as fast as memory gives them."""
    total = 0.0
    for r in range(costs.shape[0]):
        for i in range(costs.shape[1]):
            total += costs[r, i] + constraints[r, i]
    return total


@numba.njit
def passes(times: int, begin: Any, tail: Any, edge: Any, c: Any, distance: Any, links: Any) -> None:
    """Find the shortest path again and again, without leaving compiled code."""
    for _ in range(times):
        list_path(begin, tail, edge, c, distance, links)


@numba.njit(fastmath=True)
def alternate(
    costs: Any, constraints: Any, begin: Any, tail: Any, edge: Any, distance: Any, links: Any
) -> float:
    """Read a round's rows, then find a path by its costs, round after round."""
    total = 0.0
    for r in range(costs.shape[0]):
        for i in range(costs.shape[1]):
            total += costs[r, i] + constraints[r, i]
        list_path(begin, tail, edge, costs[r], distance, links)
    return total


class Floor:
    """Reads ready-made rows once and does as many passes over the graph.

    All rows come first, then all passes, with the same costs each time: the processor foresees
    both. `alternately` does them in turn, with new costs each time, as every round must.
    """

    def __init__(self, X: hr.sets.DagPaths, table: hr.problems.LinearChunk):
        self._rows = table.costs, table.constraints
        nodes = X.nodes
        self._graph = X._begin, X._tail, X._edge, table.costs[0].copy()
        self._scratch = np.empty(nodes), np.empty(nodes, np.uint32)

    def __call__(self, rounds: int) -> None:
        """Do what this many rounds need at least."""
        stream(self._rows[0][:rounds], self._rows[1][:rounds])
        passes(rounds, *self._graph, *self._scratch)

    def alternately(self, rounds: int) -> None:
        """Do the same round by round."""
        graph = self._graph[:3]
        alternate(self._rows[0][:rounds], self._rows[1][:rounds], *graph, *self._scratch)
