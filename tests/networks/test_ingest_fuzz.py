"""Mutated inputs: each is read, or refused in a sentence; no other error, no hang, no memory.

HEDGEROW_FUZZ=10000 raises the number of inputs; every number will do.
"""

from __future__ import annotations

import bz2
import copy
import gzip
import io
import json
import os
import resource
import time

import numpy as np
import pytest
from firmwares import KINDS, made
from measurements import http, ping
from scipy.stats import binom

from hedgerow.networks.atlas.collector import AtlasChoices
from hedgerow.networks.atlas.star import read_atlas
from hedgerow.networks.edges import read_edges
from hedgerow.networks.errors import DataError
from hedgerow.networks.matrix import read_matrix
from hedgerow.networks.network import Network
from measured import data, drawn_or

COUNT = int(os.environ.get("HEDGEROW_FUZZ", "400"))
TOKENS = [
    b"NaN", b"-1", b"Infinity", b"1e999", b"9" * 40, b"9" * 5000, b"null", b"true", b"[" * 3000,
    b'{"a":' * 50, b"}", b"]", b",", b'"', b"\\", b"\\ud800", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf",
    b'{"error": {"status": 500}}', b'"type": 5,', b'"result": "GET4 x y 1 2 3",', b"\n", b"{}",
    b"[]", b'"results": {', b"-0.0", b"1e-400", b"[[1]]",
]  # fmt: skip


ODD = [
    None, True, -1, -1.0, 0, 1.5, 10**30, float("nan"), float("inf"), 1e300, "", "x", "1", "nan",
    "193.0.6.139", "::1", "GET4 193.0.6.139 0.04 200 263 1406", [], [[]], [{}], [1], {}, {"x": "*"},
    [{"rtt": "5"}], [{"error": "e"}], [{"hop": 1, "result": [{"x": "*"}]}], "a" * 5000,
]  # fmt: skip


@pytest.fixture(params=drawn_or("atlas_fixtures"))
def samples(request):
    """Return results of every type and of many firmwares."""
    found = [ping(i, rtt=float(i)) for i in range(4)] + [http(5), http(6, ttc=3.0, ttfb=9.0)]
    for kind in KINDS:
        if request.param == "drawn":
            found += [each.result for each in made()[kind][::2]]
        else:
            lines = data(f"atlas_fixtures/{kind}.ndjson").read_text().splitlines()
            found += [json.loads(line) for line in lines[::6]]
    for result in found:
        if "cert" in result:
            result["cert"] = [result["cert"][0][:200]]
    return found


def seeds(found):
    """The formats and their forms of delivery."""
    lines = "\n".join(map(json.dumps, found)).encode()
    latest = json.dumps({str(r["prb_id"]): [r] for r in found}).encode()
    yield from (("atlas", form) for form in (lines, json.dumps(found).encode(), latest))
    yield "atlas", json.dumps({"count": 3, "results": found}).encode()
    yield "atlas", gzip.compress(lines)
    yield "atlas", bz2.compress(lines)
    yield "edges", b"src,dst,rtt_ms,throughput_mbps,t\n" + b"a,b,1.5,20,1\nb,c,2,30,2\n" * 9
    yield "edges", b"src;dst;rtt_ms;t;price\n" + b"a;b;1.5;2026-03-01T12:00Z;3\nb;c;2;;\n" * 9
    rows = [{"src": "a", "dst": i, "rtt_ms": 2.5, "t": 1772366400 + i, "x": i} for i in range(9)]
    yield "edges", json.dumps(rows).encode()
    packed = io.BytesIO()
    np.savez_compressed(packed, a=np.arange(50.0).reshape(2, 5, 5))
    yield "matrix", packed.getvalue()
    stored = io.BytesIO()
    np.savez(stored, a=np.arange(50.0).reshape(2, 5, 5))
    yield "matrix", stored.getvalue()


def change(value, rng):
    """Replace, remove or add something, somewhere inside a result."""
    if isinstance(value, (dict, list)) and value and rng.integers(5):
        key = list(value)[rng.integers(len(value))] if isinstance(value, dict) else 0
        if isinstance(value, list):
            key = int(rng.integers(len(value)))
        if rng.integers(8) == 0:
            del value[key]
        else:
            value[key] = change(value[key], rng)
        return value
    return copy.deepcopy(ODD[rng.integers(len(ODD))])  # it may be changed in its turn


def mutate(data, rng):
    for _ in range(rng.integers(1, 3)):
        at, kind = int(rng.integers(0, len(data) + 1)), rng.integers(0, 6)
        length = int(rng.integers(1, 1 + min(64, len(data) + 1)))
        if kind == 0:
            data = data[:at] + bytes(rng.integers(0, 256, length, dtype=np.uint8)) + data[at:]
        elif kind == 1:
            data = data[:at] + data[at + length :]
        elif kind == 2:
            data = data[:at]
        elif kind == 3:
            data = data[:at] + data[at : at + length] * 3 + data[at + length :]
        elif kind == 4:
            data = data[:at] + TOKENS[rng.integers(len(TOKENS))] + data[at + length :]
        else:
            data = bytearray(data)
            for i in rng.integers(0, max(1, len(data)), 3):
                data[i : i + 1] = bytes([int(rng.integers(256))])
            data = bytes(data)
    return data


