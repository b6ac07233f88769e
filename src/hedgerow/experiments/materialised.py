"""The rounds of a problem drawn before the game, so that a game's time is the method's alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hedgerow.problems.problem import LinearChunk, LinearProblem, Problem, Round
from hedgerow.problems.recorded import Recorded
from hedgerow.protocols.parts import Policy

ROOM = 2**28
"""Octets that the coefficients of drawn rounds may take; larger games draw while they run."""


class Materialised(LinearProblem):
    """Linear rounds kept in memory, as arrays and as functions.

    Args:
        problem: where the rounds come from.

    """

    def __init__(self, problem: LinearProblem):
        self.decision_set, self.horizon = problem.decision_set, problem.horizon
        parts = zip(*problem.chunks(), strict=True)
        self._whole = LinearChunk(*(np.concatenate(part) for part in parts))
        self._rounds = tuple(self._whole.rounds())

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        for i in range(0, self.horizon, size):
            yield LinearChunk(*(part[i : i + size] for part in self._whole))

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:  # noqa: ARG002
        """Yield the rounds one by one."""
        return iter(self._rounds)


def materialised(problem: Problem) -> Problem:
    """Return the same rounds drawn beforehand, where they are fixed and there is room for them."""
    octets = 2 * 8 * problem.horizon * problem.decision_set.dim
    if problem.adaptive or octets > ROOM:
        return problem
    if isinstance(problem, LinearProblem):
        return Materialised(problem)
    return Recorded(problem.decision_set, problem)
