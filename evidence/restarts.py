"""Do restarts lose, or the potential? `python evidence/restarts.py` writes evidence/restarts.json.

Wang, Wan and Zhang (2025) restart conditional gradient whenever the surrogate has become too steep,
under an exponential potential; the paper adapts its steps to what it saw, under a power law. Here
every combination plays the same games, with the same learnt ranges and the same step rule.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rivals

import hedgerow as hr
from hedgerow.baselines.wang import PRACTICAL_RATE
from hedgerow.learners.restarted_ocg import RestartAtStart, RestartedOCG
from hedgerow.learners.steps import StepRule

HORIZON, SEEDS = rivals.HORIZON, rivals.SEEDS
STEPS: dict[str, StepRule] = {
    "RmsSteps(16)": hr.learners.steps.RmsSteps(16.0),
    "CertificateSteps": hr.learners.steps.CertificateSteps(),
}
LEARNERS: dict[str, Callable[[hr.DecisionSet, StepRule], Any]] = {
    "adaptive": hr.learners.AdaptiveOCG,
    "restart at x_t": RestartedOCG,
    "restart at x_1": lambda X, steps: RestartedOCG(X, steps, restart=RestartAtStart()),
}
POTENTIALS = {
    "exponential": (hr.surrogates.ExponentialPotential(PRACTICAL_RATE * HORIZON**-0.75), 0.0),
    "power": (
        hr.surrogates.PowerPotential(
            8.0, hr.surrogates.GrowingScale(floor=12.0, factor=0.5, power=0.5)
        ),
        8.0,
    ),
}
GAMES = {name: rivals.GAMES[name] for name in ("random_network", *rivals.GAMES)}
"""In the order of the file."""


def restarts() -> list[dict[str, Any]]:
    """Every learner and potential on every game, 5 seeds; costs and violations per round.

    On the path game regret is against the best feasible flow, in percent of its cost, and CCV in
    percent of T b. On the synthetic games, some of which react to the plays, it is against the
    known feasible point, per round.
    """
    rows = []
    for game, make in GAMES.items():
        for seed in SEEDS:
            problem = make(seed)
            cost, unit, violation = scales(game, problem)
            for (steps, rule), (learner, build), (potential, (phi, queue)) in (
                (a, b, c)
                for a in STEPS.items()
                for b in LEARNERS.items()
                for c in POTENTIALS.items()
            ):
                played: Any = build(problem.decision_set, rule)
                policy = hr.ConstrainedPolicy(
                    played,
                    hr.surrogates.CurrentSurrogate(
                        phi, queue, hr.surrogates.WorstCaseRanges(played)
                    ),
                )
                watched = rivals.Watched(problem)
                trace = hr.simulate(policy, watched)
                known = sum(f(problem.feasible) for f, _ in watched.shown) if cost is None else cost
                rows.append(
                    {
                        "game": game,
                        "seed": seed,
                        "steps": steps,
                        "learner": learner,
                        "potential": potential,
                        "regret": round((trace.cost - known) / unit, 5),
                        "ccv": round(trace.ccv / violation, 5),
                        "restarts": getattr(played, "restarts", 0),
                        "oracle_calls": policy.oracle_calls,
                    }
                )
    return rows


def scales(game: str, problem: Any) -> tuple[float | None, float, float]:
    """Return the benchmark's cost, if it does not depend on the play, and the units."""
    if game != "random_network":
        return None, HORIZON, HORIZON
    best = hr.hindsight(problem)
    return best.cost, best.cost / 100.0, HORIZON * problem.threshold / 100.0


if __name__ == "__main__":
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(restarts(), indent=1) + "\n")
    sys.stdout.write(f"{path}\n")
