"""Advice: `python evidence/advice.py [part ...]` writes evidence/advice.json.

`measured` plays Abilene's week and two days of GEANT (files in the folder that HEDGEROW_DATA
names), `generated` twenty networks with generated demand; the adviser is the linear programme for
the last traffic matrix. `hostile` has advisers that mean harm. Costs are per round, CCV is a sum,
both in the units of the problem. The microseconds of an adviser are those of its programmes. Seeds
are 500 and above, which chose nothing.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measured_files import measured_files
from traffic import NETWORKS, SHARES

import hedgerow as hr
from hedgerow.baselines import LastMatrix
from hedgerow.baselines.methods import METHODS
from hedgerow.games import record_advice
from hedgerow.inputs import Vector
from hedgerow.networks import Topology, TrafficMatrices
from hedgerow.problems import TrafficEngineering, gravity_demands
from hedgerow.problems.problem import Problem

HERE = Path(__file__).parent
SEEDS, HORIZON, PAIRS = range(500, 510), 300, 100
RIVALS = ("sinha_vaze_2024", "guo_recoo")
LONGEST = 8.0
"""A rival that has not played all rounds after this many seconds is stopped; its rounds count."""
KINDS = ("worst", "turncoat", "infeasible", "oscillating")
HOSTILE_ROUNDS, HOSTILE_SEEDS = 2000, range(500, 510)


def totals(costs: Vector, violations: Vector, seconds: float) -> dict[str, float]:
    """Return the totals of a game."""
    over = np.maximum(violations, 0.0)
    return {
        "rounds": len(costs),
        "cost": float(costs.mean()),
        "ccv": float(over.sum()),
        "violated": float((over > 1e-9).mean()),
        "worst": float(over.max()),
        "microseconds": 1e6 * seconds / len(costs),
    }


def played(policy: Any, problem: Problem, advice: Any = None) -> dict[str, float]:
    """Play a game, as far as time allows, and return its totals."""
    begin, steps = time.perf_counter(), []
    for step in hr.play(policy, problem, advice=advice):
        steps.append((step.cost, step.violation))
        if time.perf_counter() - begin > LONGEST:
            break
    costs, violations = np.array(steps).T
    return totals(costs, violations, time.perf_counter() - begin)


def simulated(policy: Any, problem: Problem, advice: Any = None) -> dict[str, float]:
    """Play a game to its end in the compiled loop."""
    trace = hr.simulate(policy, problem, advice=advice)
    return totals(trace.costs, trace.violations, trace.seconds or 0.0)


def compared(P: TrafficEngineering, rivals: tuple[str, ...] = RIVALS) -> dict[str, Any]:
    """Play one game with and without the adviser, the adviser alone, and rivals."""
    X = P.decision_set
    begin = time.perf_counter()
    rows = record_advice(LastMatrix(P), P)
    seconds = time.perf_counter() - begin
    values = np.array([[f(x), g(x)] for (f, g), x in zip(P, rows, strict=True)])
    policy = hr.projection_free_coco(X, advisers=["programme"])
    found = {
        "default": simulated(hr.projection_free_coco(X), P),
        "adviser": totals(*values.T, seconds),
        "advised": simulated(policy, P, rows),
        **{name: played(METHODS[name].build(X, P.horizon), P) for name in rivals},
    }
    found["advised"]["weight"] = policy.voices["programme"]
    return {"paths": X.dim, "limit": P.limit, "rounds": P.horizon, "methods": found}


def measured() -> dict[str, Any]:
    """Abilene's week and two days of GEANT, three limits each."""
    tables = {}
    for name in ("geant", "abilene"):
        files = (f"traffic/{name}.json", f"traffic/{name}_demands.npz")
        folder = measured_files(*files)
        network = Topology.load(folder / files[0])
        matrices = TrafficMatrices.load(folder / files[1], network.nodes)
        whole = TrafficEngineering.from_network(network, matrices.demands, source=matrices.source)
        for share in SHARES:
            P = whole.with_limit(share * whole.shortest_limit)
            tables[f"{name}, {share}"] = compared(P)
            sys.stderr.write(f"{name} {share}\n")
    return tables


def generated() -> dict[str, Any]:
    """Networks of the Topology Zoo and SNDlib with generated demand, all of one seed at a time."""
    tables: dict[str, Any] = {}
    for seed in SEEDS:
        for name in NETWORKS:
            network = Topology.shipped(name)
            demands = gravity_demands(network, HORIZON, seed, pairs=PAIRS)
            P = TrafficEngineering.from_network(network, demands)
            tables[f"{name} {seed}"] = compared(P, RIVALS if seed == SEEDS[0] else RIVALS[:1])
            sys.stderr.write(f"{name} {seed}\n")
        store("generated", tables)  # a run that was stopped has whole seeds
    return tables


def hostile_games(seed: int) -> dict[str, Problem]:
    """Games on which advisers mean harm."""
    network = Topology.shipped("topozoo/Abilene")
    demands = gravity_demands(network, HOSTILE_ROUNDS, seed, pairs=40)
    return {
        "simplex of 20": hr.problems.IidSimplex(20, horizon=HOSTILE_ROUNDS, seed=seed),
        "paths": hr.ShortestPath.random_network(
            nodes=60, edges=300, horizon=HOSTILE_ROUNDS, seed=seed
        ),
        "traffic": TrafficEngineering.from_network(network, demands),
    }


def harmful(kind: str, problem: Problem) -> Vector:
    """Return the advice of an adviser that knows each round beforehand, and means harm."""
    X, rows = problem.decision_set, []
    best = hr.hindsight(problem, budget="minimum", time_limit=20.0).x
    for t, (f, g) in enumerate(problem):
        x = X.start()
        a, c = hr.first_order(f, x).grad, hr.first_order(g, x).grad
        worst = X.lmo(-(a / np.linalg.norm(a) + c / max(np.linalg.norm(c), 1e-12)))
        if kind == "infeasible":  # the cheapest, whatever the limit
            rows.append(X.lmo(a))
        elif kind == "oscillating":
            rows.append(best if t % 2 else worst)
        else:
            rows.append(best if kind == "turncoat" and t < 500 else worst)
    return np.array(rows)


def hostile() -> dict[str, Any]:
    """Regret, CCV and bounds with hostile advisers, beside the same policy without advice."""
    tables: dict[str, Any] = {}
    for seed in HOSTILE_SEEDS:
        for name, problem in hostile_games(seed).items():
            X = problem.decision_set
            alone = simulated(hr.projection_free_coco(X), problem)
            for kind in KINDS:
                policy = hr.projection_free_coco(X, advisers=["him"])
                found = simulated(policy, problem, harmful(kind, problem))
                found["certificate"] = float(policy.certificate()) / problem.horizon
                tables.setdefault(f"{name}, {kind}", []).append({"alone": alone, "advised": found})
        sys.stderr.write(f"hostile {seed}\n")
    return tables


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "measured": measured,
    "generated": generated,
    "hostile": hostile,
}


def store(part: str, results: dict[str, Any]) -> None:
    """Write one part of the file; the others stay."""
    file = HERE / "advice.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    rounded = json.loads(json.dumps(results), parse_float=lambda text: float(f"{float(text):.5g}"))
    file.write_text(json.dumps({**kept, part: rounded}) + "\n")


def main() -> None:
    """Make the parts that the command line names, all by default."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in sys.argv[1:] or list(PARTS):
            store(part, PARTS[part]())


if __name__ == "__main__":
    main()
