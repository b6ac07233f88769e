"""Shards of a large game on a Dask cluster: actors, checkpoints, and workers that die."""

from __future__ import annotations

import importlib
import pickle
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.experiments.executors import connect, find_distributed
from hedgerow.experiments.results import WorkersLostError
from hedgerow.games.sharded_traffic import ShardPlan
from hedgerow.games.traffic_shard import Demand, sum_by_twos
from hedgerow.inputs import Vector, as_count

POLL = 1.0
"""Seconds after which a worker that has not answered is looked for."""
PATIENCE = 60.0
"""Seconds to wait for a worker, once none is left."""


Message = tuple[str, tuple[Any, ...]]
"""A method of `Host`, and its arguments."""


class _Actor:
    """A host on a worker.

    Args:
        plan: the file of the plan of its shards.
        threads: how many shards it works on at once.
        rounds: after how many rounds the checkpoint was written to go on from; 0 to begin.

    """

    def __init__(self, plan: Path, threads: int, rounds: int):
        self.host = pickle.loads(plan.read_bytes()).host(threads)  # noqa: S301 - as Dask sends it
        if rounds > 0:
            self.host.load(plan.parent, rounds)

    def play(self, messages: Sequence[Message]) -> Any:
        """Take in messages in order; return what the last one asks for."""
        for name, arguments in messages:
            result = getattr(self.host, name)(*arguments)
        return result


