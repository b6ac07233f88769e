"""`hedgerow fetch atlas` against a server of our own that answers as RIPE Atlas does.

The service's reference: `GET /api/v2/measurements/{msm}/results/` with start, stop (Unix seconds)
and format=txt, one result a line; 429 where there were too many requests; lists come in pages with
`count`, `next`, `previous` and `results`.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from measurements import ping
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.networks import fetch_atlas, read_atlas
from hedgerow.networks.atlas import fetching

BEGIN = 1_600_000_000
START, STOP = "2020-09-13T12:26:40Z", "2020-09-13T16:26:40Z"  # BEGIN, and four hours later
STORED = [ping(probe, BEGIN + 300 * k, 10.0 + probe) for k in range(-2, 51) for probe in (1, 2)]
INSIDE = [r for r in STORED if BEGIN <= r["timestamp"] < BEGIN + 4 * 3600]


class Service:
    """Answers in the order of a plan: a status, "drop" or "cut" half-way, "pages", or as it should.

    Args:
        inclusive: whether results at the limits of a span belong to it.

    """

    def __init__(self, plan=(), inclusive=True):
        self.plan, self.inclusive, self.asked = list(plan), inclusive, []

    def answer(self, handler):
        url = urlsplit(handler.path)
        query = {key: value[0] for key, value in parse_qs(url.query).items()}
        self.asked.append(query)
        what = self.plan.pop(0) if self.plan else "ok"
        if url.path != "/api/v2/measurements/7/results/":
            what = 404
        if isinstance(what, tuple):
            self.refuse(handler, *what)
            return
        if isinstance(what, int):
            self.refuse(handler, what)
            return
        low, high = int(query["start"]) - self.inclusive, int(query["stop"]) + self.inclusive
        found = [r for r in STORED if low < r["timestamp"] < high]
        if what == "pages" or "page" in query:
            found, url = self.page(found, handler, url, int(query.get("page", 1)))
        lines = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in found).encode()
        half = lines[: len(lines) // 2 + 5]
        handler.send_response(200)
        handler.send_header("Content-Type", "text/plain")
        handler.send_header("Connection", "close")
        if what != "cut":  # a body without a length ends with the connection, however it ends
            handler.send_header("Content-Length", str(len(lines)))
        handler.end_headers()
        handler.wfile.write(half if what in ("drop", "cut") else lines)
        handler.close_connection = True

    def refuse(self, handler, status, after=None):
        handler.send_response(status)
        if after is not None:
            handler.send_header("Retry-After", str(after))
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    def page(self, found, handler, url, number):
        """One page of 20; the last result of a page is the first of the next, as lists shift."""
        at = 20 * (number - 1)
        plain = url.query.partition("&page=")[0]
        host = handler.headers["Host"]
        more = (
            f"http://{host}{url.path}?{plain}&page={number + 1}" if at + 20 < len(found) else None
        )
        body = {"count": len(found), "next": more, "previous": None}
        return [body | {"results": found[max(0, at - 1) : at + 20]}], url


@contextmanager
def serving(service):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            service.answer(self)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/api/v2"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """No test waits; what would have been waited is listed."""
    found = []
    monkeypatch.setattr(fetching.time, "sleep", found.append)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return found


def fetch(address, path, **other):
    return fetch_atlas(7, START, STOP, path, service=address, **({"window": "1h"} | other))


def stored(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def in_order(results):
    return sorted(results, key=lambda r: (r["timestamp"], r["prb_id"]))


@pytest.mark.parametrize("inclusive", [True, False])
def test_every_result_of_the_span_comes_once(tmp_path, waits, inclusive):
    service, told = Service(inclusive=inclusive), []
    with serving(service) as address:
        found = fetch(
            address, tmp_path / "a.ndjson", window="90min", progress=lambda *t: told.append(t)
        )
    assert stored(found.path) == INSIDE
    assert (found.results, found.kept) == (len(INSIDE), 0)
    assert [q["format"] for q in service.asked] == ["txt"] * 3
    assert told == [(5400, 14400, 36), (10800, 14400, 72), (14400, 14400, 96)]
    assert waits == [fetching.PAUSE] * 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.ndjson", "a.ndjson.fetch"]


def test_ingest_reads_what_was_fetched(tmp_path):
    with serving(Service()) as address:
        fetch(address, tmp_path / "a.ndjson")
    star = read_atlas(tmp_path)  # the note beside it is no result
    assert star.provenance["kept"] == len(INSIDE)
    assert sorted(star.latency_ms) == [11.0, 12.0]


def test_it_asks_again_and_waits_longer(tmp_path, waits):
    service = Service([500, 503, (429, 7), "drop", "cut"])
    with serving(service) as address:
        found = fetch(address, tmp_path / "a.ndjson", window="1d")
    assert stored(found.path) == INSIDE
    assert waits == [1.0, 2.0, 7.0, 8.0, 16.0]
    assert len({json.dumps(q) for q in service.asked}) == 1


def test_pages_are_followed_and_overlap_does_not_count(tmp_path):
    service = Service(["pages"])
    with serving(service) as address:
        found = fetch(address, tmp_path / "a.ndjson", window="1d")
    assert stored(found.path) == INSIDE
    assert [q.get("page") for q in service.asked] == [None, "2", "3", "4", "5"]


def test_what_was_cut_off_goes_on(tmp_path):
    path = tmp_path / "a.ndjson"
    service = Service(["ok", "ok", *["drop"] * fetching.TRIES])
    with serving(service) as address:
        words = "6 times in a row; the results before 2020-09-13T14:26:40Z are kept, and the same"
        with pytest.raises(ConnectionError, match=words):
            fetch(address, path)
        assert not path.exists()
        with (tmp_path / "a.ndjson.part").open("ab") as part:
            part.write(b'{"half of a li')  # what a killed process leaves
        service.asked.clear()
        found = fetch(address, path)
        assert [int(q["start"]) for q in service.asked] == [BEGIN + 7199, BEGIN + 10799]
        assert stored(path) == INSIDE
        assert (found.results, found.kept) == (96, 48)
        service.asked.clear()
        assert fetch(address, path).kept == 96
    assert service.asked == []


def test_killed_before_the_last_name(tmp_path):
    path = tmp_path / "a.ndjson"
    with serving(Service()) as address:
        fetch(address, path)
        path.rename(tmp_path / "a.ndjson.part")
        assert fetch(address, path).results == 96
        assert stored(path) == INSIDE
        path.unlink()
        assert fetch(address, path).kept == 0
    assert stored(path) == INSIDE


def test_one_file_is_one_fetch(tmp_path):
    path = tmp_path / "a.ndjson"
    path.write_text("mine\n")
    with serving(Service()) as address:
        with pytest.raises(ValueError, match=r"a\.ndjson is there already; give another name"):
            fetch(address, path)
        assert path.read_text() == "mine\n"
        path.unlink()
        fetch(address, path)
        with pytest.raises(
            ValueError, match="another fetch, whose stop was 1600014400 and not 16000144"
        ):
            fetch_atlas(7, START, "2020-09-13T16:26:41Z", path, service=address)
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(ValueError, match="is not as it was fetched; remove it"):
            fetch(address, path)
        path.unlink()
        (tmp_path / "a.ndjson.fetch").write_text("{}")
        with pytest.raises(ValueError, match="this is not a note of a fetch; remove it"):
            fetch(address, path)


def test_two_processes_do_not_write_one_file(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    path = tmp_path / "a.ndjson"
    with serving(Service([500] * fetching.TRIES)) as address:
        with pytest.raises(ConnectionError):
            fetch(address, path)
        with (tmp_path / "a.ndjson.part").open("r+b") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            with pytest.raises(ValueError, match="is being fetched by another process"):
                fetch(address, path)


def test_another_server_is_not_followed(tmp_path, monkeypatch):
    elsewhere = {"count": 1, "next": "http://192.0.2.9/more", "previous": None, "results": []}
    monkeypatch.setattr(Service, "page", lambda *_: ([elsewhere], urlsplit("")))
    with serving(Service(["pages"])) as address, pytest.raises(ValueError, match="not followed"):
        fetch(address, tmp_path / "a.ndjson")


BAD = {
    "no such measurement": (["8"], "there is no measurement 8 at http://127.0.0.1"),
    "no zone": (["7", "--start", "2020-09-13T12:26:40"], "start must be a time with its zone"),
    "backwards": (["7", "--stop", START], f"start must lie before stop, got {START} and {START}"),
    "future": (["7", "--stop", "2999-01-01T00:00:00Z"], "stop must not lie in the future, where"),
    "window": (["7", "--window", "soon"], "window must be a span of time, a number and one of"),
    "address": (["7", "--service", "atlas"], "service must be an address as https://atlas.ripe"),
}


@pytest.mark.parametrize("what", BAD)
def test_mistakes_are_one_sentence(tmp_path, monkeypatch, what):
    monkeypatch.chdir(tmp_path)
    given, words = BAD[what]
    with serving(Service()) as address:
        options = {"--start": START, "--stop": STOP, "--service": address}
        options |= dict(zip(given[1::2], given[2::2], strict=True))
        line = [given[0], *(word for pair in options.items() for word in pair)]
        result = CliRunner().invoke(app, ["fetch", "atlas", *line])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"hedgerow: {words}")
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.glob("*.ndjson"))


@pytest.mark.parametrize(("status", "words"), [(403, "is not public"), (418, "answered 418")])
def test_other_answers_are_told(tmp_path, waits, status, words):
    with serving(Service([status])) as address, pytest.raises(ValueError, match=words):
        fetch(address, tmp_path / "a.ndjson")
    assert waits == []


def test_the_command_says_what_it_has(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with serving(Service([500])) as address:
        line = ["fetch", "atlas", "7", "--start", START, "--stop", STOP, "--service", address]
        first = CliRunner().invoke(app, line)
        again = CliRunner().invoke(app, line)
    assert first.stdout == "96 results.\nResults: atlas-7.ndjson\n"
    assert first.stderr.count("trying again in 1 s\n") == 1  # no bar: this is no terminal
    assert again.stdout == "96 results, 96 of them fetched before.\nResults: atlas-7.ndjson\n"
