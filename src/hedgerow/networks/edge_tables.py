"""Tables of readings and of places: CSV files, JSON records, or data frames, row by row.

The csv module and our scanner of JSON are stricter than the readers of pandas and polars: they keep
the line of every row for error messages, refuse ragged rows, and hold one row in memory.
"""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hedgerow.networks.errors import DataError, Reason, Rejected
from hedgerow.networks.json_stream import records
from hedgerow.networks.source_files import SourceFile, parse_number

DELIMITERS = ",;\t|"
"""The most frequent one in the header is taken; the comma where there is none."""

NAMES = ("name", "node", "site")
LATITUDES = ("latitude", "lat")
LONGITUDES = ("longitude", "lon", "lng", "long")

Row = Mapping[str, Any]


@runtime_checkable
class Frame(Protocol):
    """A data frame: columns with names. Those of pandas and polars are."""

    @property
    def columns(self) -> Iterable[Any]:
        """The names."""

    def __getitem__(self, name: Any, /) -> Any:
        """Return one column, which has `to_list`."""


class Table(Protocol):
    """Rows by the names of their columns, each with its position."""

    place: Path
    unit: str
    columns: list[str]

    def rows(self) -> Iterator[tuple[int, Row | Rejected]]:
        """Yield the position and the cells of each row, or why it is rejected."""

    def files(self) -> list[dict[str, str]]:
        """Return the names and hashes of the files, once all was read."""


def open_table(given: Path | str | Frame) -> Table:
    """Return the table of a file, whose first character tells JSON from CSV, or of a frame."""
    if isinstance(given, (str, Path)):
        source = SourceFile(Path(given))
        text = source.text()
        begin = ""
        for chunk in text:
            begin += chunk
            if begin.strip():
                break
        text = itertools.chain([begin], text)
        return (_Json if begin.lstrip()[:1] in ("[", "{") else _Csv)(source, text)
    if isinstance(given, Frame):
        return _FrameTable(given)
    raise TypeError(
        f"edges are read from a path or a frame of pandas or polars, got a {type(given).__name__}"
    )


class _FileTable:
    unit = "line"

    def __init__(self, source: SourceFile):
        self.source, self.place = source, source.path
        self.columns: list[str] = []

    def files(self) -> list[dict[str, str]]:
        return [{"name": self.place.name, "sha256": self.source.sha256}]


class _Csv(_FileTable):
    """A header and rows with the same number of fields."""

    def __init__(self, source: SourceFile, text: Iterable[str]):
        super().__init__(source)
        lines = source.lines(text)
        head = next(lines, "")
        delimiter = max(DELIMITERS, key=head.count)
        self._reader = csv.reader(itertools.chain([head], lines), delimiter=delimiter, strict=True)
        self._rows = self._read()
        self._header = [name.strip() for name in next(self._rows, (0, []))[1]]
        first: dict[str, int] = {}
        for i, name in enumerate(self._header):
            first.setdefault(name, i)
        self.columns, self._at = list(first), list(first.values())

    def rows(self) -> Iterator[tuple[int, Row | Rejected]]:
        width = len(self._header)
        for line, row in self._rows:
            if len(row) == width:
                yield line, {name: row[i] for name, i in zip(self.columns, self._at, strict=True)}
            elif row:
                detail = f"the row has {len(row)} fields, the header {width}"
                yield line, Rejected(Reason.WRONG_FIELD, detail)

    def _read(self) -> Iterator[tuple[int, list[str]]]:
        try:
            for row in self._reader:
                yield self._reader.line_num, row
        except csv.Error as error:
            position = f"line {self._reader.line_num}"
            raise DataError(self.place, position, f"this is not CSV ({error})") from None


class _Json(_FileTable):
    """Objects, in lines or in an array; a missing key is an empty cell."""

    unit = "record"

    def __init__(self, source: SourceFile, text: Iterable[str]):
        super().__init__(source)
        self._records = records(source.path, text)
        self._first: Any = next(self._records, {})
        if isinstance(self._first, dict):
            self.columns = list(self._first)

    def rows(self) -> Iterator[tuple[int, Row | Rejected]]:
        for number, record in enumerate(itertools.chain([self._first], self._records), start=1):
            if isinstance(record, dict):
                yield number, record
            else:
                yield number, Rejected(Reason.WRONG_FIELD, "a record must be an object")


class _FrameTable:
    """The columns of a frame, as lists; NaN, NaT, NA and None are empty cells."""

    place, unit = Path("the frame"), "row"

    def __init__(self, frame: Frame):
        self._frame = frame
        self.columns = [str(name) for name in frame.columns]

    def rows(self) -> Iterator[tuple[int, Row | Rejected]]:
        lists = [self._frame[name].to_list() for name in self._frame.columns]
        for number, cells in enumerate(zip(*lists, strict=True)):
            yield (
                number,
                {
                    name: None if _is_missing(cell) else cell
                    for name, cell in zip(self.columns, cells, strict=True)
                },
            )

    def files(self) -> list[dict[str, str]]:
        return []


def _is_missing(cell: Any) -> bool:
    try:
        return cell is None or bool(cell != cell)
    except TypeError:  # pandas.NA is neither true nor false
        return True


def read_places(path: Path | str, nodes: Sequence[str], remarks: list[str]) -> NDArray[np.float64]:
    """Return latitude and longitude of each node, NaN where the file has none.

    Args:
        path: CSV or JSON records with a name, a latitude and a longitude in degrees.
        nodes: the names of the network.
        remarks: a remark is added here if nodes are missing.

    """
    table = open_table(path)
    lower = {name.lower(): name for name in reversed(table.columns)}
    found = [
        next((n for n in names if n in lower), None) for names in (NAMES, LATITUDES, LONGITUDES)
    ]
    if None in found:
        there = ", ".join(table.columns)[:200] or "none"
        raise DataError(
            path,
            f"{table.unit} 1",
            f"places need columns name, latitude and longitude; the columns are: {there}",
        )
    name, *axes = (lower[each or ""] for each in found)
    index = {node: i for i, node in enumerate(nodes)}
    places = np.full((len(nodes), 2), np.nan)
    for position, row in table.rows():
        where = f"{table.unit} {position}"
        if isinstance(row, Rejected):
            raise DataError(path, where, str(row))
        node = index.get(str(row.get(name)).strip())
        if node is not None:
            places[node] = [_degrees(path, where, row.get(axis), axis) for axis in axes]
    unknown = [node for node, place in zip(nodes, places, strict=True) if np.isnan(place).any()]
    if unknown:
        shown = ", ".join(unknown[:4]) + (", ..." if len(unknown) > 4 else "")
        remarks.append(f"{Path(path).name} has no place for {len(unknown)} nodes: {shown}.")
    return places


def _degrees(path: Path | str, where: str, cell: Any, name: str) -> float:
    try:
        degrees = parse_number(cell) if isinstance(cell, str) else float(cell)
    except (TypeError, ValueError, OverflowError):
        degrees = math.nan
    if not math.isfinite(degrees):
        raise DataError(path, where, f"{name} must be a number of degrees, got {cell!r:.42}")
    return degrees
