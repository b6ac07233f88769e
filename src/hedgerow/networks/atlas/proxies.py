"""Stand-ins for bandwidth. RIPE Atlas measures none: each is a quotient of bytes and time."""

from __future__ import annotations

import binascii
from collections.abc import Callable

from hedgerow.networks.atlas.fields import Record, milliseconds, number, records
from hedgerow.networks.rejections import Reason, Rejected

SHORTEST_MS = 1.0
"""Quotients over less time are noise."""
INITIAL_WINDOW = 14_600.0
"""Octets that arrive in one flight: a smaller body says nothing about the rate."""


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
