"""Edge lists in CSV: one measurement a row."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import as_count
from hedgerow.networks.arrays import MOST_NUMBERS
from hedgerow.networks.data_error import DataError
from hedgerow.networks.labels import check_label
from hedgerow.networks.network import Network
from hedgerow.networks.numbers import parse_number
from hedgerow.networks.readings import Readings, check_aggregate
from hedgerow.networks.rejections import Reason, Rejected, Rejections
from hedgerow.networks.source_file import SourceFile

LATENCY_COLUMNS = ("latency_ms", "rtt_ms")
BANDWIDTH_COLUMNS = ("bandwidth_mbps", "throughput_mbps")


@dataclass(frozen=True)
class EdgeColumns:
    """Which columns hold what; None takes the first usual name that is there.

    Args:
        source: the node where an edge begins.
        target: the node where it ends.
        latency: in ms; usually latency_ms or rtt_ms.
        bandwidth: in Mbit/s; usually bandwidth_mbps or throughput_mbps, and may be absent.
        time: a number that orders the rounds; rows of one time make one round.

    """

    source: str = "src"
    target: str = "dst"
    latency: str | None = None
    bandwidth: str | None = None
    time: str = "t"


def read_edges(
    path: Path | str,
    columns: EdgeColumns | None = None,
    *,
    latency_label: str = "measured",
    bandwidth_label: str = "measured",
    aggregate: str = "median",
    keep_going: bool = False,
    most_numbers: int = MOST_NUMBERS,
) -> Network:
    """Read a CSV of edges; with a time column it also gives the series.

    Args:
        path: the file, plain, gzip or bzip2, with a header.
        columns: the names of the columns.
        latency_label: what the latency is; the file cannot say it, you declare it.
        bandwidth_label: what the bandwidth is, declared likewise.
        aggregate: median, min or last of an edge's rows.
        keep_going: count broken rows and go on, instead of refusing the file.
        most_numbers: how many numbers a series of rounds x edges may hold.

    """
    columns = EdgeColumns() if columns is None else columns
    labels = (
        check_label(latency_label, "latency_label"),
        check_label(bandwidth_label, "bandwidth_label"),
    )
    check_aggregate(aggregate)
    as_count(most_numbers, "most_numbers")
    source = SourceFile(Path(path))
    left = Rejections(keep_going)
    table = _Table(source, columns, left)
    edges: dict[tuple[str, str], Readings] = {}
    times: dict[float, int] = {}
    for line, row in table.rows():
        try:
            ends, latency, bandwidth = table.parse(row)
            time = times.setdefault(table.time(row), len(times))
        except Rejected as reason:
            left.add(reason.reason, source.path, f"line {line}", reason.detail)
            continue
        edges.setdefault(ends, Readings()).add(time, latency, bandwidth, line)
    if not edges:
        raise DataError(source.path, f"rows 1 to {table.count}", "no row can be used", left.table())
    rank = np.argsort(np.argsort(np.array(list(times))))  # of each time, in the order of time
    for readings in edges.values():
        for i, time in enumerate(readings.time):
            readings.time[i] = int(rank[time])
    return _network(table, edges, len(times), labels, aggregate, most_numbers)


class _Table:
    """The rows of a CSV file, with the columns found by name."""

    def __init__(self, source: SourceFile, columns: EdgeColumns, left: Rejections):
        self.source, self.left, self.count = source, left, 0
        self._rows = self._read()
        _, header = next(self._rows, (0, []))
        self.header = [name.strip() for name in header]
        self.ends = [self._column(columns.source), self._column(columns.target)]
        self.latency = self._found(columns.latency, LATENCY_COLUMNS)
        if self.latency is None:
            self._column(LATENCY_COLUMNS[0])
        self.bandwidth = self._found(columns.bandwidth, BANDWIDTH_COLUMNS)
        given = columns.time in self.header
        self.moment = self._column(columns.time) if given or columns.time != "t" else None

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the fields of each row after the header."""
        for line, row in self._rows:
            if row:
                self.count += 1
                yield line, row

    def parse(self, row: list[str]) -> tuple[tuple[str, str], float, float]:
        if len(row) != len(self.header):
            raise Rejected(
                Reason.WRONG_FIELD, f"the row has {len(row)} fields, the header {len(self.header)}"
            )
        a, b = (row[i].strip() for i in self.ends)
        if not a or not b:
            raise Rejected(Reason.WRONG_FIELD, "a node has no name")
        if a == b:
            raise Rejected(Reason.SELF_LOOP)
        latency = _value(row[self.latency or 0], self.header[self.latency or 0])
        bandwidth = math.nan
        if self.bandwidth is not None:
            bandwidth = _value(row[self.bandwidth], self.header[self.bandwidth])
            if bandwidth == 0.0:
                raise Rejected(Reason.NO_BANDWIDTH)
        return (a, b), latency, bandwidth

    def time(self, row: list[str]) -> float:
        if self.moment is None:
            return 0.0
        return _value(row[self.moment], self.header[self.moment], least=-math.inf)

    def _found(self, wanted: str | None, usual: tuple[str, ...]) -> int | None:
        if wanted is not None:
            return self._column(wanted)
        return next((self.header.index(name) for name in usual if name in self.header), None)

    def _column(self, name: str) -> int:
        if name not in self.header:
            there = ", ".join(self.header)[:200] or "none"
            raise DataError(
                self.source.path, "line 1", f"there is no column {name!r}; the columns are: {there}"
            )
        return self.header.index(name)

    def _read(self) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(self.source.lines(), strict=True)
        try:
            for row in reader:
                yield reader.line_num, row
        except csv.Error as error:
            raise DataError(
                self.source.path, f"line {reader.line_num}", f"this is no CSV ({error})"
            ) from None


