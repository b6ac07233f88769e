"""What simple rules share: a decision, and a count of oracle calls."""

from __future__ import annotations

from hedgerow.inputs import Vector
from hedgerow.protocols.player import StatefulPlayer
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.snapshot import State


class SimpleRule(StatefulPlayer):
    """A rule that a person could follow; it begins at the set's start.

    Args:
        decision_set: where to play.
        numbers: names and sizes of what it remembers, beside the decision.

    """

    oblivious_only = False

    def __init__(self, decision_set: DecisionSet, numbers: dict[str, int]):
        self.decision_set = decision_set
        self._state = State(x=decision_set.dim, **numbers, calls=1)
        self._state["x"][:] = decision_set.start()

    @property
    def oracle_calls(self) -> int:
        """How many linear minimisations it has asked for."""
        return int(self._state["calls"][0])

    def ask(self) -> Vector:
        """Return the decision."""
        return self._state["x"].copy()

    def _lmo(self, direction: Vector) -> Vector:
        """Return the oracle's answer, and count it."""
        self._state["calls"][0] += 1.0
        return self.decision_set.lmo(direction)
