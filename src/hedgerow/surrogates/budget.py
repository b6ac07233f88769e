"""A scale for benchmarks that themselves violate the constraint."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow.inputs import as_positive, freeze
from hedgerow.surrogates.potentials import GrowingScale, Scale
from hedgerow.surrogates.ranges import Ranges


@dataclass(frozen=True)
class BudgetedScale:
    """The scale k_t + p B / Mg: in the constraint's own unit, k_t Mg + p B.

    Against a benchmark whose total violation is at most B the decomposition reads
    Phi(Q)/V + Regret <= C_T (1 + w) + w B, so the scale that balances both is p (C_T + B).

    Args:
        base: k_t.
        budget: p B, in the constraint's unit.
        ranges: where Mg comes from.

    """

    base: float | Scale
    budget: float
    ranges: Ranges

    def __post_init__(self) -> None:
        freeze(self, budget=as_positive(self.budget, "budget"))

    def at(self, t: float) -> float:
        """Return the scale in round t, in units of Mg."""
        base = self.base if isinstance(self.base, float) else self.base.at(t)
        return base + self.budget / self.ranges.violation

    def numbers(self) -> tuple[float, float, float, float] | None:
        """Return floor, factor, power and budget for the compiled game, if the base has them."""
        if isinstance(self.base, GrowingScale):
            return self.base.floor, self.base.factor, self.base.power, self.budget
        return (self.base, 0.0, 1.0, self.budget) if isinstance(self.base, float) else None
