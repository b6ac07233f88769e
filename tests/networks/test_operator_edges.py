"""From an operator's file or frame to a network: times, names, prices, gaps, pieces, a hub."""

from __future__ import annotations

import csv
import json
import re
from datetime import datetime
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.networks import DataError, EdgeColumns, Network, Quantity, read_edges
from hedgerow.networks.column_names import guess_columns
from hedgerow.report.networks import network_sentences
from operator_case import (
    HEADER,
    LINKS,
    OUTAGE,
    OUTAGE_BEGINS,
    OUTAGE_MINUTES,
    OUTAGE_MS,
    SITES,
    START,
    operator_csv,
    operator_readings,
    places_csv,
)

COLUMNS = EdgeColumns("site_a", "site_b", "rtt_ms", time="time")
MINUTES = 160


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    return operator_csv(tmp_path_factory.mktemp("operator") / "links.csv", MINUTES)


def text(path, content):
    path.write_text(content)
    return path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result


def same(a, b):
    assert (a.nodes, a.edges.tolist()) == (b.nodes, b.edges.tolist())
    for name in ("latency_ms", "latency_series", "times", "coordinates"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), name)
    assert list(a.quantities) == list(b.quantities)
    for one, two in zip(a.quantities.values(), b.quantities.values(), strict=True):
        np.testing.assert_array_equal(one.values, two.values)
        assert (one.series is None) == (two.series is None)


def test_every_reading_of_the_operator_is_where_it_belongs(case, tmp_path):
    places = places_csv(tmp_path / "sites.csv")
    network = read_edges(case, COLUMNS, route=("Lisbon", "Warsaw"), places=places)
    latency, price = operator_readings(MINUTES)
    assert network.latency_series.shape == (MINUTES, len(LINKS))
    for e, (u, v) in enumerate(network.edges.tolist()):
        i = LINKS.index((network.nodes[u], network.nodes[v]))
        np.testing.assert_allclose(network.latency_series[:, e], latency[:, i], atol=6e-4)
        assert network.quantities["price_eur"].values[e] == price[i]
    assert network.quantities["price_eur"].series is None, "a price that never changes"
    np.testing.assert_array_equal(network.times, START.timestamp() + 60.0 * np.arange(MINUTES))
    assert (network.nodes[network.source], network.nodes[network.target]) == ("Lisbon", "Warsaw")
    assert [SITES[name] for name in network.nodes] == [tuple(c) for c in network.coordinates]
    same(Network.load(network.save(tmp_path / "n.json")), network)


