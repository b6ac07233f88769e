"""The surrogate of Algorithm 4: the weight is fixed before the play."""

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
    """Weigh with the queue as it was, plus the overshoot; then update it."""
    U = violation_unit(ranges, units)
    most = units[START] + queue[VIOLATION] / U + units[OVERSHOOT]
    w = weight_unit(ranges, units) * slope(potential, most, queue[ROUND], U, 0.0)
    violation = max(0.0, value)
    queue[WEIGHT] = w
    queue[VIOLATION] += violation  # Q(t); the paper's box has no such line
    return w * violation, w * lipschitz, w * bound


class LaggedSurrogate(Values):
    """The paper's bandit surrogate, f_t + (Phi'(Q(t-1) + overshoot)/V) g_t^+.

    The weight is taken at an overestimate of Q(t) that is known before the play (the paper's
    overshoot is G D, eq. bandit-surr-cost). Q(t) = Q(t-1) + g_t(y_t)^+ at the point played.

    >>> from hedgerow.feedback import Eval
    >>> from hedgerow.surrogates.potentials import PowerPotential
    >>> surrogate = LaggedSurrogate(PowerPotential(p=2.0, scale=1.0), overshoot=0.5)
    >>> surrogate.tell(Eval(1.0, 1.0, 3.0), Eval(0.25, 2.0, 4.0))
    Eval(value=1.25, lipschitz=3.0, bound=7.0)
    """

    charge_values = charge_values
