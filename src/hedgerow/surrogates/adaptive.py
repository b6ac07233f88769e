"""The practical surrogate: weights in units of what was seen, at a scale that regret drives."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from hedgerow._engine.kernel import kernel
from hedgerow._engine.signatures import (
    CONSTRAINT_GRAD2,
    COST2,
    LOST,
    OBSERVE,
    RECORD,
    SLOPE,
    UNAVOIDABLE,
)
from hedgerow.inputs import Vector, as_positive
from hedgerow.snapshot import Restorable, State
from hedgerow.surrogates.current import needs_gradient
from hedgerow.surrogates.guard import Guard
from hedgerow.surrogates.potentials import PowerPotential, Slope, power_weight
from hedgerow.surrogates.queue import ROUND, VIOLATION, store_weight
from hedgerow.surrogates.queued import GradientSurrogate
from hedgerow.surrogates.ranges import (
    COSTS2,
    GF,
    GG,
    GIVEN_MG,
    INFEASIBLE,
    INFEASIBLE_RATE,
    LAST_UNAVOIDABLE,
    LEAST_AVOIDED,
    RATE,
    SCALE,
    START,
    ObservedRanges,
    Sizes,
    see_steepness,
    see_violation,
    violation_unit,
    weight_unit,
)

Array = Vector
COUNT, ACTIVE, LAST, FLOOR, GROWTH, INFEASIBLE_COUNT = range(5, 11)
"""The numbers of the queue after those of `Queued`: violated rounds, those whose gradient has a
part along the set, the last weight in such a round, the two constants of the scale, and the
infeasible rounds in which some action avoids a violation."""
MANY, TOO_SMALL = 100.0, 0.01
"""After this many violations a weight below this share of the exchange rate is too small to act."""
P, QUEUE, SCALE_FLOOR, SCALE_GROWTH = 5.0, 6.0, 9.0, 0.375
"""The exponent, Q(0), the scale's floor and its growth, found on development games."""
EXPONENT, BUDGET, LEAST = range(3)
"""The potential's numbers."""
OUTAGE = 16.0
"""Infeasible rounds count in this unit: an outage of up to 90 rounds weighs as its first one."""
FIRST_SLOPE = 0.5
"""A violation weighs at least this much, in units of the exchange rate: the first one acts, too."""
SAFETY = 4.0
"""The exchange rate is at least this many times what safety costs per violation avoided."""


@kernel(*OBSERVE)
def observe(queue: Array, ranges: Array, units: Array, value: float, sizes: Sizes) -> float:
    """Take in a round; return Q(t), or NaN where no violation has a gradient along the set."""
    t = queue[ROUND] = queue[ROUND] + 1.0
    ranges[COSTS2] += sizes[COST2]
    ranges[LAST_UNAVOIDABLE] = sizes[UNAVOIDABLE]
    v = value - sizes[UNAVOIDABLE]  # what some action could have avoided
    if v <= 0.0:
        return math.nan
    first = queue[COUNT] == 0.0
    # a round that no action satisfies says nothing of the others
    counts = first or sizes[UNAVOIDABLE] == 0.0
    if counts and units[GIVEN_MG] == 0.0:
        see_violation(ranges, v)
    U = violation_unit(ranges, units)
    if counts:  # V: one outlier counts one unit, also the first
        queue[VIOLATION] = min(queue[VIOLATION], queue[COUNT] * U) + min(v, U)
        queue[COUNT] += 1.0
    if sizes[CONSTRAINT_GRAD2] <= 0.0:  # the same violation everywhere: no action avoids it
        ranges[INFEASIBLE] += 1.0
        return math.nan
    n = queue[ACTIVE] = queue[ACTIVE] + 1.0
    ranges[GG] = math.sqrt(sizes[CONSTRAINT_GRAD2])
    see_steepness(ranges)
    ranges[GF] = math.sqrt(ranges[COSTS2] / t) * (t / n) ** 0.25
    rate = ranges[RATE] if sizes[UNAVOIDABLE] == 0.0 else max(ranges[RATE], ranges[INFEASIBLE_RATE])
    ranges[GF] = max(ranges[GF], SAFETY * rate * ranges[GG])
    k, growth = queue[FLOOR], queue[GROWTH]
    if growth > 0.0:  # k_t: it grows while regret is lost, and no faster than sqrt t
        regret = max(0.0, sizes[LOST]) / (weight_unit(ranges, units) * U)
        k = min(max(k, growth * math.sqrt(t)), k + growth * regret)
    ranges[SCALE] = k
    if sizes[UNAVOIDABLE] > 0.0:  # persistence counts by itself: an outage is soon forgotten
        queue[INFEASIBLE_COUNT] += v > LEAST_AVOIDED * U
        return units[START] + math.log2(1.0 + queue[INFEASIBLE_COUNT] / OUTAGE)
    q = queue[VIOLATION] / U
    if growth > 0.0:  # persistence counts, unless the user has said how much may be spent
        q = max(q, math.log2(1.0 + queue[COUNT]))
    return units[START] + q


