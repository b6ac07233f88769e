"""From which horizon a bound says anything at all."""

from __future__ import annotations

import math
from collections.abc import Callable

from hedgerow.inputs import as_positive

LONGEST = 1e100
"""No game is longer; a bound that is still above the trivial one there never says anything."""


def nonvacuous_horizon(
    bound: Callable[[float], float], per_round: float, least: float = 8.0
) -> float:
    """Return the least horizon T with bound(T) < per_round T, infinite if there is none.

    No play can do worse than D L a round in regret and G D a round in CCV, so a bound above
    D L T, or G D T, is true of every policy. The horizon is doubled until the bound is below that,
    then found between the last two by bisection in log T; so the bound must cross once, as all
    bounds of order T^{3/4} do.

    Args:
        bound: the bound as a function of T.
        per_round: the worst that one round can do, D L or G D.
        least: the horizon from which the bound holds.

    >>> nonvacuous_horizon(lambda T: 10.0 * T**0.75, per_round=1.0)
    10001.0

    """
    worst = as_positive(per_round, "per_round")

    def says(T: float) -> bool:
        return bound(T) < worst * T

    high = as_positive(least, "least")
    while not says(high):
        high *= 2.0
        if high > LONGEST:
            return math.inf
    if high == least:
        return high
    low = high / 2.0
    while math.floor(high) > math.floor(low) + 1 and low < (middle := math.sqrt(low * high)) < high:
        low, high = (low, middle) if says(middle) else (middle, high)
    return float(math.floor(high)) if says(math.floor(high)) else float(math.ceil(high))