def test_one_link_fails_for_an_hour_and_evenings_are_congested():
    latency, _ = operator_readings(2880)
    failed = np.argwhere(latency == OUTAGE_MS)
    assert {LINKS[i] for i in failed[:, 1]} == {OUTAGE}
    assert failed[:, 0].tolist() == list(range(OUTAGE_BEGINS, OUTAGE_BEGINS + OUTAGE_MINUTES))
    hour = (np.arange(2880) // 60) % 24
    evening = np.median(latency[(hour >= 20) & (hour < 21)], axis=0)
    night = np.median(latency[hour < 5], axis=0)
    assert (evening > 1.3 * night).sum() > 5
    np.testing.assert_array_equal(operator_readings(100)[0], latency[:100])


def test_a_series_of_quarter_hours_has_medians(case):
    each = read_edges(case, COLUMNS).latency_series
    quarters = read_edges(case, COLUMNS, series="15min")
    assert len(quarters.latency_series) == len(quarters.times) == -(-MINUTES // 15)
    np.testing.assert_allclose(quarters.latency_series[3], np.median(each[45:60], axis=0))
    assert set(np.diff(quarters.times)) == {900.0}


def test_rounds_without_a_reading_are_gaps(tmp_path):
    rows = "src,dst,rtt_ms,t\na,b,1,2026-01-01T00:07\na,b,3,2026-01-01T00:51:30\n"
    network = read_edges(text(tmp_path / "a.csv", rows), series="15min")
    np.testing.assert_array_equal(network.latency_series[:, 0], [1.0, np.nan, np.nan, 3.0])
    assert network.times[0] == datetime.fromisoformat("2026-01-01T00:00Z").timestamp()
    with pytest.raises(DataError, match="more than most_numbers=3; choose longer rounds"):
        read_edges(tmp_path / "a.csv", series="15min", most_numbers=3)
    with pytest.raises(ValueError, match=r"series must be a span of time.*got '15 m'"):
        read_edges(tmp_path / "a.csv", series="15 m")
    numbers = text(tmp_path / "b.csv", "src,dst,rtt_ms,t\na,b,1,5\n")
    with pytest.raises(DataError, match=r"series=... needs times in ISO 8601 or Unix seconds"):
        read_edges(numbers, series="1h")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2026-03-01T12:00:00Z", "2026-03-01T12:01:00Z"),
        ("2026-03-01T13:00:00+01:00", "2026-03-01T12:01:00+00:00"),
        ("2026-03-01 12:00", "2026-03-01 12:01"),
        ("20260301T120000", "20260301T120100"),
        ("1772366400", "1772366460.0"),
        ("1772366400000", "1772366460000"),
    ],
)
def test_times_in_all_forms(first, second, tmp_path):
    rows = f"src,dst,rtt_ms,t\na,b,2,{second}\na,b,1,{first}\n"
    network = read_edges(text(tmp_path / "a.csv", rows))
    assert network.times.tolist() == [1772366400.0, 1772366460.0]
    assert network.latency_series[:, 0].tolist() == [1.0, 2.0]
    bare = not re.search("Z|[+]|177", first)
    said = network.provenance.get("remarks", [])
    assert said == (["Times of 't' without a zone are taken as UTC."] if bare else [])


def test_times_of_two_forms_are_refused(tmp_path):
    rows = "src,dst,rtt_ms,t\na,b,2,2026-03-01T12:00Z\na,b,1,1772366400\n"
    with pytest.raises(DataError, match="line 3: t is '1772366400', Unix seconds, the first one"):
        read_edges(text(tmp_path / "a.csv", rows))
    rows = "src,dst,rtt_ms,t\na,b,2,yesterday\n"
    with pytest.raises(DataError, match=r"line 2: t must be a time in ISO 8601, .*got 'yesterday'"):
        read_edges(text(tmp_path / "a.csv", rows))
    plain = read_edges(text(tmp_path / "a.csv", "src,dst,rtt_ms,t\na,b,2,7\na,b,3,-7\n"))
    assert (plain.times, plain.latency_series[:, 0].tolist()) == (None, [3.0, 2.0])


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_that_of_the_header(delimiter, tmp_path):
    rows = [["src", "dst", "rtt_ms", "eur"], ["a", "b", "1.5", "3"]]
    path = text(tmp_path / "a.csv", "\n".join(delimiter.join(row) for row in rows))
    network = read_edges(path)
    assert (network.latency_ms.tolist(), network.quantities["eur"].values.tolist()) == ([1.5], [3])


def test_a_decimal_comma(tmp_path):
    path = text(tmp_path / "a.csv", "src;dst;rtt_ms\na;b;1,5\n")
    assert read_edges(path, decimal=",").latency_ms.tolist() == [1.5]
    with pytest.raises(DataError, match="got '1,5'; for a decimal comma use decimal=','"):
        read_edges(path)
    with pytest.raises(ValueError, match="decimal must be"):
        read_edges(path, decimal=";")
    result = run("ingest", "edges", path, "-o", tmp_path / "n.json", code=2)
    assert "for a decimal comma use --decimal ," in result.stderr


@pytest.mark.parametrize("form", ["lines", "array"])
def test_json_records_are_the_same_network(form, case, tmp_path):
    with case.open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["rtt_ms"], row["price_eur"] = float(row["rtt_ms"]), float(row["price_eur"])
    written = "\n".join(map(json.dumps, rows)) if form == "lines" else json.dumps(rows)
    same(read_edges(text(tmp_path / "a.json", written), COLUMNS), read_edges(case, COLUMNS))


