"""Who may do what: every route, every role, and requests that try to pass for others."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sql
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from listening import listening
from raw_http import exchange, request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

import hedgerow as hr
from hedgerow.live.admission import Admission, Limits
from hedgerow.live.schema import TOKENS
from hedgerow.live.service import make_app
from hedgerow.live.tokens import ROLES, make_token, revoke_token, tokens

SEEN = {"value": 0.5, "gradient": [1.0, 0.0, 0.5, 0.25]}
FEEDBACK = {"cost": SEEN, "constraint": SEEN}
BEGIN = {"name": "b", "set": {"kind": "Simplex", "n": 4}, "method": "projection_free_coco"}
REQUESTS = {
    ("GET", "/"): ("anyone", None),
    ("GET", "/health"): ("anyone", None),
    ("GET", "/docs"): ("anyone", None),
    ("GET", "/openapi.json"): ("anyone", None),
    ("GET", "/dashboard"): ("anyone", None),
    ("GET", "/dashboard/bokeh.js"): ("anyone", None),
    ("GET", "/dashboard/page.js"): ("anyone", None),
    ("GET", "/dashboard/data"): ("observe", None),
    ("GET", "/metrics"): ("observe", None),
    ("GET", "/sessions"): ("observe", None),
    ("GET", "/sessions/{name}"): ("observe", None),
    ("GET", "/sessions/{name}/history"): ("observe", None),
    ("POST", "/sessions/{name}/decisions"): ("decide", {"key": "new"}),
    ("POST", "/sessions/{name}/decisions/{decision}/feedback"): ("decide", FEEDBACK),
    ("POST", "/sessions/{name}/feedback"): ("decide", {**FEEDBACK, "id": "k"}),
    ("POST", "/sessions/{name}/decisions/batch"): ("decide", {"keys": ["new", "k"]}),
    ("POST", "/sessions/{name}/feedback/batch"): (
        "decide",
        {"feedback": [{**FEEDBACK, "id": "k"}, {**FEEDBACK, "id": "k"}]},
    ),
    ("POST", "/sessions"): ("admin", BEGIN),
}
"""Each route: the role that it needs, and a body that it accepts."""
GUARDED = {route: needs for route, needs in REQUESTS.items() if needs[0] != "anyone"}
HEADERS = (
    {},
    {"Host": "x/health?"},
    {"Host": "x/health#"},
    {"Host": "x/docs?"},
    {"Host": "x/dashboard\\@"},
    {"Host": "/health?"},
    {"Host": ""},
    {"Host": "localhost"},
    {"Host": "[::1]"},
    {"X_Forwarded_Host": "x/health?"},
    {"X_Forwarded_For": "127.0.0.1"},
    {"X_Forwarded_Proto": "https://x/health?"},
    {"X_Forwarded_Prefix": "/health"},
    {"Forwarded": "for=127.0.0.1;host=localhost"},
    {"X_Real_IP": "127.0.0.1"},
    {"X_Original_URL": "/health"},
    {"X_Rewrite_URL": "/health"},
    {"X_HTTP_Method_Override": "GET"},
    {"X_Role": "admin"},
    {"Cookie": "token=admin; role=admin"},
    {"Origin": "http://127.0.0.1"},
)
"""What a request may claim beside its target; none of it decides."""
TARGETS = (
    "http://127.0.0.1{path}",
    "http://x/health?{path}",
    "/{path}",
    "/health/..{path}",
    "/health/%2e%2e{path}",
    "/health%2f..{path}",
    "/%2e%2e{path}",
    "/.{path}",
    "{path}/",
    "{path}/.",
    "{path}//",
    "{path}%2f",
    "{path};/health",
    "{path}?/health",
    "{path}%3f/health",
    "{path}%00/health",
    "{path}#/health",
    "{path}?token=admin&role=admin&_method=GET",
)
"""Other ways to write an address."""


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    """A service with one session that holds a decision, and a token of each role."""
    store = hr.live.Store(tmp_path_factory.mktemp("store") / "s.db")
    held = {role: make_token(store, role) for role in ROLES}
    held["revoked"] = make_token(store, "admin")
    revoke_token(store, held["revoked"].split("_")[1])
    held["nobody"] = ""
    with listening(make_app(store)) as http:
        port = http.base_url.port

        def send(method, target, body, role, claims):
            if held[role]:
                claims = {**claims, "Authorization": f"Bearer {held[role]}"}
            data = b"" if body is None else json.dumps(body).encode()
            return exchange(port, request(method, target, data, **claims))

        assert send("POST", "/sessions", {**BEGIN, "name": "secret"}, "admin", {})[0] == 201
        assert send("POST", "/sessions/secret/decisions", {"key": "k"}, "decide", {})[0] == 200
        yield store, send


def filled(path):
    return path.format(name="secret", decision="k")


def state(store):
    return store.sessions(), tokens(store)


def too_low(role, needed):
    return role not in ROLES or ROLES.index(role) < ROLES.index(needed)


@pytest.mark.parametrize("role", ["nobody", "revoked", *ROLES])
def test_a_route_asks_for_its_role_whatever_else_a_request_claims(attacked, role):
    store, send = attacked
    before = state(store)
    refused = 0
    for (method, path), (needed, body) in GUARDED.items():
        for claims in HEADERS:
            if too_low(role, needed):
                status, text = send(method, filled(path), body, role, claims)
                assert status in ((403,) if role in ROLES else (401, 429)), (path, claims)
                assert b"secret" not in text
                refused += 1
    assert state(store) == before
    assert refused == len(HEADERS) * sum(too_low(role, needed) for needed, _ in GUARDED.values())


@pytest.mark.parametrize("role", ["nobody", "revoked", *ROLES])
def test_no_other_way_to_write_an_address_leads_around_the_role(attacked, role):
    store, send = attacked
    before = state(store)
    for (method, path), (needed, body) in GUARDED.items():
        for target in TARGETS:
            if too_low(role, needed):
                written = target.format(path=filled(path))
                status, text = send(method, written, body, role, {})
                harmless = written.startswith("http://x/health?")  # /health itself, or nothing
                assert status >= 400 or (harmless and text == b'{"status":"ok"}'), written
                assert b'"dim"' not in text
    for method in ("HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", "POST\t"):
        for path in {filled(path) for _, path in GUARDED}:
            assert send(method, path, None, role, {})[0] in (0, 400, 405)
    assert state(store) == before


def test_a_sufficient_role_is_admitted_with_the_same_claims(attacked):
    _, send = attacked
    for (method, path), (needed, body) in REQUESTS.items():
        for role in ROLES if needed == "anyone" else ROLES[ROLES.index(needed) :]:
            for claims in HEADERS:
                status, _ = send(method, filled(path), body, role, claims)
                assert status in (200, 201, 409), (path, role, claims)
    for path in (path for (_, path), (needed, _) in REQUESTS.items() if needed == "anyone"):
        status, text = send("GET", path, None, "nobody", {})
        assert status == 200
        assert b"secret" not in text


def test_every_route_declares_a_role(tmp_path):
    with hr.live.Store(tmp_path / "s.db") as store:
        app = make_app(store)
    found = {}
    for route in app.routes:
        assert isinstance(route, APIRoute), f"{route} can declare no role"
        (declared,) = route.dependencies
        assert isinstance(declared.dependency.__self__, Admission)
        role = getattr(declared, "scopes", None) or ["anyone"]
        found |= {(method, route.path): role[0] for method in route.methods}
    assert found == {route: role for route, (role, _) in REQUESTS.items()}


def test_a_service_with_a_route_without_a_role_does_not_start(tmp_path):
    def page(_):
        return PlainTextResponse("open")

    with hr.live.Store(tmp_path / "s.db") as store:
        door = Admission(store, Limits(), False)
        for add in (
            lambda app: app.get("/more")(page),
            lambda app: app.routes.append(Route("/more", page)),
            lambda app: app.mount("/files", StaticFiles(directory=tmp_path)),
            lambda app: app.mount("/other", make_app(store)),
        ):
            app = FastAPI(openapi_url=None)
            app.get("/health", dependencies=door.anyone())(lambda: None)
            door.check_routes(app)
            add(app)
            with pytest.raises(ValueError, match="declares no role"):
                door.check_routes(app)
        with pytest.raises(ValueError, match=r"openapi\.json.* declares no role"):
            door.check_routes(FastAPI())


def test_a_body_is_not_read_before_the_token_is_checked(attacked):
    _, send = attacked
    for _ in range(3):
        claims = {"Content_Length": "4000000"}
        status, _ = send("POST", "/sessions/secret/decisions", None, "nobody", claims)
        assert status in (401, 429)


def test_a_token_of_a_damaged_role_is_no_token(tmp_path):
    store = hr.live.Store(tmp_path / "s.db")
    token = make_token(store, "observe")
    with store.writing() as connection:
        connection.execute(sql.update(TOKENS).values(role="root"))
    with listening(make_app(store)) as http:
        answer = http.get("/sessions", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401
        assert "give a valid token" in answer.text


def test_a_request_with_two_lengths_is_the_last_of_its_connection(attacked):
    store, send = attacked
    before = state(store)
    hidden = "0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    claims = {"Content_Length": "5", "Transfer_Encoding": f"chunked\r\n\r\n{hidden}"}
    claims = {"Connection": "keep-alive", **claims}
    status, body = send("POST", "/sessions/secret/decisions", None, "nobody", claims)
    assert status == 400
    assert b"not both" in body
    assert b"HTTP/1.1 200" not in body  # the answer of the hidden request
    assert state(store) == before


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:80"}, 200),
        ({"Host": "[::1]"}, 200),
        ({"Host": "[::1]:80"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": "127.0.0.1:80@evil.example"}, 403),
        ({"Host": "localhost/health?"}, 403),
        ({"Host": ""}, 403),
        ({"Origin": "http://127.0.0.1"}, 403),
        ({"Host": "evil.example", "X_Forwarded_Host": "localhost"}, 403),
    ],
)
def test_without_tokens_only_local_requests_are_accepted(tmp_path, claims, status):
    store = hr.live.Store(tmp_path / "s.db")
    with listening(make_app(store, open_access=True)) as http:
        for path in ("/sessions", "/health", "/dashboard"):
            assert exchange(http.base_url.port, request("GET", path, **claims))[0] == status
        old = b"GET /sessions HTTP/1.0\r\n\r\n"  # has no Host at all
        assert exchange(http.base_url.port, old)[0] == 403


def test_health_costs_the_same_with_any_number_of_sessions(tmp_path):
    import sqlalchemy as sql

    store = hr.live.Store(tmp_path / "s.db")
    with listening(make_app(store)) as http:
        executed = []
        sql.event.listen(
            store.engine, "before_cursor_execute", lambda *given: executed.append(given[2])
        )
        counts = []
        for number in (1, 20):
            for k in range(number):
                policy = hr.projection_free_coco(hr.sets.Simplex(2))
                hr.live.open_session(store, f"s{k}", policy)
            executed.clear()
            assert http.get("/health").json() == {"status": "ok"}
            counts.append(len(executed))
        assert counts == [1, 1]
        assert "journal" not in executed[0]
