"""Cost against the number of edges and against the horizon, with fitted exponents."""

from __future__ import annotations

import resource
import time
from typing import Any

import numpy as np
from floor import Floor
from tiled import Tiled, paths

import hedgerow as hr

EDGES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
HORIZONS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
PAPER = 191, 1200


def bandwidth() -> float:
    """Return how many bytes a second one thread reads from memory."""
    block = np.ones(64 << 20 >> 3)
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        block.sum()
        times.append(time.perf_counter() - begin)
    return float(block.nbytes / np.median(times))


def against_edges(largest: int = EDGES[-1]) -> list[dict[str, Any]]:
    """Play a few rounds on ever larger DAGs; about six edges a node. Beside it, the floor."""
    rows = []
    for edges in filter(largest.__ge__, EDGES):
        T = max(8, min(1600, 40_000_000 // edges))
        begin = time.perf_counter()
        problem = paths(max(20, edges // 6), edges, T, block=max(4, min(T, 32_000_000 // edges)))
        built = time.perf_counter() - begin
        row = _measured(problem, T) | {"edges": edges, "build_seconds": built}
        rows.append(row | {"floor_us_per_round": _floor(problem)})
    return rows


def against_horizon(longest: int = HORIZONS[-1]) -> list[dict[str, Any]]:
    """Play ever longer games on a graph of the paper's size."""
    rows = []
    for T in filter(longest.__ge__, HORIZONS):
        rows.append(_measured(paths(*PAPER, T), T) | {"horizon": T})
    return rows


def _floor(problem: Tiled) -> float:
    """Return the microseconds a round that reading the rows and passing the graph take."""
    floor, rounds, times = Floor(problem.decision_set, problem.block), len(problem.block.costs), []
    for _ in range(4):
        begin = time.perf_counter()
        floor(rounds)
        times.append(time.perf_counter() - begin)
    return float(1e6 * np.median(times[1:]) / rounds)  # the first one compiles


def _measured(problem: Tiled, T: int) -> dict[str, Any]:
    policy = hr.projection_free_coco(problem.decision_set)
    hr.simulate(policy, Tiled(problem.decision_set, problem.block, 4))  # memory is touched
    begin = time.perf_counter()
    trace = hr.simulate(policy, problem)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    return {
        "rounds": T,
        "seconds": seconds,
        "us_per_round": 1e6 * seconds / T,
        "compiled": trace.compiled,
        "peak_MB": round(peak),
    }


def exponent(rows: list[dict[str, Any]], of: str, time: str = "us_per_round") -> float:
    """Return the slope of log(time a round) over log(size), from 10^4 on."""
    large = [row for row in rows if row[of] >= 10_000]
    if len(large) < 2:
        return float("nan")
    sizes, times = zip(*((row[of], row[time]) for row in large), strict=True)
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
