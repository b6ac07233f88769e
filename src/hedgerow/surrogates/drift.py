"""The drift as a loss: known before the play, and no larger than it has to be."""

from __future__ import annotations

from typing import Any

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import CHARGE_VALUES
from hedgerow.inputs import Vector
from hedgerow.surrogates.queue import ROUND, VIOLATION, WEIGHT
from hedgerow.surrogates.ranges import START, violation_unit, weight_unit
from hedgerow.surrogates.values import OVERSHOOT, Values

Array = Vector


@kernel(*CHARGE_VALUES)
def charge_values(
    queue: Array,
    ranges: Array,
    units: Array,
    slope: Any,
    height: Any,
    potential: Any,
    value: float,
    lipschitz: float,
    bound: float,
) -> tuple[float, float, float]:
    """Add the violation to the queue and return by how much the potential rose."""
    t, U, ratio = queue[ROUND], violation_unit(ranges, units), weight_unit(ranges, units)
    q = units[START] + queue[VIOLATION] / U
    before, most = height(potential, q, t, U, 0.0), q + units[OVERSHOOT]
    steepest = ratio * slope(potential, most, t, U, 0.0)
    highest = ratio * U * (height(potential, most, t, U, 0.0) - before)
    queue[VIOLATION] += max(0.0, value)  # Q(t)
    q = units[START] + queue[VIOLATION] / U
    queue[WEIGHT] = ratio * slope(potential, q, t, U, 0.0)
    risen = ratio * U * (height(potential, q, t, U, 0.0) - before)
    return risen, steepest * lipschitz, highest


class DriftSurrogate(Values):
    """The drift itself, h_t(y) = f_t(y) + [Phi(Q(t-1) + g_t(y)^+) - Phi(Q(t-1))]/V.

    Four lines make it right for bandit feedback. (1) Given the past it is a fixed function of y,
    so a one-point estimate is unbiased for its smoothed gradient. (2) It is convex: Phi is convex
    and nondecreasing, g^+ is convex. (3) h_t(x*) = f_t(x*) for every feasible x*. (4) Summing,
    Phi(Q(T))/V - Phi(Q(0))/V + Regret_T = Regret'_T: the decomposition holds with equality. The
    overshoot enters the declared constants alone. Its gradient at the play is that of
    `CurrentSurrogate`.

    >>> from hedgerow.feedback import Eval
    >>> from hedgerow.surrogates.potentials import PowerPotential
    >>> surrogate = DriftSurrogate(PowerPotential(p=2.0, scale=1.0), overshoot=0.5)
    >>> surrogate.tell(Eval(1.0, 1.0, 3.0), Eval(0.25, 2.0, 4.0))
    Eval(value=1.0625, lipschitz=3.0, bound=3.25)
    """

    charge_values = charge_values
