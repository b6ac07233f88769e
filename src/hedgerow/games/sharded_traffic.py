"""Traffic engineering with a million demands: one game in shards, on threads or on machines."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.games.traffic_shard import (
    Changes,
    Demand,
    DemandStream,
    Host,
    Shard,
)
from hedgerow.inputs import Vector, as_count, as_positive, as_vector
from hedgerow.kernels import path_rounds
from hedgerow.sets.paths.bulk_paths import PathBlock
from hedgerow.surrogates.square_weight import WeightOfSums

SHARDS = 16
"""A power of two, and enough for 16 threads or workers."""


class TrafficRound(NamedTuple):
    """What a round was like under the split that was chosen before it.

    Attributes:
        cost: the latency of the average unit of traffic, in ms.
        violation: the traffic above the limit, summed over links, per unit of demand.
        largest: the largest utilisation of a link.
        weight: of the constraint in the loss, in ms per unit of violation.

    """

    cost: float
    violation: float
    largest: float
    weight: float


class Hosts(Protocol):
    """Where the shards are: `Host` for this process; all together hold all shards in order."""

    def loads(self, demand: Sequence[Demand]) -> Vector:
        """Return the sum of the shards' loads."""
        ...

    def sums(self, above: NDArray[np.uint32], total: float) -> Vector:
        """Return the sum of the shards' sums, given the links above the limit."""
        ...

    def step(self, weight: float) -> None:
        """Let all shards learn."""
        ...

    def lowest(self) -> Vector:
        """Return the sum of the shards' lowest products."""
        ...

    def shares(self) -> list[Vector]:
        """Return the shares of each shard."""
        ...


class ShardPlan(NamedTuple):
    """What shards are built from.

    Attributes:
        paths: of all pairs.
        latency: of each link, in ms.
        stream: where demands come from that are not reported.
        cuts: where shards begin, and the end.
        single: whether loads are added, and travel, as 32-bit numbers.

    """

    paths: PathBlock
    latency: Vector
    stream: DemandStream | None
    cuts: tuple[int, ...]
    single: bool

    def host(self, threads: int) -> Host:
        """Build all shards."""
        first = self.cuts[0]
        shards = [
            Shard(begin, self.paths.part(begin - first, end - first), self.latency, self.stream)
            for begin, end in zip(self.cuts, self.cuts[1:], strict=False)
        ]
        return Host(shards, min(threads, len(shards)), self.single)

    def parts(self, count: int) -> list[ShardPlan]:
        """Return as many plans of neighbouring shards, each with its own paths."""
        size = (len(self.cuts) - 1) // count
        plans = []
        for k in range(count):
            cuts = self.cuts[k * size : (k + 1) * size + 1]
            plans.append(self._replace(paths=self.paths.part(cuts[0], cuts[-1]), cuts=cuts))
        return plans


