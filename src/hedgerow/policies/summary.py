"""What a policy has done so far, in a few lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from hedgerow.protocols.limits import (
    LimitName,
    NamedLimit,
    as_limits,
    have_one_unit,
    names_of,
    numbered,
)
from hedgerow.snapshot import State

TOTALS = ("rounds", "cost", "ccv", "violated")
"""The numbers of a policy's state that its summary is made of."""


SHOWN = 3
"""How many binding rounds are printed."""


class Binding(NamedTuple):
    """A past round that holds the decision now.

    Attributes:
        round: its number, from 1 on.
        part: which part of the constraint, from 0 on.
        price: what one unit less of its violation would have cost in the last round.
        resemblance: how much it resembles the present rounds, from 0 to 1.

    >>> print(Binding(412, 0, 3.25, 1.0))
    round 412 at 3.25 per unit
    >>> print(Binding(412, 7, 3.25, 1.0))
    round 412 (part 8) at 3.25 per unit

    """

    round: int
    part: int
    price: float
    resemblance: float = 1.0

    def __str__(self) -> str:
        part = f" (part {self.part + 1})" if self.part else ""
        return f"round {self.round}{part} at {self.price:.4g} per unit"


@dataclass(frozen=True)
class AdviserTotals:
    """What an adviser proposed, in total.

    Costs and violations are those of the tangents at the decisions: the adviser's own where rounds
    are linear, else lower bounds of them.

    Attributes:
        name: of the adviser.
        weight: its share in a decision for which every adviser speaks.
        rounds: in how many rounds it spoke.
        cost: the sum of the costs of its proposals, at least.
        ccv: the sum of their violations, at least; None for several constraints.
        violated: in how many of these rounds its proposal violated a constraint, at least.

    >>> print(AdviserTotals("plan", 0.75, 40, 12.0, 0.5, 3))
    weight 75 %; spoke in 40 rounds: cost 0.3 per round, CCV 0.5, violated 3, each at least

    """

    name: str
    weight: float
    rounds: int
    cost: float
    ccv: float | None
    violated: int

    def __str__(self) -> str:
        ccv = "" if self.ccv is None else f" CCV {self.ccv:.4g},"
        return (
            f"weight {100.0 * self.weight:.3g} %; spoke in {self.rounds} rounds: cost "
            f"{self.cost / max(1, self.rounds):.4g} per round,{ccv} violated {self.violated}, "
            "each at least"
        )


