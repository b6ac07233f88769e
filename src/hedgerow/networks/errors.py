"""Errors in data files: one exception with the position, and a count of what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any


class DataError(ValueError):
    """A file that cannot be used: its name, the position in it, and what to do.

    Args:
        place: the file.
        position: the line, result or key; empty when it is the whole file.
        sentence: what is wrong and what to do.
        rejections: the table of what had been left out until then.

    >>> str(DataError("a.json", "line 3", "the latency is NaN"))
    'a.json, line 3: the latency is NaN'

    """

    def __init__(
        self,
        place: Path | str,
        position: str,
        sentence: str,
        rejections: Sequence[dict[str, Any]] = (),
    ):
        super().__init__(f"{place}, {position}: {sentence}" if position else f"{place}: {sentence}")
        self.rejections: tuple[dict[str, Any], ...] = tuple(rejections)


def unreadable(path: Path | str, error: OSError) -> DataError:
    """Return the error of a file that the system does not let read."""
    return DataError(path, "", f"the file cannot be read: {error.strerror or error}")


def check_one_of(value: str, name: str, allowed: Sequence[str]) -> str:
    """Return an option, or name those that are allowed."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
    return value


class Reason(Enum):
    """Why a reading is left out. Broken data stop the reader, unless `keep_going` is set."""

    OTHER_TYPE = "another type of measurement"
    NOT_A_RESULT = "not a measurement result"
    OUTSIDE_WINDOW = "outside the time window"
    OTHER_FAMILY = "the other address family"
    OTHER_TARGET = "neither to nor from the hub"
    NAME_NOT_RESOLVED = "the name was not resolved"
    PROBE_ERROR = "the probe reports an error"
    NO_REPLY = "no reply"
    NOT_REACHED = "the target was not reached"
    NO_TARGET = "no target address"
    NO_NODE = "no value for the node key"
    NO_LATENCY = "the latency is not in the result"
    NO_BANDWIDTH = "too little for the bandwidth method"
    SELF_LOOP = "an edge from a node to itself"
    MISSING = "no value"
    REPEATED = "the same reading again"
    NOT_FINITE = "a value is NaN or infinite"
    NEGATIVE = "a time is negative"
    WRONG_FIELD = "a field has an impossible value"

    @property
    def broken(self) -> bool:
        """Whether the data are damaged: a working probe or tool does not write this."""
        return self in (Reason.NOT_FINITE, Reason.NEGATIVE, Reason.WRONG_FIELD)


class Rejected(Exception):  # noqa: N818 - it is control flow: one reading, not a failure
    """Raised inside a parser: this reading cannot be used.

    Args:
        reason: why.
        detail: the field and its value, for broken data.

    """

    def __init__(self, reason: Reason, detail: str = ""):
        super().__init__(detail or reason.value)
        self.reason = reason
        self.detail = detail


class Rejections:
    """The table of what was left out.

    Args:
        keep_going: whether broken data are counted too, instead of stopping the reader.

    """

    def __init__(self, keep_going: bool = False):
        self.keep_going = keep_going
        self._counts: dict[Reason, int] = {}
        self._first: dict[Reason, tuple[Path, str]] = {}

    def add(
        self, reason: Reason, place: Path, position: str, detail: str = "", count: int = 1
    ) -> None:
        """Count readings, the first of them at a position; broken ones raise `DataError`."""
        if reason.broken and not self.keep_going:
            raise DataError(
                place,
                position,
                f"{detail or reason.value}; correct the file, or leave such readings out with "
                "keep_going=True",
                self.table(),
            )
        self._counts[reason] = self._counts.get(reason, 0) + count
        self._first.setdefault(reason, (place, position))

    def table(self) -> list[dict[str, Any]]:
        """Return the rows: reason, count and the first place, most frequent first."""
        ordered = sorted(self._counts.items(), key=lambda item: (-item[1], item[0].value))
        return [
            {
                "reason": reason.value,
                "count": count,
                "first": f"{self._first[reason][0].name}, {self._first[reason][1]}",
            }
            for reason, count in ordered
        ]

    @property
    def total(self) -> int:
        """How many readings were left out."""
        return sum(self._counts.values())
