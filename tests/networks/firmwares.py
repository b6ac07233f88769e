"""Results in the shapes that firmware has written since 2011, with what a reader must find in each.

The shapes are those of genuine results; names, addresses and numbers are drawn.
"""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

import numpy as np

from hedgerow.networks.errors import Reason

HUB, HUB6 = "192.0.2.1", "2001:db8:22::c100:68b"
LOST = {"x": "*"}


class Made(NamedTuple):
    """A result, and for each of its readings the latency in ms or the reason to leave it out."""

    result: dict[str, Any]
    found: list[float | Reason]


def pings(rng: np.random.Generator) -> list[Made]:
    def rtts(digits=3):
        return [round(float(ms), digits) for ms in rng.uniform(5.0, 300.0, 3)]

    def summary(timed):
        avg = round(sum(timed) / len(timed), 10) if timed else -1
        return {"min": min(timed, default=-1), "avg": avg, "max": max(timed, default=-1)}

    def replied(fw, replies, **other):
        timed = [r["rtt"] for r in replies if "rtt" in r and "dup" not in r]
        head = {"fw": fw, "dst_addr": HUB, "dst_name": "hub.example", "af": 4, "proto": "ICMP"}
        head |= {"sent": 3, "rcvd": len(timed), "dup": 0, "result": replies}
        found = min(timed) if timed else Reason.NO_REPLY
        return Made(_head("ping", rng) | head | summary(timed) | other, [found])

    def three(digits=3):
        return [{"rtt": ms} for ms in rtts(digits)]

    zero, one = rtts(), rtts()
    strings = {key: str(value) for key, value in summary(zero).items()}
    old = {"addr": HUB, "name": "hub.example"}
    dup = [{"rtt": 500.0}, {"dup": 1, "rtt": 4.0}, {"dup": 1, "rtt": 3.0}]
    unresolved = replied(4790, [{"error": "dns resolution failed: no such name"}])
    del unresolved.result["dst_addr"]
    return [
        Made(_head("ping", rng) | {"fw": 0, "dst_addr": HUB, "rcvd": "3"} | strings, [min(zero)]),
        Made(_head("ping", rng) | {"fw": 1, "rcvd": 3} | old | summary(one), [min(one)]),
        Made(_head("ping", rng) | {"fw": 1, "rcvd": 0} | old | summary([]), [Reason.NO_REPLY]),
        replied(4460, three(), **old),
        replied(4520, three(), ttl=48, **old),
        replied(4550, [LOST | {"srcaddr": "10.0.0.7"}, LOST, {"rtt": 27.301, "ttl": 54}]),
        replied(4570, three(), lts=-1, step=360),
        replied(4610, dup, dup=2),
        replied(4650, [{"rtt": 63.2}, {"rtt": 47.9, "ttl": 51}, {"rtt": 60.3, "ttl": 50}]),
        replied(4700, three(6), msm_name="Ping", **{" proto": "ICMP"}),
        replied(4910, [LOST] * 3, stored_timestamp=1_532_168_496),
        replied(4910, []),
        replied(5020, [LOST, {"dup": 1, "rtt": 10474.5, "ttl": 41}, LOST], mver="2.2.1", dup=1),
        replied(5080, three(6), mver="2.6.2", af=6, dst_addr=HUB6),
        Made(unresolved.result, [Reason.NAME_NOT_RESOLVED]),
    ]


def https(rng: np.random.Generator) -> list[Made]:
    def rt():
        return round(float(rng.uniform(20.0, 800.0)), 3)

    def page(ms, **other):
        entry = {"af": 6, "bsize": 41_020, "dst_addr": HUB6, "hsize": 279, "method": "GET"}
        return entry | {"res": 200, "rt": ms, "ver": "1.1"} | other

    def got(fw, entries, found, **other):
        head = {"fw": fw, "uri": "http://hub.example/", "result": entries}
        return Made(_head("http", rng) | head | other, found)

    a, b, c, d, e, f = (rt() for _ in range(6))
    words = f"GET4 {HUB} 0.042268 200 263 1406"
    zero = _head("http", rng) | {"fw": 0, "src_addr": words}
    failed = _head("http", rng) | {"fw": 1, "src_addr": "connect error 4"}
    timeout = {"af": 6, "dst_addr": HUB6, "err": "timeout reading chunk", "method": "GET"}
    mode = {"addr": HUB, "bsize": 1406, "hsize": 263, "mode": "GET4", "res": 200, "rt": a}
    timed = page(f, ttc=31.5, ttfb=64.0, readtiming=[{"o": "0", "t": 64.0}, {"o": 4096, "t": 70}])
    return [
        Made(zero, [42.268]),  # seconds, in src_addr
        Made(failed, [Reason.PROBE_ERROR]),
        got(1, words, [42.268]),  # seconds, in result
        got(4430, [mode | {"srcaddr": "10.0.0.7"}], [a]),
        got(4460, [page(b)], [b]),
        got(4610, [timeout], [Reason.PROBE_ERROR]),
        got(
            4650, [timeout | {"err": "connect: unreachable"}], [Reason.PROBE_ERROR], **{"from": ""}
        ),
        got(4720, [page(c), page(d, af=4, dst_addr=HUB)], [c, d]),  # two addresses, two readings
        got(4940, [page(e), timeout], [e, Reason.PROBE_ERROR], stored_timestamp=1_532_169_426),
        got(5080, [{"dnserr": "temporary failure"}], [Reason.NAME_NOT_RESOLVED]),
        got(5080, [timed], [31.5], mver="2.6.2"),  # extended timing: one round trip
    ]


