"""RIPE Atlas results to a network: a hub and the probes that measured it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.networks.atlas.choices import AtlasChoices
from hedgerow.networks.atlas.collector import Collector, Edge, Group
from hedgerow.networks.atlas.json_stream import results
from hedgerow.networks.atlas.middleboxes import too_soon
from hedgerow.networks.data_error import DataError
from hedgerow.networks.labels import draw_synthetic
from hedgerow.networks.network import Network
from hedgerow.networks.readings import Readings, by_round, check_size
from hedgerow.networks.rejections import Reason, Rejections
from hedgerow.networks.source_file import SourceFile
from hedgerow.networks.timestamps import format_time, width

ATTRIBUTION = "RIPE Atlas data (c) RIPE NCC"
SUFFIXES = (".json", ".jsonl", ".ndjson", ".txt")
PACKED = (".gz", ".bz2")


def read_atlas(
    paths: Sequence[Path | str] | Path | str,
    choices: AtlasChoices | None = None,
    progress: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> Network:
    """Read files or folders of RIPE Atlas results and return the star they make.

    One pass, one result at a time. Memory holds 32 octets for each kept reading, whatever the size
    of the files. Nothing is guessed: results of several types, address families or targets are
    refused with what there is to choose from.

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
            collector.take(result, ordinal)
        count = collector.results - before
        files.append({"name": path.name, "sha256": source.sha256, "results": count})
    group = _one_group(collector)
    _leave_repeated(collector, group)
    remark = too_soon(collector.edges[group], collector.place)  # before measurements are merged
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
    """Whether a file in a folder looks like results; daily dumps have only .bz2, notes are .txt."""
    packed = path.suffix in PACKED
    inner = Path(path.stem).suffix if packed else path.suffix
    if not path.is_file() or not (inner in SUFFIXES or (packed and not inner)):
        return False
    return inner != ".txt" or _begins_as_json(path)


def _begins_as_json(path: Path) -> bool:
    try:
        return next(SourceFile(path).text(), "").lstrip()[:1] in ("[", "{")
    except DataError:
        return True  # reading it will say what is wrong


def _one_group(collector: Collector) -> Group:
    """Return the one kind of reading that is there, or say what there is to choose from."""
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


def _leave_repeated(collector: Collector, group: Group) -> None:
    for readings in collector.edges[group].values():
        for packed in readings.repeated():
            collector.left.add(Reason.REPEATED, *collector.place(packed))


def _merged(edges: dict[Edge, Readings]) -> dict[tuple[str, str], Readings]:
    """Put the readings of several measurements of one edge together."""
    merged: dict[tuple[str, str], Readings] = {}
    for edge, readings in edges.items():
        known = merged.setdefault((edge.node, edge.target), readings)
        if known is not readings:
            for name in Readings.__slots__:
                getattr(known, name).extend(getattr(readings, name))
    return merged


def _by_number(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() else (1 << 60, name)


def _network(collector: Collector, group: Group, provenance: dict[str, Any]) -> Network:
    choices = collector.choices
    merged = _merged(collector.edges[group])
    order = sorted(merged, key=lambda edge: (_by_number(edge[0]), edge[1]))
    summaries = [merged[edge].summary(choices.aggregate) for edge in order]
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
        bandwidth = np.array([summary.bandwidth for summary in summaries])
        label = f"proxy:{choices.bandwidth}"
    series: dict[str, Any] = {}
    if choices.series is not None:
        series = _series(collector, [merged[edge] for edge in order])
        if bandwidth is None or choices.bandwidth.startswith("synthetic:"):
            del series["bandwidth_series"]
    one_trip = group.latency in ("ttc", "min", "avg")
    return Network(
        tuple(nodes),
        np.array([(index[node], index[target]) for node, target in order], dtype=np.int64),
        np.array([summary.latency for summary in summaries]),
        "measured" if one_trip else f"proxy:{group.type}_{group.latency}",
        bandwidth,
        label,
        hub=hub,
        choices=_choices(choices, group),
        provenance=provenance,
        **series,
    )


def _series(collector: Collector, edges: list[Readings]) -> dict[str, Any]:
    """Return the median of each round and edge, and when the rounds begin."""
    every = width(collector.choices.series or "", "series")
    of = [np.floor(np.frombuffer(readings.time, np.int64) / every) for readings in edges]
    edge = np.repeat(np.arange(len(edges)), [len(rounds) for rounds in of])
    numbers = np.concatenate(of)
    first = numbers.min()
    count = int(numbers.max() - first) + 1
    try:
        check_size(count, len(edges), collector.choices.most_numbers)
    except ValueError as error:
        raise DataError(_where(collector), "", str(error), collector.left.table()) from None
    rounds, shape = (numbers - first).astype(np.int64), (count, len(edges))
    found: dict[str, Any] = {"times": every * (first + np.arange(count))}
    for name in ("latency", "bandwidth"):
        values = np.concatenate([np.frombuffer(getattr(readings, name)) for readings in edges])
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
