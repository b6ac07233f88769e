"""Every shape of result of every firmware: parsed, or left out for the right reason."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from firmwares import made

from hedgerow.networks.atlas.collector import AtlasChoices, Collector
from hedgerow.networks.errors import Reason, Rejections
from measured import data

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


def outcomes(result):
    """Return the latency of each reading that is kept, and the reason for each that is not."""
    left = Rejections()  # not one result is broken
    collector = Collector(AtlasChoices(), left)
    collector.files.append(Path("results"))
    collector.add(result, 1)
    kept = [
        ms for group in collector.edges.values() for each in group.values() for ms in each.latency
    ]
    return kept, [Reason(row["reason"]) for row in left.table() for _ in range(row["count"])]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", made())
def test_every_shape_is_read_or_left_out_for_its_reason(kind, seed):
    for result, found in made(seed)[kind]:
        kept, left = outcomes(result)
        assert kept == pytest.approx([x for x in found if isinstance(x, float)], abs=1e-9), result
        assert left == [x for x in found if isinstance(x, Reason)], result


def test_the_shapes_have_every_reason_that_genuine_results_have():
    found = {reason for shapes in made().values() for each in shapes for reason in each.found}
    wanted = {reason for counts in COUNTS.values() for reason in counts} - {"kept"}
    assert {reason.value for reason in found if isinstance(reason, Reason)} == wanted


def agreed(results):
    """Count the pings whose least reply is the platform's own minimum; none may differ."""
    count = 0
    for result in results:
        kept, _ = outcomes(result)
        if kept and "result" in result:
            assert kept == [float(result["min"])], result
            count += 1
    return count


def test_the_platforms_minimum_agrees_with_the_replies():
    """Two sources of the same number; where both are there, they are equal."""
    assert agreed(result for result, _ in made()["ping"]) == 8


def genuine(name):
    text = data(f"atlas_fixtures/{name}.ndjson").read_text()
    return [json.loads(line) for line in text.splitlines()]


def readings(name):
    """Yield the line, the latency or None, and the reason or None."""
    for line, result in enumerate(genuine(name), start=1):
        kept, left = outcomes(result)
        yield from ((line, latency, None) for latency in kept)
        yield from ((line, None, reason) for reason in left)


@pytest.mark.measured
@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    found = Counter("kept" if reason is None else reason.value for _, _, reason in readings(name))
    assert found == COUNTS[name]


@pytest.mark.measured
def test_all_219_results_are_accounted_for():
    assert sum(len({line for line, _, _ in readings(name)}) for name in COUNTS) == 219


@pytest.mark.measured
@pytest.mark.parametrize(("name", "reason"), LINES)
def test_reasons_are_the_right_ones(name, reason):
    found = {line for line, _, why in readings(name) if why == reason}
    assert found == LINES[name, reason]


@pytest.mark.measured
def test_latencies_are_the_right_ones():
    for name in ("http", "ping", "sslcert", "traceroute"):
        kept = {line: latency for line, latency, _ in readings(name) if latency is not None}
        wanted = {line: ms for (kind, line), ms in LATENCIES.items() if kind == name}
        for line, ms in wanted.items():
            assert kept[line] == pytest.approx(ms, abs=1e-9), (name, line)


@pytest.mark.measured
def test_the_platforms_minimum_agrees_with_genuine_replies():
    assert agreed(genuine("ping")) > 30
