"""The whole game by projections and by linear minimisations: time, regret and CCV of both.

The same rounds, the same surrogate, the same kind of loop; only the learner differs.
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
from measure import Stopwatch

import hedgerow as hr
from hedgerow.inputs import Vector
from hedgerow.policies.paper import PRACTICAL_P, PRACTICAL_SCALE
from hedgerow.snapshot import State

Rounds = list[tuple[hr.Function, hr.Function]]


class ProjectedGradient:
    """Online gradient descent with AdaGrad-norm steps and an exact projection every round.

    x_{t+1} = P(x_t - eta_t s_t) with eta_t = D / sqrt(2 (||s_1||^2 + ... + ||s_t||^2)), norms
    along the set; regret at most sqrt(2) D sqrt(sum of ||s_t||^2).

    Reference: Streeter and McMahan, Less regret via online conditioning (2010).
    """

    oblivious_only = False
    oracle_calls = 0

    def __init__(self, decision_set: hr.DecisionSet):
        self.decision_set = decision_set
        self._workspace = decision_set.workspace()
        self._state = State(x=decision_set.dim, squares=1)
        self._state["x"][:] = decision_set.start()
        self.target = decision_set.start()  # what was projected last

    def ask(self) -> Vector:
        """Return x_t."""
        return self._state["x"].copy()

    def tell(self, loss: hr.EvalGrad) -> None:
        """Step against the gradient and project."""
        x, squares = self._state["x"], self._state["squares"]
        felt = self.decision_set.tangent(loss.grad)
        squares[0] += felt @ felt
        if squares[0] > 0.0:
            eta = self.decision_set.diameter / np.sqrt(2.0 * squares[0])
            self.target = x - eta * felt
            x[:] = self._workspace.project(self.target)

    def state(self) -> hr.Snapshot:
        """Return a snapshot."""
        self._workspace.clear()
        return self._state.snapshot(self, (self.decision_set,))

    def restore(self, snapshot: hr.Snapshot) -> None:
        """Go back to a snapshot."""
        self._state.restore(self, snapshot, (self.decision_set,))
        self._workspace.clear()


def projected_coco(decision_set: hr.DecisionSet) -> hr.Constrained[hr.EvalGrad]:
    """Return the practical preset of `projection_free_coco` with the learner replaced."""
    learner = ProjectedGradient(decision_set)
    potential = hr.PowerPotential(PRACTICAL_P, PRACTICAL_SCALE)
    surrogate = hr.CurrentSurrogate(potential, PRACTICAL_P, hr.LearntRanges(learner))
    return hr.Constrained(learner, surrogate)


def trajectory(problem: hr.ShortestPath, skip: int, count: int) -> list[Vector]:
    """Return the points that the projection-based policy projects, from round `skip` on."""
    policy = projected_coco(problem.decision_set)
    learner: Any = policy.learner
    points = []
    for t, (cost, constraint) in enumerate(problem, start=1):
        if t > skip + count:
            break
        x = policy.ask()
        policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
        points.append(learner.target)
    return points[skip:]


def run(policy: hr.Constrained[hr.EvalGrad], rounds: Rounds) -> tuple[float, hr.Trace]:
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
    problem = hr.ShortestPath.atlas_like(horizon=horizon, seed=0)
    X, rounds, best = problem.decision_set, list(problem), hr.hindsight(problem)
    policies = {"projection": projected_coco, "oracle": hr.projection_free_coco}
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
