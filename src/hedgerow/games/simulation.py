"""Games: `play` round by round, `simulate` to the end, compiled where every part has kernels."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from hedgerow.feedback import first_order, first_order_each
from hedgerow.functions import Function, parts_of
from hedgerow.games.advice import GameAdvice, following
from hedgerow.inputs import as_count
from hedgerow.problems.compiled_rounds import CompiledChunk
from hedgerow.problems.problem import LinearChunk, LinearProblem, Problem, RecordedProblem
from hedgerow.protocols.late_feedback import signature_of
from hedgerow.protocols.parts import Feedback, Policy
from hedgerow.protocols.rounds import CompiledRounds
from hedgerow.protocols.trace import Step, Trace

CHUNK_ENTRIES = 2**16
"""About how many cost coefficients come at a time: half a MiB, so that they stay in the cache."""
LONGEST_CHUNK = 2**12
Played = TypeVar("Played")


def play(
    policy: Policy[Any, Any],
    problem: Problem,
    feedback: Feedback | None = None,
    *,
    advice: GameAdvice | None = None,
) -> Iterator[Step]:
    """Play a problem round by round and yield what happened.

    Args:
        policy: anything with `ask` and `tell`; see `Policy`.
        problem: the rounds.
        feedback: what the policy observes of cost and constraint; left out, `policy.feedback`, or
            `first_order` if it has none.
        advice: for a policy with advisers: a policy or a function of the rounds so far that
            advises, recorded points, or a mapping of such by name.

    Yields:
        `Step(t, x, cost, violation, each)`: the round from 1 on, x_t, f_t(x_t), g_t(x_t), and the
        value of each constraint where there are several.

    """
    check_match(policy, problem)
    observe = feedback_of(policy) if feedback is None else feedback
    rounds = enumerate(problem.rounds(policy), start=1)
    steps = (turn(policy, t, *functions, observe) for t, functions in rounds)
    return _advised(policy, problem, advice, 0, steps)


def _advised(
    policy: Policy[Any, Any],
    problem: Problem,
    advice: GameAdvice | None,
    skip: int,
    played: Iterator[Played],
) -> Iterator[Played]:
    """Yield what is played, with the advice of these advisers."""
    with following(policy, problem, advice, skip):
        yield from played


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
    """Refuse a problem that the policy cannot play; tell the policy whether it has one unit."""
    if not hasattr(policy, "ask") or not hasattr(policy, "tell"):
        name = getattr(policy, "__name__", "") if callable(policy) else ""
        build = f" itself; build one with {name}(problem.decision_set)" if name else ""
        given = name or repr(policy)[:60]
        raise TypeError(f"a game needs a policy, with ask and tell, got {given}{build}")
    if not _takes_two(policy.tell):
        kind = type(policy).__name__
        raise TypeError(
            f"a game needs a policy, whose tell takes cost and constraint, got the learner {kind}; "
            "make it one with ConstrainedPolicy(learner, surrogate)"
        )
    if not isinstance(problem, Problem):
        raise TypeError(
            f"play needs a Problem, got a {type(problem).__name__}; "
            "rounds of your own become one with RecordedProblem(decision_set, rounds)"
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
    take_units = getattr(policy, "take_units", None)
    if take_units is not None:
        take_units(problem.one_unit)


def simulate(
    policy: Policy[Any, Any],
    problem: Problem,
    feedback: Feedback | None = None,
    *,
    advice: GameAdvice | None = None,
) -> Trace:
    """Play a problem to its end and return the record, with oracle calls and time.

    The game runs in one compiled loop if every part of the policy and its rounds have kernels.
    Rounds with kernels are linear, quadratic, maxima of these, and those of problems that define
    their own. Otherwise `play` runs it; `Trace.compiled` says which. Costs, violations and the
    policy afterwards are the same, bit for bit.

    Args:
        policy: anything with `ask` and `tell`; it goes on from where it is.
        problem: the rounds.
        feedback: what the policy observes; left out, `policy.feedback`.
        advice: as `play` has it. It is recorded before the game, by `record_advice`.

    """
    return Trace.joined(simulate_chunks(policy, problem, feedback, advice=advice))


def simulate_chunks(
    policy: Policy[Any, Any],
    problem: Problem,
    feedback: Feedback | None = None,
    *,
    size: int | None = None,
    skip: int = 0,
    advice: GameAdvice | None = None,
) -> Iterator[Trace]:
    """Play a problem and yield the record of each chunk of rounds.

    Between two chunks `state()` of a `ResumablePolicy` may be stored; a policy restored from it
    plays the rest with `skip`, bit for bit. The decisions do not depend on the size.

    Args:
        policy: anything with `ask` and `tell`; it goes on from where it is.
        problem: the rounds.
        feedback: what the policy observes; left out, `policy.feedback`.
        size: how many rounds make a chunk; left out, about half a MiB of costs.
        skip: how many rounds of the problem were played before. A problem that reacts to decisions
            takes none, unless its rule is a kernel, which knows the present decision alone.
        advice: as `play` has it.

    """
    traces = _timed(policy, _chunks(policy, problem, feedback, size, skip))
    traces = _advised(policy, problem, advice, skip, traces)
    return (trace.named_by(problem) for trace in traces)


def _chunks(
    policy: Policy[Any, Any],
    problem: Problem,
    feedback: Feedback | None,
    size: int | None,
    skip: int,
) -> Iterator[Trace]:
    """Choose the quickest loop that plays these rounds, and play them."""
    check_match(policy, problem)
    observe = feedback_of(policy) if feedback is None else feedback
    fitting = min(LONGEST_CHUNK, max(1, CHUNK_ENTRIES // problem.decision_set.dim))
    size = fitting if size is None else as_count(size, "the chunk size")
    skip = as_count(skip, "skip", least=0)
    if skip > 0 and problem.adaptive and problem.compiled_rounds(size) is None:
        raise ValueError(
            f"skip={skip} leaves out rounds that {type(problem).__name__} may remember, as it "
            "reacts to the plays; play it from its first round"
        )
    # Linear rows are the quickest; a policy without a linear loop plays them as functions.
    make = getattr(policy, "compiled_rounds", None)
    compiled: CompiledRounds | None = None if make is None else make(observe)
    if compiled is not None:
        linear = _linear_chunks(problem, size)
        if linear is not None and compiled.linear:
            chunks = _after(linear, skip)
            return (_play(policy, compiled, observe, part) for part in chunks)
        if linear is not None:
            convex: Iterator[CompiledChunk] | None = (chunk.compiled() for chunk in linear)
        else:
            convex = problem.compiled_rounds(size) if compiled.convex else None
        if convex is not None:
            parts = _rest(convex, skip)
            return (_play_convex(policy, compiled, observe, part) for part in parts)
    return _by_turns(policy, problem, observe, size, skip)


def _by_turns(
    policy: Policy[Any, Any], problem: Problem, feedback: Feedback, size: int, skip: int
) -> Iterator[Trace]:
    if skip == 0:
        steps = play(policy, problem, feedback)
    else:
        rounds = itertools.islice(problem.rounds(policy), skip, None)
        steps = (turn(policy, t, *f, feedback) for t, f in enumerate(rounds, start=skip + 1))
    while (trace := Trace.of(itertools.islice(steps, size))).costs.size:
        yield trace


def _linear_chunks(problem: Problem, size: int) -> Iterator[LinearChunk] | None:
    """Return the rounds as arrays, if they are linear and known beforehand."""
    if isinstance(problem, LinearProblem) and not problem.adaptive:
        return problem.chunks(size)
    return problem.chunks(size) if isinstance(problem, RecordedProblem) else None


def _after(chunks: Iterator[LinearChunk], skip: int) -> Iterator[LinearChunk]:
    """Leave out the first `skip` rounds."""
    for chunk in chunks:
        left_out = min(skip, len(chunk.costs))
        skip -= left_out
        if left_out < len(chunk.costs):
            yield LinearChunk(*(np.ascontiguousarray(part[left_out:]) for part in chunk))


def _play(
    policy: Policy[Any, Any],
    compiled: CompiledRounds,
    observe: Feedback,
    chunk: LinearChunk,
) -> Trace:
    """Play a chunk by the compiled loop; rounds that it leaves to Python go through `turn`."""
    k = len(chunk.costs)
    seen = np.empty((2, k))
    done = 0
    while (done := compiled.play(chunk, done, seen)) < k:
        one = LinearChunk(*(part[done : done + 1] for part in chunk))
        ((cost, constraint),) = one.rounds()
        seen[:, done] = turn(policy, done, cost, constraint, observe)[2:4]
        done += 1
    return Trace(seen[0], seen[1], compiled=True)


def _rest(chunks: Iterator[CompiledChunk], skip: int) -> Iterator[CompiledChunk]:
    """Leave out the first `skip` rounds."""
    for chunk in chunks:
        left_out = min(skip, chunk.rounds)
        skip -= left_out
        if left_out < chunk.rounds:
            yield chunk.after(left_out) if left_out else chunk


def _play_convex(
    policy: Policy[Any, Any],
    compiled: CompiledRounds,
    observe: Feedback,
    chunk: CompiledChunk,
) -> Trace:
    """Play a chunk of convex rounds; those that the loop leaves to Python go through `turn`."""
    if chunk.costs is None or chunk.constraints is None:
        pairs = (chunk.functions(r, policy.ask()) for r in range(chunk.rounds))
        return Trace.of(turn(policy, r, *pair, observe) for r, pair in enumerate(pairs))
    k, parts = chunk.rounds, chunk.constraints.parts
    alike = int(parts[0]) if (parts == parts[0]).all() and parts[0] > 1 else 0
    seen, each, done = np.empty((2, k)), np.empty((alike, k)), 0
    functions = chunk.functions_on(policy.ask().size, observe is first_order_each)
    while (done := compiled.play_convex(functions, done, seen, each)) < k:
        step = turn(policy, done, *chunk.functions(done, policy.ask()), observe)
        seen[:, done] = step[2:4]
        if alike:
            each[:, done] = step.each
        done += 1
    return Trace(seen[0], seen[1], compiled=True, violations_each=each if alike else None)


def _timed(policy: Policy[Any, Any], traces: Iterator[Trace]) -> Iterator[Trace]:
    """Add the time to each record, and the oracle calls of a policy that counts them."""
    before, begin = getattr(policy, "oracle_calls", None), time.perf_counter()
    for trace in traces:
        now, end = getattr(policy, "oracle_calls", None), time.perf_counter()
        calls = None if now is None or before is None else now - before
        yield replace(trace, oracle_calls=calls, seconds=end - begin)
        before, begin = now, time.perf_counter()
