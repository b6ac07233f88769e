"""Single fields of a result: numbers that may be strings, times, addresses, identifiers."""

from __future__ import annotations

import ipaddress
import math
from functools import lru_cache
from typing import Any, NamedTuple

from hedgerow.networks.numbers import parse_number
from hedgerow.networks.rejections import Reason, Rejected

Record = dict[str, Any]

LARGEST_ID = 1 << 53
LAST_TIMESTAMP = 1 << 33
"""In the year 2242; what is larger counts milliseconds."""
LARGEST_MS = 1e9
LONGEST_ADDRESS = 100
ERRORS = ("err", "sockerr", "error")
REQUIRED = ("type", "msm_id", "prb_id", "timestamp")
NODE_KEYS = ("prb_id", "from", "src_addr")


class Attempt(NamedTuple):
    """One try to reach one address: what the probe timed, in ms, and what it sent about it."""

    family: int
    target: str
    name: str
    times: dict[str, float]
    record: Record


def number(record: Record, key: str) -> float | None:
    """Return a finite number; old firmware writes it as a string; None where it is absent."""
    value = record.get(key)
    if value is None:
        return None
    try:
        if isinstance(value, (bool, list, dict)):
            raise ValueError
        found = parse_number(value) if isinstance(value, str) else float(value)
    except (ValueError, OverflowError):
        raise Rejected(Reason.WRONG_FIELD, f"{key} must be a number, got {_shown(value)}") from None
    if not math.isfinite(found):
        raise Rejected(Reason.NOT_FINITE, f"{key} is {_shown(value)}")
    return found


def milliseconds(record: Record, key: str) -> float | None:
    """Return a time of at least 0 ms, or None where it is absent."""
    found = number(record, key)
    if found is not None and found < 0.0:
        raise Rejected(Reason.NEGATIVE, f"{key} is {found:g} ms, a time cannot be negative")
    if found is not None and found > LARGEST_MS:
        raise Rejected(Reason.WRONG_FIELD, f"{key} is {found:g} ms, more than eleven days")
    return found


def whole(record: Record, key: str, largest: int) -> int:
    """Return a whole number from 0 to `largest`; strings of digits are taken."""
    value = record.get(key)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= largest:
        raise Rejected(
            Reason.WRONG_FIELD,
            f"{key} must be a whole number from 0 to {largest}, got {_shown(value)}",
        )
    return value


def times(record: Record, *keys: str) -> dict[str, float]:
    """Return those of the times that are there."""
    found = {key: milliseconds(record, key) for key in keys}
    return {key: value for key, value in found.items() if value is not None}


def address(value: Any) -> str:
    """Return an address in its one canonical spelling, or "" for what is none.

    >>> address("2001:6b0:e:3:0:0:0:1")
    '2001:6b0:e:3::1'
    """
    return _canonical(value) if isinstance(value, str) and len(value) <= LONGEST_ADDRESS else ""


@lru_cache(maxsize=1 << 14)
def _canonical(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return ""


def target(*records: Record) -> str:
    """Return the address that was tried: `dst_addr`, or `addr` in old firmware."""
    for record in records:
        for key in ("dst_addr", "addr"):
            if found := address(record.get(key)):
                return found
    raise Rejected(Reason.NO_TARGET)


def named(record: Record) -> str:
    """Return the name or address that was asked for, or ""."""
    found = record.get("dst_name", record.get("name"))
    return found if isinstance(found, str) else ""


def family(found: str) -> int:
    """Return 4 or 6; the address itself says it, where `af` may be absent or wrong."""
    return 6 if ":" in found else 4


def records(value: Any, key: str) -> list[Record]:
    """Return a list of objects."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Rejected(Reason.WRONG_FIELD, f"{key} must be a list of objects, got {_shown(value)}")
    return value


def check_errors(record: Record) -> None:
    """Leave out what the probe itself reports as failed."""
    if "dnserr" in record:
        raise Rejected(Reason.NAME_NOT_RESOLVED)
    for key in ERRORS:
        if key in record:
            text = str(record[key])
            resolved = "resol" not in text
            raise Rejected(Reason.PROBE_ERROR if resolved else Reason.NAME_NOT_RESOLVED)


def _shown(value: Any) -> str:
    """A value, short enough for a sentence."""
    if isinstance(value, int) and abs(value) > LARGEST_ID:
        return f"a number of {value.bit_length()} bits"
    text = repr(value) if not isinstance(value, (list, dict)) else type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."


class Envelope(NamedTuple):
    """The common part of a result; the probe, never its address, is a node's identity."""

    type: str
    measurement: int
    probe: int
    timestamp: int


def envelope(result: Any) -> Envelope:
    """Return the common part of a result.

    >>> envelope({"type": "ping", "msm_id": 1, "prb_id": "7", "timestamp": 1574867159})
    Envelope(type='ping', measurement=1, probe=7, timestamp=1574867159)
    """
    if not isinstance(result, dict) or any(key not in result for key in REQUIRED):
        raise Rejected(Reason.NOT_A_RESULT)
    if not isinstance(result["type"], str):
        raise Rejected(Reason.WRONG_FIELD, "type must be a string")
    return Envelope(
        result["type"],
        whole(result, "msm_id", LARGEST_ID),
        whole(result, "prb_id", LARGEST_ID),
        whole(result, "timestamp", LAST_TIMESTAMP),
    )


def node_name(result: Record, probe: int, key: str) -> str:
    """Return the name of the node that measured."""
    if key == "prb_id":
        return str(probe)
    if found := address(result.get(key)):
        return found
    raise Rejected(Reason.NO_NODE)
