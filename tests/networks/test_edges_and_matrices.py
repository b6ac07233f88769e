"""Edge lists and matrix stacks, with no special code for any data set."""

from __future__ import annotations

import csv
import gzip
import zipfile

import numpy as np
import pytest

from hedgerow.networks.edges import EdgeColumns, read_edges
from hedgerow.networks.errors import DataError
from hedgerow.networks.matrix import read_matrix
from hedgerow.networks.network import Network
from measured import data


def text(path, content):
    path.write_text(content)
    return path


def test_a_list_of_edges_with_both_quantities(edges_csv):
    network = read_edges(edges_csv)
    assert (network.latency_label, network.bandwidth_label) == ("measured", "measured")
    with edges_csv.open() as file:
        rows = {(row["src"], row["dst"]): row for row in csv.DictReader(file)}
    assert set(network.nodes) == {name for pair in rows for name in pair}
    assert len(network.edges) == len(rows) > 400
    for (u, v), ms, mbps in zip(
        network.edges.tolist(), network.latency_ms, network.bandwidth_mbps, strict=True
    ):
        row = rows[network.nodes[u], network.nodes[v]]
        assert (ms, mbps) == (float(row["rtt_ms"]), float(row["throughput_mbps"]))
    assert -0.9 < network.rank_correlation < -0.7
    assert network.caution is None


@pytest.mark.measured
def test_intercloud45():
    network = read_edges(data("intercloud45/edges.csv"))
    assert (len(network.nodes), len(network.edges)) == (45, 1556)


def test_a_stack_of_matrices_with_gaps(matrices_npz, tmp_path):
    network = read_matrix(matrices_npz, "rtt_centisec", factor=10.0)
    with np.load(matrices_npz) as file:
        stack = file["rtt_centisec"]
    rounds, n, _ = stack.shape
    assert (len(network.nodes), network.latency_series.shape) == (n, (rounds, n * (n - 1)))
    u, v = network.edges.T
    raw = stack[:, u, v]
    np.testing.assert_array_equal(np.isnan(network.latency_series), raw == 0)
    known = raw > 0
    np.testing.assert_array_equal(network.latency_series[known], raw[known] * 10.0)
    assert network.provenance["left_out"][0]["count"] == np.sum(~known) > 0
    network.save(tmp_path / "s.json")
    again = Network.load(tmp_path / "s.json")
    np.testing.assert_array_equal(again.latency_series, network.latency_series)


@pytest.mark.measured
def test_seattle99():
    network = read_matrix(data("seattle99/seattle_rtt_688x99x99.npz"), factor=10.0)
    assert network.latency_series.shape == (688, 9702)
    assert network.provenance["left_out"][0]["count"] == 38145  # 0.57 %
    assert 200 <= np.nanmedian(network.latency_series) <= 240  # 0.22 s


def test_repeats_are_aggregated_and_times_make_rounds(tmp_path):
    path = text(
        tmp_path / "a.csv",
        "src,dst,latency_ms,bandwidth_mbps,t\r\na,b,3,30,20\r\na,b,1,10,10\r\nb,a,7,70,10\r\n"
        "a,b,2,20,20\r\n\r\n",
    )
    network = read_edges(path)
    assert network.latency_ms.tolist() == [2.0, 7.0]
    np.testing.assert_array_equal(network.latency_series, [[1.0, 7.0], [2.5, np.nan]])
    np.testing.assert_array_equal(network.bandwidth_series, [[10.0, 70.0], [25.0, np.nan]])
    assert read_edges(path, aggregate="min").bandwidth_mbps.tolist() == [10.0, 70.0]
    assert read_edges(path, aggregate="last").latency_ms.tolist() == [3.0, 7.0]


