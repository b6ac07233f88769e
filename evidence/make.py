"""Make the heavy evidence that the documents quote: `make evidence`.

Each function below writes evidence/<its name>.json. Names on the command line choose some.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hedgerow as hr
from hedgerow.policies.paper import PRACTICAL_P, PRACTICAL_SCALE

HERE = Path(__file__).parent


def rms_coco(X: hr.DecisionSet, kappa: float) -> hr.Constrained[hr.EvalGrad]:
    """The practical preset with root-mean-square steps instead of certificate-driven ones."""
    learner = hr.AdaptiveOCG(X, hr.RmsSteps(kappa))
    potential = hr.PowerPotential(PRACTICAL_P, PRACTICAL_SCALE)
    return hr.Constrained(
        learner, hr.CurrentSurrogate(potential, PRACTICAL_P, hr.LearntRanges(learner))
    )


def atlas_like() -> list[dict[str, Any]]:
    """The paper's game on held-out seeds, in percent of the benchmark's cost and of T b."""
    rows = []
    for seed in range(20, 25):
        problem = hr.ShortestPath.atlas_like(seed=seed)
        X, T = problem.decision_set, problem.horizon
        best = hr.hindsight(problem)
        policies = {
            "practical": hr.projection_free_coco(X),
            "RmsSteps(8)": rms_coco(X, 8.0),
            "RmsSteps(16)": rms_coco(X, 16.0),
            "theory": hr.projection_free_coco(X, T, preset="theory", lipschitz=3e4),
            "plain OCG": hr.unconstrained(X, T, preset="theory"),
            "long term": hr.projection_free_long_term(X),
        }
        for name, policy in policies.items():
            trace = hr.simulate(policy, problem)
            rows.append(
                {
                    "seed": seed,
                    "policy": name,
                    "regret_percent": round(100 * trace.regret(best) / best.cost, 3),
                    "certificate_percent": round(100 * policy.certificate() / best.cost, 3),
                    "ccv_percent": round(100 * trace.ccv / (T * problem.threshold), 3),
                    "signed_ccv_percent": round(
                        100 * trace.signed_ccv / (T * problem.threshold), 3
                    ),
                    "oracle_calls": trace.oracle_calls,
                }
            )
    return rows


def synthetic_growth() -> list[dict[str, Any]]:
    """The synthetic games at growing horizons, practical preset, against the feasible point."""
    games: dict[str, Callable[[int], Any]] = {
        "IidSimplex": lambda T: hr.IidSimplex(horizon=T, seed=20),
        "SwitchingBall": lambda T: hr.SwitchingBall(horizon=T, seed=20),
        "SwitchingBall, sqrt T phases": lambda T: hr.SwitchingBall(horizon=T, seed=20, growth=1.0),
        "HalfspaceBox": lambda T: hr.HalfspaceBox(horizon=T, seed=20),
        "OrthogonalBall": lambda T: hr.OrthogonalBall(horizon=T, seed=20),
        "QuadraticBox": lambda T: hr.QuadraticBox(horizon=T, seed=20),
    }
    rows = []
    for name, make in games.items():
        for T in (1000, 4000, 16000, 64000):
            problem = make(T)
            policy = hr.projection_free_coco(problem.decision_set)
            at_feasible, steps = 0.0, []
            for cost, constraint in problem.rounds(policy):
                x = policy.ask()
                policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
                steps.append((cost(x), max(0.0, constraint(x))))
                at_feasible += cost(problem.feasible)
            rows.append(
                {
                    "game": name,
                    "horizon": T,
                    "cost_minus_feasible_point": round(sum(c for c, _ in steps) - at_feasible, 2),
                    "certificate": round(policy.certificate(), 2),
                    "ccv": round(sum(v for _, v in steps), 2),
                }
            )
    return rows


MAKERS = {maker.__name__: maker for maker in (atlas_like, synthetic_growth)}


def main() -> None:
    """Run the chosen makers, all of them if none is named."""
    warnings.simplefilter("ignore", hr.VacuousConstantsWarning)
    for name in sys.argv[1:] or MAKERS:
        path = HERE / f"{name}.json"
        path.write_text(json.dumps(MAKERS[name](), indent=1) + "\n")
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