@kernel(*RECORD)
def record(queue: Array, ranges: Array, units: Array, value: float, weight: float) -> None:
    """The loss is f_t + w_t (g_t - u_t)^+, u_t what no action avoids."""
    store_weight(queue, weight, max(0.0, value - ranges[LAST_UNAVOIDABLE]))
    if weight > 0.0:
        queue[LAST] = weight


@kernel(*SLOPE)
def capped_slope(potential: Array, q: float, t: float, unit: float, scale: float) -> float:
    """The power law with the surrogate's scale, within bounds; potential = [p, budget, least]."""
    k = scale + potential[BUDGET] / unit
    most = math.sqrt(t)
    return min(max(power_weight(potential[EXPONENT], most, k, q), potential[LEAST]), most)


class AdaptiveSurrogate(GradientSurrogate):
    """f_t + w_t g_t^+, w_t = ratio max(1/2, min((5/k)(q/k)^4, sqrt t)), in units that were seen.

    q = 6 + max(V/U, log2(1 + N)): V is the violation so far, N the number of violated rounds, U the
    second largest violation so far (`ObservedRanges`). So persistence counts even where violations
    are tiny. k = min(max(9, 0.375 sqrt t), 9 + 0.375 Reg^+/(ratio U)), where Reg is what was lost
    so far against the present play, less what violations paid: the scale grows only while regret
    is being lost. In an infeasible round, which no action satisfies, only the avoidable part counts
    and q = 6 + log2(1 + N'/16) with the number N' of such rounds, which count nowhere else: an
    outage is soon forgotten. The exchange rate there has a price of safety of its own, so that a
    limit that is never met is not ignored. The least
    weight, half the ratio, makes the first few violations act; where scale or budget are
    given it is 0. One oracle call per round; a few more for violations of a new size or slope.

    Args:
        ranges: the units. eagerness: how eagerly the constraint is satisfied, a number without
        unit; 6 and k are divided
            by it, so that a violation counts as much as `eagerness` violations, and the least
            weight is multiplied by it.
        scale: k as one number, which then does not grow; None for the rule above.
        budget: 5 B, for a benchmark that violates by B in all, in the constraint's unit.
        guard: limits the weights; without one there is no bound beforehand.

    """

    needs_gradient, observe, record = needs_gradient, observe, record

    def __init__(
        self,
        ranges: ObservedRanges,
        eagerness: float = 1.0,
        scale: float | None = None,
        budget: float = 0.0,
        guard: Guard | None = None,
    ):
        e = as_positive(eagerness, "eagerness")
        floor = (SCALE_FLOOR if scale is None else as_positive(scale, "scale")) / e
        super().__init__(PowerPotential(P, floor), QUEUE / e, ranges)
        self.guard, self._budget = guard, budget
        measured = scale is None and budget == 0.0
        self._least = FIRST_SLOPE * e if measured else 0.0
        self._state = State(t=1, violation=1, weight=1, price=1, largest=1, seen=6)
        self._state.array[FLOOR] = floor
        self._state.array[GROWTH] = SCALE_GROWTH / e if scale is None else 0.0

    @cached_property
    def slope(self) -> Slope:
        """The potential's kernel and its numbers."""
        return capped_slope, np.array([P, self._budget, self._least])

    @property
    def queue(self) -> float:
        """q, in units of `ranges.violation`."""
        numbers = self._state.array
        q = float(numbers[VIOLATION] / self.ranges.violation)
        if numbers[GROWTH] > 0.0:
            q = max(q, math.log2(1.0 + numbers[COUNT]))
        return self.initial + q

    @property
    def unavoidable(self) -> float:
        """The part of the last violation that no action avoids, as far as it was checked."""
        return float(self.ranges.array[LAST_UNAVOIDABLE])

    @property
    def reaction(self) -> float | None:
        """The last weight in units of the exchange rate; None before the first violation.

        At 1 a violating round pulls back about as strongly as costs pull forward.
        """
        ratio = self.ranges.ratio
        known = self._state.array[ACTIVE] > 0.0 and ratio > 0.0
        return float(self._state.array[LAST] / ratio) if known else None

    @property
    def ignored(self) -> bool:
        """Whether after many violations the weight is still too small to move the play."""
        many = self._state.array[COUNT] >= MANY
        return bool(many and self.largest_weight < TOO_SMALL * self.ranges.ratio)

    def read(self, ledger: Vector) -> None:
        """Read what the policy has lost so far off its ledger."""
        self.ledger = ledger
        vars(self).pop("table", None)  # which has the one of before

    @property
    def _parts(self) -> dict[str, Restorable]:
        guard = {} if self.guard is None else {"guard": self.guard}
        return {**super()._parts, **guard}
