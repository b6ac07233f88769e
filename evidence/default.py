"""The default against the rivals: writes default.json and default_games.csv.

`python evidence/default.py [what or method ...]`, what among games, measured, growth, robustness;
left out, all. With names of methods these alone are played, and the rows of others stay. Seeds 300
to 319, which chose nothing (300 to 309 for slow games). `measured` reads the files of
HEDGEROW_DATA, the second half of a series that is played in time, and is left out where that is
not set. `default_games.csv` has a row for each game and method; `summed` makes the medians of
`games` and `measured` from it.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from measured_files import CLOUDS, DEVICES, measured_files

import hedgerow as hr
from hedgerow.networks import read_edges, read_matrix

HERE = Path(__file__).parent
SEEDS = range(300, 320)
FEW = range(300, 310)
P = hr.problems
GAMES: dict[str, Callable[[int], hr.Problem]] = {
    "random_network": lambda seed: hr.ShortestPath.random_network(seed=seed),
    "drifting_paths": lambda seed: P.drifting_paths(seed=seed),
    "iid_simplex, n = 20": lambda seed: P.IidSimplex(seed=seed),
    "iid_simplex, n = 200": lambda seed: P.IidSimplex(n=200, horizon=2000, seed=seed),
    "switching_ball": lambda seed: P.SwitchingBall(seed=seed),
    "switching_ball, growth 1": lambda seed: P.SwitchingBall(seed=seed, growth=1.0),
    "drifting_subsets": lambda seed: P.DriftingSubsets(seed=seed),
    "ranking": lambda seed: P.Ranking(horizon=1000, seed=seed),
    "caching": lambda seed: P.Caching(horizon=1000, seed=seed),
    "ad_slots": lambda seed: P.AdSlots(horizon=400, seed=seed),
    "quadratic_box": lambda seed: P.QuadraticBox(horizon=1000, seed=seed),
    "halfspace_box": lambda seed: P.HalfspaceBox(horizon=1000, seed=seed),
    "orthogonal_ball": lambda seed: P.OrthogonalBall(horizon=1000, seed=seed),
}
SLOW = ("ad_slots", "quadratic_box", "halfspace_box", "orthogonal_ball")
METHODS: dict[str, Callable[[hr.DecisionSet, int], Any]] = {
    "blind": lambda X, _: hr.unconstrained(X),
    "default": lambda X, _: hr.projection_free_coco(X),
    "plain": lambda X, _: hr.projection_free_coco(X, tracking=False),
    "sinha_vaze_2024": lambda X, T: hr.baselines.sinha_vaze_2024(X, T),
    "wang_2025": lambda X, T: hr.baselines.wang_2025(X, T),
    "guo_recoo": lambda X, T: hr.baselines.guo_recoo(X, T),
}

Row = dict[str, Any]
MEDIANS = ("ccv", "regret", "violated")
COLUMNS = ("part", "game", "instance", "rounds", "method", *MEDIANS, "switched")


def _say(*words: object) -> None:
    sys.stderr.write(" ".join(map(str, words)) + "\n")


def wanted_methods() -> list[str]:
    """Return the methods that the command line names, or all."""
    return [name for name in METHODS if name in sys.argv] or list(METHODS)


def compared(game: str, instance: object, problem: hr.Problem) -> list[Row]:
    """Play one game with every wanted method and return a row for each.

    CCV is in per cent of the unconstrained policy's, regret in per cent of the benchmark (the cost
    itself where the game reacts to the decisions), `violated` in per cent of the rounds. `switched`
    is the round in which a policy fell back to Theorem F, if it did.
    """
    X, T = problem.decision_set, problem.horizon
    blind = hr.simulate(hr.unconstrained(X), problem)
    base = None if problem.adaptive else hr.hindsight(problem, time_limit=20.0).cost
    rows = []
    for name in wanted_methods():
        policy = METHODS[name](X, T)
        trace = blind if name == "blind" else hr.simulate(policy, problem)
        rows.append(
            {
                "game": game,
                "instance": instance,
                "rounds": T,
                "method": name,
                "ccv": _nine(100.0 * trace.ccv / blind.ccv if blind.ccv > 0.0 else 0.0),
                "regret": _nine(_percent(trace.cost, base)),
                "violated": _nine(100.0 * float((trace.violations > 0.0).mean())),
                "switched": getattr(policy, "switched", None) or "",
            }
        )
    return rows


def _percent(cost: float, base: float | None) -> float:
    return cost if base is None else 100.0 * (cost - base) / abs(base)


def _nine(value: float) -> float:
    """Return a number with nine digits: what both files hold."""
    return float(f"{value:.9g}")


def summed(rows: list[Row]) -> dict[str, Any]:
    """Return medians over the instances of each game and method.

    `ignored` counts the instances on which the CCV is hardly below the unconstrained policy's.
    """
    found: dict[str, Any] = {}
    for game, method in dict.fromkeys((row["game"], row["method"]) for row in rows):
        mine = [row for row in rows if (row["game"], row["method"]) == (game, method)]
        entry: Row = {key: median(float(row[key]) for row in mine) for key in MEDIANS}
        entry["ignored"] = sum(float(row["ccv"]) > 90.0 for row in mine)
        entry["instances"] = len(mine)
        found.setdefault(game, {})[method] = entry
    return found


def games() -> list[Row]:
    """Play every family of docs/reference/problems.md."""
    rows = []
    for name, make in GAMES.items():
        for seed in FEW if name in SLOW else SEEDS:
            rows += compared(name, seed, make(seed))
        _say(name, {k: round(v["ccv"], 2) for k, v in summed(rows)[name].items()})
    return rows


def binding(make: Callable[[int, int], hr.Problem], nodes: int, wanted: int) -> Iterator[Any]:
    """Yield drawn pairs, with their problems, where the constraint binds in 1 % of the rounds."""
    rng = np.random.default_rng(300)
    while wanted:
        source, target = (int(k) for k in rng.choice(nodes, 2, replace=False))
        try:
            problem = make(source, target)
        except ValueError:
            continue
        blind = hr.simulate(hr.unconstrained(problem.decision_set), problem)
        if (blind.violations > 0.0).mean() > 0.01:
            wanted -= 1
            yield f"{source} to {target}", problem


def measured() -> list[Row]:
    """Play caps on measured latency, and the paper's problem on a measured network."""
    data = measured_files(CLOUDS, DEVICES)
    clouds, devices = read_edges(data / CLOUDS), read_matrix(data / DEVICES, factor=10.0)
    late = devices.latency_series[len(devices.latency_series) // 2 :]
    series = P.Series(late, failed=10_000.0)

    def cloud_cap(s: int, t: int) -> hr.Problem:
        return P.LatencyCap.from_network(clouds, s, t, 1000, 300, orientation="distance")

    def device_cap(s: int, t: int) -> hr.Problem:
        return P.LatencyCap.from_network(
            devices, s, t, len(late), 300, orientation="distance", latency_rounds=series
        )

    def cloud_paths(s: int, t: int) -> hr.Problem:
        return hr.ShortestPath.from_network(clouds, s, t, 1000, 300, orientation="distance")

    kinds = {
        "latency cap, intercloud45": (cloud_cap, len(clouds.nodes)),
        "latency cap, seattle99": (device_cap, len(devices.nodes)),
        "shortest path, intercloud45": (cloud_paths, len(clouds.nodes)),
    }
    rows = []
    for name, (make, nodes) in kinds.items():
        for pair, problem in binding(make, nodes, 12):
            rows += compared(name, pair, problem)
        _say(name, {k: round(v["ccv"], 2) for k, v in summed(rows)[name].items()})
    return rows


GROWING: dict[str, Callable[[int, int], hr.Problem]] = {
    "iid_simplex": lambda T, seed: P.IidSimplex(horizon=T, seed=seed),
    "ranking": lambda T, seed: P.Ranking(10, 3, horizon=T, seed=seed),
    "switching_ball": lambda T, seed: P.SwitchingBall(horizon=T, seed=seed),
    "drifting_subsets": lambda T, seed: P.DriftingSubsets(horizon=T, seed=seed),
    "halfspace_box": lambda T, seed: P.HalfspaceBox(horizon=T, seed=seed),
    "orthogonal_ball": lambda T, seed: P.OrthogonalBall(horizon=T, seed=seed),
    "hard_box": lambda T, seed: P.HardBox(n=20, horizon=T, seed=seed),
}


def growth() -> dict[str, Any]:
    """CCV and max(regret, 0) + sqrt(T) by horizon; the adaptive ones have the certificate."""
    found = {}
    for name, make in GROWING.items():
        rows = []
        for T in (1000, 4000, 16000, 64000):
            for seed in (300, 301):
                problem = make(T, seed)
                policy = hr.projection_free_coco(problem.decision_set)
                trace = hr.simulate(policy, problem)
                above = policy.certificate()
                rows.append([T, trace.ccv, max(0.0, above) + T**0.5])
        found[name] = {"rows": rows, "ccv": _slope(rows, 1), "regret": _slope(rows, 2)}
        _say(name, found[name]["ccv"], found[name]["regret"])
    return found


def _slope(rows: list[list[float]], column: int) -> list[float]:
    """The exponent by least squares in logarithms, and the half width of its 95 % interval."""
    x = np.log([row[0] for row in rows])
    y = np.log([max(row[column], 1e-12) for row in rows])
    (slope, _), cov = np.polyfit(x, y, 1, cov=True)
    return [float(slope), float(1.96 * cov[0, 0] ** 0.5)]


def disturbed(name: str, seed: int) -> tuple[hr.RecordedProblem, int]:
    """Linear rounds on a simplex with one disturbance; and the round in which it begins."""
    T, event = (14000, 10000) if name in ("idle", "tiny") else (4000, 2000)
    rng = np.random.default_rng(seed)
    n = 10
    a = rng.uniform(0, 1, n) + 0.3 * rng.standard_normal((T, n))
    mean = rng.uniform(-1, 1, n)
    c = mean + 0.3 * rng.standard_normal((T, n))
    k = int(mean.argmin())
    c[:, k], a[:, k] = -np.abs(c[:, k]) - 0.2, a[:, k] + 0.5  # feasible, and dear
    offset = np.zeros(T)
    match name:
        case "grows 1000-fold":
            c[event:] *= 1000.0
        case "idle":
            offset[:event] = -5.0
        case "tiny":
            c[:event] *= 1e-9
        case "first tiny":
            c[0] *= 1e-9
        case "first huge":
            c[0] *= 1e6
        case "no costs":
            a[:] = 0.0
        case "outlier in costs":
            a[event] *= 1e6
        case "outlier in constraints":
            c[event] *= 1e6
        case "outage that no action avoids":
            offset[event : event + 60] = 20.0
    rounds = [(hr.Linear(x), hr.Linear(y, float(o))) for x, y, o in zip(a, c, offset, strict=True)]
    return hr.RecordedProblem(hr.sets.Simplex(n), rounds), event


DISTURBANCES = (
    *("none", "grows 1000-fold", "idle", "tiny", "first tiny", "first huge", "no costs"),
    *("outlier in costs", "outlier in constraints", "outage that no action avoids"),
)


def robustness() -> dict[str, Any]:
    """Weight, CCV, and cost before and after a disturbance."""
    found = {}
    for name in DISTURBANCES:
        problem, event = disturbed(name, 300)
        found[name] = {}
        for method in ("default", "plain"):
            policy = METHODS[method](problem.decision_set, problem.horizon)
            trace = hr.simulate(policy, problem)
            blind = hr.simulate(hr.unconstrained(problem.decision_set), problem)
            kept = np.r_[0:event, event + 60 : problem.horizon]
            seen, worst = (np.clip(t.violations[kept], 0.0, None).sum() for t in (trace, blind))
            found[name][method] = {
                "ccv": 100.0 * float(seen / worst) if worst > 0.0 else 0.0,
                "before": float(trace.costs[event - 500 : event].mean()),
                "after": float(trace.costs[event + 60 : event + 560].mean()),
                "end": float(trace.costs[-500:].mean()),
                "violated": 100.0 * float((trace.violations[-500:] > 0.0).mean()),
                "largest weight": policy.summary().largest_weight,
            }
        _say(name, found[name]["default"])
    return found


def stored_games() -> list[Row]:
    """Return the rows of default_games.csv, of both parts."""
    with (HERE / "default_games.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def store_games(part: str, rows: list[Row]) -> None:
    """Write the rows of a part to default_games.csv, and keep those of others."""
    path, new = HERE / "default_games.csv", {row["method"] for row in rows}
    stored = stored_games() if path.exists() else []
    kept = [row for row in stored if row["part"] != part or row["method"] not in new]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*kept, *({"part": part, **row} for row in rows)])


def main() -> None:
    """Make what is asked for, and keep the rest of both files."""
    played = {"games": games, "measured": measured}
    parts: dict[str, Callable[[], Any]] = {**played, "growth": growth, "robustness": robustness}
    path = HERE / "default.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    for name in [name for name in parts if name in sys.argv] or parts:
        if name == "measured" and not os.environ.get("HEDGEROW_DATA"):
            _say("measured: left out, HEDGEROW_DATA is not set")
            continue
        found = parts[name]()
        if name in played:
            store_games(name, found)
            found = summed([row for row in stored_games() if row["part"] == name])
        kept[name] = found
        path.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
