"""Rounds of which a bandit sees values alone: objects, the compiled loop, and its draws."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from tracking import drawn
from turns import TURNS, medians

import hedgerow as hr

ROUNDS = 1600
GAMES: dict[str, Callable[[], hr.problems.LinearProblem]] = {
    "simplex of 10": lambda: hr.problems.IidSimplex(n=10, horizon=ROUNDS),
    "simplex of 100": lambda: hr.problems.IidSimplex(n=100, horizon=ROUNDS),
    "paths, 300 edges": lambda: hr.ShortestPath.atlas_like(60, 300, horizon=ROUNDS, seed=0),
}


def bandits() -> list[dict[str, Any]]:
    """Return microseconds a round by objects and by the loop, their ratio, and the draws alone.

    A direction takes a normal number for each entry, whatever else a round does.
    """
    rows = []
    for name, make in GAMES.items():
        game, rng = drawn(make()), np.random.default_rng(0)
        shape = ROUNDS, game.decision_set.dim
        policy = hr.projection_free_cbco(game.decision_set, ROUNDS, 0, lipschitz=1e3, bound=5e3)
        fresh = iter([deepcopy(policy) for _ in range(2 * (TURNS + 1))])  # outside of the clock

        def by_objects(game: hr.Problem, fresh: Any) -> None:
            hr.Trace.of(hr.play(next(fresh), game))

        def by_loop(game: hr.Problem, fresh: Any) -> None:
            hr.simulate(next(fresh), game)

        acts = {
            "objects": partial(by_objects, game, fresh),
            "loop": partial(by_loop, game, fresh),
            "draws": partial(rng.standard_normal, shape),
        }
        found = {key: 1e6 * seconds / ROUNDS for key, seconds in medians(acts).items()}
        rows.append({"set": name, **found, "ratio": found["objects"] / found["loop"]})
    return rows
