"""Do one task: play a run, or find a benchmark; independent of files and processes."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.experiments.constants import Known, known_constants
from hedgerow.experiments.records import curves, finite, sentence
from hedgerow.experiments.results import Output
from hedgerow.experiments.tasks import BenchmarkTask, RunTask, Task
from hedgerow.functions import parts_of
from hedgerow.games import hindsight, play, simulate, simulate_resumable
from hedgerow.games.checkpoints import ROUNDS, can_resume
from hedgerow.inputs import Vector
from hedgerow.policies.certificate import Certificate
from hedgerow.policies.presets import VacuousConstantsWarning
from hedgerow.problems.measured_routes import MeasuredRoutes
from hedgerow.problems.problem import LinearChunk, LinearProblem, Problem, RecordedProblem, Round
from hedgerow.protocols.limits import names_of, refuse_sum
from hedgerow.protocols.parts import Feedback, Policy, ResumablePolicy
from hedgerow.protocols.service_level import ServiceLevel
from hedgerow.protocols.trace import Trace
from hedgerow.release import sources
from hedgerow.sets.decision_set import DecisionSet

MOST_BYTES = 2**28
"""For the coefficients of rounds drawn in advance; larger games draw while they run."""


class Materialised(LinearProblem):
    """Linear rounds in memory, as arrays and as functions.

    Args:
        problem: where the rounds come from.

    """

    def __init__(self, problem: LinearProblem):
        self.decision_set, self.horizon = problem.decision_set, problem.horizon
        parts = zip(*problem.chunks(), strict=True)
        self._whole = LinearChunk(*(np.concatenate(part) for part in parts))
        self._rounds = tuple(self._whole.rounds())

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        for i in range(0, self.horizon, size):
            yield LinearChunk(*(part[i : i + size] for part in self._whole))

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:  # noqa: ARG002
        """Yield the rounds one by one."""
        return iter(self._rounds)


def materialise(problem: Problem) -> Problem:
    """Draw the rounds in advance if they are fixed and not too large."""
    size = 2 * 8 * problem.horizon * problem.decision_set.dim
    if problem.adaptive or size > MOST_BYTES:
        return problem
    if isinstance(problem, LinearProblem):
        return Materialised(problem)
    return RecordedProblem(problem.decision_set, problem)


@dataclass(eq=False)
class RecordingProblem(Problem):
    """An adaptive problem that remembers the rounds it showed.

    Args:
        problem: the adaptive problem.
        seen: the rounds so far.

    """

    problem: Problem
    seen: list[Round] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.decision_set, self.horizon = self.problem.decision_set, self.problem.horizon
        self.limits = self.problem.limits

    @property
    def one_unit(self) -> bool:
        """Whether the violations of the problem's constraints may be added."""
        return self.problem.one_unit

    @property
    def adaptive(self) -> bool:
        """True: the rounds depend on the decisions."""
        return True

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:
        """Yield the rounds of the adaptive problem and remember each of them."""
        for shown in self.problem.rounds(policy):
            self.seen.append(shown)
            yield shown


OF_DONE_RUNS = (
    *("constants", "cost", "ccv", "signed_ccv", "largest_violation", "violated_rounds"),
    *("oracle_calls", "projections", "certificate", "dim"),
)
"""Entries of the record of a run that are null where the method refused the problem."""
NUMBERS = ("cost", "lower_bound", "gap", "violation", "ccv")
"""What a record has of `hedgerow.Benchmark`; null where it is not finite."""


def find_benchmark(task: BenchmarkTask) -> Output:
    """Find the best fixed action of a problem whose rounds are fixed in advance."""
    try:
        problem = task.build()
        sizes_of(problem)
    except (ValueError, TypeError) as refusal:  # a seed that a problem does not take
        numbers = {"status": "refused", "reason": sentence(refusal), "dim": None, "blind": None}
        record = {**task.key(), "id": task.id, **dict.fromkeys(NUMBERS), **numbers}
        return Output("benchmarks", record, None)
    record = {**task.key(), "id": task.id, "dim": problem.decision_set.dim}
    return benchmark_of(record, problem)


