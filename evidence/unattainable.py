"""Limits that no action can meet: `python evidence/unattainable.py` writes unattainable.json.

Three backends with six incidents, at four caps: avoidable CCV, cost, violated rounds. Names of
methods on the command line choose some; the file keeps the others. Seeds 500 to 519 chose nothing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
from hedgerow.inputs import Vector

HERE = Path(__file__).parent
SEEDS = range(500, 520)
ROUNDS, CAPS = 3_000, (60.0, 75.0, 100.0, 140.0)
PRICES, LATENCIES = np.array([1.0, 2.0, 1.7]), np.array([80.0, 128.0, 150.0])
B = hr.baselines
METHODS: dict[str, Callable[..., Any]] = {
    "default": lambda X, T: hr.projection_free_coco(X, T),
    "tracking=False": lambda X, T: hr.projection_free_coco(X, T, tracking=False),
    "sinha_vaze_2024": B.sinha_vaze_2024,
    "guo_recoo": B.guo_recoo,
    "threshold_rule": B.threshold_rule,
    "unconstrained": hr.unconstrained,
}
FIXED = "best fixed action"


def incidents(cap: float, seed: int) -> tuple[hr.Problem, Vector]:
    """Return six incidents of 150 rounds, and what every action violates in each round.

    The cheapest backend then takes 195 ms. Noise is 5 %.
    """
    rng = np.random.default_rng(seed)
    seen = LATENCIES * (1.0 + 0.05 * rng.standard_normal((ROUNDS, 3)))
    for begin in range(200, 200 + 6 * 480, 480):
        seen[begin : begin + 150, 0] *= 195.0 / 80.0
    rounds = [(hr.Linear(PRICES), hr.Linear(row, -cap)) for row in seen]
    return hr.RecordedProblem(hr.sets.Simplex(3), rounds), np.maximum(0.0, seen.min(axis=1) - cap)


def caps(chosen: list[str], found: dict[str, Any]) -> dict[str, Any]:
    """Return avoidable CCV, cost and violated rounds at each cap, medians over the seeds."""
    for cap in CAPS:
        games = [incidents(cap, seed) for seed in SEEDS]
        for name in chosen:
            if name == FIXED:
                continue
            numbers = []
            for problem, least in games:
                trace = hr.simulate(METHODS[name](problem.decision_set, ROUNDS), problem)
                violation = np.maximum(0.0, trace.violations)
                avoidable = float(np.maximum(0.0, violation - least).sum())
                numbers.append((avoidable, float(trace.costs.sum()), (violation > 0.0).sum()))
            found.setdefault(name, {})[f"{cap:g}"] = np.median(numbers, axis=0).tolist()
        if FIXED not in chosen:
            continue
        fixed = []
        for problem, least in games:  # of all fixed actions the least avoidable CCV
            pairs = list(zip(problem, least, strict=True))
            left = [(f, hr.Linear(g.grad(least), _offset(g) - u)) for (f, g), u in pairs]
            best = hr.hindsight(problem.decision_set, left, budget="minimum")
            violated = sum(g(best.x) > 0.0 for (_, g), _ in pairs)
            fixed.append((best.ccv, sum(f(best.x) for (f, _), _ in pairs), violated))
        found.setdefault(FIXED, {})[f"{cap:g}"] = np.median(fixed, axis=0).tolist()
    return found


def _offset(g: hr.Function) -> float:
    return g(np.zeros(3))


if __name__ == "__main__":
    path = HERE / "unattainable.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    made = {"caps": caps(sys.argv[1:] or [*METHODS, FIXED], kept.get("caps", {}))}
    path.write_text(json.dumps(made, indent=1) + "\n")
