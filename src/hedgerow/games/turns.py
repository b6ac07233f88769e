"""The game loop as an iterator, which everything else consumes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hedgerow.feedback import first_order
from hedgerow.functions import Function, parts_of
from hedgerow.problems.problem import Problem
from hedgerow.protocols.late_feedback import signature_of
from hedgerow.protocols.parts import Feedback, Policy
from hedgerow.protocols.trace import Step


def play(
    policy: Policy[Any, Any], problem: Problem, feedback: Feedback | None = None
) -> Iterator[Step]:
    """Play a problem round by round and yield what happened.

    Args:
        policy: anything with `ask` and `tell`; see `Policy`.
        problem: the rounds.
        feedback: what the policy observes of cost and constraint; left out, `policy.feedback`, or
            `first_order` if it has none.

    Yields:
        `Step(t, x, cost, violation, each)`: the round from 1 on, x_t, f_t(x_t), g_t(x_t), and the
        value of each constraint where there are several.

    """
    check_match(policy, problem)
    observe = feedback_of(policy) if feedback is None else feedback
    rounds = enumerate(problem.rounds(policy), start=1)
    return (turn(policy, t, *functions, observe) for t, functions in rounds)


def feedback_of(policy: Policy[Any, Any]) -> Feedback:
    """Return how the policy observes its rounds: to first order unless it has a `feedback`."""
    observe: Feedback = getattr(policy, "feedback", first_order)
    return observe


def turn(
    policy: Policy[Any, Any], t: int, cost: Function, constraint: Function, feedback: Feedback
) -> Step:
    """Play one round."""
    x = policy.ask()
    policy.tell(feedback(cost, x), feedback(constraint, x))
    each = tuple(part(x) for part in parts_of(constraint))
    return Step(t, x, cost(x), max(each), each if len(each) > 1 else None)


def _takes_two(tell: Callable[..., object]) -> bool:
    """Whether it can be called with cost and constraint."""
    try:
        signature_of(tell).bind(None, None)
    except TypeError:
        return False
    return True


def check_match(policy: Policy[Any, Any], problem: Problem) -> None:
    """Refuse a problem that the policy cannot play."""
    if not hasattr(policy, "ask") or not hasattr(policy, "tell"):
        name = getattr(policy, "__name__", "") if callable(policy) else ""
        build = f" itself; build one with {name}(problem.decision_set)" if name else ""
        given = name or repr(policy)[:60]
        raise TypeError(f"a game needs a policy, with ask and tell, got {given}{build}")
    if not _takes_two(policy.tell):
        kind = type(policy).__name__
        raise TypeError(
            f"a game needs a policy, whose tell takes cost and constraint, got the learner {kind}; "
            "make it one with Constrained(learner, surrogate)"
        )
    if not isinstance(problem, Problem):
        raise TypeError(
            f"play needs a Problem, got a {type(problem).__name__}; "
            "rounds of your own become one with Recorded(decision_set, rounds)"
        )
    X = problem.decision_set
    own = getattr(policy, "decision_set", None)
    dim = policy.ask().size if own is None else own.dim
    if dim != X.dim:
        raise ValueError(
            f"the policy plays in dimension {dim}, the problem in {X.dim}; build the policy on "
            "problem.decision_set"
        )
    if own is not X and not X.contains(policy.ask()):
        where = "" if own is None else f", as it plays on a {type(own).__name__} of its own"
        raise ValueError(
            f"the policy's first decision lies outside the problem's {type(X).__name__}{where}; "
            "build the policy on problem.decision_set"
        )
    if problem.adaptive and getattr(policy, "oblivious_only", False):
        raise ValueError(
            f"{type(problem).__name__} reacts to the plays, and a policy with "
            f"{type(getattr(policy, 'learner', policy)).__name__} needs rounds that are fixed "
            "beforehand; choose another policy or problem"
        )
