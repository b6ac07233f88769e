"""The methods of the paper's Figure 3, timed on the paper's game: one run of 1600 rounds."""

from __future__ import annotations

import statistics
from typing import Any

from by_hand import networkx_oracle, play_by_hand
from loops import shortest_path_game
from measure import Stopwatch
from tiled import Tiled

import hedgerow as hr
from hedgerow.baselines.methods import METHODS

TIMED = (
    "projection_free_coco",
    "sinha_vaze_2024",
    "wang_2025",
    "garber_kretzu_2024_dpp",
    "garber_kretzu_2024_lpm",
)


def figure_three(repetitions: int = 5) -> list[dict[str, Any]]:
    """Return the seconds of a whole run of each method, and the ratio to NumPy + networkx."""
    problem, table = shortest_path_game()
    X = problem.decision_set
    game = Tiled(X, table, len(table.cost_offsets))
    edges = [tuple(pair) for pair in X.edges.tolist()]
    naive = networkx_oracle(edges, X.source, X.target)
    times: dict[str, list[float]] = {name: [] for name in TIMED}
    compiled: dict[str, bool] = {}
    watch = Stopwatch()
    play_by_hand(X, table, naive, game.horizon)
    by_hand = watch.seconds()
    for _ in range(repetitions):
        for name, seconds in times.items():
            method = METHODS[name]
            policy = method.policy(X, game.horizon, 0, "practical")
            watch = Stopwatch()
            trace = hr.simulate(policy, game, method.feedback())
            seconds.append(watch.seconds())
            compiled[name] = trace.compiled
    rows = [
        {
            "method": name,
            "seconds": statistics.median(seconds),
            "compiled": compiled[name],
            "numpy_networkx_over_this": by_hand / statistics.median(seconds),
        }
        for name, seconds in times.items()
    ]
    label = "projection_free_coco, NumPy + networkx"
    return [*rows, {"method": label, "seconds": by_hand, "compiled": False}]
