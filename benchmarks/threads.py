"""Runs a second against threads: compiled loops do not hold the interpreter's lock."""

from __future__ import annotations

import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from loops import shortest_path_game
from tiled import Tiled

import hedgerow as hr

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
