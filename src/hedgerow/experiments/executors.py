"""Where tasks run: this process, several through joblib, or a Dask cluster; same results."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import sys
import threading
import time
import traceback
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from functools import cache, partial
from itertools import chain, islice
from typing import Any, NamedTuple

from hedgerow.experiments.fingerprints import ChangedFileError
from hedgerow.experiments.playing import perform
from hedgerow.experiments.records import sentence
from hedgerow.experiments.results import Output, WorkersLostError
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
    """Do a task, trying twice; report an error that persists, so that the sweep continues."""
    for tries_left in reversed(range(TRIES)):
        begin = time.perf_counter()
        try:
            outputs = perform(task)
        except Exception as error:
            if not tries_left:
                return Done(task, (), time.perf_counter() - begin, _described(error))
        else:
            return Done(task, outputs, time.perf_counter() - begin)
    raise AssertionError("a task is tried at least once")


def _described(error: Exception) -> str:
    """Return one sentence for an error outside of the library, else its last lines."""
    if isinstance(error, (ChangedFileError, MemoryError)):
        return f"{type(error).__name__}: {sentence(error)}".removesuffix(": ")
    return "".join(traceback.format_exception(error, limit=-3))


PATIENCE = 3
"""How many pools may break in a row without finishing a task."""
TIMEOUT = 20.0
"""Seconds to wait for the scheduler's first answer."""
AHEAD = 4
"""Tasks under way for each thread of the cluster: enough to keep it busy, few to lose."""
LOSSES = 5
"""Times that a task may lose its worker, or fail to be sent, before it is given up."""


def serial(tasks: Iterable[Task]) -> Generator[Done, None, None]:
    """Do the tasks one by one."""
    for task in tasks:
        yield attempt(task)


def processes(tasks: Iterable[Task], workers: int) -> Generator[Done, None, None]:
    """Do the tasks in worker processes, in any order; a killed worker costs only what it held.

    Args:
        tasks: what is to be done; asked for only as workers come free.
        workers: the number of processes; each computes with one thread.

    """
    joblib = find_joblib()
    work = joblib.delayed(partial(_attempt_under, os.getpid(), tuple(sys.path)))
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


def _attempt_under(parent: int, path: tuple[str, ...], task: Task) -> Done:
    """Do a task in a worker, which ends by itself when its parent was killed.

    Modules are found where the parent finds them; a worker may be older than a change of its path.
    """
    _watch_parent(parent)
    sys.path[:] = path
    return attempt(task)


@cache
def _watch_parent(parent: int) -> None:
    """Start a thread that checks once a second whether the parent still runs."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def find_joblib() -> Any:
    """Return joblib, or raise an error that says how to install it."""
    try:
        return importlib.import_module("joblib")
    except ModuleNotFoundError:
        raise ValueError(
            'several workers need joblib; install it with: pip install ".[cli]", or use workers=1'
        ) from None


def dask(tasks: Iterable[Task], address: Any) -> Generator[Done, None, None]:
    """Do the tasks on a cluster, in any order, and yield each as it ends.

    Workers need the same state of this library; each record says which one it was. A worker that
    disappears loses nothing but its tasks, which the scheduler gives to others. They send results
    back and write no files.

    Args:
        tasks: what is to be done; asked for only as threads come free.
        address: of the scheduler, such as tcp://host:8786; or a `distributed.Client`, which is left
            open.

    """
    distributed = find_distributed()
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # a loss is one sentence
    client = connect(distributed, address)
    gone = (distributed.comm.CommClosedError, distributed.client.ClosedClientError, TimeoutError,
            CancelledError, asyncio.CancelledError)  # fmt: skip
    try:
        yield from _gather(distributed, client, iter(tasks))
    except gone:
        raise WorkersLostError(
            f"the Dask scheduler at {address} is gone; start it and its workers again"
        ) from None
    finally:
        if client is not address:
            client.close(timeout=2.0)


def check_cluster(address: str) -> None:
    """Refuse an address where no scheduler with workers answers, before anything is written."""
    connect(find_distributed(), address).close(timeout=2.0)


def _gather(distributed: Any, client: Any, tasks: Iterator[Task]) -> Iterator[Done]:
    under_way = distributed.as_completed(loop=client.loop)
    sent: dict[str, Task] = {}

    def send(task: Task) -> None:
        future = client.submit(attempt, task, pure=False, retries=LOSSES)
        sent[future.key] = task
        under_way.add(future)

    for task in islice(tasks, AHEAD * max(1, sum(client.nthreads().values()))):
        send(task)
    for future in under_way:
        task = sent.pop(future.key)
        if future.status == "cancelled" or client.status != "running":
            raise CancelledError
        error = future.exception()
        yield future.result() if error is None else Done(task, (), 0.0, repr(error))
        for following in islice(tasks, 1):
            send(following)


def connect(distributed: Any, address: Any) -> Any:
    """Return a client; one that was given is used as it is."""
    if not isinstance(address, str | distributed.Client):
        raise TypeError(
            f"address must be that of a Dask scheduler, such as 'tcp://host:8786', or a "
            f"distributed.Client, got {address!r:.60}"
        )
    try:
        if isinstance(address, distributed.Client):
            client = address
        else:
            client = distributed.Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"no Dask scheduler answers at {address} ({error}); start one with `dask scheduler`, "
            "or check the address"
        ) from None
    if not client.nthreads():
        if client is not address:
            client.close(timeout=2.0)
        raise ValueError(f"the cluster at {address} has no workers; start some with: dask worker")
    return client


def find_distributed() -> Any:
    """Return dask.distributed, or raise an error that says how to install it."""
    try:
        import distributed
    except ModuleNotFoundError:
        raise ValueError(
            'a cluster needs dask.distributed; install it with: pip install ".[cluster]"'
        ) from None
    return distributed
