"""Games played to their end: compiled where every part has kernels, else round by round."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.feedback import first_order
from hedgerow.games.compiled_policy import CompiledPolicy, compiled_policy
from hedgerow.games.turns import check_match, feedback_of, play, turn
from hedgerow.inputs import as_count
from hedgerow.policies.constrained import Constrained
from hedgerow.problems.problem import LinearChunk, LinearProblem, Problem, Recorded
from hedgerow.protocols.parts import Feedback, Policy
from hedgerow.protocols.trace import Trace

if TYPE_CHECKING:
    from hedgerow.games.weighed_loop import CompiledSteps

CHUNK_ENTRIES = 2**16
"""About so many cost coefficients come at a time, half a MiB: they are played from the cache."""
LONGEST_CHUNK = 2**12


def simulate(policy: Policy[Any, Any], problem: Problem, feedback: Feedback | None = None) -> Trace:
    """Play a problem to its end and return the record, with oracle calls and time.

    Linear rounds that are fixed beforehand are played by one compiled loop if every part of the
    policy has kernels (`Trace.compiled` tells). It leaves costs, violations and the policy as
    `play` does, bit for bit, and `play` does the rest.

    Args:
        policy: who plays; it goes on from where it is.
        problem: the rounds.
        feedback: what the policy may see; left out, `policy.feedback`.

    """
    return Trace.joined(simulate_chunks(policy, problem, feedback))


def simulate_chunks(
    policy: Policy[Any, Any],
    problem: Problem,
    feedback: Feedback | None = None,
    *,
    size: int | None = None,
    skip: int = 0,
) -> Iterator[Trace]:
    """Play a problem and yield the record of each chunk of rounds.

    Between two chunks `policy.state()` may be stored; a policy restored from it plays the rest
    with `skip`, bit for bit. The plays do not depend on the size.

    Args:
        policy: who plays; it goes on from where it is.
        problem: the rounds.
        feedback: what the policy may see; left out, `policy.feedback`.
        size: how many rounds make a chunk; left out, about half a MiB of costs.
        skip: how many rounds of the problem were played before.

    """
    check_match(policy, problem)
    fitting = min(LONGEST_CHUNK, max(1, CHUNK_ENTRIES // policy.decision_set.dim))
    size = fitting if size is None else as_count(size, "the chunk size")
    skip = as_count(skip, "skip", least=0)
    look = feedback_of(policy) if feedback is None else feedback
    if look is first_order and (compiled := compiled_policy(policy)) is not None:
        chunks = _linear_chunks(problem, size)
        if chunks is not None:
            return _timed(policy, (_play(policy, compiled, part) for part in _after(chunks, skip)))
    return _timed(policy, _by_turns(policy, problem, look, size, skip))


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
    return problem.chunks(size) if isinstance(problem, Recorded) else None


def _after(chunks: Iterator[LinearChunk], skip: int) -> Iterator[LinearChunk]:
    """Leave out the first `skip` rounds."""
    for chunk in chunks:
        left_out = min(skip, len(chunk.costs))
        skip -= left_out
        if left_out < len(chunk.costs):
            yield LinearChunk(*(np.ascontiguousarray(part[left_out:]) for part in chunk))


def _play(
    policy: Policy[Any, Any], compiled: CompiledPolicy | CompiledSteps, chunk: LinearChunk
) -> Trace:
    """Play a chunk by the compiled loop, and by objects the rounds that it leaves to them."""
    k = len(chunk.costs)
    seen = np.empty((2, k))
    done = 0
    while (done := compiled.play(chunk, done, seen)) < k:
        one = LinearChunk(*(part[done : done + 1] for part in chunk))
        ((cost, constraint),) = one.rounds()
        seen[:, done] = turn(policy, done, cost, constraint, first_order)[2:4]
        done += 1
    if isinstance(policy, Constrained):
        policy.warn_if_ignored()
    return Trace(seen[0], seen[1], compiled=True)


def _timed(policy: Policy[Any, Any], traces: Iterator[Trace]) -> Iterator[Trace]:
    """Add oracle calls and time to each record."""
    calls, begin = policy.oracle_calls, time.perf_counter()
    for trace in traces:
        now, end = policy.oracle_calls, time.perf_counter()
        yield replace(trace, oracle_calls=now - calls, seconds=end - begin)
        calls, begin = now, time.perf_counter()
