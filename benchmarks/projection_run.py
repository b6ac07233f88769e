"""The whole game by projections and by linear minimisations: time, regret and CCV of both.

The same rounds, the same surrogate, the same kind of loop; only the learner differs.
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
from instances import Recorder
from measure import Stopwatch

import hedgerow as hr
from hedgerow.inputs import Vector

Rounds = list[tuple[hr.Function, hr.Function]]


def projected_coco(decision_set: hr.DecisionSet) -> hr.ConstrainedPolicy[hr.feedback.EvalGrad]:
    """Return `projection_free_coco(tracking=False)` with the learner replaced."""
    learner = hr.learners.AdaGrad(decision_set)
    square, ranges = hr.surrogates.PowerPotential(2.0, 1.0), hr.surrogates.ObservedRanges(learner)
    return hr.ConstrainedPolicy(learner, hr.surrogates.CurrentSurrogate(square, 0.0, ranges))


def plain(decision_set: hr.DecisionSet) -> hr.Policy[Any, Any]:
    """Return the policy without tracking, whose surrogate that is."""
    return hr.projection_free_coco(decision_set, tracking=False)


def trajectory(problem: hr.ShortestPath, skip: int, count: int) -> list[Vector]:
    """Return the points that the projection-based policy projects, from round `skip` on."""
    policy = projected_coco(problem.decision_set)
    asked = Recorder.of(policy)
    for t, (cost, constraint) in enumerate(problem, start=1):
        if t > skip + count:
            break
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
    return asked.targets[skip:]


def run(
    policy: hr.ConstrainedPolicy[hr.feedback.EvalGrad], rounds: Rounds
) -> tuple[float, hr.Trace]:
    """Play ready-made rounds; return the seconds and what happened."""
    costs, violations = [], []
    watch = Stopwatch()
    for cost, constraint in rounds:
        x = policy.ask()
        f, g = hr.first_order(cost, x), hr.first_order(constraint, x)
        policy.tell(f, g)
        costs.append(f.value)
        violations.append(g.value)
    seconds = watch.seconds()
    return seconds, hr.Trace(np.array(costs), np.array(violations), policy.oracle_calls, seconds)


def compare(horizon: int = 1600, repetitions: int = 7) -> dict[str, Any]:
    """Play the paper's graph both ways, taking turns."""
    problem = hr.ShortestPath.random_network(horizon=horizon, seed=0)
    X, rounds, best = problem.decision_set, list(problem), hr.hindsight(problem)
    policies = {"projection": projected_coco, "oracle": plain}
    times: dict[str, list[float]] = {name: [] for name in policies}
    result: dict[str, Any] = {"nodes": X.nodes, "edges": X.dim, "rounds": horizon}
    for _ in range(repetitions):
        for name, make in policies.items():
            seconds, trace = run(make(X), rounds)
            times[name].append(seconds)
            result[name] = {
                "regret_percent": 100.0 * trace.regret(best) / best.cost,
                "ccv_percent": 100.0 * trace.ccv / (horizon * problem.threshold),
            }
    for name in policies:
        low, middle, high = np.quantile(times[name], (0.25, 0.5, 0.75))
        result[name] |= {"seconds": middle, "quartiles": (low, high)}
    pairs = zip(times["projection"], times["oracle"], strict=True)
    result["ratio"] = statistics.median(one / two for one, two in pairs)
    return result


def report(result: dict[str, Any]) -> str:
    """Return the comparison as plain text."""
    lines = [
        f"The game of {result['rounds']} rounds on {result['nodes']} nodes and {result['edges']} "
        "edges, ready-made rounds, ask and tell:",
        f"{'learner':12}{'seconds [IQR]':28}{'regret %':>10}{'CCV %':>10}",
    ]
    for name in ("projection", "oracle"):
        r = result[name]
        spread = f"{r['seconds']:.3f} [{r['quartiles'][0]:.3f}, {r['quartiles'][1]:.3f}]"
        lines.append(f"{name:12}{spread:28}{r['regret_percent']:10.3f}{r['ccv_percent']:10.3f}")
    lines.append(f"The projection-based run takes {result['ratio']:.3g} times as long.")
    return "\n".join(lines)


if __name__ == "__main__":
    print(report(compare()))
