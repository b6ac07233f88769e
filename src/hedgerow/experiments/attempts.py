"""A task done, or tried and failed: what a worker sends back, never an exception."""

from __future__ import annotations

import time
import traceback
from typing import NamedTuple

from hedgerow.experiments.digests import ChangedFileError
from hedgerow.experiments.playing import perform
from hedgerow.experiments.records import sentence
from hedgerow.experiments.results import Output
from hedgerow.experiments.tasks import Task

TRIES = 2


class Done(NamedTuple):
    """The end of a task.

    Attributes:
        task: what was to be done.
        outputs: what it leaves behind; empty when it failed.
        seconds: how long it took.
        error: the last lines of what went wrong, or None.

    """

    task: Task
    outputs: tuple[Output, ...]
    seconds: float
    error: str | None = None


def attempt(task: Task) -> Done:
    """Do a task, if need be twice; a failure that stays is told, and the sweep goes on."""
    for tries_left in reversed(range(TRIES)):
        begin = time.perf_counter()
        try:
            outputs = perform(task)
        except Exception as error:
            if not tries_left:
                return Done(task, (), time.perf_counter() - begin, _told(error))
        else:
            return Done(task, outputs, time.perf_counter() - begin)
    raise AssertionError("a task is tried at least once")


def _told(error: Exception) -> str:
    """Return one sentence for what is no mistake of ours, else the last lines as well."""
    if isinstance(error, (ChangedFileError, MemoryError)):
        return f"{type(error).__name__}: {sentence(error)}".removesuffix(": ")
    return "".join(traceback.format_exception(error, limit=-3))
