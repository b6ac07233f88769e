"""An invented internet: autonomous systems, a million demands, planned capacities and failures."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector, as_count, freeze
from hedgerow.kernels import path_rounds
from hedgerow.networks.topology import KM_PER_MS, Topology
from hedgerow.problems.demand_streams import DriftingDemand, gravity_means
from hedgerow.sets.paths.bulk_paths import PathBlock, bulk_paths

SIDE_KM = 10_000.0
"""Nodes lie in a square of this side."""
SWITCHING_MS = 0.1
"""What a link adds to the time of light."""
HEADROOM, SMALLEST, TIGHT = 1.25, 16.0, 0.1
"""Capacities are powers of two above this many times the planned load, and above this many mean
demands; but this share of the large links is too small by half."""
CANDIDATES = 40
"""Among so many of the busiest links two are looked for that can fail."""
LEFT = 0.01
"""What is left of the capacity of a link that has failed."""


@dataclass(frozen=True, eq=False)
class InternetTraffic:
    """Demands between the nodes of a random internet, drawn from one seed.

    Nodes and links are `networkx.random_internet_as_graph(nodes, seed)`, every link both ways, with
    nodes anywhere in a square of 10,000 km and light in fibre between them. Pairs are drawn by the
    square roots of their degrees, and demands are a gravity model with a day of its own for each
    pair (`DriftingDemand`). Capacities were planned for shortest paths and mean demands, in powers
    of two; a tenth of the large links is too small by half. Two busy links fail, one after the
    other, that every demand on them could avoid. A network of your own keeps its links and
    latencies; the rest is drawn as above.

    Args:
        pairs: how many demands there are.
        nodes: how many nodes a random internet has.
        seed: fixes every draw.
        k: how many paths a pair may use.
        period: rounds per day.
        folder: where paths are kept (`bulk_paths`); None keeps nothing.
        progress: called with the number of destinations whose paths are found, and of all.
        network: the network to use; None for a random internet.

    Attributes:
        edges: one row (tail, head) for each link.
        latency: of each link, in ms.
        paths: of all pairs.
        stream: their demands, with a mean of 1.
        capacity: of each link, in mean demands.
        failing: the two links that fail.

    """

    pairs: int
    nodes: int = 10_000
    seed: int = 1
    k: int = 4
    period: float = 100.0
    folder: Path | str | None = None
    progress: Callable[[int, int], None] | None = None
    network: Topology | None = None
    edges: NDArray[np.int64] = field(init=False, repr=False)
    latency: Vector = field(init=False, repr=False)
    paths: PathBlock = field(init=False, repr=False)
    stream: DriftingDemand = field(init=False, repr=False)
    capacity: Vector = field(init=False, repr=False)
    failing: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng([as_count(self.seed, "seed", 0), 37])
        if self.network is not None:
            freeze(self, nodes=len(self.network.nodes))
            edges, light = both_ways(self.network)
        else:
            edges = internet_links(as_count(self.nodes, "nodes", 5), self.seed)
            place = rng.uniform(0.0, SIDE_KM, (self.nodes, 2))
            light = np.linalg.norm(place[edges[:, 0]] - place[edges[:, 1]], axis=1) / KM_PER_MS
        latency = SWITCHING_MS + light
        mass = np.sqrt(np.bincount(edges[:, 0], minlength=self.nodes))
        pairs = _draw_pairs(rng, mass, as_count(self.pairs, "pairs"))
        paths = bulk_paths(
            edges, pairs, self.k, latency, folder=self.folder, progress=self.progress
        )
        stream = DriftingDemand(gravity_means(mass, pairs, self.seed), self.seed, self.period)
        load = SplitOfPaths(paths, latency, shortest_shares(paths)).loads(stream.mean)[:-2]
        capacity = 2.0 ** np.ceil(np.log2(np.maximum(HEADROOM * load, SMALLEST)))
        half = len(edges) // 2  # the other direction of link e is e + half
        tight = np.tile(rng.random(half) < TIGHT, 2) & (capacity > 4.0 * SMALLEST)
        capacity = np.where(tight, capacity / 2.0, capacity)
        failing = _avoidable(paths, load)
        freeze(self, edges=edges, latency=latency, paths=paths, stream=stream)
        freeze(self, capacity=capacity, failing=failing)

    def capacity_in(self, t: int, horizon: int) -> Vector:
        """Return the capacities in a round: in an eighth of all rounds each of two links fails."""
        capacity = self.capacity
        for i, link in enumerate(self.failing):
            begin = (3 + 3 * i) * horizon // 8
            if begin <= t < begin + horizon // 8:
                capacity = capacity.copy()
                capacity[link] *= LEFT
        return capacity


class SplitOfPaths:
    """A fixed split over many paths, such as an operator's.

    Args:
        paths: of all pairs.
        latency: of each link, in ms.
        shares: of each path.

    """

    def __init__(self, paths: PathBlock, latency: Vector, shares: Vector):
        self.shares, self._links = shares, latency.size
        self._table = path_rounds.paths_table.filled(
            first=np.ascontiguousarray(paths.first),
            ptr=np.ascontiguousarray(paths.ptr),
            hops=np.ascontiguousarray(paths.hops),
            latency=paths.along(latency),
        )

    def loads(self, demand: Vector) -> Vector:
        """Return [load of each link | all demand, demand x latency]."""
        out = np.zeros(self._links + 2)
        out[-2:] = path_rounds.add_loads(self._table, demand, self.shares, out[:-2])
        return out


def internet_links(nodes: int, seed: int) -> NDArray[np.int64]:
    """Return the links of networkx's random internet, then the same links the other way."""
    try:
        import networkx as nx
    except ModuleNotFoundError:
        raise ImportError(
            'a random internet needs networkx; install it with: pip install ".[graphs]"'
        ) from None
    links = np.array(nx.random_internet_as_graph(nodes, seed=seed).edges(), np.int64)
    return np.vstack([links, links[:, ::-1]])


