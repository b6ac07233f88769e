"""What one result of RIPE Atlas contains: fields, attempts, and proxies of the bandwidth.

Firmware of many ages wrote these results: numbers may be strings, and keys have changed.
"""

from __future__ import annotations

import binascii
import ipaddress
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from hedgerow.networks.errors import Reason, Rejected
from hedgerow.networks.source_files import parse_number

Record = dict[str, Any]

LARGEST_ID = 1 << 53
LAST_TIMESTAMP = 1 << 33
"""In the year 2242; what is larger counts milliseconds."""
LARGEST_MS = 1e9
LONGEST_ADDRESS = 100
ERRORS = ("err", "sockerr", "error")
REQUIRED = ("type", "msm_id", "prb_id", "timestamp")
NODE_KEYS = ("prb_id", "from", "src_addr")
SHORTEST_MS = 1.0
"""Rates over less time are noise."""
INITIAL_WINDOW = 14_600.0
"""Octets that arrive in one flight: the rate of a smaller body cannot be seen."""


class Attempt(NamedTuple):
    """One try to reach one address: its times in ms, and its record."""

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
    """Return the times that the record has."""
    found = {key: milliseconds(record, key) for key in keys}
    return {key: value for key, value in found.items() if value is not None}


def address(value: Any) -> str:
    """Return an address in its canonical spelling, or "" if it is not an address.

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
    """Return the name or address that the measurement names, or ""."""
    found = record.get("dst_name", record.get("name"))
    return found if isinstance(found, str) else ""


def family(found: str) -> int:
    """Return 4 or 6 by the address itself; `af` may be absent or wrong."""
    return 6 if ":" in found else 4


def records(value: Any, key: str) -> list[Record]:
    """Return a list of objects."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Rejected(Reason.WRONG_FIELD, f"{key} must be a list of objects, got {_shown(value)}")
    return value


def check_errors(record: Record) -> None:
    """Reject a record in which the probe reports a failure."""
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


def http_attempts(result: Record) -> Iterator[Attempt | Rejected]:
    """Yield the attempts. The clock starts after name resolution and stops with the last byte.

    Firmware 0 and 1 wrote one string, with the time in seconds:
    "GET4 193.0.6.139 0.042268 200 263 1406".
    """
    answer = result.get("result", result.get("src_addr"))
    if isinstance(answer, str):
        answer = [_from_line(answer)]
    if answer is None:
        raise Rejected(Reason.PROBE_ERROR)
    entries = records(answer, "result")
    if not entries:
        raise Rejected(Reason.NO_REPLY)
    for entry in entries:
        try:
            check_errors(entry)
            found = target(entry, result)
            timed = times(entry, "rt", "ttc", "ttfb")
            name = result.get("uri")
            yield Attempt(family(found), found, name if isinstance(name, str) else "", timed, entry)
        except Rejected as left:
            yield left


def _from_line(line: str) -> Record:
    parts = line.split()
    if len(parts) != 6 or not parts[0].startswith(("GET", "HEAD", "POST")):
        return {"err": line}
    _, found, seconds, code, head, body = parts
    try:
        rt = 1000.0 * parse_number(seconds)
    except ValueError:
        raise Rejected(
            Reason.WRONG_FIELD, f"the time in result must be a number, got {seconds[:40]!r}"
        ) from None
    return {"dst_addr": found, "rt": rt, "res": code, "hsize": head, "bsize": body}


def sslcert_attempts(result: Record) -> Iterator[Attempt | Rejected]:
    """Yield the attempt. An alert is an answer too: the connection was made and timed.

    `ttc` is one round trip (the TCP connection), `rt` about two (until the certificates came).
    Firmware before 4540 wrote neither.
    """
    check_errors(result)
    found = target(result)
    yield Attempt(family(found), found, named(result), times(result, "ttc", "rt"), result)


def ping_attempts(result: Record) -> Iterator[Attempt | Rejected]:
    """Yield the attempt: the least and the mean of the replies, duplicates not counted.

    The replies themselves decide. Firmware 0 and 1 sent only `min` and `avg`; the platform writes
    -1 there when no reply came.
    """
    if "result" in result:
        replies = records(result["result"], "result")
        rtts = [milliseconds(reply, "rtt") for reply in replies if "dup" not in reply]
        timed = [rtt for rtt in rtts if rtt is not None]
        if not timed:
            for reply in replies:
                check_errors(reply)
            raise Rejected(Reason.NO_REPLY)
        summary = {"min": min(timed), "avg": sum(timed) / len(timed)}
    else:
        check_errors(result)
        if number(result, "min") in (None, -1.0):
            raise Rejected(Reason.NO_REPLY)
        given = {key: milliseconds(result, key) for key in ("min", "avg")}
        summary = {key: value for key, value in given.items() if value is not None}
    found = target(result)
    yield Attempt(family(found), found, named(result), summary, result)