def test_records_may_lack_fields_and_are_refused_by_number(tmp_path):
    records = [
        {"src": 1, "dst": "b", "rtt_ms": 2.5, "error": None},
        {"src": 1, "dst": "b", "rtt_ms": None, "loss": 0.25},
        {"src": 1, "dst": "b", "rtt_ms": 3.5},
    ]
    network = read_edges(text(tmp_path / "a.json", json.dumps(records)))
    assert (network.nodes, network.latency_ms.tolist()) == (("1", "b"), [3.0])
    assert network.quantities["loss"].values.tolist() == [0.25]
    assert network.provenance["left_out"][0]["first"] == "a.json, record 2"
    for wrong, words in (
        ({"rtt_ms": True}, "record 2: rtt_ms must be a number, got True"),
        ({"rtt_ms": [1]}, "record 2: rtt_ms must be a number"),
        ({"src": {}}, "record 2: a node's name must be text"),
    ):
        path = text(tmp_path / "b.json", json.dumps([records[0], records[2] | wrong]))
        with pytest.raises(DataError, match=words):
            read_edges(path)
    with pytest.raises(DataError, match="record 2: a record must be an object"):
        read_edges(text(tmp_path / "b.json", json.dumps([records[0], 7])))


def test_missing_columns_are_named_at_once_with_the_options_to_give(tmp_path):
    path = text(tmp_path / "a.csv", "when,Site A,Site B,delay (ms)\n")
    out = ("-o", tmp_path / "n.json")
    result = run("ingest", "edges", path, "--time", "moment", *out, code=2)
    (sentence,) = result.stderr.splitlines()
    assert sentence.endswith(
        "a.csv, line 1: there is no column 'moment'; the columns are: when, Site A, Site B, delay "
        "(ms); give --time when"
    )
    path = text(tmp_path / "a.csv", "when,von,nach,delay (ms)\n")
    result = run("ingest", "edges", path, *out, "--latency", "delay(ms)", code=2)
    assert result.stderr.endswith(
        "there is no column 'delay(ms)' and no column for the first node or the second node; the "
        "columns are: when, von, nach, delay (ms); give --latency 'delay (ms)' --from COLUMN "
        "--to COLUMN\n"
    )
    with pytest.raises(DataError, match=r"no column 'loss'; the columns are: src, dst, rtt_ms$"):
        read_edges(text(tmp_path / "a.csv", "src,dst,rtt_ms\n"), EdgeColumns(quantities=("loss",)))


def test_columns_are_guessed_and_a_time_that_is_not_read_is_pointed_out(case, tmp_path):
    guessed = run("ingest", "edges", case, "-o", tmp_path / "n.json")
    assert "--time" not in guessed.stderr
    same(Network.load(tmp_path / "n.json"), read_edges(case, COLUMNS))
    result = run("ingest", "edges", case, "--time", "", "-o", tmp_path / "n.json")
    line = "Column 'time' holds times and is not read; for rounds use --time time."
    assert result.stderr.splitlines().count(line) == 1
    network = Network.load(tmp_path / "n.json")
    assert network.latency_series is None
    assert list(network.quantities) == ["price_eur"]
    rows = "src,dst,rtt_ms,slot\na,b,1,2026-03-01T12:00\na,b,2,2026-03-01T12:01\n"
    odd = text(tmp_path / "a.csv", rows)
    assert "--time slot" in run("ingest", "edges", odd, "-o", tmp_path / "n.json").stderr


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("src,dst,latency_ms,t", "src dst latency_ms t"),
        ("measured_at,src_site,dst_site,avg_rtt,price", "src_site dst_site avg_rtt measured_at"),
        (
            "Time,Source Host,Destination Host,RTT (ms)",
            "Source Host|Destination Host|RTT (ms)|Time",
        ),
        ("startTime,endTime,srcIp,srcName,dstName,pingMs", "srcName dstName pingMs startTime"),
        ("a,b,rtt_us,round_trip_time", "a b"),
        ("src_port,dst_port,jitter", ""),
        ("to,from,ms,rtt_ms", "from to rtt_ms"),
    ],
)
def test_usual_columns_are_found_by_their_words(header, found):
    guessed = guess_columns(header.split(","))
    assert list(guessed.values()) == (found.split("|") if "|" in found else found.split())


