"""The forms of delivery give the same results; damage is named with its line and column."""

from __future__ import annotations

import bz2
import gzip
import json
import tracemalloc
from pathlib import Path

import pytest
from measurements import ping

from hedgerow.networks.atlas.collector import AtlasChoices
from hedgerow.networks.atlas.star import read_atlas
from hedgerow.networks.errors import DataError
from hedgerow.networks.json_stream import results

RESULTS = [ping(probe, rtt=probe + 0.5, dst_name='näme "[{,') for probe in range(1, 30)]
FORMS = {
    "lines": "\n".join(json.dumps(r) for r in RESULTS),
    "lines, ends and blanks": "\r\n\r\n".join(json.dumps(r) for r in RESULTS) + "\r\n \r\n",
    "array": json.dumps(RESULTS),
    "array, indented": json.dumps(RESULTS, indent=2, ensure_ascii=False),
    "two arrays": json.dumps(RESULTS[:9]) + json.dumps(RESULTS[9:]),
    "latest": json.dumps({str(r["prb_id"]): [r] for r in RESULTS}),
    "latest, one each": json.dumps({str(r["prb_id"]): r for r in RESULTS}),
    "results": json.dumps({"results": RESULTS}),
    "page": json.dumps({"count": 29, "next": None, "results": RESULTS}),
    "info": json.dumps({"info": RESULTS}),
    "wrapper that hides": json.dumps({"meta": {"a": [1]}, "results": RESULTS}),
    "latest in results": json.dumps({"results": {str(r["prb_id"]): [r] for r in RESULTS}}),
    "byte order mark": "\ufeff" + json.dumps(RESULTS),
}


def pieces(text, size):
    return (text[i : i + size] for i in range(0, len(text), size))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_results(form, tmp_path):
    text = FORMS[form].removeprefix("\ufeff")
    for size in (1, 7, 100, 10**6):
        assert list(results(Path("a"), pieces(text, size))) == RESULTS
    content = FORMS[form].encode()
    stars = []
    packed = {"a.json": content, "b.gz": gzip.compress(content), "c": bz2.compress(content)}
    for name, data in packed.items():
        (tmp_path / name).write_bytes(data)
        stars.append(read_atlas(tmp_path / name))
    for star in stars:
        assert star.nodes == ("192.0.2.1", *(str(probe) for probe in range(1, 30)))
        assert star.latency_ms.tolist() == [probe + 0.5 for probe in range(1, 30)]


def test_folders_take_what_looks_like_results(tmp_path):
    inner = tmp_path / "hour"
    inner.mkdir()
    (inner / "ping-2024-12-14T2000.bz2").write_bytes(bz2.compress(FORMS["lines"].encode()))
    (tmp_path / "more.ndjson").write_text(json.dumps(ping(77)))
    for name in ("LICENSE", "notes.txt", "table.csv.gz"):
        (tmp_path / name).write_text("no results")
    star = read_atlas(tmp_path)
    assert len(star.edges) == 30
    names = [file["name"] for file in star.provenance["files"]]
    assert names == ["ping-2024-12-14T2000.bz2", "more.ndjson"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="the folder has no results"):
        read_atlas(tmp_path / "empty")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1}\n{"a": 2}\n{"a" 3}\n{"a": 4}\n', "line 3, column 6: the JSON is damaged"),
        ('[{"a": 1},\n {"a": 2},,\n{}]' + " " * 20, "line 2, column 11: .*damaged"),
        ('[{"a": 1} {"a": 2}]', "line 1, column 11: expected , or ], got '{'"),
        ('[{"a": 1}, {"a": ', "line 1, column 18: the file ends in the middle"),
        ('[{"a": 1}', "line 1, column 10: the file ends in the middle"),
        ('{"a": "text', "line 1, column 7: the file ends in the middle"),
        ('{"results": [{"a": 1}]', "line 1, column 23: the file ends"),
        ("<html>", "line 1, column 1: results begin with"),
        ('"text"', "line 1, column 1: results begin with"),
        ('{"a":' * 100_000, "too deeply"),  # the interpreter's limit: 1000 to 10 000 levels
        ("[" * 100_000, "too deeply"),
        ('{"results":' * 9 + "[]" + "}" * 9, "wrappers within wrappers"),
        ('[{"a": ' + "9" * 5000 + "}]", "too many digits"),
        ('{"error": {"status": 404, "title": "Not Found"}}', "error message .*: 404 Not Found"),
        ('{"a": 1}\n{"error": {"detail": "Timeout"}}', "line 2.*error message .*: Timeout"),
        ('{"results": [], "error": "late"}', "error message of the service.*late"),
    ],
)
def test_damage_is_named_with_its_place(text, words):
    for size in (3, 10**6):
        with pytest.raises(DataError, match=words) as caught:
            list(results(Path("some.json"), pieces(text, size)))
        assert str(caught.value).startswith("some.json, line ")


def test_one_endless_value_is_refused(monkeypatch):
    monkeypatch.setattr("hedgerow.networks.json_stream.LARGEST_RESULT", 10_000)
    endless = (part for part in ['{"a": "', *["x" * 100] * 10_000])
    with pytest.raises(DataError, match="longer than 10000 characters"):
        list(results(Path("a"), endless))
    assert len(list(endless)) > 9_000, "it stopped early"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_damaged_archives(pack, tmp_path):
    content = pack(FORMS["lines"].encode() * 200)
    path = tmp_path / "a.json.gz"
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"a.json.gz, byte \d+ .*(cut off|damaged)"):
        read_atlas(path)
    path.write_bytes(content[:30] + b"\x00\xff\x00\xff" + content[34:])
    with pytest.raises(DataError, match=r"byte \d+ .*(cut off|damaged)"):
        read_atlas(path)
    path.write_bytes(b'{"a": "\xff\xfe"}')
    with pytest.raises(DataError, match=r"near byte 7 .*not UTF-8"):
        read_atlas(path)


def write_long(path, count, form):
    """Write results that all differ, of one hundred probes, to a gzip file."""
    before, between, after = {"lines": ("", "\n", "\n"), "array": ("[", ",", "]")}[form]
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write(before)
        for i in range(count):
            result = ping(i % 100, timestamp=1_500_000_000 + i, rtt=i % 977 / 7, pad="x" * 300)
            file.write((between if i else "") + json.dumps(result))
        file.write(after)


def peak(path):
    tracemalloc.start()
    try:
        star = read_atlas(path, AtlasChoices(bandwidth="none"))
        return tracemalloc.get_traced_memory()[1], star.provenance["kept"]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", ["lines", "array"])
def test_memory_does_not_grow_with_the_file(form, tmp_path):
    """Forty octets for a kept reading (time, latency, bandwidth, place), for 540 of text.

    32 for the values and at most a quarter of that for room to grow. Both files are longer than
    what is held of the text, so that the peak is that of the readings.
    """
    short, long = tmp_path / "short.gz", tmp_path / "long.gz"
    write_long(short, 9_000, form)
    write_long(long, 27_000, form)
    peak(short)  # caches of the modules
    (low, few), (high, many) = peak(short), peak(long)
    assert (few, many) == (9_000, 27_000)
    assert high - low < 40 * (many - few)
    assert high < 3_000_000
