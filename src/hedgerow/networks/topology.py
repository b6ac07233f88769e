"""A network on a map: nodes with positions, links with a length and a capacity."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_array, as_positive, as_vector, read_only
from hedgerow.networks.errors import DataError, unreadable
from hedgerow.networks.network import check_edges, check_nodes

KM_PER_MS = 200.0
"""Light in fibre travels 200 km in a millisecond."""
CAPACITY = 10_000.0
"""Mbit/s of a link of unknown capacity: one number for all assumes the least."""
FAMILIES = ("topozoo", "sndlib", "caida", "backbone")
"""The folders of topohub that hold networks."""
EARTH_KM = 6371.0


@dataclass(frozen=True, eq=False)
class Topology:
    """Directed links between nodes on a map.

    Args:
        name: what it is called.
        nodes: distinct names.
        positions: (longitude, latitude) of each node in degrees, or None.
        edges: one row (source, target) of node numbers for each link; no loops, no repeats.
        latency_ms: of each link.
        bandwidth_mbps: the capacity of each link.
        source: where it comes from, and what was assumed.
        matrix: one demand matrix, nodes x nodes, if it comes with one.

    """

    name: str
    nodes: tuple[str, ...]
    positions: NDArray[np.float64] | None
    edges: NDArray[np.int64]
    latency_ms: Vector
    bandwidth_mbps: Vector
    source: str = "given"
    matrix: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        n = check_nodes(self.nodes)
        edges = check_edges(self.edges, n)
        values: dict[str, Any] = {"edges": edges}
        values["latency_ms"] = as_vector(self.latency_ms, "latency_ms", len(edges))
        values["bandwidth_mbps"] = as_vector(self.bandwidth_mbps, "bandwidth_mbps", len(edges))
        if values["latency_ms"].min() < 0.0 or not values["bandwidth_mbps"].min() > 0.0:
            raise ValueError("latencies must be at least 0 and capacities above 0")
        for name, shape in (("positions", (n, 2)), ("matrix", (n, n))):
            if getattr(self, name) is not None:
                values[name] = as_array(getattr(self, name), name)
                if values[name].shape != shape:
                    raise ValueError(f"{name} must have shape {shape}, got {values[name].shape}")
        for name, value in values.items():
            object.__setattr__(self, name, read_only(value))

    @classmethod
    def shipped(cls, name: str, capacity: float = CAPACITY) -> Topology:
        """Return a network of the package topohub: "topozoo/Geant2012", "sndlib/germany50".

        Every link runs both ways; latency is that of light in fibre. Capacities are not known
        there, so all links have the same one. It needs the extra `data`.

        Args:
            name: family and network; `shipped_names()` lists them.
            capacity: of every link, in Mbit/s.

        """
        if name not in shipped_names():
            raise ValueError(
                f"there is no network {name!r} in topohub; `hedgerow data list` shows all names"
            )
        found = json.loads((_shipped_folder() / f"{name}.json").read_text(encoding="utf-8"))
        return _from_topohub(name, found, as_positive(capacity, "capacity"))

    @classmethod
    def load(cls, path: Path | str) -> Topology:
        """Read a network from SNDlib XML, or from JSON with `nodes` and `links`.

        A JSON node has `id`, and `lon` and `lat` or nothing; a JSON link has `source`, `target`,
        `capacity_mbps`, and `km` or `latency_ms`.
        """
        path = Path(path)
        if path.suffix.lower() == ".xml":
            from hedgerow.networks.sndlib import read_sndlib

            return read_sndlib(path)
        return _from_json(path)


def shipped_names() -> tuple[str, ...]:
    """Return the names of all networks of the package topohub; it needs the extra `data`."""
    folder = _shipped_folder()
    found = [
        file.relative_to(folder).with_suffix("").as_posix()
        for family in FAMILIES
        for file in (folder / family).rglob("*.json")
    ]
    return tuple(sorted(found))


def _shipped_folder() -> Path:
    """Return the folder of topohub's networks; its own reader leaves files open."""
    try:
        import topohub
    except ModuleNotFoundError:
        raise ImportError(
            "networks of the Topology Zoo, SNDlib and CAIDA come with the package topohub; "
            'install it with: pip install ".[data]"'
        ) from None
    return Path(topohub.__file__).parent / "data"


