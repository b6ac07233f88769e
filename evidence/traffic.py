"""Traffic engineering: `python evidence/traffic.py [part or method ...]` writes a JSON file.

`measured` plays Abilene's week (2016 rounds) and two days of GEANT, with limits of 0.6, 0.7 and 0.8
of what shortest paths exceed in a tenth of the rounds; its files lie in the folder that
HEDGEROW_DATA names. `generated` plays networks of the Topology Zoo with generated demand. `scale`
plays the largest network of CAIDA with 10^4 demands, and solves a linear programme of one round.
`products` plays linear rounds on products of simplices, some of which drift. Where methods are
named, `generated` and `products` play these alone, and the file keeps the others.

Where no fixed split satisfies all limits, as at the peaks of a measured week, hindsight is the
cheapest fixed split whose CCV is at most that of the default, and so is the certificate's.
Seconds are those of `ask` and `tell`, on a machine that others used too.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measured_files import measured_files

import hedgerow as hr
from hedgerow.baselines import FixedSplit, LastMatrix, MeanMatrix
from hedgerow.baselines.methods import METHODS
from hedgerow.games.simulation import feedback_of
from hedgerow.networks import Topology, TrafficMatrices
from hedgerow.problems import TrafficEngineering, gravity_demands

HERE = Path(__file__).parent
SHARES = (0.6, 0.7, 0.8)
LONGEST = float(os.environ.get("TRAFFIC_SECONDS", "20"))
"""A rival that has not played all rounds after this many seconds is stopped."""
PATIENCE = 60.0
"""Seconds of a search for hindsight."""
NETWORKS = (
    *(f"topozoo/{name}" for name in ("Abilene", "Geant2012", "Nsfnet", "Janetbackbone", "BtEurope",
                                     "Cernet", "Garr201201", "Arnes", "Renater2010", "Bellcanada")),
    *(f"sndlib/{name}" for name in ("atlanta", "cost266", "dfn-gwin", "france", "germany50",
                                    "india35", "janos-us", "nobel-eu", "nobel-us", "polska")),
)  # fmt: skip
SEEDS = range(10)
FEW = ("unconstrained", "sinha_vaze_2024", "sarkar_sinha_2025", "wang_2025")
HORIZON = 2000
PRODUCT_SIZES, PRODUCT_ROUNDS = ((2, 10), (10, 5), (60, 4)), 1500
SPEEDS, PRODUCT_SEEDS = (0.0, 0.01, 0.1), range(300, 305)
LARGEST, SCALE_ROUNDS = "caida/2024-08/7018", 40
OURS = ("projection_free_coco", "projection_free_coco_plain")
RIVALS = (
    "unconstrained", "sinha_vaze_2024", "sarkar_sinha_2025", "wang_2025",
    "garber_kretzu_2024_lpm", "yu_neely_2020", "liakopoulos_cold", "sun_safe", "mahdavi_2012",
    "jenatton_2016", "yuan_lamperski_2018", "follow_the_leader_feasible", "guo_recoo", "yi_2023",
)  # fmt: skip


def operators(P: TrafficEngineering) -> dict[str, Callable[[], Any]]:
    """What operators do."""
    X = P.decision_set
    return {
        "shortest paths": lambda: FixedSplit(X, P.shortest),
        "ECMP": lambda: FixedSplit(X, P.equal_split),
        "last matrix": lambda: LastMatrix(P),
        "mean matrix": lambda: MeanMatrix(P),
    }


def learners(P: TrafficEngineering, rivals: tuple[str, ...]) -> dict[str, Callable[[], Any]]:
    """The default, its variants, and the rivals that apply."""
    X = P.decision_set
    return {name: partial(METHODS[name].build, X, P.horizon) for name in (*OURS, *rivals)}


def played(make: Callable[[], Any], P: TrafficEngineering) -> dict[str, Any]:
    """Play all rounds, or as many as time allows, and return the totals."""
    try:
        policy = make()
    except (NotImplementedError, TypeError, ValueError) as error:
        return {"refused": str(error)}
    observe, begin = feedback_of(policy), time.perf_counter()
    costs, violations, seconds = [], [], 0.0
    for f, g in P:
        before = time.perf_counter()
        x = policy.ask()
        seconds += time.perf_counter() - before
        costs.append(f(x))
        violations.append(g(x))
        seen = observe(f, x), observe(g, x)
        before = time.perf_counter()
        try:
            policy.tell(*seen)
        except (NotImplementedError, TypeError, ValueError) as error:
            return {"refused": str(error)}
        seconds += time.perf_counter() - before
        if time.perf_counter() - begin > LONGEST and not isinstance(policy, LastMatrix):
            break
    over = np.maximum(violations, 0.0)
    row = {
        "rounds": len(costs),
        "cost": float(np.mean(costs)),
        "ccv": float(over.sum()),
        "violating": float((over > 0.0).mean()),
        "microseconds": 1e6 * seconds / len(costs),
    }
    if hasattr(policy, "certificate"):
        row["policy"] = policy
    return row


def compared(P: TrafficEngineering, rivals: tuple[str, ...]) -> dict[str, Any]:
    """Play every method, then the benchmarks."""
    found = {
        name: played(make, P) for name, make in {**operators(P), **learners(P, rivals)}.items()
    }
    keeps_all = P.limit >= P.smallest_limit
    budget = 0.0 if keeps_all else found["projection_free_coco"]["ccv"]
    best = hr.hindsight(P, budget=budget, time_limit=PATIENCE)
    for row in found.values():
        policy = row.pop("policy", None)
        if policy is not None and row["rounds"] == P.horizon:
            row["certificate"] = policy.certificate(budget) / P.horizon
            row["regret"] = row["cost"] - best.cost / P.horizon
    optima = P.round_optima()
    return {
        "limit": P.limit,
        "smallest_limit": P.smallest_limit,
        "hindsight": {
            "status": best.status,
            "cost": best.cost / P.horizon,
            "lower_bound": best.lower_bound / P.horizon,
            "budget": budget,
        },
        "dynamic": {
            "cost": float(optima.costs.mean()),
            "ccv": float(np.maximum(optima.limits - P.limit, 0.0).sum()),
        },
        "methods": found,
    }


def measured() -> dict[str, Any]:
    """Abilene's week and two days of GEANT."""
    names = ("abilene", "geant")
    files = [f"traffic/{name}{end}" for name in names for end in (".json", "_demands.npz")]
    folder, tables = measured_files(*files) / "traffic", {}
    for name in names:
        network = Topology.load(folder / f"{name}.json")
        matrices = TrafficMatrices.load(folder / f"{name}_demands.npz", network.nodes)
        whole = TrafficEngineering.from_network(network, matrices.demands, source=matrices.source)
        tables[name] = {
            "rounds": whole.horizon,
            "left_out": matrices.left_out,
            "pairs": len(whole.decision_set.pairs),
            "paths": whole.decision_set.dim,
            "shortest_limit": whole.shortest_limit,
            "limits": {
                f"{share}": compared(whole.with_limit(share * whole.shortest_limit), RIVALS)
                for share in SHARES
            },
        }
        sys.stderr.write(f"{name}\n")
    return tables