def traceroute_attempts(result: Record) -> Iterator[Attempt | Rejected]:
    """Yield the attempt: the least time among the target's replies at the last hop that has any.

    Late packets carry no time and do not count, nor do replies of other addresses.
    """
    if "result" not in result:
        raise Rejected(Reason.NO_REPLY)
    hops = records(result["result"], "result")
    for hop in hops:
        if "hop" not in hop:
            check_errors(hop)  # the whole traceroute failed
    found = target(result)
    for hop in reversed(hops):
        if "result" not in hop:
            continue
        replies = records(hop["result"], "a hop's result")
        timed = [milliseconds(reply, "rtt") for reply in replies if _is_from(reply, found)]
        arrived = [rtt for rtt in timed if rtt is not None]
        if arrived:
            yield Attempt(family(found), found, named(result), {"min": min(arrived)}, result)
            return
    if hops and all("error" in hop for hop in hops):
        raise Rejected(Reason.PROBE_ERROR)
    raise Rejected(Reason.NOT_REACHED)


def _is_from(reply: Record, found: str) -> bool:
    sender = reply.get("from")
    return sender == found or address(sender) == found


PARSERS: dict[str, Callable[[Record], Iterator[Attempt | Rejected]]] = {
    "http": http_attempts,
    "sslcert": sslcert_attempts,
    "ping": ping_attempts,
    "traceroute": traceroute_attempts,
}


def http_total(record: Record) -> float | None:
    """8 (hsize + bsize) / rt: with a page of constant size, one over the latency."""
    head, body, rt = number(record, "hsize"), number(record, "bsize"), milliseconds(record, "rt")
    if body is None or rt is None or rt < SHORTEST_MS:
        return None
    return _mbps(body + (head or 0.0), rt)


def http_body(record: Record) -> float | None:
    """8 bsize / (rt - ttfb), for bodies larger than the first flight."""
    body, rt = number(record, "bsize"), milliseconds(record, "rt")
    first = milliseconds(record, "ttfb")
    if body is None or rt is None or first is None or body <= INITIAL_WINDOW:
        return None
    return _mbps(body, rt - first)


def http_read(record: Record) -> float | None:
    """The slope of `readtiming` between its first and last entry."""
    if "readtiming" not in record:
        return None
    entries = records(record["readtiming"], "readtiming")
    if len(entries) < 2:
        return None
    (o0, t0), (o1, t1) = (
        (number(entry, "o"), milliseconds(entry, "t")) for entry in (entries[0], entries[-1])
    )
    if o0 is None or o1 is None or t0 is None or t1 is None:
        return None
    return _mbps(o1 - o0, t1 - t0)


def tls_cert(record: Record) -> float | None:
    """8 x the octets of the certificates / (rt - ttc): a round trip and a server's work."""
    rt, connected = milliseconds(record, "rt"), milliseconds(record, "ttc")
    if rt is None or connected is None or "cert" not in record:
        return None
    certificates = record["cert"]
    if not isinstance(certificates, list) or not all(isinstance(c, str) for c in certificates):
        raise Rejected(Reason.WRONG_FIELD, "cert must be a list of strings")
    return _mbps(sum(_octets(certificate) for certificate in certificates), rt - connected)


# RIPE Atlas measures no bandwidth: each proxy is a quotient of bytes and time.
PROXIES: dict[str, Callable[[Record], float | None]] = {
    "http_total": http_total,
    "http_body": http_body,
    "http_read": http_read,
    "tls_cert": tls_cert,
}


def _mbps(octets: float, ms: float) -> float | None:
    """Return the rate in Mbit/s, or None where there is too little of either."""
    return octets * 8.0 / ms / 1000.0 if octets > 0.0 and ms >= SHORTEST_MS else None


def _octets(certificate: str) -> int:
    """Return the length of a PEM certificate's content."""
    lines = [line for line in certificate.split("\n") if not line.startswith("-----")]
    try:
        return len(binascii.a2b_base64("".join(lines)))
    except (binascii.Error, ValueError):
        raise Rejected(Reason.WRONG_FIELD, "cert is not base64") from None
