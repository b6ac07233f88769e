"""Targets for the share of violated rounds, and the rules of engineers.

`python evidence/violated_share.py [game or method ...]` plays these games and methods, or all if
none is named; what others have found stays. Seeds 500 to 509, which chose nothing: the constants of
the rules and of `ViolatedShare` were chosen on 400 to 405. The operator's file is that of
examples/operator_measurements.py, which has one seed. violated_share.csv has a row for each game,
seed, method and target. violated_share.json has the share so far at some rounds of each game, with
one target: medians over the seeds.
"""

from __future__ import annotations

import contextlib
import csv
import json
import runpy
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr

HERE = Path(__file__).parent
ROWS, COURSES = HERE / "violated_share.csv", HERE / "violated_share.json"
SEEDS = range(500, 510)
TARGETS = (0.1, 0.01, 0.001)
DRAWN, FIRST, POINTS = 0.01, 20, 50
"""The target whose course is kept, from which round on, and at how many rounds."""
P, B = hr.problems, hr.baselines
Make = Callable[[hr.DecisionSet], Any]
GAMES: dict[str, Callable[[int], hr.Problem]] = {
    "iid_simplex": lambda seed: P.IidSimplex(seed=seed),
    "random_network": lambda seed: hr.ShortestPath.random_network(60, 300, 4000, seed),
    "drifting_paths": lambda seed: P.drifting_paths(60, 300, horizon=4000, seed=seed),
    "drifting_subsets": lambda seed: P.DriftingSubsets(horizon=4000, seed=seed),
    "ranking": lambda seed: P.Ranking(horizon=2000, seed=seed),
    "caching": lambda seed: P.Caching(horizon=2000, seed=seed),
    "optimal_transport": lambda seed: P.OptimalTransport(horizon=2000, seed=seed),
    "sensor_coverage": lambda seed: P.SensorCoverage(horizon=2000, seed=seed),
    "job_sequencing": lambda seed: P.JobSequencing(horizon=2000, seed=seed),
    "ad_slots": lambda seed: P.AdSlots(horizon=1000, seed=seed),
}
OPERATOR = "operator's file"
ALONE: dict[str, Make] = {
    "default": hr.projection_free_coco,
    "threshold rule": B.threshold_rule,
    "PI control": B.proportional_integral,
    "last round": B.last_round,
}
WRAPPED: dict[str, Make] = {
    "default": hr.projection_free_coco,
    "threshold rule": lambda X: B.threshold_rule(X, margin=0.0),
    "PI control": lambda X: B.proportional_integral(X, margin=0.0),
}
NUMBERS = ("share", "cost", "ccv", "quarter", "half", "calls")


def operator_file() -> hr.Problem:
    """Return the game of the how-to page: Lisbon to Warsaw within 120 ms."""
    example = runpy.run_path(str(HERE.parent / "examples/operator_measurements.py"))
    columns = hr.networks.EdgeColumns("site_a", "site_b", "rtt_ms", time="time")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        example["main"]()
        links = hr.networks.read_edges("out/operator/measurements.csv", columns, both_ways=True)
    return P.MeasuredRoutes(links, "Lisbon", "Warsaw", cost="price", caps={"latency": 120.0})


def rounds_drawn(horizon: int) -> np.ndarray:
    """Return the rounds after which the share so far is kept."""
    return np.unique(np.geomspace(FIRST, horizon, POINTS).round().astype(int))


def played(policy: Any, problem: hr.Problem) -> dict[str, Any]:
    """Return the share of violated rounds, at the end and before it, and cost and CCV per game.

    Rounds that no action satisfies do not count. `course` is the share after some of the rounds.
    """
    trace = hr.simulate(policy, problem)
    infeasible = getattr(problem, "unavoidable", np.zeros(trace.costs.size)) > 0.0
    violated = (trace.violations > 0.0) & ~infeasible

    def share(rounds: int) -> float:
        return float(violated[:rounds].sum() / max(1, (~infeasible[:rounds]).sum()))

    T = trace.costs.size
    return {
        "share": share(T),
        "cost": float(trace.costs.mean()),
        "ccv": trace.ccv,
        "quarter": share(T // 4),
        "half": share(T // 2),
        "calls": (trace.oracle_calls or 0) / T,
        "course": [share(t) for t in rounds_drawn(T).tolist()],
    }


def rows_of(game: str, seed: int, problem: hr.Problem, methods: list[str]) -> list[dict[str, Any]]:
    """Play one game with each of these methods, alone and with every target."""
    X = problem.decision_set
    same = {"game": game, "rounds": problem.horizon, "seed": seed}
    rows = [
        {**same, "method": name, "target": "", **played(make(X), problem)}
        for name, make in ALONE.items()
        if name in methods
    ]
    for target in TARGETS:
        for name, make in WRAPPED.items():
            if name not in methods:
                continue
            policy = hr.policies.ViolatedShare(make(X), target)
            rows.append({**same, "method": name, "target": target, **played(policy, problem)})
    return rows


def courses_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians over the seeds of one game's shares so far, with the target drawn."""
    found: dict[str, Any] = {"rounds": rounds_drawn(rows[0]["rounds"]).tolist()}
    for method in dict.fromkeys(row["method"] for row in rows if row["method"] in WRAPPED):
        drawn = [r["course"] for r in rows if r["method"] == method and r["target"] == DRAWN]
        found[method] = [float(f"{share:.4g}") for share in np.median(drawn, axis=0)]
    return found


def main(names: list[str]) -> None:
    """Play what is named, keep the rows of others, and write the files."""
    order = [*GAMES, OPERATOR]
    asked = [game for game in order if game in names] or order
    methods = [method for method in ALONE if method in names] or list(ALONE)
    rows: list[dict[str, Any]] = []
    if ROWS.exists():
        with ROWS.open(encoding="utf-8") as file:
            rows = [
                row
                for row in csv.DictReader(file)
                if row["game"] not in asked or row["method"] not in methods
            ]
    courses = json.loads(COURSES.read_text("utf-8")) if COURSES.exists() else {}
    for game in asked:
        if game == OPERATOR:
            new = rows_of(game, 0, operator_file(), methods)
        else:
            new = [row for seed in SEEDS for row in rows_of(game, seed, GAMES[game](seed), methods)]
        courses[game] = {**courses.get(game, {}), **courses_of(new)}
        rows += new
    every = list(ALONE)
    rows.sort(key=lambda row: (order.index(row["game"]), every.index(row["method"])))
    with ROWS.open("w", encoding="utf-8", newline="") as file:
        head = ("game", "rounds", "seed", "method", "target", *NUMBERS)
        table = csv.DictWriter(file, head, lineterminator="\n", extrasaction="ignore")
        table.writeheader()
        for row in rows:
            numbers = {name: f"{float(row[name]):.9g}" for name in NUMBERS}
            table.writerow({**row, **numbers})
    courses = {game: courses[game] for game in order if game in courses}
    COURSES.write_text(json.dumps(courses, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
