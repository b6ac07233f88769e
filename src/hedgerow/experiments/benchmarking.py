"""The benchmark of one game: found once, used by every run on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.benchmarks import hindsight
from hedgerow.experiments.curves import curves
from hedgerow.experiments.records import finite, sentence
from hedgerow.experiments.results import Output
from hedgerow.experiments.tasks import BenchmarkTask
from hedgerow.inputs import Vector
from hedgerow.problems.problem import LinearProblem, Problem, Round
from hedgerow.sets.decision_set import DecisionSet

NUMBERS = ("cost", "lower_bound", "gap", "violation", "ccv")
"""What a record has of `hedgerow.Benchmark`; null where it is not finite."""


def find_benchmark(task: BenchmarkTask) -> Output:
    """Find the best fixed action of a problem whose rounds do not react to plays."""
    try:
        problem = task.build()
    except (ValueError, TypeError) as refusal:  # a seed that a problem does not take
        numbers = {"status": "refused", "reason": sentence(refusal), "dim": None, "blind": None}
        record = {**task.key(), "id": task.id, **dict.fromkeys(NUMBERS), **numbers}
        return Output("benchmarks", record, None)
    record = {**task.key(), "id": task.id, "dim": problem.decision_set.dim}
    return benchmark_of(record, problem.decision_set, problem)


def benchmark_of(record: dict[str, Any], X: DecisionSet, rounds: Problem | list[Round]) -> Output:
    """Return the benchmark of some rounds, and what ignoring the constraint would cost and gain."""
    game = (rounds,) if isinstance(rounds, Problem) else (X, rounds)
    best, blind = hindsight(*game), hindsight(*game, constrained=False)
    costs, violations = _at(best.x, rounds)
    blind_costs, blind_violations = _at(blind.x, rounds)
    found = {
        **record,
        **{name: finite(getattr(best, name)) for name in NUMBERS},
        "status": best.status,
        "reason": None,
        "blind": {
            "cost": float(blind_costs.sum()),
            "ccv": float(np.maximum(blind_violations, 0.0).sum()),
        },
    }
    return Output("benchmarks", found, curves(costs, violations), best.seconds)


def _at(x: Vector, rounds: Problem | list[Round]) -> tuple[Vector, Vector]:
    """Return f_t(x) and g_t(x) of all rounds."""
    if isinstance(rounds, LinearProblem):
        pairs = [
            (c.costs @ x + c.cost_offsets, c.constraints @ x + c.constraint_offsets)
            for c in rounds.chunks()
        ]
        return np.concatenate([f for f, _ in pairs]), np.concatenate([g for _, g in pairs])
    table = np.array([(f(x), g(x)) for f, g in rounds], dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]
