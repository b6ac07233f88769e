"""Late feedback: which parts accept it, and which points it may be about."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from types import MethodType
from typing import Any, Protocol, TypeGuard

import numpy as np

from hedgerow.inputs import Vector, as_vector, squared_norm
from hedgerow.sets.decision_set import DecisionSet


class TakesLate(Protocol):
    """A policy or surrogate whose `tell` accepts the point that feedback is about."""

    def tell(self, cost: Any, constraint: Any, /, *, at: Vector | None = None) -> Any:
        """Learn what was seen at a point; left out, it is the present play."""
        ...


class Plays(Protocol):
    """A part with a present play."""

    def ask(self) -> Vector:
        """Return the point to play now."""
        ...


def signature_of(method: Callable[..., object]) -> inspect.Signature:
    """Return the signature of a bound method, or of whatever else can be called."""
    if isinstance(method, MethodType):
        return _of_function(method.__func__)
    return inspect.signature(method)


@functools.lru_cache(maxsize=256)
def _of_function(function: Callable[..., object]) -> inspect.Signature:
    return inspect.signature(MethodType(function, function))  # bound to anything


def takes_late(part: object) -> TypeGuard[TakesLate]:
    """Whether the part's `tell` has an argument `at`."""
    return "at" in signature_of(part.tell).parameters  # type: ignore[attr-defined]


def reach_of(decision_set: DecisionSet, play: Vector) -> float:
    """Return a number that is at least the norm of any point of the set."""
    return math.sqrt(squared_norm(play)) + decision_set.diameter


def as_play(at: Vector, decision_set: DecisionSet, play: Vector) -> Vector:
    """Return an earlier play, or refuse a point that is farther away than the set reaches.

    Args:
        at: the point that feedback is about.
        decision_set: where it was played.
        play: any point of the set, such as the present play.

    """
    point = as_vector(at, "the point that feedback is about", decision_set)
    if math.sqrt(squared_norm(point)) > reach_of(decision_set, play) * (1.0 + 1e-9):
        raise ValueError(
            f"feedback must be about a point that was played, got one outside of {decision_set!r}; "
            "give `at` as ask() returned it"
        )
    return point


def refuse_late(player: Plays, at: Vector | None) -> None:
    """Refuse feedback about another point than the present play, before anything changes."""
    if at is not None and not np.array_equal(at, player.ask()):
        raise ValueError(
            f"a {type(player).__name__} learns from its present play alone, and has moved since "
            "this decision; tell each decision before the next feedback"
        )
