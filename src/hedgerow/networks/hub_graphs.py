"""The paper's graph: a hub, its spokes, and seeded edges between spokes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import DEFAULT_SEED, RNG, Vector, as_count, as_seed
from hedgerow.networks.network import Network
from hedgerow.networks.quantities import composed, draw_synthetic

LEFT_TO_THE_PROBLEM = (
    "a path's bandwidth (sum or least), the constraint's threshold, the variation by round, "
    "units, the benchmark, the number of repetitions"
)


def hub_graph(
    star: Network,
    nodes: int = 191,
    edges: int = 1200,
    seed: int = DEFAULT_SEED,
    *,
    rng: RNG | None = None,
    bandwidth: str | None = None,
    source: str | None = None,
    target: str | None = None,
) -> Network:
    """Build a graph by the paper's recipe from a measured star; every choice is recorded.

    Hub edges have the spoke's latency and bandwidth. An edge between two spokes has the sum of
    their latencies and the least of their bandwidths: no pair of spokes was ever measured. Nodes
    are put in an order with the source first, the hub in the middle and the target last; every edge
    points forward and lies on a path from source to target. The edge list is that of
    `ShortestPath.random_network` for the same nodes, edges and seed.

    Args:
        star: a network with a hub, where every edge joins the hub and a spoke.
        nodes: how many nodes to keep; spokes are taken at equally spaced ranks of latency.
        edges: how many edges, all of them live.
        seed: fixes the edges, the order of the spokes and a synthetic bandwidth.
        rng: in place of `seed`, a whole number or a generator of `numpy.random`.
        bandwidth: None keeps the star's (or none); "synthetic:lognormal(MEDIAN,SIGMA)" draws one.
        source: the spoke where paths begin; None takes a seeded one.
        target: the spoke where paths end; None takes a seeded one.

    Reference: section 5 of the paper; the order, the source and the target are our choice.

    >>> spokes = [(i, 0) for i in range(1, 5)]
    >>> star = Network(("hub", *"abcd"), spokes, [1.0, 2.0, 4.0, 8.0], "measured", hub=0)
    >>> graph = hub_graph(star, nodes=5, edges=7, seed=0)
    >>> len(graph.edges), graph.latency_label
    (7, 'proxy:hub_sum(measured)')

    """
    seed = as_seed(seed, rng)
    names, rtt, mbps = _spokes(star, as_count(nodes, "nodes", least=4) - 1)
    label = star.bandwidth_label
    if bandwidth is not None:
        mbps, label = draw_synthetic(bandwidth, len(names), seed), bandwidth
    draws = np.random.default_rng([seed, 0])
    pairs, hub = hub_edges(nodes, edges, draws)
    order = _order(names, draws, source, target)
    placed = np.insert(order, hub, -1)  # the spoke at each place, -1 for the hub
    latency = np.append(rtt, 0.0)[placed][pairs].sum(axis=1)
    hub_name = star.nodes[star.hub or 0]
    return Network(
        tuple(hub_name if spoke < 0 else names[spoke] for spoke in placed.tolist()),
        pairs,
        latency,
        composed(star.latency_label, "hub_sum"),
        None if mbps is None else np.append(mbps, np.inf)[placed][pairs].min(axis=1),
        None if label is None else composed(label, "hub_min"),
        hub=hub,
        source=0,
        target=nodes - 1,
        choices={
            **_choices(star, nodes, edges, seed, bandwidth),
            "source": _chosen(names[order[0]], source),
            "target": _chosen(names[order[-1]], target),
            "source and target": "not joined by an edge",
            "left to the problem": LEFT_TO_THE_PROBLEM,
            "star": dict(star.choices),
        },
        provenance={"made by": "hedgerow network build", "star": dict(star.provenance)},
    )


def hub_edges(nodes: int, edges: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], int]:
    """Return forward edges, all of them live, and the hub's place in the order."""
    hub, last = nodes // 2, nodes - 1
    spokes = np.delete(np.arange(nodes), hub)
    star = np.column_stack([np.minimum(spokes, hub), np.maximum(spokes, hub)])
    # Each spoke before the hub is reached from an earlier one, each after it reaches a later one.
    before, after = np.arange(1, hub), np.arange(hub + 1, last)
    into = np.column_stack([rng.integers(0, before), before])
    out = np.column_stack([after, rng.integers(after + 1, last + 1)])
    fixed = np.concatenate([star, into, out])
    possible = (nodes - 1) * (nodes - 2) // 2 - 1 + nodes - 1
    if not len(fixed) <= as_count(edges, "edges") <= possible:
        raise ValueError(
            f"{nodes} nodes allow {len(fixed)} to {possible} edges, got {edges}; "
            "change nodes or edges"
        )
    taken = set((fixed[:, 0] * nodes + fixed[:, 1]).tolist())
    extra: list[tuple[int, int]] = []
    while len(fixed) + len(extra) < edges:
        u, v = sorted(rng.choice(spokes, 2, replace=False).tolist())
        if (u, v) != (0, last) and u * nodes + v not in taken:  # source and target stay apart
            taken.add(u * nodes + v)
            extra.append((u, v))
    pairs = np.concatenate([fixed, np.array(extra, dtype=np.int64).reshape(-1, 2)])
    return pairs.astype(np.int64), hub


