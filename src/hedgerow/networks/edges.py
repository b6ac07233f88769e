"""Edge lists: one reading of an edge a row."""

from __future__ import annotations

import difflib
import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector, as_count
from hedgerow.networks.arrays import MOST_NUMBERS
from hedgerow.networks.data_error import DataError
from hedgerow.networks.edge_tables import Frame, Row, Table, open_table
from hedgerow.networks.labels import check_label
from hedgerow.networks.network import Network
from hedgerow.networks.numbers import parse_number
from hedgerow.networks.places import read_places
from hedgerow.networks.quantity import Quantity
from hedgerow.networks.readings import by_round, check_aggregate, check_size, medians
from hedgerow.networks.rejections import Reason, Rejected, Rejections
from hedgerow.networks.timestamps import Times, looks_like_time, width

LATENCY_COLUMNS = ("latency_ms", "rtt_ms")
BANDWIDTH_COLUMNS = ("bandwidth_mbps", "throughput_mbps")
WORDS = {
    "source": ("src", "source", "from", "origin", "site_a", "node_a", "a"),
    "target": ("dst", "target", "to", "destination", "site_b", "node_b", "b"),
    "latency": (*LATENCY_COLUMNS, "latency", "rtt", "delay_ms", "delay", "ping", "ms"),
    "bandwidth": (*BANDWIDTH_COLUMNS, "bandwidth", "throughput", "mbps"),
    "time": ("t", "time", "timestamp", "datetime", "date", "when", "ts"),
}
"""What columns are often called: where one is missing, the most similar name is proposed."""
MOST_QUANTITIES = 64
"""More columns of numbers than this are kept only if they are named."""
MOST_NAMES, LONGEST_NAME = 200, 40
"""What is looked at to propose a name: a hostile header may have a million."""


@dataclass(frozen=True)
class EdgeColumns:
    """Which columns hold what; None takes the first usual name that is there.

    Args:
        source: the node where an edge begins.
        target: the node where it ends.
        latency: in ms; usually latency_ms or rtt_ms.
        bandwidth: in Mbit/s; usually bandwidth_mbps or throughput_mbps, and may be absent.
        time: ISO 8601, Unix seconds or milliseconds, or a number that orders the rounds; rows of
            one time make one round.
        quantities: what else to keep of an edge; None keeps every column that holds numbers.

    """

    source: str = "src"
    target: str = "dst"
    latency: str | None = None
    bandwidth: str | None = None
    time: str = "t"
    quantities: Sequence[str] | None = None


