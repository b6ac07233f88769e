"""The surrogate of Algorithm 7: slack in one round pays for violation in another."""

from __future__ import annotations

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import NEEDS_GRADIENT, OBSERVE, RECORD
from hedgerow.inputs import Vector
from hedgerow.surrogates.queue import ROUND, VIOLATION, store_weight
from hedgerow.surrogates.queued import GradientSurrogate
from hedgerow.surrogates.ranges import (
    LEARNT_FROM,
    START,
    WEIGHED,
    Sizes,
    learn,
    violation_unit,
)

Array = Vector


@kernel(*NEEDS_GRADIENT)
def needs_gradient(queue: Array, units: Array, value: float) -> float:
    """The constraint is weighed in every round; ranges are learnt while the queue is not empty."""
    waiting = units[START] + queue[VIOLATION] > 0.0
    return LEARNT_FROM if waiting or value > 0.0 else WEIGHED


@kernel(*OBSERVE)
def observe(queue: Array, ranges: Array, units: Array, value: float, sizes: Sizes) -> float:
    """Return Q(t-1): the weight is that of the queue as it was."""
    queue[ROUND] += 1.0
    learn(ranges, units, value, needs_gradient(queue, units, value), sizes)
    return units[START] + queue[VIOLATION] / violation_unit(ranges, units)


@kernel(*RECORD)
def record(queue: Array, ranges: Array, units: Array, value: float, weight: float) -> None:
    """Lines 7 and 8: the loss is f_t + (Phi'(Q(t-1))/V) g_t, and Q(t) = (Q(t-1) + g_t(x_t))^+."""
    store_weight(queue, weight, value)
    empty = -units[START] * violation_unit(ranges, units)
    queue[VIOLATION] = max(empty, queue[VIOLATION] + value)


class SignedSurrogate(GradientSurrogate):
    """The signed surrogate V f_t + Phi'(Q(t-1)) g_t, divided by V: f_t + (Phi'(Q(t-1))/V) g_t.

    Q(t) = (Q(t-1) + g_t(x_t))^+. It keeps the sum of g_t small, as an average service level
    needs; it does not keep the CCV, the sum of g_t^+, small.

    Args:
        potential: Phi/V; its `weight` is Phi'/V.
        queue: where the queue starts, Q(0), in units of `ranges.violation`.
        ranges: the units of queue and weight; `FixedRanges()` if left out.
        lipschitz: a bound of Lf and Lg, in units per length, for feedback that declares none.

    >>> import numpy as np
    >>> from hedgerow.feedback import EvalGrad
    >>> from hedgerow.surrogates.potentials import PowerPotential
    >>> surrogate = SignedSurrogate(PowerPotential(p=2.0, scale=1.0), queue=1.0)
    >>> surrogate.tell(EvalGrad(1.0, np.array([1.0])), EvalGrad(-0.5, np.array([-1.0])))
    EvalGrad(value=0.0, grad=array([-1.]), lipschitz=None)

    """

    needs_gradient, observe, record = needs_gradient, observe, record
