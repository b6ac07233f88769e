"""Time per round by edges, by horizon and by threads, and of projections by edges."""

from __future__ import annotations

import math
import os
import resource
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from floor import Floor
from instances import Tiled, paths
from loops import shortest_path_game

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
    """Return the microseconds per round that reading the rows and passing the graph take."""
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
    """Return the slope of log(time per round) over log(size), from 10^4 on."""
    large = [row for row in rows if row[of] >= 10_000]
    if len(large) < 2:
        return float("nan")
    sizes, times = zip(*((row[of], row[time]) for row in large), strict=True)
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


SIZES = ((40, 240), (191, 1_200), (764, 4_800), (1_910, 12_000))
ROUNDS = 60


def projection_growth(sizes: tuple[tuple[int, int], ...] = SIZES) -> list[dict[str, Any]]:
    """Descend with warm projections and ask the oracle for the same gradients; medians."""
    return [_projection_and_oracle(nodes, edges) for nodes, edges in sizes]


def _projection_and_oracle(nodes: int, edges: int) -> dict[str, Any]:
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


RUNS = 64


def threads(repetitions: int = 5) -> list[dict[str, Any]]:
    """Play the paper's game 64 times, by one thread and by as many as there are cores."""
    problem, table = shortest_path_game()
    X = problem.decision_set
    game = Tiled(X, table, len(table.cost_offsets))

    def run(_: int) -> float:
        return hr.simulate(hr.projection_free_coco(X), game).cost

    run(0)
    counts = sorted({1, 2, os.cpu_count() or 1})
    times: dict[int, list[float]] = {count: [] for count in counts}
    for _ in range(repetitions):
        for count in counts:
            with ThreadPoolExecutor(count) as pool:
                begin = time.perf_counter()
                costs = set(pool.map(run, range(RUNS)))
                times[count].append(time.perf_counter() - begin)
            assert len(costs) == 1, "threads must not change a run"
    one = statistics.median(times[1])
    return [
        {
            "threads": count,
            "runs_per_second": RUNS / statistics.median(seconds),
            "speed_up": one / statistics.median(seconds),
        }
        for count, seconds in times.items()
    ]
