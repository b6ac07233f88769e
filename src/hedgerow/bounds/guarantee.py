"""Guarantees in text and numbers, and from which horizon a bound says anything at all."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from hedgerow.bounds.ocg_bounds import Adaptivity
from hedgerow.inputs import as_positive
from hedgerow.policies.certificate import Certificate

LONGEST = 1e100
"""No game is longer; a bound that is still above the trivial one there never says anything."""


@dataclass(frozen=True)
class Guarantee:
    """One thing that is proved.

    Attributes:
        name: of what it bounds and where it comes from.
        statement: the bound.
        value: its value at the horizon, or now; None where constants are not known.
        trivial: what no decision can exceed, where known.
        assumptions: what it needs.

    """

    name: str
    statement: str
    value: float | None
    trivial: float | None
    assumptions: tuple[str, ...]

    @property
    def informative(self) -> bool | None:
        """Whether it says anything: its value is below the trivial one; None where unknown."""
        if isinstance(self.value, Certificate) and self.value.says_nothing is not None:
            return False
        if self.value is None or self.trivial is None:
            return None
        return self.value < self.trivial

    def __str__(self) -> str:
        why = self.value.says_nothing if isinstance(self.value, Certificate) else None
        verdict = {
            True: "says something",
            False: why or "says nothing here, because no play is worse",
            None: "cannot be compared",
        }[self.informative]
        value = "no number" if self.value is None else f"{self.value:.3g}"
        if self.trivial is not None:
            value += f" against {self.trivial:.3g} at worst"
        needs = "; ".join(self.assumptions) or "nothing"
        return f"{self.name}: {self.statement}\n    {value}; {verdict}\n    needs: {needs}"


@dataclass(frozen=True)
class Explanation:
    """What `explain` found.

    Attributes:
        policy: in words.
        horizon: the number of rounds it was made for, if any.
        guarantees: all that is proved.
        adaptivity: log(L_T/L_1) and the largest ratio so far, of L_t = 1 + w_t; None where the
            policy has no weight on a constraint.

    """

    policy: str
    horizon: int | None
    guarantees: tuple[Guarantee, ...]
    adaptivity: Adaptivity | None

    def __str__(self) -> str:
        lines = [self.policy, f"horizon: {'any' if self.horizon is None else self.horizon}"]
        if self.adaptivity is not None:
            lines.append(
                f"growth of L_t = 1 + w_t so far: log(L_T/L_1) = {self.adaptivity.log_growth:.3g}, "
                f"largest ratio at most {self.adaptivity.largest_ratio:.3g}"
            )
        return "\n".join([*lines, *(str(guarantee) for guarantee in self.guarantees)])


def nonvacuous_horizon(
    bound: Callable[[float], float], per_round: float, least: float = 8.0
) -> float:
    """Return the least horizon T with bound(T) < per_round T, infinite if there is none.

    No decision does worse than D L per round in regret and G D per round in CCV, so a bound above
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
