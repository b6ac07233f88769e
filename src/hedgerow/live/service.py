"""Sessions over HTTP: FastAPI, with tokens, limits and errors in the library's sentences."""

from __future__ import annotations

import html
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import sqlalchemy as sql
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily

import hedgerow
from hedgerow.feedback import EvalGrad
from hedgerow.live.history import read_history
from hedgerow.live.opening import begin
from hedgerow.live.schema import SESSIONS
from hedgerow.live.session import ConflictError, Session
from hedgerow.live.specs import check_spec, policy_of
from hedgerow.live.store import Store, StoreError, check_name, session_row
from hedgerow.live.tokens import ROLES, find_token

LOG = logging.getLogger("hedgerow.live")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Limits:
    """What the service accepts.

    Attributes:
        body: octets of a request.
        dimension: of an action.
        rate: requests a second of one token, on average over ten seconds.
        rows: of one answer of history.

    """

    body: int = 4 << 20
    dimension: int = 20_000
    rate: float = 1000.0
    rows: int = 1000


class Refusal(Exception):  # noqa: N818 - what the answer is, not what went wrong
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, code: str, sentence: str, **headers: str):
        super().__init__(sentence)
        self.status, self.code, self.sentence, self.headers = status, code, sentence, headers


def make_app(store: Store, *, limits: Limits | None = None, open_access: bool = False) -> FastAPI:
    """Return the service of a store.

    Args:
        store: where the sessions are; it is closed with the service.
        limits: what is accepted.
        open_access: whether requests from this machine need no token.

    """
    service = _Service(store, limits or Limits(), open_access)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        store.close()

    app = FastAPI(
        title="hedgerow live",
        version=hedgerow.__version__,
        description="Durable decisions, and feedback that counts exactly once.",
        lifespan=lifespan,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
    )
    app.middleware("http")(service.guarded)
    app.exception_handler(Refusal)(_refusal_page)
    app.exception_handler(404)(_unknown_page)
    app.exception_handler(405)(_unknown_page)

    @app.get("/health", summary="Whether the store can be read.")
    async def health() -> Response:
        return await service.answer(lambda: {"status": "ok", "sessions": len(store.sessions())})

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(_page(app.openapi()))

    @app.get("/metrics", summary="Prometheus metrics.")
    async def metrics() -> Response:
        text = await run_in_threadpool(generate_latest, service.registry)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/sessions", summary="All sessions.")
    async def sessions() -> Response:
        return await service.answer(lambda: [asdict(status) for status in store.sessions()])

    @app.post("/sessions", status_code=201, summary="Begin a session.", openapi_extra=_body(BEGIN))
    async def create(request: Request) -> Response:
        given = await service.json(request)
        return await service.answer(lambda: service.create(given), 201)

    @app.get("/sessions/{name}", summary="A session in numbers.")
    async def status(name: str) -> Response:
        return await service.answer(lambda: asdict(store.status(name)))

    @app.get("/sessions/{name}/history", summary="Rounds, from `first` on.")
    async def history(name: str, request: Request) -> Response:
        asked = dict(request.query_params)
        return await service.answer(lambda: service.history(name, asked))

    @app.post("/sessions/{name}/decisions", summary="Ask.", openapi_extra=_body(ASK))
    async def ask(name: str, request: Request) -> Response:
        given = await service.json(request)
        return await service.answer(lambda: service.ask(name, given))

    @app.post(
        "/sessions/{name}/decisions/{decision}/feedback",
        summary="Tell, exactly once.",
        openapi_extra=_body(TELL),
    )
    async def tell(name: str, decision: str, request: Request) -> Response:
        given = await service.json(request)
        return await service.answer(lambda: service.tell(name, decision, given))

    return app


NUMBERS = {"type": "array", "items": {"type": "number"}}
SEEN = {"type": "object", "required": ["value", "gradient"],
        "properties": {"value": {"type": "number"}, "gradient": NUMBERS}}  # fmt: skip
