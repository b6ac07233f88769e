"""The paper's experiment: cheap routes that must carry enough bandwidth."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import DEFAULT_SEED, RNG, Vector, as_count, as_number, as_seed, as_vector
from hedgerow.networks.hub_graphs import hub_edges
from hedgerow.problems.problem import EnvelopedProblem, LinearChunk
from hedgerow.problems.routes import Links, Orientation, find_routes
from hedgerow.problems.variation import PAPER_BANDWIDTH, PAPER_LATENCY, PeriodicDrift, Variation
from hedgerow.sets.paths.dag_paths import DagPaths

HUB_RTT_LEVELS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
HUB_RTT_QUANTILES_MS = (
    0.081, 0.961, 4.010, 8.254, 12.860, 17.475, 23.305, 35.858, 76.998, 98.710, 140.677, 194.442,
    250.524, 310.757, 384.197,
)  # fmt: skip
"""Quantiles of the least round-trip times, in ms, of 190 RIPE Atlas anchors to one hub
(measurement 23449934, 2019-11-27; RIPE Atlas data (c) RIPE NCC)."""

HUB_RTT_LABEL = "synthetic:quantiles of measured round-trip times"

BANDWIDTH_MEDIAN_MBPS = 50.0
BANDWIDTH_LOG_DEVIATION = 0.8
"""RIPE Atlas measures no bandwidth: this law is invented, and every table says so."""


class MeasuredLinks(Links, Protocol):
    """A network whose edges have a bandwidth too, with a word on where it comes from."""

    @property
    def bandwidth_mbps(self) -> Any:
        """The bandwidth of each edge, or None."""

    @property
    def bandwidth_label(self) -> str | None:
        """What it is: "measured", "proxy:..." or "synthetic:..."."""


@dataclass(frozen=True, eq=False)
class ShortestPath(EnvelopedProblem):
    """Route one unit of traffic: low latency, and a bandwidth of at least `threshold` each round.

    f_t(x) = <tau_t, x> and g_t(x) = threshold - <l_t, x>, with the latencies tau_t and bandwidths
    l_t of each edge and round: by default latency x U[0.5, 1.5] and bandwidth x U[0.8, 1.2], the
    paper's random scaling. As in the paper, a path's bandwidth is the sum over its edges, so
    longer paths carry more.

    Args:
        decision_set: the paths.
        latency: base latency of each edge, in ms.
        bandwidth: base bandwidth of each edge, in Mbit/s.
        threshold: the bandwidth b that each round asks for, in Mbit/s.
        horizon: the number of rounds.
        seed: fixes the rounds.
        bandwidth_source: "measured", "proxy:..." or "synthetic:...".
        latency_source: the same for latency.
        latency_rounds: how latency varies, a `UniformScaling` or a `Series` of measurements.
        bandwidth_rounds: how bandwidth varies.
        orientation: how the edges were turned to form no cycle, in a few words.
        kept: the numbers of these edges in the network they come from, or None.

    >>> from types import SimpleNamespace
    >>> network = SimpleNamespace(
    ...     edges=[("s", "a"), ("a", "s"), ("a", "t"), ("s", "t")],
    ...     latency_ms=[10.0, 10.0, 10.0, 15.0],
    ...     bandwidth_mbps=[80.0, 70.0, 60.0, 50.0],
    ...     bandwidth_label="measured",
    ... )
    >>> problem = ShortestPath.from_network(network, "s", "t", 100, 0, orientation="distance")
    >>> list(problem.decision_set.edges), problem.threshold
    ([('s', 'a'), ('a', 't'), ('s', 't')], 81.0)

    """

    decision_set: DagPaths
    latency: Vector
    bandwidth: Vector
    threshold: float
    horizon: int
    seed: int
    bandwidth_source: str
    latency_source: str = "given"
    latency_rounds: Variation = PAPER_LATENCY
    bandwidth_rounds: Variation = PAPER_BANDWIDTH
    orientation: str = "as given"
    kept: NDArray[np.intp] | None = None

    @classmethod
    def from_network(
        cls,
        network: MeasuredLinks,
        source: Hashable,
        target: Hashable,
        horizon: int,
        seed: int | None = None,
        *,
        rng: RNG | None = None,
        threshold: float | None = None,
        orientation: Orientation = None,
        latency_rounds: Variation = PAPER_LATENCY,
        bandwidth_rounds: Variation = PAPER_BANDWIDTH,
    ) -> ShortestPath:
        """Play on a network of your own.

        Args:
            network: anything with `edges`, `latency_ms`, `bandwidth_mbps` and `bandwidth_label`,
                such as a `Network`.
            source: the node where routes begin, by name or as the edges have it.
            target: the node where they end.
            horizon: the number of rounds.
            seed: fixes the rounds.
            rng: in place of `seed`, a whole number or a generator of `numpy.random`.
            threshold: the bandwidth that each round asks for, at most what the widest path
                carries in its worst round; None for midway between that and the cheapest path's.
            orientation: an order of the nodes, "distance" or None; edges that point backward in
                it, and those on no route, are left out. See `problem.kept` and
                `problem.orientation`.
            latency_rounds: how latency varies; a `Series` has one column for each edge of the
                network.
            bandwidth_rounds: how bandwidth varies.

        """
        if network.bandwidth_mbps is None:
            raise ValueError(
                "the network has no bandwidth; give it one, or keep latency below a cap with "
                "LatencyCap.from_network"
            )
        found = find_routes(network, source, target, orientation)
        X, kept = found.paths, found.kept
        bandwidth = as_vector(network.bandwidth_mbps, "bandwidth_mbps", len(network.edges))[kept]
        carried = bandwidth_rounds.restricted(kept, len(network.edges))
        widest = X.lmo(-carried.bounds(bandwidth)[0])
        surest = carried.extremes(bandwidth, widest)[0]
        if threshold is None:
            cheapest = float(bandwidth @ X.lmo(found.latency))
            threshold = min(0.99 * surest, 0.5 * (cheapest + surest))
        elif as_number(threshold, "threshold") > surest:
            raise ValueError(
                f"the widest path carries {surest:g} Mbit/s in its worst round, the threshold is "
                f"{threshold:g}; lower it to at most that"
            )
        return cls(
            X,
            found.latency,
            bandwidth,
            threshold,
            as_count(horizon, "horizon"),
            as_seed(seed, rng),
            network.bandwidth_label or "given",
            found.latency_source,
            latency_rounds.restricted(kept, len(network.edges)),
            carried,
            found.orientation,
            kept,
        )

    @classmethod
    def random_network(
        cls,
        nodes: int = 191,
        edges: int = 1200,
        horizon: int = 1600,
        seed: int = DEFAULT_SEED,
        *,
        rng: RNG | None = None,
    ) -> ShortestPath:
        """Draw a graph by the paper's recipe, with hub latencies like those of RIPE Atlas.

        One hub and nodes - 1 spokes. Hub edges have the spoke's latency and bandwidth; an edge
        between two spokes has the sum of their latencies and the least of their bandwidths. Hub
        latencies follow the quantiles of real round-trip times; bandwidth is synthetic. The nodes
        are ordered with the source first, the hub in the middle and the target last, every edge
        points forward, and every edge lies on a path. The threshold is
        max(0.4 bmax, 1.25 x the bandwidth of the cheapest path), where bmax is the largest
        bandwidth of a path: the path that attains bmax satisfies every round's constraint
        (0.8 bmax >= b), and the cheapest path violates every round (1.2 < 1.25).
        """
        seed = as_seed(seed, rng)
        draws = np.random.default_rng([seed, 0])
        pairs, hub = hub_edges(as_count(nodes, "nodes", least=4), edges, draws)
        rtt = np.interp(draws.uniform(size=nodes), HUB_RTT_LEVELS, HUB_RTT_QUANTILES_MS)
        mbps = BANDWIDTH_MEDIAN_MBPS * np.exp(
            BANDWIDTH_LOG_DEVIATION * draws.standard_normal(nodes)
        )
        rtt[hub], mbps[hub] = 0.0, math.inf
        latency = rtt[pairs].sum(axis=1)
        bandwidth = mbps[pairs].min(axis=1)
        paths = DagPaths(pairs, 0, nodes - 1)
        largest = float(-paths.minimum(-bandwidth))
        cheapest = float(bandwidth @ paths.lmo(latency))
        threshold = max(0.4 * largest, 1.25 * cheapest)
        if threshold > 0.8 * largest:
            raise ValueError(
                f"seed {seed} has no feasible threshold: the cheapest path carries {cheapest:.0f} "
                f"Mbit/s of {largest:.0f} at most; use another seed or more edges"
            )
        law = f"synthetic:lognormal({BANDWIDTH_MEDIAN_MBPS:g},{BANDWIDTH_LOG_DEVIATION:g})"
        rounds = as_count(horizon, "horizon")
        return cls(paths, latency, bandwidth, threshold, rounds, seed, law, HUB_RTT_LABEL)

    @cached_property
    def envelope(self) -> tuple[LinearChunk, LinearChunk]:
        """The least and the largest coefficients of all rounds."""
        fast, slow = self.latency_rounds.bounds(self.latency)
        narrow, wide = self.bandwidth_rounds.bounds(self.bandwidth)
        b = self.threshold
        return LinearChunk.of(fast, -wide, b), LinearChunk.of(slow, -narrow, b)

    @property
    def record(self) -> dict[str, str]:
        """What was chosen, what was measured and what was invented, for tables and plots."""
        return {
            "edges": f"{self.decision_set.dim}, {self.orientation}",
            "latency": f"{self.latency_source}, {self.latency_rounds.label(self.horizon)}",
            "bandwidth": f"{self.bandwidth_source}, {self.bandwidth_rounds.label(self.horizon)}",
            "threshold": f"{self.threshold:g} Mbit/s, summed along a path",
            "seed": str(self.seed),
        }

    def chunks(self, size: int = 256) -> Iterator[LinearChunk]:
        """Yield the rounds, `size` at a time."""
        tau, load = (np.random.default_rng([self.seed, i]) for i in (1, 2))
        latencies = self.latency_rounds.chunks(self.latency, self.horizon, size, tau)
        bandwidths = self.bandwidth_rounds.chunks(self.bandwidth, self.horizon, size, load)
        for costs, carried in zip(latencies, bandwidths, strict=True):
            yield LinearChunk.of(costs, -carried, self.threshold)


LATENCY_SWING = 0.5
BANDWIDTH_SWING = 0.25
"""How far the tides of latency and bandwidth go up and down, as shares of the base: invented."""


def drifting_paths(
    nodes: int = 100,
    edges: int = 600,
    horizon: int = 1600,
    seed: int = DEFAULT_SEED,
    period: int = 800,
    *,
    rng: RNG | None = None,
) -> ShortestPath:
    """Return the paper's routing problem on a random graph, with periodic latency and bandwidth.

    The graph and its base values are those of `ShortestPath.random_network`, and so is the noise,
    x U[0.5, 1.5] on latency and x U[0.8, 1.2] on bandwidth. Latency has a tide of 50 % and
    bandwidth one of 25 %. The threshold is that of `random_network` if the path of largest base
    bandwidth bmax satisfies it at low tide, else what that path surely carries, 0.8 x 0.75 bmax:
    `problem.feasible` satisfies every round. Latency is in ms, bandwidth in Mbit/s.

    Args:
        nodes: how many nodes, the hub included.
        edges: how many edges, all of them on some path.
        horizon: the number of rounds.
        seed: fixes everything.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.
        period: rounds from one high tide to the next.

    >>> problem = drifting_paths(nodes=12, edges=40, horizon=100, seed=1, period=50)
    >>> max(constraint(problem.feasible) for _, constraint in problem) <= 0.0
    True

    """
    still = ShortestPath.random_network(nodes, edges, horizon, seed, rng=rng)
    carried = PeriodicDrift(PAPER_BANDWIDTH, BANDWIDTH_SWING, period)
    surest = -still.decision_set.minimum(-carried.bounds(still.bandwidth)[0])
    return replace(
        still,
        threshold=min(still.threshold, (1.0 - 1e-12) * surest),
        latency_rounds=PeriodicDrift(PAPER_LATENCY, LATENCY_SWING, period),
        bandwidth_rounds=carried,
    )
