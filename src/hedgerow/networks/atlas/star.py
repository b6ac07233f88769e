"""RIPE Atlas results to a network: a hub and the probes that measured it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hedgerow.networks.atlas.collector import AtlasChoices, Collector, Edge, Group
from hedgerow.networks.errors import DataError, Reason, Rejections
from hedgerow.networks.json_stream import results
from hedgerow.networks.network import Network
from hedgerow.networks.quantities import draw_synthetic
from hedgerow.networks.readings import Readings, by_round, check_size
from hedgerow.networks.source_files import SourceFile
from hedgerow.networks.timestamps import format_time, parse_duration

ATTRIBUTION = "RIPE Atlas data (c) RIPE NCC"
SUFFIXES = (".json", ".jsonl", ".ndjson", ".txt")
PACKED = (".gz", ".bz2")
FAR_BELOW = 0.2
"""A reading below this share of the pair's others is flagged."""
LEAST_MS = 5.0
"""Smaller differences are noise between neighbours."""


def read_atlas(
    paths: Sequence[Path | str] | Path | str,
    choices: AtlasChoices | None = None,
    progress: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> Network:
    """Read files or folders of RIPE Atlas results and return the star they make.

    One pass, one result at a time; memory holds 32 octets for each kept reading. Nothing is
    guessed: results of several types, address families or targets are refused, with what to choose
    from.

    Args:
        paths: files in any form of delivery, plain, gzip or bzip2, or folders of them.
        choices: what to take and how; the default takes the one star that is there.
        progress: wraps the chunks of each file, for a progress bar.

    """
    choices = AtlasChoices() if choices is None else choices
    left = Rejections(choices.keep_going)
    collector = Collector(choices, left)
    files = []
    for path in _files([paths] if isinstance(paths, (str, Path)) else paths):
        collector.files.append(path)
        source = SourceFile(path)
        before = collector.results
        for ordinal, result in enumerate(results(path, progress(source.text())), start=1):
            collector.add(result, ordinal)
        count = collector.results - before
        files.append({"name": path.name, "sha256": source.sha256, "results": count})
    group = _one_group(collector)
    _remove_repeated(collector, group)
    remark = _too_soon(collector.edges[group], collector.place)  # before measurements are merged
    provenance = _provenance(collector, group, files)
    if remark is not None:
        provenance["remarks"] = [remark]
    return _network(collector, group, provenance)


def _files(paths: Sequence[Path | str]) -> list[Path]:
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        inside = sorted(p for p in path.rglob("*") if _is_data(p)) if path.is_dir() else [path]
        if not inside:
            wanted = ", ".join(SUFFIXES)
            raise DataError(path, "", f"the folder has no results ({wanted}, packed or not)")
        found.update(dict.fromkeys(inside))
    if not found:
        raise DataError("results", "", "no file was given")
    return list(found)


def _is_data(path: Path) -> bool:
    """Whether a file in a folder may hold results; daily dumps end in .bz2 alone, notes in .txt."""
    packed = path.suffix in PACKED
    inner = Path(path.stem).suffix if packed else path.suffix
    if not path.is_file() or not (inner in SUFFIXES or (packed and not inner)):
        return False
    return inner != ".txt" or _begins_as_json(path)


def _begins_as_json(path: Path) -> bool:
    try:
        return next(SourceFile(path).text(), "").lstrip()[:1] in ("[", "{")
    except DataError:
        return True  # reading it will raise the error


def _one_group(collector: Collector) -> Group:
    """Return the one kind of reading that there is, or refuse, with what to choose from."""
    groups = collector.edges
    choices, where = collector.choices, _where(collector)
    if not groups:
        raise _nothing(collector)
    for field, option in (("type", "type"), ("family", "af"), ("latency", "latency")):
        counts: Counter[str] = Counter()
        for group in groups:
            counts[str(getattr(group, field))] += sum(collector.counts(group).values())
        if len(counts) > 1:
            raise _choose(
                collector, f"readings of several kinds by {field}", counts, f"{option}=..."
            )
    group = next(iter(groups))
    targets = collector.counts(group)
    if choices.hub == "auto" and len(targets) > 1:
        raise _choose(collector, f"{len(targets)} targets", targets, "hub=... (or hub='none')")
    if choices.hub == "none" and set(targets) & {edge.node for edge in groups[group]}:
        raise DataError(where, "", "an address is both a node and a target; use node_key='prb_id'")
    return group


def _where(collector: Collector) -> str:
    names = [path.name for path in collector.files]
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _choose(collector: Collector, what: str, counts: Counter[str], option: str) -> DataError:
    shown = ", ".join(f"{name} ({n})" for name, n in counts.most_common(4))
    more = ", ..." if len(counts) > 4 else ""
    return DataError(
        _where(collector),
        f"results 1 to {collector.results}",
        f"{what}: {shown}{more}; choose with {option}",
        collector.left.table(),
    )


def _nothing(collector: Collector) -> DataError:
    table = collector.left.table()
    if not collector.results:
        sentence = "the file holds no results"
    elif table and table[0]["reason"] == Reason.OUTSIDE_WINDOW.value:
        first, last = format_time(int(collector.first)), format_time(int(collector.last))
        sentence = f"no reading in the time window; the results run from {first} to {last}"
    else:
        sentence = f"no reading can be used; most frequent reason: {table[0]['reason']}"
        sentence += f" ({table[0]['count']} of {collector.readings})"
    position = f"results 1 to {collector.results}" if collector.results else ""
    return DataError(_where(collector), position, sentence, table)


def _remove_repeated(collector: Collector, group: Group) -> None:
    for readings in collector.edges[group].values():
        for packed in readings.remove_repeated():
            collector.left.add(Reason.REPEATED, *collector.place(packed))


def _by_number(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() else (1 << 60, name)


def _network(collector: Collector, group: Group, provenance: dict[str, Any]) -> Network:
    choices = collector.choices
    merged = _merged(collector.edges[group])
    order = sorted(merged, key=lambda pair: (_by_number(pair[0]), pair[1]))
    base = [merged[pair].summary(choices.aggregate) for pair in order]
    targets = sorted({target for _, target in order})
    probes = list(dict.fromkeys(node for node, _ in order))
    hub = None if choices.hub == "none" else 0
    # The hub is node 0: the one target, or the one probe.
    nodes = [*probes, *targets] if choices.hub.startswith("probe:") else [*targets, *probes]
    index = {name: i for i, name in enumerate(nodes)}
    bandwidth, label = None, None
    if choices.bandwidth.startswith("synthetic:"):
        bandwidth = draw_synthetic(choices.bandwidth, len(order), choices.seed)
        label = choices.bandwidth
    elif choices.bandwidth != "none":
        bandwidth = np.array([mbps for _, mbps in base])
        label = f"proxy:{choices.bandwidth}"
    series: dict[str, Any] = {}
    if choices.series is not None:
        series = _series(collector, [merged[pair] for pair in order])
        if bandwidth is None or choices.bandwidth.startswith("synthetic:"):
            del series["bandwidth_series"]
    one_trip = group.latency in ("ttc", "min", "avg")
    return Network(
        tuple(nodes),
        np.array([(index[node], index[target]) for node, target in order], dtype=np.int64),
        np.array([ms for ms, _ in base]),
        "measured" if one_trip else f"proxy:{group.type}_{group.latency}",
        bandwidth,
        label,
        hub=hub,
        choices=_choices(choices, group),
        provenance=provenance,
        **series,
    )


def _merged(measured: dict[Edge, Readings]) -> dict[tuple[str, str], Readings]:
    """Return the readings of each pair, those of several measurements together."""
    merged: dict[tuple[str, str], Readings] = {}
    for edge, readings in measured.items():
        known = merged.setdefault((edge.node, edge.target), readings)
        if known is not readings:
            known.extend(readings)
    return merged


def _series(collector: Collector, edges: list[Readings]) -> dict[str, Any]:
    """Return the median of each round and edge, and when the rounds begin."""
    every = parse_duration(collector.choices.series or "", "series")
    edge = np.repeat(np.arange(len(edges)), [len(readings.time) for readings in edges])
    numbers = np.floor(np.concatenate([r.column("time") for r in edges]) / every)
    first = numbers.min()
    count = int(numbers.max() - first) + 1
    try:
        check_size(count, len(edges), collector.choices.most_numbers)
    except ValueError as error:
        raise DataError(_where(collector), "", str(error), collector.left.table()) from None
    rounds, shape = (numbers - first).astype(np.int64), (count, len(edges))
    found: dict[str, Any] = {"times": every * (first + np.arange(count))}
    for name in ("latency", "bandwidth"):
        values = np.concatenate([readings.column(name) for readings in edges])
        found[f"{name}_series"] = by_round(rounds, edge, values, shape)
    return found


def _choices(choices: AtlasChoices, group: Group) -> dict[str, Any]:
    return {
        "type": group.type,
        "address family": group.family,
        "start": choices.start,
        "stop": choices.stop,
        "node key": choices.node_key,
        "hub": choices.hub,
        "latency": f"{group.latency} ({choices.latency})",
        "bandwidth": choices.bandwidth,
        "aggregate": choices.aggregate,
        **({} if choices.series is None else {"rounds": f"{choices.series}, the median of each"}),
        "seed": choices.seed if choices.bandwidth.startswith("synthetic:") else None,
    }


def _provenance(collector: Collector, group: Group, files: list[dict[str, Any]]) -> dict[str, Any]:
    edges = collector.edges[group]
    times = [t for readings in edges.values() for t in (min(readings.time), max(readings.time))]
    return {
        "made by": "hedgerow ingest atlas",
        "attribution": ATTRIBUTION,
        "files": files,
        "measurements": sorted({edge.measurement for edge in edges}),
        "first": format_time(min(times)),
        "last": format_time(max(times)),
        "results": collector.results,
        "readings": collector.readings,
        "kept": collector.readings - collector.left.total,
        "left_out": collector.left.table(),
    }


class _Soon(NamedTuple):
    """A reading far below the others of its pair."""

    share: float
    latency: float
    others: float
    pair: tuple[str, str]
    place: int


def _too_soon(
    edges: Mapping[Edge, Readings], place: Callable[[int], tuple[Path, str]]
) -> str | None:
    """Return a remark on readings far below their pair's others, which are kept all the same.

    A box on the way may answer in the target's name. A reading is compared with the median of its
    pair; where the pair's other measurements have a median far above its own, with that.

    Args:
        edges: the readings of each pair and measurement.
        place: returns the file and the position of a reading.

    """
    pairs: dict[tuple[str, str], list[Readings]] = {}
    for edge, readings in edges.items():
        pairs.setdefault((edge.node, edge.target), []).append(readings)
    found = [soon for pair, measured in pairs.items() for soon in _of_pair(pair, measured)]
    if not found:
        return None
    worst = min(found)
    file, position = place(worst.place)
    count = len({soon.pair for soon in found})
    return (
        f"{len(found)} readings of {count} pairs lie below a fifth of what the pair's others say; "
        f"a box on the way may answer in the target's name. The lowest: {worst.pair[0]} to "
        f"{worst.pair[1]}, {worst.latency:.4g} ms beside {worst.others:.4g} ms ({file.name}, "
        f"{position})."
    )


def _of_pair(pair: tuple[str, str], measured: list[Readings]) -> list[_Soon]:
    latencies = [readings.column("latency") for readings in measured]
    middle = float(np.median(np.concatenate(latencies)))
    medians = [float(np.median(values)) for values in latencies]
    found = []
    for i, (readings, values) in enumerate(zip(measured, latencies, strict=True)):
        rest = medians[:i] + medians[i + 1 :]
        others = float(np.median(rest)) if rest and _far(medians[i], np.median(rest)) else middle
        for ms, packed in zip(values.tolist(), readings.place, strict=True):
            if _far(ms, others):
                found.append(_Soon(ms / others, ms, others, pair, packed))
    return found


def _far(below: float, others: float | np.floating) -> bool:
    return bool(below < FAR_BELOW * others and others - below > LEAST_MS)
