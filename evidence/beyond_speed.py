"""Time and oracle calls per round: `python evidence/beyond_speed.py` writes its JSON file.

All candidates play the same rounds in turns of a few rounds, in one process; ratios are of their
total CPU time. Absolute times are those of a busy machine.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from beyond_games import default, power, sinha_vaze, tracking, wang

import hedgerow as hr
from hedgerow.learners.corrective_omd import CorrectiveOMD
from hedgerow.learners.lazy import LazyOCG
from hedgerow.sets.matchings.birkhoff import Birkhoff
from hedgerow.sets.spectral.spectrahedra import NuclearBall

Rows = list[dict[str, Any]]
SETS = (Birkhoff(200), "Birkhoff(200)"), (NuclearBall(300, 300), "NuclearBall(300, 300)")


def lazy(X: hr.DecisionSet, T: int, e: float) -> Any:  # noqa: ARG001 - any horizon
    """The default with a memory for vertices."""
    return power(LazyOCG(X, hr.learners.steps.CertificateSteps()), e)


def follower(X: hr.DecisionSet, T: int, e: float) -> Any:  # noqa: ARG001 - any horizon
    """The expert that tracks, alone."""
    return power(CorrectiveOMD(X), e)


def raced(acts: dict[str, Callable[[int], None]], rounds: int, turn: int) -> dict[str, Any]:
    """Let the candidates play `turn` rounds in turns; the first candidate is the unit."""
    taken = np.empty((len(acts), rounds // turn))
    for i in range(taken.shape[1]):
        for k, act in enumerate(acts.values()):
            begin = time.process_time()
            for t in range(i * turn, (i + 1) * turn):
                act(t)
            taken[k, i] = (time.process_time() - begin) / turn
    later = taken[:, taken.shape[1] // 5 :]  # compiled, and past the first rounds
    return {
        name: {
            "us": round(1e6 * float(row.mean()), 1),
            "ratio": round(float(row.sum() / later[0].sum()), 2),
        }
        for name, row in zip(acts, later, strict=True)
    }


def policies(nodes: int, edges: int, rounds: int) -> Rows:
    """Policies on the paper's game, by `ask` and `tell`."""
    problem = hr.ShortestPath.random_network(nodes=nodes, edges=edges, horizon=rounds, seed=30)
    X, shown = problem.decision_set, list(problem)
    methods = {
        "default": default,
        "lazy": lazy,
        "corrective OMD alone": follower,
        "tracking": tracking,
        "Wang": wang(0.03),
        "Sinha-Vaze": sinha_vaze(np.sqrt(0.5)),
    }
    playing = {name: method(X, rounds, 1.0) for name, method in methods.items()}

    def act(policy: Any) -> Callable[[int], None]:
        def go(t: int) -> None:
            (f, g), x = shown[t], policy.ask()
            policy.tell(hr.first_order(f, x), hr.first_order(g, x))

        return go

    figures = raced({name: act(policy) for name, policy in playing.items()}, rounds, 20)
    return [
        {"edges": edges, "policy": name, "oracle_calls": round(policy.oracle_calls / rounds, 3)}
        | {"projections": int(name == "Sinha-Vaze")}
        | figures[name]
        for name, policy in playing.items()
    ]


def matrices(X: hr.DecisionSet, name: str, noise: float, rounds: int) -> Rows:
    """Lazy and plain conditional gradient on fixed costs plus noise, where oracles are dear."""
    rng = np.random.default_rng(0)
    base = rng.uniform(0.0, 1.0, X.dim)
    costs = base + noise * rng.uniform(-1.0, 1.0, (rounds, X.dim))
    learners: dict[str, Any] = {
        "AdaptiveOCG": hr.learners.AdaptiveOCG(X, hr.learners.steps.CertificateSteps()),
        "LazyOCG": LazyOCG(X, hr.learners.steps.CertificateSteps()),
    }
    paid = dict.fromkeys(learners, 0.0)

    def act(key: str) -> Callable[[int], None]:
        def go(t: int) -> None:
            paid[key] += float(costs[t] @ learners[key].ask())
            learners[key].tell(hr.feedback.EvalGrad(0.0, costs[t]))

        return go

    figures = raced({key: act(key) for key in learners}, rounds, 5)
    return [
        {"set": name, "noise": noise, "learner": key, "cost": round(paid[key], 2)}
        | {"oracle_calls": round(learner.oracle_calls / rounds, 3)}
        | figures[key]
        for key, learner in learners.items()
    ]


if __name__ == "__main__":
    rows = policies(191, 1200, 1600) + policies(1500, 12000, 800)
    dear = [
        row for X, name in SETS for noise in (0.03, 0.3) for row in matrices(X, name, noise, 300)
    ]
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps({"policies": rows, "lazy": dear}, indent=1) + "\n")
    sys.stdout.write(f"{path}\n")
