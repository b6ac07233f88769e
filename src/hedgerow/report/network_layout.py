"""Where the nodes of a network are drawn: on a map, around the hub, or as far apart as they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.networks.network import Network

MOST_NODES = 600
"""Larger graphs are drawn on a circle: distances in the plane would say nothing."""
PASSES = 60


class Layout(NamedTuple):
    """Places in the plane, what they mean, and whether they are longitude and latitude."""

    places: NDArray[np.float64]
    meaning: str
    is_map: bool = False


def layout(network: Network) -> Layout:
    """Return the places of the nodes."""
    if network.coordinates is not None and not np.isnan(network.coordinates).all():
        return Layout(_on_the_map(network), "places on the map", is_map=True)
    if network.hub is not None:
        return Layout(_around(network), "distance from the hub grows with the latency to it")
    if len(network.nodes) > MOST_NODES:
        return Layout(_circle(len(network.nodes)), "nodes on a circle")
    return Layout(_by_latency(network), "nodes that are near in latency are near here")


def _on_the_map(network: Network) -> NDArray[np.float64]:
    """Longitude and latitude; a node without a place is amid its neighbours."""
    assert network.coordinates is not None
    places = network.coordinates[:, ::-1].copy()
    unknown = np.asarray(np.isnan(places).any(axis=1))
    middle = places[~unknown].mean(axis=0)
    for node in np.flatnonzero(unknown).tolist():
        touching = np.asarray(network.edges == node).any(axis=1)
        near = network.edges[touching].ravel()
        near = near[~unknown[near]]
        places[node] = places[near].mean(axis=0) if near.size else middle
    return places


def _circle(count: int) -> NDArray[np.float64]:
    angle = 2.0 * np.pi * np.arange(count) / max(1, count)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _around(network: Network) -> NDArray[np.float64]:
    """The hub in the middle, the others around it at a distance that grows with the latency."""
    n, hub = len(network.nodes), network.hub
    near = np.full(n, np.nan)
    for (a, b), ms in zip(network.edges.tolist(), network.latency_ms.tolist(), strict=True):
        if hub in (a, b):
            near[b if a == hub else a] = ms
    near[np.isnan(near)] = np.nanmax(near) if not np.isnan(near).all() else 1.0
    radius = 0.25 + 0.75 * np.sqrt(near / max(float(near.max()), 1e-9))
    places = np.zeros((n, 2))
    others = np.arange(n) != hub
    places[others] = radius[others, np.newaxis] * _circle(n - 1)
    return places


def _by_latency(network: Network) -> NDArray[np.float64]:
    """Distances in the plane as like the latencies of shortest routes as they can be.

    Stress majorisation (de Leeuw, 1977) from a circle. The source is turned to the left of the
    target.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    n, (tail, head) = len(network.nodes), network.edges.T
    least = max(1e-9, 0.05 * float(np.median(network.latency_ms)))  # none lie on each other
    links = np.full((n, n), np.inf)
    np.minimum.at(links, (tail, head), np.maximum(network.latency_ms, least))
    links = np.minimum(links, links.T)
    u, v = np.nonzero(np.isfinite(links))
    apart = shortest_path(csr_array((links[u, v], (u, v)), (n, n)), directed=False)
    far = float(apart[np.isfinite(apart)].max(initial=0.0)) or 1.0
    apart[np.isinf(apart)] = 1.3 * far  # pieces lie beside each other
    apart /= far
    np.fill_diagonal(apart, 1.0)
    weights = apart**-2.0
    np.fill_diagonal(weights, 0.0)
    pull = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    places = 0.5 * _circle(n)
    for _ in range(PASSES):
        gaps = np.linalg.norm(places[:, np.newaxis] - places, axis=2)
        np.fill_diagonal(gaps, 1.0)
        push = -weights * apart / np.maximum(gaps, 1e-9)
        np.fill_diagonal(push, 0.0)
        np.fill_diagonal(push, -push.sum(axis=1))
        places = pull @ (push @ places)
    return _fitted(_turned(places, network.source, network.target))


def _turned(
    places: NDArray[np.float64], source: int | None, target: int | None
) -> NDArray[np.float64]:
    """Turn the longest way, or that from source to target, to lie from left to right."""
    if source is not None and target is not None:
        way = places[target] - places[source]
    else:
        way = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)[2][0]
    if not np.linalg.norm(way) > 0.0:
        return places
    c, s = way / np.linalg.norm(way)
    return np.asarray((places - places.mean(axis=0)) @ np.array([[c, -s], [s, c]]))


def _fitted(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move and scale the places into the square from -1 to 1."""
    middle = 0.5 * (places.max(axis=0) + places.min(axis=0))
    half = max(float(np.ptp(places, axis=0).max()) / 2.0, 1e-9)
    return np.asarray((places - middle) / half)