def read_edges(
    given: Path | str | Frame,
    columns: EdgeColumns | None = None,
    *,
    latency_label: str = "measured",
    bandwidth_label: str = "measured",
    quantity_label: str = "measured",
    aggregate: str = "median",
    series: str | None = None,
    decimal: str = ".",
    both_ways: bool = False,
    hub: str | None = None,
    route: tuple[str, str] | None = None,
    places: Path | str | None = None,
    keep_going: bool = False,
    most_numbers: int = MOST_NUMBERS,
) -> Network:
    r"""Read a table of edges; with a time column it also gives the series.

    An empty cell is a reading that was not made: the row's other cells count, and the series has
    NaN there. A quantity that never changes on any edge has no series.

    Args:
        given: a file, plain, gzip or bzip2: CSV with a header, whose delimiter is that of , ; | and
            the tab which stands most often in it, or JSON records in lines or in an array; or a
            frame of pandas or polars.
        columns: the names of the columns.
        latency_label: what the latency is; the file cannot say it, you declare it.
        bandwidth_label: what the bandwidth is, declared likewise.
        quantity_label: what all other quantities are.
        aggregate: median, min or last of an edge's rows.
        series: the length of a round, as "15min"; None makes a round of each time.
        decimal: what stands before the decimals, "." or ",".
        both_ways: whether each row is a reading of the edge back, too.
        hub: the hub of a star; rows that do not touch it are left out.
        route: the nodes where routes begin and end.
        places: a CSV of name, latitude and longitude, for a map.
        keep_going: count broken rows and go on, instead of refusing the file.
        most_numbers: how many numbers a series of rounds x edges may hold.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "links.csv"
    ...     _ = path.write_text("src;dst;rtt_ms;t;eur\na;b;12,5;2026-03-01;3\n")
    ...     network = read_edges(path, decimal=",")
    >>> network.latency_ms.tolist(), network.times.tolist(), list(network.quantities)
    ([12.5], [1772323200.0], ['eur'])

    """
    columns = EdgeColumns() if columns is None else columns
    labels = (
        check_label(latency_label, "latency_label"),
        check_label(bandwidth_label, "bandwidth_label"),
        check_label(quantity_label, "quantity_label"),
    )
    check_aggregate(aggregate)
    as_count(most_numbers, "most_numbers")
    every = None if series is None else width(series, "series")
    if decimal not in (".", ","):
        raise ValueError(f"decimal must be '.' or ',', got {decimal!r}")
    reader = _Reader(open_table(given), columns, decimal, hub, Rejections(keep_going))
    for position, row in reader.table.rows():
        reader.take(position, row)
    try:
        reader.finish()
    except DataError:
        raise
    except ValueError as error:
        raise DataError(reader.table.place, "", str(error), reader.left.table()) from None
    choices = {
        "nodes": [columns.source, columns.target],
        "latency": f"{reader.latency}, declared {labels[0]}",
        "bandwidth": f"{reader.bandwidth}, declared {labels[1]}" if reader.bandwidth else "none",
        "time": reader.time,
        "aggregate": aggregate,
        "rows of one edge and time": "their median",
    }
    if reader.time is not None:
        choices["time"] = f"{reader.time}, {reader.times.form}"
    if series is not None:
        choices["rounds"] = series
    if both_ways:
        choices["both ways"] = "each row is a reading of the edge back, too"
    table = _Readings(reader, both_ways)
    try:
        return _network(table, labels, aggregate, every, most_numbers, hub, route, places, choices)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(reader.table.place, "", str(error), reader.left.table()) from None


