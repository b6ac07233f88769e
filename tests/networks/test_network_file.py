"""Network files: what is written is read, what is wrong is named, nothing is half-written."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from hedgerow.networks.errors import DataError
from hedgerow.networks.network import Network
from hedgerow.networks.quantities import check_label, composed

EDGES = [(0, 1), (1, 2), (2, 0)]


def network(**changes):
    values = {
        "nodes": ("ä", "b", "c"),
        "edges": EDGES,
        "latency_ms": [1.0, 0.0, 1 / 3],
        "latency_label": "measured",
        "bandwidth_mbps": [5.0, 1e-300, 7.0],
        "bandwidth_label": "synthetic:lognormal(50,0.8)",
        "latency_series": np.array([[1.0, np.nan, 2.0], [3.0, 4.0, 5.0]]),
        "hub": 1,
        "source": 0,
        "target": 2,
        "choices": {"seed": 3, "list": [1, None]},
        "provenance": {"files": [{"name": "ü"}]},
    }
    return Network(**(values | changes))


def test_a_round_trip_keeps_every_bit(tmp_path):
    first = network()
    first.save(tmp_path / "inner/a.json")
    again = Network.load(tmp_path / "inner/a.json")
    for name in ("edges", "latency_ms", "bandwidth_mbps", "latency_series"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name), strict=True)
    for name in ("nodes", "hub", "source", "target", "choices", "provenance", "bandwidth_label"):
        assert getattr(first, name) == getattr(again, name)
    again.save(tmp_path / "b.json")
    for suffix in (".json", ".npz"):
        written = (tmp_path / "b").with_suffix(suffix).read_bytes()
        first_written = (tmp_path / "inner/a").with_suffix(suffix).read_bytes()
        assert written.replace(b"b.npz", b"a.npz") == first_written
    assert sorted(os.listdir(tmp_path)) == ["b.json", "b.npz", "inner"]
    plain = network(latency_series=None, bandwidth_mbps=None, bandwidth_label=None)
    plain.save(tmp_path / "c.json")
    assert Network.load(tmp_path / "c.json").bandwidth_mbps is None
    assert not (tmp_path / "c.npz").exists()


def test_arrays_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        network().latency_ms[0] = 2.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"nodes": ("a", "b", "b")}, "'b' stands there twice"),
        ({"nodes": ("a", "b", "")}, "not empty"),
        ({"edges": [(0, 1), (1, 3), (2, 0)]}, r"edges\[1\] is \[1, 3\], nodes are numbered 0 to 2"),
        ({"edges": [(0, 1), (1, 1), (2, 0)]}, r"edges\[1\] is a self-loop"),
        ({"edges": [(0, 1), (1, 2), (0, 1)]}, r"edges\[2\] is \[0, 1\] again"),
        ({"edges": [(0, 1), (1,)]}, "rows"),
        ({"edges": []}, "at least one"),
        ({"edges": [(0.0, 1.0)]}, "node indices"),
        ({"latency_ms": [1.0, -1.0, 1.0]}, r"latency_ms\[1\] must be at least 0, got -1"),
        ({"latency_ms": [1.0, np.nan, 1.0]}, "latency_ms must be finite"),
        ({"latency_ms": [1.0]}, "shape"),
        ({"bandwidth_mbps": [1.0, 0.0, 1.0]}, r"bandwidth_mbps\[1\] must be above 0"),
        ({"bandwidth_mbps": None}, "go together"),
        ({"bandwidth_label": None}, "go together"),
        ({"bandwidth_label": "real"}, "'measured', 'proxy:<method>' or 'synthetic:<law>'"),
        ({"latency_label": "proxy:"}, "latency_label must be"),
        ({"latency_series": np.ones((2, 2))}, r"shape \(rounds, 3\)"),
        ({"latency_series": np.full((1, 3), np.inf)}, r"latency_series\[0, 0\] must be finite"),
        (
            {"bandwidth_mbps": None, "bandwidth_label": None, "bandwidth_series": np.ones((1, 3))},
            "needs bandwidth_mbps",
        ),
        ({"hub": 3}, "hub must be a node index from 0 to 2, got 3"),
        ({"source": True}, "source must be"),
    ],
)
def test_what_is_wrong_is_named(changes, words):
    with pytest.raises((ValueError, TypeError), match=words):
        network(**changes)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("format", "other", "this is not a network file; make one"),
        ("version", 2, "key 'version': is 2, this release reads 1"),
        ("nodes", "abc", "nodes must be names"),
        ("edges", {"a": 1}, "edges must be rows"),
        ("edges", [[0, 10**30]], "edges must be rows"),
        ("latency_ms", [1, "2", 3], "key 'latency_ms', entry 1: must be a number, got '2'"),
        ("latency_ms", None, "key 'latency_ms': must be a list"),
        ("latency_ms", [1, 2, 10**400], "latency_ms|too large"),
        ("bandwidth_mbps", [1, True, 3], "entry 1: must be a number, got True"),
        ("choices", [], "key 'choices': must be an object"),
        ("series", [], "key 'series': must be an object"),
        ("series", {"file": "../a.npz"}, "must lie beside"),
        ("series", {"file": "none.npz"}, "none.npz: the file cannot be read"),
        ("series", {"file": "a.npz", "sha256": "0"}, "a.npz: does not belong to a.json"),
        ("extra", 1, "has 'extra', which is unknown"),
        ("hub", 1.5, "hub must be a node index"),
    ],
)
def test_wrong_files_are_refused_with_the_key(key, value, words, tmp_path):
    path = network().save(tmp_path / "a.json")
    data = json.loads(path.read_text())
    data[key] = value
    path.write_text(json.dumps(data))
    with pytest.raises(DataError, match=words):
        Network.load(path)


def test_unreadable_files_are_refused(tmp_path):
    path = network().save(tmp_path / "a.json")
    text = path.read_text()
    path.write_text(text.replace('"nodes":', '"nodes"'))
    with pytest.raises(DataError, match=r"a.json, line 4, column 9: the JSON is damaged"):
        Network.load(path)
    path.write_text(text.replace('"target": 2,\n', ""))
    with pytest.raises(DataError, match="lacks 'target'"):
        Network.load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="not JSON in UTF-8"):
        Network.load(path)
    path.write_text(text)
    (tmp_path / "a.npz").write_bytes(b"PK")
    with pytest.raises(DataError, match=r"a.npz: is not a readable .npz"):
        Network.load(path)
    with pytest.raises(DataError, match="cannot be read: No such file"):
        Network.load(tmp_path / "b.json")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = network().save(tmp_path / "a.json")
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    with pytest.raises(ValueError, match="JSON compliant"):
        network(choices={"bad": float("nan")}).save(path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(DataError, match=r"a.json: cannot be written: No space left"):
        network(hub=0).save(path)
    assert before == {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}


def test_labels_compose():
    assert check_label(composed("measured", "hub_sum"), "x") == "proxy:hub_sum(measured)"
    assert composed("proxy:http_total", "hub_min") == "proxy:hub_min(http_total)"
    assert composed("synthetic:a(1)", "hub_min") == "synthetic:hub_min(a(1))"