def _spokes(star: Network, count: int) -> tuple[list[str], Vector, Vector | None]:
    """Return names, latencies and bandwidths of the spokes at equally spaced ranks of latency."""
    if star.hub is None or not (star.edges == star.hub).any(axis=1).all():
        raise ValueError(
            "the graph is built from a star: a network with a hub that every edge touches; "
            "read one hub's results with `hedgerow ingest atlas`"
        )
    ends = np.where(star.edges[:, 0] == star.hub, star.edges[:, 1], star.edges[:, 0])
    if len(np.unique(ends)) < len(ends):
        raise ValueError("a spoke has two edges to the hub; keep one direction of each")
    if count > len(ends):
        raise ValueError(
            f"the star has {len(ends)} spokes, {count + 1} nodes need {count}; "
            "ask for fewer nodes or read more results"
        )
    names = [star.nodes[i] for i in ends.tolist()]
    width = max(map(len, names))
    ranked = sorted(range(len(names)), key=lambda i: (star.latency_ms[i], names[i].rjust(width)))
    kept = np.array(ranked)[np.linspace(0, len(ranked) - 1, count).round().astype(int)]
    mbps = None if star.bandwidth_mbps is None else star.bandwidth_mbps[kept]
    return [names[i] for i in kept.tolist()], star.latency_ms[kept], mbps


def _order(
    names: list[str], rng: np.random.Generator, source: str | None, target: str | None
) -> NDArray[np.int64]:
    """Return a seeded order of the spokes, with the wanted ends."""
    order = rng.permutation(len(names))
    if source is not None and source == target:
        raise ValueError(f"source and target must be two spokes, both are {source!r}")
    for wanted, place in ((source, 0), (target, -1)):
        if wanted is None:
            continue
        if wanted not in names:
            raise ValueError(f"{wanted!r} is not among the {len(names)} spokes that were kept")
        i = int(np.argmax(order == names.index(wanted)))
        order[[place, i]] = order[[i, place]]
    return order


def _chosen(name: str, given: str | None) -> str:
    return f"{name} ({'seeded' if given is None else 'given'})"


def _choices(
    star: Network, nodes: int, edges: int, seed: int, bandwidth: str | None
) -> dict[str, Any]:
    drawn = "the star's" if bandwidth is None else f"{bandwidth}, one draw for each spoke"
    if bandwidth is None and star.bandwidth_label is None:
        drawn = "none, the star has none"
    return {
        "measurement": star.provenance.get("measurements"),
        "hub": f"{star.nodes[star.hub or 0]}, the star's",
        "spokes": f"{nodes - 1} of {len(star.edges)}, equally spaced ranks of latency",
        "latency": f"{star.latency_label}; two spokes: the sum of both, never measured",
        "bandwidth": f"{drawn}; two spokes: the least of both",
        "edges": f"{edges}: {nodes - 1} at the hub, {edges - nodes + 1} distinct pairs of spokes",
        "direction": "acyclic: a seeded order, hub in the middle, every edge forward and live",
        "random numbers": "PCG64",
        "seed": seed,
    }