def both_ways(network: Topology) -> tuple[NDArray[np.int64], Vector]:
    """Return the links of a network, then the same links the other way, and their latencies."""
    ends, delay = network.edges, network.latency_ms
    found = {(int(u), int(v)): float(ms) for (u, v), ms in zip(ends, delay, strict=True)}
    one_way = [(u, v) for u, v in found if u < v or (v, u) not in found]
    there = np.array(one_way, np.int64)
    back = [found.get((v, u), found[u, v]) for u, v in one_way]
    forth = [found[pair] for pair in one_way]
    return np.vstack([there, there[:, ::-1]]), np.array(forth + back)


def shortest_shares(paths: PathBlock) -> Vector:
    """Return the split with each pair on its shortest path."""
    shares = np.zeros(paths.paths)
    shares[paths.first[:-1]] = 1.0
    return shares


def equal_shares(paths: PathBlock) -> Vector:
    """ECMP: return the split with each pair equally on those of its paths with fewest links."""
    hops, first = np.diff(paths.ptr.astype(np.int64)), paths.first[:-1]
    sizes = np.diff(paths.first)
    fewest = (hops == np.repeat(np.minimum.reduceat(hops, first), sizes)).astype(np.float64)
    shares: Vector = fewest / np.repeat(np.add.reduceat(fewest, first), sizes)
    return shares


def _draw_pairs(rng: np.random.Generator, mass: Vector, count: int) -> NDArray[np.int64]:
    """Return different pairs, sorted by destination so that neighbours share links."""
    n = mass.size
    if count > n * (n - 1) // 4:
        raise ValueError(f"{n} nodes have too few pairs for {count} demands; ask for more nodes")
    drawn = np.empty(0, np.int64)
    while drawn.size < count:
        ends = rng.choice(n, (2 * count, 2), p=mass / mass.sum())
        ends = ends[ends[:, 0] != ends[:, 1]]
        drawn = np.unique(np.concatenate([drawn, ends[:, 1] * n + ends[:, 0]]))
    chosen = np.sort(rng.choice(drawn, count, replace=False))
    return np.stack([chosen % n, chosen // n], axis=1)


def _avoidable(paths: PathBlock, load: Vector) -> tuple[int, ...]:
    """Return two of the busiest links that every pair can avoid; fewer if there are none."""
    found: list[int] = []
    for link in np.argsort(-load, kind="stable")[:CANDIDATES].tolist():
        uses = np.logical_or.reduceat(paths.hops == link, paths.ptr[:-1])
        if not np.logical_and.reduceat(uses, paths.first[:-1]).any():
            found.append(link)
        if len(found) == 2:
            break
    return tuple(found)


def default_folder() -> Path:
    """Return where the command keeps paths: the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hedgerow" / "paths"
