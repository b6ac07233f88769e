"""Where the time of a round goes: its passes over vectors, each alone, and how fast they read.

    python passes.py

The first table has the passes of a round without tracking on the paper's graph, in which nothing
is violated; a loop repeats one pass over all rounds, so that the vectors of a round lie where a
round finds them. The second has one oracle call with edges sorted by head and in random order,
and the gathering of its costs alone.
"""

# ruff: noqa: E402
from __future__ import annotations

import os

for name in ("OPENBLAS", "MKL", "OMP", "NUMBA"):  # before NumPy is imported
    os.environ[f"{name}_NUM_THREADS"] = "1"

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from instances import dag
from loops import shortest_path_game
from tiled import Tiled

import hedgerow as hr
from hedgerow.engine.certificate import certificate_add
from hedgerow.kernels.ocg import accumulate_and_gradient, gap_and_distance, move
from hedgerow.kernels.paths import shortest_path
from hedgerow.kernels.vectors import dots_and_norms_ahead

TURNS = 25
SIZES = ((191, 1200), (1667, 10_000), (16_667, 100_000), (166_667, 1_000_000))


@numba.njit
def look(costs: Any, constraints: Any, x: Any, rounds: int) -> float:
    """Look at a round's two rows."""
    total = 0.0
    for r in range(rounds):
        after = min(r + 1, rounds - 1)
        f, g, p, q = dots_and_norms_ahead(
            costs[r], constraints[r], x, costs[after], constraints[after]
        )
        total += f + g + p + q
    return total


@numba.njit
def certify(ledger: Any, s: Any, rounds: int) -> None:
    """Add a loss to the certificate's sum."""
    for _ in range(rounds):
        certificate_add(ledger, s, 0.0, 0.0, 0.0, 0.0, 0.0)


@numba.njit
def direct(d: Any, S: Any, s: Any, x: Any, x1: Any, rounds: int) -> float:
    """Add a loss to the learner's sum and form the direction."""
    total = 0.0
    for _ in range(rounds):
        value, far2 = accumulate_and_gradient(d, S, s, x, x1, 1e-3)
        total += value + far2
    return total


@numba.njit
def ask(begin: Any, tail: Any, edge: Any, costs: Any, distance: Any, v: Any, rounds: int) -> None:
    """Find a path by each round's costs."""
    for r in range(rounds):
        shortest_path(begin, tail, edge, costs[r], distance, v)


@numba.njit
def gap(d: Any, x: Any, v: Any, rounds: int) -> float:
    """Measure the gap and the distance to the vertex, which moves."""
    total = 0.0
    for r in range(rounds):
        v[r % len(v)] = 0.5
        length, distance2 = gap_and_distance(d, x, v)
        total += length + distance2
    return total


@numba.njit
def step(x: Any, v: Any, rounds: int) -> None:
    """Move towards the vertex."""
    for _ in range(rounds):
        move(x, v, 1e-3)


@numba.njit
def gather(edge: Any, c: Any, out: Any) -> None:
    """Bring costs into the order of the graph."""
    for k in range(len(edge)):
        out[k] = c[edge[k]]


def medians(acts: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Let the acts take turns and return their median seconds."""
    times: dict[str, list[float]] = {name: [] for name in acts}
    for act in acts.values():
        act()
    for _ in range(TURNS):
        for name, act in acts.items():
            begin = time.process_time()
            act()
            times[name].append(time.process_time() - begin)
    return {name: float(np.median(found)) for name, found in times.items()}


def passes() -> None:
    """Print the passes of a round."""
    problem, table = shortest_path_game()
    X, costs, constraints = problem.decision_set, table.costs, table.constraints
    n, T, x = X.dim, len(costs), X.start()
    d, S, v, x1, s = np.zeros(n), np.zeros(n), x.copy(), x.copy(), costs[0].copy()
    graph = X._begin, X._tail, X._edge, costs, np.empty(X.nodes), np.empty(n)
    acts = {
        "look at both rows": (3, lambda: look(costs, constraints, x, T)),
        "certificate": (3, lambda: certify(np.zeros(2 * n + 8), s, T)),
        "sum and direction": (6, lambda: direct(d, S, s, x, x1, T)),
        "oracle": (3, lambda: ask(*graph, T)),
        "gap": (3, lambda: gap(d, x, v, T)),
        "move": (3, lambda: step(x, v, T)),
    }
    found = medians({name: act for name, (_, act) in acts.items()})
    game = Tiled(X, table, T)
    whole = medians({"": lambda: hr.simulate(hr.projection_free_coco(X, tracking=False), game)})[""]
    print(f"{'a pass over 1200 edges':<24} us per round  vectors read or written  GB/s")
    for name, (vectors, _) in acts.items():
        us = 1e6 * found[name] / T
        print(f"{name:<24} {us:12.2f} {vectors:24d} {1e-3 * 8 * n * vectors / us:5.0f}")
    print(f"{'their sum':<24} {1e6 * sum(found.values()) / T:12.2f}")
    print(f"{'a round, all in all':<24} {1e6 * whole / T:12.2f}")


def orders() -> None:
    """Print what edges in random order cost, and how much of that is the gathering."""
    print(f"\n{'edges':>10} sorted, ns/edge  random  ratio  gather: sorted  random  with it alone")
    for nodes, m in SIZES:
        pairs, rng = dag(nodes, m), np.random.default_rng(0)
        c, acts = rng.random(m), {}
        for order, given in (("sorted", pairs), ("random", rng.permutation(pairs))):
            X = hr.sets.DagPaths(given, 0, int(pairs.max()))
            space = X._begin, X._tail, X._edge, c, np.empty(X.nodes), np.empty(m)
            acts[order] = _repeated(shortest_path, space, m)
            acts[f"gather {order}"] = _repeated(gather, (X._edge, c, np.empty(m)), m)
        found = {key: 1e9 * seconds / m / _times(m) for key, seconds in medians(acts).items()}
        near, far = found["sorted"], found["random"]
        here, there = found["gather sorted"], found["gather random"]
        least = (near + there - here) / near
        print(
            f"{m:10d} {near:15.2f} {far:7.2f} {far / near:6.2f} {here:15.2f} {there:7.2f} "
            f"{least:15.2f}"
        )


def _times(edges: int) -> int:
    return max(1, 1_000_000 // edges)


def _repeated(act: Callable[..., Any], given: tuple[Any, ...], edges: int) -> Callable[[], None]:
    def again() -> None:
        for _ in range(_times(edges)):
            act(*given)

    return again


if __name__ == "__main__":
    passes()
    orders()
