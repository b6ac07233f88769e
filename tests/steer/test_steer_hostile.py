"""Hostile metrics: each is one clear sentence, weights stay, and nothing is reported."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from hedgerow.steer.sources import make_source
from hedgerow.steer.sources.command import CommandSource
from hedgerow.steer.targets import make_target
from steer_files import GOOD, LATENCIES, Bench, readings, settings_of, weights_in

COMMAND = 'kind = "command"\ncommand = ["readings"]'


def series(**values: object) -> list[dict]:
    found = {name.replace("_", "-"): value for name, value in values.items()}
    return [
        {"metric": {"server": name}, "value": [1.0, value]}
        for name, value in ({k: str(v) for k, v in LATENCIES.items()} | found).items()
    ]


def answer(result: object, kind: str = "vector", status: str = "success") -> bytes:
    data = {"resultType": kind, "result": result}
    return json.dumps({"status": status, "data": data}).encode()


REFUSED = b'{"status": "error", "errorType": "bad_data", "error": "parse error: unexpected <eof>"}'
ANSWERS = {
    "nothing": (b"", "is not JSON (HTTP 200)"),
    "a page": (b"<html>502 Bad Gateway</html>", "is not JSON (HTTP 200): b'<html>502"),
    "cut": (answer(series())[:-9], "is not JSON"),
    "deep": (b"[" * 100_000, "is not JSON"),
    "a number": (b"12", "refused the query for latency: 12"),
    "an error": (REFUSED, "refused the query for latency: 'parse error"),
    "no data": (b'{"status": "success"}', "must give an instant vector, got None"),
    "a scalar": (answer([1.0, "5"], "scalar"), "must give an instant vector, got 'scalar'"),
    "a matrix": (answer(series(), "matrix"), "must give an instant vector, got 'matrix'"),
    "no list": (answer({"a": 1}), "has no list of series"),
    "no value": (answer([{"metric": {}}]), "a series of the answer on latency cannot be read"),
    "a word": (answer(series(eu_1="fast")), "a series of the answer on latency cannot be read"),
    "a bare number": (answer(series(eu_1=50.0)), "cannot be read"),
    "labels as text": (answer([{"metric": "eu-1", "value": [1, "5"]}]), "cannot be read"),
    "infinite": (answer(series(eu_1="+Inf")), "the query for latency is infinite"),
    "negative": (
        answer(series(eu_1="-1")),
        "latency of eu-1 must be a number of 0 to 1e+12, got -1",
    ),
    "immense": (answer(series(eu_1="1e300")), "latency of eu-1 must be a number of 0 to 1e+12"),
    "twice": (answer(series() * 2), "has several series for eu-1; aggregate them by (server)"),
    "all NaN": (answer(series(eu_1="NaN", eu_2="NaN", us_1="NaN")), "with 0 % of the traffic"),
    "only strangers": (answer([{"metric": {"server": "x"}, "value": [1, "5"]}]), "with 0 % of"),
    "no series": (answer([]), "backends with 0 % of the traffic were observed"),
    "one of three": (answer(series(eu_2="NaN", us_1="NaN")), "eu-2, us-1 had no readings"),
}
PRINTED = {
    "no JSON": ("echo hello", "sh must print JSON, got b'hello"),
    "a list": ("echo '[1]'", "readings must be a table by backend, got [1]"),
    "a stranger": ("echo '{\"eu-9\": {}}'", "a backend 'eu-9' (did you mean"),
    "no table": ("echo '{\"eu-1\": 5}'", "the readings of eu-1 must be a table, got 5"),
    "another key": ('echo \'{"eu-1": {"latencie": 5}}\'', "(did you mean 'latency'?)"),
    "a text": ('echo \'{"eu-1": {"latency": "5"}}\'', "must be a number of 0 to 1e+12, got '5'"),
    "true": ('echo \'{"eu-1": {"latency": true}}\'', "must be a number of 0 to 1e+12, got True"),
    "failed": ("echo no >&2; exit 3", "sh ended with 3: no"),
    "endless": ("sleep 60", "sh did not end within 0.2 s"),
    "flood": ("head -c 3000000 /dev/zero", "sh printed more than 1048576 characters"),
}


@pytest.fixture(scope="module")
def server():
    class Answers(BaseHTTPRequestHandler):
        body = b""

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(Answers.body)

        def log_message(self, *_):
            pass

    made = HTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made, Answers
    made.shutdown()
    made.server_close()


@pytest.fixture
def bench(tmp_path):
    made = Bench(tmp_path, None, make_target(settings_of(tmp_path)))
    yield made
    made.store.close()


def held(bench, source, sentence) -> None:
    """Check that readings are refused in a sentence, that weights stay, and nothing is reported."""
    bench.work.source = _Good()
    assert bench.tick(2) == ["waiting", "decided"]
    before, answered = weights_in(bench.settings.base), bench.session.status().answered
    bench.work.source = source
    assert bench.tick() == ["held"]
    assert bench.lines[-1].startswith("weights held: ")
    assert sentence in bench.lines[-1]
    assert "\n" not in bench.lines[-1]
    assert weights_in(bench.settings.base) == before
    assert bench.session.status().answered == answered
    bench.work.source = _Good()
    assert bench.tick() == ["decided"]


class _Good:
    def read(self):
        return readings()


def test_there_are_twenty_or_more():
    assert len(ANSWERS) + len(PRINTED) >= 20


@pytest.mark.parametrize("name", ANSWERS)
def test_a_hostile_answer_holds_the_weights(name, server, bench):
    body, sentence = ANSWERS[name]
    made, answers = server
    answers.body = body
    table = f'kind = "prometheus"\nurl = "http://127.0.0.1:{made.server_port}"\n'
    text = GOOD.replace(COMMAND, table + '[source.queries]\nlatency = "latency"')
    held(bench, make_source(settings_of(bench.settings.base, text)), sentence)


@pytest.mark.parametrize("name", PRINTED)
def test_a_hostile_command_holds_the_weights(name, bench):
    command, sentence = PRINTED[name]
    table = f'kind = "command"\ncommand = ["sh", "-c", {json.dumps(command)}]\ntimeout = '
    text = GOOD.replace(COMMAND, table + ("0.2" if name == "endless" else "10.0"))
    held(bench, CommandSource(settings_of(bench.settings.base, text)), sentence)


def test_a_server_that_is_away_holds_the_weights(bench):
    table = 'kind = "prometheus"\nurl = "http://127.0.0.1:9"\n[source.queries]\nlatency = "x"'
    source = make_source(settings_of(bench.settings.base, GOOD.replace(COMMAND, table)))
    held(bench, source, "Prometheus at http://127.0.0.1:9 cannot be asked: ")