@dataclass(frozen=True)
class Summary:
    """The totals of a policy's rounds.

    Attributes:
        rounds: how many there were.
        cost: the sum of the costs at the played points.
        ccv: the sum of max(0, constraint value) there; None for several constraints, whose units
            may differ.
        violated: in how many rounds a constraint was violated.
        weight: the last round's weight on the constraint, in units of cost per violation, which may
            be 0 in a round without a violation; None where the policy has no single one.
        largest_weight: the largest weight so far; None where it is not known, or where each of
            several constraints has one.
        oracle_calls: linear minimisations so far.
        projections: projections onto the set so far.
        ccv_each: the CCV of each constraint, where each has a queue of its own.
        largest_weight_each: the largest weight on each of them, in units of cost per violation.
        infeasible: whether no action satisfies the constraint in all rounds, by proof; False where
            that is not proved, or not looked for.
        limits: the name and the unit of each constraint, where `named` has given them.
        advisers: what each adviser proposed, for a policy that has some.
        largest_ccv: where several constraints count as their maximum, the sum of their largest
            violations; it is in a unit only if all have that one.
        binding: past rounds that hold the decision now, the dearest first.

    >>> print(Summary(200, 12.5, 0.75, 10, 0.5, 2.0, 201, 0))
    rounds             200
    total cost         12.5, 0.0625 per round
    CCV                0.75, in the constraint's unit
    violated           10 rounds, 5.0 %
    constraint weight  0.5 now, 2 at most
    oracle calls       201, 1 per round
    projections        0

    """

    rounds: int
    cost: float
    ccv: float | None
    violated: int
    weight: float | None
    largest_weight: float | None
    oracle_calls: int
    projections: int
    ccv_each: tuple[float, ...] = ()
    largest_weight_each: tuple[float, ...] = ()
    infeasible: bool = False
    limits: tuple[LimitName, ...] = ()
    advisers: tuple[AdviserTotals, ...] = ()
    largest_ccv: float | None = None
    binding: tuple[Binding, ...] = ()

    def of_several(self) -> Self:
        """Return the summary of one queue for several constraints, whose units may differ."""
        return replace(self, ccv=None, weight=None, largest_weight=None, largest_ccv=self.ccv)

    def plus(self, other: Summary, oracle_calls: int) -> Summary:
        """Return the totals of these rounds and of another policy's, which came after them."""
        ccv = None if self.ccv is None or other.ccv is None else self.ccv + other.ccv
        each = tuple(a + b for a, b in zip(self.ccv_each, other.ccv_each, strict=True))
        return replace(
            self,
            rounds=self.rounds + other.rounds,
            cost=self.cost + other.cost,
            ccv=ccv,
            violated=self.violated + other.violated,
            oracle_calls=oracle_calls,
            ccv_each=each,
        )

    def named(self, limits: Mapping[str, str] | Sequence[NamedLimit]) -> Summary:
        """Return the summary with a name and a unit for each of several constraints.

        With one queue for all of them there is a CCV only if all have one unit: that of the
        largest violation of each round.

        Args:
            limits: names with units, {"latency": "ms", "share": ""}, or `problem.limits`.

        """
        names = as_limits(limits) if isinstance(limits, Mapping) else names_of(limits)
        if self.ccv_each or len(names) == 1:
            return replace(self, limits=numbered(names, max(1, len(self.ccv_each))))
        if have_one_unit(names):
            return replace(
                self, ccv=self.largest_ccv if self.ccv is None else self.ccv, limits=names
            )
        return replace(self if self.ccv is None else self.of_several(), limits=names)

    @property
    def violated_share(self) -> float:
        """The share of rounds with a violation; 0 before the first round."""
        return self.violated / max(1, self.rounds)

    def __str__(self) -> str:
        lines = {name: text for name, text in self._lines().items() if text}
        width = max(map(len, lines))
        return "\n".join(f"{name:<{width}}  {text}" for name, text in lines.items())

    def _lines(self) -> dict[str, str]:
        """Return what is printed, by name; what is empty is left out."""
        rounds = max(1, self.rounds)
        of_any = ", of any constraint" if self.ccv is None or len(self.limits) > 1 else ""
        return {
            "rounds": f"{self.rounds}",
            "total cost": f"{self.cost:.6g}, {self.cost / rounds:.4g} per round",
            **self._violations(),
            "violated": f"{self.violated} rounds, {100.0 * self.violated_share:.1f} %{of_any}",
            "infeasible": "by proof, no action satisfies all rounds" * self.infeasible,
            "constraint weight": self._weights(),
            "oracle calls": f"{self.oracle_calls}, {self.oracle_calls / rounds:.3g} per round",
            "projections": f"{self.projections}",
            **{f"advice: {adviser.name}": str(adviser) for adviser in self.advisers},
            "held by": self._held_by(),
        }

    def _violations(self) -> dict[str, str]:
        if self.ccv is not None:
            unit = self.limits[0].unit if self.limits else ""
            largest = ", of the largest violation of each round" if len(self.limits) > 1 else ""
            in_unit = f" {unit}{largest}" if unit else ", in the constraint's unit"
            return {"CCV": f"{self.ccv:.6g}{in_unit}"}
        if not self.ccv_each:
            named = f" ({', '.join(map(str, self.limits))})" if self.limits else ""
            return {
                "CCV": f"none: one queue for several constraints{named}, whose units may differ"
            }
        if not self.limits:
            return {
                f"CCV of {k}": f"{ccv:.6g}, in the unit of constraint {k}"
                for k, ccv in enumerate(self.ccv_each, start=1)
            }
        return {
            f"CCV of {k}": f"{ccv:.6g} {limit.unit}".rstrip() + f", {limit.name}"
            for k, (ccv, limit) in enumerate(zip(self.ccv_each, self.limits, strict=True), start=1)
        }

    def _weights(self) -> str:
        if self.weight is None or self.largest_weight is None:
            return ""
        return f"{self.weight:.4g} now, {self.largest_weight:.4g} at most"

    def _held_by(self) -> str:
        shown = "; ".join(map(str, self.binding[:SHOWN]))
        more = len(self.binding) - SHOWN
        return f"{shown}; and {more} more" if more > 0 else shown


def add_round(state: State, cost: float, value: float) -> None:
    """Add a round with these values of cost and constraint to the totals."""
    violation = max(0.0, value)
    for name, more in zip(TOTALS, (1.0, cost, violation, violation > 0.0), strict=True):
        state[name][0] += more


def summary_of(
    state: State, weights: tuple[float | None, float | None], calls: int, projections: int
) -> Summary:
    """Return the summary of a state with totals; weights are the last and the largest."""
    rounds, cost, ccv, violated = (float(state[name][0]) for name in TOTALS)
    return Summary(int(rounds), cost, ccv, int(violated), *weights, calls, projections)