def sslcerts(rng: np.random.Generator) -> list[Made]:
    def answered(fw, found, **other):
        head = {"fw": fw, "dst_addr": HUB, "dst_name": "hub.example", "dst_port": "443", "af": 4}
        return Made(_head("sslcert", rng) | head | other, [found])

    def certificates(count):
        return {"method": "TLS", "ver": "1.2", "cert": [pem(rng) for _ in range(count)]}

    def timed():
        ttc = round(float(rng.uniform(10.0, 300.0)), 6)
        return ttc, {"ttc": ttc, "rt": round(2.1 * ttc, 6)}

    (a, first), (b, second), (c, third) = timed(), timed(), timed()
    unresolved = {"dnserr": "non-recoverable failure in name resolution"}
    nowhere = answered(4600, Reason.NAME_NOT_RESOLVED, **unresolved)
    del nowhere.result["dst_addr"]
    return [
        answered(4480, Reason.NO_LATENCY, **certificates(1)),
        answered(4520, Reason.NO_LATENCY, msm_name="SSLCert", **certificates(2)),
        answered(4540, a, **first, **certificates(1)),
        nowhere,
        answered(4650, Reason.PROBE_ERROR, err="connect: timeout"),
        answered(4660, b, **second, alert={"description": 40, "level": 2}),
        answered(4940, c, **third, ttr=495.4986, server_cipher="0xcca8", **certificates(3)),
    ]


def traceroutes(rng: np.random.Generator) -> list[Made]:
    def walked(fw, hops, found, hub=HUB, **other):
        head = {"fw": fw, "dst_addr": hub, "dst_name": hub, "paris_id": 1, "proto": "UDP"}
        return Made(_head("traceroute", rng) | head | {"result": hops} | other, [found])

    def hop(n, sender, *times, **other):
        timed = [{"from": sender, "rtt": ms, "size": 28, "ttl": 250} | other for ms in times]
        return {"hop": n, "result": timed or [LOST] * 3}

    near = hop(1, "10.0.0.1", 2.783, 2.45, 2.321)
    last = [round(float(ms), 3) for ms in rng.uniform(20.0, 250.0, 3)]
    mpls = {"icmpext": {"version": 2, "obj": [{"class": 1, "mpls": [{"label": 1394}], "type": 1}]}}
    late = {"hop": 255, "result": [{"late": 16, "from": HUB, "ttl": 53}, LOST]}
    unresolved = walked(4720, [{"error": "name resolution failed: no"}], Reason.NAME_NOT_RESOLVED)
    del unresolved.result["dst_addr"]
    spelled = "2001:db8:22:0:0:0:c100:68b"
    return [
        walked(4460, [near, hop(2, HUB), hop(255, HUB)], Reason.NOT_REACHED),
        walked(4610, [near, hop(2, "203.0.113.9", 9.7, **mpls), hop(3, HUB, *last)], min(last)),
        walked(4610, [hop(1, "10.0.0.7", 2014.845, err="H")], Reason.NOT_REACHED),
        walked(4610, [{"hop": 1, "error": "connect failed: unreachable"}], Reason.PROBE_ERROR),
        walked(4620, [near, hop(2, spelled, *last)], min(last), HUB6, af=6),
        walked(4720, [near, late], Reason.NOT_REACHED),  # late packets carry no time
        unresolved,
        walked(4970, [hop(1, "10.0.0.1"), hop(2, HUB, *last), hop(255, HUB)], min(last)),
        walked(5080, [], Reason.NOT_REACHED, mver="2.6.2"),
    ]


def others(rng: np.random.Generator) -> list[Made]:
    """Types that time no round trip."""
    kinds = ("dns", "ntp", "wifi")
    return [Made(_head(kind, rng) | {"fw": 4790}, [Reason.OTHER_TYPE]) for kind in kinds]


KINDS = {"ping": pings, "http": https, "sslcert": sslcerts, "traceroute": traceroutes}


def made(seed: int = 0) -> dict[str, list[Made]]:
    """Return the results of every type."""
    found = KINDS | {"other": others}
    return {
        kind: make(np.random.default_rng([seed, i])) for i, (kind, make) in enumerate(found.items())
    }


def pem(rng: np.random.Generator) -> str:
    """Return octets in the shape of a certificate."""
    text = base64.b64encode(rng.bytes(int(rng.integers(800, 1600)))).decode()
    lines = [text[i : i + 64] for i in range(0, len(text), 64)]
    return "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----"])


def _head(kind: str, rng: np.random.Generator) -> dict[str, Any]:
    probe, time = int(rng.integers(1, 60_000)), int(rng.integers(1_300_000_000, 1_700_000_000))
    head = {"type": kind, "msm_id": 1_000_192, "prb_id": probe, "timestamp": time}
    return head | {"from": "198.51.100.7", "src_addr": "10.0.0.7"}
