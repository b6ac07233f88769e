"""A sweep: do what is not yet done, and write it down as it comes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from hedgerow.experiments.config import Experiment
from hedgerow.experiments.executors import Done
from hedgerow.experiments.fingerprints import sources
from hedgerow.experiments.folder import chunks_of, open_results, refuse_other_states
from hedgerow.experiments.playing import chunk_folder
from hedgerow.experiments.results import StoppedError, add_timing, write
from hedgerow.experiments.stored import DamagedError, read_whole
from hedgerow.experiments.tasks import RunTask, Task, plan

Workforce = Callable[[Iterable[Task]], Generator[Done, None, None]]
"""Who does the tasks: `serial`, or `processes` or `dask` with their choice."""


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
    mix: bool = False,
) -> SweepProgress:
    """Run every task of an experiment that has no complete file yet.

    Interrupted at any moment, by whatever means, it can be called again and does the rest. Two
    processes may work in one folder: the later one begins at the other end of the list.

    Args:
        experiment: what to do.
        folder: where the files go; it holds one experiment, and may grow by seeds.
        workforce: who does the tasks.
        watch: called with the tally after each task.
        mix: whether runs of this state of the library may join those of another; a report says so.

    """
    if not isinstance(experiment, Experiment):
        raise TypeError(
            "sweep needs an experiment, as load_experiment(path) returns it, got "
            f"{experiment!r:.60}"
        )
    tasks, resolved = plan(experiment), experiment.resolved()
    return sweep_tasks(tasks, resolved, Path(folder), workforce, watch, mix=mix)


def sweep_tasks(
    tasks: list[Task],
    resolved: dict[str, Any],
    folder: Path,
    workforce: Workforce,
    watch: Callable[[SweepProgress], None] | None = None,
    *,
    mix: bool = False,
) -> SweepProgress:
    """Do the given tasks; `resolved` says what they belong to."""
    found = find_left(tasks, folder)
    if found.left and not mix:
        refuse_other_states(folder, found.states)
    with open_results(folder, resolved, mix) as alone:
        tally = SweepProgress(len(tasks), len(tasks) - len(found.left), damaged=found.damaged)
        if watch:
            watch(tally)
        # another process may finish tasks meanwhile: each is looked up again before it is given out
        order = found.left if alone else found.left[::-1]
        pending = _given_out(order, folder, tally)
        with closing(workforce(pending)) as ends:
            for done in ends:
                tally.under_way.pop(done.task.id, None)
                _keep(done, folder, tally, mix)
                if watch:
                    watch(tally)
    tally.before = tally.total - tally.ran - len(tally.failed)
    return tally


class Found(NamedTuple):
    """What a folder holds of some tasks.

    Attributes:
        left: tasks without a whole file.
        damaged: what is wrong with files that are there, one sentence each.
        states: the states of the library that made the rest; None where that was not stored.

    """

    left: list[Task]
    damaged: list[str]
    states: set[str | None]


def find_left(tasks: Iterable[Task], folder: Path) -> Found:
    """Return which tasks are left to do, and who made the results of the others."""
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


def _given_out(order: list[Task], folder: Path, tally: SweepProgress) -> Iterator[Task]:
    """Yield the tasks that are still to be done; a run knows where a long game keeps its chunks."""
    chunks = str(chunks_of(folder).resolve())
    for task in order:
        if find_left([task], folder).left:
            tally.under_way[task.id] = None
            yield replace(task, chunks=chunks) if isinstance(task, RunTask) else task


def _keep(done: Done, folder: Path, tally: SweepProgress, mix: bool) -> None:
    if done.error is not None:
        tally.failed[done.task.id] = done.error
        return
    for output in done.outputs:
        other = output.record.get("sources")
        if other != sources() and not mix:
            raise StoppedError(
                f"a worker has another state of the library (sources {other or 'unknown'}; here "
                f"{sources()}); bring all to one state, or accept the mixture with mix=True"
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
