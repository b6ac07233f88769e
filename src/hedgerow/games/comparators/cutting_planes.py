"""The search for the best action: a model of cuts, its best point, the cuts that this violates."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from hedgerow.games.comparators.evaluated_rounds import Evaluation, Rounds
from hedgerow.games.comparators.linear_models import (
    Cuts,
    Deadline,
    Model,
    OutOfTimeError,
    SolverError,
    cheapest,
    least_sum,
    least_worst,
)
from hedgerow.games.comparators.master_problem import Answer, Master
from hedgerow.inputs import Vector, squared_norm
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.sets.decision_set import DecisionSet, Projectable

GAP = 1e-6
"""A gap of this share of the cost counts as optimal."""
AIM = 1e-7
"""The search goes on until the gap is this share of the cost, if calls are left."""
COARSE = 1e-3
"""The first models need not be solved better than to this share of the cost."""
MOST_TANGENTS = 5
"""Tangents kept for each dimension, the highest ones: there is no end of them."""
MOST_STEPS = 500
"""Models solved before the search ends with the gap that it has."""
DESCENT_STEPS = 300
"""The most steps of the descent that curved costs begin with."""
CHECK_EVERY = 10
"""Steps of the descent between two evaluations of its gap, which take an oracle call each."""
MOST_NEEDED = 2000
"""The budget that would be needed is not looked for if it takes more rounds than this."""


class Search:
    """Outer approximation: the model is never above the truth, so its bound holds.

    Args:
        X: the set.
        rounds: the rounds.
        master: minimises models over X; it may be shared between searches on one set.
        budget: the most that positive constraint values may sum to, infinite for no constraint.
        limits: cuts that are known to hold, such as those of an earlier search.
        deadline: when to stop.

    Reference: Kelley, The cutting-plane method for solving convex programs (1960); cuts half way
    to the best action known: Ben-Ameur and Neto, Acceleration of cutting-plane and column
    generation algorithms (2007).

    """

    def __init__(
        self,
        X: DecisionSet,
        rounds: Rounds,
        master: Master,
        budget: float,
        limits: Cuts,
        deadline: Deadline,
    ):
        self.X, self.rounds, self.master, self.budget = X, rounds, master, budget
        self.limits, self.deadline, self.late = limits, deadline, False
        # Each round may be off by the tolerance, so a sum over all rounds by the horizon times it.
        self.tolerance = rounds.tolerance * (rounds.horizon if budget > 0.0 else 1)
        self.most = MOST_TANGENTS * (10 + X.dim)
        self.best: Evaluation | None = None
        self.lower, self.slack, self.share = -math.inf, 0.0, COARSE
        self.begin = time.perf_counter()

    def run(self) -> Benchmark:
        """Search to the end and return the best action with its proof."""
        (best,) = deque(self.steps(), maxlen=1)
        return best

    def steps(self) -> Iterator[Benchmark]:
        """Yield the best action so far after each model, and at last the benchmark."""
        x, costs, new = self.X.start(), Cuts.none(self.X.dim), self.limits.offsets.size > 0
        if self.rounds.curved:
            # For long this may be the only known action that satisfies the limits.
            evaluation = self._evaluate(x)
            costs, new = evaluation.tangent(), new or self._learn(evaluation)
            x, self.lower = descended(self.X, self.rounds, 0.5 * AIM, self.deadline)
        else:
            x = self.X.lmo(self.rounds.cost_at(x)[1])
        evaluation = self._evaluate(x)
        costs = costs.joined(evaluation.tangent())
        self.lower = max(self.lower, self.X.minimum(evaluation.slope) + float(costs.offsets[-1]))
        new = self._learn(evaluation) or new
        for _ in range(MOST_STEPS):
            if self._closed(evaluation):
                break
            # Nothing new is violated: only a more exact model can close the gap.
            if not (new or self.rounds.curved):
                if self.share <= AIM:
                    break
                self.share = max(AIM, 0.01 * self.share)
            yield self._benchmark(self.best or evaluation)
            try:
                answer = self._solve(costs, evaluation)
                proof = self._infeasible() if answer is None else None
            except SolverError:
                break  # neither proved nor refuted: the gap says so
            except OutOfTimeError:
                self.late = True
                break
            if proof is not None:
                yield proof
                return
            if answer is None:
                continue
            self.lower = max(self.lower, answer.lower)
            evaluation = self._evaluate(answer.x)
            seen = [evaluation]
            # Optima of the model jump about; tangents half way to the best action settle sooner.
            if self.best is not None and (self.rounds.curved or not self.rounds.finite):
                seen.append(self._evaluate(0.5 * (self.best.x + answer.x)))
            new = sum(self._learn(each) for each in seen) > 0
            if self.rounds.curved:
                costs = costs.joined(*(each.tangent() for each in seen))
                costs = costs.highest(answer.x, self.most)
            if not self.rounds.finite:
                self.limits = self.limits.highest(answer.x, self.most)
        yield self._benchmark(self.best or evaluation)

    def _evaluate(self, x: Vector) -> Evaluation:
        """See x with all rounds; remember it if it is the best action so far."""
        limits, horizon = self.limits, self.rounds.horizon
        known = limits.known(x, horizon) if self.budget > 0.0 else np.zeros(horizon + 1)
        evaluation = self.rounds.evaluate(x, known, limits.rows)
        if self._kept(evaluation) and (self.best is None or evaluation.cost < self.best.cost):
            self.best = evaluation
        return evaluation

    def _learn(self, evaluation: Evaluation) -> bool:
        """Take over the cuts of an action that breaks the limits; say if there were any."""
        if self._kept(evaluation) or not evaluation.cuts.offsets.size:
            return False
        self.limits = self.limits.joined(evaluation.cuts)
        return True

    def _kept(self, evaluation: Evaluation) -> bool:
        value = evaluation.total if self.budget > 0.0 else evaluation.worst
        return value <= self.budget + 2.0 * max(self.tolerance, self.slack)

    def _closed(self, evaluation: Evaluation) -> bool:
        return self.best is not None and self.best.cost - self.lower <= AIM * self._size(evaluation)

    def _size(self, evaluation: Evaluation) -> float:
        """Return what gaps are compared to: the cost, or where it vanishes a share of its parts."""
        parts = float(np.abs(evaluation.slope) @ np.abs(evaluation.x))
        return max(abs(evaluation.cost), 1e-2 * parts, 1e-300)

    def _solve(self, costs: Cuts, evaluation: Evaluation) -> Answer | None:
        model = cheapest(costs, self.limits, self.budget, self.slack)
        fallback = None
        if self.limits.offsets.size and self.budget < math.inf:
            fallback = self._violation(self.limits)
        accuracy = self.share * self._size(evaluation)
        if self.best is not None:
            accuracy = min(accuracy, 0.1 * (self.best.cost - self.lower))
        accuracy = max(accuracy, 0.5 * AIM * self._size(evaluation))
        return self.master.solve(model, fallback, accuracy, self.deadline)

    def _violation(self, limits: Cuts) -> Model:
        """Return the model of how far the limits are broken at least, at most 0 if they are not."""
        if self.budget == 0.0:
            return least_worst(limits._replace(offsets=limits.offsets - self.slack))
        model = least_sum(limits)
        model.offsets[-1] = -self.budget - self.slack
        return model

    def _infeasible(self) -> Benchmark | None:
        """Prove that no action satisfies the limits; or return None with some slack allowed."""
        worst = self.budget == 0.0
        evaluation, answer = self._least(least_worst if worst else least_sum)
        allowed = self.budget + 2.0 * self.tolerance
        if answer.lower <= allowed:
            reached = evaluation.worst if worst else evaluation.total
            if self.slack or reached > allowed:
                return self._benchmark(evaluation)  # neither proved nor refuted
            self.slack = 2.0 * self.tolerance
            return None
        weights = answer.multipliers if worst else answer.multipliers[:-1]
        guilty = self.limits.rounds[: weights.size][weights > 1e-9 * weights.max(initial=0.0)]
        return Benchmark(
            evaluation.x,
            evaluation.cost,
            math.inf,
            math.inf,
            "infeasible",
            evaluation.worst,
            evaluation.total,
            time.perf_counter() - self.begin,
            tuple(int(t) for t in np.unique(guilty)),
            self._needed(evaluation) if worst else evaluation.total,
        )

    def _least(
        self, goal: Callable[[Cuts], Model], most: float = math.inf
    ) -> tuple[Evaluation, Answer]:
        """Minimise the worst violation, or the sum of all: the best action seen and the proof."""

        def value(evaluation: Evaluation) -> float:
            return evaluation.worst if goal is least_worst else evaluation.total

        best: Evaluation | None = None
        lower, horizon = -math.inf, self.rounds.horizon
        for _ in range(MOST_STEPS):
            size = 0.0 if best is None else abs(value(best))
            accuracy = max(0.1 * self.rounds.tolerance, 0.5 * AIM * size)
            answer = self.master.solve(goal(self.limits), None, accuracy, self.deadline)
            if answer is None:
                raise RuntimeError("the LP solver found no point of the set")
            x = answer.x
            level = np.full(horizon + 1, answer.theta)
            known = level if goal is least_worst else self.limits.known(x, horizon)
            evaluation = self.rounds.evaluate(x, known, self.limits.rows)
            if best is None or value(evaluation) < value(best):
                best = evaluation
            if answer.lower > lower:
                lower, proof = answer.lower, answer
            aim = max(self.rounds.tolerance, AIM * abs(value(best)))
            if value(best) - lower <= aim or not evaluation.cuts.offsets.size:
                break
            if self.limits.offsets.size > most:
                break
            self.limits = self.limits.joined(evaluation.cuts)
            if not self.rounds.finite:
                half = self.rounds.evaluate(0.5 * (best.x + x), known, self.limits.rows)
                best = min(best, half, key=value)
                self.limits = self.limits.joined(half.cuts)
        assert best is not None
        return best, proof

    def _needed(self, evaluation: Evaluation) -> float | None:
        """Return the least sum of positive constraint values, if few cuts are enough."""
        if evaluation.broken > MOST_NEEDED or not self.rounds.finite:
            return None
        evaluation, answer = self._least(least_sum, MOST_NEEDED)
        close = (
            evaluation.total - answer.lower <= GAP * abs(evaluation.total) + self.rounds.tolerance
        )
        return evaluation.total if close else None

    def _benchmark(self, evaluation: Evaluation) -> Benchmark:
        kept = self._kept(evaluation)
        lower = min(self.lower, evaluation.cost) if kept else self.lower
        gap = evaluation.cost - lower if kept else math.inf  # a broken limit proves nothing
        proved = gap <= GAP * self._size(evaluation)
        return Benchmark(
            evaluation.x,
            evaluation.cost,
            lower,
            gap,
            "optimal" if proved else "time limit" if self.late else "gap",
            evaluation.worst,
            evaluation.total,
            time.perf_counter() - self.begin,
        )


def descended(
    X: DecisionSet, rounds: Rounds, share: float, deadline: Deadline
) -> tuple[Vector, float]:
    """Minimise the total cost over X, up to a share of it; return the point and a lower bound.

    Cutting planes need more tangents than there is time for where costs are curved in many
    dimensions, and none at all where the best action meets no constraint. Sets without a projection
    of their own return their start at once.

    Reference: Beck and Teboulle, A fast iterative shrinkage-thresholding algorithm (2009), with
    restarts of O'Donoghue and Candes, Adaptive restart for accelerated gradient schemes (2015).

    """
    x = X.start()
    value, slope = rounds.cost_at(x)
    lower = _bound(X, x, value, slope)
    if type(X).project is DecisionSet.project or not X.supports(Projectable):
        return x, lower
    ahead, speed, steep = x, 1.0, 0.0
    try:
        for step in range(DESCENT_STEPS):
            deadline.left()
            if step % CHECK_EVERY == 0:
                lower = max(lower, _bound(X, x, *rounds.cost_at(x)))
                if value - lower <= share * abs(value):
                    break
            here, slope = rounds.cost_at(ahead)
            if not slope.any():
                break
            steep = steep or _steepness(X, rounds, ahead, slope)
            for _ in range(60):  # until the quadratic of this steepness is above the cost
                new = X.project(ahead - slope / steep)
                moved = new - ahead
                after = rounds.cost_at(new)[0]
                if after <= here + float(slope @ moved) + 0.5 * steep * squared_norm(moved):
                    break
                steep *= 2.0
            if after > value:
                if ahead is x:
                    break  # rounding: no step leads lower
                ahead, speed = x, 1.0
                continue
            faster = 0.5 + math.sqrt(0.25 + speed * speed)
            ahead = new + (speed - 1.0) / faster * (new - x)
            x, value, speed = new, after, faster
    except OutOfTimeError:
        pass
    return x, lower


def _bound(X: DecisionSet, x: Vector, value: float, slope: Vector) -> float:
    """Return the least value over X of the tangent at x: no point costs less."""
    return value - float(slope @ x) + X.minimum(slope)


def _steepness(X: DecisionSet, rounds: Rounds, x: Vector, slope: Vector) -> float:
    """Return about how fast the slope changes, measured on the way to a vertex."""
    way = X.lmo(slope) - x
    length = math.sqrt(squared_norm(way))
    if length == 0.0:
        return math.sqrt(squared_norm(slope)) or 1.0
    turned = rounds.cost_at(x + 1e-3 * way)[1] - slope
    rate = math.sqrt(squared_norm(turned)) / (1e-3 * length)
    return max(rate, 1e-6 * float(np.linalg.norm(slope)) / length)
