"""Tasks on a Dask cluster that is already running: same tasks, same results."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from itertools import islice
from typing import Any

from hedgerow.experiments.attempts import Done, attempt
from hedgerow.experiments.stopped import WorkersLostError
from hedgerow.experiments.tasks import Task

TIMEOUT = 20.0
"""Seconds to wait for the scheduler's first answer."""
AHEAD = 4
"""Tasks under way for each thread of the cluster: enough to keep it busy, few to lose."""
LOSSES = 5
"""Times that a task may lose its worker, or fail to be sent, before it is given up."""


def on_cluster(tasks: Iterable[Task], address: str) -> Generator[Done, None, None]:
    """Do the tasks on a cluster, in any order, and yield each as it ends.

    Workers need the same state of this library; each record says which one it was. A worker that
    disappears loses nothing but its tasks, which the scheduler gives to others. They send results
    back and write no files.

    Args:
        tasks: what is to be done; asked for only as threads come free.
        address: of the scheduler, such as tcp://host:8786.

    """
    distributed = _distributed()
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # a loss is one sentence
    client = _connect(distributed, address)
    gone = (distributed.comm.CommClosedError, distributed.client.ClosedClientError, TimeoutError,
            CancelledError, asyncio.CancelledError)  # fmt: skip
    try:
        yield from _gather(distributed, client, iter(tasks))
    except gone:
        raise WorkersLostError(
            f"the Dask scheduler at {address} is gone; start it and its workers again"
        ) from None
    finally:
        client.close(timeout=2.0)


def check_cluster(address: str) -> None:
    """Refuse an address where no scheduler with workers answers, before anything is written."""
    _connect(_distributed(), address).close(timeout=2.0)


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


def _connect(distributed: Any, address: str) -> Any:
    try:
        client = distributed.Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"no Dask scheduler answers at {address} ({error}); start one with `dask scheduler`, "
            "or check the address"
        ) from None
    if not client.nthreads():
        client.close(timeout=2.0)
        raise ValueError(f"the cluster at {address} has no workers; start some with: dask worker")
    return client


def _distributed() -> Any:
    try:
        import distributed
    except ModuleNotFoundError:
        raise ValueError(
            "a cluster needs dask.distributed; install it with: pip install 'hedgerow[cluster]'"
        ) from None
    return distributed
