"""Small results of our own."""

from __future__ import annotations


def ping(probe=1, timestamp=1_600_000_000, rtt=10.0, target="192.0.2.1", **other):
    result = {
        "type": "ping",
        "fw": 5020,
        "msm_id": 7,
        "prb_id": probe,
        "timestamp": timestamp,
        "dst_addr": target,
        "af": 6 if ":" in target else 4,
        "result": [{"rtt": rtt}, {"x": "*"}],
    }
    return result | other


def http(probe=1, timestamp=1_600_000_000, **entry):
    first = {"af": 4, "dst_addr": "192.0.2.1", "rt": 100.0, "hsize": 100, "bsize": 900}
    return {
        "type": "http",
        "msm_id": 8,
        "prb_id": probe,
        "timestamp": timestamp,
        "result": [first | entry],
    }
