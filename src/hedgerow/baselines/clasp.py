"""CLASP: a gradient step, then the projection onto the points that satisfy the last constraint."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hedgerow._engine.kernel import kernel
from hedgerow.baselines.normalised import Scale, stand_alone
from hedgerow.baselines.penalised_step import Penalised
from hedgerow.baselines.primal_dual import as_trade_off
from hedgerow.baselines.projected_step import (
    AFTER_STEP,
    EAGERNESS,
    QUEUE,
    RATES,
    ROUND,
    STEP_WEIGHTS,
)
from hedgerow.feedback import Full
from hedgerow.inputs import Vector
from hedgerow.policies.method import baseline
from hedgerow.policies.presets import Lipschitz, Preset
from hedgerow.protocols.parts import ResumablePolicy
from hedgerow.sets.decision_set import DecisionSet

Array = Vector
LEFT = 1e-8
"""The violation that the penalty may leave above the least possible, in units of G D."""
UNSATISFIED = 1e-6
"""If a step leaves more violation than this, in units of G D, no point satisfies the constraint."""


@dataclass(frozen=True)
class ClaspRates:
    """eta_t = step / t^beta, for constraints with gradients of norm at most G.

    Args:
        step: eta_1.
        beta: how fast the steps fall.
        diameter: D, of the set.
        lipschitz: G.

    """

    step: float
    beta: float
    diameter: float
    lipschitz: float


STEP, POWER, DIAMETER, LIPSCHITZ = range(RATES, RATES + 4)
"""Where the kernels find them."""


@kernel(*STEP_WEIGHTS)
def clasp_step_weights(own: Array, rates: Array, value: float) -> tuple[float, float]:
    """Return a weight so large that the step is a projection, and 1/(2 eta_t)."""
    G, D, eagerness = rates[LIPSCHITZ], rates[DIAMETER], rates[EAGERNESS]
    eta = rates[STEP] / (eagerness * math.pow(own[ROUND], rates[POWER]))
    alpha = 1.0 / (2.0 * eta)
    farthest = D + eta * G  # from a point of the set to the point that is projected
    # a feasible point costs alpha farthest^2 at most, so w times the violation costs no more
    w = alpha * farthest * farthest / (LEFT * G * D)
    return w / eagerness, alpha  # the round multiplies w by the eagerness


@kernel(*AFTER_STEP)
def count_unsatisfied(own: Array, rates: Array, value: float, left: float) -> None:
    """Count the round if its constraint is still violated."""
    own[QUEUE] += left > UNSATISFIED * rates[LIPSCHITZ] * rates[DIAMETER]


class Clasp(Penalised[ClaspRates]):
    """x_{t+1} = P_t(x_t - eta_t grad f_t(x_t)), P_t the projection onto X and {g_t <= 0}.

    P_t is found as a penalised step whose weight is so large that it is the same point, unless the
    constraint's multiplier is larger still. Then, and where no point of X satisfies g_t, it is a
    point whose violation is within 1e-8 G D of the least possible.

    Args:
        decision_set: where to play; it must know its projection.
        rates: eta_t, and the unit of violation.
        eagerness: the divisor of eta_t.

    """

    step_weights, after_step = clasp_step_weights, count_unsatisfied

    def __init__(self, decision_set: DecisionSet, rates: ClaspRates, eagerness: float = 1.0):
        super().__init__(decision_set, rates, eagerness)

    @property
    def unsatisfied(self) -> int:
        """In how many rounds no point of the set satisfied the constraint, up to 1e-6 G D."""
        return int(self._state["queue"][0])


@baseline(
    source="Ferreira, Soares and Xavier 2026",
    regret="T^{max(b, 1-b)}",
    ccv="T^{1-b/2}; squared: T^{1-b}",
    per_round="1 convex programme",
    sees="whole",
    needs="none; theory: G",
    confidence="medium: reconstruction",
    remark="reconstruction",
)
def ferreira_clasp(
    decision_set: DecisionSet,
    horizon: int | None = None,
    *,
    preset: Preset = "practical",
    lipschitz: Lipschitz = None,
    trade_off: float = 0.5,
    eagerness: float = 1.0,
) -> ResumablePolicy[Full, Full]:
    """Ferreira, Soares and Xavier's CLASP: project onto what satisfied the last constraint.

    x_{t+1} = P_t(x_t - eta_t grad f_t(x_t)) with the projection P_t onto the points of X with
    g_t <= 0, and eta_t = D/(G t^b). It sees the whole constraint. For a linear one it searches one
    multiplier, by a few projections onto X. Curved ones take tens or hundreds, and are projected
    onto up to about 1e-4 D.

    The paper states regret O(T^{max(b, 1-b)}) and squared violation sum g_t^+(x_t)^2 = O(T^{1-b}).
    Its abstract and a review were at hand, not its text: the update is as stated there, and the
    step D/(G t^b) is a guess, from which both orders follow. With x* a point that satisfies all
    constraints, and P_t firmly nonexpansive,

        ||x_{t+1} - x*||^2 <= ||x_t - x*||^2 - ||x_{t+1} - x_t||^2
                              - 2 eta_t <grad f_t, x_{t+1} - x*>,

    which gives regret <= G D (T^b + T^{1-b}/(1-b))/2 and, because g_t^+(x_t) is at most
    G ||x_{t+1} - x_t||, squared violation <= G^2 D^2 (1 + 2 T^{1-b}/(1-b)). CCV is at most
    the square root of T times that, O(T^{1-b/2}): the column CCV follows and is not the paper's
    metric. The variant for strongly convex costs and the paper's later CLASP-I and CLASP-F are not
    here.

    The paper assumes a point that satisfies all constraints. In a round that no point of X
    satisfies, it moves to a point of least violation and counts the round (`Clasp.unsatisfied`).

    Args:
        decision_set: where to play.
        horizon: not needed.
        preset: "practical" (`Normalised`, distances in the set's unit) or "theory".
        lipschitz: a bound G of all gradients' norms; `theory` needs it.
        trade_off: b in (0, 1).
        eagerness: the divisor of the steps; more means less violation.

    Reference: R. N. Ferreira, C. Soares, J. Xavier, CLASP: an online learning algorithm for convex
    losses and squared penalties, arXiv 2601.16072 (2026); extended in ICML 2026, PMLR 306.

    >>> from hedgerow.sets.simplices.simplex import Simplex
    >>> ferreira_clasp(Simplex(2)).ask()
    array([0.5, 0.5])

    """
    b = as_trade_off(trade_off)

    def build(scale: Scale) -> ResumablePolicy[Full, Full]:
        D = scale.unit * scale.R
        return Clasp(decision_set, ClaspRates(D / scale.G, b, D, scale.G), scale.eagerness)

    return stand_alone("ferreira_clasp", build, decision_set, horizon, preset, lipschitz, eagerness)