def test_an_empty_reading_is_an_outage_and_a_slot_without_a_row_is_not(tmp_path):
    rows = ["time,src,dst,rtt_ms,bandwidth_mbps"]
    for minute in range(60):
        at = f"2026-03-01T12:{minute:02d}Z"
        rows.append(f"{at},a,b,{'' if 20 <= minute < 30 else 5},{'' if minute < 40 else 7}")
        if minute % 5 == 0:
            rows.append(f"{at},b,c,6,{9 if minute else ''}")
        if minute == 50:
            rows.append(f"{at},c,a,,8")  # a bandwidth was measured: no outage
            rows.append(f"{at},c,a,4,8")
            rows.append("2026-03-01T12:51Z,c,a,,8")
    network = read_edges(text(tmp_path / "a.csv", "\n".join(rows)))
    first = [f"{network.nodes[a]}{network.nodes[b]}" for a, b in network.edges].index("ab")
    assert network.outages.sum() == 10
    assert network.outages[20:30, first].all()
    empty, sparse = network.provenance["remarks"]
    assert empty == "10 readings are empty: their links count as failed then."
    assert sparse == (
        "106 of 180 readings are missing: not every link has one in every round. The last one "
        "counts; for longer rounds use series='5min'."
    )
    longer = read_edges(tmp_path / "a.csv", series="10min")
    assert longer.outages.sum() == 1
    network.save(tmp_path / "n.json")
    again = Network.load(tmp_path / "n.json")
    np.testing.assert_array_equal(again.outages, network.outages)
    assert again.both_ways().outages.sum() == 20
    assert read_edges(text(tmp_path / "b.csv", "src,dst,rtt_ms,t\na,b,1,1\n")).outages is None


@pytest.mark.parametrize(
    ("outages", "words"),
    [
        ([[True], [True]], r"outages\[1, 0\] is True, but latency_series has 3 there"),
        ([[True]], "must be True or False for each round and edge of latency_series, got"),
        ([[2], [0]], "must be True or False for each round"),
    ],
)
def test_outages_are_where_no_latency_was_read(outages, words):
    series = np.array([[np.nan], [3.0]])
    with pytest.raises(ValueError, match=words):
        Network(("a", "b"), [(0, 1)], [3.0], "measured", latency_series=series, outages=outages)


def test_quantities_are_constant_or_a_series_and_text_is_none(tmp_path):
    rows = "src,dst,rtt_ms,t,price,loss,note,mixed\n" + "".join(
        f"{edge},{t + 1},{t},5,{t / 10},x,{'?' if t == 2 else t}\n"
        for t in range(3)
        for edge in ("a,b", "b,c")
    )
    network = read_edges(text(tmp_path / "a.csv", rows))
    assert list(network.quantities) == ["price", "loss"]
    assert network.quantities["price"].series is None
    np.testing.assert_array_equal(network.quantities["loss"].series[:, 1], [0.0, 0.1, 0.2])
    assert network.quantities["loss"].values.tolist() == [0.1, 0.1]
    assert network.provenance["remarks"] == [
        "Column 'mixed' is left out, it holds text: line 6 has '?'."
    ]
    assert network.quantities["loss"].label == "measured"
    drawn = read_edges(tmp_path / "a.csv", quantity_label="synthetic:drawn")
    assert {quantity.label for quantity in drawn.quantities.values()} == {"synthetic:drawn"}
    only = read_edges(tmp_path / "a.csv", EdgeColumns(quantities=("loss",)))
    assert list(only.quantities) == ["loss"]
    with pytest.raises(DataError, match="line 6: mixed must be a number, got '\\?'"):
        read_edges(tmp_path / "a.csv", EdgeColumns(quantities=("mixed",)))
    again = Network.load(network.save(tmp_path / "n.json"))
    np.testing.assert_array_equal(
        again.quantities["loss"].series, network.quantities["loss"].series
    )


