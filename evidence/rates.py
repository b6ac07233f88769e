"""Rates that follow the set: writes rates.json.

`python evidence/rates.py [what]`, what among attack, growth, bounds; left out, all. It takes about
five minutes of processor time.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rates_attack import attacks
from rates_games import GAMES, SETS, RuleGame

import hedgerow as hr
from hedgerow.bounds import (
    coco_ccv,
    coco_regret,
    fallback_ccv,
    fallback_regret,
    ocg_regret,
    schedule_regret,
    theorem_f_ccv,
    theorem_f_regret,
    universal_regret,
)
from hedgerow.experiments import fit_growth
from hedgerow.learners import AdaptiveOCG, AwayOCG
from hedgerow.learners.growth import best_growth
from hedgerow.learners.steps import CertificateSteps, UniversalSteps
from hedgerow.policies import away_coco

PATH = Path(__file__).with_suffix(".json")
Row = dict[str, Any]
SEED = 400
HORIZONS = (1000, 3162, 10_000, 31_623, 100_000, 1_000_000)
FEWER = {"paths, 1200 edges": HORIZONS[:5]}
"""A round on paths takes tens of microseconds."""
SMALL = 0.1
"""A regret below this, a tenth of what a round can cost, is not fitted."""
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
}


def _digits(value: float) -> float:
    return float(f"{value:.5g}")


def growth(sets: Iterable[str] = SETS) -> list[Row]:
    """Regret against the best action by horizon, and its exponent.

    Every horizon is a game of its own.
    """
    rows = []
    for name in sets:
        X = SETS[name]()
        for game in GAMES:
            for player, make in PLAYERS.items():
                row: Row = {"set": name, "game": game, "player": player}
                row |= {"horizons": [], "regret": []}
                for T in FEWER.get(name, HORIZONS):
                    problem, policy = RuleGame(game, X, T, SEED), make(X)
                    trace = hr.simulate(policy, problem)
                    assert trace.compiled
                    assert problem.interpreted == 0, "the sum of the costs would lack rounds"
                    total = problem.cost_gradients()
                    best = X.minimum(total) - float(total @ problem.feasible)
                    row["horizons"].append(T)
                    row["regret"].append(_digits(trace.cost - best))
                rows.append(row | {"exponent": fitted(row)})
            _say(name, game, [(r["player"], r["exponent"]) for r in rows[-len(PLAYERS) :]])
    return rows


def fitted(row: Row) -> list[float] | None:
    """Return the exponent and the ends of its 95 % interval; None where values are too small."""
    if min(row["regret"]) <= SMALL:
        return None
    fit = fit_growth(row["horizons"], row["regret"])
    return [round(end, 3) for end in (fit.exponent, fit.low, fit.high)]


BOUNDED: dict[str, Callable[[], hr.DecisionSet]] = {
    "simplex, 20": lambda: hr.sets.Simplex(20),
    "ball": lambda: hr.sets.L2Ball(10),
    "paths, 1200 edges": SETS["paths, 1200 edges"],
}


def bounds() -> list[Row]:
    """Bounds in per cent of the trivial ones, for gradients of norm 1.

    `paper` is Theorem 2.1 or 3.4. `proved` has the best growth that is known; `universal` is the
    bound of `UniversalSteps`, for the best growth.
    """
    rows = []
    for name, make_set in BOUNDED.items():
        X = make_set()
        D, R = X.diameter, X.radius_around(X.start())
        rho = (R / D) ** 2
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
                    "paper": ocg_regret(D, 1.0, T) / D,
                    "proved": schedule_regret(D, float(T), radius=R, growth=best) / D,
                    "universal": min(ours) / D,
                }
                rows.append(place | {"player": player, "q": best.q, "regret": _shares(found, T)})
            for player, policy in (("default", hr.projection_free_coco(X)), ("away", away_coco(X))):
                theorem = policy.guarantees()[0]
                q, C = int(theorem["q"]), theorem["C"]
                power = T ** (1.0 - 1.0 / q)
                regret = {
                    "paper": coco_regret(1.0, D, T) / D,
                    "Theorem F": theorem_f_regret(C, 1.0, power),
                    "Theorem R": fallback_regret(C, 1.0, power, 1.0, q),
                }
                ccv = {
                    "paper": coco_ccv(1.0, D, T) / D,
                    "Theorem F": power * theorem_f_ccv(C, T, q=q),
                    "Theorem R": fallback_ccv(C, T, q),
                }
                shares = {"regret": _shares(regret, T), "ccv": _shares(ccv, T)}
                rows.append(place | {"player": player, "q": q} | shares)
    return rows


def _shares(found: dict[str, float], T: int) -> dict[str, float]:
    return {key: _digits(100.0 * value / T) for key, value in found.items()}


PARTS: dict[str, Callable[[], list[Row]]] = {
    "attack": attacks,
    "growth": growth,
    "bounds": bounds,
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
