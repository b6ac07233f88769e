"""Searched games: `python evidence/beyond_adversary.py` writes evidence/beyond_adversary.json.

A reduced search (160 sequences for policies, 400 for learners; T = 200) against the default and
the tracking policy, and against step rules of conditional gradient.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from beyond_games import default, tracking

import hedgerow as hr
from hedgerow.games.game_search import FoundGame, evaluate_game, worst_game
from hedgerow.games.linear_game import LinearGame, ccv, hindsight_regret, regret
from hedgerow.learners.steps import BETA, KAPPA, SQUARES

T = 200
FOR_POLICIES, FOR_LEARNERS = 160, 400
STEPS: dict[str, Any] = {
    "CertificateSteps(0.03)": hr.learners.steps.CertificateSteps(),
    "CertificateSteps(0.1)": hr.learners.steps.CertificateSteps(0.1),
    "CertificateSteps(0.3)": hr.learners.steps.CertificateSteps(0.3),
    "CertificateSteps(1)": hr.learners.steps.CertificateSteps(1.0),
    "RmsSteps(16)": hr.learners.steps.RmsSteps(16.0),
}
Rows = list[dict[str, Any]]


def of_policies() -> Rows:
    """The worst regret and CCV that were found for both policies."""
    rows: Rows = []
    for X in (hr.sets.Simplex(5), hr.sets.L2Ball(3)):
        game = LinearGame(X, T, share=0.5)
        for name, method in (("default", default), ("tracking", tracking)):
            for measure in (hindsight_regret, ccv):
                found = worst_game(
                    lambda _, X=X, method=method: method(X, T, 1.0),
                    game,
                    measure,
                    seed=0,
                    evaluations=FOR_POLICIES,
                )
                unit = T if measure is ccv else game.rate
                row = {"set": type(X).__name__, "policy": name, "measure": measure.__name__}
                row |= {"worst": round(found.value / unit, 4)}
                rows.append(row | {"best_random": round(found.random_value / unit, 4)})
    return rows


def plain(X: hr.DecisionSet, steps: Any) -> Any:
    """Conditional gradient without constraints."""
    return lambda _: hr.ConstrainedPolicy(
        hr.learners.AdaptiveOCG(X, steps), hr.surrogates.CostOnlySurrogate()
    )


def of_learners() -> Rows:
    """The worst regret for each step rule; what the other rules do on the same sequence."""
    rows: Rows = []
    for X in (hr.sets.Simplex(5), hr.sets.L2Ball(3)):
        game = LinearGame(X, T, share=1.0)
        for name, steps in STEPS.items():
            found = worst_game(plain(X, steps), game, regret, seed=0, evaluations=FOR_LEARNERS)
            others = {
                other: round(
                    evaluate_game(plain(X, rule), game, found.rounds, regret) / game.rate, 4
                )
                for other, rule in STEPS.items()
            }
            row = {
                "set": type(X).__name__,
                "steps": name,
                "worst": round(found.value / game.rate, 4),
            }
            row |= {"best_random": round(found.random_value / game.rate, 4), "others": others}
            if name == "CertificateSteps(0.03)":
                row["course"] = course(X, found)
            rows.append(row)
    return rows


def course(X: hr.DecisionSet, found: FoundGame) -> dict[str, dict[str, list[float]]]:
    """What the sequence does to two rules: beta D^2 in units of D L, ||x_t - x_1||/D, regret."""
    game, u = found.game, X.lmo(found.rounds.costs.sum(axis=0))
    at, courses = np.array([5, 20, 50, 100, 150, 200]), {}
    for name in ("CertificateSteps(0.03)", "RmsSteps(16)"):
        policy: Any = plain(X, STEPS[name])(0)
        betas, plays = [], []
        for t, (cost, constraint) in enumerate(found.problem, start=1):
            plays.append(x := policy.ask())
            policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
            rule = policy.learner.rule_numbers
            rms = 2.0 * t**0.25 * np.sqrt(rule[SQUARES]) / (rule[KAPPA] * X.diameter)
            betas.append(rms if name.startswith("Rms") else rule[BETA])
        x = np.array(plays)
        lost = np.cumsum(np.sum(found.rounds.costs * (x - u), axis=1)) / game.rate
        far = np.linalg.norm(x - x[0], axis=1) / X.diameter
        columns = {"beta": np.array(betas) * X.diameter, "far": far, "regret": lost}
        courses[name] = {"t": at.tolist()} | {
            key: [round(float(v), 3) for v in column[at - 1]] for key, column in columns.items()
        }
    return courses


if __name__ == "__main__":
    path = Path(__file__).with_suffix(".json")
    written = {"horizon": T, "policies": of_policies(), "learners": of_learners()}
    path.write_text(json.dumps(written, indent=1) + "\n")
    sys.stdout.write(f"{path}\n")
