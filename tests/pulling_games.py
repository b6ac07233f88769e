"""Small games in which cost and constraint pull apart, and one point satisfies every round."""

from __future__ import annotations

import numpy as np

import hedgerow as hr

EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4), (1, 4), (5, 4)]
SETS = {
    "simplex": lambda: hr.sets.Simplex(5),
    "ball": lambda: hr.sets.L2Ball(4, radius=2.0),
    "box": lambda: hr.sets.Box([-1.0, 0.0, 2.0], [1.0, 5.0, 2.0]),
    "dag": lambda: hr.sets.DagPaths(EDGES, 0, 4),
}


def linear_rounds(X, T, seed):
    """Costs and constraints that pull apart, of Lipschitz constant 1; one point keeps all."""
    rng = np.random.default_rng(seed)
    push = rng.standard_normal(X.dim)
    kept = between(X, push)
    for _ in range(T):
        a = push + 0.5 * rng.standard_normal(X.dim)
        b = -push + 0.5 * rng.standard_normal(X.dim)
        a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
        yield hr.Linear(a), hr.Linear(b, -float(b @ kept) - rng.uniform(0.0, 0.1))


def between(X, push):
    return 0.3 * X.lmo(push) + 0.7 * X.lmo(-push)


def kept_point(X, seed):
    """The point that satisfies every round of `linear_rounds`."""
    return between(X, np.random.default_rng(seed).standard_normal(X.dim))


def plays(policy, rounds, feedback=hr.first_order):
    xs = []
    for cost, constraint in rounds:
        xs.append(policy.ask())
        policy.tell(feedback(cost, xs[-1]), feedback(constraint, xs[-1]))
    return np.array(xs)
