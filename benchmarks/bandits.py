"""Rounds of which a bandit sees values alone: objects, the compiled loop, and its draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from instances import Tiled
from measure import TURNS, medians
from tracking import drawn

import hedgerow as hr

ROUNDS = 1600
GAMES: dict[str, Callable[[], hr.problems.LinearProblem]] = {
    "simplex of 10": lambda: hr.problems.IidSimplex(n=10, horizon=ROUNDS),
    "simplex of 100": lambda: hr.problems.IidSimplex(n=100, horizon=ROUNDS),
    "paths, 300 edges": lambda: hr.ShortestPath.random_network(60, 300, horizon=ROUNDS, seed=0),
}


class Drawn(Tiled):
    """Rounds that come in chunks of the size that is asked for, as those of other problems do."""

    def chunks(self, size: int = 256) -> Iterator[hr.problems.LinearChunk]:
        """Yield the rounds."""
        for first in range(0, self.horizon, size):
            yield hr.problems.LinearChunk(*(part[first : first + size] for part in self.block))


def bandits() -> list[dict[str, Any]]:
    """Return microseconds per round by objects and by the loop, their ratio, and the draws alone.

    A direction takes a normal number for each entry, whatever else a round does.
    """
    rows = []
    for name, make in GAMES.items():
        whole, rng = drawn(make()), np.random.default_rng(0)
        game = Drawn(whole.decision_set, whole.block, ROUNDS)
        shape = ROUNDS, game.decision_set.dim
        policy = hr.projection_free_bandit(game.decision_set, ROUNDS, 0, lipschitz=1e3, bound=5e3)
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