def read(kind, path, rng):
    keep_going = bool(rng.integers(4))
    if kind == "edges":
        return read_edges(path, keep_going=keep_going)
    if kind == "matrix":
        return read_matrix(path, keep_going=keep_going)
    types = ("http", "ping", "sslcert", "traceroute")
    proxies = ("none", "http_total", "http_body", "http_read", "tls_cert")
    choices = AtlasChoices(
        type=types[rng.integers(4)],
        family=(4, 6, None)[rng.integers(3)],
        hub="none" if rng.integers(8) else "auto",
        bandwidth=proxies[rng.integers(5)] if rng.integers(3) == 0 else "none",
        keep_going=keep_going,
    )
    return read_atlas(path, choices)


def outcome(read, *arguments):
    """Return the network or the refusal; any other error passes."""
    try:
        return read(*arguments)
    except DataError as refusal:
        return refusal


def plausible(count, tries, least, most):
    """Whether `count` of `tries` can be if each succeeds with a probability in [least, most].

    A fair judge of any number of tries: it errs once in a thousand million runs.
    """
    return binom.ppf(1e-9, tries, least) <= count <= binom.isf(1e-9, tries, most)


def test_what_is_plausible_follows_from_the_number_of_tries():
    assert all(plausible(count, tries, 0.2, 0.8) for tries in range(13) for count in range(tries))
    assert not plausible(0, 100, 0.2, 0.8)
    assert not plausible(100, 100, 0.2, 0.8)
    assert plausible(20, 100, 0.2, 0.8)
    assert not plausible(1700, 10_000, 0.2, 0.8)


def check(count, kinds, tmp_path, rng):
    """Read `count` inputs; return how many became networks."""
    path, networks, longest = tmp_path / "input", 0, 0.0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for i in range(count):
        kind, data = kinds(i)
        path.write_bytes(data)
        begin = time.process_time()
        found = outcome(read, kind, path, rng)
        longest = max(longest, time.process_time() - begin)
        if isinstance(found, Network):
            networks += 1
            assert np.isfinite(found.latency_ms).all()
        else:
            assert str(found).startswith((str(path), "input"))
            assert len(str(found)) < 1000
    assert longest < 2.0, "seconds"
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100_000, "kilobytes"
    return networks


def test_mutated_bytes(samples, tmp_path):
    rng, pool = np.random.default_rng(7), list(seeds(samples))

    def kinds(i):
        kind, data = pool[i % len(pool)]
        return kind, mutate(data, rng)

    tries = COUNT // 2
    assert plausible(check(tries, kinds, tmp_path, rng), tries, 0.02, 0.5)


def test_mutated_results(samples, tmp_path):
    rng, found = np.random.default_rng(9), json.dumps(samples)

    def kinds(_):
        results = json.loads(found)
        for i in rng.integers(0, len(results), 20):
            results[i] = change(results[i], rng)
        return "atlas", json.dumps(results).encode()

    tries = COUNT // 4
    assert plausible(check(tries, kinds, tmp_path, rng), tries, 0.2, 0.9)


def test_mutated_network_files(tmp_path):
    rng = np.random.default_rng(8)
    good = Network(
        ("a", "b", "c"), [(0, 1), (1, 2)], [1.0, 2.0], "measured", [3.0, 4.0], "proxy:x",
        latency_series=np.ones((3, 2)), hub=1, choices={"seed": 1},
    )  # fmt: skip
    path = good.save(tmp_path / "a.json")
    data, packed = path.read_bytes(), (tmp_path / "a.npz").read_bytes()
    found = []
    for i in range(COUNT // 4):
        which = i % 3
        changed = [mutate(data, rng), json.dumps(change(json.loads(data), rng)).encode(), data]
        path.write_bytes(changed[which])
        (tmp_path / "a.npz").write_bytes(mutate(packed, rng) if which == 2 else packed)
        found.append(outcome(Network.load, path))
    refused = [str(each) for each in found if isinstance(each, DataError)]
    assert plausible(len(refused), len(found), 0.5, 0.99)
    assert all(str(tmp_path) in sentence for sentence in refused)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_bomb_is_read_in_pieces(pack, tmp_path):
    """Fifty megabytes of one string, in a few kilobytes."""
    path = tmp_path / "bomb"
    path.write_bytes(pack(b'[{"a": "' + b"x" * 50_000_000))
    with pytest.raises(DataError, match="longer than"):
        read_atlas(path)
