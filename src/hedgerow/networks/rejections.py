"""What is left out of a network, and why: each reason counted, with its first place."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Any

from hedgerow.networks.data_error import DataError


class Reason(Enum):
    """Why a reading is left out. Broken data stop the reading, unless told to keep going."""

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
        """Whether no working probe or tool writes this."""
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
        keep_going: whether broken data are counted too instead of stopping the reading.

    """

    def __init__(self, keep_going: bool = False):
        self.keep_going = keep_going
        self._counts: dict[Reason, int] = {}
        self._first: dict[Reason, tuple[Path, str]] = {}

    def add(
        self, reason: Reason, place: Path, position: str, detail: str = "", count: int = 1
    ) -> None:
        """Count readings, the first of them here, or refuse the file where they are broken."""
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
