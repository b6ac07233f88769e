"""Rounds for long and large games: one drawn block of rounds, shown again and again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from instances import dag

import hedgerow as hr


class Tiled(hr.problems.LinearProblem):
    """A block of linear rounds repeated up to a horizon: memory does not grow with it."""

    def __init__(self, decision_set: hr.DecisionSet, block: hr.problems.LinearChunk, horizon: int):
        self.decision_set, self.block, self.horizon = decision_set, block, horizon

    def chunks(self, size: int = 256) -> Iterator[hr.problems.LinearChunk]:  # noqa: ARG002 - the block's
        """Yield the block until the horizon is reached."""
        k = len(self.block.cost_offsets)
        for done in range(0, self.horizon, k):
            yield hr.problems.LinearChunk(*(part[: self.horizon - done] for part in self.block))


def paths(nodes: int, edges: int, horizon: int, block: int = 256) -> Tiled:
    """Return a shortest-path game on a random DAG, with a bandwidth that the cheap paths lack."""
    X = hr.sets.DagPaths(dag(nodes, edges), 0, nodes - 1)
    rng = np.random.default_rng(edges)
    price, width = rng.lognormal(0.0, 1.0, (2, edges))
    block = min(block, horizon)
    costs, widths = np.empty((block, edges)), np.empty((block, edges))
    for row in range(block):
        np.multiply(price, rng.uniform(0.5, 1.5, edges), out=costs[row])
        np.multiply(-width, rng.uniform(0.8, 1.2, edges), out=widths[row])
    asked = 1.25 * float(width @ X.lmo(price))
    offsets = np.zeros(block), np.full(block, asked)
    return Tiled(X, hr.problems.LinearChunk(costs, offsets[0], widths, offsets[1]), horizon)
