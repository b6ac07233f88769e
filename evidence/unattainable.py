"""Limits that no action can meet: `python evidence/unattainable.py` writes unattainable.json.

Names of parts on the command line choose some; the file keeps the others.

- weights: the largest weight in games whose limit becomes unattainable, and its course.
- caps: three backends with six incidents, at four caps: avoidable CCV, cost, violated rounds.
- networks: five generated networks at 20 caps each: does a stricter cap lead to more violation of
  a looser one?

Seeds 500 to 519 chose nothing; 500 to 504 for weights.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
from hedgerow.games import simulate_chunks
from hedgerow.inputs import Vector

HERE = Path(__file__).parent
SEEDS, WEIGHT_SEEDS = range(500, 520), range(500, 505)
LIMIT = 100.0
LONG, SHORT, CHUNK = 20_000, 6_000, 25
ROUNDS, CAPS = 3_000, (60.0, 75.0, 100.0, 140.0)
PRICES, LATENCIES = np.array([1.0, 2.0, 1.7]), np.array([80.0, 128.0, 150.0])
NETWORKS, NETWORK_CAPS = range(1, 6), 20
B = hr.baselines
METHODS: dict[str, Callable[..., Any]] = {
    "default": lambda X, T: hr.projection_free_coco(X, T),
    "tracking=False": lambda X, T: hr.projection_free_coco(X, T, tracking=False),
    "sinha_vaze_2024": B.sinha_vaze_2024,
    "guo_recoo": B.guo_recoo,
    "threshold_rule": B.threshold_rule,
    "unconstrained": hr.unconstrained,
}
COMPARED = ("default", "sinha_vaze_2024", "guo_recoo", "threshold_rule")


def levels_of(case: str, T: int, rng: np.random.Generator) -> Vector:
    """Return rounds x 3 latencies in ms, without noise; the limit is 100 ms."""
    t, late = np.arange(T)[:, None], np.array([140.0, 150.0, 160.0])
    apart = np.array([1.0, 1.05, 1.1])  # the cheapest is the quickest, or all are alike
    early = np.array([300.0, 50.0, 60.0])
    if case in ("for good after 30 rounds", "for good, tenfold"):
        return np.where(t < 30, early, late * (10.0 if "tenfold" in case else 1.0))
    if case == "from the first round":
        return np.tile(late, (T, 1))
    if case == "by 1 % after 1000 rounds":
        return np.where(t < 1000, early, 101.0 * np.array([1.0, 1.0001, 1.0002]))
    if case == "gradually":
        return apart * (70.0 + 70.0 * t / T)
    if case == "gradually, and back":
        return apart * (140.0 - 70.0 * np.abs(2.0 * t / T - 1.0))
    if case == "every other 100 rounds":
        return np.where(t // 100 % 2 == 0, early, late)
    if case == "in waves of 500 rounds":
        return apart * (100.0 + 30.0 * np.sin(2.0 * np.pi * t / 500))
    steps = 2.0 if case == "by a drifting margin" else 0.02
    return apart * (98.0 + np.cumsum(steps * rng.standard_normal((T, 1)), axis=0) % 20.0)


CASES = {
    "for good after 30 rounds": LONG,
    "for good, tenfold": SHORT,
    "from the first round": SHORT,
    "by 1 % after 1000 rounds": SHORT,
    "gradually": SHORT,
    "gradually, and back": SHORT,
    "every other 100 rounds": SHORT,
    "in waves of 500 rounds": SHORT,
    "by a drifting margin": SHORT,
    "by a margin that hardly drifts": SHORT,
    "gradually, on routes": SHORT,
}


def unattainable(case: str, seed: int) -> hr.Problem:
    """Return a game whose limit of 100 ms cannot be met, sooner or later."""
    rng, T = np.random.default_rng(seed), CASES[case]
    if case == "gradually, on routes":
        X, price, latency = network(seed)
        quickest = latency @ X.lmo(latency)
        seen = latency * (1.0 + 0.02 * rng.standard_normal((T, X.dim)))
        caps = quickest * np.linspace(1.5, 0.7, T)
        limits = [hr.Linear(row, -cap) for row, cap in zip(seen, caps, strict=True)]
        return hr.RecordedProblem(X, [(hr.Linear(price), limit) for limit in limits])
    seen = levels_of(case, T, rng) * (1.0 + 0.02 * rng.standard_normal((T, 3)))
    cost = hr.Linear([0.0, 1.0, 1.0])
    return hr.RecordedProblem(hr.sets.Simplex(3), [(cost, hr.Linear(row, -LIMIT)) for row in seen])


def network(seed: int) -> tuple[hr.DecisionSet, Vector, Vector]:
    """Return routes over three layers of three nodes, with prices and latencies of edges."""
    rng, ring = np.random.default_rng([seed, 3]), range(3)
    edges = [("s", f"0{i}") for i in ring] + [(f"2{i}", "t") for i in ring]
    edges += [(f"{k}{i}", f"{k + 1}{j}") for k in range(2) for i in ring for j in ring]
    latency = rng.uniform(15.0, 45.0, len(edges))
    price = rng.uniform(0.5, 1.5, len(edges)) + 10.0 / latency  # quick edges cost more
    return hr.sets.DagPaths(edges, "s", "t"), price, latency


def weights() -> dict[str, Any]:
    """Return the largest weight of each case, over seeds, and the course of the first seed."""
    found: dict[str, Any] = {}
    for case in CASES:
        for name in ("default", "tracking=False"):
            row: dict[str, Any] = {"largest": 0.0, "rounds": CASES[case]}
            for seed in WEIGHT_SEEDS:
                problem, course = unattainable(case, seed), []
                policy = METHODS[name](problem.decision_set, None)
                surrogate = policy.surrogate
                for _ in simulate_chunks(policy, problem, size=CHUNK):
                    course.append(float(surrogate.weight))
                row["largest"] = max(row["largest"], float(surrogate.largest_weight))
                if seed == WEIGHT_SEEDS[0]:
                    row["course"] = [float(f"{weight:.3g}") for weight in course]
                    row["refuted"] = bool(surrogate.guard.refuted)
            found.setdefault(case, {})[name] = row
    return found


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


def caps() -> dict[str, Any]:
    """Return avoidable CCV, cost and violated rounds at each cap, medians over the seeds."""
    found: dict[str, Any] = {}
    for cap in CAPS:
        games = [incidents(cap, seed) for seed in SEEDS]
        for name, make in METHODS.items():
            numbers = []
            for problem, least in games:
                trace = hr.simulate(make(problem.decision_set, ROUNDS), problem)
                violation = np.maximum(0.0, trace.violations)
                avoidable = float(np.maximum(0.0, violation - least).sum())
                numbers.append((avoidable, float(trace.costs.sum()), (violation > 0.0).sum()))
            found.setdefault(name, {})[f"{cap:g}"] = np.median(numbers, axis=0).tolist()
        fixed = []
        for problem, least in games:  # of all fixed actions the least avoidable CCV
            pairs = list(zip(problem, least, strict=True))
            left = [(f, hr.Linear(g.grad(least), _offset(g) - u)) for (f, g), u in pairs]
            best = hr.hindsight(problem.decision_set, left, budget="minimum")
            violated = sum(g(best.x) > 0.0 for (_, g), _ in pairs)
            fixed.append((best.ccv, sum(f(best.x) for (f, _), _ in pairs), violated))
        found.setdefault("best fixed action", {})[f"{cap:g}"] = np.median(fixed, axis=0).tolist()
    return found


def _offset(g: hr.Function) -> float:
    return g(np.zeros(3))


def incidents_on(seed: int) -> tuple[hr.DecisionSet, Vector, Vector, Vector]:
    """Return routes, their prices, latencies of edges by round, and 20 caps.

    In six incidents of 150 rounds an edge of the cheapest route takes three times as long.
    """
    X, price, latency = network(seed)
    rng, cheapest = np.random.default_rng([seed, 4]), X.lmo(price)
    seen = latency * (1.0 + 0.05 * rng.standard_normal((ROUNDS, X.dim)))
    for begin in range(200, 200 + 6 * 480, 480):
        seen[begin : begin + 150, rng.choice(np.flatnonzero(cheapest > 0.5))] *= 3.0
    ends = 0.8 * latency @ X.lmo(latency), 1.2 * latency @ cheapest
    return X, price, seen, np.linspace(*ends, NETWORK_CAPS)


def networks() -> list[dict[str, Any]]:
    """Compare every pair of caps: violation of the looser one when playing for the stricter."""
    found = []
    for seed in NETWORKS:
        X, price, seen, all_caps = incidents_on(seed)
        cost, free = hr.Linear(price), seen @ X.lmo(price)
        free_ccv = np.maximum(0.0, free[:, None] - all_caps).sum(0)
        for name in COMPARED:
            latencies = []
            for cap in all_caps:
                problem = hr.RecordedProblem(X, [(cost, hr.Linear(row, -cap)) for row in seen])
                trace = hr.simulate(METHODS[name](X, ROUNDS), problem)
                latencies.append(trace.violations + cap)
            above = np.array([np.maximum(0.0, row[:, None] - all_caps).sum(0) for row in latencies])
            own, pairs = np.diag(above), np.triu_indices(NETWORK_CAPS, 1)
            ratio = above[pairs] / np.maximum(own[pairs[1]], 1e-9)
            excess = (above[pairs] - own[pairs[1]]) / free_ccv[pairs[1]]
            found.append(
                {
                    "network": seed,
                    "method": name,
                    "pairs": int(ratio.size),
                    "more": int((ratio > 1.0).sum()),
                    "quarter": int((ratio > 1.25).sum()),
                    "of_free": max(0.0, float(excess.max())),
                    "ccv": float(own.sum() / free_ccv.sum()),
                }
            )
    return found


PARTS: dict[str, Callable[[], Any]] = {"weights": weights, "caps": caps, "networks": networks}

if __name__ == "__main__":
    path = HERE / "unattainable.json"
    made = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    made |= {part: PARTS[part]() for part in sys.argv[1:] or PARTS}
    path.write_text(json.dumps(made, indent=1) + "\n")
