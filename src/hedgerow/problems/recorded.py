"""Rounds that you already have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from hedgerow.protocols.parts import Policy
from hedgerow.protocols.problem import Problem, Round
from hedgerow.sets.decision_set import DecisionSet


class Recorded(Problem):
    """A problem made of given rounds: your own data, or a game recorded earlier.

    Args:
        decision_set: where the game is played.
        rounds: pairs (cost, constraint) of convex functions.

    >>> from hedgerow.functions import Linear
    >>> from hedgerow.sets.simplices import Simplex
    >>> problem = Recorded(Simplex(2), [(Linear([1.0, 0.0]), Linear([0.0, 1.0], -0.5))])
    >>> problem.horizon
    1

    """

    def __init__(self, decision_set: DecisionSet, rounds: Iterable[Round]):
        self.decision_set = decision_set
        self._rounds = tuple(rounds)
        self.horizon = len(self._rounds)

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:  # noqa: ARG002
        """Yield the given rounds."""
        return iter(self._rounds)
