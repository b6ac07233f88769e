"""Stars from real and made results: the choices, the labels, the record, the refusals."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from collections import Counter
from datetime import UTC, datetime

import numpy as np
import pytest
from firmwares import made
from measurements import http, ping

from hedgerow.networks.atlas.collector import AtlasChoices
from hedgerow.networks.atlas.star import read_atlas
from hedgerow.networks.errors import DataError
from hedgerow.networks.quantities import rank_correlation
from measured import data


def write(path, *results):
    path.write_text("\n".join(json.dumps(result) for result in results))
    return path


def spokes(star):
    assert star.hub == 0
    assert (star.edges[:, 1] == 0).all()
    return dict(zip((star.nodes[i] for i in star.edges[:, 0]), star.latency_ms, strict=True))


def raw(path):
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def replies(result):
    """Return the times in which the target itself answered; duplicates do not count."""
    if result["type"] == "ping":
        found = [reply for reply in result["result"] if "dup" not in reply]
    else:
        found = [reply for hop in result["result"] for reply in hop.get("result", [])]
        found = [reply for reply in found if reply.get("from") == result["dst_addr"]]
    return [reply["rtt"] for reply in found if "rtt" in reply]


def test_raw_traceroutes_give_the_least_time_of_each_probe_exactly(star_results):
    star = read_atlas(star_results, AtlasChoices(aggregate="min"))
    (path,) = star_results.glob("*.gz") if star_results.is_dir() else [star_results]
    found, wanted = raw(path), {}
    for result in found:
        wanted.setdefault(str(result["prb_id"]), []).extend(replies(result))
    assert spokes(star) == {probe: min(times) for probe, times in wanted.items() if times}
    assert len(star.edges) >= 190
    hub, measurement = found[0]["dst_addr"], found[0]["msm_id"]
    assert (star.nodes[0], star.latency_label) == (hub, "measured")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    record = star.provenance
    assert record["files"] == [{"name": path.name, "sha256": sha256, "results": len(found)}]
    assert record["measurements"] == [measurement]
    times = [result["timestamp"] for result in found if replies(result)]
    first, last = (datetime.fromtimestamp(t, UTC) for t in (min(times), max(times)))
    shape = "%Y-%m-%dT%H:%M:%SZ"
    assert (record["first"], record["last"]) == (first.strftime(shape), last.strftime(shape))
    assert (record["readings"], record["kept"]) == (len(found), len(times))
    assert "RIPE NCC" in record["attribution"]


@pytest.mark.measured
def test_ripe_hub191():
    """The spokes as they were derived when the data set was made."""
    star = read_atlas(data("ripe_hub191"), AtlasChoices(aggregate="min"))
    with data("ripe_hub191/ripe_hub191_spokes.csv").open() as file:
        wanted = {row["prb_id"]: float(row["hub_rtt_min_ms"]) for row in csv.DictReader(file)}
    assert spokes(star) == wanted
    record = star.provenance
    assert (star.nodes[0], record["measurements"]) == ("170.55.163.1", [23449934])
    assert (record["first"], record["last"]) == ("2019-11-27T15:05:10Z", "2019-11-27T15:24:37Z")
    assert (record["readings"], record["kept"], record["left_out"]) == (359, 359, [])


@pytest.mark.parametrize("kind", ["ping", "traceroute"])
def test_one_file_holds_two_stars(kind, two_stars):
    star = read_atlas(two_stars, AtlasChoices(type=kind))
    found = [result for result in raw(two_stars) if result["type"] == kind]
    reached = [result["prb_id"] for result in found if replies(result)]
    hub = found[0]["dst_addr"]
    assert set(map(int, spokes(star))) == set(reached)
    assert (star.nodes[0], star.provenance["kept"]) == (hub, len(reached))
    assert spokes(read_atlas(two_stars, AtlasChoices(hub=hub))) == spokes(star)


def test_two_stars_at_once_are_refused_with_the_choice(two_stars):
    counts = Counter(result["type"] for result in raw(two_stars) if replies(result))
    ping, traceroute = counts["ping"], counts["traceroute"]
    words = rf"type: ping \({ping}\), traceroute \({traceroute}\); .* type=..."
    with pytest.raises(DataError, match=words):
        read_atlas(two_stars)


def test_some_probes_never_reach_the_hub(two_stars):
    star = read_atlas(two_stars, AtlasChoices(type="traceroute"))
    asked = {r["prb_id"] for r in raw(two_stars) if r["type"] == "traceroute"}
    assert 190 <= len(star.edges) < len(asked)


@pytest.mark.measured
def test_the_mesh_of_539_anchors():
    mesh = data("atlas_hub_mesh/results.ndjson.gz")
    for kind, *wanted in (
        ("ping", "203.119.111.139", 32, 999),
        ("traceroute", "170.55.163.1", 537, 996),
    ):
        star = read_atlas(mesh, AtlasChoices(type=kind))
        assert [star.nodes[0], len(star.edges), star.provenance["kept"]] == wanted
    assert len({r["prb_id"] for r in raw(mesh) if r["type"] == "traceroute"}) == 539


def test_the_window_is_half_open_and_needs_a_zone(tmp_path):
    path = write(tmp_path / "a", *(ping(i, timestamp=1_600_000_000 + i) for i in range(1, 5)))
    whole = AtlasChoices(start="2020-09-13T12:26:42Z", stop="2020-09-13T17:56:44+05:30")
    star = read_atlas(path, whole)
    assert sorted(spokes(star)) == ["2", "3"]
    assert star.choices["start"] == "2020-09-13T12:26:42Z"
    with pytest.raises(DataError, match="run from 2020-09-13T12:26:41Z to 2020-09-13T12:26:44Z"):
        read_atlas(path, AtlasChoices(stop="2019-01-01T00:00:00Z"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"start": "2020-09-13T12:26:42"}, "with its zone"),
        ({"start": "yesterday"}, "with its zone"),
        ({"start": "2020-01-02T00:00:00Z", "stop": "2020-01-01T00:00:00Z"}, "before stop"),
        ({"type": "dns"}, "type must be one of"),
        ({"family": 5}, "4 or 6"),
        ({"node_key": "asn"}, "node_key must be one of"),
        ({"latency": "max"}, "latency must be one of"),
        ({"bandwidth": "fast"}, "bandwidth must be one of"),
        ({"bandwidth": "synthetic:lognormal(0,1)"}, "0 < MEDIAN"),
        ({"bandwidth": "synthetic:uniform(1,2)"}, "0 < MEDIAN"),
        ({"aggregate": "mean"}, "aggregate must be one of"),
        ({"seed": -1}, "at least 0"),
    ],
)
def test_wrong_choices_are_refused_before_any_file_is_opened(options, words):
    with pytest.raises(ValueError, match=words):
        AtlasChoices(**options)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (ping(2, rtt=float("nan")), "rtt is nan"),
        (ping(2, rtt=-3.0), "rtt is -3 ms"),
        (ping(2, rtt=1e300), "more than eleven days"),
        (ping(2, rtt="soon"), "rtt must be a number, got 'soon'"),
        (ping(2, rtt=[1]), "rtt must be a number"),
        (ping(10**30), "prb_id must be a whole number .* got a number of 100 bits"),
        (ping(-2), "prb_id must be a whole number"),
        (ping(2.5), "prb_id must be a whole number"),
        (ping(2, timestamp=1_600_000_000_000), "timestamp must be a whole number"),
        (ping(2, msm_id=None), "msm_id must be"),
        (ping(2, result=5), "result must be a list of objects"),
        (ping(2, type=["ping"]), "type must be a string"),
    ],
)
def test_broken_results_stop_the_reading_or_are_counted(broken, words, tmp_path):
    path = write(tmp_path / "a.json", ping(1), broken, ping(3))
    with pytest.raises(DataError, match=f"a.json, result 2: .*{words}.*keep_going=True"):
        read_atlas(path)
    star = read_atlas(path, AtlasChoices(keep_going=True))
    assert sorted(spokes(star)) == ["1", "3"]
    (row,) = star.provenance["left_out"]
    assert (row["count"], row["first"]) == (1, "a.json, result 2")


def test_repeated_readings_count_once(tmp_path):
    one, two = write(tmp_path / "a", ping(1, rtt=4.0), ping(2)), tmp_path / "b"
    write(two, ping(1, rtt=9.0), ping(1, timestamp=1_600_000_060, rtt=6.0))
    star = read_atlas([one, two, one])
    assert spokes(star) == {"1": 5.0, "2": 10.0}
    (row,) = star.provenance["left_out"]
    assert row == {"reason": "the same reading again", "count": 1, "first": "b, result 1"}


def test_mixed_families_and_targets_are_refused_with_the_choice(tmp_path):
    path = write(tmp_path / "a", ping(1), ping(1, target="2001:db8::1"), ping(2))
    with pytest.raises(DataError, match=r"family: 4 \(2\), 6 \(1\); choose with af=..."):
        read_atlas(path)
    six = read_atlas(path, AtlasChoices(family=6))
    assert six.nodes == ("2001:db8::1", "1")
    write(path, ping(1), ping(2, target="192.0.2.9"), ping(3))
    with pytest.raises(DataError, match=r"2 targets: 192.0.2.1 \(2\), 192.0.2.9 \(1\); .* hub=..."):
        read_atlas(path)
    everything = read_atlas(path, AtlasChoices(hub="none"))
    assert (len(everything.nodes), len(everything.edges), everything.hub) == (5, 3, None)
    outward = read_atlas(path, AtlasChoices(hub="probe:2"))
    assert (outward.nodes, outward.hub) == (("2", "192.0.2.9"), 0)


def test_a_hub_may_be_a_name_with_several_addresses(tmp_path):
    named = {"dst_name": "example.net"}
    path = write(tmp_path / "a", ping(1, **named), ping(2, target="192.0.2.9", **named), ping(3))
    star = read_atlas(path, AtlasChoices(hub="example.net"))
    assert star.nodes == ("example.net", "1", "2")
    assert star.provenance["left_out"][0]["reason"] == "neither to nor from the hub"


def test_node_keys(tmp_path):
    path = write(tmp_path / "a", ping(1, **{"from": "198.51.100.7"}), ping(2, **{"from": ""}))
    star = read_atlas(path, AtlasChoices(node_key="from"))
    assert star.nodes == ("192.0.2.1", "198.51.100.7")
    assert star.provenance["left_out"][0]["reason"] == "no value for the node key"


def test_aggregates_take_both_values_from_one_reading(tmp_path):
    made = [http(1, 100 + i, rt=rt, bsize=b) for i, (rt, b) in enumerate([(9, 1), (4, 2), (8, 3)])]
    path = write(tmp_path / "a", *made)
    size = {"min": (4.0, 102), "last": (8.0, 103), "median": (8.0, None)}
    for aggregate, (rt, octets) in size.items():
        star = read_atlas(path, AtlasChoices(aggregate=aggregate, bandwidth="http_total"))
        assert star.latency_ms.tolist() == [rt]
        if octets is not None:
            np.testing.assert_allclose(star.bandwidth_mbps, [octets * 8e-3 / rt])


@pytest.mark.parametrize(
    ("method", "entry", "mbps"),
    [
        ("http_total", {}, 1000 * 8 / 100 / 1000),
        ("http_body", {"bsize": 50_000, "ttfb": 60.0, "ttc": 20.0}, 50_000 * 8 / 40 / 1000),
        ("http_body", {"bsize": 14_600, "ttfb": 60.0, "ttc": 20.0}, None),
        ("http_body", {"bsize": 50_000, "ttfb": 99.5, "ttc": 20.0}, None),
        ("http_body", {}, None),
        (
            "http_read",
            {"readtiming": [{"o": "0", "t": 10.0}, {"o": 9, "t": 11}, {"o": 4000, "t": 20.0}]},
            4000 * 8 / 10 / 1000,
        ),
        ("http_read", {"readtiming": [{"o": 0, "t": 10.0}]}, None),
        ("tls_cert", {}, None),
    ],
)
def test_proxies(method, entry, mbps, tmp_path):
    path = write(tmp_path / "a", http(1, **entry))
    choices = AtlasChoices(bandwidth=method)
    if mbps is None:
        with pytest.raises(DataError, match="too little for the bandwidth method"):
            read_atlas(path, choices)
    else:
        star = read_atlas(path, choices)
        np.testing.assert_allclose(star.bandwidth_mbps, [mbps])
        assert star.bandwidth_label == f"proxy:{method}"


def test_certificates_are_counted_in_octets(tmp_path):
    """The text between the lines is base64: four characters are three octets."""
    results = [each.result for each in made()["sslcert"]]
    star = read_atlas(write(tmp_path / "a", *results), AtlasChoices(bandwidth="tls_cert"))
    timed = {str(r["prb_id"]): r for r in results if "ttc" in r and "cert" in r}
    assert len(timed) == len(star.edges) == 2
    for (node, _), mbps in zip(star.edges.tolist(), star.bandwidth_mbps, strict=True):
        result = timed[star.nodes[node]]
        bodies = ["".join(pem.split("\n")[1:-1]) for pem in result["cert"]]
        octets = sum(3 * len(body) // 4 - body.count("=") for body in bodies)
        np.testing.assert_allclose(mbps, 8e-3 * octets / (result["rt"] - result["ttc"]))


@pytest.mark.measured
def test_a_genuine_certificate_is_counted_in_octets():
    path = data("atlas_fixtures/sslcert.ndjson")
    choices = AtlasChoices(bandwidth="tls_cert", hub="80.79.115.54", aggregate="last")
    star = read_atlas(path, choices)
    place = star.edges[:, 0] == star.nodes.index("12")
    # 1727 characters of PEM hold 1237 octets; 8 x 1237 bit in 119.526 - 57.617 ms
    octets = star.bandwidth_mbps[place] * 1000 / 8 * (119.526 - 57.617)
    with path.open() as file:
        pem = json.loads(file.readlines()[3])["cert"][0]
    body = "".join(pem.split("\n")[1:-1])
    np.testing.assert_allclose(octets, 3 * len(body) / 4 - body.count("="), rtol=1e-12)


def test_latency_that_includes_the_transfer_says_so(tmp_path):
    star = read_atlas(write(tmp_path / "a", http(1), http(2, rt=50.0)))
    assert star.latency_label == "proxy:http_rt"
    timed = write(tmp_path / "b", http(1, ttc=20.0), http(2, ttc=30.0))
    assert read_atlas(timed).latency_label == "measured"
    mixed = write(tmp_path / "c", http(1), http(2, ttc=30.0))
    with pytest.raises(DataError, match=r"latency: rt \(1\), ttc \(1\); choose with latency=..."):
        read_atlas(mixed)


def test_a_page_of_constant_size_is_a_relabelled_latency(tmp_path):
    path = write(tmp_path / "a", *(http(i, rt=10.0 + i) for i in range(30)))
    star = read_atlas(path, AtlasChoices(bandwidth="http_total"))
    assert star.rank_correlation == -1.0
    assert "re-labelled latency" in star.caution
    law = "synthetic:lognormal(50,0.8)"
    drawn = read_atlas(path, AtlasChoices(bandwidth=law, seed=4))
    assert (drawn.bandwidth_label, drawn.caution, drawn.choices["seed"]) == (law, None, 4)
    again = read_atlas(path, AtlasChoices(bandwidth=law, seed=4))
    np.testing.assert_array_equal(again.bandwidth_mbps, drawn.bandwidth_mbps)


def test_rank_correlation_is_spearmans():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.integers(0, 9, (2, 30)).astype(float)
        assert rank_correlation(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=5.1e-5)
    assert rank_correlation(np.ones(3), np.arange(3.0)) is None


def test_old_and_hidden_failures(tmp_path):
    lost = ping(2, result=[{"error": "dns resolution failed: no"}])
    del lost["dst_addr"]
    bare = {k: v for k, v in ping(3).items() if k != "result"} | {"min": -1, "avg": -1}
    trace = ping(4, type="traceroute", result=[])
    odd = [ping(1), lost, bare, trace, {"msm_id": 1}, 7, [ping(5)]]
    star = read_atlas(write(tmp_path / "a", *odd[:5]), AtlasChoices(type="ping"))
    left = {row["reason"]: row["count"] for row in star.provenance["left_out"]}
    assert left == {
        "the name was not resolved": 1,
        "no reply": 1,
        "another type of measurement": 1,
        "not a measurement result": 1,
    }
    whole = tmp_path / "b"
    whole.write_text(json.dumps(odd))
    assert read_atlas(whole, AtlasChoices(type="ping")).provenance["left_out"][0]["count"] == 3
    for empty in ("", "[]", " \n", "{}", '{"results": []}'):
        whole.write_text(empty)
        with pytest.raises(DataError, match=r"no results|no reading"):
            read_atlas(whole)