class _Reader:
    """Takes the rows in: the number of its edge and time for each, and one column a quantity."""

    def __init__(
        self, table: Table, columns: EdgeColumns, decimal: str, hub: str | None, left: Rejections
    ):
        self.table, self.left, self.decimal, self.hub = table, left, decimal, hub
        self.source, self.target = columns.source, columns.target
        names = table.columns
        self.latency = columns.latency or _usual(LATENCY_COLUMNS, names) or LATENCY_COLUMNS[0]
        self.bandwidth = columns.bandwidth or _usual(BANDWIDTH_COLUMNS, names)
        asked = columns.time != "t" or "t" in names
        self.time = columns.time if asked else None
        self._check(columns)
        self.asked_for = columns.quantities is not None
        roles = (self.source, self.target, self.latency, self.bandwidth, self.time)
        self._leave = {"", *(name for name in roles if name is not None)}  # "" is no name
        self.edges: dict[tuple[str, str], int] = {}
        self.times = Times()
        self.edge, self.round, self.place = array("q"), array("q"), array("q")
        self.values: dict[str, array[float]] = {self.latency: array("d")}
        if self.bandwidth is not None:
            self.values[self.bandwidth] = array("d")
        for name in columns.quantities or ():
            self.values.setdefault(name, array("d"))
        self._strict = tuple(self.values)
        self.remarks: list[str] = []
        self.count = 0
        self._full = False
        self._seen: set[str] = set()

    def take(self, position: int, row: Row | Rejected) -> None:
        """Sort one row in, or count why not."""
        self.count += 1
        try:
            if isinstance(row, Rejected):
                raise row
            ends = self._ends(row)
            found = {name: self._value(row.get(name), name) for name in self._strict}
            if self.bandwidth is not None and found[self.bandwidth] == 0.0:
                raise Rejected(Reason.NO_BANDWIDTH)
            if self.time is None:
                moment = self.count
            elif _is_empty(row.get(self.time)):
                raise Rejected(Reason.MISSING)
            else:
                moment = self.times.place(row[self.time], self.time)
        except Rejected as reason:
            self._reject(reason.reason, position, reason.detail)
            return
        if not self.asked_for:
            self._add_others(found, row, position)
        if math.isnan(found[self.latency]):
            self._reject(Reason.MISSING, position)
        self.edge.append(self.edges.setdefault(ends, len(self.edges)))
        self.round.append(moment)
        self.place.append(position)
        for name, value in found.items():
            self.values[name].append(value)

    def finish(self) -> None:
        """Say what a reader of the network should know, and refuse a table of nothing."""
        if self.times.without_zone:
            self.remarks.append(f"Times of {self.time!r} without a zone are taken as UTC.")
        if not self.edges and self._seen:
            _index(self.hub or "", sorted(self._seen), "hub")
        if not self.edges:
            position = f"rows 1 to {self.count}"
            raise DataError(self.table.place, position, "no row can be used", self.left.table())

    def _check(self, columns: EdgeColumns) -> None:
        """Name all columns that are not there at once, and what to give instead."""
        names = self.table.columns
        wanted = {"source": self.source, "target": self.target}
        wanted |= {"latency": self.latency}
        wanted |= {"bandwidth": self.bandwidth} if self.bandwidth else {}
        wanted |= {"time": self.time} if self.time else {}
        missing = {role: name for role, name in wanted.items() if name not in names}
        others = [name for name in columns.quantities or () if name not in names]
        if not missing and not others:
            return
        free = [name for name in names if name not in wanted.values()]
        proposed = []
        for role in missing:
            near = _nearest((missing[role], *WORDS[role]), free)
            if near is not None:
                free.remove(near)
                proposed.append(f"{role}={near!r}")
        absent = _listed([repr(name) for name in (*missing.values(), *others)])
        there = ", ".join(names)[:200] or "none"
        hint = f"; perhaps you want {', '.join(proposed)}" if proposed else ""
        position = {"line": "line 1", "record": "record 1"}.get(self.table.unit, "")
        raise DataError(
            self.table.place,
            position,
            f"there is no column {absent}; the columns are: {there}{hint}",
        )

    def _ends(self, row: Row) -> tuple[str, str]:
        a, b = _name(row.get(self.source)), _name(row.get(self.target))
        if a == b:
            raise Rejected(Reason.SELF_LOOP)
        if self.hub is not None and self.hub not in (a, b):
            self._seen |= {a, b}
            raise Rejected(Reason.OTHER_TARGET)
        return a, b

    def _value(self, cell: Any, name: str) -> float:
        """Return a number, NaN for an empty cell; latency and bandwidth are not negative."""
        if _is_empty(cell):
            return math.nan
        try:
            value = self._number(cell)
        except (ValueError, OverflowError):
            comma = isinstance(cell, str) and self.decimal == "." and cell.count(",") == 1
            hint = "; for a decimal comma use decimal=','" if comma else ""
            detail = f"{name} must be a number, got {cell!r:.42}{hint}"
            raise Rejected(Reason.WRONG_FIELD, detail) from None
        if not math.isfinite(value):
            raise Rejected(Reason.NOT_FINITE, f"{name} is {cell!s:.40}")
        if value < 0.0 and name in (self.latency, self.bandwidth):
            raise Rejected(Reason.NEGATIVE, f"{name} is {value:g}, it cannot be negative")
        return value

    def _number(self, cell: Any) -> float:
        if isinstance(cell, str):
            return parse_number(cell.replace(",", ".") if self.decimal == "," else cell)
        if isinstance(cell, bool) or not isinstance(cell, Real):
            raise ValueError
        return float(cell)

    def _add_others(self, found: dict[str, float], row: Row, position: int) -> None:
        """Add the numbers of the columns that no one asked for; one with text is forgotten."""
        for name, cell in row.items():
            if name in self._leave:
                continue
            known = name in self.values
            if not known and self.time is None and _is_time(name, cell):
                self._leave.add(name)
                self.remarks.append(
                    f"Column {name!r} holds times and is not read; for rounds use time={name!r}."
                )
                continue
            try:
                value = self._value(cell, name)
            except Rejected as reason:
                if reason.reason is Reason.NOT_FINITE:
                    continue  # a gap, as programs write it
                self._leave.add(name)
                if known:
                    del self.values[name]
                    where = f"{self.table.unit} {position} has {cell!r:.42}"
                    self.remarks.append(f"Column {name!r} is left out, it holds text: {where}.")
                continue
            if not known and math.isnan(value):
                continue
            if not known and len(self.values) >= MOST_QUANTITIES:
                self._leave.add(name)
                if not self._full:
                    self.remarks.append(
                        f"Only the first {MOST_QUANTITIES} columns of numbers are kept, from "
                        f"{name!r:.42} on none; name those you want."
                    )
                self._full = True
                continue
            if not known:
                self.values[name] = array("d", [math.nan]) * len(self.edge)
            found[name] = value
        for name in self.values:
            found.setdefault(name, math.nan)  # a record without it

    def _reject(self, reason: Reason, position: int, detail: str = "") -> None:
        self.left.add(reason, self.table.place, f"{self.table.unit} {position}", detail)


