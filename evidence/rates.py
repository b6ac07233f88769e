"""Rates that follow the set: writes rates.json.

`python evidence/rates.py [what]`, what among attack, growth, time, bounds, games; left out, all. It
takes about ten minutes of processor time.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from default import GAMES as FAMILIES
from rates_attack import POLICIES, GuardedBounds, attacks
from rates_games import GAMES, SETS, RuleGame

import hedgerow as hr
from hedgerow.bounds import (
    coco_ccv,
    coco_regret,
    guarded_ccv,
    ocg_regret,
    schedule_regret,
    universal_regret,
)
from hedgerow.experiments import fit_growth
from hedgerow.learners import AdaptiveOCG, AwayOCG
from hedgerow.learners.growth import best_growth
from hedgerow.learners.steps import CertificateSteps, UniversalSteps
from hedgerow.problems.problem import LinearChunk, LinearProblem
from hedgerow.surrogates.guard import SHARE

PATH = Path(__file__).with_suffix(".json")
Row = dict[str, Any]
SEED = 400
HORIZONS = (1000, 3162, 10_000, 31_623, 100_000, 1_000_000)
FEWER = {"paths, 1200 edges": HORIZONS[:5]}
"""A round on paths takes tens of microseconds."""
SMALL = 0.1
"""A regret or CCV below this, a tenth of what a round can cost, is not fitted."""
C = 0.3
"""That of `UniversalSteps` in games; its bound prefers 1."""


def _say(*words: object) -> None:
    sys.stderr.write(" ".join(map(str, words)) + "\n")


def _alone(learner: Any) -> Any:
    return hr.ConstrainedPolicy(learner, hr.surrogates.CostOnlySurrogate())


PLAYERS: dict[str, Callable[[hr.DecisionSet], Any]] = {
    "one step, universal": lambda X: _alone(AdaptiveOCG(X, UniversalSteps(C))),
    "away steps, universal": lambda X: _alone(AwayOCG(X, UniversalSteps(C))),
    "one step": lambda X: _alone(AdaptiveOCG(X, CertificateSteps())),
    "away steps": lambda X: _alone(AwayOCG(X, CertificateSteps())),
    "plain": POLICIES["plain"],
    "away_coco": POLICIES["away_coco"],
}


def _digits(value: float) -> float:
    return float(f"{value:.5g}")


def growth(sets: Iterable[str] = SETS) -> list[Row]:
    """Regret and CCV by horizon, every horizon a game of its own; and their exponents.

    The regret of a learner alone is against the best action, that of a policy against the best one
    that satisfies all constraints of the game.
    """
    rows = []
    for name in sets:
        X = SETS[name]()
        for game in GAMES:
            for player, make in PLAYERS.items():
                alone = player not in POLICIES
                row: Row = {"set": name, "game": game, "player": player}
                row |= {"horizons": [], "regret": [], "ccv": [], "calls": []}
                for T in FEWER.get(name, HORIZONS):
                    problem, policy = RuleGame(game, X, T, SEED), make(X)
                    trace = hr.simulate(policy, problem)
                    assert trace.compiled
                    assert problem.interpreted == 0, "the sum of the costs would lack rounds"
                    total = problem.cost_gradients()
                    best = X.minimum(total) - float(total @ problem.feasible)
                    best = best if alone else problem.best_cost()
                    row["horizons"].append(T)
                    row["regret"].append(_digits(trace.cost - best))
                    row["ccv"].append(_digits(trace.ccv))
                    row["calls"].append(_digits((trace.oracle_calls or 0) / T))
                rows.append(row | {"exponents": fits(row)})
            _say(name, game, [(r["player"], r["exponents"]) for r in rows[-len(PLAYERS) :]])
    return rows


def fits(row: Row) -> dict[str, list[float] | None]:
    """Return exponents with the ends of their 95 % intervals; None where values are too small."""
    found: dict[str, list[float] | None] = {}
    for key in ("regret", "ccv"):
        found[key] = None
        if min(row[key]) > SMALL:
            fit = fit_growth(row["horizons"], row[key])
            found[key] = [round(end, 3) for end in (fit.exponent, fit.low, fit.high)]
    return found


class Stored(LinearProblem):
    """Linear rounds that are drawn before the clock runs."""

    def __init__(self, decision_set: hr.DecisionSet, horizon: int):
        rng, X = np.random.default_rng(SEED), decision_set
        self.decision_set, self.horizon = X, horizon
        z, mean = X.start(), rng.standard_normal((2, X.dim))
        a, c = (m + 0.3 * rng.standard_normal((horizon, X.dim)) for m in mean)
        self.drawn = LinearChunk.of(a, c, -c @ z)

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        for k in range(0, self.horizon, size):
            yield LinearChunk(*(part[k : k + size] for part in self.drawn))


def times() -> list[Row]:
    """Time per round, the policies one after the other in one run; medians of eleven ratios.

    In the game that pushes, many vertices stay active; the time of its rule is the same for all.
    """
    rows = []
    for name, make_set in SETS.items():
        X = make_set()
        T = 1000 if X.dim > 1000 else 10_000
        for game, problem in (
            ("drawn", Stored(X, T)),
            ("pushed from the play", RuleGame("pushed from the play", X, T, SEED)),
        ):
            taken: dict[str, list[float]] = {policy: [] for policy in POLICIES}
            for _ in range(12):
                for policy, make in POLICIES.items():
                    player, begin = make(X), time.process_time()
                    hr.simulate(player, problem)
                    taken[policy].append(1e6 * (time.process_time() - begin) / T)
            kept = {policy: mine[1:] for policy, mine in taken.items()}  # the first one compiles
            ratios = {
                policy: median(a / b for a, b in zip(mine, kept["default"], strict=True))
                for policy, mine in kept.items()
            }
            row: Row = {"set": name, "game": game}
            row["microseconds"] = round(median(kept["default"]), 2)
            row["ratios"] = {policy: round(ratio, 2) for policy, ratio in ratios.items()}
            rows.append(row)
            _say(row)
    return rows


BOUNDED: dict[str, Callable[[], hr.DecisionSet]] = {
    "simplex, 20": lambda: hr.sets.Simplex(20),
    "ball": lambda: hr.sets.L2Ball(10),
    "paths, 1200 edges": SETS["paths, 1200 edges"],
}


def bounds() -> list[Row]:
    """Bounds in per cent of the trivial ones, for gradients of norm 1.

    `paper` is Theorem 2.1 or 3.4. `before` is the constant (4/3)(1 + rho) of one step, and the CCV
    of Theorem F for costs of one size; the mixture had none. `now` has the best growth that is
    proved; `universal` is the bound of `UniversalSteps`, for the best growth.
    """
    rows = []
    for name, make_set in BOUNDED.items():
        X = make_set()
        D, R = X.diameter, X.radius_around(X.start())
        rho = (R / D) ** 2
        old = 4.0 / 3.0 * (1.0 + rho)
        for T in (1600, 100_000):
            place = {"set": name, "horizon": T}
            for player, make in (("one step", AdaptiveOCG), ("away steps", AwayOCG)):
                growths = make(X, CertificateSteps()).growths
                best = best_growth(growths, rho, T)
                ours = [
                    universal_regret(np.ones(T), D, R, growth, away=make is AwayOCG)
                    for growth in growths
                ]
                found = {
                    "paper": ocg_regret(D, 1.0, T),
                    "before": old * D * T**0.75,
                    "now": schedule_regret(D, float(T), radius=R, growth=best),
                    "universal": min(ours),
                }
                shares = {key: _digits(100.0 * value / (D * T)) for key, value in found.items()}
                rows.append(place | {"player": player, "q": best.q, "regret": shares})
            for player, policy in POLICIES.items():
                known = GuardedBounds(policy(X))
                power = T ** (1.0 - 1.0 / known.q)
                regret, ccv = known.regret_of(power, 1.0) / D, power * known.ccv_of(T)
                before = (1.0 + 2.0 * SHARE) * old * T**0.75
                ccv_before = (4.0 / 3.0 * T) ** 0.75 * guarded_ccv(old, T, cost_ratio=1.0)
                proved = player != "default"
                found = {
                    "paper": coco_regret(1.0, D, T) / D,
                    "before": before if proved else None,
                    "now": regret,
                }
                violated = {
                    "paper": coco_ccv(1.0, D, T) / D,
                    "before": ccv_before if proved else None,
                    "now": ccv,
                }
                rows.append(
                    place
                    | {"player": player, "q": known.q}
                    | {"regret": _shares(found, T), "ccv": _shares(violated, T)}
                )
    return rows


def _shares(found: dict[str, float | None], T: int) -> dict[str, float | None]:
    return {k: None if v is None else _digits(100.0 * v / T) for k, v in found.items()}


def games() -> list[Row]:
    """Medians on the families of `default.py`, with seeds 400 to 409.

    CCV in per cent of the unconstrained policy's, regret in per cent of the benchmark's cost (the
    cost itself where the game reacts).
    """
    rows = []
    for name, make in FAMILIES.items():
        seeds = range(SEED, SEED + 10)
        found: dict[str, list[tuple[float, float]]] = {policy: [] for policy in POLICIES}
        for seed in seeds:
            problem = make(seed)
            X = problem.decision_set
            blind = hr.simulate(hr.unconstrained(X), problem)
            base = None if problem.adaptive else hr.hindsight(problem, time_limit=10.0).cost
            for policy, build in POLICIES.items():
                player = build(X)
                player.end_retreat()  # the learners are compared
                trace = hr.simulate(player, problem)
                lost = trace.cost if base is None else 100.0 * (trace.cost - base) / abs(base)
                found[policy].append((100.0 * trace.ccv / blind.ccv, lost))
        medians = {
            policy: [_digits(median(column)) for column in zip(*pairs, strict=True)]
            for policy, pairs in found.items()
        }
        rows.append({"game": name, "seeds": len(seeds), "adaptive": base is None, **medians})
        _say(rows[-1])
    return rows


PARTS: dict[str, Callable[[], list[Row]]] = {
    "attack": attacks,
    "growth": growth,
    "time": times,
    "bounds": bounds,
    "games": games,
}


def main() -> None:
    """Make what is asked for, and keep the rest of the file."""
    for name in sys.argv[1:] or PARTS:
        begin = time.process_time()
        found = PARTS[name]()
        kept = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}
        kept[name] = found
        kept = {part: kept[part] for part in PARTS if part in kept}
        PATH.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        _say(name, f"{time.process_time() - begin:.0f} s")


if __name__ == "__main__":
    main()
