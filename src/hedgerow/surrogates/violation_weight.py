"""Theorem F's weights: in proportion to a power of the violation itself."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from hedgerow._engine.kernel import kernel, number
from hedgerow._engine.signatures import CONSTRAINT_GRAD2, COST2, OBSERVE, RECORD, SLOPE
from hedgerow.feedback import EvalGrad
from hedgerow.inputs import Vector, as_positive
from hedgerow.learners.steps import three_quarters
from hedgerow.protocols.parts import Learner
from hedgerow.snapshot import State
from hedgerow.surrogates.current import needs_gradient
from hedgerow.surrogates.potentials import PowerPotential, Slope
from hedgerow.surrogates.queue import ROUND, VIOLATION, store_weight
from hedgerow.surrogates.queued import GradientSurrogate
from hedgerow.surrogates.ranges import (
    COSTS2,
    GF,
    GG,
    INFINITESIMAL,
    SCALE,
    ObservedRanges,
    Sizes,
)

Array = Vector
DIAMETER, SHARE, FIRST, C, Q, MOST, COSTS, REFUTED = range(5, 13)
"""The numbers of the queue after those of `Queued`: D, lam/m for m constraints, and c1; C and q of
the learner's regret; 1 + lam (m - 1)/m; the sum of ||grad f||; and 1 once no action can satisfy
all rounds, if each was reported before the next decision."""
ADAGRAD = math.sqrt(2.0)
"""AdaGrad's constant: Regret <= sqrt(2) D sqrt(sum ||s||^2)."""
FIRST_CONSTANTS = {2: 1.0 - math.sqrt(0.5), 3: 0.178, 4: 0.1281}
"""c1, the largest n(omega) - omega over omega >= 0, rounded up; `norm_of_weights` is n."""
FLAT2 = INFINITESIMAL * INFINITESIMAL
"""Stands for ||grad f||^2 of a round before the first cost that is not flat: with Phi_t = 0 every
weight would be 0."""
ROUNDING = 1.0 + 1e-6
"""Sums must differ by more than this factor to prove anything."""


@kernel(number, number, number)
def dual_power(norm2: float, q: float) -> float:
    """Return ||s||^{q'}, q' = q/(q - 1), given ||s||^2."""
    return norm2 if q == 2.0 else norm2 ** (0.5 * q / (q - 1.0))


@kernel(number, number, number)
def dual_root(total: float, q: float) -> float:
    """Return the q'-th root."""
    if q == 2.0:
        return math.sqrt(total)
    return three_quarters(total) if q == 4.0 else total ** (1.0 - 1.0 / q)


@kernel(number, number, number)
def norm_of_weights(omega: float, q: float) -> float:
    """Return n(omega) = (((1 + omega)^{q'} - 1)/q')^{1/q'}.

    With W = m_T omega, m_T n(omega) bounds what the weights add to C D (sum ||s||^{q'})^{1/q'}.
    """
    dual = q / (q - 1.0)
    return ((dual_power((1.0 + omega) * (1.0 + omega), q) - 1.0) / dual) ** (1.0 / dual)


