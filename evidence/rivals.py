"""All methods on the synthetic games and the paper's, both presets: one table.

python evidence/rivals.py [method ...] writes evidence/rivals.json; methods that are not named keep
their rows.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import hedgerow as hr
from hedgerow.baselines.methods import METHODS
from hedgerow.experiments.constants import known_constants
from hedgerow.policies.method import Constants, Method

HORIZON = 1600
SEEDS = range(20, 25)
SLOW = METHODS["follow_the_leader_feasible"]
"""A linear programme with many dense rows each round: one seed, and both presets are the same."""
GAMES: dict[str, Callable[[int], Any]] = {
    "IidSimplex": lambda seed: hr.problems.IidSimplex(horizon=HORIZON, seed=seed),
    "SwitchingBall": lambda seed: hr.problems.SwitchingBall(horizon=HORIZON, seed=seed),
    "HalfspaceBox": lambda seed: hr.problems.HalfspaceBox(horizon=HORIZON, seed=seed),
    "OrthogonalBall": lambda seed: hr.problems.OrthogonalBall(horizon=HORIZON, seed=seed),
    "QuadraticBox": lambda seed: hr.problems.QuadraticBox(horizon=HORIZON, seed=seed),
    "random_network": lambda seed: hr.ShortestPath.random_network(horizon=HORIZON, seed=seed),
}


class Watched(hr.Problem):
    """A problem that remembers the rounds it showed: an adaptive game has no others."""

    def __init__(self, problem: hr.Problem):
        self.inner, self.shown = problem, list[Any]()
        self.decision_set, self.horizon = problem.decision_set, problem.horizon

    @property
    def adaptive(self) -> bool:
        """As the problem."""
        return self.inner.adaptive

    def rounds(self, policy: Any = None) -> Iterator[Any]:
        """Yield the problem's rounds."""
        for pair in self.inner.rounds(policy):
            self.shown.append(pair)
            yield pair


def constants_of(problem: hr.Problem) -> Constants:
    """Return exact constants of linear rounds; sampled ones, and half as much again, of others."""
    lipschitz, bound = known_constants(problem).constants
    margin = 1.0 if isinstance(problem, hr.problems.LinearProblem) else 1.5
    return Constants(
        (margin * lipschitz[0], margin * lipschitz[1]), (margin * bound[0], margin * bound[1])
    )


def cell(method: Method, preset: Any, name: str, seed: int, game: dict[str, Any]) -> dict[str, Any]:
    """Play one game and return its row, or the sentence with which the method refuses it."""
    row: dict[str, Any] = {"method": method.name, "preset": preset, "game": name, "seed": seed}
    X = game["problem"].decision_set
    try:
        policy = method.policy(X, HORIZON, seed, preset, game["constants"])
        watched = Watched(game["problem"])
        begin = time.perf_counter()
        trace = hr.Trace.of(hr.play(policy, watched, method.feedback(game["constants"])))
        seconds = time.perf_counter() - begin
    except (ValueError, TypeError, NotImplementedError) as refusal:
        return row | {"refused": str(refusal)}
    best = game["best"] or hr.hindsight(X, watched.shown)
    assert np.isfinite(trace.costs).all(), row
    assert X.contains(policy.ask(), tol=1e-7), row
    return row | {
        "regret": round(trace.regret(best), 3),
        "ccv": round(trace.ccv, 3),
        "benchmark": round(best.cost, 3),
        "regret_unit": round(game["unit"][0], 6),
        "ccv_unit": round(game["unit"][1], 6),
        "oracle_calls": policy.oracle_calls,
        "projections": int(getattr(policy, "projections", 0)),
        "ms_per_round": round(1e3 * seconds / HORIZON, 4),
    }


def prepared(name: str, seed: int) -> dict[str, Any]:
    """Build a game once: its rounds, constants, benchmark and units.

    Units: what a round can cost, and violate, at most: G D of costs and of constraints.
    """
    problem = GAMES[name](seed)
    X = problem.decision_set
    shown = Watched(problem)
    for _ in hr.play(hr.unconstrained(X), shown):
        pass
    known = constants_of(problem)
    best = None if problem.adaptive else hr.hindsight(problem)
    unit = [G * X.diameter for G in known.lipschitz]
    recorded = problem if problem.adaptive else hr.RecordedProblem(X, shown.shown)
    return {"problem": recorded, "constants": known, "best": best, "unit": unit}


def table(name: str, seed: int, methods: list[str]) -> list[dict[str, Any]]:
    """Play one game with each of these methods and both presets."""
    warnings.simplefilter("ignore", hr.VacuousConstantsWarning)
    game, rows = prepared(name, seed), []
    for method in (METHODS[name] for name in methods):
        for preset in ("practical", "theory"):
            if method is not SLOW or (seed, preset) == (SEEDS[0], "practical"):
                rows.append(cell(method, preset, name, seed, game))
    sys.stderr.write(f"{name} {seed} done\n")
    return rows


def rivals(methods: list[str]) -> list[dict[str, Any]]:
    """Each method, both presets, every game, every seed; a process for each processor."""
    games = [(name, seed, methods) for name in GAMES for seed in SEEDS]
    tables = Parallel(n_jobs=-1, inner_max_num_threads=1)(delayed(table)(*game) for game in games)
    return [row for rows in tables for row in rows]


def main() -> None:
    """Write the table."""
    path = Path(__file__).with_name("rivals.json")
    methods = [name for name in METHODS if name in sys.argv] or list(METHODS)
    stored = json.loads(path.read_text()) if path.exists() else []
    rows = [row for row in stored if row["method"] not in methods] + rivals(methods)
    games, names = list(GAMES), list(METHODS)
    rows.sort(key=lambda row: (games.index(row["game"]), row["seed"], names.index(row["method"])))
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