def test_an_empty_cell_drops_the_reading_and_not_the_edge(tmp_path):
    rows = (
        "src,dst,rtt_ms,throughput_mbps,t,price\n"
        "a,b,,10,0,1\na,b,4,,1,\nb,c,6,30,0,3\nb,c,,,1,3\nc,d,,5,0,2\nd,e,9,,0,2\n"
    )
    network = read_edges(text(tmp_path / "a.csv", rows))
    nan = np.nan
    assert network.nodes == ("a", "b", "c"), "an edge without any latency or bandwidth is none"
    np.testing.assert_array_equal(network.latency_series, [[nan, 6.0], [4.0, nan]])
    np.testing.assert_array_equal(network.bandwidth_series, [[10.0, 30.0], [nan, nan]])
    assert network.latency_ms.tolist() == [4.0, 6.0]
    assert network.bandwidth_mbps.tolist() == [10.0, 30.0]
    assert network.quantities["price"].values.tolist() == [1.0, 3.0]
    left = {row["reason"]: row["count"] for row in network.provenance["left_out"]}
    assert left == {"no value": 3, "too little for the bandwidth method": 1}
    assert network.provenance["kept"] == 2
    for aggregate in ("min", "last"):
        assert read_edges(tmp_path / "a.csv", aggregate=aggregate).bandwidth_mbps.tolist() == [
            10.0,
            30.0,
        ]


def test_the_last_row_is_last_where_there_is_no_time(tmp_path):
    path = text(tmp_path / "a.csv", "src,dst,rtt_ms\na,b,5\na,b,1\na,b,3\n")
    assert read_edges(path, aggregate="last").latency_ms.tolist() == [3.0]
    assert read_edges(path, aggregate="min").latency_ms.tolist() == [1.0]


def test_a_graph_in_pieces_says_so(tmp_path):
    path = text(tmp_path / "a.csv", "src,dst,rtt_ms\na,b,1\nb,c,1\nx,y,1\n")
    network = read_edges(path)
    assert network.pieces == (3, 2)
    sentence = "The graph is in 2 pieces, with 3, 2 nodes; no route joins them."
    assert sentence in network_sentences(network)
    assert sentence in run("ingest", "edges", path, "-o", tmp_path / "n.json").stdout
    whole = read_edges(text(tmp_path / "a.csv", "src,dst,rtt_ms\na,b,1\nc,b,1\n"))
    assert whole.pieces == (3,)
    assert not any("pieces" in line for line in network_sentences(whole))


def test_a_star_that_comes_as_csv(tmp_path):
    rows = ["src,dst,latency_ms", *(f"probe{i},hub,{10 + i}" for i in range(12)), "probe1,probe2,5"]
    path = text(tmp_path / "star.csv", "\n".join(rows))
    star = ("ingest", "edges", path, "-o", tmp_path / "star.json")
    assert "neither to nor from the hub" in run(*star, "--hub", "hub").stderr
    network = Network.load(tmp_path / "star.json")
    assert network.nodes[network.hub] == "hub"
    assert len(network.edges) == 12
    build = ("network", "build", tmp_path / "star.json", "--nodes", 13, "--edges", 40)
    run(*build, "-o", tmp_path / "graph.json")
    wrong = run(*star, "--hub", "hab", code=2).stderr
    assert "hub names 'hab', which is not a node; perhaps you want 'hub'" in wrong


def test_a_route_names_nodes(case):
    with pytest.raises(DataError, match="route names 'Warschau', which is not a node"):
        read_edges(case, COLUMNS, route=("Lisbon", "Warschau"))
    with pytest.raises(DataError, match="'Lisbo', which is not a node; perhaps you want 'Lisbon'"):
        read_edges(case, COLUMNS, route=("Lisbo", "Warsaw"))
    both = read_edges(case, COLUMNS, both_ways=True)
    pairs = {(both.nodes[u], both.nodes[v]): e for e, (u, v) in enumerate(both.edges.tolist())}
    assert len(pairs) == 2 * len(LINKS)
    there, back = pairs[OUTAGE], pairs[OUTAGE[::-1]]
    np.testing.assert_array_equal(both.latency_series[:, there], both.latency_series[:, back])