def benchmark_of(
    record: dict[str, Any], problem: Problem | DecisionSet, seen: list[Round] | None = None
) -> Output:
    """Return the benchmark of some rounds, with cost and CCV of the unconstrained action.

    Args:
        record: what identifies it.
        problem: has the rounds, unless it reacts to the decisions; or a decision set.
        seen: the rounds of a problem that reacted, or those on the decision set.

    """
    sizes = sizes_of(problem) if isinstance(problem, Problem) else None
    best = hindsight(problem, seen, budget="minimum", units=sizes)
    free = hindsight(problem, seen, constrained=False)
    rounds = seen if isinstance(problem, DecisionSet) or seen is not None else problem
    assert rounds is not None
    costs, violations = _at(best.x, rounds, sizes)
    free_costs, free_violations = _at(free.x, rounds, sizes)
    found = {
        **record,
        **{name: finite(getattr(best, name)) for name in NUMBERS},
        "status": best.status,
        "reason": None,
        **({"comparator": best.comparator} if best.least else {}),
        "blind": {
            "cost": float(free_costs.sum()),
            "ccv": float(np.maximum(free_violations, 0.0).sum()),
        },
    }
    return Output("benchmarks", found, curves(costs, violations), best.seconds)


def sizes_of(problem: Problem) -> tuple[float, ...] | None:
    """Return by what the value of each constraint is divided before they are compared and added.

    None where they are added as they are: there is one constraint, or all have one unit.
    """
    if problem.one_unit:
        return None
    sizes: Sequence[float] | None = getattr(problem, "constraint_units", None)
    if sizes is None:
        refuse_sum(
            names_of(problem.limits),
            len(problem.limits) or None,
            "methods cannot be compared by one CCV",
            "give the problem `limits` with one unit, or `constraint_units`, a size for each "
            "constraint",
        )
    return tuple(float(size) for size in sizes)


def _at(
    x: Vector, rounds: Problem | list[Round], sizes: tuple[float, ...] | None
) -> tuple[Vector, Vector]:
    """Return f_t(x) and g_t(x) of all rounds, several constraints in units of their sizes."""
    if isinstance(rounds, LinearProblem):
        pairs = [
            (c.costs @ x + c.cost_offsets, c.constraints @ x + c.constraint_offsets)
            for c in rounds.chunks()
        ]
        return np.concatenate([f for f, _ in pairs]), np.concatenate([g for _, g in pairs])
    given = rounds.rounds() if isinstance(rounds, Problem) else rounds
    if sizes is None:
        table = np.array([(f(x), g(x)) for f, g in given], dtype=np.float64).reshape(-1, 2)
        return table[:, 0], table[:, 1]
    costs, each = zip(*((f(x), [g_k(x) for g_k in parts_of(g)]) for f, g in given), strict=True)
    return np.array(costs), (np.array(each) / np.array(sizes)).max(axis=1)


REFUSALS = ValueError, TypeError, NotImplementedError
"""Errors by which a method refuses a problem before the first round."""

EDGES = {"lengths": "latency", "prices": "price"}
"""Edge data that choose a fixed route, and the attribute of a problem that holds them."""

_BUILDING = threading.Lock()
"""Warnings are caught for a whole process, so two threads must not build policies at once."""


def perform(task: Task) -> tuple[Output, ...]:
    """Do one task and return its outputs, to be written in this order.

    Every record names the state of the library that made it: workers may differ.
    """
    task.check_code()
    outputs = _play(task) if isinstance(task, RunTask) else (find_benchmark(task),)
    return tuple(
        output._replace(record={**output.record, "sources": sources()}) for output in outputs
    )


def _play(task: RunTask) -> tuple[Output, ...]:
    """Play one run; the record of a method that refuses the problem has the reason.

    An error after the first round has begun is not a refusal: it is raised.
    """
    try:
        problem = task.game.build()
        sizes = sizes_of(problem)
        known = _needed_constants(task, problem)
        policy, notes = _policy(task, problem, known)
        feedback = _feedback(task, policy, known)
        play(policy, problem, feedback)  # refuses a mismatch by the problem's own name
    except REFUSALS as refusal:
        names = {"id": task.id, "benchmark": task.game.id}
        refused = {"status": "refused", "reason": sentence(refusal), "notes": []}
        record = {**task.key(), **names, **refused, **dict.fromkeys(OF_DONE_RUNS)}
        return (Output("runs", record, None),)
    seen = RecordingProblem(problem) if problem.adaptive else materialise(problem)
    trace = _trace(policy, seen, feedback, known, chunk_folder(task))
    total = trace if sizes is None else trace.relative_to(sizes)
    record = {
        **_record(task, total, policy, notes, known, problem),
        **_of_each(problem, trace, sizes),
    }
    shown = curves(total.costs, total.violations)
    played = Output("runs", record, shown, trace.seconds, trace.compiled)
    if not isinstance(seen, RecordingProblem):
        return (played,)
    game = {**task.key(), "id": task.id, "dim": problem.decision_set.dim}
    return benchmark_of(game, problem, seen.seen), played


