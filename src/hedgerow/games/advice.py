"""Advice for games: who is asked, and what they propose in every round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.feedback import first_order
from hedgerow.inputs import Vector
from hedgerow.policies.advised import as_advice
from hedgerow.problems.problem import Problem, Round
from hedgerow.protocols.parts import Policy


class Adviser(Protocol):
    """Proposes decisions: a function of the rounds so far, or an object that is called like one."""

    def __call__(self, past: Sequence[Round], /) -> ArrayLike | None:
        """Return a point of the set for the next round, or None for no advice.

        Args:
            past: the rounds so far, (cost, constraint) each.

        """
        ...


OneAdvice = Adviser | Policy[Any, Any] | NDArray[np.float64]
"""An adviser, a policy that advises, or recorded points, a row for each round."""
GameAdvice = OneAdvice | Mapping[str, OneAdvice]
"""The advice for a game: of the only adviser, or of several by name."""


def record_advice(adviser: Adviser | Policy[Any, Any], problem: Problem) -> Vector:
    """Return what an adviser proposes in each round of a problem, one row for each round.

    Args:
        adviser: a function of the rounds before; or any policy, such as `last_round(X)`, which is
            played by itself and proposes its decisions. A row of NaN stands for no advice.
        problem: the rounds, which must not react to decisions.

    """
    if problem.adaptive:
        raise ValueError(
            f"{type(problem).__name__} reacts to the decisions, so that advice cannot be recorded "
            "beforehand; play round by round with policy.ask(advice=...)"
        )
    silent = np.full(problem.decision_set.dim, np.nan)
    rows: list[Any] = []
    if callable(adviser):
        past: list[Round] = []
        for functions in problem.rounds():
            proposed = adviser(past)
            rows.append(silent if proposed is None else proposed)
            past.append(functions)
    else:
        observe = getattr(adviser, "feedback", first_order)
        for cost, constraint in problem.rounds():
            x = adviser.ask()
            rows.append(x)
            adviser.tell(observe(cost, x), observe(constraint, x))
    return np.array(rows, dtype=np.float64)


def recorded_advice(advice: GameAdvice, names: tuple[str, ...], problem: Problem) -> Vector:
    """Return the advice of all advisers, checked: one row for each round, NaN for no advice."""
    if not isinstance(advice, Mapping):
        if len(names) > 1:
            raise ValueError(
                f"there are {len(names)} advisers; name whose advice this is, "
                f"advice={{{names[0]!r}: ...}}"
            )
        advice = {names[0]: advice}
    given = {
        name: one if isinstance(one, np.ndarray) else record_advice(one, problem)
        for name, one in advice.items()
    }
    X = problem.decision_set
    for name, rows in given.items():
        if rows.shape != (problem.horizon, X.dim):
            raise ValueError(
                f"the advice of {name!r} must have shape ({problem.horizon}, {X.dim}), a row for "
                f"each round, got {rows.shape}"
            )

    def of_round(t: int) -> Vector:
        rows = {name: rows[t] for name, rows in given.items()}
        return as_advice(
            {name: None if np.isnan(row).all() else row for name, row in rows.items()}, names, X
        )

    return np.array([of_round(t) for t in range(problem.horizon)])


@contextmanager
def following(
    policy: Any, problem: Problem, advice: GameAdvice | None, skip: int = 0
) -> Iterator[None]:
    """Let a policy take the advice of these advisers while a problem is played."""
    if advice is None:
        yield
        return
    names = getattr(policy, "advisers", ())
    if not names:
        raise TypeError(
            "this policy has no advisers; build it with some, such as "
            "projection_free_coco(X, advisers=['plan'])"
        )
    policy.follow(recorded_advice(advice, names, problem)[skip:])
    try:
        yield
    finally:
        policy.follow(None)
