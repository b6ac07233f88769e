"""One oracle call with edges sorted by head and in random order, and the gathering of its costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from instances import dag
from measure import medians

import hedgerow as hr
from hedgerow.kernels.paths import list_path

SIZES = ((191, 1200), (1667, 10_000), (16_667, 100_000), (166_667, 1_000_000))
READ = 1_000_000
"""So many edges are read in one act."""


@numba.njit
def gather(edge: Any, c: Any, out: Any) -> None:
    """Bring costs into the order of the graph."""
    for k in range(len(edge)):
        out[k] = c[edge[k]]


def orders() -> list[dict[str, float]]:
    """Return nanoseconds an edge for both orders, their ratio, and what gathering alone makes it.

    The last is the ratio of a sorted call that had to gather as a random one does.
    """
    rows = []
    for nodes, m in SIZES:
        pairs, rng = dag(nodes, m), np.random.default_rng(0)
        c, acts = rng.random(m), {}
        for order, given in (("sorted", pairs), ("random", rng.permutation(pairs))):
            X = hr.sets.DagPaths(given, 0, int(pairs.max()))
            space = X._begin, X._tail, X._edge, c, np.empty(X.nodes), np.zeros(X.nodes, np.uint32)
            acts[order] = _repeated(list_path, space, m)
            acts[f"gather {order}"] = _repeated(gather, (X._edge, c, np.empty(m)), m)
        found = {key: 1e9 * seconds / m / _times(m) for key, seconds in medians(acts).items()}
        near, far = found["sorted"], found["random"]
        least = (near + found["gather random"] - found["gather sorted"]) / near
        rows.append(
            {"edges": m, "sorted": near, "random": far, "ratio": far / near, "gathering": least}
        )
    return rows


def _times(edges: int) -> int:
    return max(1, READ // edges)


def _repeated(act: Callable[..., Any], given: tuple[Any, ...], edges: int) -> Callable[[], None]:
    def again() -> None:
        for _ in range(_times(edges)):
            act(*given)

    return again
