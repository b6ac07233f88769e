"""The service: what it does, and what it refuses."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import httpx
import numpy as np
import pytest
import typer.testing
from listening import listening

import hedgerow as hr
from hedgerow.cli.app import app as command_line
from hedgerow.cli.live import check_reach
from hedgerow.experiments.problems import KINDS
from hedgerow.live.admission import Limits
from hedgerow.live.service import make_app
from hedgerow.live.specs import Spec, check_spec, policy_of
from hedgerow.live.tokens import find_token, make_token, revoke_token, tokens
from kill_live import broken_invariants, journal

WORDS = {"set": {"kind": "Simplex", "n": 4}, "method": "projection_free_coco"}
SEEN = {"value": 0.5, "gradient": [1.0, 0.0, 0.5, 0.25]}
TOLD = {"cost": SEEN, "constraint": {"value": -0.1, "gradient": [0.0, 1.0, 0.0, 0.0]}}


@pytest.fixture(scope="module")
def shared():
    """A service with one session, for tests that change nothing."""
    with tempfile.TemporaryDirectory() as below, serving(below) as one:
        one.begin()
        yield one


@pytest.fixture
def served(folder):
    """A service of a fresh store, with a token of each role."""
    with serving(folder) as one:
        yield one


@contextmanager
def serving(below):
    place = f"{below}/s.db"
    store = hr.live.Store(place)
    held = {role: make_token(store, role, role) for role in ("observe", "decide", "admin")}
    with listening(make_app(store)) as http:
        yield _Served(http, store, held, place)


class _Served:
    def __init__(self, http, store, held, place):
        self.http, self.store, self.held, self.place = http, store, held, place

    def send(self, method, path, body=None, role="admin", **more):
        headers = {"Authorization": f"Bearer {self.held[role]}"} if role in self.held else {}
        headers.update(more.pop("headers", {}))
        return self.http.request(method, path, json=body, headers=headers, **more)

    def begin(self, name="a", **words):
        return self.send("POST", "/sessions", {"name": name, **WORDS, **words})


def sentence(answer, status):
    assert answer.status_code == status, answer.text
    said = answer.json()["error"]["sentence"]
    assert len(said) > 10
    assert "Traceback" not in said
    return said


def test_a_session_over_http_plays_as_in_python(served):
    assert served.begin().status_code == 201
    assert served.begin().status_code == 201  # again: the same session
    alone = hr.projection_free_coco(hr.sets.Simplex(4))
    for t in range(1, 6):
        made = served.send("POST", "/sessions/a/decisions", {}, "decide").json()
        assert made["round"] == t
        assert made["action"] == alone.ask().tolist()
        path = f"/sessions/a/decisions/{made['id']}/feedback"
        first = served.send("POST", path, TOLD, "decide")
        again = served.send("POST", path, TOLD, "decide")
        assert first.json() == again.json()
        f, g = (hr.feedback.EvalGrad(s["value"], np.array(s["gradient"])) for s in TOLD.values())
        alone.tell(f, g)
    other = {**TOLD, "cost": {**SEEN, "value": 0.6}}
    assert "was already told" in sentence(served.send("POST", path, other, "decide"), 409)
    status = served.send("GET", "/sessions/a", role="observe").json()
    assert (status["decisions"], status["answered"]) == (5, 5)
    shown = served.send("GET", "/sessions/a/history?actions=1", role="observe").json()
    assert shown["cost"] == [0.5] * 5
    assert len(shown["actions"][0]) == 4
    text = served.send("GET", "/metrics", role="observe").text
    assert 'hedgerow_session_answered_total{session="a"} 5.0' in text
    assert "# TYPE hedgerow_session_violated_total counter" in text
    assert 'hedgerow_session_violated_total{session="a"} 0.0' in text
    assert re.search(r'hedgerow_session_weight{session="a"} [0-9]', text)
    late = float(re.search(r'hedgerow_session_lateness_seconds{session="a"} (\S+)', text)[1])
    history = served.store.status("a")
    assert late == history.lateness
    assert 0.0 <= late < 60.0
    assert "hedgerow_requests_total" in text
    assert served.send("GET", "/health", role="").json() == {"status": "ok"}
    assert (
        "/sessions/{name}/decisions" in served.send("GET", "/openapi.json", role="").json()["paths"]
    )
    front = served.send("GET", "/", role="").text
    assert "exactly once" in front
    assert all(f'href="{path}"' in front for path in ("docs", "dashboard", "health"))
    page = served.send("GET", "/docs", role="").text
    assert "://" not in page
    with hr.live.Store(served.place) as store:
        assert store.status("a").served


def test_the_description_of_the_service_is_whole(shared):
    described = shared.send("GET", "/openapi.json", role="").json()
    text = json.dumps(described)
    for name in re.findall(r'"#/components/schemas/([^"]+)"', text):
        assert name in described["components"]["schemas"]
    assert "#/$defs" not in text
    assert set(described["components"]["schemas"]) >= {"Ask", "Begin", "Feedback", "Seen", "Tell"}
    for path, methods in described["paths"].items():
        for route in methods.values():
            assert ("security" in route) == (path != "/health")


def test_who_may_do_what(served):
    served.begin()
    for role, path, method, body, status in (
        ("", "/sessions", "GET", None, 401),
        ("", "/metrics", "GET", None, 401),
        ("", "/sessions/a/decisions", "POST", {}, 401),
        ("observe", "/sessions/a/decisions", "POST", {}, 403),
        ("observe", "/sessions", "POST", {"name": "b", **WORDS}, 403),
        ("decide", "/sessions", "POST", {"name": "b", **WORDS}, 403),
        ("decide", "/sessions", "GET", None, 200),
    ):
        assert served.send(method, path, body, role).status_code == status, (role, path)
    assert served.store.status("a").decisions == 0
    assert len(served.store.sessions()) == 1


def test_tokens_are_hashed_revoked_and_never_logged(served, caplog):
    caplog.set_level(logging.DEBUG)
    served.begin()
    assert served.send("POST", "/sessions/a/decisions", {}, "decide").status_code == 200
    (one,) = [token for token in tokens(served.store) if token.role == "decide"]
    revoke_token(served.store, one.id)
    sentence(served.send("POST", "/sessions/a/decisions", {}, "decide"), 401)
    with pytest.raises(LookupError, match="there is no valid token"):
        revoke_token(served.store, one.id)
    held = served.held["admin"]
    tampered = held[:-1] + ("A" if held[-1] != "A" else "B")
    for wrong in (tampered, held + "x", held.upper(), "", "hedgerow_" + "0" * 12, "é", "x" * 5000):
        assert find_token(served.store, wrong) is None
    answer = served.send("GET", f"/sessions?token={held}", role="")
    sentence(answer, 401)
    sentence(
        served.send("GET", "/sessions", headers={"Authorization": f"Basic {held}"}, role=""), 401
    )
    with open(served.place, "rb") as file:
        content = file.read()
    with open(served.place + "-wal", "rb") as file:
        content += file.read()
    for token in served.held.values():
        secret = token.rpartition("_")[2] if token.count("_") == 2 else token[22:]
        assert secret.encode() not in content
        assert token not in "\n".join(
            r.getMessage() for r in caplog.records if "httpx" not in r.name
        )
    assert served.store.status("a").decisions == 1


def nested(depth):
    return b"[" * depth + b"]" * depth


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"cost": {"value": NaN, "gradient": [1, 0, 0, 0]}, "constraint": 0}', 422),
        (b'{"cost": Infinity}', 422),
        (nested(100_000), 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b'{"cost": ' + b"9" * 5000 + b"}", 400),
        (b"[]", 422),
        (b"{}", 422),
        (json.dumps({**TOLD, "more": 1}).encode(), 422),
        (json.dumps({**TOLD, "cost": {"value": 1e999, "gradient": [0.0] * 4}}).encode(), 422),
        (json.dumps({**TOLD, "cost": {"value": 7e77, "gradient": [0.0] * 4}}).encode()
         .replace(b"7e+77", b"1e999"), 422),
        (json.dumps({**TOLD, "cost": {"value": 1, "gradient": [1, 2, 3]}}).encode(), 422),
        (json.dumps({**TOLD, "cost": {"value": 1, "gradient": ["1", 2, 3, 4]}}).encode(), 422),
        (json.dumps({**TOLD, "cost": {"value": 1, "gradient": [True, 2, 3, 4]}}).encode(), 422),
        (json.dumps({**TOLD, "cost": {"value": 1, "gradient": [10**400, 2, 3, 4]}}).encode(), 422),
        (json.dumps({**TOLD, "cost": {"value": None, "gradient": [1, 2, 3, 4]}}).encode(), 422),
        (json.dumps({**TOLD, "constraint": []}).encode(), 422),
        (json.dumps({**TOLD, "cost": {"value": 1, "gradient": [1.5] * 1_000_000}}).encode(), 413),
    ],
    ids=range(18),
)  # fmt: skip
def test_bad_feedback_reaches_no_state(shared, body, status):
    served = shared
    made = served.send("POST", "/sessions/a/decisions", {}).json()
    before = _files(served)
    path = f"/sessions/a/decisions/{made['id']}/feedback"
    headers = {
        "Authorization": f"Bearer {served.held['decide']}",
        "Content-Type": "application/json",
    }
    sentence(served.http.post(path, content=body, headers=headers), status)
    assert _files(served) == before
    assert served.send("POST", path, TOLD).status_code == 200


def _files(served):
    return [(row.seq, row.digest) for row in journal(served.place, "a")]


def test_a_body_without_length_is_cut_off(served):
    served.begin()

    def endless():
        for _ in range(100):
            yield b" " * (1 << 16)

    headers = {
        "Authorization": f"Bearer {served.held['decide']}",
        "Content-Type": "application/json",
    }
    sentence(served.http.post("/sessions/a/decisions", content=endless(), headers=headers), 413)
    sentence(served.http.post("/sessions/a/decisions", content=b"{}",
             headers={"Authorization": headers["Authorization"]}), 415)  # fmt: skip
    assert served.store.status("a").decisions == 0


@pytest.mark.parametrize(
    "name",
    ["'; DROP TABLE journal; --", "<script>alert(1)</script>", "../../etc/passwd", "a\n", "", 7,
     None, "a" * 61, "%2e%2e"],
)  # fmt: skip
def test_names_of_others_are_refused(shared, name):
    served, before = shared, shared.store.sessions()
    said = "a session's name has" if isinstance(name, str) else "`name` should be a valid string"
    assert said in sentence(served.begin(name=name), 422)
    quoted = quote(str(name), safe="")
    for method, rest in (("GET", ""), ("GET", "/history"), ("POST", "/decisions")):
        path = f"/sessions/{quoted}{rest}"
        answer = served.send(method, path, {} if method == "POST" else None)
        assert answer.status_code in (404, 405, 422) or name == "", path
        assert "root:" not in answer.text
    assert served.store.sessions() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"method": "os:system"}, "method must be one of"),
        ({"set": {"kind": "os:system", "n": 3}}, "set.kind must be one of"),
        ({"set": {"kind": "Simplex", "n": 10**9}}, "the dimension may be at most"),
        ({"set": {"kind": "Birkhoff", "n": 10**4}}, "the dimension may be at most"),
        ({"set": {"kind": "Box", "lower": [0] * 30_000, "upper": [1] * 30_000}}, "at most 20000"),
        ({"set": {"kind": "Simplex", "n": 3.5}}, "set.n must be a whole number"),
        ({"set": {"kind": "Simplex", "m": 3}}, "unknown key 'm'"),
        ({"set": {"kind": "UnitFlow", "edges": [[0]], "source": 0, "target": 1}}, "pairs of nodes"),
        ({"set": {"kind": "Box", "lower": "ab", "upper": "cd"}}, "set.lower must be a list of num"),
        ({"set": {"kind": "SpanningTrees", "edges": [[0, {}]]}}, "must name nodes by strings or"),
        ({"set": None, "problem": {"kind": "iid_linear"}}, "takes a set; give `set` instead"),
        ({"set": None}, "either `set` or `problem`"),
        ({"set": {}}, "lacks the key 'kind'"),
        ({"set": []}, "`set` should be an object"),
        ({"problem": {"kind": "random_network"}}, "either `set` or `problem`"),
        ({"labels": ["a", "b"]}, "one label for each of 4"),
        ({"labels": "abcd"}, "`labels` should be a valid array, got 'abcd'"),
        ({"every": 0}, "`every` should be greater than or equal to 1, got 0"),
        ({"every": 2**31}, "`every` should be less than 2147483648"),
        ({"horizon": 10**30}, "`horizon` should be less than or equal to 9223372036854775807"),
        ({"every": 2.0}, "`every` should be a valid integer, got 2.0"),
        ({"method": None}, "`method` should be a valid string, got None"),
        ({"eagerness": -1}, "`eagerness` should be greater than 0, got -1"),
        ({"method": "projection_free_bandit"}, "does not learn from values and gradients"),
        ({"horizons": 3}, "unknown key `horizons`; did you mean `horizon`?"),
    ],
)  # fmt: skip
def test_settings_are_checked(shared, words, said):
    assert said in sentence(shared.begin(name="b", **words), 422)
    assert [status.name for status in shared.store.sessions()] == ["a"]


def test_files_are_not_read_over_http():
    for kind in ("network", "latency_cap", "portfolio_csv"):
        with pytest.raises(ValueError, match=r"reads a file, which is not done|must be one of"):
            check_spec(Spec(method="projection_free_coco", problem={"kind": kind}), 1000)
    problem = {"kind": "random_network", "nodes": 30, "edges": 90}
    spec = Spec(method="projection_free_coco", problem=problem)
    check_spec(spec, 1000)
    assert spec.given() == {"method": "projection_free_coco", "problem": problem}


OVER_HTTP = [
    kind
    for kind in KINDS.values()
    if not any(parameter.is_file or parameter.is_set for parameter in kind.parameters.values())
]


@pytest.mark.parametrize("kind", OVER_HTTP, ids=lambda kind: kind.name)
def test_the_set_of_a_problem_is_built_without_its_rounds(kind):
    problem = {"kind": kind.name}
    spec = Spec(method="unconstrained", problem=problem, horizon=10**15, seed=3)
    check_spec(spec, 20_000)
    served, played = policy_of(spec).decision_set, kind.build(70, 3).decision_set
    assert repr(served) == repr(played)
    for direction in np.random.default_rng(0).standard_normal((5, played.dim)):
        assert np.array_equal(served.lmo(direction), played.lmo(direction))


def test_different_settings_for_the_same_name_are_refused(served):
    served.begin()
    for settings in ({"eagerness": 2.0}, {"seed": 1}):
        said = sentence(served.begin(**settings), 409)
        assert said == "session 'a' exists with different settings; give those, or another name"
    other_order = {"method": WORDS["method"], "name": "a", "set": WORDS["set"]}
    assert served.send("POST", "/sessions", other_order).status_code == 201


def test_what_python_began_is_shown_and_not_served(served):
    with hr.live.open_session(served.place, "own", hr.unconstrained(hr.sets.Simplex(3))) as session:
        session.ask()
    assert served.send("GET", "/sessions/own").json()["decisions"] == 1
    assert "was created in Python" in sentence(
        served.send("POST", "/sessions/own/decisions", {}), 422
    )


def test_requests_are_limited(folder):
    store = hr.live.Store(f"{folder}/r.db")
    held = make_token(store, "observe")
    with listening(make_app(store, limits=Limits(rate=1.0))) as http:
        headers = {"Authorization": f"Bearer {held}"}
        found = [http.get("/sessions", headers=headers).status_code for _ in range(15)]
        assert found[:10] == [200] * 10
        assert found[-1] == 429


def test_open_access_is_for_this_machine(folder):
    store = hr.live.Store(f"{folder}/o.db")
    with listening(make_app(store, open_access=True)) as http:
        assert http.get("/sessions").status_code == 200
        sentence(http.get("/sessions", headers={"Host": "evil.example"}), 403)
        sentence(http.get("/sessions", headers={"Origin": "http://evil.example"}), 403)


@pytest.mark.parametrize(
    ("host", "held", "free", "said"),
    [
        ("0.0.0.0", 3, True, "allows local addresses only"),
        ("192.0.2.1", 0, False, "no valid token"),
        ("127.0.0.1", 0, False, "no valid token"),
        ("example.org", 1, True, "allows local addresses only"),
    ],
)
def test_it_never_reaches_beyond_this_machine_without_tokens(host, held, free, said):
    with pytest.raises(ValueError, match=said):
        check_reach(host, held, free)
    check_reach("127.0.0.1", 0, True)
    check_reach("0.0.0.0", 1, False)


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_the_command_applies_the_limits(folder, monkeypatch, host, warned):
    with hr.live.Store(f"{folder}/p.db") as store:
        make_token(store, "observe")
    given = {}
    monkeypatch.setattr("uvicorn.run", lambda _, **settings: given.update(settings))
    words = ["serve", f"{folder}/p.db", "--host", host, "--per-address", "7", "--rate", "5"]
    run = typer.testing.CliRunner().invoke(command_line, words)
    assert run.exit_code == 0, run.output
    assert ("put a proxy with TLS in front of it" in " ".join(run.output.split())) == warned
    assert given["http"].limits == Limits(per_address=7, rate=5.0)
    assert not given["proxy_headers"]
    assert given["ws"] == "none"


@pytest.fixture
def running(folder):
    """`hedgerow serve` in a process of its own."""
    with hr.live.Store(f"{folder}/p.db") as store:
        held = make_token(store, "admin")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    code = "from hedgerow.cli import main; main()"
    log = f"{folder}/log"
    with open(log, "wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", code, "serve", f"{folder}/p.db", "--port", str(port)],
            stdout=file, stderr=file,
        )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                httpx.get(f"{address}/health")
                break
            except httpx.TransportError:
                assert process.poll() is None, Path(log).read_text()
                time.sleep(0.1)
        yield address, held, process, f"{folder}/p.db", log
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def test_the_client_and_a_graceful_stop(running):
    address, held, process, place, log = running
    with hr.live.Client(address, "c", held) as client:
        client.begin(**WORDS)
        f, g = hr.Linear([1.0, 0.5, 0.0, 0.2]), hr.Linear([0.0, 0.0, 1.0, 0.0], -0.3)
        for _ in range(3):
            decision = client.ask()
            ack = client.tell(decision.id, f, g)
            x = decision.action
            assert client.tell(decision.id, hr.first_order(f, x), hr.first_order(g, x)) == ack
        with pytest.raises(hr.live.ConflictError, match="was already told"):
            client.tell(decision.id, hr.first_order(g, x), hr.first_order(f, x))
        with pytest.raises(LookupError, match="made no decision"):
            client.tell("nobody", hr.first_order(g, x), hr.first_order(f, x))
        assert client.status()["answered"] == 3
        assert len(client.history()["cost"]) == 3
        assert held not in repr(client)
    with hr.live.Client(address, "c", "wrong") as client, pytest.raises(PermissionError):
        client.ask()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) in (0, -signal.SIGTERM)
    assert held not in Path(log).read_text()
    assert broken_invariants(journal(place, "c")) == []
    assert os.path.getsize(log) > 0


def test_the_client_tries_again_and_nothing_counts_twice(served):
    served.begin()
    client = hr.live.Client("http://localhost", "a", served.held["decide"], tries=4)
    calls = []

    def flaky(request):
        """Every other answer is lost on the way back."""
        headers = dict(request.headers)
        answer = served.http.request(
            request.method, request.url.path, content=request.content, headers=headers
        )
        calls.append(answer.status_code)
        if len(calls) % 2:
            raise httpx.ReadError("lost")
        return httpx.Response(answer.status_code, content=answer.content)

    client._http = httpx.Client(
        base_url="http://localhost", transport=httpx.MockTransport(flaky),
        headers=client._http.headers,
    )  # fmt: skip
    for _ in range(3):
        client.tell(client.ask().id, hr.Linear(np.ones(4)), hr.Linear(np.ones(4), -2.0))
    assert len(calls) == 12
    status = served.store.status("a")
    assert (status.decisions, status.answered) == (3, 3)
