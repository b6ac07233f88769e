"""Real rounds that drift: `python evidence/beyond_real.py` writes evidence/beyond_real.json.

Round-trip times between 99 devices (seattle99) and daily prices (nyse_o, djia, msci), each played
once through, against the best sequences of 1, 2, 4 and 8 actions. One sequence of rounds each:
there are no intervals, and a difference between two methods may be chance. Run `beyond.py` first.
The files lie in the folder that HEDGEROW_DATA names.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from beyond import at_ccv
from beyond_games import default, sinha_vaze, tracking, wang
from measured_files import DEVICES, MARKETS, measured_files

import hedgerow as hr
from hedgerow.games.comparators.switching import switching_benchmark
from hedgerow.networks.matrix import read_matrix

HERE = Path(__file__).parent
EAGERNESS = [2.0**k for k in range(-2, 5)]
SWITCHES, CELLS = (0, 1, 3, 7), 8
FAILED = 10_000.0
"""Latency of a link without a reading, in ms: invented, as in `evidence/make.py`."""
LINKS = 1.5
"""Links a route may have on average where latency is the cost: invented."""


def quick_routes(priced: hr.problems.LatencyCap) -> hr.RecordedProblem:
    """The network's latency as the cost, and at most 1.5 links on average as the constraint."""
    few = hr.Linear(np.ones(priced.decision_set.dim), -LINKS)
    taus = (row for chunk in priced.chunks() for row in chunk.constraints)
    return hr.RecordedProblem(priced.decision_set, [(hr.Linear(tau), few) for tau in taus])


def games(data: Path) -> Iterator[tuple[str, hr.Problem]]:
    """Yield the instance of `problems.md`, three random pairs of devices, three markets."""
    devices = read_matrix(data / DEVICES, factor=10.0)
    series = hr.problems.Series(devices.latency_series, failed=FAILED)

    def cap(source: Any, target: Any) -> hr.problems.LatencyCap:
        rounds = len(devices.latency_series)
        return hr.problems.LatencyCap.from_network(
            devices, source, target, rounds, 0, orientation="distance", latency_rounds=series
        )

    for name, path in MARKETS.items():
        yield f"Portfolio, {name}", hr.problems.Portfolio.from_csv(data / path)
    rng = np.random.default_rng(0)
    for _ in range(3):
        s, t = rng.choice(len(devices.nodes), 2, replace=False).tolist()
        yield f"quick routes, seattle99 {s} to {t}", quick_routes(cap(s, t))
    yield "LatencyCap, seattle99 7 to 56", cap("7", "56")


def played(problem: hr.Problem, method: Any) -> dict[str, Any]:
    """The sweep of one method; what it did at eagerness 1."""
    X, T = problem.decision_set, problem.horizon
    traces, certificate = [], 0.0
    for e in EAGERNESS:
        policy = method(X, T, e)
        traces.append(hr.simulate(policy, problem))
        certificate = policy.certificate() if e == 1.0 else certificate
    one = traces[EAGERNESS.index(1.0)]
    sweep = {"regret": [t.cost for t in traces], "ccv": [t.ccv for t in traces]}  # of no action
    return {"cost": one.cost, "ccv": one.ccv, "certificate": certificate, "sweep": sweep}


def compared(name: str, problem: hr.Problem, methods: dict[str, Any]) -> dict[str, Any]:
    """All methods on one game, at the default's CCV, against all benchmarks."""
    runs = {key: played(problem, method) for key, method in methods.items()}
    level = runs["default"]["ccv"]
    bests = {s: switching_benchmark(problem, s, cells=CELLS) for s in SWITCHES}
    blind = hr.simulate(hr.unconstrained(problem.decision_set), problem)
    for run in runs.values():
        cost = at_ccv(run["sweep"], level)
        run["matched_cost"] = cost
        run["regret"] = {s: None if cost is None else cost - bests[s].cost for s in SWITCHES}
        run["cost_of_sweep"] = run["sweep"]["regret"]
        run["ccv_of_sweep"] = run.pop("sweep")["ccv"]
    return {
        "game": name,
        "rounds": problem.horizon,
        "dim": problem.decision_set.dim,
        "ccv": level,
        "blind": {"cost": blind.cost, "ccv": blind.ccv},
        "benchmarks": {
            s: {"cost": b.cost, "gap": b.gap, "status": b.status} for s, b in bests.items()
        },
        "methods": runs,
    }


def main() -> None:
    """Write the comparison, with the rivals' factors as chosen on the synthetic games."""
    data = measured_files(DEVICES, *MARKETS.values())
    chosen = json.loads((HERE / "beyond.json").read_text())["chosen"]
    methods = {
        "default": default,
        "tracking": tracking,
        "Sinha-Vaze": sinha_vaze(chosen["factor"]),
        "Wang": wang(chosen["c"]),
    }
    path, rows = Path(__file__).with_suffix(".json"), []
    for name, problem in games(data):
        rows.append(compared(name, problem, methods))
        written = {"eagerness": EAGERNESS, "cells": CELLS, "rows": rows}
        path.write_text(json.dumps(written, indent=1) + "\n")
        sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main()
