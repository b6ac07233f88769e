"""A problem: a decision set and the rounds that are played on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

from hedgerow.functions import Function, Linear
from hedgerow.inputs import Vector, as_count
from hedgerow.protocols.parts import Policy
from hedgerow.sets.decision_set import DecisionSet
from hedgerow.showing import ShownShort

Round = tuple[Function, Function]


class LinearChunk(NamedTuple):
    """k linear rounds as arrays: f_t(x) = <costs[t], x> + cost_offsets[t], and so for g_t."""

    costs: Vector
    cost_offsets: Vector
    constraints: Vector
    constraint_offsets: Vector

    def rounds(self) -> Iterator[Round]:
        """Yield the rounds one by one."""
        for a, b, c, d in zip(*self, strict=True):
            yield Linear(a, float(b)), Linear(c, float(d))


class Problem(ShownShort, ABC):
    """A sequence of rounds (cost, constraint), drawn from one seed or made by an adversary.

    An oblivious problem can be iterated again and again with the same result. An adaptive one
    looks at the policy's next play and must be given it.

    Attributes:
        decision_set: where the game is played.
        horizon: the number of rounds.

    """

    decision_set: DecisionSet
    horizon: int

    @property
    def adaptive(self) -> bool:
        """Whether the rounds react to the plays."""
        return False

    @abstractmethod
    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:
        """Yield (cost, constraint) for each round; an adaptive problem needs the policy."""

    def _in_short(self) -> str:
        return f"{self.horizon} rounds on {self.decision_set!r}"

    def __iter__(self) -> Iterator[Round]:
        if self.adaptive:
            raise TypeError(
                f"{type(self).__name__} reacts to the plays, so it cannot be iterated alone; "
                "use play(policy, problem)"
            )
        return self.rounds()


class LinearProblem(Problem):
    """An oblivious problem whose rounds are linear and come in chunks of arrays."""

    @abstractmethod
    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time; the rounds are the same for every size."""

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:  # noqa: ARG002
        """Yield the rounds one by one."""
        for chunk in self.chunks():
            yield from chunk.rounds()


def chunk_lengths(horizon: int, size: int) -> Iterator[int]:
    """Yield the lengths of the chunks that make up a horizon.

    >>> list(chunk_lengths(7, 3))
    [3, 3, 1]
    """
    size = as_count(size, "the chunk size")
    for done in range(0, horizon, size):
        yield min(size, horizon - done)


def needs_policy(policy: Policy[Any, Any] | None, problem: Problem) -> Policy[Any, Any]:
    """Return the policy that an adaptive problem reacts to, or say that it is missing."""
    if policy is None:
        raise TypeError(
            f"{type(problem).__name__} reacts to the plays; use rounds(policy) or "
            "play(policy, problem)"
        )
    return policy
