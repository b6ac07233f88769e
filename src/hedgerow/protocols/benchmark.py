"""The best fixed action in hindsight, with proof."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hedgerow.inputs import Vector


@dataclass(frozen=True, eq=False)
class Benchmark:
    """The best fixed action that satisfies the constraint in every round, or within a budget.

    Attributes:
        x: the action.
        cost: its total cost over all rounds.
        lower_bound: a proved lower bound of the total cost of every such action.
        gap: cost - lower_bound; zero means that x is proved optimal, infinity that x does not keep
            the constraints.
        status: "optimal"; "gap" when the gap or the violation is not as small as asked for, and
            "time limit" when the time limit is why; or "infeasible" when it is proved that no fixed
            action satisfies the constraints.
        violation: the largest constraint value of x over the rounds; at most the tolerance when
            optimal without a budget, and as small as possible when infeasible; NaN where x does
            not satisfy several constraints whose units may differ.
        ccv: the sum of the positive constraint values of x; NaN in the same case.
        seconds: the wall time that it took.
        conflict: the rounds that no action keeps together, when infeasible.
        needed_budget: the least sum of positive constraint values of any action, when infeasible
            and cheap to find; as `budget` it makes the benchmark feasible.
        budget: the sum of positive constraint values that it was allowed; infinite where the
            constraints did not count.
        least: whether that is the least sum that any action has, because none satisfies every
            round.
        units: where rounds have several constraints, what each was divided by before they were
            compared and added; empty where none was.
        ccv_each: the sum of the positive values of each constraint, in its own unit, where rounds
            have several whose units may differ.

    """

    x: Vector
    cost: float
    lower_bound: float
    gap: float
    status: str
    violation: float
    ccv: float = 0.0
    seconds: float = 0.0
    conflict: tuple[int, ...] = ()
    needed_budget: float | None = None
    budget: float = 0.0
    least: bool = False
    units: tuple[float, ...] = ()
    ccv_each: tuple[float, ...] = ()

    def __repr__(self) -> str:
        return (
            f"Benchmark(cost {self.cost:.6g}, {self.status}, gap {self.gap:.3g}, largest violation "
            f"{self.violation:.3g}, x of {self.x.size} coordinates)"
        )

    @property
    def comparator(self) -> str:
        """A description of the action that regret is measured against."""
        kept, scale = "satisfies every round", ""
        if any(unit != 1.0 for unit in self.units):
            scale = f", in units of {', '.join(f'{unit:g}' for unit in self.units)}"
        if self.budget > 0.0:
            kept = f"violates by at most {self.budget:.6g} in all{scale}"
        if self.status == "infeasible":
            return f"none: no fixed action {kept}"
        if self.gap == math.inf:
            return f"none yet: the search ended before it found a fixed action that {kept}"
        if self.budget == math.inf:
            return "the best fixed action, whatever the constraints say"
        if self.least:
            return (
                "the best fixed action of those that violate least, by "
                f"{self.ccv:.6g} in all{scale}; none satisfies every round"
            )
        return f"the best fixed action that {kept}"
