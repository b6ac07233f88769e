"""Topologies on a map and traffic matrices: shipped ones, SNDlib's XML, JSON, NPZ and CSV."""

from __future__ import annotations

import builtins
import io
import json
import tarfile

import numpy as np
import pytest

from hedgerow.networks import DataError, Topology, TrafficMatrices, read_sndlib, shipped_names
from hedgerow.networks.topology import KM_PER_MS

NETWORK = """<?xml version="1.0"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0">
 <networkStructure>
  <nodes coordinatesType="geographical">
   <node id="A"><coordinates><x>0.0</x><y>0.0</y></coordinates></node>
   <node id="B"><coordinates><x>90.0</x><y>0.0</y></coordinates></node>
   <node id="C"><coordinates><x>0.0</x><y>90.0</y></coordinates></node>
  </nodes>
  <links>
   <link id="L1"><source>A</source><target>B</target>
    <preInstalledModule><capacity>100.0</capacity><cost>0</cost></preInstalledModule></link>
   <link id="L2"><source>B</source><target>C</target><additionalModules>
    <addModule><capacity>40.0</capacity></addModule><addModule><capacity>160.0</capacity></addModule>
    </additionalModules></link>
   {more}
  </links>
 </networkStructure>
 {demands}
</network>"""
DEMANDS = """<demands><demand id="1"><source>{s}</source><target>{t}</target>
<demandValue>{value}</demandValue></demand></demands>"""
BACK = '<link id="L3"><source>B</source><target>A</target></link>'


def network(path, more: str = "", demands: str = ""):
    path.write_text(NETWORK.format(more=more, demands=demands), encoding="utf-8")
    return path


def test_an_sndlib_network_is_read(tmp_path) -> None:
    demands = DEMANDS.format(s="A", t="C", value="7.5")
    X = read_sndlib(network(tmp_path / "net.xml", demands=demands))
    assert X.nodes == ("A", "B", "C")
    assert X.edges.tolist() == [[0, 1], [1, 2], [1, 0], [2, 1]]
    assert X.bandwidth_mbps.tolist() == [100.0, 160.0, 100.0, 160.0]
    assert X.latency_ms * KM_PER_MS == pytest.approx(np.full(4, 6371.0 * np.pi / 2))
    assert X.matrix[0, 2] == X.matrix.sum() == 7.5
    assert Topology.load(tmp_path / "net.xml").nodes == X.nodes


def test_links_that_come_in_both_directions_stay_as_they_are(tmp_path) -> None:
    X = read_sndlib(network(tmp_path / "net.xml", more=BACK + BACK.replace("L3", "L4")))
    assert X.edges.tolist() == [[0, 1], [1, 2], [1, 0]]
    assert X.bandwidth_mbps.tolist() == [100.0, 160.0, 20000.0]  # parallel links are merged
    assert "2 capacities assumed" in X.source
    assert X.matrix is None


