"""The methods of the paper's Figure 3 and others, timed on its game: one run of 1600 rounds."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
from by_hand import networkx_oracle, play_by_hand
from instances import Tiled
from loops import shortest_path_game
from measure import Stopwatch

import hedgerow as hr
from hedgerow.baselines.methods import METHODS

TIMED = (
    "projection_free_coco",
    "sinha_vaze_2024",
    "wang_2025",
    "garber_kretzu_2024_dpp",
    "garber_kretzu_2024_lpm",
    "liakopoulos_cold",
    "yu_neely_2020",
    "jenatton_2016",
    "guo_recoo",
)


def figure_three(repetitions: int = 5) -> list[dict[str, Any]]:
    """Return the seconds of a whole run of each method, and what it takes of others' time.

    `over_default` has the quartiles of its time over that of `projection_free_coco`, turn by turn.
    """
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
            "over_default": np.quantile(
                np.divide(seconds, times["projection_free_coco"]), (0.25, 0.5, 0.75)
            ).tolist(),
        }
        for name, seconds in times.items()
    ]
    label = "projection_free_coco, NumPy + networkx"
    return [*rows, {"method": label, "seconds": by_hand, "compiled": False}]


if __name__ == "__main__":
    for row in figure_three(9):
        ratio = " to ".join(f"{one:.3g}" for one in row.get("over_default", ()))
        print(f"{row['method']:40}{row['seconds']:10.4f} s  {row['compiled']!s:6} {ratio}")
