"""The game loop, as an iterator; everything else consumes it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from hedgerow.feedback import first_order
from hedgerow.functions import Function
from hedgerow.inputs import Vector
from hedgerow.protocols.parts import Policy
from hedgerow.protocols.problem import Problem
from hedgerow.protocols.trace import Step, Trace


def play(
    policy: Policy[Any, Any],
    problem: Problem,
    feedback: Callable[[Function, Vector], Any] = first_order,
) -> Iterator[Step]:
    """Play a problem round by round and yield what happened.

    Args:
        policy: who plays.
        problem: the rounds.
        feedback: what the policy may see of cost and constraint; a policy for bandit feedback
            gets a function that shows values alone.

    Yields:
        `Step(t, x, cost, violation)`: the round from 1 on, x_t, f_t(x_t) and g_t(x_t).

    """
    if not isinstance(problem, Problem):
        raise TypeError(
            f"play needs a Problem, got a {type(problem).__name__}; "
            "rounds of your own become one with Recorded(decision_set, rounds)"
        )
    if policy.decision_set.dim != problem.decision_set.dim:
        raise ValueError(
            f"the policy plays in dimension {policy.decision_set.dim}, the problem in "
            f"{problem.decision_set.dim}; build the policy on problem.decision_set"
        )
    if problem.adaptive and policy.oblivious_only:
        raise ValueError(
            f"{type(problem).__name__} reacts to the plays, and a policy with "
            f"{type(getattr(policy, 'learner', policy)).__name__} is only safe when rounds are "
            "fixed beforehand; choose another policy or problem"
        )
    return _rounds(policy, problem, feedback)


def _rounds(
    policy: Policy[Any, Any], problem: Problem, feedback: Callable[[Function, Vector], Any]
) -> Iterator[Step]:
    for t, (cost, constraint) in enumerate(problem.rounds(policy), start=1):
        x = policy.ask()
        policy.tell(feedback(cost, x), feedback(constraint, x))
        yield Step(t, x, cost(x), constraint(x))


def simulate(
    policy: Policy[Any, Any],
    problem: Problem,
    feedback: Callable[[Function, Vector], Any] = first_order,
) -> Trace:
    """Play a problem to its end and return the record, with oracle calls and time.

    Args:
        policy: who plays.
        problem: the rounds.
        feedback: what the policy may see, as in `play`.

    """
    calls, begin = policy.oracle_calls, time.perf_counter()
    trace = Trace.of(play(policy, problem, feedback))
    return replace(
        trace, oracle_calls=policy.oracle_calls - calls, seconds=time.perf_counter() - begin
    )