def generated() -> dict[str, Any]:
    """Networks of the Topology Zoo and SNDlib with generated demand, all of one seed at a time."""
    stored = stored_part("generated")
    tables: dict[str, Any] = {}
    for seed in SEEDS:
        for name in NETWORKS:
            key = f"{name} {seed}"
            tables[key] = generated_game(name, seed, stored.get(key))
        store("generated", tables)  # a run that was stopped has whole seeds
    return tables


def generated_game(name: str, seed: int, stored: dict[str, Any] | None) -> dict[str, Any]:
    """Play one network with the demand of one seed; methods that are not wanted stay as stored."""
    network = Topology.shipped(name)
    matrices = gravity_demands(network, HORIZON, seed, pairs=200)
    P = TrafficEngineering.from_network(network, matrices)
    fixed = {k: v for k, v in operators(P).items() if "matrix" not in k}
    every = {**fixed, **learners(P, FEW)}
    found = {method: played(make, P) for method, make in every.items() if is_wanted(method)}
    best = None if stored else hr.hindsight(P, time_limit=PATIENCE)
    for row in found.values():
        row.pop("policy", None)
        row.update({key: float(f"{value:.5g}") for key, value in row.items()})
    sys.stderr.write(f"{name} {seed} {P.decision_set.dim}\n")
    if stored is not None:
        merged = {**stored["methods"], **found}
        return {**stored, "methods": {method: merged[method] for method in every}}
    assert best is not None
    return {
        "paths": P.decision_set.dim,
        "limit": P.limit,
        "hindsight": {"status": best.status, "cost": best.cost / P.horizon},
        "methods": found,
    }


