"""Learner, surrogate and policy: what each is asked for, and what it observes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from hedgerow.functions import Function
from hedgerow.inputs import Vector
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import Restorable

Seen = TypeVar("Seen", contravariant=True)
SeenCost = TypeVar("SeenCost", contravariant=True)
SeenConstraint = TypeVar("SeenConstraint", contravariant=True)
Told = TypeVar("Told")
Feedback = Callable[[Function, Vector], Any]
"""How a function is observed at a point: returns the feedback."""


class Player(Restorable, Protocol):
    """What a resumable policy and a learner share: `ask` is pure, all work happens in `tell`.

    A snapshot of it, restored, plays on bit for bit the same.
    """

    @property
    def decision_set(self) -> DecisionSet:
        """Where it plays."""
        ...

    @property
    def oracle_calls(self) -> int:
        """How many linear minimisations it has asked for."""
        ...

    @property
    def oblivious_only(self) -> bool:
        """Whether its guarantee fails against rounds that react to its decisions."""
        ...

    def ask(self) -> Vector:
        """Return the point to play now, as a fresh array."""
        ...


class Learner(Player, Protocol[Seen]):
    """Plays one sequence of losses."""

    def tell(self, loss: Seen, /) -> None:
        """Learn what was seen of the loss at the played point."""
        ...


class Policy(Protocol[SeenCost, SeenConstraint]):
    """Plays a constrained game: all that `play` and `simulate` need.

    `ask` is pure, all work happens in `tell`. What a policy has beyond that is used: `feedback`,
    how its rounds are observed (`first_order` if it is missing); `decision_set`, which must fit the
    problem's; `oracle_calls`, which the trace counts; and `oblivious_only`, by which it refuses
    problems that react to it.
    """

    def ask(self) -> Vector:
        """Return the point to play now, as a fresh array."""
        ...

    def tell(self, cost: SeenCost, constraint: SeenConstraint, /) -> None:
        """Learn what was observed of cost and constraint at the played point."""
        ...


class ResumablePolicy(Policy[SeenCost, SeenConstraint], Player, Protocol):
    """A policy that can be saved and restored, as all of this package can.

    `simulate_resumable`, live sessions and games in other processes need one.
    """

    @property
    def feedback(self) -> Feedback:
        """What it learns from, as a function of a round's function and the played point."""
        ...


class Surrogate(Restorable, Protocol[Told, SeenConstraint]):
    """Combines the cost and the constraint of a round into one loss, and sums the violation."""

    @property
    def largest_weight(self) -> float:
        """The largest weight on the constraint so far."""
        ...

    @property
    def price(self) -> float:
        """What the constraint added to the last loss."""
        ...

    @property
    def oracle_calls(self) -> int:
        """The number of linear minimisations that the surrogate itself has made."""
        ...

    def tell(self, cost: Told, constraint: SeenConstraint, /) -> Told:
        """Return the loss of this round, seen as the cost was."""
        ...