class ShardedTraffic:
    """Split demands over paths, round by round, below a limit of every link's utilisation.

    The split is chosen first, then `report` takes the demands of the round. The first split sends
    each demand over its first path, the shortest. f_t is the latency of the average unit of traffic
    and g_t(x) = sum_e (load_e(x) - limit capacity_e)^+ / all demand, the traffic above the limit:
    at most 0 exactly if no link is above it, and its gradient sees all links that are, not one
    alone. The policy is `projection_free_coco(tracking=False)`: every demand has a step and a
    regulariser of its own (`BlockOCG`), and the weight of the constraint needs only sums over all
    demands. Up to 200,000 paths the default itself plays better: see `TrafficEngineering`.

    Demands are cut into shards. A round needs two sums over shards: the loads of all links, and
    a few products. Both are added in one fixed order, so the decisions are the same bits for every
    number of threads, and of machines (`experiments.DaskShards`).

    No theorem bounds regret or violation beforehand; `certificate()` bounds the regret of the
    rounds so far.

    Args:
        paths: of all pairs, from `bulk_paths`.
        latency: of each link, in ms.
        capacity: of each link, in the unit of the demands.
        limit: the largest utilisation allowed.
        stream: where demands come from if `report` is called without; each shard reads its own.
        shards: a power of two. Another number changes roundings, and nothing else.
        threads: how many shards are worked on at once; None for one for each processor.
        eagerness: how eagerly the limit is satisfied, as in `projection_free_coco`.
        single: whether loads are added, and travel, as 32-bit numbers; shares have 64 bits.
        hosts: builds the shards elsewhere from a `ShardPlan`; None for this process.

    >>> from hedgerow.sets.paths.bulk_paths import bulk_paths
    >>> edges, pairs = [(0, 1), (1, 2), (0, 2)], [(0, 2), (0, 1)]
    >>> paths = bulk_paths(edges, pairs, k=2)
    >>> game = ShardedTraffic(paths, [1.0, 1.0, 1.0], [10.0] * 3, 0.5, shards=1)
    >>> game.report([8.0, 2.0]).largest
    0.8
    >>> for _ in range(50):
    ...     seen = game.report([8.0, 2.0])
    >>> seen.violation < 0.05
    True

    """

    def __init__(
        self,
        paths: PathBlock,
        latency: ArrayLike,
        capacity: ArrayLike,
        limit: float,
        *,
        stream: DemandStream | None = None,
        shards: int = SHARDS,
        threads: int | None = None,
        eagerness: float = 1.0,
        single: bool = False,
        hosts: Callable[[ShardPlan], Hosts] | None = None,
    ):
        self.paths, self.latency = paths, as_vector(latency, "latency")
        self.capacity = as_vector(capacity, "capacity", self.latency.size)
        if not (self.capacity > 0.0).all() or self.latency.min() < 0.0:
            raise ValueError("latencies must be at least 0 and capacities above 0")
        if int(paths.hops.max()) >= self.latency.size:
            raise ValueError(
                f"the paths use {int(paths.hops.max()) + 1} links, latency has {self.latency.size}"
            )
        self.limit, self.rounds = as_positive(limit, "limit"), 0
        count = as_count(shards, "shards")
        if count & (count - 1) or count > paths.pairs:
            raise ValueError(f"shards must be a power of two of at most {paths.pairs}, got {count}")
        cuts = tuple(int(cut) for cut in np.linspace(0, paths.pairs, count + 1).round())
        self.plan = ShardPlan(paths, self.latency, stream, cuts, single)
        self._weights = WeightOfSums(paths.paths, eagerness)
        threads = os.cpu_count() or 1 if threads is None else as_count(threads, "threads")
        self.hosts: Hosts = self.plan.host(threads) if hosts is None else hosts(self.plan)

    def report(
        self, demand: ArrayLike | Changes | None = None, capacity: ArrayLike | None = None
    ) -> TrafficRound:
        """Take in the demands of this round, and choose the next split.

        Args:
            demand: of each pair, at least 0; `Changes` since the round before; None to read the
                stream.
            capacity: of each link in this round; the usual one if left out.

        """
        limits = self.capacity if capacity is None else self._checked_capacity(capacity)
        loads = self.hosts.loads(self._parts(demand)).astype(np.float64)
        _, violation, _, _ = seen = judge(loads, limits, self.limit)
        above = np.flatnonzero(loads[:-2] > self.limit * limits)
        sums = self.hosts.sums(above.astype(np.uint32), float(loads[-2]) or 1.0)
        weight = self._weights.tell(violation, sums)
        self.hosts.step(weight)
        self._weights.settle(float(sums[path_rounds.COST] + weight * sums[path_rounds.FORCE]))
        self.rounds += 1
        return seen._replace(weight=weight)

    def _parts(self, demand: ArrayLike | Changes | None) -> list[Demand]:
        """Return the part of each shard."""
        cuts = list(zip(self.plan.cuts, self.plan.cuts[1:], strict=False))
        if demand is None:
            if self.plan.stream is None:
                raise ValueError("there is no stream of demands; report the demands of this round")
            return [self.rounds] * len(cuts)
        if isinstance(demand, Changes):
            _check_demand(demand.values)
            return [demand.part(begin, end) for begin, end in cuts]
        given = as_vector(demand, "demand", self.paths.pairs)
        _check_demand(given)
        return [given[begin:end] for begin, end in cuts]

    def _checked_capacity(self, capacity: ArrayLike) -> Vector:
        limits = as_vector(capacity, "capacity", self.latency.size)
        if not (limits > 0.0).all():
            raise ValueError("capacities must be above 0; give a failed link a small one")
        return limits

    def certificate(self) -> float:
        """Bound the regret so far, in ms, against every fixed split that satisfies all rounds.

        sum <s_t, x_t> - min over X of <sum s_t, x> - sum w_t g_t(x_t), as `ConstrainedPolicy` has
        it, up to rounding. Where no fixed split satisfies all rounds it bounds nothing; a number
        below minus the longest path's latency in each round proves that.
        """
        weights = self._weights
        return float(weights.inner - self.hosts.lowest()[0] - weights.paid)

    def shares(self) -> Vector:
        """Return the share of each path in the next round."""
        return np.concatenate(self.hosts.shares())


def judge(loads: Vector, capacity: Vector, limit: float) -> TrafficRound:
    """Return cost and violation of [load of each link | all demand, demand x latency]."""
    used, total = loads[:-2], float(loads[-2]) or 1.0
    above = np.maximum(used - limit * capacity, 0.0)
    largest = float((used / capacity).max())
    return TrafficRound(float(loads[-1]) / total, float(above.sum()) / total, largest, 0.0)


def _check_demand(values: Vector) -> None:
    if not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise ValueError(
            "demands must be finite and at least 0; replace missing measurements first"
        )
