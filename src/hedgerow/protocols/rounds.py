"""A policy whose rounds are played by the compiled loops."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from hedgerow.inputs import Vector
from hedgerow.kernels.policy_tables import CompiledStep
from hedgerow.kernels.rounds import play_convex_rounds, play_linear_rounds
from hedgerow.protocols.parts import Feedback


class CompiledRounds(ABC):
    """Plays chunks of rounds by the kernel of a policy, `play` of `kernels/rounds.py`."""

    feedback: Feedback
    """What its kernel sees of a round."""
    linear, convex = True, True
    """Whether it plays chunks of linear rounds, and of any functions that have kernels."""

    @abstractmethod
    def begin(self, rounds: Any, first: int, end: int) -> tuple[Any, int]:
        """Return the policy's table, and until where the loop may play from `first` on.

        Args:
            rounds: the chunk, linear or of functions.
            first: the first round to play.
            end: where the chunk ends.

        """

    @abstractmethod
    def finish(self, played: int) -> None:
        """Do what remains after the loop has played this many rounds."""

    def play(self, chunk: Any, first: int, seen: Vector) -> int:
        """Play linear rounds from `first` on; return the first one that Python must play.

        Costs and violations go to the two rows of `seen`.
        """

        def loop(policy: Any, first: int, end: int) -> int:
            costs, constraints = chunk.costs, chunk.constraints
            offsets, limits = chunk.cost_offsets, chunk.constraint_offsets
            return play_linear_rounds(policy, costs, offsets, constraints, limits, first, end, seen)

        return self._play(loop, chunk, first, len(chunk.costs))

    def play_convex(self, functions: Any, first: int, seen: Vector, each: Vector) -> int:
        """Play rounds of any functions likewise; `each` has a row for each constraint."""

        def loop(policy: Any, first: int, end: int) -> int:
            return play_convex_rounds(policy, functions.table, first, end, seen, each)

        return self._play(loop, functions, first, functions.rounds)

    def _play(self, loop: Callable[[Any, int, int], int], rounds: Any, first: int, end: int) -> int:
        while first < end:
            policy, until = self.begin(rounds, first, end)
            if until <= first:
                break
            stopped = loop(policy, first, until)
            self.finish(stopped - first)
            first = stopped
            if stopped < until:
                break
        return first


def compiled_step(learner: Any) -> CompiledStep | None:
    """Return a learner's step as compiled code sees it; None where it has none."""
    make = getattr(learner, "compiled_step", None)
    return None if make is None else make()