BEGIN = {
    "type": "object",
    "required": ["name", "method"],
    "properties": {
        "name": {"type": "string"},
        "set": {"type": "object"},
        "problem": {"type": "object"},
        "method": {"type": "string"},
        "eagerness": {"type": "number"},
        "horizon": {"type": "integer"},
        "seed": {"type": "integer"},
        "labels": {"type": "array", "items": {"type": "string"}},
        "every": {"type": "integer"},
    },
}
ASK = {"type": "object", "properties": {"key": {"type": "string"}}}
TELL = {
    "type": "object",
    "required": ["cost", "constraint"],
    "properties": {"cost": SEEN, "constraint": {"oneOf": [SEEN, {"type": "array", "items": SEEN}]}},
}


def _body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"content": {"application/json": {"schema": schema}}, "required": True}}


def role_of(method: str, path: str) -> str | None:
    """Return the role that a request needs; None for those that need none."""
    if path in ("/health", "/docs", "/openapi.json"):
        return None
    if method in ("GET", "HEAD"):
        return "observe"
    return "admin" if path == "/sessions" else "decide"


class _Service:
    """What the routes share: sessions that are open, tokens, limits and metrics."""

    def __init__(self, store: Store, limits: Limits, open_access: bool):
        self.store, self.limits, self.open_access = store, limits, open_access
        self.sessions: dict[str, Session] = {}
        self.lock = threading.Lock()
        self.rates = _Rates(limits.rate)
        self.failures = _Rates(10.0)
        self.registry = CollectorRegistry()
        self.registry.register(_Sessions(store))
        self.requests = Counter(
            "hedgerow_requests", "Requests.", ["method", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "hedgerow_request_seconds", "Seconds a request took.", ["method"],
            registry=self.registry,
        )  # fmt: skip

    async def guarded(
        self, request: Request, proceed: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        """Let a request through to its route, or refuse it."""
        begin_ = time.perf_counter()
        try:
            await run_in_threadpool(self.admit, request)
            response = await proceed(request)
        except Refusal as refusal:
            response = _refused(refusal)
        except Exception:
            LOG.exception("an error that should not be")
            response = _refused(Refusal(500, "internal", "the service failed; see its log"))
        seconds = time.perf_counter() - begin_
        method = request.method if request.method in ("GET", "POST") else "other"
        self.requests.labels(method, str(response.status_code)).inc()
        self.seconds.labels(method).observe(seconds)
        path = request.scope["path"][:200].encode("unicode_escape").decode()
        LOG.info("%s %s %d %.1f ms", method, path, response.status_code, 1e3 * seconds)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Cache-Control"] = "no-store"
        return response

    def admit(self, request: Request) -> None:
        """Check who asks, for what, how often and how much."""
        size = request.headers.get("content-length", "0")
        if not size.isdigit() or int(size) > self.limits.body:
            raise self._too_large()
        role, who = role_of(request.method, request.url.path), "nobody"
        if self.open_access:
            host = request.headers.get("host", "").rpartition(":")[0] or request.headers["host"]
            if host not in LOOPBACK or "origin" in request.headers:
                raise Refusal(403, "forbidden", "without tokens only this machine may ask")
        elif role is not None:
            who = self._identified(request, role)
        if not self.rates.allow(who):
            sentence = f"more than {self.limits.rate:g} requests a second; ask less often"
            raise Refusal(429, "too many", sentence, **{"Retry-After": "1"})

    def _identified(self, request: Request, role: str) -> str:
        client = request.client.host if request.client else "unknown"
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        token = find_token(self.store, given) if scheme.lower() == "bearer" else None
        if token is None:
            if not self.failures.allow(client):
                raise Refusal(429, "too many", "too many refused tokens; wait a second")
            sentence = "give a valid token: Authorization: Bearer TOKEN; `hedgerow token` makes one"
            raise Refusal(401, "unauthorized", sentence, **{"WWW-Authenticate": "Bearer"})
        if ROLES.index(token.role) < ROLES.index(role):
            raise Refusal(403, "forbidden", f"this needs a token of role {role}, not {token.role}")
        return token.id

    async def json(self, request: Request) -> Any:
        """Return the parsed body; NaN, infinities, deep nesting and long bodies are refused."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refusal(415, "unsupported", "send JSON, with Content-Type: application/json")
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > self.limits.body:
                raise self._too_large()
        try:
            return await run_in_threadpool(json.loads, bytes(body), parse_constant=_no_constant)
        except RecursionError:
            raise Refusal(400, "malformed", "the JSON is nested too deeply; flatten it") from None
        except ValueError as error:
            raise Refusal(400, "malformed", f"this is no JSON ({error})") from None

    def _too_large(self) -> Refusal:
        sentence = f"a body may have {self.limits.body} octets at most; send less"
        return Refusal(413, "too large", sentence)

    async def answer(self, work: Callable[[], Any], status: int = 200) -> Response:
        """Do the work in a thread, and turn errors of the library into answers."""
        try:
            return JSONResponse(await run_in_threadpool(work), status)
        except ConflictError as error:
            raise Refusal(409, "conflict", str(error)) from None
        except LookupError as error:
            raise Refusal(404, "unknown", str(error)) from None
        except StoreError as error:
            LOG.error("%s", error)
            sentence = "the store cannot be used now; try again"
            raise Refusal(503, "unavailable", sentence, **{"Retry-After": "1"}) from None
        except (ValueError, TypeError) as error:
            raise Refusal(422, "refused", str(error)) from None

    def create(self, given: Any) -> Any:
        """Begin a session, or find it as it was begun."""
        if not isinstance(given, dict) or "name" not in given:
            raise ValueError("a session needs a `name` and a `method`")
        name = check_name(given["name"])
        spec = check_spec({k: v for k, v in given.items() if k != "name"}, self.limits.dimension)
        with self.store.reading() as connection:
            known = sql.select(SESSIONS.c.spec).where(SESSIONS.c.name == name)
            before = connection.execute(known).one_or_none()
        if before is not None and before.spec != spec:
            raise ConflictError(
                f"session {name!r} was begun with other words; give those, or another name"
            )
        with self.lock:
            if name not in self.sessions:
                self.sessions[name] = self._begun(name, spec)
        return asdict(self.store.status(name))

    def _begun(self, name: str, spec: str) -> Session:
        words = json.loads(spec)
        every, labels = words.get("every", 256), words.get("labels")
        policy = policy_of(words)
        return begin(self.store, name, policy, every=every, labels=labels, spec=spec)

    def session(self, name: str) -> Session:
        """Return an open session; one that Python began is for Python to serve."""
        check_name(name)
        with self.lock:
            if name not in self.sessions:
                with self.store.reading() as connection:
                    spec = session_row(connection, name).spec
                if spec is None:
                    raise ValueError(
                        f"session {name!r} was begun from Python, which alone knows its policy; "
                        "the service can show it, not decide for it"
                    )
                self.sessions[name] = self._begun(name, spec)
            return self.sessions[name]

    def ask(self, name: str, given: Any) -> Any:
        """Answer a decision."""
        _check_object(given, (), ("key",))
        decision = self.session(name).ask(given.get("key"))
        return {**asdict(decision), "action": decision.action.tolist()}

    def tell(self, name: str, decision: str, given: Any) -> Any:
        """Answer an acknowledgement."""
        _check_object(given, ("cost", "constraint"), ())
        session = self.session(name)
        constraint = given["constraint"]
        if isinstance(constraint, list):
            if len(constraint) > 1000:
                raise ValueError(f"at most 1000 constraints may be told, got {len(constraint)}")
            several = [_seen(part, "constraint") for part in constraint]
            return asdict(session.tell(decision, _seen(given["cost"], "cost"), several))
        cost, seen = _seen(given["cost"], "cost"), _seen(constraint, "constraint")
        return asdict(session.tell(decision, cost, seen))

    def history(self, name: str, asked: dict[str, str]) -> Any:
        """Answer some rounds; actions where they are asked for."""
        unknown = set(asked) - {"first", "actions"}
        if unknown:
            raise ValueError(f"history takes `first` and `actions`, got {sorted(unknown)[0]!r}")
        first, actions = asked.get("first", "1"), asked.get("actions", "0")
        if not (first.isdigit() and len(first) < 16) or actions not in ("0", "1"):
            raise ValueError("`first` is a round from 1 on, `actions` is 0 or 1")
        begin_ = max(1, int(first))
        rows = self.limits.rows
        if actions == "1":
            rows = max(1, min(rows, self.limits.body // (8 * self.store.status(name).dim)))
        last = begin_ + rows - 1
        found = read_history(self.store, name, first=begin_, last=last, actions=actions == "1")
        columns = {key: _plain(value) for key, value in vars(found).items()}
        if actions == "0":
            del columns["actions"]
        return columns


def _plain(array: Any) -> Any:
    """Return an array as lists; null where a number is not known."""
    if array.dtype.kind == "f":
        known: Any = np.where(np.isfinite(array), array, None)
        return known.tolist()
    return array.tolist()


def _check_object(given: Any, required: tuple[str, ...], optional: tuple[str, ...]) -> None:
    allowed = (*required, *optional)
    if not isinstance(given, dict) or not set(required) <= set(given) <= set(allowed):
        raise ValueError(f"send a JSON object with the keys {', '.join(allowed)} and no others")


def _seen(given: Any, name: str) -> EvalGrad:
    if not isinstance(given, dict) or set(given) != {"value", "gradient"}:
        raise ValueError(f"the {name} must be an object of `value` and `gradient`")
    gradient = given["gradient"]
    if not isinstance(gradient, list):
        raise ValueError(f"the gradient of the {name} must be a list of numbers")
    if not all(type(entry) in (float, int) for entry in gradient):
        raise ValueError(f"the gradient of the {name} must hold numbers alone")
    try:
        return EvalGrad(given["value"], np.array(gradient, dtype=np.float64))
    except OverflowError:
        raise ValueError(f"the gradient of the {name} holds numbers beyond float64") from None


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _refused(refusal: Refusal) -> Response:
    content = {"error": {"code": refusal.code, "sentence": refusal.sentence}}
    return JSONResponse(content, refusal.status, headers=refusal.headers)


def _refusal_page(_: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    return _refused(refusal)


def _unknown_page(_: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    sentence = "there is no such page here; /docs lists all"
    return _refused(Refusal(status, "unknown", sentence))


def _page(schema: dict[str, Any]) -> str:
    """Return a page of all routes that loads nothing from elsewhere."""
    rows = "".join(
        f"<tr><td>{html.escape(method.upper())}</td><td><code>{html.escape(path)}</code></td>"
        f"<td>{html.escape(route.get('summary', ''))}</td></tr>"
        for path, methods in schema["paths"].items()
        for method, route in methods.items()
    )
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>hedgerow live</title>"
        "<style>body{font:16px sans-serif;margin:2em;color-scheme:light dark}td{padding:.3em}"
        f"</style><h1>hedgerow live</h1><table>{rows}</table>"
        "<p>The whole description: <a href='openapi.json'>openapi.json</a></p></html>"
    )


class _Rates:
    """So many requests a second each, on average over ten seconds."""

    def __init__(self, rate: float):
        self.rate, self.lock = rate, threading.Lock()
        self.left: dict[str, tuple[float, float]] = {}

    def allow(self, who: str) -> bool:
        with self.lock:
            now = time.monotonic()
            if len(self.left) > 10_000:
                self.left.clear()
            before, left = self.left.get(who, (now, 10.0 * self.rate))
            left = min(10.0 * self.rate, left + self.rate * (now - before))
            self.left[who] = now, max(0.0, left - 1.0)
            return left >= 1.0


class _Sessions:
    """Gauges of all sessions, read when they are scraped."""

    def __init__(self, store: Store):
        self.store = store

    def describe(self) -> list[Any]:
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        found = self.store.sessions()
        for key, about in (
            ("decisions", "Decisions asked for."),
            ("answered", "Decisions that were told."),
            ("unanswered", "Decisions that were not told."),
            ("cost", "Sum of costs."),
            ("ccv", "Sum of violations."),
            ("certificate", "Proved bound of the regret."),
        ):
            family = GaugeMetricFamily(f"hedgerow_session_{key}", about, labels=["session"])
            for status in found:
                if (value := getattr(status, key)) is not None:
                    family.add_metric([status.name], float(value))
            yield family