class DaskShards:
    """The shards of a `ShardedTraffic` on the workers of a Dask cluster.

    Each worker holds the paths, the shares and the learners of its shards. Per round it sends the
    loads of all links and eight sums, and gets its demands (nothing, where it has a stream), the
    links above the limit and a weight. Decisions have the same bits as in a single process with as
    many shards.

    Every few rounds each worker writes a checkpoint. If a worker dies, another one goes on from the
    last checkpoint and takes in the messages since then once more, so that results stay the same.
    Workers need the same state of this library, and the folder, from which they also read what
    their shards are made of.

    Args:
        plan: of the game.
        address: of the scheduler, such as tcp://host:8786; or a `distributed.Client`, left open.
        folder: for checkpoints, empty, where all workers can read and write.
        every: rounds between two checkpoints.
        threads: how many shards a worker works on at once.

    Attributes:
        bytes_moved: in vectors to and from workers, so far; paths at the beginning apart.
        replaced: how often another worker took over.

    """

    def __init__(
        self, plan: ShardPlan, address: Any, folder: Path | str, every: int = 20, threads: int = 1
    ):
        self.folder, self.every = Path(folder).absolute(), as_count(every, "every")
        self._threads = as_count(threads, "threads")
        self.folder.mkdir(parents=True, exist_ok=True)
        if any(self.folder.iterdir()):
            raise ValueError(f"{self.folder} is not empty; checkpoints need a folder of their own")
        self.client, self._owned = connect(find_distributed(), address), isinstance(address, str)
        cloudpickle = importlib.import_module(
            "cloudpickle"
        )  # which Dask brings along; a stream may be a class of a script

        count = 1
        while count < min(len(plan.cuts) - 1, len(self._workers())):
            count *= 2
        self._size = (len(plan.cuts) - 1) // count
        self._plans = [self.folder / f"plan-{k}.pickle" for k in range(count)]
        for path, part in zip(self._plans, plan.parts(count), strict=True):
            path.write_bytes(cloudpickle.dumps(part))
        self._log: list[Message] = []
        self._unsent = self._rounds = self._saved = self.bytes_moved = self.replaced = 0
        self._actors: list[Any] = [None] * count
        self._futures: list[Any] = [None] * count  # Dask forgets an actor whose future is gone
        self._at = [""] * count
        begun = [self._begin(k) for k in range(count)]
        for k, future in enumerate(begun):
            self._actors[k] = self._built(k, future)

    def loads(self, demand: Sequence[Demand]) -> Vector:
        """Return the sum of the shards' loads, given the demands of each."""
        return sum_by_twos(self._ask("loads", demand))

    def sums(self, above: NDArray[np.uint32], total: float) -> Vector:
        """Return the sum of the shards' sums, given the links above the limit."""
        return sum_by_twos(self._ask("sums", above, total))

    def step(self, weight: float) -> None:
        """Let all shards learn; the weight travels with the next message."""
        self._log.append(("step", (weight,)))
        self._unsent += 1
        self._rounds += 1
        if self._rounds % self.every == 0:
            self._ask("save", self.folder, self._rounds)
            self._log.clear()
            self._saved = self._rounds

    def lowest(self) -> Vector:
        """Return the sum of the shards' lowest products."""
        return sum_by_twos(self._ask("lowest"))

    def shares(self) -> list[Vector]:
        """Return the shares of each shard."""
        return [shares for found in self._ask("shares") for shares in found]

    def close(self) -> None:
        """Let the workers forget the shards."""
        self._actors, self._futures = [], []
        if self._owned:
            self.client.close(timeout=2.0)

    def _ask(self, name: str, *arguments: Any) -> list[Any]:
        """Send a message to all hosts, after what is unsent; return their answers in order."""
        self._log.append((name, arguments))
        new = self._log[len(self._log) - 1 - self._unsent :]
        self._unsent = 0
        hosts = range(len(self._actors))
        begun = [self._send(k, new) for k in hosts]
        answers = [self._answer(k, future) for k, future in zip(hosts, begun, strict=True)]
        self.bytes_moved += sum(_size(self._own(k, new)) + _size(answers[k]) for k in hosts)
        return answers

    def _own(self, k: int, messages: Sequence[Message]) -> list[Message]:
        """Return the messages for host k: of demands it gets its own part."""
        mine = slice(k * self._size, (k + 1) * self._size)
        return [
            (name, (arguments[0][mine],) if name == "loads" else arguments)
            for name, arguments in messages
        ]

    def _send(self, k: int, messages: Sequence[Message]) -> Any:
        """Begin a call; None if the worker is lost."""
        try:
            with self.client.as_current():  # an actor asks for it
                return self._actors[k].play(self._own(k, messages))
        except RuntimeError:  # the actor knows that its worker is lost
            return None

    def _answer(self, k: int, future: Any) -> Any:
        """Return a host's answer, if need be by another worker."""
        while True:
            try:
                return self._result(k, future)
            except _LostWorkerError:
                self.replaced += 1
                self._actors[k] = self._built(k, self._begin(k))
                future = self._send(k, self._log)

    def _result(self, k: int, future: Any) -> Any:
        while future is not None:
            try:
                return future.result(timeout=POLL)
            except TimeoutError:
                if self._at[k] not in self._workers():
                    break
            except OSError:
                break
        raise _LostWorkerError

    def _begin(self, k: int) -> Any:
        """Begin to build host k on the worker with the fewest hosts, from the last checkpoint."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                if workers := self._workers():
                    self._at[k] = worker = min(workers, key=self._at.count)
                    given = self._plans[k], self._threads, self._saved
                    self._futures[k] = self.client.submit(
                        _Actor, *given, workers=[worker], actor=True, pure=False
                    )
                    return self._futures[k]
            except OSError:  # this worker is lost, and the scheduler does not know it yet
                pass
            time.sleep(POLL / 4.0)
        raise WorkersLostError(
            f"no worker of the Dask cluster took over within {PATIENCE:.0f} seconds; start some"
        )

    def _built(self, k: int, future: Any) -> Any:
        while True:
            try:
                return self._result(k, future)
            except _LostWorkerError:
                future = self._begin(k)

    def _workers(self) -> list[str]:
        """Return the addresses of the workers that the scheduler knows now."""
        return sorted(self.client.run_on_scheduler(_addresses))


class _LostWorkerError(Exception):
    """The worker of a host is gone."""


def _addresses(dask_scheduler: Any) -> list[str]:
    return list(dask_scheduler.workers)


def _size(value: Any) -> int:
    """Return the bytes of all arrays in a message or an answer."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 0
