"""The best fixed action in hindsight, with proof."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow.inputs import Vector


@dataclass(frozen=True, eq=False)
class Benchmark:
    """The best fixed action that keeps the constraint in every round.

    Attributes:
        x: the action.
        cost: its total cost over all rounds.
        lower_bound: a proved lower bound of the total cost of every such action.
        gap: cost - lower_bound; zero means that x is proved optimal.
        status: "optimal", or "infeasible" when no fixed action keeps every round's constraint.
        violation: the largest constraint value of x over the rounds; at most the tolerance when
            optimal.

    """

    x: Vector
    cost: float
    lower_bound: float
    gap: float
    status: str
    violation: float
