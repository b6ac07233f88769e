"""The default's rounds against those without tracking, on sets of all sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from instances import Tiled
from measure import medians

import hedgerow as hr

ROUNDS = 1600
GAMES: dict[str, Callable[[], hr.problems.LinearProblem]] = {
    "IidSimplex, n = 20": lambda: hr.problems.IidSimplex(n=20, horizon=ROUNDS, seed=1),
    "IidSimplex, n = 200": lambda: hr.problems.IidSimplex(n=200, horizon=ROUNDS, seed=1),
    "DriftingSubsets, 6 of 30": lambda: hr.problems.DriftingSubsets(horizon=ROUNDS, seed=1),
    "ShortestPath, 1200 edges": lambda: hr.ShortestPath.random_network(horizon=ROUNDS, seed=20),
}


def drawn(problem: hr.problems.LinearProblem) -> Tiled:
    """Return the problem with all its rounds drawn."""
    parts = zip(*problem.chunks(), strict=True)
    whole = (np.ascontiguousarray(np.concatenate(part)) for part in parts)
    return Tiled(problem.decision_set, hr.problems.LinearChunk(*whole), ROUNDS)


def tracking() -> list[dict[str, Any]]:
    """Return microseconds per round of both, and their ratio."""
    rows = []
    for name, make in GAMES.items():
        game = drawn(make())

        def run(tracks: bool, game: Tiled) -> None:
            hr.simulate(hr.projection_free_coco(game.decision_set, tracking=tracks), game)

        found = medians({str(tracks): partial(run, tracks, game) for tracks in (False, True)})
        plain, default = (1e6 * found[str(tracks)] / ROUNDS for tracks in (False, True))
        rows.append(
            {"game": name, "plain_us": plain, "default_us": default, "ratio": default / plain}
        )
    return rows
