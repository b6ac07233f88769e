"""Tables of readings, one a row: a CSV file, JSON records, or a frame of pandas or polars."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from hedgerow.networks.atlas.json_stream import records
from hedgerow.networks.data_error import DataError
from hedgerow.networks.rejections import Reason, Rejected
from hedgerow.networks.source_file import SourceFile

DELIMITERS = ",;\t|"
"""The one that stands most often in the header is taken; the comma where none does."""

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
    """Rows by the names of their columns, each with its place, and the names seen first."""

    place: Path
    unit: str
    columns: list[str]

    def rows(self) -> Iterator[tuple[int, Row | Rejected]]:
        """Yield the place and the cells of each row, or why it has none."""

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
        return _OfFrame(given)
    raise TypeError(
        f"edges are read from a path or a frame of pandas or polars, got a {type(given).__name__}"
    )


class _File:
    unit = "line"

    def __init__(self, source: SourceFile):
        self.source, self.place = source, source.path
        self.columns: list[str] = []

    def files(self) -> list[dict[str, str]]:
        return [{"name": self.place.name, "sha256": self.source.sha256}]


class _Csv(_File):
    """A header and rows of as many fields."""

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
            raise DataError(self.place, position, f"this is no CSV ({error})") from None


class _Json(_File):
    """Objects, in lines or in an array; what an object does not have is an empty cell."""

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


class _OfFrame:
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