def scale() -> dict[str, Any]:
    """CAIDA's largest network: 594 nodes, 10^4 demands on 4 paths each."""
    network = Topology.shipped(LARGEST)
    matrices = gravity_demands(network, SCALE_ROUNDS, 0, pairs=10_000)
    begin = time.perf_counter()
    P = TrafficEngineering.from_network(network, matrices, limit=1.0)
    built = time.perf_counter() - begin
    P = P.with_limit(0.8 * P.shortest_limit)
    X = P.decision_set
    found = {
        "shortest paths": played(lambda: FixedSplit(X, P.shortest), P),
        "projection_free_coco": played(partial(hr.projection_free_coco, X), P),
        "projection_free_coco_plain": played(
            partial(hr.projection_free_coco, X, tracking=False), P
        ),
        "sinha_vaze_2024": played(partial(hr.baselines.sinha_vaze_2024, X), P),
    }
    for row in found.values():
        row.pop("policy", None)
    begin = time.perf_counter()
    P.best_for(P.loads, P.demands[-1])
    return {
        "nodes": len(network.nodes),
        "links": len(network.edges),
        "pairs": len(X.pairs),
        "paths": X.dim,
        "seconds_to_find_paths": built,
        "seconds_of_a_linear_programme": time.perf_counter() - begin,
        "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "methods": found,
    }


def drifting(blocks: int, arms: int, speed: float, seed: int) -> hr.RecordedProblem:
    """Linear rounds on a product of simplices whose costs turn; one arm of each is safe."""
    rng, n = np.random.default_rng(seed), blocks * arms
    sizes = np.repeat(10.0 ** rng.uniform(-1.5, 0.0, blocks), arms)
    phase, cost, need = rng.uniform(0, 2 * np.pi, n), rng.uniform(0, 1, n), rng.uniform(-1, 1, n)
    safe = np.arange(0, n, arms) + rng.integers(0, arms, blocks)
    rounds = []
    for t in range(PRODUCT_ROUNDS):
        a = cost + (speed > 0.0) * np.sin(speed * t + phase) + 0.3 * rng.standard_normal(n)
        c = need + (speed > 0.0) * 0.5 * np.sin(0.7 * speed * t + phase[::-1])
        c += 0.3 * rng.standard_normal(n)
        a[safe], c[safe] = a[safe] + 0.5, -np.abs(c[safe]) - 0.1
        rounds.append((hr.Linear(sizes * a), hr.Linear(sizes * c / blocks)))
    return hr.RecordedProblem(hr.sets.Product(*[hr.sets.Simplex(arms)] * blocks), rounds)


def products() -> dict[str, Any]:
    """The default and blocks, where costs stay and where they turn."""
    policies: dict[str, Callable[[Any], Any]] = {
        "projection_free_coco": hr.projection_free_coco,
        "projection_free_coco_plain": partial(hr.projection_free_coco, tracking=False),
        "unconstrained": hr.unconstrained,
    }
    stored, tables = stored_part("products"), {}
    for blocks, arms in PRODUCT_SIZES:
        for speed in SPEEDS:
            games = [drifting(blocks, arms, speed, seed) for seed in PRODUCT_SEEDS]
            key = f"{blocks} x {arms}, speed {speed:g}"
            found = dict(stored.get(key, {}))
            for name, make in policies.items():
                if not is_wanted(name):
                    continue
                traces = [hr.simulate(make(game.decision_set), game) for game in games]
                costs, ccvs = [t.cost for t in traces], [t.ccv for t in traces]
                found[name] = {"cost": float(np.median(costs)), "ccv": float(np.median(ccvs))}
            tables[key] = found
    return tables


PARTS = {"measured": measured, "generated": generated, "scale": scale, "products": products}


def is_wanted(method: str) -> bool:
    """Whether the command line names a method, or none."""
    return method in sys.argv or not set(METHODS) & set(sys.argv)


def stored_part(part: str) -> dict[str, Any]:
    """Return a part of the file where methods are named, else nothing."""
    if not set(METHODS) & set(sys.argv):
        return {}
    found: dict[str, Any] = json.loads((HERE / "traffic.json").read_text())[part]
    return found


def store(part: str, results: dict[str, Any]) -> None:
    """Write one part of the file; the others stay."""
    file = HERE / "traffic.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps({**kept, part: results}) + "\n")


def main() -> None:
    """Make the parts that the command line names, all by default."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in [name for name in PARTS if name in sys.argv] or list(PARTS):
            store(part, PARTS[part]())


if __name__ == "__main__":
    main()
