"""Graphs and cost sequences for the benchmarks, all from fixed seeds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hedgerow as hr
from hedgerow.inputs import Vector

Pairs = NDArray[np.int64]


def dag(nodes: int, edges: int) -> Pairs:
    """Return a chain through all nodes and random forward edges, each pair once, by head."""
    rng = np.random.default_rng(nodes)
    pairs = np.sort(rng.integers(0, nodes, (2 * edges, 2)), axis=1)
    pairs = _distinct(pairs[pairs[:, 0] < pairs[:, 1] - 1], nodes, rng)
    chain = np.column_stack([np.arange(nodes - 1), np.arange(1, nodes)])
    pairs = np.concatenate([chain, pairs[: edges - nodes + 1]])
    return pairs[np.lexsort(pairs.T)]


def hub_digraph(nodes: int, edges: int) -> Pairs:
    """Return edges between a hub and all other nodes, both ways, and random edges."""
    rng = np.random.default_rng(nodes)
    spokes, hub = np.arange(1, nodes), np.zeros(nodes - 1, np.int64)
    pairs = rng.integers(1, nodes, (2 * edges, 2))
    pairs = _distinct(pairs[pairs[:, 0] != pairs[:, 1]], nodes, rng)
    star = np.concatenate([np.column_stack([spokes, hub]), np.column_stack([hub, spokes])])
    return np.concatenate([star, pairs[: edges - len(star)]])


def graph(nodes: int, edges: int) -> Pairs:
    """Return a connected undirected graph: a path and random edges, each pair once."""
    return np.random.default_rng(0).permutation(dag(nodes, edges))


def bipartite(side: int, edges: int) -> Pairs:
    """Return random edges between two sides of equal size, each pair once."""
    rng = np.random.default_rng(side)
    chosen = rng.choice(side * side, edges, replace=False)
    return np.column_stack([chosen // side, side + chosen % side])


def _distinct(pairs: Pairs, nodes: int, rng: np.random.Generator) -> Pairs:
    keys = rng.permutation(np.unique(pairs[:, 0] * nodes + pairs[:, 1]))
    return np.column_stack([keys // nodes, keys % nodes])


def fresh(n: int, count: int, mean: float = 0.0) -> list[Vector]:
    """Return unrelated normal vectors."""
    rng = np.random.default_rng(n)
    return [mean + rng.standard_normal(n) for _ in range(count)]


def positive(n: int, count: int) -> list[Vector]:
    """Return unrelated vectors above zero."""
    rng = np.random.default_rng(n)
    return [rng.uniform(0.5, 1.5, n) for _ in range(count)]


def drift(n: int, count: int) -> list[Vector]:
    """Return sums of noisy vectors after 100 rounds, entries of both signs."""
    rng = np.random.default_rng(n)
    mean = rng.standard_normal(n)
    total, items = 100.0 * mean, []
    for _ in range(count):
        total = total + mean + rng.standard_normal(n)
        items.append(total)
    return items


def directions(X: hr.DecisionSet, skip: int, count: int) -> list[Vector]:
    """Return the directions that a policy without tracking asks for, from round `skip` on.

    Random costs and a constraint that the cheapest point violates, as in `ShortestPath`.
    """
    rng = np.random.default_rng(X.dim)
    policy = hr.projection_free_coco(X, tracking=False)
    asked = Recorder.of(policy)
    price, load = rng.lognormal(0.0, 1.0, (2, X.dim))
    least = 1.25 * float(load @ X.lmo(price))
    for _ in range(skip + count):
        x = policy.ask()
        cost = hr.Linear(price * rng.uniform(0.5, 1.5, X.dim))
        constraint = hr.Linear(-load * rng.uniform(0.8, 1.2, X.dim), least)
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
    return asked.directions[skip:]


class Recorder(hr.sets.Workspace):
    """Remembers what a learner asks its workspace for."""

    def __init__(self, inner: hr.sets.Workspace):
        super().__init__(inner.decision_set)
        self.inner = inner
        self.directions: list[Vector] = []
        self.targets: list[Vector] = []

    @classmethod
    def of(cls, policy: Any) -> Recorder:
        """Put a recorder into a policy, which then plays by its objects alone."""
        recorder = policy.learner._workspace = cls(policy.learner._workspace)
        recorder.space = None  # a compiled loop would ask the oracle itself
        return recorder

    def lmo(self, c: Vector) -> Vector:
        """Remember the direction, then answer."""
        self.directions.append(c.copy())
        return self.inner.lmo(c)

    def project(self, y: Vector) -> Vector:
        """Remember the point, then answer."""
        self.targets.append(y.copy())
        return self.inner.project(y)


def turning(shape: tuple[int, int], count: int, symmetric: bool) -> list[Vector]:
    """Return matrices, row by row, that change by 2 % per round."""
    rng = np.random.default_rng(shape[0])

    def noise() -> Vector:
        matrix: Vector = rng.standard_normal(shape)
        return (matrix + matrix.T) / np.sqrt(2.0) if symmetric else matrix

    matrix, items = noise(), []
    for _ in range(count):
        matrix = matrix + 0.02 * noise()
        items.append(matrix.ravel().copy())
    return items


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
