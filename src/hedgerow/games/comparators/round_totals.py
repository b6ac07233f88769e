"""What one pass over the rounds tells about an action, whatever the rounds are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from hedgerow.games.comparators.cuts import Cuts, Numbers
from hedgerow.inputs import Vector

TOLERANCE = 1e-9
"""Constraint values up to this share of the largest coefficient count as kept."""
NEW_CUTS = 100
"""At most this many violated rounds join the model at a time, or as many as it has."""

NEW_TANGENTS = 8
"""The same for curved constraints, of which each round has no end of tangents."""


class Evaluation(NamedTuple):
    """An action x as all rounds see it.

    Attributes:
        x: the action.
        cost: its total cost.
        slope: a subgradient of the total cost there.
        worst: its largest constraint value.
        total: the sum of its positive constraint values.
        broken: the number of rounds with one.
        cuts: the constraints that are furthest above what was known of them.

    """

    x: Vector
    cost: float
    slope: Vector
    worst: float
    total: float
    broken: int
    cuts: Cuts

    def tangent(self) -> Cuts:
        """Return the tangent of the total cost, as one cut."""
        nobody = np.full(1, -1)
        offset = np.array([self.cost - float(self.slope @ self.x)])
        return Cuts(self.slope[None, :], offset, nobody, nobody)


class Rounds(ABC):
    """The rounds of a game, to be passed over again and again.

    Attributes:
        dim: the number of coordinates.
        horizon: the number of the last round.
        tolerance: constraint values up to this count as kept.
        curved: whether the total cost is not linear.
        finite: whether finitely many cuts describe all constraints.

    """

    dim: int
    horizon: int
    tolerance: float
    curved: bool
    finite: bool

    @abstractmethod
    def cost_at(self, x: Vector) -> tuple[float, Vector]:
        """Return the total cost of x and a subgradient there."""

    @abstractmethod
    def evaluate(self, x: Vector, known: Vector, loaded: Numbers) -> Evaluation:
        """Pass over the rounds once.

        Args:
            x: the action.
            known: by round number, what is already known of its constraint at x.
            loaded: numbers of the linear rows that are known exactly.

        """


def top_k(excess: Vector, most: int = NEW_CUTS) -> Numbers:
    """Return the places of the largest entries, the first of equal ones first."""
    return np.argsort(-excess, kind="stable")[:most]
