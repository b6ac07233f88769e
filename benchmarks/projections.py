"""Projections against sorting, eigen-decompositions and QP solvers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from instances import bipartite, fresh, hub_digraph, turning
from measure import REPETITIONS, Contest, Target
from peers import qp_solvers
from projection_run import trajectory

import hedgerow as hr
from hedgerow.inputs import Vector


def point(y: Vector, result: Any) -> Vector:  # noqa: ARG001
    """Return the projection itself."""
    return np.asarray(result)


def contests(k: int) -> Iterator[Contest]:
    """Yield all contests of the k-th size, 0 the smallest."""
    for family in (vectors, permutations, assignments, paths, flows, spectral, generic):
        yield from family(k)


def by_sorting(y: Vector, total: float = 1.0) -> Vector:
    """Project on the simplex with one sort (Held, Wolfe and Crowder 1974)."""
    falling = np.sort(y)[::-1]
    sums = np.cumsum(falling) - total
    last = np.flatnonzero(falling * np.arange(1, y.size + 1) > sums)[-1]
    return np.maximum(y - sums[last] / (last + 1), 0.0)


def ball_by_sorting(y: Vector) -> Vector:
    """Project on the l1 ball with one sort."""
    return np.sign(y) * by_sorting(np.abs(y)) if np.abs(y).sum() > 1.0 else y.copy()


def by_bisection(y: Vector, k: float) -> Vector:
    """Project on {0 <= x <= 1, sum = k} by bisection on the multiplier."""
    low, high = float(y.min()) - 1.0, float(y.max())
    while high - low > 1e-14 * max(1.0, abs(high)):
        middle = 0.5 * (low + high)
        if np.clip(y - middle, 0.0, 1.0).sum() > k:
            low = middle
        else:
            high = middle
        if middle in (low, high) and np.nextafter(low, high) >= high:
            break
    return np.clip(y - high, 0.0, 1.0)


def vectors(k: int) -> Iterator[Contest]:
    """Sums that are fixed or bounded."""
    n = (1200, 12_000, 120_000)[k]
    items, size = fresh(n, 3), f"n = {n}"
    subsets = hr.sets.KSubsets(n, n // 10)
    for X, name, peer in (
        (hr.sets.Simplex(n), "NumPy, by sorting", by_sorting),
        (hr.sets.L1Ball(n), "NumPy, by sorting", ball_by_sorting),
        (subsets, "NumPy, by bisection", lambda y: by_bisection(y, n // 10)),
    ):
        label = f"{type(X).__name__}.project"
        yield Contest(label, size, items, X.project, {name: peer}, point)


def permutations(k: int) -> Iterator[Contest]:
    """The description as a QP has n^2 variables, so sizes are small."""
    n = (15, 30, 60)[k]
    X = hr.sets.Permutahedron(np.arange(float(n)))
    items = [3.0 * y for y in fresh(n, 3)]
    peers = qp_solvers(X.rows(), dense=False)
    yield Contest("Permutahedron.project", f"n = {n}", items, X.project, peers, point)


def assignments(k: int) -> Iterator[Contest]:
    """Doubly stochastic matrices and bipartite matchings."""
    n = (10, 40, 100)[k]
    X = hr.sets.Birkhoff(n)
    items = [y / n for y in fresh(n * n, 2)]
    peers = qp_solvers(X.rows(), dense=k == 0)
    yield Contest("Birkhoff.project", f"{n} x {n}", items, X.project, peers, point)
    Y = hr.sets.Matchings(bipartite(2 * n, 8 * n))
    items = [0.2 + 0.3 * y for y in fresh(8 * n, 2)]
    peers = qp_solvers(Y.rows(), dense=k == 0)
    yield Contest("Matchings.project, bipartite", f"{8 * n} edges", items, Y.project, peers, point)


def paths(k: int) -> Iterator[Contest]:
    """The points that the projection-based policy projects after 100 rounds, and random ones."""
    nodes, edges = ((40, 200), (191, 1200), (764, 4800))[k]
    problem = hr.ShortestPath.random_network(nodes, edges, horizon=400, seed=1)
    X, size = problem.decision_set, f"{nodes} / {edges} edges"
    count = (20, 10, 2)[k] * REPETITIONS
    rows = X.rows()
    concentrated = trajectory(problem, 100, count)
    for word, ours, items, moving, least in (
        ("warm, a policy's points", X.workspace().project, concentrated, True, 40.0),
        ("cold, a policy's points", X.project, concentrated, True, 0.0),
        ("warm, random points", X.workspace().project, fresh(edges, 3), False, 1.0),
    ):
        peers = qp_solvers(rows, dense=k == 0)
        targets = {"PIQP": Target(least)} if least and (k or not moving) else {}
        yield Contest(f"DagPaths.project, {word}", size, items, ours, peers, point, targets, moving)


def flows(k: int) -> Iterator[Contest]:
    """Unit flows on a hub digraph, random points: the hard case, most edges are free."""
    nodes, edges = ((40, 240), (191, 1200), (764, 4800))[k]
    X = hr.sets.UnitFlow(hub_digraph(nodes, edges), 1, nodes - 1)
    items = [0.3 * y for y in fresh(edges, 2)]
    peers = qp_solvers(X.rows(), dense=k == 0)
    size, targets = f"{nodes} / {edges} edges", {"PIQP": Target(1.0)}
    name = "UnitFlow.project, random points"
    yield Contest(name, size, items, X.workspace().project, peers, point, targets)


def spectral(k: int) -> Iterator[Contest]:
    """One decomposition and a projection on the simplex: the rest is overhead."""
    n = (50, 200, 500)[k]

    def eigen(y: Vector) -> Vector:
        values, vectors = np.linalg.eigh(y.reshape(n, n))
        return ((vectors * by_sorting(values)) @ vectors.T).ravel()

    def singular(y: Vector) -> Vector:
        u, values, v = np.linalg.svd(y.reshape(n, n), full_matrices=False)
        return ((u * by_sorting(values)) @ v).ravel()

    for X, symmetric, word, peer in (
        (hr.sets.Spectrahedron(n), True, "NumPy eigh, by sorting", eigen),
        (hr.sets.NuclearBall(n, n), False, "NumPy svd, by sorting", singular),
    ):
        items = turning((n, n), 1, symmetric)
        label = f"{type(X).__name__}.project"
        yield Contest(label, f"{n} x {n}", items, X.project, {word: peer}, point)


def generic(k: int) -> Iterator[Contest]:
    """Sets known by rows or by vertices."""
    n = (20, 60, 200)[k]
    rng = np.random.default_rng(n)
    A = rng.random((n // 2, n))
    X = hr.sets.Polytope(A, 0.25 * A.sum(axis=1), upper=1.0)
    items = [0.5 + y for y in fresh(n, 2)]
    peers = qp_solvers(X.rows(), dense=True)
    size = f"{n} variables, {n // 2} rows"
    yield Contest("Polytope.project", size, items, X.project, peers, point)
    Y = hr.sets.ConvexHull(rng.standard_normal((5 * n, n)))
    peers = qp_solvers(Y.rows(), dense=False)
    yield Contest("ConvexHull.project", f"{5 * n} points, n = {n}", items, Y.project, peers, point)
