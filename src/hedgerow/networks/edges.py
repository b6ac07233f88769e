"""Edge lists to a network: each row is one reading of an edge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector, as_count
from hedgerow.networks.edge_rows import EdgeColumns, RowReader, node_index
from hedgerow.networks.edge_tables import Frame, open_table, read_places
from hedgerow.networks.errors import DataError, Reason, Rejections, check_one_of
from hedgerow.networks.network import Network
from hedgerow.networks.quantities import Quantity, check_label
from hedgerow.networks.readings import AGGREGATES, by_edge, by_round, check_size, medians
from hedgerow.networks.source_files import MOST_NUMBERS
from hedgerow.networks.timestamps import next_duration, parse_duration

SPARSE = 0.2
"""Where a larger share of rounds has no row of an edge, longer rounds are proposed."""


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

    An empty cell is a missing reading: the row's other cells count, and the series has NaN there.
    A round in which an edge has rows, but neither a latency nor a bandwidth, is an outage of it. A
    round without a row of the edge is not: it was not measured then.
    A quantity that never changes on any edge has no series.

    Args:
        given: a file, plain, gzip or bzip2: CSV with a header, delimited by the most frequent of
            , ; | and the tab in it, or JSON records in lines or in an array; or a data frame of
            pandas or polars.
        columns: the names of the columns.
        latency_label: of the latency, which the file does not have.
        bandwidth_label: of the bandwidth.
        quantity_label: of all other quantities.
        aggregate: median, min or last of an edge's rows.
        series: the length of a round, as "15min"; None makes a round of each time.
        decimal: the decimal separator, "." or ",".
        both_ways: whether each row is also a reading of the reverse edge.
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
    check_one_of(aggregate, "aggregate", AGGREGATES)
    as_count(most_numbers, "most_numbers")
    every = None if series is None else parse_duration(series, "series")
    if decimal not in (".", ","):
        raise ValueError(f"decimal must be '.' or ',', got {decimal!r}")
    reader = RowReader(open_table(given), columns, decimal, hub, Rejections(keep_going))
    for position, row in reader.table.rows():
        reader.add(position, row)
    choices = {
        "nodes": [reader.source, reader.target],
        "latency": f"{reader.latency}, declared {labels[0]}",
        "bandwidth": f"{reader.bandwidth}, declared {labels[1]}" if reader.bandwidth else "none",
        "time": None if reader.time is None else f"{reader.time}, {reader.times.form}",
        "aggregate": aggregate,
        "rows of one edge and time": "their median",
    }
    if series is not None:
        choices["rounds"] = series
    if both_ways:
        choices["both ways"] = "each row is a reading of the edge back, too"
    try:
        reader.finish()
        table = _Readings(reader, both_ways, every)
        return _network(table, labels, aggregate, every, most_numbers, hub, route, places, choices)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(reader.table.place, "", str(error), reader.left.table()) from None


class _Readings:
    """All readings in columns, without the edges that lack a latency or bandwidth."""

    def __init__(self, reader: RowReader, both_ways: bool, every: float | None):
        self.reader = reader
        order = sorted(reader.edges)  # so that the order of the rows does not matter
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
        # Edges without a latency or bandwidth go with their rows; the others are numbered anew.
        rows = known[edge]
        number = np.cumsum(known) - 1
        self.edges = [edge for edge, has in zip(order, known.tolist(), strict=True) if has]
        self.edge = number[edge[rows]]
        self.time = np.frombuffer(reader.round, np.int64)[rows]
        self.values = {name: column[rows] for name, column in values.items()}
        if reader.time is not None:
            reader.remarks.extend((*self._empty(), *self._sparse(every)))
        if both_ways:
            self._turn()

    def _leave(self, rows: NDArray[np.bool_], name: str) -> None:
        """Count the rows of an edge without bandwidth as left out."""
        reader = self.reader
        if name == reader.latency:
            return  # an empty latency was counted with its row
        first = reader.place[int(np.argmax(rows))]
        position = f"{reader.table.unit} {first}"
        reader.left.add(Reason.NO_BANDWIDTH, reader.table.place, position, count=int(rows.sum()))

    def _turn(self) -> None:
        """Add each row again, as a reading of the reverse edge."""
        both = sorted({*self.edges, *((b, a) for a, b in self.edges)})
        index = {edge: i for i, edge in enumerate(both)}
        there = np.array([index[edge] for edge in self.edges])[self.edge]
        back = np.array([index[edge[::-1]] for edge in self.edges])[self.edge]
        self.edges, self.edge = both, np.concatenate([there, back])
        self.time = np.tile(self.time, 2)
        self.values = {name: np.tile(column, 2) for name, column in self.values.items()}

    def base(self, name: str, aggregate: str, latency: str) -> Vector:
        """Return one value of each edge: the median, or that of its least or last reading."""
        order: NDArray[Any] | None = None
        if aggregate != "median":
            order = self.values[latency] if aggregate == "min" else -self._late()
        return by_edge(self.edge, self.values[name], len(self.edges), order)

    def _late(self) -> NDArray[np.int64]:
        """Return numbers in the order of the rows' times, or of the rows where they have none."""
        times = self.reader.times
        return times.rounds(None)[0][self.time] if self.reader.time is not None else self.time

    def series(self, name: str, of: NDArray[np.int64], rounds: int) -> NDArray[np.float64]:
        """Return the values by round and edge."""
        shape = (rounds, len(self.edges))
        return by_round(of[self.time], self.edge, self.values[name], shape)

    def outages(
        self, latency: NDArray[np.float64], of: NDArray[np.int64]
    ) -> NDArray[np.bool_] | None:
        """Return by round and edge whether it was measured without an answer; None if never."""
        empty = self._unanswered
        asked = np.zeros(latency.shape, np.bool_)
        asked[of[self.time[empty]], self.edge[empty]] = True
        found: NDArray[np.bool_] = asked & np.isnan(latency)
        return found if found.any() else None

    @property
    def _unanswered(self) -> NDArray[np.bool_]:
        """Which rows have no latency, and no bandwidth either, whose measurement is an answer."""
        names = filter(None, (self.reader.latency, self.reader.bandwidth))
        found: NDArray[np.bool_] = np.all([np.isnan(self.values[name]) for name in names], axis=0)
        return found

    def _empty(self) -> list[str]:
        """Return a remark on readings without a value, if there are any."""
        count = int(self._unanswered.sum())
        if not count:
            return []
        return [
            "1 reading is empty: its link counts as failed then."
            if count == 1
            else f"{count} readings are empty: their links count as failed then."
        ]

    def _sparse(self, every: float | None) -> list[str]:
        """Return a remark if many rounds have no row of an edge, with longer rounds that have."""
        times = self.reader.times
        of, begins = times.rounds(every)
        slots = len(begins) * len(self.edges)
        empty = slots - len(np.unique(of[self.time] * len(self.edges) + self.edge))
        if empty < SPARSE * slots or not times.are_moments:
            return []
        moment = begins[of[self.time]]
        rows = np.lexsort((moment, self.edge))
        gaps = np.diff(moment[rows])
        within = (np.diff(self.edge[rows]) == 0) & (gaps > 0.0)
        _, usual = medians(self.edge[rows][1:][within], gaps[within])
        remark = f"{empty} of {slots} readings are missing: not every link has one in every round"
        longer = next_duration(float(np.quantile(usual, 0.9))) if usual.size else None
        now = float(np.median(np.diff(begins)))
        if longer is None or parse_duration(longer, "series") <= now:
            return [f"{remark}. The last one counts."]
        return [f"{remark}. The last one counts; for longer rounds use series={longer!r}."]


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
    outages = None
    base = {name: table.base(name, aggregate, latency) for name in table.values}
    series: dict[str, NDArray[np.float64]] = {}
    begins = None
    if reader.time is not None:
        of, begins = reader.times.rounds(every, most_numbers)
        check_size(len(begins), len(edges), most_numbers)
        series = {name: table.series(name, of, len(begins)) for name in table.values}
        outages = table.outages(series[latency], of)
    elif every is not None:
        raise ValueError("series=... needs a column of times; name it with time=...")
    for name in [name for name in series if name not in (latency, bandwidth)]:
        if _is_constant(series[name]):
            del series[name]
    found = None if places is None else read_places(places, nodes, reader.remarks)
    files = reader.table.files()
    ends = [None, None] if route is None else [node_index(name, nodes, "route") for name in route]
    return Network(
        tuple(nodes),
        np.array([(index[a], index[b]) for a, b in edges], dtype=np.int64),
        base[latency],
        labels[0],
        None if bandwidth is None else base[bandwidth],
        None if bandwidth is None else labels[1],
        latency_series=series.get(latency),
        bandwidth_series=None if bandwidth is None else series.get(bandwidth),
        hub=None if hub is None else node_index(hub, nodes, "hub"),
        source=ends[0],
        target=ends[1],
        quantities={
            name: Quantity(base[name], labels[2], series.get(name))
            for name in table.values
            if name not in (latency, bandwidth)
        },
        times=begins if reader.times.are_moments and begins is not None else None,
        coordinates=found,
        outages=outages,
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
