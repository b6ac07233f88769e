"""Rows of an edge list: columns found by name, cells checked, and readings kept in columns."""

from __future__ import annotations

import difflib
import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from hedgerow.networks.column_names import (
    LONGEST_NAME,
    MOST_NAMES,
    USUAL_NAMES,
    guess_columns,
)
from hedgerow.networks.edge_tables import Row, Table
from hedgerow.networks.errors import DataError, Reason, Rejected, Rejections
from hedgerow.networks.source_files import parse_number
from hedgerow.networks.timestamps import Times, is_time

ROLES = {"source": "the first node", "target": "the second node", "latency": "the latency in ms"}
"""What every table must hold, in words."""
MOST_QUANTITIES = 64
"""More columns of numbers than this are kept only if they are named."""


@dataclass(frozen=True)
class EdgeColumns:
    """The names of the columns; None guesses them from the names that the file has.

    Args:
        source: the node where an edge begins, such as src or src_site.
        target: the node where it ends, such as dst or dst_site.
        latency: in ms, such as latency_ms or rtt.
        bandwidth: in Mbit/s, such as bandwidth_mbps; it may be absent, and "" reads none.
        time: ISO 8601, Unix seconds or milliseconds, or a number that orders the rounds; rows of
            one time make one round. It may be absent, and "" reads none.
        quantities: other columns to keep; None keeps every column that holds numbers.

    """

    source: str | None = None
    target: str | None = None
    latency: str | None = None
    bandwidth: str | None = None
    time: str | None = None
    quantities: Sequence[str] | None = None


class RowReader:
    """Collects the rows: the edge and time of each as numbers, and one column for each quantity."""

    def __init__(
        self, table: Table, columns: EdgeColumns, decimal: str, hub: str | None, left: Rejections
    ):
        self.table, self.left, self.decimal, self.hub = table, left, decimal, hub
        given = {role: getattr(columns, role) for role in USUAL_NAMES}
        free = [name for name in table.columns if name not in given.values()]
        self.guessed = {
            role: name for role, name in guess_columns(free).items() if given[role] is None
        }
        roles = given | self.guessed
        self._check(roles, columns.quantities or ())
        self.source, self.target, self.latency = (
            str(roles[role]) for role in ("source", "target", "latency")
        )
        self.bandwidth, self.time = roles["bandwidth"] or None, roles["time"] or None
        self.asked_for = columns.quantities is not None
        self._ignored = {"", *filter(None, roles.values())}  # "" is not a name
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

    def add(self, position: int, row: Row | Rejected) -> None:
        """Add one row, or count why it is left out."""
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
        """Add a remark on times without a zone, and refuse a table without a usable row."""
        if self.times.without_zone:
            self.remarks.append(f"Times of {self.time!r} without a zone are taken as UTC.")
        if not self.edges and self._seen:
            node_index(self.hub or "", sorted(self._seen), "hub")
        if not self.edges:
            position = f"rows 1 to {self.count}"
            raise DataError(self.table.place, position, "no row can be used", self.left.table())

    def _check(self, roles: Mapping[str, str | None], others: Sequence[str]) -> None:
        """Name all missing columns in one error, and propose others."""
        names = self.table.columns
        needed = [role for role in ROLES if roles[role] is None]
        wrong = {role: name for role, name in roles.items() if name and name not in names}
        absent = [repr(name) for name in (*wrong.values(), *others) if name not in names]
        if not absent and not needed:
            return
        parts = [f"no column {_listed(absent)}"] if absent else []
        parts += [f"no column for {_listed([ROLES[role] for role in needed])}"] if needed else []
        free = [name for name in names if name not in roles.values()]
        proposed = []
        for role in (*wrong, *needed):
            alike = 0.75 if role in needed else 0.6  # a guess needs more than a correction
            near = _nearest((*filter(None, [wrong.get(role)]), *USUAL_NAMES[role]), free, alike)
            if near is not None:
                free.remove(near)
            if near is not None or role in needed:
                proposed.append(f"{role}={near or '...'!r}".replace("'...'", "..."))
        there = ", ".join(names)[:200] or "none"
        hint = f"; give EdgeColumns({', '.join(proposed)})" if proposed else ""
        position = {"line": "line 1", "record": "record 1"}.get(self.table.unit, "")
        raise DataError(
            self.table.place,
            position,
            f"there is {' and '.join(parts)}; the columns are: {there}{hint}",
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
        """Add the numbers of columns that were not named; a column with text is dropped."""
        for name, cell in row.items():
            if name in self._ignored:
                continue
            known = name in self.values
            if not known and self.time is None and _is_time(name, cell):
                self._ignored.add(name)
                self.remarks.append(
                    f"Column {name!r} holds times and is not read; for rounds use time={name!r}."
                )
                continue
            try:
                value = self._value(cell, name)
            except Rejected as reason:
                if reason.reason is Reason.NOT_FINITE:
                    continue  # how some programs write a gap
                self._ignored.add(name)
                if known:
                    del self.values[name]
                    where = f"{self.table.unit} {position} has {cell!r:.42}"
                    self.remarks.append(f"Column {name!r} is left out, it holds text: {where}.")
                continue
            if not known and math.isnan(value):
                continue
            if not known and len(self.values) >= MOST_QUANTITIES:
                self._ignored.add(name)
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


def _nearest(wanted: Iterable[str], names: Sequence[str], alike: float = 0.6) -> str | None:
    """Return the name most similar to one of the wanted ones, if any is similar enough."""
    scored = [
        (difflib.SequenceMatcher(None, one.lower(), name.lower()[:LONGEST_NAME]).ratio(), name)
        for one in wanted
        for name in names[:MOST_NAMES]
    ]
    ratio, name = max(scored, default=(0.0, ""), key=lambda pair: pair[0])
    return name if ratio >= alike else None


def _is_time(name: str, cell: Any) -> bool:
    """Whether a cell is a time; a large number is one only in a column with such a name."""
    number = isinstance(cell, Real) or (isinstance(cell, str) and cell.strip().isdecimal())
    return is_time(cell) and (not number or _nearest(USUAL_NAMES["time"], [name]) is not None)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def node_index(name: str, nodes: Sequence[str], option: str) -> int:
    """Return the index of a node, or propose names similar to the one that `option` gives."""
    if name not in nodes:
        near = difflib.get_close_matches(name, nodes[:MOST_NAMES], 3, 0.5)
        hint = f"; perhaps you want {_listed([repr(each) for each in near])}" if near else ""
        raise ValueError(f"{option} names {name!r}, which is not a node{hint}")
    return nodes.index(name)
