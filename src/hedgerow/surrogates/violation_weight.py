"""Weights in proportion to the violation itself: Theorem F's, for learners that project."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import CONSTRAINT_GRAD2, COST2, OBSERVE, RECORD, SLOPE
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_positive
from hedgerow.protocols.parts import Learner
from hedgerow.surrogates.current import needs_gradient
from hedgerow.surrogates.guard import FLAT2
from hedgerow.surrogates.potentials import PowerPotential, Slope
from hedgerow.surrogates.queue import ROUND, VIOLATION, store_weight
from hedgerow.surrogates.queued import GradientSurrogate
from hedgerow.surrogates.ranges import (
    COSTS2,
    GF,
    GG,
    SCALE,
    ObservedRanges,
    Sizes,
)

Array = Vector
DIAMETER, SHARE = 5, 6
"""The numbers of the queue after those of `Queued`: D and lam."""
C = math.sqrt(2.0)
"""AdaGrad's constant: Regret <= sqrt(2) D sqrt(sum ||s||^2)."""
C1 = 1.0 - math.sqrt(0.5)
"""The largest sqrt(omega^2/2 + omega) - omega over omega >= 0."""


@kernel(*OBSERVE)
def observe(queue: Array, ranges: Array, units: Array, value: float, sizes: Sizes) -> float:
    """Find w_t = ((m_t + W_{t-1})/kappa_t)(g_t/kappa_t), m_t = (lam/c1) C D Phi_t.

    kappa_t = C D ||grad g_t||, Phi_t = sqrt(sum ||grad f||^2), W the sum of w g^+; the queue's
    VIOLATION is W, and ranges[SCALE] takes the weight to `weight_of_round`.
    """
    queue[ROUND] += 1.0
    ranges[COSTS2] += sizes[COST2] if sizes[COST2] > 0.0 else FLAT2  # else m_t = 0 if f = 0
    ranges[GF] = ranges[GG] = 1.0
    if value <= 0.0 or sizes[CONSTRAINT_GRAD2] <= 0.0:
        return math.nan
    D, lam = queue[DIAMETER], queue[SHARE]
    m = lam / C1 * C * D * math.sqrt(ranges[COSTS2])
    kappa = C * D * math.sqrt(sizes[CONSTRAINT_GRAD2])
    share = min(value / kappa, 1.0 / C)  # no more where some action satisfies the round
    ranges[SCALE] = (m + queue[VIOLATION]) / kappa * share
    return 0.0


@kernel(*RECORD)
def record(queue: Array, ranges: Array, units: Array, value: float, weight: float) -> None:
    """W_t = W_{t-1} + w_t g_t^+."""
    store_weight(queue, weight, max(0.0, value))
    queue[VIOLATION] += weight * max(0.0, value)


@kernel(*SLOPE)
def weight_of_round(potential: Array, q: float, t: float, unit: float, scale: float) -> float:
    """Return the weight, which `observe` has stored in ranges[SCALE]."""
    return scale


class ViolationSurrogate(GradientSurrogate):
    """f_t + w_t g_t^+ with w_t = ((m_t + W_{t-1})/kappa_t)(g_t^+/kappa_t), for `AdaGrad`.

    kappa_t = sqrt(2) D ||grad g_t||, m_t = (lam/c1) sqrt(2) D Phi_t with c1 = 1 - 1/sqrt(2) and
    Phi_t = sqrt(sum ||grad f||^2), W the sum of w g^+. With a learner whose regret is at most
    sqrt(2) D sqrt(sum ||s||^2), against every x* that satisfies all rounds,
    Regret_T <= (1 + lam) sqrt(2) D Phi_T. Where cost gradients are of one size, the CCV is of order
    sqrt(T log T) (theory.md). A zero gradient counts as one of an infinitesimal size. Nothing but
    D is known to it.

    Args:
        learner: an `AdaGrad`; its set is measured.
        lam: the share of the bound that pays for the weights.

    """

    needs_gradient, observe, record = needs_gradient, observe, record

    def __init__(self, learner: Learner[EvalGrad], lam: float = 0.5):
        super().__init__(
            PowerPotential(2.0, 1.0), 0.0, ObservedRanges(learner, exclude_unavoidable=False)
        )
        self.lam = as_positive(lam, "lam")
        self._state = type(self._state)(t=1, violation=1, weight=1, price=1, largest=1, fixed=2)
        self._state["fixed"][:] = learner.decision_set.diameter or 1.0, self.lam

    @cached_property
    def slope(self) -> Slope:
        """The kernel that returns the weight."""
        return weight_of_round, np.zeros(1)

    @property
    def queue(self) -> float:
        """W, the sum of w_t g_t^+, in units of cost."""
        return float(self._state["violation"][0])
