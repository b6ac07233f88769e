"""Rounds that you already have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from hedgerow.functions import Function, Linear, Maximum
from hedgerow.problems.problem import LinearChunk, Problem, Round
from hedgerow.protocols.parts import Policy
from hedgerow.sets.decision_set import DecisionSet

GivenRound = tuple[Function, Function | Sequence[Function]]
"""A cost, and a constraint or several."""


class Recorded(Problem):
    """A problem made of given rounds: your own data, or a game recorded earlier.

    Args:
        decision_set: where the game is played.
        rounds: pairs (cost, constraint) of convex functions. Several constraints may be given as a
            sequence of functions: the round's constraint is their `Maximum`, which keeps the parts.

    >>> from hedgerow.functions import Linear
    >>> from hedgerow.sets.simplices import Simplex
    >>> problem = Recorded(Simplex(2), [(Linear([1.0, 0.0]), Linear([0.0, 1.0], -0.5))])
    >>> problem.horizon
    1
    >>> caps = [Linear([1.0, 0.0], -0.7), Linear([0.0, 1.0], -0.6)]
    >>> ((_, constraint),) = Recorded(Simplex(2), [(Linear([1.0, 0.0]), caps)])
    >>> constraint.parts == tuple(caps)
    True

    """

    def __init__(self, decision_set: DecisionSet, rounds: Iterable[GivenRound]):
        self.decision_set = decision_set
        self._rounds = tuple(_checked(given, t) for t, given in enumerate(rounds, start=1))
        if not self._rounds:
            raise ValueError("there are no rounds; give at least one pair (cost, constraint)")
        self.horizon = len(self._rounds)

    def chunks(self, size: int = 256) -> Iterator[LinearChunk] | None:
        """Return the rounds as arrays, `size` at a time, or None if one is not linear."""
        functions = [f for functions in self._rounds for f in functions]
        linear = [f for f in functions if isinstance(f, Linear)]
        if len(linear) < len(functions) or not functions:
            return None
        return (one_chunk(linear[i : i + 2 * size]) for i in range(0, len(linear), 2 * size))

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:  # noqa: ARG002
        """Yield the given rounds."""
        return iter(self._rounds)


def _checked(given: Any, t: int) -> Round:
    """Return a round as two functions."""
    if not isinstance(given, list | tuple) or len(given) != 2:
        entries = f"{len(given)} entries" if isinstance(given, list | tuple) else repr(given)[:60]
        raise TypeError(
            f"round {t} must be a pair (cost, constraint), got {entries}; several constraints are "
            "one sequence: (cost, [first, second])"
        )
    cost, constraint = given
    each = constraint if isinstance(constraint, list | tuple) else (constraint,)
    for name, function in (("cost", cost), *(("constraint", one) for one in each)):
        if not isinstance(function, Function):
            raise TypeError(
                f"the {name} of round {t} must be a function with a value f(x) and a subgradient "
                f"f.grad(x), such as Linear(coefficients), got {function!r:.60}"
            )
    return cost, _one(constraint, t)


def _one(constraint: Function | Sequence[Function], t: int) -> Function:
    """Return a round's constraint as one function."""
    if not isinstance(constraint, list | tuple):
        return cast(Function, constraint)
    if not constraint:
        raise ValueError(
            f"round {t} has an empty sequence of constraints; give at least one function, one that "
            "is zero where there is nothing to keep"
        )
    return constraint[0] if len(constraint) == 1 else Maximum(constraint)


def one_chunk(functions: Sequence[Linear]) -> LinearChunk:
    """Return rounds as arrays, given cost, constraint, cost, constraint and so on."""
    parts = (functions[0::2], functions[1::2])
    rows, offsets = zip(
        *(
            (np.array([f.coefficients for f in part]), np.array([f.offset for f in part]))
            for part in parts
        ),
        strict=True,
    )
    return LinearChunk(rows[0], offsets[0], rows[1], offsets[1])
