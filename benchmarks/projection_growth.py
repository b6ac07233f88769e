"""Projection against oracle as graphs grow: the honest case for projection-free play."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from tiled import paths

SIZES = ((40, 240), (191, 1_200), (764, 4_800), (1_910, 12_000))
ROUNDS = 60


def projection_growth(sizes: tuple[tuple[int, int], ...] = SIZES) -> list[dict[str, Any]]:
    """Descend with warm projections and ask the oracle for the same gradients; medians."""
    return [_measured(nodes, edges) for nodes, edges in sizes]


def _measured(nodes: int, edges: int) -> dict[str, Any]:
    problem = paths(nodes, edges, ROUNDS, ROUNDS)
    X, workspace = problem.decision_set, problem.decision_set.workspace()
    x, squares = X.start(), 0.0
    projecting, asking = [], []
    for c in problem.block.costs:
        squares += float(c @ c)
        y = x - X.diameter / math.sqrt(2.0 * squares) * c
        begin = time.perf_counter()
        x = workspace.project(y)
        middle = time.perf_counter()
        workspace.lmo(c)
        projecting.append(middle - begin)
        asking.append(time.perf_counter() - middle)
    slow, fast = (1e6 * float(np.median(times[5:])) for times in (projecting, asking))
    return {
        "nodes": nodes,
        "edges": edges,
        "projection_us": slow,
        "oracle_us": fast,
        "ratio": slow / fast,
    }
