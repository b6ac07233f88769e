"""Tasks on this machine: in this process, or in several through joblib."""

from __future__ import annotations

import importlib
import os
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from functools import cache, partial
from itertools import chain
from typing import Any

from hedgerow.experiments.attempts import Done, attempt
from hedgerow.experiments.stopped import WorkersLostError
from hedgerow.experiments.tasks import Task

PATIENCE = 3
"""Pools that may break one after another without finishing a single task."""


def in_this_process(tasks: Iterable[Task]) -> Generator[Done, None, None]:
    """Do the tasks one by one."""
    for task in tasks:
        yield attempt(task)


def in_processes(tasks: Iterable[Task], workers: int) -> Generator[Done, None, None]:
    """Do the tasks in worker processes, in any order; a killed worker costs only what it held.

    Args:
        tasks: what is to be done; asked for only as workers come free.
        workers: the number of processes; each computes with one thread.

    """
    joblib = find_joblib()
    work = joblib.delayed(partial(_attempt_under, os.getpid()))
    tasks, given, broken = iter(tasks), dict[Task, None](), 0

    def hand_out() -> Iterator[Any]:
        for task in chain(list(given), tasks):  # first what a broken pool did not finish
            given[task] = None
            yield work(task)

    while True:
        try:
            with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
                pool = joblib.Parallel(n_jobs=workers, return_as="generator_unordered")
                for done in pool(hand_out()):
                    del given[done.task]
                    broken = 0
                    yield done
            return
        except BrokenExecutor:  # a worker was killed
            broken += 1
            if broken >= PATIENCE:
                raise WorkersLostError(
                    f"worker processes were killed {broken} times in a row and finished nothing; "
                    "memory may be short: use fewer workers"
                ) from None


def _attempt_under(parent: int, task: Task) -> Done:
    """Do a task in a worker, which ends by itself when its parent was killed."""
    _watch(parent)
    return attempt(task)


@cache
def _watch(parent: int) -> None:
    """Start a thread that looks once a second whether the parent is still there."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()


def find_joblib() -> Any:
    """Return joblib, or say how to get it."""
    try:
        return importlib.import_module("joblib")
    except ModuleNotFoundError:
        raise ValueError(
            "several workers need joblib; install it with: pip install 'hedgerow[cli]', "
            "or use workers=1"
        ) from None