class _Readings:
    """All readings in columns, without the edges that have none, in the order of the edges."""

    def __init__(self, reader: _Reader, both_ways: bool):
        self.reader = reader
        order = sorted(reader.edges)
        rank = np.empty(len(order), np.int64)
        rank[[reader.edges[edge] for edge in order]] = np.arange(len(order))
        edge = rank[np.frombuffer(reader.edge, np.int64)]
        values = {name: np.frombuffer(column) for name, column in reader.values.items()}
        known = np.ones(len(order), bool)
        for name in filter(None, (reader.latency, reader.bandwidth)):
            has = np.bincount(edge, ~np.isnan(values[name]), len(order)) > 0
            for e in np.flatnonzero(known & ~has).tolist():
                self._leave(edge == e, name)
            known &= has
        if not known.any():
            position = f"rows 1 to {reader.count}"
            table = reader.left.table()
            raise DataError(reader.table.place, position, "no row can be used", table)
        rows = known[edge]
        number = np.cumsum(known) - 1
        self.edges = [edge for edge, has in zip(order, known.tolist(), strict=True) if has]
        self.edge = number[edge[rows]]
        self.time = np.frombuffer(reader.round, np.int64)[rows]
        self.values = {name: column[rows] for name, column in values.items()}
        if both_ways:
            self._turn()

    def _leave(self, rows: NDArray[np.bool_], name: str) -> None:
        """Count the rows of an edge that lacks a quantity, but for those that were counted."""
        reader = self.reader
        if name == reader.latency:
            return  # an empty latency was counted with its row
        first = reader.place[int(np.argmax(rows))]
        position = f"{reader.table.unit} {first}"
        reader.left.add(Reason.NO_BANDWIDTH, reader.table.place, position, count=int(rows.sum()))

    def _turn(self) -> None:
        """Add each row again, as a reading of the edge back."""
        both = sorted({*self.edges, *((b, a) for a, b in self.edges)})
        index = {edge: i for i, edge in enumerate(both)}
        there = np.array([index[edge] for edge in self.edges])[self.edge]
        back = np.array([index[edge[::-1]] for edge in self.edges])[self.edge]
        self.edges, self.edge = both, np.concatenate([there, back])
        self.time = np.tile(self.time, 2)
        self.values = {name: np.tile(column, 2) for name, column in self.values.items()}

    def base(self, name: str, aggregate: str, latency: str) -> Vector:
        """Return one value of each edge: the median, or that of its least or last reading."""
        values, result = self.values[name], np.full(len(self.edges), np.nan)
        known = ~np.isnan(values)
        if aggregate == "median":
            edges, found = medians(self.edge[known], values[known])
            result[edges] = found
            return result
        before = self.values[latency] if aggregate == "min" else -self._late()
        order = np.lexsort((before[known], self.edge[known]))  # NaN is last
        edges, first = np.unique(self.edge[known][order], return_index=True)
        result[edges] = values[known][order][first]
        return result

    def _late(self) -> NDArray[np.int64]:
        """Return what grows with the time of each row, or with its place where it has none."""
        times = self.reader.times
        return times.rounds(None)[0][self.time] if self.reader.time is not None else self.time

    def series(self, name: str, of: NDArray[np.int64], rounds: int) -> NDArray[np.float64]:
        """Return the values by round and edge."""
        shape = (rounds, len(self.edges))
        return by_round(of[self.time], self.edge, self.values[name], shape)


