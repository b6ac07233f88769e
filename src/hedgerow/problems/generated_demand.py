"""Invented traffic: a gravity model with cycles, noise and flash crowds, and links that fail."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import RNG, Vector, as_count, as_number, as_positive, as_seed
from hedgerow.problems.link_loads import SplitLoads
from hedgerow.problems.traffic_engineering import LinkNetwork
from hedgerow.sets.paths.multi_commodity import PathShares

SPREAD = 0.5
"""How much the masses of nodes differ beyond their capacities: the sigma of a lognormal law."""
MEMORY = 0.95
"""How much of the noise of one round is left in the next."""
MOST_NUMBERS = 1 << 28
"""In all matrices together: 2 GiB."""
WORKDAYS = 5
"""Days of a week before its weekend."""


def gravity_demands(
    network: LinkNetwork,
    horizon: int,
    seed: int | None = None,
    *,
    rng: RNG | None = None,
    pairs: int | None = 400,
    utilisation: float = 0.5,
    rounds_per_day: int = 288,
    daily: float = 0.5,
    weekend: float = 0.6,
    noise: float = 0.2,
    crowds: float = 0.005,
    crowd: float = 2.0,
    crowd_rounds: int = 24,
) -> NDArray[np.float64]:
    """Return traffic matrices, rounds x nodes x nodes, drawn from one seed.

    The demand from i to j is m_i m_j, where the mass m of a node is the capacity of its links times
    a lognormal factor, times a daily and a weekly cycle, times lognormal noise that fades slowly,
    times `crowd` for destinations with a flash crowd. All are scaled so that shortest paths would
    use their busiest link as `utilisation` says, on average.

    Args:
        network: a `Topology`, or a `Network` with a bandwidth.
        horizon: the number of rounds.
        seed: fixes every draw.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.
        pairs: the number of pairs with a demand, the largest ones; None for all.
        utilisation: of the busiest link under shortest paths, in the mean over the rounds.
        rounds_per_day: 288 for one every five minutes.
        daily: how far demand rises and falls in a day, as a share, below 1.
        weekend: what is left of it on two days of seven.
        noise: the standard deviation of the noise's logarithm.
        crowds: the probability that a flash crowd begins in a round.
        crowd: by how much it multiplies the demand to one destination.
        crowd_rounds: how long it lasts.

    Reference for gravity models: Roughan, Simplifying the synthesis of internet traffic matrices
    (2005).

    """
    T, day = as_count(horizon, "horizon"), as_count(rounds_per_day, "rounds_per_day")
    draws = np.random.default_rng([as_seed(seed, rng), 18])
    busy, swing = as_positive(utilisation, "utilisation"), as_number(daily, "daily")
    if not 0.0 <= swing < 1.0:
        raise ValueError(f"daily must be at least 0 and below 1, got {swing:g}")
    n = len(network.nodes)
    if T * n * n > MOST_NUMBERS:
        raise ValueError(
            f"{T} matrices of {n} nodes have more than {MOST_NUMBERS} numbers; ask for at most "
            f"{MOST_NUMBERS // n**2} rounds"
        )
    base = _gravity(network, draws, pairs)
    time = np.arange(T)
    clock = draws.uniform(-0.1, 0.1, n)[:, None] + time / day  # each node has its own hours
    cycle = 1.0 + swing * np.sin(2.0 * np.pi * clock)
    cycle = cycle * np.where(time // day % 7 < WORKDAYS, 1.0, as_positive(weekend, "weekend"))
    drift = np.zeros((n, n))
    boost = np.zeros((T, n))
    for t in np.flatnonzero(draws.random(T) < crowds).tolist():
        boost[t : t + crowd_rounds, draws.integers(n)] = crowd - 1.0
    matrices = np.empty((T, n, n))
    # An autoregressive process whose stationary deviation is `noise`, whatever its memory.
    spread = noise * np.sqrt(1.0 - MEMORY**2)
    for t in range(T):
        drift = MEMORY * drift + spread * draws.standard_normal((n, n))
        matrices[t] = base * np.exp(drift) * cycle[:, t, None] * (1.0 + boost[t])[None, :]
    return matrices * (busy / _busiest(network, matrices.mean(axis=0)))


def _gravity(network: LinkNetwork, rng: np.random.Generator, pairs: int | None) -> Vector:
    """Return m_i m_j for the pairs that are kept, 0 elsewhere."""
    n = len(network.nodes)
    capacity = _capacity(network)
    mass = np.bincount(network.edges[:, 0], capacity, n) * rng.lognormal(0.0, SPREAD, n)
    base = np.outer(mass, mass)
    np.fill_diagonal(base, 0.0)
    base[~_connected(network.edges, n)] = 0.0
    if pairs is not None:
        small = np.argsort(-base, axis=None, kind="stable")[as_count(pairs, "pairs") :]
        base.ravel()[small] = 0.0
    if not base.any():
        raise ValueError("no two nodes of this network are joined by paths; check its links")
    return base


def _connected(edges: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    """Return whether a path leads from one node to another, nodes x nodes."""
    from scipy.sparse import coo_array, csgraph

    graph = coo_array((np.ones(len(edges)), edges.T), shape=(n, n))
    return np.isfinite(csgraph.dijkstra(graph.tocsr(), unweighted=True))


def _capacity(network: LinkNetwork) -> Vector:
    if network.bandwidth_mbps is None:
        raise ValueError("demands are drawn in units of capacity; this network has no bandwidth")
    return network.bandwidth_mbps


def _busiest(network: LinkNetwork, matrix: Vector) -> float:
    """Return the largest utilisation under shortest paths."""
    origin, target = np.nonzero(matrix)
    X = PathShares(network.edges, list(zip(origin, target, strict=True)), 1, network.latency_ms)
    loads = SplitLoads(X.incidence, X.pair_of, _capacity(network))
    return float(loads.utilisation(X.shortest, matrix[origin, target]).max())


def link_failures(
    network: LinkNetwork,
    horizon: int,
    seed: int | None = None,
    *,
    rng: RNG | None = None,
    failures: float = 0.002,
    duration: int = 36,
    left: float = 0.01,
) -> NDArray[np.float64]:
    """Return what is left of each link's capacity, rounds x links, for `TrafficEngineering`.

    Both directions of a link fail together, one link at a time, and only links without which the
    network is still connected: every demand always has a way round.

    Args:
        network: the links.
        horizon: the number of rounds.
        seed: fixes every draw.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.
        failures: the probability that a link fails in a round in which none is down.
        duration: how many rounds it is down.
        left: the share of its capacity that is left; a link of capacity 0 would have an infinite
            utilisation.

    """
    T, draws = as_count(horizon, "horizon"), np.random.default_rng([as_seed(seed, rng), 19])
    if not 0.0 < as_number(left, "left") <= 1.0:
        raise ValueError(f"left must be above 0 and at most 1, got {left:g}")
    available = np.ones((T, len(network.edges)))
    spare = _spare_links(network)
    t = 0
    while spare and t < T:
        if draws.random() < failures:
            available[t : t + duration, spare[int(draws.integers(len(spare)))]] = left
            t += duration
        t += 1
    return available


def _spare_links(network: LinkNetwork) -> list[NDArray[np.intp]]:
    """Return the edges of each link whose loss leaves as many nodes connected as before."""
    n, edges = len(network.nodes), network.edges
    ends = np.sort(edges, axis=1)
    whole = _connected(edges, n).sum()
    found = []
    for pair in np.unique(ends, axis=0):
        gone = (ends == pair).all(axis=1)
        if _connected(edges[~gone], n).sum() == whole:
            found.append(np.flatnonzero(gone))
    return found
