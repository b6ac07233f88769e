"""Constraints of many parts: `python evidence/many_parts.py [game or method ...]`.

It writes many_parts.csv; games and methods that are not named keep their rows.

Four games with a `Maximum` as constraint: the load of 24 hours, of one site and of six, and the
links of Abilene and of a layered network. The methods that see the whole function, with a
convex programme in each round, play against ours, all at eagerness 1. Seeds 500 to 509 are
reported, a row for each game, seed and method.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from traffic_game import ABILENE

import hedgerow as hr
from hedgerow.inputs import Vector
from hedgerow.problems import TrafficEngineering, gravity_demands

ROWS = Path(__file__).parent / "many_parts.csv"
ROUNDS, SEEDS = 300, range(500, 510)
HOURS = np.arange(24)
PRICE = 1.0 + 0.35 * np.sin((HOURS - 13) / 12 * np.pi) + 0.25 * np.sin((HOURS - 7) / 6 * np.pi)
BASE = 0.55 + 0.25 * np.sin((HOURS - 12) / 12 * np.pi) + 0.1 * np.sin((HOURS - 6) / 6 * np.pi)
ENERGY = 7.0
"""What is to be spread over the hours of a day; the load without it is at most 1."""
Make = Callable[..., Any]
Played = tuple[float, float, int, float, float]


def load(sites: int, seed: int) -> hr.Problem:
    """Spread the energy of each site over 24 hours: cheap, and no hour above the cap."""
    rng = np.random.default_rng([seed, sites])
    own, share = rng.uniform(0.9, 1.1, (sites, 24)), rng.dirichlet(np.full(sites, 5.0))
    base = BASE * (1.0 + 0.06 * rng.standard_normal((ROUNDS, 24)))
    energy, cap = ENERGY * rng.uniform(0.9, 1.1, ROUNDS), 1.05 * float(base.max())
    rounds: list[tuple[hr.Function, hr.Function]] = []
    for e, now in zip(energy, base, strict=True):
        price = PRICE * (1.0 + 0.1 * rng.standard_normal(24))
        parts = [
            hr.Linear(np.outer(share * e, np.eye(24)[hour]).ravel(), now[hour] - cap)
            for hour in range(24)
        ]
        rounds.append((hr.Linear(e * (share[:, None] * own * price).ravel()), hr.Maximum(parts)))
    days: hr.DecisionSet = hr.sets.Simplex(24)
    return hr.RecordedProblem(days if sites == 1 else hr.sets.Product(*[days] * sites), rounds)


def abilene(seed: int) -> hr.Problem:
    """Split twelve demands over their paths; every link of Abilene has a limit."""
    demands = gravity_demands(ABILENE, ROUNDS, seed, pairs=12)
    problem = TrafficEngineering.from_network(ABILENE, demands, per_link=True)
    x = problem.decision_set.lmo(np.zeros(problem.decision_set.dim))
    rounds = [
        (cost, hr.Maximum([hr.Linear(link.grad(x), -problem.limit) for link in links.parts]))
        for cost, links in problem
        if isinstance(links, hr.Maximum)
    ]
    return hr.RecordedProblem(problem.decision_set, rounds)


def layered(seed: int) -> hr.Problem:
    """Send one unit through three layers of four nodes; every edge has a capacity."""
    rng, ring = np.random.default_rng([seed, 7]), range(4)
    edges = [("s", f"0{i}") for i in ring] + [(f"2{i}", "t") for i in ring]
    edges += [
        (f"{layer}{i}", f"{layer + 1}{(i - step) % 4}")
        for layer in range(2)
        for i in ring
        for step in range(3)
    ]
    X = hr.sets.DagPaths(edges, "s", "t")
    latency = rng.uniform(1.0, 3.0, X.dim)
    routes = np.mean([X.lmo(rng.standard_normal(X.dim)) for _ in range(12)], axis=0)
    capacity = np.maximum(1.25 * routes, 0.12)

    def one_round() -> tuple[hr.Function, hr.Function]:
        demand = rng.uniform(0.85, 1.15)
        left = capacity * (1.0 + 0.08 * rng.standard_normal(X.dim))
        cost = demand * latency * (1.0 + 0.1 * rng.standard_normal(X.dim))
        units: Vector = demand * np.eye(X.dim)
        return hr.Linear(cost), hr.Maximum(list(map(hr.Linear, units, -left)))

    return hr.RecordedProblem(X, [one_round() for _ in range(ROUNDS)])


GAMES: dict[str, Callable[[int], hr.Problem]] = {
    "24 hours, one site": lambda seed: load(1, seed),
    "24 hours, six sites": lambda seed: load(6, seed),
    "links of Abilene": abilene,
    "links of three layers": layered,
}
METHODS: dict[str, Make] = {
    "default": hr.projection_free_coco,
    "default, largest part": hr.projection_free_coco,
    "RECOO": hr.baselines.guo_recoo,
    "Yi 2021": hr.baselines.yi_2021,
}


@cache
def game_of(name: str, seed: int) -> tuple[hr.Problem, float]:
    """Return a game and the cost of its best fixed action."""
    problem = GAMES[name](seed)
    return problem, hr.hindsight(problem).cost


def played(game: str, seed: int, method: str) -> Played:
    """Return regret, CCV, violated rounds, the worst one, and microseconds per round."""
    problem, best = game_of(game, seed)
    policy = METHODS[method](problem.decision_set, ROUNDS)
    feedback = hr.first_order if method.endswith("largest part") else None
    begin = time.perf_counter()
    trace = hr.simulate(policy, problem, feedback)
    seconds = time.perf_counter() - begin
    violation = np.maximum(0.0, trace.violations)
    regret = float(trace.costs.sum()) - best
    worst, violated = float(violation.max()), int((violation > 0.0).sum())
    return regret, float(violation.sum()), violated, worst, 1e6 * seconds / ROUNDS


def main(asked: Sequence[str]) -> None:
    """Play the games and write the rows; the others stay."""
    games = [game for game in GAMES if game in asked] or list(GAMES)
    methods = [method for method in METHODS if method in asked] or list(METHODS)
    kept = []
    if ROWS.exists():
        with ROWS.open(newline="") as file:
            kept = list(csv.reader(file))[1:]
    for game in games:
        kept = [row for row in kept if row[0] != game or row[2] not in methods]
        for method in methods:
            for seed in SEEDS:
                row = (game, seed, method, *played(game, seed, method))
                kept.append([f"{x:.6g}" if isinstance(x, float) else str(x) for x in row])
        kept.sort(key=lambda row: (list(GAMES).index(row[0]), list(METHODS).index(row[2])))
        with ROWS.open("w", newline="") as file:
            head = "game seed method regret ccv violated worst microseconds"
            csv.writer(file, lineterminator="\n").writerows([head.split(), *kept])


if __name__ == "__main__":
    main(sys.argv[1:])
