"""The bandit surrogate of Wang et al.: the weight counts the violation of the play itself."""

from __future__ import annotations

from typing import Any

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import CHARGE_VALUES
from hedgerow.inputs import Vector
from hedgerow.surrogates.potentials import Potential
from hedgerow.surrogates.queue import ROUND, VIOLATION, store_weight
from hedgerow.surrogates.ranges import START, Ranges, violation_unit, weight_unit
from hedgerow.surrogates.values import Values

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
    """Add the violation to the queue, then weigh it."""
    U, violation = violation_unit(ranges, units), max(0.0, value)
    queue[VIOLATION] += violation  # Q(t)
    q = units[START] + queue[VIOLATION] / U
    w = weight_unit(ranges, units) * slope(potential, q, queue[ROUND], U, 0.0)  # Phi'(Q(t))/V
    store_weight(queue, w, violation)
    return w * violation, w * lipschitz, w * bound


class CurrentValues(Values):
    """Values of f_t + (Phi'(Q(t))/V) g_t^+ with Q(t) = Q(t-1) + g_t(y_t)^+ at the point played.

    The weight depends on the random play, so a one-point estimate is not unbiased for the gradient
    of f_t + w g_t^+ with any fixed w. (It is for h(y) = f_t(y) + w(Q(t-1) + g_t^+(y)) g_t^+(y),
    smoothed, but the analysis is not about that function.) `LaggedSurrogate` and `DriftSurrogate`
    fix the weight before the play. The declared constants are those of the weight that was used.

    Args:
        potential: Phi/V, as a function of the queue.
        queue: Q(0), in units of `ranges.violation`.
        ranges: the units; `GivenRanges()` if left out.

    Reference: Wang, Wan and Zhang, AAAI 2025 (inside BFW-TVC).

    >>> from hedgerow.feedback import Eval
    >>> from hedgerow.surrogates.potentials import PowerPotential
    >>> surrogate = CurrentValues(PowerPotential(p=2.0, scale=1.0))
    >>> surrogate.tell(Eval(1.0, 1.0, 3.0), Eval(0.25, 2.0, 4.0))
    Eval(value=1.125, lipschitz=2.0, bound=5.0)

    """

    charge_values = charge_values

    def __init__(self, potential: Potential, queue: float = 0.0, ranges: Ranges | None = None):
        super().__init__(potential, queue, ranges, overshoot=0.0)