def _value(text: str, name: str, least: float = 0.0) -> float:
    if not text.strip():
        raise Rejected(Reason.MISSING)
    try:
        value = parse_number(text)
    except ValueError:
        raise Rejected(Reason.WRONG_FIELD, f"{name} must be a number, got {text[:40]!r}") from None
    if not math.isfinite(value):
        raise Rejected(Reason.NOT_FINITE, f"{name} is {text.strip()}")
    if value < least:
        raise Rejected(Reason.NEGATIVE, f"{name} is {value:g}, it cannot be negative")
    return value


def _network(
    table: _Table,
    edges: dict[tuple[str, str], Readings],
    rounds: int,
    labels: tuple[str, str],
    aggregate: str,
    most_numbers: int,
) -> Network:
    order = sorted(edges)
    nodes = sorted({name for edge in order for name in edge})
    index = {name: i for i, name in enumerate(nodes)}
    summaries = [edges[edge].summary(aggregate) for edge in order]
    known = table.bandwidth is not None
    series: tuple[NDArray[np.float64] | None, ...] = (None, None)
    if table.moment is not None:
        count = rounds * len(order)
        if count > most_numbers:
            raise DataError(
                table.source.path,
                "",
                f"{rounds} rounds of {len(order)} edges make a series of {count} numbers; at most "
                f"{most_numbers} are kept unless most_numbers=... is raised",
            )
        readings = [edges[edge] for edge in order]
        series = tuple(_series(readings, name, rounds) for name in ("latency", "bandwidth"))
    header = table.header
    choices: dict[str, Any] = {
        "nodes": [header[i] for i in table.ends],
        "latency": f"{header[table.latency or 0]}, declared {labels[0]}",
        "bandwidth": f"{header[table.bandwidth or 0]}, declared {labels[1]}" if known else "none",
        "time": header[table.moment] if table.moment is not None else None,
        "aggregate": aggregate,
        "rows of one edge and time": "their median",
    }
    provenance = {
        "made by": "hedgerow ingest edges",
        "files": [{"name": table.source.path.name, "sha256": table.source.sha256}],
        "readings": table.count,
        "kept": table.count - table.left.total,
        "left_out": table.left.table(),
    }
    return Network(
        tuple(nodes),
        np.array([(index[a], index[b]) for a, b in order], dtype=np.int64),
        np.array([summary.latency for summary in summaries]),
        labels[0],
        np.array([summary.bandwidth for summary in summaries]) if known else None,
        labels[1] if known else None,
        latency_series=series[0],
        bandwidth_series=series[1] if known else None,
        choices=choices,
        provenance=provenance,
    )


def _series(readings: list[Readings], name: str, rounds: int) -> NDArray[np.float64]:
    """Return rounds x edges, NaN where an edge has no row, the median where it has several."""
    series = np.full((rounds, len(readings)), np.nan)
    for e, each in enumerate(readings):
        t, v = np.frombuffer(each.time, np.int64), np.frombuffer(getattr(each, name), np.float64)
        order = np.argsort(t, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(t[order])) + 1):
            series[t[part[0]], e] = np.median(v[part])
    return series