def test_columns_have_other_names(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress("\ufeffvon,nach,ms,extra\nx,y,1.5,?\n".encode()))
    network = read_edges(path, EdgeColumns("von", "nach", "ms"), latency_label="synthetic:made up")
    assert (network.nodes, network.latency_ms.tolist()) == (("x", "y"), [1.5])
    assert (network.bandwidth_mbps, network.latency_label) == (None, "synthetic:made up")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "line 1: there is no column for the first node, the second node or the latency in ms"),
        ("src,dst,us\n", "line 1: there is no column for the latency in ms; the columns are: src"),
        ("src,dst,rtt_ms\n", "rows 1 to 0: no row can be used"),
        ("src,dst,rtt_ms\na,b,nan\n", "line 2: rtt_ms is nan"),
        ("src,dst,rtt_ms\na,c,1\na,b,-1\n", "line 3: rtt_ms is -1, it cannot be negative"),
        ("src,dst,rtt_ms\na,b,fast\n", "line 2: rtt_ms must be a number, got 'fast'"),
        ("src,dst,rtt_ms\na,b\n", "line 2: the row has 2 fields, the header 3"),
        ("src,dst,rtt_ms\n,b,1\n", "line 2: a node has no name"),
        ('src,dst,rtt_ms\na,"b\n', "line 2: this is not CSV"),
        ("src,dst,rtt_ms\na,a,1\na,b,\n", "no row can be used"),
        ("src,dst,rtt_ms," + "x" * 200_000, "this is not CSV"),
        ("src,dst,rtt_ms," + "x," * 900_000, "more than 1048576 characters"),
    ],
)
def test_wrong_tables_are_refused_with_the_line(content, words, tmp_path):
    with pytest.raises(DataError, match=words) as caught:
        read_edges(text(tmp_path / "a.csv", content))
    assert "a.csv" in str(caught.value)


def test_broken_rows_can_be_counted(tmp_path):
    path = text(tmp_path / "a.csv", "src,dst,rtt_ms\na,b,-1\na,b,4\na,a,1\na,b,\nx,y,inf\n")
    network = read_edges(path, keep_going=True)
    assert network.latency_ms.tolist() == [4.0]
    assert {row["reason"]: row["first"] for row in network.provenance["left_out"]} == {
        "a time is negative": "a.csv, line 2",
        "an edge from a node to itself": "a.csv, line 4",
        "no value": "a.csv, line 5",
        "a value is NaN or infinite": "a.csv, line 6",
    }


def test_matrices(tmp_path):
    stack = np.array([[[0, 1, 0], [2, 0, 3], [4, 0, 0]], [[9, 5, 0], [0, 9, 7], [6, 0, 9]]])
    path = tmp_path / "a.npz"
    np.savez(path, stack=stack)
    network = read_matrix(path, factor=0.5)
    assert network.edges.tolist() == [[0, 1], [1, 0], [1, 2], [2, 0]]
    assert network.latency_ms.tolist() == [1.5, 1.0, 2.5, 2.5]
    assert read_matrix(path, aggregate="last").latency_ms.tolist() == [5.0, 2.0, 7.0, 6.0]
    assert read_matrix(path, aggregate="min").latency_ms.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert len(read_matrix(path, zero="value").edges) == 6
    np.savez(path, stack=np.asfortranarray(stack, dtype=float))
    np.testing.assert_array_equal(
        read_matrix(path, factor=0.5).latency_series, network.latency_series
    )
    np.savez(path, one=stack[0], two=stack[1])
    assert len(read_matrix(path, "two").latency_series) == 1


def test_wrong_matrices_are_refused(tmp_path):
    path = tmp_path / "a.npz"

    def refused(words, **arrays):
        np.savez(path, **arrays)
        with pytest.raises(DataError, match=words):
            read_matrix(path)

    good = np.ones((2, 3, 3))
    refused("choose one with key=...: a, b", a=good, b=good)
    refused(r"array 'a': must have shape \(rounds, nodes, nodes\), got \(1, 2, 3\)", a=good[0, :2])
    refused("no pair of nodes has a reading", a=0 * good)
    refused("not a readable .npz of numbers .*not numbers", a=good.astype(str))
    refused("not a readable .npz of numbers .*not numbers", a=np.array([None]))
    refused(r"array 'a', entry \[0, 0, 1\]: the latency is -1 ms; .*keep_going=True", a=-good)
    refused(r"entry \[0, 0, 1\]: the latency is inf", a=good * np.inf)
    with pytest.raises(ValueError, match="zero must be one of"):
        read_matrix(path, zero="nan")
    with pytest.raises(ValueError, match="factor must be above 0"):
        read_matrix(path, factor=0)


def test_an_array_cannot_declare_more_than_it_holds(tmp_path):
    """No memory is taken for a size that the file does not have."""
    path, small = tmp_path / "a.npz", tmp_path / "b.npz"
    np.savez(path, a=np.ones((2, 3, 3)))
    huge = b"(2999999, 99, 99), }"
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(small, "w") as out:
        content = whole.read("a.npy")
        out.writestr("a.npy", content.replace(b"(2, 3, 3), }".ljust(len(huge)), huge))
    with pytest.raises(DataError, match="declares more than it holds"):
        read_matrix(small)
