"""The rounds of a problem that reacts, kept for its benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hedgerow.problems.problem import Problem, Round
from hedgerow.protocols.parts import Policy


@dataclass(eq=False)
class RecordingProblem(Problem):
    """A problem that reacts, with a memory of the rounds that it showed.

    Args:
        problem: the one that reacts.
        seen: the rounds so far.

    """

    problem: Problem
    seen: list[Round] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.decision_set, self.horizon = self.problem.decision_set, self.problem.horizon

    @property
    def adaptive(self) -> bool:
        """Yes."""
        return True

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:
        """Yield the rounds and keep them."""
        for shown in self.problem.rounds(policy):
            self.seen.append(shown)
            yield shown
