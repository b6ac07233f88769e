"""The guard of a policy with a weight for each constraint: the inequality adds up over them."""

from __future__ import annotations

from hedgerow.inputs import Vector, as_count
from hedgerow.snapshot import State
from hedgerow.surrogates.guard import PAID, SHARE, STEEPNESS, Guard, Guarded

EACH = STEEPNESS + 1
"""Where the sums of wc_i g_i of each constraint begin, after the numbers of `Guard`."""


class EachGuard(Guard):
    """Theorem G for m constraints with a weight each.

    Theorem F's weight of each constraint has lam/m in the place of lam. By Minkowski's inequality
    what all of them add to the losses' norm is at most the sum of what each adds, so for every x*
    that satisfies all constraints of all rounds Regret_T <= (1 + lam_e + lam) C D Phi_T, and the
    CCV of each is of order T^{1/q'} (log T)^{1/q} (theory.md). What is proposed beyond Theorem F's
    weights is reduced by one factor for all.

    Args:
        learner: as in `Guard`.
        constraints: m.
        lam: the share of the bound that pays for Theorem F's weights, of all constraints.
        lam_e: as in `Guard`.
        lam_h: as in `Guard`.

    """

    def __init__(
        self,
        learner: Guarded,
        constraints: int,
        lam: float = SHARE,
        lam_e: float = SHARE,
        lam_h: float = SHARE,
    ):
        super().__init__(learner, lam, lam_e, lam_h)
        self.constraints = as_count(constraints, "constraints")
        own: Vector = self.array
        self._state = State(numbers=EACH + self.constraints)
        self.array[:EACH] = own
        self.array[PAID] /= self.constraints