def test_places_that_are_wrong_or_missing(case, tmp_path):
    some = text(tmp_path / "p.csv", "Site;Lat;Lon\nLisbon;38.7;-9.1\nNowhere;x;y\n")
    network = read_edges(case, COLUMNS, places=some)
    assert np.isnan(network.coordinates).any(axis=1).sum() == len(SITES) - 1
    assert "p.csv has no place for 9 nodes: Amsterdam" in network.provenance["remarks"][0]
    same(Network.load(network.save(tmp_path / "n.json")), network)
    for content, words in (
        (
            "name,x,y\n",
            "need columns name, latitude and longitude; the columns are: name, x",
        ),
        ("name,lat,lon\nLisbon,north,1\n", "line 2: lat must be a number of degrees, got 'north'"),
        ("name,lat,lon\nLisbon,91,1\n", "latitude goes from -90 to 90"),
    ):
        with pytest.raises(DataError, match=words):
            read_edges(case, COLUMNS, places=text(tmp_path / "p.csv", content))


def test_quantities_that_do_not_fit_are_refused():
    network = {"nodes": ("a", "b"), "edges": [(0, 1)], "latency_ms": [1.0]}
    network["latency_label"] = "measured"
    with pytest.raises(ValueError, match="quantity 'x' must have one value for each of 1 edges"):
        Network(**network, quantities={"x": Quantity([1.0, 2.0], "measured")})
    with pytest.raises(TypeError, match="dict of Quantity by name, got 'x'"):
        Network(**network, quantities={"x": [1.0]})
    with pytest.raises(ValueError, match="series must have one column for each of 2 edges"):
        Quantity([1.0, 2.0], "measured", np.ones((3, 1)))
    with pytest.raises(ValueError, match="values must be finite"):
        Quantity([np.inf], "measured")
    with pytest.raises(ValueError, match="times need latency_series"):
        Network(**network, times=[1.0])
    with pytest.raises(ValueError, match="times must increase"):
        Network(**network, latency_series=np.ones((2, 1)), times=[1.0, 1.0])


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("quantities", [], "key 'quantities': must be an object"),
        ("quantities", {"x": {"values": [1]}}, "key 'quantities', 'x': must have 'label'"),
        ("quantities", {"x": {"values": ["1"], "label": "measured"}}, "entry 0: must be a number"),
        ("quantities", {"x": {"values": [1], "label": "real"}}, "label must be 'measured'"),
        ("coordinates", {}, r"must be a list of \[latitude, longitude\]"),
        ("coordinates", [[1, 2], [3]], r"entry 1: must be \[latitude, longitude\]"),
        ("coordinates", [[1, 2], ["3", 4]], "entry 1, entry 0: must be a number"),
    ],
)
def test_wrong_files_are_refused_with_the_key(key, value, words, tmp_path):
    path = Network(("a", "b"), [(0, 1)], [1.0], "measured").save(tmp_path / "a.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(DataError, match=words):
        Network.load(path)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_read_as_files_are(library, case):
    module = pytest.importorskip(library)
    wanted = read_edges(case, COLUMNS)
    frame = module.read_csv(case)
    same(read_edges(frame, COLUMNS), wanted)
    if library == "pandas":
        frame["time"] = module.to_datetime(frame["time"])
        shuffled = frame.sample(frac=1.0, random_state=0)
    else:
        frame = frame.with_columns(module.col("time").str.to_datetime(time_zone="UTC"))
        shuffled = frame.sample(fraction=1.0, shuffle=True, seed=0)
    same(read_edges(frame, COLUMNS), wanted)
    again = read_edges(shuffled, COLUMNS)
    np.testing.assert_array_equal(again.latency_series, wanted.latency_series)
    assert wanted.provenance["files"]
    assert again.provenance["files"] == []


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_what_a_frame_does_not_have_is_a_gap(library):
    module = pytest.importorskip(library)
    columns = {
        "src": ["a", "a", "b"], "dst": ["b", "b", "c"], "rtt_ms": [None, 2.0, 3.0],
        "t": [0, 1, 1], "price": [None, None, 4.0],
    }  # fmt: skip
    network = read_edges(module.DataFrame(columns))
    np.testing.assert_array_equal(network.latency_series, [[np.nan, np.nan], [2.0, 3.0]])
    np.testing.assert_array_equal(network.quantities["price"].values, [np.nan, 4.0])
    with pytest.raises(DataError, match="the frame: there is no column 'von'"):
        read_edges(module.DataFrame(columns), EdgeColumns(source="von"))


def test_any_object_with_columns_will_do_and_others_are_named():
    class Frame(dict):
        columns = HEADER

        def __getitem__(self, name):
            return SimpleNamespace(to_list=lambda: super(Frame, self).__getitem__(name))

    rows = {"time": [START, START], "site_a": ["a", "b"], "site_b": ["b", "c"]}
    network = read_edges(
        Frame(rows | {"rtt_ms": [1, 2], "price_eur": [3.0, float("nan")]}), COLUMNS
    )
    assert network.times.tolist() == [START.timestamp()]
    np.testing.assert_array_equal(network.quantities["price_eur"].values, [3.0, np.nan])
    with pytest.raises(TypeError, match="a path or a frame of pandas or polars, got a list"):
        read_edges([("a", "b", 1.0)])


def test_a_large_number_is_a_time_only_where_the_column_is_called_so(tmp_path):
    rows = "src,dst,rtt_ms,capacity_bps,timestamp\na,b,1,10000000000,1772366400\n"
    network = read_edges(text(tmp_path / "a.csv", rows))
    assert network.quantities["capacity_bps"].values.tolist() == [1e10]
    assert "timestamp" not in network.quantities
    assert network.latency_series.tolist() == [[1.0]]
    rows = "src,dst,rtt_ms,capacity_bps,time_stamps\na,b,1,10000000000,1772366400\n"
    network = read_edges(text(tmp_path / "a.csv", rows))
    assert "time='time_stamps'" in network.provenance["remarks"][0]


def test_nan_in_another_column_is_a_gap(tmp_path):
    rows = "src,dst,rtt_ms,loss\na,b,1,nan\na,b,2,0.5\nb,c,1,NaN\n"
    network = read_edges(text(tmp_path / "a.csv", rows))
    np.testing.assert_array_equal(network.quantities["loss"].values, [0.5, np.nan])


def test_many_columns_are_not_all_kept(tmp_path):
    names = [f"q{i}" for i in range(100)]
    rows = ",".join(["src", "dst", "rtt_ms", *names]) + "\n" + "a,b,1" + ",2" * 100 + "\n"
    network = read_edges(text(tmp_path / "a.csv", rows))
    assert list(network.quantities) == names[:63]
    assert network.provenance["remarks"] == [
        "Only the first 64 columns of numbers are kept, from 'q63' on none; name those you want."
    ]
    named = read_edges(tmp_path / "a.csv", EdgeColumns(quantities=("q98", "q99")))
    assert list(named.quantities) == ["q98", "q99"]


def test_hostile_records_and_headers_are_refused_in_a_sentence(tmp_path):
    records = [{"src": "a", "dst": "b", "rtt_ms": 1, "t": cell} for cell in ([1], {}, 1)]
    for record in records[:2]:
        path = text(tmp_path / "a.json", json.dumps([records[2], record]))
        with pytest.raises(DataError, match="record 2: t must be a time"):
            read_edges(path)
    grows = [{"src": "a", "dst": "b", "rtt_ms": 1, f"new{i}": 1} for i in range(3000)]
    assert len(read_edges(text(tmp_path / "a.json", json.dumps(grows))).quantities) == 63
    header = text(tmp_path / "a.csv", ",".join(f"c{i}" for i in range(100_000)))
    with pytest.raises(DataError, match="no column for the first node, the second node or"):
        read_edges(header)


def test_times_beyond_the_calendar_are_refused(tmp_path):
    network = {"nodes": ("a", "b"), "edges": [(0, 1)], "latency_ms": [1.0]}
    with pytest.raises(ValueError, match="Unix seconds before the year 10000"):
        Network(**network, latency_label="measured", latency_series=np.ones((1, 1)), times=[1.7e15])
    early = "src,dst,rtt_ms,t\na,b,1,0001-01-01T00:00\n"
    assert "1-01-01T00:00:00Z" in network_sentences(read_edges(text(tmp_path / "a.csv", early)))[3]
