"""Files that want too much: memory, time, or to be misread."""

from __future__ import annotations

import errno
import zipfile

import numpy as np
import pytest
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.networks.atlas.results import http_attempts, number
from hedgerow.networks.edges import read_edges
from hedgerow.networks.errors import DataError, Rejected
from hedgerow.networks.matrix import read_matrix
from hedgerow.networks.network import Network
from hedgerow.networks.quantities import draw_synthetic
from hedgerow.networks.source_files import parse_number
from hedgerow.problems.portfolios import price_relatives

UNUSUAL = ("1_000", "1_0.5", "1e1_0", "١٢", "１２", "0x10", "1,5", "")


def bomb(path, shape, others=()):
    """Write an archive whose array of zeros takes a thousandth of its size; nothing so large is
    made on the way."""
    octets = 8 * int(np.prod(shape))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a", *others):
            with archive.open(f"{name}.npy", "w") as member:
                header = {"descr": "<f8", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(member, header)
                for _ in range(octets // 2**20 + 1):
                    member.write(bytes(2**20))
    return path


def test_a_bomb_is_refused_by_what_it_declares(tmp_path, monkeypatch):
    path = bomb(tmp_path / "bomb.npz", (1, 300, 300))
    read = []
    monkeypatch.setattr(np, "frombuffer", lambda *_: read.append(1))
    with pytest.raises(DataError, match=r"array 'a' declares 90000 numbers, 1 MiB as float64; at "
                                        r"most 80000 are read unless most_numbers"):  # fmt: skip
        read_matrix(path, most_numbers=80_000)
    assert not read


def test_the_default_limit_is_stated_and_can_be_raised(tmp_path):
    path = tmp_path / "large.npz"
    with zipfile.ZipFile(path, "w") as archive, archive.open("a.npy", "w") as member:
        header = {"descr": "<f8", "fortran_order": False, "shape": (2**25 + 1,)}
        np.lib.format.write_array_header_1_0(member, header)
        member.write(bytes(64))
    # it holds less than it declares, which is said first; an honest one is refused for its size
    with pytest.raises(DataError, match="declares more than it holds"):
        read_matrix(path)
    result = CliRunner().invoke(app, ["ingest", "matrix", "--help"])
    assert "33554432" in result.stdout, "2**25"
    stack = tmp_path / "stack.npz"
    np.savez(stack, a=np.ones((1, 3, 3)))
    command = ["ingest", "matrix", str(stack), "-o", str(tmp_path / "n.json"), "--most-numbers"]
    refused = CliRunner().invoke(app, [*command, "8"])
    assert refused.exit_code == 2
    assert "declares 9 numbers" in refused.stderr
    assert CliRunner().invoke(app, [*command, "9"]).exit_code == 0


def test_arrays_that_nobody_asked_for_are_not_read(tmp_path):
    path = bomb(tmp_path / "two.npz", (4, 4), others=("b",))
    content = bytearray(path.read_bytes())
    content[content.index(b"b.npy") + 40] ^= 0xFF  # the other one is damaged
    path.write_bytes(content)
    with pytest.raises(DataError, match="no pair of nodes has a reading"):
        read_matrix(path, "a")
    with pytest.raises(DataError, match=r"there is no array None, choose one with key=...: a, b"):
        read_matrix(path)


def test_a_series_has_the_same_limit(tmp_path):
    network = Network(
        ("a", "b"), [(0, 1)], [1.0], "measured", latency_series=np.ones((50, 1))
    )  # fmt: skip
    path = network.save(tmp_path / "n.json")
    with pytest.raises(DataError, match=r"n.npz: array 'latency_series' declares 50 numbers"):
        Network.load(path, most_numbers=49)
    assert Network.load(path, most_numbers=50).latency_series.size == 50
    rows = "\n".join(f"{t},a,b,1" for t in range(50))
    (tmp_path / "e.csv").write_text("t,src,dst,rtt_ms\n" + rows)
    with pytest.raises(DataError, match="a series of 50 numbers; at most 49 are kept unless"):
        read_edges(tmp_path / "e.csv", most_numbers=49)
    assert read_edges(tmp_path / "e.csv", most_numbers=50).latency_series.size == 50


class Counted(str):
    """A name that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)


def test_names_are_compared_once(monkeypatch):
    monkeypatch.setattr(Counted, "compared", 0)
    names = [Counted(f"n{i}") for i in range(2000)]
    with pytest.raises(ValueError, match="'n1999' stands there twice"):
        Network((*names, Counted("n1999")), [(0, 1)], [1.0], "measured")
    assert Counted.compared < 100, "a pair for each two nodes would be two millions"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("latency_ms", np.ma.array([1.0, 2.0], mask=[False, True])),
        ("latency_ms", [1.0, np.ma.masked]),
        ("bandwidth_mbps", np.ma.array([1.0, 2.0], mask=[True, True])),
        ("latency_series", np.ma.array([[1.0, 2.0]], mask=[[True, False]])),
        ("edges", np.ma.array([[0, 1], [1, 0]], mask=[[False, False], [True, True]])),
    ],
)
def test_masked_values_are_not_read_through_their_mask(key, value):
    given = {"edges": [(0, 1), (1, 0)], "latency_ms": [1.0, 2.0], "bandwidth_mbps": [1.0, 2.0]}
    given |= {"latency_label": "measured", "bandwidth_label": "measured", key: value}
    with pytest.raises(TypeError, match=rf"{key} must not be masked, got . masked entries; fill"):
        Network(("a", "b"), **given)


def test_a_mask_that_hides_nothing_does_no_harm():
    network = Network(("a", "b"), [(0, 1)], np.ma.array([1.0], mask=[False]), "measured")
    assert network.latency_ms.tolist() == [1.0]


@pytest.mark.parametrize("text", UNUSUAL)
def test_unusual_numbers_are_refused(text, tmp_path):
    with pytest.raises(ValueError, match="could not convert string to float"):
        parse_number(text)
    with pytest.raises(Rejected, match=r"rt must be a number"):
        number({"rt": text}, "rt")
    if not text:
        return
    (tmp_path / "e.csv").write_text(f'src,dst,rtt_ms\na,b,"{text}"\n')
    with pytest.raises(DataError, match=r"line 2: rtt_ms must be a number"):
        read_edges(tmp_path / "e.csv")
    (tmp_path / "p.csv").write_text(f'a,b\n1.0,"{text}"\n')
    with pytest.raises(ValueError, match=r"p.csv, line 2: could not convert .*give numbers only"):
        price_relatives(tmp_path / "p.csv")
    with pytest.raises(ValueError, match="a synthetic law is written"):
        draw_synthetic(f"synthetic:lognormal({text},1)", 1, 0)
    with pytest.raises(Rejected, match="must be a number"):
        list(http_attempts({"result": f"GET4 193.0.6.139 {text} 200 263 1406"}))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"\x1f\x8b\x08\x00cut", "cut off|damaged"),
        (b'a,b\n1.0,"' + b"1" * 200_000, "p.csv, line .*this is not CSV"),
        (b"a,b\n" + b"1" * 2_000_000, "p.csv: a line has more than"),
    ],
)
def test_a_damaged_file_of_prices_is_named(content, words, tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words) as caught:
        price_relatives(path)
    assert str(caught.value).startswith(str(path))


def test_a_network_is_saved_whole_or_not_at_all(tmp_path, monkeypatch):
    """The series and the network go together: no room for the second leaves both as they were."""
    old = Network(("a", "b"), [(0, 1)], [1.0], "measured", latency_series=np.ones((2, 1)))
    new = Network(("a", "b"), [(0, 1)], [2.0], "measured", latency_series=np.ones((3, 1)))
    path = old.save(tmp_path / "n.json")
    written = []

    def full(handle):
        written.append(handle)
        if len(written) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("hedgerow.files.os.fsync", full)
    with pytest.raises(DataError, match=r"n.json: cannot be written: No space left .*is kept"):
        new.save(path)
    monkeypatch.undo()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["n.json", "n.npz"]
    assert Network.load(path).latency_ms.tolist() == [1.0]
