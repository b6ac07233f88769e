"""A sweep: do what is not yet done, and write it down as it comes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hedgerow.experiment.attempts import Done
from hedgerow.experiment.config import Experiment
from hedgerow.experiment.folder import opened
from hedgerow.experiment.results import add_timing, write
from hedgerow.experiment.tasks import Task, plan

Workforce = Callable[[Iterable[Task]], Generator[Done, None, None]]
"""Who does the tasks: `in_this_process`, or `in_processes` or `on_cluster` with their choice."""


@dataclass
class Tally:
    """How far a sweep is.

    Attributes:
        total: tasks in all, benchmarks included.
        before: those that were finished when it began, or by another process since.
        ran: those that it finished.
        failed: what went wrong, by the task's id.

    """

    total: int
    before: int
    ran: int = 0
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """Tasks that are neither finished nor failed."""
        return self.total - self.before - self.ran - len(self.failed)


def sweep(
    experiment: Experiment,
    folder: Path,
    workforce: Workforce,
    watch: Callable[[Tally], None] | None = None,
) -> Tally:
    """Do every task of an experiment that has no file yet.

    Interrupted at any moment, by whatever means, it can be called again and does the rest. Two
    processes may work in one folder: the later one begins at the other end of the list.

    Args:
        experiment: what to do.
        folder: where the files go; it holds one experiment, and may grow by seeds.
        workforce: who does the tasks.
        watch: called with the tally after each task.

    """
    return sweep_tasks(plan(experiment), experiment.resolved(), folder, workforce, watch)


def sweep_tasks(
    tasks: list[Task],
    resolved: dict[str, Any],
    folder: Path,
    workforce: Workforce,
    watch: Callable[[Tally], None] | None = None,
) -> Tally:
    """Do the given tasks; `resolved` says what they belong to."""
    with opened(folder, resolved) as alone:
        left = list(_unfinished(tasks, folder))
        tally = Tally(len(tasks), len(tasks) - len(left))
        if watch:
            watch(tally)
        # another process may finish tasks meanwhile: each is looked up again before it is given out
        pending = _unfinished(left if alone else left[::-1], folder)
        with closing(workforce(pending)) as ends:
            for done in ends:
                _keep(done, folder, tally)
                if watch:
                    watch(tally)
    tally.before = tally.total - tally.ran - len(tally.failed)
    return tally


def _unfinished(tasks: Iterable[Task], folder: Path) -> Iterator[Task]:
    for task in tasks:
        if not (folder / task.place / f"{task.id}.json").is_file():
            yield task


def _keep(done: Done, folder: Path, tally: Tally) -> None:
    if done.error is not None:
        tally.failed[done.task.id] = done.error
        return
    for output in done.outputs:
        write(folder, output)
    add_timing(folder, done.outputs[-1], done.seconds)
    tally.ran += 1
