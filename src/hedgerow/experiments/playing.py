"""One task: play a run, or find a benchmark. Nothing here knows of files or processes."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

from hedgerow.experiments.benchmarking import benchmark_of, find_benchmark
from hedgerow.experiments.constants import Known, known_constants
from hedgerow.experiments.curves import curves
from hedgerow.experiments.drawn import drawn
from hedgerow.experiments.records import finite, sentence
from hedgerow.experiments.results import Output
from hedgerow.experiments.sources import sources
from hedgerow.experiments.tasks import RunTask, Task
from hedgerow.experiments.witness import Witness
from hedgerow.functions import Function
from hedgerow.games import play, simulate
from hedgerow.inputs import Vector
from hedgerow.policies.presets import VacuousConstantsWarning
from hedgerow.problems.problem import Problem
from hedgerow.protocols.parts import Policy
from hedgerow.protocols.trace import Trace

NUMBERS = (
    "cost",
    "ccv",
    "signed_ccv",
    "largest_violation",
    "violated_rounds",
    "oracle_calls",
    "projections",
    "certificate",
    "dim",
)
"""The totals in a run's record; null when it was refused."""

REFUSALS = ValueError, TypeError, NotImplementedError
"""How a method says, before the first round, that it does not take a problem."""

_BUILDING = threading.Lock()
"""Warnings are caught for a whole process, so two threads must not build policies at once."""


def perform(task: Task) -> tuple[Output, ...]:
    """Do one task and return what it leaves behind, to be written in this order.

    Every record says which state of the library made it: a worker may have another.
    """
    outputs = _play(task) if isinstance(task, RunTask) else (find_benchmark(task),)
    return tuple(
        output._replace(record={**output.record, "sources": sources()}) for output in outputs
    )


def _play(task: RunTask) -> tuple[Output, ...]:
    """Play; a method that does not take the problem leaves a record with its reason.

    What goes wrong after the first round has begun is no refusal: it is raised.
    """
    record = {**task.key(), "id": task.id, "benchmark": task.game.id}
    record |= {"status": "done", "reason": None, "notes": [], "constants": None}
    try:
        problem = task.game.build()
        known = _known(task, problem)
        policy, notes = _policy(task, problem, known)
        feedback = _feedback(task, known)
        play(policy, problem)  # refuses what does not fit, in the problem's own name
    except REFUSALS as refusal:
        record |= dict.fromkeys(NUMBERS) | {"status": "refused", "reason": sentence(refusal)}
        return (Output("runs", record, None),)
    seen = Witness(problem) if problem.adaptive else drawn(problem)
    trace = _trace(policy, seen, feedback, known)
    record |= _numbers(trace, policy)
    if trace.ccv_each is not None:
        record["ccv_each"] = trace.ccv_each.tolist()
    record |= {"notes": notes, "constants": known and known.record()}
    shown = curves(trace.costs, trace.violations)
    played = Output("runs", record, shown, trace.seconds, trace.compiled)
    if not isinstance(seen, Witness):
        return (played,)
    record["benchmark"] = task.id
    game = {**task.key(), "id": task.id, "dim": problem.decision_set.dim}
    return benchmark_of(game, problem.decision_set, seen.seen), played


def _trace(
    policy: Policy[Any, Any],
    problem: Problem,
    feedback: Callable[[Function, Vector], Any],
    known: Known | None,
) -> Trace:
    """Play; where a round exceeds what the method was told, say how that was found."""
    try:
        return simulate(policy, problem, feedback)
    except ValueError as error:
        if known is not None and not known.exact:
            error.add_note(f"the constants that it was told are no bounds: {known.how}")
        raise


def _known(task: RunTask, problem: Problem) -> Known | None:
    """Return the constants, where the method's preset must be told them."""
    method, preset = task.method_and_preset()
    return known_constants(problem) if preset == "theory" or method.sees == "values" else None


def _policy(
    task: RunTask, problem: Problem, known: Known | None
) -> tuple[Policy[Any, Any], list[str]]:
    """Build the policy and return it with its warnings."""
    method, preset = task.method_and_preset()
    with _BUILDING, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VacuousConstantsWarning)
        policy = method.policy(
            problem.decision_set,
            task.game.horizon,
            task.policy_seed(),
            preset,
            known and known.constants,
            task.eagerness,
        )
    said = [w for w in caught if issubclass(w.category, VacuousConstantsWarning)]
    return policy, [str(warning.message) for warning in said]


def _feedback(task: RunTask, known: Known | None) -> Callable[[Function, Vector], Any]:
    return task.method_and_preset()[0].feedback(known and known.constants)


def _numbers(trace: Trace, policy: Policy[Any, Any]) -> dict[str, Any]:
    """Return the totals of a run, in the order of `NUMBERS`."""
    certificate = getattr(policy, "certificate", None)
    totals = (
        trace.cost,
        trace.ccv,
        trace.signed_ccv,
        float(trace.violations.max()),
        int((trace.violations > 0.0).sum()),
        trace.oracle_calls,
        int(getattr(policy, "projections", 0)),
        None if certificate is None else finite(certificate()),
        policy.decision_set.dim,
    )
    return dict(zip(NUMBERS, totals, strict=True))
