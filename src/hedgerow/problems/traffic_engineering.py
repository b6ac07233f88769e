"""Splitting the traffic of a network over paths before the demands are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import kernels
from hedgerow.functions import Function
from hedgerow.inputs import Vector, as_array, as_count, as_positive, as_vector, freeze, read_only
from hedgerow.problems.compiled_rounds import CompiledChunk, FunctionRows
from hedgerow.problems.link_loads import (
    Congestion,
    CongestionCost,
    FortzThorup,
    LargestUtilisation,
    QueueingDelay,
    SplitLoads,
    average,
    each_link,
    mean_latency,
    shows_links,
)
from hedgerow.problems.problem import Problem, Round
from hedgerow.problems.routing_programmes import best_split, least_limit_of_all, utilisation_rows
from hedgerow.protocols.parts import Policy
from hedgerow.sets.compiled import pack_uint32
from hedgerow.sets.paths.multi_commodity import MultiCommodityFlow, PathShares

QUANTILE = 0.9
"""`shortest_limit` is what shortest paths satisfy in this share of the rounds."""


class LinkNetwork(Protocol):
    """Directed links with a latency and a capacity; a `Network` or a `Topology`."""

    @property
    def nodes(self) -> Sequence[str]:
        """Their names."""
        ...

    @property
    def edges(self) -> NDArray[np.int64]:
        """One row (source, target) of node numbers for each link."""
        ...

    @property
    def latency_ms(self) -> Vector:
        """Of each link."""
        ...

    @property
    def bandwidth_mbps(self) -> Vector | None:
        """The capacity of each link."""
        ...


class RoundOptima(NamedTuple):
    """The best split of each round by itself, as if its demands were known before.

    Attributes:
        costs: what it costs.
        limits: the limit that it satisfies: the problem's, or more where no split satisfies that.

    """

    costs: Vector
    limits: Vector


@dataclass(frozen=True, eq=False)
class TrafficEngineering(Problem):
    """Split each demand over paths: low latency, and no link used above a limit.

    The split x is chosen first, then the demands d_t of the round come. With load_e(x) the demand
    that crosses link e, f_t(x) is the latency of the average unit of traffic, or a congestion cost,
    and g_t(x) = max_e load_e(x)/capacity_e - limit. Both are sparse linear maps of x and d_t, so
    that a round holds a demand vector and no dense row for each link.

    Args:
        decision_set: `PathShares`, or `MultiCommodityFlow`.
        demands: rounds x pairs, at least 0.
        latency: of each link, in ms.
        capacity: of each link, in the unit of the demands.
        limit: the largest utilisation that each round allows.
        cost: None for the mean latency; `FortzThorup()` or `QueueingDelay()` for congestion.
        per_link: whether each link is a constraint of its own, as parts of a `Maximum`.
        source: where the demands come from, in a few words.
        available: rounds x links, the share of its capacity that a link has in a round, above 0
            and at most 1: a failed link has hardly any, so that using it violates by far. None
            where no link ever fails.

    Attributes:
        loads: which coordinates load which links.

    >>> edges = [("s", "a"), ("a", "t"), ("s", "t")]
    >>> X = PathShares(edges, [("s", "t")], k=2)
    >>> problem = TrafficEngineering(X, [[8.0], [6.0]], [2.0, 2.0, 1.0], [10.0] * 3, limit=0.5)
    >>> (cost, constraint), _ = problem
    >>> cost(np.array([0.5, 0.5])), round(constraint(np.array([0.75, 0.25])), 9)
    (2.5, 0.1)
    >>> round(problem.smallest_limit, 9)
    0.4

    """

    decision_set: PathShares | MultiCommodityFlow
    demands: Vector
    latency: Vector
    capacity: Vector
    limit: float
    cost: Congestion | None = None
    per_link: bool = False
    source: str = "given"
    available: Vector | None = None
    horizon: int = field(init=False)
    loads: SplitLoads = field(init=False, repr=False)

    def __post_init__(self) -> None:
        X, links = self.decision_set, len(self.decision_set.edges)
        demands = checked_demands(self.demands, len(X.pairs))
        loads = SplitLoads(X.incidence, X.pair_of, self.capacity)
        freeze(
            self,
            demands=read_only(demands),
            horizon=len(demands),
            latency=read_only(as_vector(self.latency, "latency", links)),
            limit=as_positive(self.limit, "limit"),
            loads=loads,
            capacity=loads.capacity,
        )
        if self.available is not None:
            shares = _checked_shares(self.available, len(demands), links)
            freeze(self, available=shares)

    @classmethod
    def from_network(
        cls,
        network: LinkNetwork,
        matrices: ArrayLike,
        *,
        k: int | None = 4,
        limit: float | None = None,
        cost: Congestion | None = None,
        per_link: bool = False,
        source: str = "given",
        available: ArrayLike | None = None,
    ) -> TrafficEngineering:
        """Play on a network with one traffic matrix per round.

        Args:
            network: a `Topology`, or a `Network` with a bandwidth on every edge.
            matrices: rounds x nodes x nodes, row = origin, in the unit of the bandwidth. Pairs
                that never have a demand are left out; the diagonal does not count.
            k: how many paths a pair may use, shortest by latency; None for all routes of the graph
                (`MultiCommodityFlow`).
            limit: the largest utilisation allowed; None for the middle between the least that one
                fixed split can satisfy in all rounds and what shortest paths exceed in a tenth of
                the rounds, so that a split is known that satisfies every round.
            cost: None for the mean latency.
            per_link: whether each link is a constraint of its own.
            source: where the demands come from, in a few words.
            available: rounds x links, what is left of each link's capacity; None for all of it.

        """
        if network.bandwidth_mbps is None:
            raise ValueError(
                "traffic engineering needs a capacity on every link, this network has no "
                "bandwidth_mbps; give one"
            )
        given = np.asarray(matrices, dtype=np.float64)
        n = len(network.nodes)
        if given.ndim != 3 or given.shape[1:] != (n, n) or not len(given):
            raise ValueError(
                f"matrices must have shape (rounds, {n}, {n}) on this network, got {given.shape}"
            )
        wanted = ~np.eye(n, dtype=np.bool_) & (given != 0.0).any(axis=0)
        if not wanted.any():
            raise ValueError("no pair of nodes has a demand in any round; check the matrices")
        names = network.nodes
        edges = [(names[u], names[v]) for u, v in network.edges.tolist()]
        pairs = [(names[i], names[j]) for i, j in np.argwhere(wanted).tolist()]
        latency, capacity = network.latency_ms, network.bandwidth_mbps
        X = (
            MultiCommodityFlow(edges, pairs)
            if k is None
            else PathShares(edges, pairs, as_count(k, "k"), latency)
        )
        demands = given[:, wanted]
        left = None if available is None else as_array(available, "available")
        problem = cls(X, demands, latency, capacity, 1.0, cost, per_link, source, left)
        return problem.with_limit(problem.middle_limit if limit is None else limit)

    def with_limit(self, limit: float) -> TrafficEngineering:
        """Return the same rounds with another limit."""
        return replace(self, limit=limit)

    @property
    def constraint_units(self) -> tuple[float, ...] | None:
        """Ones where each link is a constraint: all are shares of a capacity."""
        return (1.0,) * self.capacity.size if self.per_link else None

    def functions(self, demand: Vector, available: Vector | None = None) -> Round:
        """Return the round of a demand vector, and of what is left of the links."""
        loads = self.loads
        if available is not None and available.min() < 1.0:
            loads = loads.with_capacity(self.capacity * available)
        f: Function = (
            average(loads, self._path_latency, demand)
            if self.cost is None
            else CongestionCost(loads, demand, self.cost)
        )
        if self.per_link:
            return f, each_link(loads, demand, self.limit)
        return f, LargestUtilisation(loads, demand, self.limit)

    def rounds(self, policy: Policy[Any, Any] | None = None) -> Iterator[Round]:  # noqa: ARG002
        """Yield the rounds one by one."""
        return map(self._round, range(self.horizon))

    @cached_property
    def _path_latency(self) -> Vector:
        latency: Vector = self.loads.transposed @ self.latency
        return latency

    def compiled_rounds(self, size: int = 256) -> Iterator[CompiledChunk] | None:
        """Return the rounds for the compiled loop; None for a congestion cost of one's own.

        A round's own numbers are its demands and the capacities of the links.
        """
        loads, kind = kernels.loads, self._path_latency
        cost: Callable[..., float] = loads.eval_latency
        if self.cost is not None:
            if type(self.cost) is not FortzThorup and type(self.cost) is not QueueingDelay:
                return None
            cost, kind = loads.eval_congestion, np.array([self.cost.knee])
        ptr, at, data, pair_of = self.loads.sparse_map
        links, n = self.capacity.size, pair_of.size
        index, own = pack_uint32(links, n, ptr, at, pair_of), np.concatenate([data, kind])
        limit, scratch = np.append(data, self.limit), 4 * links
        several = self.per_link or shows_links(self.loads)

        def chunk(begin: int) -> CompiledChunk:
            part = slice(begin, begin + size)
            demands = self.demands[part]
            left = 1.0 if self.available is None else self.available[part]
            capacity = np.broadcast_to(self.capacity * left, (len(demands), links))
            rows = np.hstack([demands, capacity])
            largest = FunctionRows.of_rows(loads.eval_largest, rows, index, limit, 1, scratch)
            each = FunctionRows.of_rows(loads.eval_link, rows, index, limit, links, scratch)
            return CompiledChunk(
                len(rows),
                FunctionRows.of_rows(cost, rows, index, own, 1, scratch),
                each if self.per_link else largest,
                lambda r, _: self._round(begin + r),
                each if several else None,
            )

        return map(chunk, range(0, self.horizon, as_count(size, "the chunk size")))

    def _round(self, t: int) -> Round:
        return self.functions(
            self.demands[t], None if self.available is None else self.available[t]
        )

    def utilisation(self, x: Vector) -> Vector:
        """Return the utilisation of every link in each round, under one split."""
        used = self.loads.utilisation(as_vector(x, "x", self.decision_set), self.demands)
        return used if self.available is None else used / self.available

    def largest_utilisation(self, x: Vector) -> Vector:
        """Return the largest utilisation in each round, under one split."""
        largest: Vector = self.utilisation(x).max(axis=1)
        return largest

    @cached_property
    def shortest(self) -> Vector:
        """Each pair on its path of least latency."""
        X = self.decision_set
        if isinstance(X, PathShares):
            return X.shortest
        return read_only(X.lmo(np.tile(self.latency, len(X.pairs))))

    @cached_property
    def least_loaded(self) -> tuple[Vector, float]:
        """The split whose largest utilisation over all rounds is least, and that value; by LP."""
        available = np.ones(1) if self.available is None else self.available
        x, limit = least_limit_of_all(self.decision_set, self.loads, self.demands, available)
        return read_only(x), limit

    @property
    def smallest_limit(self) -> float:
        """The smallest limit that one fixed split satisfies in all rounds, known in hindsight."""
        return self.least_loaded[1]

    @property
    def feasible(self) -> Vector:
        """A split that satisfies every round, if the limit is at least `smallest_limit`."""
        return self.least_loaded[0]

    @property
    def shortest_limit(self) -> float:
        """What shortest paths exceed in a tenth of the rounds."""
        return float(np.quantile(self.largest_utilisation(self.shortest), QUANTILE))

    @property
    def middle_limit(self) -> float:
        """Midway between the smallest limit and the shortest paths'; feasible, and it matters."""
        least = self.smallest_limit
        return max(0.5 * (least + self.shortest_limit), 1.01 * least)

    def best_for(self, loads: SplitLoads, demand: Vector) -> tuple[Vector, float]:
        """Return the split of least latency for one demand vector, and its limit; by LP.

        The limit is the problem's, or the least that a split satisfies where none satisfies that.
        """
        slopes = mean_latency(loads, self.latency, demand).coefficients
        return best_split(self.decision_set, slopes, utilisation_rows(loads, demand), self.limit)

    def round_optima(self) -> RoundOptima:
        """Return the dynamic benchmark: each round's own best split, one LP per round."""
        if self.cost is not None or self.per_link:
            raise NotImplementedError(
                "round_optima solves linear programmes of the mean latency under one limit; it "
                "needs cost=None and per_link=False"
            )
        costs, limits = np.empty(self.horizon), np.empty(self.horizon)
        for t, (f, g) in enumerate(self.rounds()):
            assert isinstance(g, LargestUtilisation)
            x, limits[t] = self.best_for(g.loads, g.demand)
            costs[t] = f(x)
        return RoundOptima(costs, limits)

    @cached_property
    def equal_split(self) -> Vector:
        """ECMP: each pair equally on those of its paths that have the fewest links."""
        X = self.decision_set
        if not isinstance(X, PathShares):
            raise NotImplementedError("equal splits are over paths; build the problem with k paths")
        hops = np.array([len(path) for path in X.paths])
        fewest = np.full(len(X.pairs), hops.max())
        np.minimum.at(fewest, X.pair_of, hops)
        chosen = (hops == fewest[X.pair_of]).astype(np.float64)
        return read_only(chosen / np.bincount(X.pair_of, chosen)[X.pair_of])

    @property
    def record(self) -> dict[str, str]:
        """What was chosen and where the demands come from, for tables and plots."""
        X = self.decision_set
        return {
            "links": str(len(X.edges)),
            "demands": f"{len(X.pairs)} pairs, {self.source}",
            "paths": str(X.dim) if isinstance(X, PathShares) else "all routes",
            "limit": f"{self.limit:.4g} of the capacity",
        }


def _checked_shares(given: ArrayLike, rounds: int, links: int) -> Vector:
    shares = as_array(given, "available")
    if shares.shape != (rounds, links) or not (shares.min() > 0.0 and shares.max() <= 1.0):
        raise ValueError(
            f"available must have shape ({rounds}, {links}) and entries above 0 and at most 1, got "
            f"{shares.shape} and entries from {shares.min():g} to {shares.max():g}"
        )
    return shares


def checked_demands(given: ArrayLike, pairs: int) -> Vector:
    """Return demands as an array of rounds x pairs, or say what is wrong with them."""
    demands = np.asarray(given, dtype=np.float64)
    if demands.ndim != 2 or demands.shape[1] != pairs or not len(demands):
        raise ValueError(
            f"demands must have shape (rounds, {pairs}) on this set, got {demands.shape}"
        )
    wrong = ~(np.isfinite(demands) & (demands >= 0.0))
    if wrong.any():
        t, d = np.argwhere(wrong)[0]
        raise ValueError(
            f"demands must be finite and at least 0, got {demands[t, d]} for pair {d} in round "
            f"{t + 1}; replace missing measurements first"
        )
    return demands