BROKEN = {
    "no xml": ("<network>", "is not XML"),
    "entity": ('<!DOCTYPE x [<!ENTITY a "b">]><x/>', "declares a document type"),
    "empty": ("<network/>", "has no nodes"),
    "unknown node": (
        NETWORK.format(more=BACK.replace(">A<", ">Z<"), demands=""),
        "link L3: names the unknown node 'Z'",
    ),
    "no number": (NETWORK.replace("<x>90.0</x>", "<x>east</x>"), "must hold a number, got 'east'"),
    "negative": (
        NETWORK.format(more="", demands=DEMANDS.format(s="A", t="B", value="-1")),
        "must be at least 0, got -1",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_network_is_refused(name: str, tmp_path) -> None:
    text, sentence = BROKEN[name]
    path = tmp_path / "net.xml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=sentence):
        read_sndlib(path)


def matrix_file(value: float) -> bytes:
    return f"<network>{DEMANDS.format(s='A', t='B', value=value)}</network>".encode()


def test_a_folder_and_an_archive_of_matrices_are_read_in_order_without_empty_rounds(
    tmp_path,
) -> None:
    folder = tmp_path / "days"
    folder.mkdir()
    with tarfile.open(tmp_path / "days.tgz", "w:gz") as archive:
        for name, value in (("m-2", 2.0), ("m-1", 1.0), ("m-3", 0.0)):
            (folder / f"{name}.xml").write_bytes(matrix_file(value))
            member = tarfile.TarInfo(f"days/{name}.xml")
            member.size = len(matrix_file(value))
            archive.addfile(member, io.BytesIO(matrix_file(value)))
    for path in (folder, tmp_path / "days.tgz"):
        found = TrafficMatrices.load(path, ("B", "A"))
        assert found.times == ("m-1", "m-2")
        assert found.left_out == 1
        assert found.demands[:, 1, 0].tolist() == [1.0, 2.0]


def test_arrays_and_tables_of_matrices_are_read(tmp_path) -> None:
    stack = np.arange(18.0).reshape(2, 3, 3)
    np.savez(tmp_path / "m.npz", demands=stack, nodes=["C", "A", "B"], times=["x", "y"])
    found = TrafficMatrices.load(tmp_path / "m.npz", ("A", "B", "C"))
    assert found.times == ("x", "y")
    assert found.demands[1, 0, 1] == stack[1, 1, 2]
    assert (np.diagonal(found.demands, axis1=1, axis2=2) == 0.0).all()
    lines = ["time,origin,destination,demand", "1,A,B,2.5", "2,B,A,4", "1,A,C,1", "1,A,B,0.5"]
    (tmp_path / "m.csv").write_text("\n".join(lines))
    found = TrafficMatrices.load(tmp_path / "m.csv", ("A", "B", "C"))
    assert found.demands[:, 0, 1].tolist() == [3.0, 0.0]
    assert found.demands[1, 1, 0] == 4.0


REFUSED = {
    "m.csv": [
        (b"a,b\n", "line 1: must be time,origin,destination,demand"),
        (b"time,origin,destination,demand\n1,A,Z,1\n", "line 2: names 'Z', which is not a node"),
        (b"time,origin,destination,demand\n1,A,B\n", "line 2: the row has 3 fields, the header 4"),
        (b"time,origin,destination,demand\n1,A,B,x\n", "line 2: the demand must be a number"),
        (b"time,origin,destination,demand\n1,A,B,-2\n", "round 1: the demand A to B must be"),
        (b"time,origin,destination,demand\n1,A,B,0\n", "no demand in any round"),
    ],
    "m.npz": [(b"PK nothing", "not a readable .npz")],
    "m.tgz": [(b"\x1f\x8b nothing", "not a readable archive|cannot be read")],
    "m.txt": [(b"", "give a folder, .tgz, .npz or .csv")],
}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [(name, *case) for name, cases in REFUSED.items() for case in cases],
)
def test_broken_matrices_are_refused(name: str, content: bytes, sentence: str, tmp_path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=sentence):
        TrafficMatrices.load(tmp_path / name, ("A", "B"))


def test_a_network_in_json_is_read(tmp_path) -> None:
    nodes = [{"id": "A", "lon": 1.0, "lat": 2.0}, {"id": "B", "lon": 3.0, "lat": 4.0}]
    links = [
        {"source": "A", "target": "B", "capacity_mbps": 5, "km": 400},
        {"source": "B", "target": "A", "capacity_mbps": 5, "latency_ms": 7},
    ]
    path = tmp_path / "net.json"
    path.write_text(json.dumps({"nodes": nodes, "links": links}))
    X = Topology.load(path)
    assert X.latency_ms.tolist() == [2.0, 7.0]
    assert X.positions.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    path.write_text(json.dumps({"nodes": nodes, "links": [{"source": "A"}]}))
    with pytest.raises(DataError, match="'target' is missing"):
        Topology.load(path)
    path.write_text("{")
    with pytest.raises(DataError, match="is not a network in JSON"):
        Topology.load(path)
    with pytest.raises(DataError, match="cannot be read"):
        Topology.load(tmp_path / "none.json")


def test_shipped_networks_run_both_ways_and_say_what_was_assumed() -> None:
    names = shipped_names()
    assert {name.partition("/")[0] for name in names} >= {"topozoo", "sndlib", "caida"}
    X = Topology.shipped("sndlib/abilene", capacity=100.0)
    assert len(X.nodes) == 12
    links = {tuple(edge) for edge in X.edges.tolist()}
    assert len(links) == 30
    assert all((v, u) in links for u, v in links)
    assert X.matrix.shape == (12, 12)
    assert "capacity 100 Mbit/s assumed" in X.source
    assert 0.5 < X.latency_ms.min() < X.latency_ms.max() < 20.0
    with pytest.raises(ValueError, match="no network 'topozoo/Nowhere' in topohub; `hedgerow data"):
        Topology.shipped("topozoo/Nowhere")


def test_without_the_extra_it_says_what_to_install(monkeypatch) -> None:
    real = builtins.__import__

    def without(name, *rest):
        if name == "topohub":
            raise ModuleNotFoundError(name=name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r'pip install "\.\[data\]"'):
        shipped_names()


WRONG = {
    "twice": ((("a", "a"), None, [(0, 1)], [1.0], [1.0]), "'a' stands there twice"),
    "loop": ((("a", "b"), None, [(0, 0)], [1.0], [1.0]), "is a self-loop; leave it out"),
    "outside": ((("a", "b"), None, [(0, 2)], [1.0], [1.0]), "nodes are numbered 0 to 1"),
    "capacity": ((("a", "b"), None, [(0, 1)], [1.0], [0.0]), "capacities above 0"),
    "positions": ((("a", "b"), [[1.0]], [(0, 1)], [1.0], [1.0]), r"positions must have shape"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_topology_is_refused(name: str) -> None:
    arguments, sentence = WRONG[name]
    with pytest.raises(ValueError, match=sentence):
        Topology("x", *arguments)
