"""Demands of one shard: their paths, their shares, and the learner that moves them."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.files import add_digest, replace_files, without_digest
from hedgerow.inputs import Vector
from hedgerow.kernels import path_rounds
from hedgerow.kernels.policy_tables import UNDECLARED, tell_learner
from hedgerow.learners.block_ocg import BlockOCG
from hedgerow.problems.internet_traffic import shortest_shares
from hedgerow.sets.compiled import NO_NUMBERS
from hedgerow.sets.compositions.product import Product
from hedgerow.sets.paths.bulk_paths import PathBlock
from hedgerow.sets.simplices.simplex import Simplex

Result = TypeVar("Result")


class DemandStream(Protocol):
    """Demands of rounds that are made or read where they are needed."""

    def part(self, t: int, begin: int, end: int) -> Vector:
        """Return the demands of the pairs begin .. end in round t, from 0 on."""
        ...


class Changes(NamedTuple):
    """Demands that differ from those of the round before.

    Attributes:
        pairs: their numbers, ascending.
        values: their demands now.

    """

    pairs: NDArray[np.int64]
    values: Vector

    def part(self, begin: int, end: int) -> Changes:
        """Return those of the pairs begin .. end, numbered from 0."""
        i, j = np.searchsorted(self.pairs, [begin, end])
        return Changes(self.pairs[i:j] - begin, self.values[i:j])


Demand = Vector | Changes | int
"""The demands of a round: all, changes only, or the number of the stream's round."""


class Shard:
    """The pairs begin .. end of a game, each of them on its first path to begin with.

    Args:
        begin: the first pair.
        paths: of these pairs, numbered from 0.
        latency: of each link of the network, in ms.
        stream: where demands come from that are not reported.

    """

    def __init__(
        self,
        begin: int,
        paths: PathBlock,
        latency: Vector,
        stream: DemandStream | None = None,
    ):
        self.begin, self.end, self.stream = begin, begin + paths.pairs, stream
        sizes = np.diff(paths.first)
        simplices = {int(n): Simplex(int(n)) for n in np.unique(sizes)}
        X = Product(*(simplices[n] for n in sizes.tolist()))
        self.learner = BlockOCG(X, start=shortest_shares(paths))
        self.table = path_rounds.paths_table.filled(
            first=paths.first, ptr=paths.ptr, hops=paths.hops, latency=paths.along(latency)
        )
        self.first, self.links = paths.first, latency.size
        self.demand, self.total = np.zeros(paths.pairs), 1.0
        self.gradient = np.zeros(paths.paths)

    def file(self, t: int | str) -> str:
        """Return what its checkpoint after t rounds is called."""
        return f"pairs-{self.begin}-round-{t}.npy"

    @property
    def shares(self) -> Vector:
        """The share of each path, a live view."""
        return self.learner._state["x"]

    def loads(self, demand: Demand) -> Vector:
        """Take in this round's demands; return [load of each link | all demand, demand x latency].

        `demand` is the shard's own part.
        """
        if isinstance(demand, int):
            assert self.stream is not None
            self.demand = self.stream.part(demand, self.begin, self.end)
        elif isinstance(demand, Changes):
            self.demand = self.demand.copy()
            self.demand[demand.pairs] = demand.values
        else:
            self.demand = demand.astype(np.float64)
        out = np.zeros(self.links + 2)
        out[-2:] = path_rounds.add_loads(self.table, self.demand, self.shares, out[:-2])
        return out

    def sums(self, prices: Vector, total: float) -> Vector:
        """Gather the gradients from the links' prices; return the sums that the weight needs."""
        self.total, sums = total, np.zeros(path_rounds.SUMS)
        path_rounds.gather(self.table, self.demand, self.shares, prices, total, self.gradient, sums)
        return sums

    def step(self, weight: float) -> None:
        """Learn from the loss, cost + weight x constraint; its size was checked with the sums."""
        path_rounds.weigh(self.table, self.demand, self.total, weight, self.gradient)
        tell_learner(self.learner.step_table, self.gradient, NO_NUMBERS, UNDECLARED)

    def lowest(self) -> Vector:
        """Return min <S, x> for the sum S of all losses so far, as an array."""
        return np.array([path_rounds.lowest_sum(self.first, self.learner._state["S"])])

    def save(self, path: Path) -> None:
        """Write its demands and what it has learnt to a file, which is replaced whole."""
        content = io.BytesIO()
        np.save(content, np.concatenate([self.demand, self.learner._state.array]))
        replace_files({path: add_digest(content.getvalue())})

    def load(self, path: Path) -> None:
        """Go back to what a file has."""
        content = without_digest(path.read_bytes())
        if content is None:
            raise ValueError(f"{path} was cut or changed after it was written; remove it")
        numbers, n = np.load(io.BytesIO(content)), self.demand.size
        self.demand, self.learner._state.array[:] = numbers[:n].copy(), numbers[n:]


class Host:
    """Some shards in one process, and the threads that they share.

    Sums over shards are made by twos, then by twos of these, and so on. So a host whose shards are
    half of them, or a quarter, sends one sum, and the whole sum has the same bits.

    Args:
        shards: a power of two of neighbours.
        threads: how many shards are worked on at once.
        single: whether loads are added, and travel, as 32-bit numbers.

    """

    def __init__(self, shards: Sequence[Shard], threads: int = 1, single: bool = False):
        self.shards, self.single = list(shards), single
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def _each(self, work: Callable[[Shard], Result]) -> list[Result]:
        """Return the results of all shards, in their order."""
        if self._pool is None:
            return [work(shard) for shard in self.shards]
        return list(self._pool.map(work, self.shards))

    def loads(self, demand: Sequence[Demand]) -> Vector:
        """Return the sum of the shards' loads, given the demands of each."""
        own = dict(zip(self.shards, demand, strict=True))
        found = self._each(lambda shard: shard.loads(own[shard]))
        return sum_by_twos([loads.astype(np.float32) for loads in found] if self.single else found)

    def sums(self, above: NDArray[np.uint32], total: float) -> Vector:
        """Return the sum of the shards' sums, given the links above the limit."""
        prices = np.zeros(self.shards[0].links)
        prices[above] = 1.0 / total
        return sum_by_twos(self._each(lambda shard: shard.sums(prices, total)))

    def step(self, weight: float) -> None:
        """Let all shards learn."""
        self._each(lambda shard: shard.step(weight))

    def lowest(self) -> Vector:
        """Return the sum of the shards' lowest products."""
        return sum_by_twos(self._each(Shard.lowest))

    def shares(self) -> list[Vector]:
        """Return a copy of the shares of each shard."""
        return self._each(lambda shard: shard.shares.copy())

    def save(self, folder: Path, t: int) -> None:
        """Write a checkpoint of each shard after t rounds, and remove older ones but the last."""

        def write(shard: Shard) -> None:
            before = sorted(folder.glob(shard.file("*")), key=lambda path: path.stat().st_mtime)
            shard.save(folder / shard.file(t))
            for path in before[:-1]:
                path.unlink()

        self._each(write)

    def load(self, folder: Path, t: int) -> None:
        """Go back to the checkpoints after t rounds."""
        self._each(lambda shard: shard.load(folder / shard.file(t)))


def sum_by_twos(vectors: Sequence[Vector]) -> Vector:
    """Return the sum of a power of two of vectors: neighbours first, then neighbouring sums."""
    while len(vectors) > 1:
        vectors = [vectors[i] + vectors[i + 1] for i in range(0, len(vectors), 2)]
    return vectors[0]
