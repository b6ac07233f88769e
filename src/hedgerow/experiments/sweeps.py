"""A sweep: do the tasks that are left, store each result as it comes, or estimate their time."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

from hedgerow.experiments.executors import Done
from hedgerow.experiments.experiment import Experiment
from hedgerow.experiments.folder import chunks_of, open_results, refuse_other_states
from hedgerow.experiments.playing import chunk_folder, perform
from hedgerow.experiments.records import DamagedError, read_whole
from hedgerow.experiments.results import StoppedError, add_timing, task_seconds, write
from hedgerow.experiments.tasks import BenchmarkTask, RunTask, Task, plan
from hedgerow.release import sources

Workforce = Callable[[Iterable[Task]], Generator[Done, None, None]]
"""A function that does tasks: `serial`, or `processes` or `dask` with their argument."""


@dataclass
class SweepProgress:
    """The progress of a sweep.

    Attributes:
        total: tasks in all, benchmarks included.
        before: those that were finished when it began, or by another process since.
        ran: those that it finished.
        failed: what went wrong, by the task's id.
        damaged: what was wrong with files that were there and were not counted, a sentence each.
        under_way: the ids of tasks that workers have, oldest first; a few of them may still wait
            for a worker to come free.

    """

    total: int
    before: int
    ran: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)
    under_way: dict[str, None] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """Tasks that are neither finished nor failed, those under way among them."""
        return self.total - self.before - self.ran - len(self.failed)


def sweep(
    experiment: Experiment,
    folder: Path | str,
    workforce: Workforce,
    watch: Callable[[SweepProgress], None] | None = None,
    *,
    mix_versions: bool = False,
) -> SweepProgress:
    """Run every task of an experiment that has no complete file yet.

    After an interruption of any kind, call it again to do the rest. Two processes may share a
    folder: the later one begins at the other end of the list.

    Args:
        experiment: the experiment.
        folder: where the files go; it holds one experiment, and may grow by seeds.
        workforce: does the tasks.
        watch: called with the tally after each task.
        mix_versions: whether runs of this state of the library may join those of another; reports
            show it.

    """
    if not isinstance(experiment, Experiment):
        raise TypeError(
            "sweep needs an experiment, as load_experiment(path) returns it, got "
            f"{experiment!r:.60}"
        )
    tasks, resolved = plan(experiment), experiment.resolved()
    return sweep_tasks(tasks, resolved, Path(folder), workforce, watch, mix_versions=mix_versions)


def sweep_tasks(
    tasks: list[Task],
    resolved: dict[str, Any],
    folder: Path,
    workforce: Workforce,
    watch: Callable[[SweepProgress], None] | None = None,
    *,
    mix_versions: bool = False,
) -> SweepProgress:
    """Do the given tasks of the experiment `resolved`."""
    found = find_left(tasks, folder)
    if found.left and not mix_versions:
        refuse_other_states(folder, found.states)
    with open_results(folder, resolved, mix_versions) as alone:
        tally = SweepProgress(len(tasks), len(tasks) - len(found.left), damaged=found.damaged)
        if watch:
            watch(tally)
        # another process may finish tasks meanwhile: each is checked again before it is handed out
        order = found.left if alone else found.left[::-1]
        pending = _hand_out(order, folder, tally)
        with closing(workforce(pending)) as ends:
            for done in ends:
                tally.under_way.pop(done.task.id, None)
                _store(done, folder, tally, mix_versions)
                if watch:
                    watch(tally)
    tally.before = tally.total - tally.ran - len(tally.failed)
    return tally


class Found(NamedTuple):
    """The results of some tasks in a folder.

    Attributes:
        left: tasks without a whole file.
        damaged: what is wrong with files that are there, one sentence each.
        states: the states of the library that made the rest; None where that was not stored.

    """

    left: list[Task]
    damaged: list[str]
    states: set[str | None]


def find_left(tasks: Iterable[Task], folder: Path) -> Found:
    """Return which tasks are left, and which states of the library did the others."""
    found = Found([], [], set())
    for task in tasks:
        try:
            found.states.add(read_whole(folder, task.place, task.id).get("sources"))
        except (FileNotFoundError, NotADirectoryError):
            found.left.append(task)
        except DamagedError as damage:
            found.left.append(task)
            found.damaged.append(f"{damage.path} was damaged ({damage.why})")
    return found


def _hand_out(order: list[Task], folder: Path, tally: SweepProgress) -> Iterator[Task]:
    """Yield the tasks that are left; each run gets the folder for the chunks of a long game."""
    chunks = str(chunks_of(folder).resolve())
    for task in order:
        if find_left([task], folder).left:
            tally.under_way[task.id] = None
            yield replace(task, chunks=chunks) if isinstance(task, RunTask) else task


def _store(done: Done, folder: Path, tally: SweepProgress, mix_versions: bool) -> None:
    if done.error is not None:
        tally.failed[done.task.id] = done.error
        return
    for output in done.outputs:
        other = output.record.get("sources")
        if other != sources() and not mix_versions:
            raise StoppedError(
                f"a worker has another state of the library (sources {other or 'unknown'}; here "
                f"{sources()}); bring all to one state, or allow the mixture with mix_versions=True"
            )
        try:
            write(folder, output)
        except ValueError as error:  # JSON has no NaN
            tally.failed[done.task.id] = f"its numbers cannot be stored: {error}"
            return
    add_timing(folder, done.outputs[-1], done.seconds)
    if isinstance(done.task, RunTask) and (chunks := chunk_folder(done.task)) is not None:
        shutil.rmtree(chunks, ignore_errors=True)
    tally.ran += 1


FIRST_PROBE = 64
"""Rounds of the first probe."""
PROBE_GROWTH = 8
ENOUGH_SECONDS = 0.05
"""A probe that takes this long is long enough."""


class Estimate(NamedTuple):
    """How long a task will take.

    Attributes:
        task: what is to be done.
        seconds: on one processor; None where the probe failed.
        source: where the number comes from.

    """

    task: Task
    seconds: float | None
    source: Literal["stored timings", "a probe", "no probe"]


def estimates(tasks: Iterable[Task], left: Iterable[Task], folder: Path) -> list[Estimate]:
    """Estimate every task that is left.

    Tasks that differ in their seeds and eagerness alone are alike. Where some were done in the
    folder, the mean of their times is taken; else the first is played for a few rounds, then for
    more until that takes a moment, and the time of the rest is in proportion. No file is written.

    Args:
        tasks: all tasks of the experiment.
        left: those that are not done.
        folder: of the results, if there are any yet.

    """
    stored: dict[Any, list[float]] = {}
    known = task_seconds(folder)
    for task in tasks:
        if task.id in known:
            stored.setdefault(_alike(task), []).append(known[task.id])
    probed: dict[Any, float | None] = {}
    found = []
    for task in left:
        group = _alike(task)
        if group in stored:
            found.append(Estimate(task, fmean(stored[group]), "stored timings"))
            continue
        if group not in probed:
            probed[group] = _probe(task)
        seconds = probed[group]
        found.append(Estimate(task, seconds, "no probe" if seconds is None else "a probe"))
    return found


def _alike(task: Task) -> tuple[str, int, str, str]:
    """Return what the time of a task depends on."""
    if isinstance(task, BenchmarkTask):
        return task.problem.label, task.horizon, "", ""
    return task.game.problem.label, task.game.horizon, task.method, task.preset


def _probe(task: Task) -> float | None:
    """Return the seconds that a task will take, from the first of its rounds; None if they fail."""
    horizon = task.game.horizon if isinstance(task, RunTask) else task.horizon
    rounds = min(horizon, FIRST_PROBE)
    try:
        _timed(task, rounds)  # compiles, imports and reads files
        now = _timed(task, rounds)
        slope = now / rounds
        while rounds < horizon and now < ENOUGH_SECONDS:
            more = min(horizon, PROBE_GROWTH * rounds)
            later = _timed(task, more)
            slope = max(0.0, later - now) / (more - rounds)
            rounds, now = more, later
    except Exception:  # a horizon that is too short for the problem; the sweep will report it
        return None
    return now + slope * (horizon - rounds)


def _timed(task: Task, rounds: int) -> float:
    """Return how long the same task takes with another number of rounds."""
    if isinstance(task, RunTask):
        task = replace(task, game=replace(task.game, horizon=rounds), chunks="")
    else:
        task = replace(task, horizon=rounds)
    begin = time.perf_counter()
    perform(task)
    return time.perf_counter() - begin
