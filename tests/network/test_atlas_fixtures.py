"""Every genuine result of every firmware: parsed, or left out for the right reason."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from measurements import DATA, needs_data

from hedgerow.network.atlas.choices import AtlasChoices
from hedgerow.network.atlas.collector import Collector
from hedgerow.network.left_out import LeftOuts, Reason

pytestmark = needs_data

COUNTS = {  # readings kept and left out; one http result holds two readings
    "dns": {Reason.OTHER_TYPE.value: 53},
    "http": {"kept": 25, Reason.PROBE_ERROR.value: 4},
    "ntp": {Reason.OTHER_TYPE.value: 5},
    "ping": {"kept": 35, Reason.NO_REPLY.value: 3},
    "sslcert": {
        "kept": 33,
        Reason.PROBE_ERROR.value: 7,
        Reason.NAME_NOT_RESOLVED.value: 3,
        Reason.NO_LATENCY.value: 3,
    },
    "traceroute": {
        "kept": 16,
        Reason.NOT_REACHED.value: 27,
        Reason.NAME_NOT_RESOLVED.value: 1,
        Reason.PROBE_ERROR.value: 1,
    },
    "wifi": {Reason.OTHER_TYPE.value: 4},
}
LINES = {  # read by hand in the files
    ("http", Reason.PROBE_ERROR): {2, 16, 17, 28},
    ("sslcert", Reason.PROBE_ERROR): {16, 19, 23, 24, 32, 33, 34},
    ("sslcert", Reason.NAME_NOT_RESOLVED): {6, 27, 36},
    ("sslcert", Reason.NO_LATENCY): {1, 2, 3},
    ("ping", Reason.NO_REPLY): {14, 26, 33},
    ("traceroute", Reason.NAME_NOT_RESOLVED): {21},
    ("traceroute", Reason.PROBE_ERROR): {13},
}
LATENCIES = {  # (type, line): ms, read by hand
    ("http", 1): 42.268,  # firmware 0 wrote seconds into src_addr
    ("http", 3): 30.229,  # firmware 1 wrote seconds into result
    ("http", 4): 27.276,  # firmware 4430: addr, srcaddr, mode
    ("http", 18): 45.953289,
    ("ping", 1): 57.876,  # firmware 0 wrote strings
    ("ping", 2): 123.894,  # firmware 1 has no list of replies
    ("ping", 8): 27.301,  # two of three lost
    ("ping", 13): 27.768,  # duplicates do not count
    ("sslcert", 4): 57.617,
    ("sslcert", 14): 31.621485,  # an alert, but the connection was made
    ("traceroute", 11): 216.443,
    ("traceroute", 16): 85.785,
}


def lines(name):
    return (DATA / f"atlas_fixtures/{name}.ndjson").read_text().splitlines()


def readings(name):
    """Yield the line, the latency or None, and the reason or None."""
    for line, text in enumerate(lines(name), start=1):
        left = LeftOuts()  # not one fixture is broken
        collector = Collector(AtlasChoices(), left)
        collector.files.append(DATA)
        collector.take(json.loads(text), line)
        for group in collector.edges.values():
            for kept in group.values():
                for latency in kept.latency:
                    yield line, latency, None
        for row in left.table():
            yield line, None, row["reason"]


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    found = Counter("kept" if reason is None else reason for _, _, reason in readings(name))
    assert found == COUNTS[name]


def test_all_219_results_are_accounted_for():
    assert sum(len({line for line, _, _ in readings(name)}) for name in COUNTS) == 219


@pytest.mark.parametrize(("name", "reason"), LINES)
def test_reasons_are_the_right_ones(name, reason):
    found = {line for line, _, why in readings(name) if why == reason.value}
    assert found == LINES[name, reason]


def test_latencies_are_the_right_ones():
    for name in ("http", "ping", "sslcert", "traceroute"):
        kept = {line: latency for line, latency, _ in readings(name) if latency is not None}
        wanted = {line: ms for (kind, line), ms in LATENCIES.items() if kind == name}
        for line, ms in wanted.items():
            assert kept[line] == pytest.approx(ms, abs=1e-9), (name, line)


def test_the_platforms_minimum_agrees_with_the_replies():
    """Two sources of the same number; where both are there, they are equal."""
    compared = 0
    kept = {line: latency for line, latency, _ in readings("ping") if latency is not None}
    for line, text in enumerate(lines("ping"), start=1):
        result = json.loads(text)
        if line in kept and "result" in result:
            assert kept[line] == float(result["min"]), line
            compared += 1
    assert compared > 30
