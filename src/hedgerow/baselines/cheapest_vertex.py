"""The cheapest vertex within a linear limit, by the oracle alone or from a list of all vertices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.sets.paths.dag_paths import DagPaths
from hedgerow.sets.paths.graph import number_nodes
from hedgerow.sets.simplices.simplex import Simplex

TIE = 1e-9
"""Two vertices whose lengths differ by less than this share are equally long."""
MOST_CALLS = 60
"""The most oracle calls by which the two vertices are searched."""
MOST_OPTIONS = 1000
"""Sets with more vertices than this are not listed."""


def vertices_about(
    lmo: Callable[[Vector], Vector], cost: Vector, limit: Vector, offset: float
) -> tuple[Vector, Vector]:
    """Return a cheap vertex and one that satisfies <limit, x> + offset <= 0.

    The cheapest point of the set within the limit lies between the two: they minimise
    cost + price * limit for one price, and the first violates the limit. The two are one vertex
    where the cheapest of all satisfies the limit, and where none does; then it violates least.

    Args:
        lmo: the oracle.
        cost: what a unit of each coordinate costs.
        limit: the coefficients of the limit.
        offset: its constant.

    Reference: Juttner, Szviatovszki, Mecs and Rajko, Lagrange relaxation based method for the QoS
    routing problem (INFOCOM 2001).

    """
    cheap, safe = lmo(cost), lmo(limit)
    if float(limit @ cheap) + offset <= 0.0:
        return cheap, cheap
    if float(limit @ safe) + offset > 0.0:
        return safe, safe
    for _ in range(MOST_CALLS):
        gain = float(limit @ (cheap - safe))
        if gain <= 0.0:
            break
        price = float(cost @ (safe - cheap)) / gain
        mixed = cost + price * limit
        between = lmo(mixed)
        if float(mixed @ between) >= float(mixed @ safe) - TIE * abs(float(mixed @ safe)):
            break
        if float(limit @ between) + offset <= 0.0:
            safe = between
        else:
            cheap = between
    return cheap, safe


def listed_vertices(decision_set: DecisionSet, most: int = MOST_OPTIONS) -> Vector | None:
    """Return all vertices as rows, for a simplex or routes of a DAG; None where there are more.

    >>> listed_vertices(DagPaths([("a", "b"), ("b", "c"), ("a", "c")], "a", "c"))
    array([[1., 1., 0.],
           [0., 0., 1.]])

    """
    if isinstance(decision_set, Simplex):
        return decision_set.total * np.eye(decision_set.n) if decision_set.n <= most else None
    return _listed_routes(decision_set, most) if isinstance(decision_set, DagPaths) else None


def _listed_routes(X: DagPaths, most: int) -> Vector | None:
    """Walk along live edges alone, which all lead to the target: no walk is in vain."""
    tail, head, number = number_nodes(X.edges)
    out: dict[int, list[int]] = {}
    for edge in np.flatnonzero(X.live):
        out.setdefault(int(tail[edge]), []).append(int(edge))
    routes: list[list[int]] = []
    walks: list[tuple[int, list[int]]] = [(number[X.source], [])]
    while walks:
        node, route = walks.pop()
        if node == number[X.target]:
            routes.append(route)
            if len(routes) > most:
                return None
        else:
            walks += [(int(head[edge]), [*route, edge]) for edge in reversed(out[node])]
    found = np.zeros((len(routes), X.dim))
    for row, route in zip(found, routes, strict=True):
        row[route] = 1.0
    return found
