"""A point of low total cost, constraints aside: where the search for curved costs begins."""

from __future__ import annotations

import math

import numpy as np

from hedgerow.games.comparators.linear_programmes import Deadline, OutOfTimeError
from hedgerow.games.comparators.round_totals import Rounds
from hedgerow.inputs import Vector, squared_norm
from hedgerow.sets.compositions.oracle_only import OracleOnly
from hedgerow.sets.decision_set import DecisionSet, Projectable

STEPS = 300
"""The most steps."""
CHECK_EVERY = 10
"""Steps between two looks at the gap, which take an oracle call each."""


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
    if isinstance(X, OracleOnly) or not X.supports(Projectable):
        return x, lower
    ahead, speed, steep = x, 1.0, 0.0
    try:
        for step in range(STEPS):
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