def _network(
    table: _Readings,
    labels: tuple[str, str, str],
    aggregate: str,
    every: float | None,
    most_numbers: int,
    hub: str | None,
    route: tuple[str, str] | None,
    places: Path | str | None,
    choices: dict[str, Any],
) -> Network:
    reader, edges = table.reader, table.edges
    nodes = sorted({name for edge in edges for name in edge})
    index = {name: i for i, name in enumerate(nodes)}
    latency, bandwidth = reader.latency, reader.bandwidth
    base = {name: table.base(name, aggregate, latency) for name in table.values}
    series: dict[str, NDArray[np.float64]] = {}
    begins = None
    if reader.time is not None:
        of, begins = reader.times.rounds(every, most_numbers)
        check_size(len(begins), len(edges), most_numbers)
        series = {name: table.series(name, of, len(begins)) for name in table.values}
    elif every is not None:
        raise ValueError("series=... needs a column of times; name it with time=...")
    for name in [name for name in series if name not in (latency, bandwidth)]:
        if _is_constant(series[name]):
            del series[name]
    found = None if places is None else read_places(places, nodes, reader.remarks)
    files = reader.table.files()
    ends = [None, None] if route is None else [_index(name, nodes, "route") for name in route]
    return Network(
        tuple(nodes),
        np.array([(index[a], index[b]) for a, b in edges], dtype=np.int64),
        base[latency],
        labels[0],
        None if bandwidth is None else base[bandwidth],
        None if bandwidth is None else labels[1],
        latency_series=series.get(latency),
        bandwidth_series=None if bandwidth is None else series.get(bandwidth),
        hub=None if hub is None else _index(hub, nodes, "hub"),
        source=ends[0],
        target=ends[1],
        quantities={
            name: Quantity(base[name], labels[2], series.get(name))
            for name in table.values
            if name not in (latency, bandwidth)
        },
        times=begins if reader.times.are_moments and begins is not None else None,
        coordinates=found,
        choices=choices,
        provenance={
            "made by": "hedgerow ingest edges" if files else "hedgerow.networks.read_edges",
            "files": files,
            "readings": reader.count,
            "kept": reader.count - reader.left.total,
            "left_out": reader.left.table(),
            **({"remarks": reader.remarks} if reader.remarks else {}),
        },
    )


def _is_constant(series: NDArray[np.float64]) -> bool:
    """Whether every column has one value, where it has any."""
    known = ~np.isnan(series)
    least = np.where(known, series, np.inf).min(axis=0)
    largest = np.where(known, series, -np.inf).max(axis=0)
    return bool((least >= largest).all())


def _usual(names: Iterable[str], there: Sequence[str]) -> str | None:
    return next((name for name in names if name in there), None)


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _name(cell: Any) -> str:
    """Return the name of a node; whole numbers are names too."""
    if isinstance(cell, str):
        name = cell.strip()
    elif isinstance(cell, (int, float)) and not isinstance(cell, bool) and cell == cell // 1:
        name = str(int(cell))
    elif cell is None:
        name = ""
    else:
        raise Rejected(Reason.WRONG_FIELD, f"a node's name must be text, got {cell!r:.42}")
    if not name:
        raise Rejected(Reason.WRONG_FIELD, "a node has no name")
    return name


def _nearest(words: Iterable[str], names: Sequence[str]) -> str | None:
    """Return the name that is most like one of the words, if any is like it at all."""
    scored = [
        (difflib.SequenceMatcher(None, word.lower(), name.lower()[:LONGEST_NAME]).ratio(), name)
        for word in words
        for name in names[:MOST_NAMES]
    ]
    ratio, name = max(scored, default=(0.0, ""), key=lambda pair: pair[0])
    return name if ratio >= 0.6 else None


def _is_time(name: str, cell: Any) -> bool:
    """Whether a cell is a moment; a large number is one only in a column that is called so."""
    number = isinstance(cell, Real) or (isinstance(cell, str) and cell.strip().isdecimal())
    return looks_like_time(cell) and (not number or _nearest(WORDS["time"], [name]) is not None)


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _index(name: str, nodes: Sequence[str], option: str) -> int:
    if name not in nodes:
        near = difflib.get_close_matches(name, nodes[:MOST_NAMES], 3, 0.5)
        hint = f"; perhaps you want {_listed([repr(each) for each in near])}" if near else ""
        raise ValueError(f"{option} names {name!r}, which is no node{hint}")
    return nodes.index(name)