def _from_topohub(name: str, found: Mapping[str, Any], capacity: float) -> Topology:
    number = {str(node["id"]): k for k, node in enumerate(found["nodes"])}
    names = distinct([str(node.get("name") or node["id"]) for node in found["nodes"]])
    ends = [(number[str(e["source"])], number[str(e["target"])]) for e in found["edges"]]
    km = [float(e["dist"]) for e in found["edges"]]
    edges, length, _ = both_ways(ends, km, [capacity] * len(ends))
    demands = found["graph"].get("demands") or {}
    matrix = np.zeros((len(names), len(names)))
    for i, row in demands.items():
        for j, value in row.items():
            matrix[number[i], number[j]] = value
    return Topology(
        name,
        names,
        np.array([node["pos"] for node in found["nodes"]], dtype=np.float64),
        edges,
        length / KM_PER_MS,
        np.full(len(edges), capacity),
        f"topohub {name}; latency from distances, capacity {capacity:g} Mbit/s assumed",
        matrix if matrix.any() else None,
    )


def distinct(names: list[str]) -> tuple[str, ...]:
    """Return the names, with a number behind those that are repeated."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return tuple(found)


def merged(
    ends: list[tuple[int, int]], length: list[float], capacity: list[float]
) -> tuple[NDArray[np.int64], Vector, Vector]:
    """Return the links with parallel ones as one, which has their capacities, and without loops."""
    km: dict[tuple[int, int], float] = {}
    total: dict[tuple[int, int], float] = {}
    for (u, v), d, c in zip(ends, length, capacity, strict=True):
        if u != v:
            km[u, v] = min(d, km.get((u, v), d))
            total[u, v] = c + total.get((u, v), 0.0)
    edges = np.array(list(km), dtype=np.int64).reshape(-1, 2)
    return edges, np.array([*km.values()]), np.array([*total.values()])


def both_ways(
    ends: list[tuple[int, int]], length: list[float], capacity: list[float]
) -> tuple[NDArray[np.int64], Vector, Vector]:
    """Return each link in both directions, merged."""
    back = [(v, u) for u, v in ends]
    return merged([*ends, *back], [*length, *length], [*capacity, *capacity])


def great_circle_km(a: ArrayLike, b: ArrayLike) -> float:
    """Return the distance of two points (longitude, latitude) on the globe.

    >>> round(great_circle_km((0.0, 0.0), (90.0, 0.0)))
    10008
    """
    (x, y), (u, v) = np.radians(np.asarray(a, float)), np.radians(np.asarray(b, float))
    half = np.sin((v - y) / 2.0) ** 2 + np.cos(y) * np.cos(v) * np.sin((u - x) / 2.0) ** 2
    return float(2.0 * EARTH_KM * np.arcsin(np.sqrt(min(1.0, half))))


def _from_json(path: Path) -> Topology:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        names = [str(node["id"]) for node in found["nodes"]]
        number = {name: k for k, name in enumerate(names)}
        placed = all("lon" in node and "lat" in node for node in found["nodes"])
        spots = [(float(v["lon"]), float(v["lat"])) for v in found["nodes"]] if placed else None
        links = found["links"]
        edges = np.array([(number[e["source"]], number[e["target"]]) for e in links])
        latency = [
            float(e["latency_ms"]) if "latency_ms" in e else float(e["km"]) / KM_PER_MS
            for e in links
        ]
        capacity = [float(e["capacity_mbps"]) for e in links]
        positions = None if spots is None else np.array(spots)
        return Topology(
            str(found.get("name", path.stem)),
            tuple(names),
            positions,
            edges,
            np.array(latency),
            np.array(capacity),
            path.name,
        )
    except OSError as error:
        raise unreadable(path, error) from None
    except KeyError as missing:
        raise DataError(
            path,
            "",
            f"the key or node {missing.args[0]!r} is missing; nodes have an id, links "
            "source, target, capacity_mbps, and km or latency_ms",
        ) from None
    except (TypeError, ValueError, AttributeError) as error:
        reason = str(error).splitlines()[0][:160]
        raise DataError(path, "", f"is not a network in JSON ({reason})") from None
