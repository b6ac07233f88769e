"""Linear programmes over splits: the best one for a matrix, and the least limit for all of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.problems.link_loads import SplitLoads
from hedgerow.sets.decision_set import DecisionSet, Rows
from hedgerow.sets.solvers import linear_programme

if TYPE_CHECKING:
    from scipy import sparse

CUTS = 64
"""So many of the most violated (round, link) join a programme at a time."""
EXACT = 1e-9
"""A limit is found when no link is above it by more than this."""


def utilisation_rows(loads: SplitLoads, demand: Vector) -> sparse.csr_array:
    """Return links x coordinates: times a split it gives the utilisations."""
    from scipy import sparse

    scaled = loads.incidence.multiply(demand[loads.pair_of][None, :])
    return sparse.csr_array(sparse.diags_array(1.0 / loads.capacity) @ scaled)


def best_split(
    X: DecisionSet, cost: Vector, rows: sparse.csr_array, limit: float
) -> tuple[Vector, float]:
    """Return the cheapest split with rows x <= limit, and the limit that it satisfies.

    Where no split satisfies the limit, it is raised to the least that one satisfies.
    """
    description = X.rows()
    x = _solved(description, cost, rows, np.full(rows.shape[0], limit))
    if x is None:
        limit = least_limit(description, rows)[1] * (1.0 + EXACT)
        x = _solved(description, cost, rows, np.full(rows.shape[0], limit))
    if x is None:
        raise RuntimeError("the linear programme of a matrix has no solution; are demands finite?")
    return x, limit


def least_limit(description: Rows, rows: sparse.csr_array) -> tuple[Vector, float]:
    """Return a split whose largest row is least, and that value."""
    from scipy import sparse

    m, n = rows.shape
    assert description.A_eq is not None  # what splits demands has sums or balances
    beside = sparse.csr_array(np.zeros((description.A_eq.shape[0], 1)))
    found = linear_programme(
        np.append(np.zeros(n), 1.0),
        sparse.csr_array(sparse.hstack([rows, sparse.csr_array(np.full((m, 1), -1.0))])),
        np.zeros(m),
        sparse.csr_array(sparse.hstack([description.A_eq, beside])),
        description.b_eq,
        np.append(description.lower, -np.inf),
        np.append(description.upper, np.inf),
    )
    if found.x is None:
        raise RuntimeError(f"the least limit was not found: {found.message.lower()}")
    return found.x[:n], float(found.x[n])


def _solved(
    description: Rows, cost: Vector, rows: sparse.csr_array, limits: Vector
) -> Vector | None:
    """Return the cheapest split with rows x <= limits, None if there is none."""
    x: Vector | None = linear_programme(
        cost / (float(np.abs(cost).max()) or 1.0),
        rows,
        limits,
        description.A_eq,
        description.b_eq,
        description.lower,
        description.upper,
    ).x
    return x


def least_limit_of_all(
    X: DecisionSet, loads: SplitLoads, demands: Vector, available: Vector
) -> tuple[Vector, float]:
    """Return the split whose largest utilisation over all rounds is least, and that value.

    `available` is the share of each link's capacity in each round, or one number for all. A
    programme of few (round, link) is solved, and the most violated ones join it.
    """
    from scipy import sparse

    description, x = X.rows(), X.start()
    chosen: dict[tuple[int, int], None] = {}
    limit = -math.inf
    while True:
        used = loads.utilisation(x, demands) / available
        order = np.argsort(used, axis=None)[::-1][:CUTS]
        worst = [
            (int(t), int(e)) for t, e in zip(*np.unravel_index(order, used.shape), strict=True)
        ]
        # The programme never loses rows, so its limit rises to the least limit of all rounds.
        new = [place for place in worst if used[place] > limit + EXACT and place not in chosen]
        if not new:
            return x, float(used.max())
        chosen.update(dict.fromkeys(new))
        left = np.broadcast_to(available, used.shape)
        rows = sparse.csr_array(
            np.array([loads.row(e, demands[t]) / left[t, e] for t, e in chosen])
        )
        x, limit = least_limit(description, rows)
