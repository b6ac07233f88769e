"""Sets to play on, and their projections written independently of the library."""

from __future__ import annotations

import functools

import numpy as np
import quadprog

import hedgerow as hr

SETS = {
    "simplex": lambda: hr.sets.Simplex(12),
    "ball": lambda: hr.sets.L2Ball(7, radius=2.0),
    "box": lambda: hr.sets.Box(-np.arange(1.0, 7.0), np.ones(6)),
    "dag": lambda: (
        hr.ShortestPath.random_network(nodes=10, edges=24, horizon=8, seed=3).decision_set
    ),
}


def nearest(X, y):
    """The point of X nearest to y."""
    if isinstance(X, hr.sets.L2Ball):
        return y * min(1.0, X.radius / max(1e-300, float(np.linalg.norm(y))))
    if isinstance(X, hr.sets.Box):
        return np.clip(y, X.lower, X.upper)
    if isinstance(X, hr.sets.Simplex):
        ordered = np.sort(y)[::-1]
        excess = np.cumsum(ordered) - X.total
        k = np.flatnonzero(ordered * np.arange(1, len(y) + 1) > excess)[-1]
        return np.maximum(0.0, y - excess[k] / (k + 1))
    x = np.zeros(X.dim)
    x[X.live] = quadprog.solve_qp(np.eye(X.live.sum()), y[X.live], *balances(X))[0]
    return x


@functools.cache
def balances(X):
    """A path polytope for quadprog: C^T x >= b over its live edges, the first rows as equations."""
    rows, n = X.rows(), X.live.sum()
    A = rows.A_eq.toarray()[:, X.live]
    return np.hstack([A.T, np.eye(n)]), np.concatenate([rows.b_eq, np.zeros(n)]), len(A)


def along(X, g):
    """The part of g along X, as far as the library takes it."""
    if isinstance(X, hr.sets.Simplex):
        return g - g.mean()
    return np.where(X.live, g, 0.0) if isinstance(X, hr.sets.DagPaths) else g
