"""A network: nodes, directed edges, their quantities, and their origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_count, as_vector, read_only, unmasked
from hedgerow.networks.quantities import STRONG, Quantity, check_label, rank_correlation
from hedgerow.networks.source_files import MOST_NUMBERS

LAST_MOMENT = 253_402_300_799.0
"""The last second of the year 9999."""


@dataclass(frozen=True, eq=False)
class Network:
    """A directed graph with a latency, and perhaps a bandwidth, on every edge.

    Each quantity carries a label: "measured", "proxy:<method>" or "synthetic:<law>". A series holds
    one row for each round; NaN in it means that the edge has no reading in that round: it was not
    measured, or gave no answer, which is in `outages`.

    Args:
        nodes: distinct names.
        edges: one row (source, target) of node indices for each edge, no self-loops, no repeats.
        latency_ms: base latency of each edge.
        latency_label: its origin.
        bandwidth_mbps: base bandwidth of each edge, above 0, or None.
        bandwidth_label: its origin; given exactly when the bandwidth is.
        latency_series: latency by round and edge, or None.
        bandwidth_series: bandwidth by round and edge, or None.
        hub: the index of the hub, or None.
        source: where paths begin, or None.
        target: where paths end, or None.
        provenance: files, hashes, counts: plain JSON data.
        choices: every open choice and what was chosen: plain JSON data.
        quantities: other quantities of the edges, by name.
        times: when each round of the series begins, in Unix seconds, or None.
        coordinates: latitude and longitude of each node in degrees, NaN where not known, or None.
        outages: by round and edge, whether the edge gave no answer; None where none is known.

    >>> network = Network(("a", "b"), [(0, 1)], [12.5], "measured")
    >>> network.edges.tolist(), network.bandwidth_mbps
    ([[0, 1]], None)

    """

    nodes: tuple[str, ...]
    edges: NDArray[np.int64]
    latency_ms: Vector
    latency_label: str
    bandwidth_mbps: Vector | None = None
    bandwidth_label: str | None = None
    latency_series: NDArray[np.float64] | None = None
    bandwidth_series: NDArray[np.float64] | None = None
    hub: int | None = None
    source: int | None = None
    target: int | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, Any] = field(default_factory=dict)
    quantities: Mapping[str, Quantity] = field(default_factory=dict)
    times: Vector | None = None
    coordinates: NDArray[np.float64] | None = None
    outages: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        edges = check_edges(self.edges, check_nodes(self.nodes))
        values: dict[str, Any] = {"nodes": tuple(self.nodes), "edges": read_only(edges)}
        values["latency_ms"] = _base(self.latency_ms, "latency_ms", len(edges), least=0.0)
        check_label(self.latency_label, "latency_label")
        if (self.bandwidth_mbps is None) != (self.bandwidth_label is None):
            raise ValueError("bandwidth_mbps and bandwidth_label go together; give both or neither")
        if self.bandwidth_mbps is not None:
            least = float(np.nextafter(0.0, 1.0))
            values["bandwidth_mbps"] = _base(
                self.bandwidth_mbps, "bandwidth_mbps", len(edges), least
            )
            check_label(self.bandwidth_label, "bandwidth_label")
        elif self.bandwidth_series is not None:
            raise ValueError("bandwidth_series needs bandwidth_mbps, the base values; give both")
        for name in ("latency_series", "bandwidth_series"):
            if getattr(self, name) is not None:
                values[name] = _series(getattr(self, name), name, len(edges))
        for name in ("hub", "source", "target"):
            _check_index(getattr(self, name), name, len(self.nodes))
        values["quantities"] = _quantities(self.quantities, len(edges))
        if self.times is not None:
            values["times"] = _times(self.times, self.latency_series)
        if self.coordinates is not None:
            values["coordinates"] = _coordinates(self.coordinates, len(self.nodes))
        if self.outages is not None:
            values["outages"] = _outages(self.outages, self.latency_series)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def rank_correlation(self) -> float | None:
        """Spearman's correlation of bandwidth and latency; None without a bandwidth that varies."""
        if self.bandwidth_mbps is None:
            return None
        return rank_correlation(self.latency_ms, self.bandwidth_mbps)

    @property
    def caution(self) -> str | None:
        """A sentence where the bandwidth is the latency under another name."""
        rho = self.rank_correlation
        if rho is None or abs(rho) <= STRONG:
            return None
        return (
            f"bandwidth ({self.bandwidth_label}) has rank correlation {rho:.2f} with latency: "
            "a constraint on it is a re-labelled latency"
        )

    @property
    def pieces(self) -> tuple[int, ...]:
        """How many nodes each piece of the graph has, largest first; one number if it is whole."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        n, (tail, head) = len(self.nodes), self.edges.T
        graph = csr_array((np.ones(len(tail)), (tail, head)), (n, n))
        _, piece = connected_components(graph, directed=False)
        return tuple(sorted(np.bincount(piece).tolist(), reverse=True))

    @property
    def is_one_way(self) -> bool:
        """Whether no edge has a reverse edge, as in files that list each link once."""
        pairs = {(int(a), int(b)) for a, b in self.edges}
        return not any((b, a) in pairs for a, b in pairs)

    def both_ways(self) -> Network:
        """Return the network with the reverse of every edge added, with the same quantities."""
        if not self.is_one_way:
            raise ValueError("some edges lead back already; both directions were measured")

        def twice(values: Any) -> Any:
            return None if values is None else np.concatenate([values, values], axis=-1)

        return replace(
            self,
            edges=np.concatenate([self.edges, self.edges[:, ::-1]]),
            latency_ms=twice(self.latency_ms),
            bandwidth_mbps=twice(self.bandwidth_mbps),
            latency_series=twice(self.latency_series),
            bandwidth_series=twice(self.bandwidth_series),
            outages=twice(self.outages),
            quantities={
                name: Quantity(twice(quantity.values), quantity.label, twice(quantity.series))
                for name, quantity in self.quantities.items()
            },
            choices={**self.choices, "both ways": "each edge is a reading of the edge back, too"},
        )

    @classmethod
    def load(cls, path: Path | str, most_numbers: int = MOST_NUMBERS) -> Network:
        """Read a network file; an error names the key that is wrong.

        Args:
            path: the JSON file; its series are in an .npz beside it.
            most_numbers: how many numbers one series may hold; larger ones are refused unread.

        """
        from hedgerow.networks.network_file import load_network

        return load_network(Path(path), as_count(most_numbers, "most_numbers"))

    def save(self, path: Path | str) -> Path:
        """Write the network as JSON, with its series in an .npz beside it; all or nothing."""
        from hedgerow.networks.network_file import save_network

        return save_network(self, Path(path))


def check_nodes(names: object) -> int:
    """Return how many nodes there are; their names must be distinct."""
    if not isinstance(names, (tuple, list)) or not all(isinstance(n, str) and n for n in names):
        raise TypeError("nodes must be names: strings that are not empty")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"nodes must be distinct, {name[:80]!r} stands there twice")
        seen.add(name)
    return len(names)


def check_edges(given: ArrayLike, nodes: int) -> NDArray[np.int64]:
    """Return rows of node indices, without loops and repeats."""
    try:
        edges = np.asarray(unmasked(given, "edges"))
    except ValueError:
        edges = np.empty(0)
    if edges.ndim != 2 or edges.shape[1:] != (2,) or edges.dtype.kind not in "iu" or not len(edges):
        raise ValueError("edges must be rows (source, target) of node indices, at least one")
    outside = (edges < 0) | (edges >= nodes)
    if outside.any():
        row = int(np.argmax(outside.any(axis=1)))
        raise ValueError(
            f"edges[{row}] is {edges[row].tolist()}, nodes are numbered 0 to {nodes - 1}"
        )
    edges = edges.astype(np.int64)
    loops = edges[:, 0] == edges[:, 1]
    if loops.any():
        raise ValueError(f"edges[{int(np.argmax(loops))}] is a self-loop; leave it out")
    codes, first = np.unique(edges[:, 0] * nodes + edges[:, 1], return_index=True)
    if len(codes) < len(edges):
        row = int(np.setdiff1d(np.arange(len(edges)), first)[0])
        raise ValueError(f"edges[{row}] is {edges[row].tolist()} again; merge parallel edges")
    return edges


def _base(given: ArrayLike, name: str, size: int, least: float) -> Vector:
    values = as_vector(given, name, size)
    if (values < least).any():
        row = int(np.argmax(values < least))
        bound = "at least 0" if least == 0.0 else "above 0"
        raise ValueError(f"{name}[{row}] must be {bound}, got {values[row]:g}")
    return read_only(values)


def _series(given: ArrayLike, name: str, edges: int) -> NDArray[np.float64]:
    values = np.asarray(unmasked(given, name))
    if values.ndim != 2 or values.shape[1] != edges or values.dtype.kind != "f" or not len(values):
        raise ValueError(
            f"{name} must have shape (rounds, {edges}) and real entries, got {values.shape} of "
            f"{values.dtype}"
        )
    wrong = np.isinf(values) | (values < 0.0)
    if wrong.any():
        t, e = np.argwhere(wrong)[0]
        raise ValueError(
            f"{name}[{t}, {e}] must be finite and at least 0, or NaN for no reading, "
            f"got {values[t, e]}"
        )
    return read_only(values.astype(np.float64))


def _check_index(index: object, name: str, nodes: int) -> None:
    if index is None:
        return
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < nodes:
        raise ValueError(f"{name} must be a node index from 0 to {nodes - 1}, got {index!r}")


def _quantities(given: object, edges: int) -> dict[str, Quantity]:
    if not isinstance(given, Mapping):
        raise TypeError(f"quantities must be a dict of Quantity by name, got {given!r:.80}")
    for name, quantity in given.items():
        if not isinstance(name, str) or not name or not isinstance(quantity, Quantity):
            raise TypeError(f"quantities must be a dict of Quantity by name, got {name!r:.80}")
        if len(quantity.values) != edges:
            raise ValueError(
                f"quantity {name!r} must have one value for each of {edges} edges, got "
                f"{len(quantity.values)}"
            )
    return dict(given)


def _times(given: ArrayLike, series: NDArray[np.float64] | None) -> Vector:
    times = as_vector(given, "times", None if series is None else len(series))
    if series is None:
        raise ValueError("times need latency_series, whose rounds they date; give both")
    if (np.abs(times) > LAST_MOMENT).any():
        raise ValueError("times must be Unix seconds before the year 10000, not milliseconds")
    if (np.diff(times) <= 0.0).any():
        raise ValueError("times must increase from round to round; sort the rounds")
    return read_only(times)


def _outages(given: ArrayLike, series: NDArray[np.float64] | None) -> NDArray[np.bool_]:
    found = np.asarray(unmasked(given, "outages"))
    if series is None or found.shape != series.shape or not np.isin(found, (0, 1)).all():
        raise ValueError(
            "outages must be True or False for each round and edge of latency_series, got "
            f"{found.shape} of {found.dtype}"
        )
    found = found.astype(np.bool_)
    answered = found & ~np.isnan(series)
    if answered.any():
        t, e = np.argwhere(answered)[0]
        raise ValueError(
            f"outages[{t}, {e}] is True, but latency_series has {series[t, e]:g} there"
        )
    return read_only(found)


def _coordinates(given: ArrayLike, nodes: int) -> NDArray[np.float64]:
    places = np.asarray(unmasked(given, "coordinates"))
    if places.shape != (nodes, 2) or places.dtype.kind not in "fiu":
        raise ValueError(
            f"coordinates must have shape ({nodes}, 2), latitude and longitude of each node, got "
            f"{places.shape} of {places.dtype}"
        )
    outside = (np.abs(places) > (90.0, 180.0)).any(axis=1)  # false for NaN
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(
            f"coordinates[{row}] is {places[row].tolist()}; latitude goes from -90 to 90 and "
            "longitude from -180 to 180 degrees"
        )
    return read_only(places.astype(np.float64))
