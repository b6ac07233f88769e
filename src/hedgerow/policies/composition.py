"""A policy made of a learner and a surrogate."""

from __future__ import annotations

from abc import ABC
from typing import Generic, TypeVar

from hedgerow.inputs import Vector
from hedgerow.protocols.parts import Learner, Surrogate
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Stateful

SeenCost = TypeVar("SeenCost")
SeenConstraint = TypeVar("SeenConstraint")


class Composition(ABC, Generic[SeenCost, SeenConstraint]):
    """The surrogate makes one loss a round, the learner plays it.

    Args:
        learner: plays one sequence of losses.
        surrogate: turns cost and constraint into the loss.

    """

    def __init__(self, learner: Learner[SeenCost], surrogate: Surrogate[SeenCost, SeenConstraint]):
        self.learner = learner
        self.surrogate = surrogate

    @property
    def decision_set(self) -> DecisionSet:
        """The learner's."""
        return self.learner.decision_set

    @property
    def oracle_calls(self) -> int:
        """The learner's and the surrogate's."""
        return self.learner.oracle_calls + self.surrogate.oracle_calls

    @property
    def projections(self) -> int:
        """The learner's projections onto the set; 0 where it never projects."""
        return int(getattr(self.learner, "projections", 0))

    @property
    def oblivious_only(self) -> bool:
        """Whether the learner's guarantee fails against an adversary that reacts."""
        return self.learner.oblivious_only

    def ask(self) -> Vector:
        """Return the learner's play."""
        return self.learner.ask()

    @property
    def _parts(self) -> dict[str, Stateful]:
        return {"learner": self.learner, "surrogate": self.surrogate}
