"""The worst round on traffic games: `python evidence/overshoot.py` writes overshoot.csv.

Of each game the worst round and the CCV, relative to those of the unconstrained policy, for the
default and for `tracking=False`. Generated demand on 20 networks, 40 and 100 demands of seeds 500
to 504; where HEDGEROW_DATA names the measured files, each day of Abilene and GEANT too, with limits
of 0.6, 0.7 and 0.8 of what shortest paths exceed in a tenth of its rounds. No seed and no day chose
a constant.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path

from measured_files import measured_files
from traffic import NETWORKS, SHARES

import hedgerow as hr
from hedgerow.networks import Topology, TrafficMatrices
from hedgerow.problems import TrafficEngineering, gravity_demands

ROWS = Path(__file__).parent / "overshoot.csv"
SEEDS, ROUNDS, PAIRS = range(500, 505), 600, (40, 100)
DAY = {"abilene": 288, "geant": 96}
"""Rounds of a day: a matrix in 5 and in 15 minutes."""
COLUMNS = ("game", "policy", "rounds", "worst", "ccv", "violated", "cost")


def generated() -> Iterator[tuple[str, TrafficEngineering]]:
    """Yield networks with generated demand."""
    for name in NETWORKS:
        network = Topology.shipped(name)
        for pairs in PAIRS:
            for seed in SEEDS:
                demands = gravity_demands(network, ROUNDS, seed, pairs=pairs)
                problem = TrafficEngineering.from_network(network, demands)
                yield f"generated, {name}, {pairs} demands, seed {seed}", problem


def measured() -> Iterator[tuple[str, TrafficEngineering]]:
    """Yield measured days."""
    files = [f"traffic/{name}{end}" for name in DAY for end in (".json", "_demands.npz")]
    folder = measured_files(*files) / "traffic"
    for name, rounds in DAY.items():
        network = Topology.load(folder / f"{name}.json")
        matrices = TrafficMatrices.load(folder / f"{name}_demands.npz", network.nodes)
        for day, begin in enumerate(range(0, len(matrices.demands) - rounds + 1, rounds), start=1):
            demands = matrices.demands[begin : begin + rounds]
            whole = TrafficEngineering.from_network(network, demands, source=matrices.source)
            for share in SHARES:
                problem = whole.with_limit(share * whole.shortest_limit)
                yield f"measured, {name}, day {day}, limit {share}", problem


def rows_of(game: str, problem: TrafficEngineering) -> list[dict[str, object]]:
    """Play one game; no row where the unconstrained policy violates nothing."""
    X = problem.decision_set
    free = hr.simulate(hr.unconstrained(X), problem)
    if free.ccv == 0.0:
        return []
    rows = []
    for name, tracking in (("default", True), ("tracking=False", False)):
        trace = hr.simulate(hr.projection_free_coco(X, tracking=tracking), problem)
        numbers = {
            "worst": trace.violations.max() / free.violations.max(),
            "ccv": trace.ccv / free.ccv,
            "violated": float((trace.violations > 0.0).mean()),
            "cost": trace.cost / free.cost,
        }
        shown = {key: f"{max(0.0, value):.6g}" for key, value in numbers.items()}
        rows.append({"game": game, "policy": name, "rounds": problem.horizon, **shown})
    return rows


def main() -> None:
    """Play all games."""
    games = [*generated(), *(measured() if os.environ.get("HEDGEROW_DATA") else ())]
    rows = [row for game in games for row in rows_of(*game)]
    with ROWS.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
