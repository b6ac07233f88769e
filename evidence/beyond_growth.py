"""How the regulariser grows: `python evidence/beyond_growth.py` writes its JSON file.

beta_T, M_T and CCV of the default of version 0.1, whose regulariser has no cap, at growing
horizons, 2 seeds, with the slopes of their logarithms over log T: what a proof for one oracle call
per round would have to bound. Where beta is its floor, the certificate asks for nothing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from first_default import first_default

import hedgerow as hr
from hedgerow.learners.steps import BETA, FLOOR, UNIT, D, M, P

HORIZONS = [1000, 4000, 16000, 64000]
SEEDS = range(30, 32)
GAMES: dict[str, Any] = {
    "G": lambda T, seed: hr.ShortestPath.random_network(horizon=T, seed=seed),
    "S1": lambda T, seed: hr.problems.IidSimplex(horizon=T, seed=seed),
    "S2": lambda T, seed: hr.problems.SwitchingBall(horizon=T, seed=seed),
    "S2b": lambda T, seed: hr.problems.SwitchingBall(horizon=T, seed=seed, growth=1.0),
    "S3": lambda T, seed: hr.problems.HalfspaceBox(horizon=T, seed=seed),
    "S4": lambda T, seed: hr.problems.OrthogonalBall(horizon=T, seed=seed),
}


def run(make: Any, T: int, seed: int) -> list[float]:
    """beta_T, M_T, CCV and the floor over beta_T."""
    problem = make(T, seed)
    policy: Any = first_default(problem.decision_set)
    trace = hr.simulate(policy, problem)
    rule = policy.learner.rule_numbers
    floor = rule[FLOOR] * rule[UNIT] * rule[P] ** 0.75 / rule[D]
    return [rule[BETA], rule[M], trace.ccv, floor / rule[BETA]]


def slope(column: Any) -> float | None:
    """The slope from the second horizon on; None where a mean is not positive."""
    if min(column[1:]) <= 0.0:
        return None
    return round(float(np.polyfit(np.log(HORIZONS[1:]), np.log(column[1:]), 1)[0]), 2)


def growth() -> list[dict[str, Any]]:
    """Every game."""
    rows = []
    for game, make in GAMES.items():
        figures = np.array(
            [np.mean([run(make, T, seed) for seed in SEEDS], axis=0) for T in HORIZONS]
        )
        row: dict[str, Any] = {"game": game, "horizons": HORIZONS}
        for name, column in zip(("beta", "M", "ccv", "floor_over_beta"), figures.T, strict=True):
            row[name] = [float(f"{v:.4g}") for v in column]
            row[f"{name}_slope"] = slope(column)
        rows.append(row)
    return rows


if __name__ == "__main__":
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(growth(), indent=1) + "\n")
    sys.stdout.write(f"{path}\n")