def _trace(
    policy: ResumablePolicy[Any, Any],
    problem: Problem,
    feedback: Feedback,
    known: Known | None,
    chunks: Path | None,
) -> Trace:
    """Play, in chunks on disk if it takes long and can be resumed.

    An error about a round that exceeds the known constants names their source.
    """
    try:
        if chunks is not None and problem.horizon > ROUNDS and can_resume(policy, problem):
            return simulate_resumable(policy, problem, chunks, feedback, every=ROUNDS)
        return simulate(policy, problem, feedback)
    except ValueError as error:
        if known is not None and not known.exact:
            error.add_note(f"the constants that it was given are not bounds: {known.how}")
        raise


def chunk_folder(task: RunTask) -> Path | None:
    """Return the folder for the chunks of a long game, one per state of the library.

    None if this process cannot write to the results folder, as on a remote worker.
    """
    if not task.chunks or not os.access(task.chunks, os.W_OK):
        return None
    return Path(task.chunks, f"{task.id}-{sources()}")


def _needed_constants(task: RunTask, problem: Problem) -> Known | None:
    """Return the constants if the method's preset needs them."""
    method, preset = task.method_and_preset()
    return known_constants(problem) if preset == "theory" or method.sees == "values" else None


def _policy(
    task: RunTask, problem: Problem, known: Known | None
) -> tuple[ResumablePolicy[Any, Any], list[str]]:
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
            _edges(problem),
        )
    vacuous = [w for w in caught if issubclass(w.category, VacuousConstantsWarning)]
    return policy, [str(warning.message) for warning in vacuous]


def _of_each(problem: Problem, trace: Trace, sizes: tuple[float, ...] | None) -> dict[str, Any]:
    """Return what a record has of each constraint, in its own unit."""
    each, service = trace.ccv_each, [level.plain() for level in _service(problem, trace)]
    return {
        **({} if each is None else {"ccv_each": each.tolist()}),
        **({} if sizes is None else {"constraint_units": list(sizes)}),
        "service": service,
    }


def _service(problem: Problem, trace: Trace) -> tuple[ServiceLevel, ...]:
    """Return the service levels, with the problem's own names of constraints if it has them."""
    if isinstance(problem, MeasuredRoutes):
        return problem.service_levels(trace)
    return trace.service_levels()


def _edges(problem: Problem) -> dict[str, Vector]:
    """Return the base latencies and prices of a problem that has them."""
    found = {name: getattr(problem, of, None) for name, of in EDGES.items()}
    return {name: values for name, values in found.items() if values is not None}


def _feedback(task: RunTask, policy: ResumablePolicy[Any, Any], known: Known | None) -> Feedback:
    """Return the policy's own feedback, or what its method declares where the policy has none."""
    own: Feedback | None = getattr(policy, "feedback", None)
    if own is not None:
        return own
    return task.method_and_preset()[0].feedback(known and known.constants)


def _record(
    task: RunTask,
    trace: Trace,
    policy: ResumablePolicy[Any, Any],
    notes: list[str],
    known: Known | None,
    problem: Problem,
) -> dict[str, Any]:
    """Return the record of a run; an adaptive problem has a benchmark for each run."""
    proved = policy.certificate() if hasattr(policy, "certificate") else None
    if isinstance(proved, Certificate) and proved.says_nothing is not None:
        notes, proved = [*notes, f"the certificate {proved.says_nothing}"], None
    return {
        **task.key(),
        "id": task.id,
        "benchmark": task.id if problem.adaptive else task.game.id,
        "status": "done",
        "reason": None,
        "notes": notes,
        "constants": known and known.record(),
        "cost": trace.cost,
        "ccv": trace.ccv,
        "signed_ccv": trace.signed_ccv,
        "largest_violation": float(trace.violations.max()),
        "violated_rounds": int((trace.violations > 0.0).sum()),
        "oracle_calls": trace.oracle_calls,
        "projections": int(getattr(policy, "projections", 0)),
        "certificate": None if proved is None else finite(proved),
        "dim": policy.decision_set.dim,
    }
