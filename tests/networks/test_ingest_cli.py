"""The commands: what they print, where it goes, and that nothing is left half-written."""

from __future__ import annotations

import csv
import gzip
import json
import os
from dataclasses import replace

import numpy as np
import pytest
from measurements import http, ping
from typer.testing import CliRunner

from hedgerow.cli import ingest
from hedgerow.cli.app import app
from hedgerow.networks.network import Network
from measured import data


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert "…" not in result.output, "nothing is cut off at 80 columns"
    return result


def write(path, *results):
    path.write_text("\n".join(json.dumps(result) for result in results))
    return path


def test_from_raw_results_to_the_papers_graph(star_results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("ingest", "atlas", star_results, "--aggregate", "min", "-o", "star.json")
    star = Network.load(tmp_path / "star.json")
    kept, readings = star.provenance["kept"], star.provenance["readings"]
    assert f"Kept {kept} of {readings} readings" in result.stderr
    size = f"{len(star.nodes)} nodes, {len(star.edges)} directed edges, hub {star.nodes[0]}"
    assert size in result.stdout
    law = "synthetic:lognormal(50,0.8)"
    build = ("network", "build", "star.json", "--nodes", 191, "--edges", 1200, "--seed", 0)
    for name in ("a.json", "b.json"):
        result = run(*build, "--bandwidth", law, "-o", name)
    for words in ("choice", "direction", "never measured", law, "left to the problem", "PCG64"):
        assert words in result.stdout
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    result = run("network", "show", "a.json")
    assert "synthetic:hub_min(lognormal(50,0.8))" in result.stdout
    assert "Figure: out/network.png" in result.stdout
    assert (tmp_path / "out/network.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.measured
def test_ripe_hub191(tmp_path):
    out = tmp_path / "star.json"
    result = run("ingest", "atlas", data("ripe_hub191"), "--aggregate", "min", "-o", out)
    assert "Kept 359 of 359 readings" in result.stderr
    assert "191 nodes, 190 directed edges, hub 170.55.163.1" in result.stdout


def test_a_list_of_edges(edges_csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("ingest", "edges", edges_csv, "-o", "a.json")
    with edges_csv.open() as file:
        pairs = [(row["src"], row["dst"]) for row in csv.DictReader(file)]
    nodes = {name for pair in pairs for name in pair}
    assert f"{len(nodes)} nodes, {len(pairs)} directed edges" in result.stdout
    run("network", "show", "a.json", "--out", "there")
    assert (tmp_path / "there/network.png").exists()


def test_a_stack_of_matrices(matrices_npz, tmp_path):
    result = run("ingest", "matrix", matrices_npz, "--factor", 10, "-o", tmp_path / "b.json")
    with np.load(matrices_npz) as file:
        stack = file["rtt_centisec"]
    failed = stack[:, ~np.eye(stack.shape[1], dtype=bool)] == 0
    assert f"{len(stack)} rounds, {failed.mean():.2%} without a reading" in result.stdout
    assert f"{failed.sum()}   no value" in result.stderr


def test_the_drop_table_goes_to_stderr(tmp_path):
    path = write(tmp_path / "a", ping(1), ping(2, result=[{"x": "*"}]), ping(1))
    result = run("ingest", "atlas", path, "-o", tmp_path / "n.json")
    assert "no reply" in result.stderr
    assert "the same reading again" in result.stderr
    assert "no reply" not in result.stdout
    left = Network.load(tmp_path / "n.json").provenance["left_out"]
    assert {row["reason"] for row in left} == {"no reply", "the same reading again"}


def test_a_proxy_that_is_the_latency_is_called_so(tmp_path):
    path = write(tmp_path / "a", *(http(i, rt=10.0 + i) for i in range(9)))
    out = tmp_path / "n.json"
    result = run("ingest", "atlas", path, "--bandwidth", "http_total", "-o", out)
    assert "proxy:http_total" in result.stdout
    assert "Caution: bandwidth (proxy:http_total) has rank correlation -1.00" in result.stdout
    assert "Caution" in run("network", "show", out, "--out", tmp_path).stdout


GOOD = json.dumps(ping(1)) + "\n"
BAD = {
    "malformed": (GOOD + '{"a": }\n' + GOOD * 9, "line 2, column 7"),
    "service error": (
        '{"error": {"status": 404, "title": "Not Found"}}',
        "404 Not Found",
    ),
    "nan": (GOOD + json.dumps(ping(2, rtt=float("nan"))), "result 2: rtt is nan"),
    "negative": (GOOD + json.dumps(ping(2, rtt=-1)), "result 2: rtt is -1 ms"),
    "huge": (GOOD + json.dumps(ping(10**40)), "result 2: prb_id must be"),
    "families": (GOOD + json.dumps(ping(2, target="2001:db8::1")), "results 1 to 2: readings"),
    "empty": ("", "bad.json: the file holds no results"),
    "only failures": (json.dumps(ping(1, result=[])), "results 1 to 1: no reading can be used"),
    "not text": (b"\xff" * 50, "not UTF-8"),
    "cut archive": (gzip.compress(GOOD.encode() * 99)[:-30], "the compressed file is cut off"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_and_exit_code_2(name, tmp_path):
    content, words = BAD[name]
    path = tmp_path / "bad.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run("ingest", "atlas", path, "-o", tmp_path / "out.json", code=2)
    (sentence,) = [line for line in result.stderr.splitlines() if line.startswith("hedgerow: ")]
    assert words in sentence
    assert "bad.json" in sentence
    assert result.stdout == ""
    assert os.listdir(tmp_path) == ["bad.json"], "nothing half-written"


def test_an_empty_window_and_wrong_options(tmp_path):
    path = write(tmp_path / "a", ping(1))
    ingest = ("ingest", "atlas", path, "-o", tmp_path / "n.json")
    assert "run from 2020-09-13" in run(*ingest, "--stop", "2000-01-01T00:00Z", code=2).stderr
    assert "with its zone" in run(*ingest, "--start", "2020-09-13T00:00", code=2).stderr
    assert "type must be one of" in run(*ingest, "--type", "dns", code=2).stderr
    assert "cannot be read" in run("network", "show", tmp_path / "none.json", code=2).stderr
    assert "not a network file" in run("network", "show", path, code=2).stderr
    run(*ingest)
    build = ("network", "build", tmp_path / "n.json", "-o", tmp_path / "g.json")
    assert "the star has 1 spokes" in run(*build, code=2).stderr
    assert not (tmp_path / "g.json").exists()
    blocked = run("ingest", "atlas", path, "-o", tmp_path / "a/n.json", code=2)
    assert "cannot be written" in blocked.stderr


def test_inputs_are_never_written_over(tmp_path):
    stack = tmp_path / "stack.npz"
    np.savez(stack, a=np.ones((2, 3, 3)))
    before = stack.read_bytes()
    result = run("ingest", "matrix", stack, "-o", tmp_path / "stack.json", code=2)
    assert "would write over" in result.stderr
    assert stack.read_bytes() == before
    path = write(tmp_path / "a.json", ping(1))
    assert "write over" in run("ingest", "atlas", path, "-o", path, code=2).stderr
    run("ingest", "atlas", path, "-o", tmp_path / "star.json")
    star = tmp_path / "star.json"
    assert "write over" in run("network", "build", star, "-o", star, code=2).stderr


def test_a_reader_that_does_not_say_what_it_read_is_not_saved(edges_csv, tmp_path, monkeypatch):
    read = ingest.read_edges

    def silent(*arguments, **named):
        network = read(*arguments, **named)
        return replace(network, provenance={"made by": "somebody", "files": []})

    monkeypatch.setattr(ingest, "read_edges", silent)
    out = tmp_path / "edges.json"
    result = run("ingest", "edges", edges_csv, "-o", out, code=2)
    assert "this one lacks readings, kept, left_out" in " ".join(result.stderr.split())
    assert not out.exists()
