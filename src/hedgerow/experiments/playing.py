"""One task: play a run, or find a benchmark. Nothing here knows of files or processes."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

from hedgerow.experiments.benchmarking import benchmark_of, find_benchmark
from hedgerow.experiments.constants import Known, known_constants
from hedgerow.experiments.curves import curves
from hedgerow.experiments.materialised import materialised
from hedgerow.experiments.recording_problem import RecordingProblem
from hedgerow.experiments.records import finite, sentence
from hedgerow.experiments.results import Output
from hedgerow.experiments.run_record import RunRecord
from hedgerow.experiments.sources import sources
from hedgerow.experiments.tasks import RunTask, Task
from hedgerow.functions import Function
from hedgerow.games import play, simulate
from hedgerow.inputs import Vector
from hedgerow.policies.presets import VacuousConstantsWarning
from hedgerow.problems.problem import Problem
from hedgerow.protocols.parts import Policy
from hedgerow.protocols.trace import Trace

REFUSALS = ValueError, TypeError, NotImplementedError
"""How a method says, before the first round, that it does not take a problem."""

_BUILDING = threading.Lock()
"""Warnings are caught for a whole process, so two threads must not build policies at once."""


def perform(task: Task) -> tuple[Output, ...]:
    """Do one task and return what it leaves behind, to be written in this order.

    Every record says which state of the library made it: a worker may have another.
    """
    task.check_code()
    outputs = _play(task) if isinstance(task, RunTask) else (find_benchmark(task),)
    return tuple(
        output._replace(record={**output.record, "sources": sources()}) for output in outputs
    )


def _play(task: RunTask) -> tuple[Output, ...]:
    """Play; a method that does not take the problem leaves a record with its reason.

    What goes wrong after the first round has begun is no refusal: it is raised.
    """
    try:
        problem = task.game.build()
        known = _known(task, problem)
        policy, notes = _policy(task, problem, known)
        feedback = _feedback(task, known)
        play(policy, problem)  # refuses what does not fit, in the problem's own name
    except REFUSALS as refusal:
        refused = RunRecord(
            task.key(), task.id, task.game.id, status="refused", reason=sentence(refusal)
        )
        return (Output("runs", refused.plain(), None),)
    seen = RecordingProblem(problem) if problem.adaptive else materialised(problem)
    trace = _trace(policy, seen, feedback, known)
    record = _record(task, trace, policy, notes, known, problem.adaptive)
    shown = curves(trace.costs, trace.violations)
    played = Output("runs", record.plain(), shown, trace.seconds, trace.compiled)
    if not isinstance(seen, RecordingProblem):
        return (played,)
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


def _record(
    task: RunTask,
    trace: Trace,
    policy: Policy[Any, Any],
    notes: list[str],
    known: Known | None,
    adaptive: bool,
) -> RunRecord:
    """Return the record of a game; one that reacted to the plays has a benchmark of its own."""
    certificate = getattr(policy, "certificate", None)
    return RunRecord(
        task.key(),
        task.id,
        benchmark=task.id if adaptive else task.game.id,
        notes=notes,
        constants=known and known.record(),
        cost=trace.cost,
        ccv=trace.ccv,
        signed_ccv=trace.signed_ccv,
        largest_violation=float(trace.violations.max()),
        violated_rounds=int((trace.violations > 0.0).sum()),
        oracle_calls=trace.oracle_calls,
        projections=int(getattr(policy, "projections", 0)),
        certificate=None if certificate is None else finite(certificate()),
        dim=policy.decision_set.dim,
        ccv_each=None if trace.ccv_each is None else trace.ccv_each.tolist(),
    )
