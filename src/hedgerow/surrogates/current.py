"""The surrogate of Algorithm 2: the weight counts the current round's violation too."""

from __future__ import annotations

import math

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import NEEDS_GRADIENT, OBSERVE, RECORD
from hedgerow.inputs import Vector
from hedgerow.surrogates.queue import ROUND, VIOLATION, store_weight
from hedgerow.surrogates.queued import GradientSurrogate
from hedgerow.surrogates.ranges import LEARNT_FROM, START, UNSEEN, Sizes, learn, violation_unit

Array = Vector


@kernel(*NEEDS_GRADIENT)
def needs_gradient(queue: Array, units: Array, value: float) -> float:
    """Only a violation counts."""
    return LEARNT_FROM if value > 0.0 else UNSEEN


@kernel(*OBSERVE)
def observe(queue: Array, ranges: Array, units: Array, value: float, sizes: Sizes) -> float:
    """Line 6: Q(t) = Q(t-1) + g_t(x_t)^+. Return Q(t), or NaN where nothing is violated."""
    queue[ROUND] += 1.0
    learn(ranges, units, value, needs_gradient(queue, units, value), sizes)
    if value <= 0.0:
        return math.nan
    queue[VIOLATION] += value
    return units[START] + queue[VIOLATION] / violation_unit(ranges, units)


@kernel(*RECORD)
def record(queue: Array, ranges: Array, units: Array, value: float, weight: float) -> None:
    """Line 7: the loss is f_t + (Phi'(Q(t))/V) g_t^+."""
    store_weight(queue, weight, max(0.0, value))


class CurrentSurrogate(GradientSurrogate):
    """The paper's surrogate V f_t + Phi'(Q(t)) g_t^+, divided by V: f_t + (Phi'(Q(t))/V) g_t^+.

    It is eq. (surr-cost), with Q(t) = Q(t-1) + g_t(x_t)^+. Where g_t(x_t) <= 0 the subgradient of
    g_t^+ is 0. It makes every round's violation small: CCV is the sum of g_t^+.

    Args:
        potential: Phi/V; its `weight` is Phi'/V.
        queue: where the queue starts, Q(0), in units of `ranges.violation`. The property of the
            same name is Q(t), and what kernels call queue is the array of `surrogates/queue.py`.
        ranges: the units of queue and weight; `FixedRanges()` if left out.
        lipschitz: a bound of Lf and Lg, in units per length, for feedback that declares none.

    >>> import numpy as np
    >>> from hedgerow.feedback import EvalGrad
    >>> from hedgerow.surrogates.potentials import PowerPotential
    >>> surrogate = CurrentSurrogate(PowerPotential(p=2.0, scale=1.0))
    >>> surrogate.tell(EvalGrad(1.0, np.array([1.0])), EvalGrad(0.5, np.array([-1.0])))
    EvalGrad(value=1.5, grad=array([0.]), lipschitz=None)

    """

    needs_gradient, observe, record = needs_gradient, observe, record