@kernel(*OBSERVE)
def observe(queue: Array, ranges: Array, units: Array, value: float, sizes: Sizes) -> float:
    """Find w_t = ((m_t + W_{t-1})/kappa_t)(g_t/kappa_t)^{q-1}, m_t = (lam/c1) C D Phi_t.

    kappa_t = C D ||grad g_t||, Phi_t = (sum ||grad f||^{q'})^{1/q'}, W the sum of w g^+; the
    queue's VIOLATION is W, and ranges[SCALE] takes the weight to `weight_of_round`. If some x*
    satisfies all rounds, W - m_t n(W/m_t) is at most C D Phi_t + D sum ||grad f||, and for one of m
    constraints lam (m - 1)/m C D Phi_t more; a W beyond that grows no more.
    """
    D, c, q, cost2 = queue[DIAMETER], queue[C], queue[Q], sizes[COST2]
    queue[ROUND] += 1.0
    queue[COSTS] += math.sqrt(cost2)
    ranges[COSTS2] += dual_power(cost2 if cost2 > 0.0 else FLAT2, q)  # else m_t = 0 if f = 0
    ranges[GF] = ranges[GG] = 1.0
    if value <= 0.0 or sizes[CONSTRAINT_GRAD2] <= 0.0:
        return math.nan
    phi = c * D * dual_root(ranges[COSTS2], q)
    m, kappa = queue[SHARE] / queue[FIRST] * phi, c * D * math.sqrt(sizes[CONSTRAINT_GRAD2])
    share = min(value / kappa, 1.0 / c)  # no more where some action satisfies the round
    weight = (m + queue[VIOLATION]) / kappa * (share if q == 2.0 else share ** (q - 1.0))
    paid = queue[VIOLATION] + weight * value
    if paid - m * norm_of_weights(paid / m, q) > ROUNDING * (queue[MOST] * phi + D * queue[COSTS]):
        queue[REFUTED] = 1.0
    ranges[SCALE] = weight
    return 0.0


@kernel(*RECORD)
def record(queue: Array, ranges: Array, units: Array, value: float, weight: float) -> None:
    """W_t = W_{t-1} + w_t g_t^+."""
    store_weight(queue, weight, max(0.0, value))
    if queue[REFUTED] == 0.0:
        queue[VIOLATION] += weight * max(0.0, value)


@kernel(*SLOPE)
def weight_of_round(potential: Array, q: float, t: float, unit: float, scale: float) -> float:
    """Return the weight, which `observe` has stored in ranges[SCALE]."""
    return scale


class ViolationSurrogate(GradientSurrogate):
    """f_t + w_t g_t^+ with w_t = ((m_t + W_{t-1})/kappa_t)(g_t^+/kappa_t)^{q-1}: Theorem F.

    kappa_t = C D ||grad g_t||, m_t = (lam/c1) C D Phi_t, Phi_t = (sum ||grad f||^{q'})^{1/q'},
    q' = q/(q - 1), W the sum of w g^+. With a learner whose regret is at most
    C D (sum ||s||^{q'})^{1/q'}, against every x* that satisfies all rounds,
    Regret_T <= (1 + lam) C D Phi_T, and the CCV is of order T^{1/q'} (log T)^{1/q} (theory.md).
    A zero gradient counts as one of an infinitesimal size. Nothing but D is known to it.

    Args:
        learner: an `AdaGrad`, which has C = sqrt(2) and q = 2, or one with a schedule; its set is
            measured.
        lam: the share of the bound that pays for the weights.
        C: the learner's constant.
        q: its exponent: 2, 3 or 4.
        constraints: m, where this is the surrogate of one of m constraints: each has lam/m.

    """

    needs_gradient, observe, record = needs_gradient, observe, record

    def __init__(
        self,
        learner: Learner[EvalGrad],
        lam: float = 0.5,
        C: float = ADAGRAD,
        q: int = 2,
        constraints: int = 1,
    ):
        super().__init__(PowerPotential(2.0, 1.0), 0.0, ObservedRanges(learner))
        self.lam = as_positive(lam, "lam")
        names = ("t", "violation", "weight", "price", "largest")
        self._state = State(**dict.fromkeys(names, 1), fixed=6, costs=1, refuted=1)
        D, share = learner.decision_set.diameter or 1.0, self.lam / constraints
        most = 1.0 + self.lam - share
        self._state["fixed"][:] = D, share, FIRST_CONSTANTS[q], as_positive(C, "C"), q, most

    @cached_property
    def slope(self) -> Slope:
        """The kernel that returns the weight."""
        return weight_of_round, np.zeros(1)

    @property
    def queue(self) -> float:
        """W, the sum of w_t g_t^+, in units of cost."""
        return float(self._state["violation"][0])

    @property
    def steepness(self) -> float:
        """The sum of ||grad f|| so far."""
        return float(self._state["costs"][0])

    @property
    def refuted(self) -> bool:
        """Whether no action satisfies all rounds, by a proof that needs feedback without delay."""
        return bool(self._state["refuted"][0])
