"""Sessions over HTTP: FastAPI, with tokens, limits and errors in the library's sentences."""

from __future__ import annotations

import html
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

import sqlalchemy as sql
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse
from prometheus_client import generate_latest

import hedgerow
from hedgerow.live.admission import Admission, Limits, Refusal, refused
from hedgerow.live.history import read_history
from hedgerow.live.metrics import Metrics
from hedgerow.live.opening import begin
from hedgerow.live.page import add_page
from hedgerow.live.schema import SESSIONS
from hedgerow.live.session import ConflictError, Session
from hedgerow.live.specs import check_spec, policy_of
from hedgerow.live.store import Store, StoreError, check_name, session_row
from hedgerow.live.wire import ASK, BEGIN, TELL, body_of, check_object, no_constant, plain, seen_of

LOG = logging.getLogger("hedgerow.live")


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
    add_page(app, store, service.answer, asks_tokens=not open_access)

    @app.get("/health", summary="Whether the store can be read.")
    async def health() -> Response:
        return await service.answer(lambda: {"status": "ok", "sessions": len(store.sessions())})

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(_page(app.openapi()))

    @app.get("/metrics", summary="Prometheus metrics.")
    async def metrics() -> Response:
        text = await run_in_threadpool(generate_latest, service.metrics.registry)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/sessions", summary="All sessions.")
    async def sessions() -> Response:
        return await service.answer(lambda: [asdict(status) for status in store.sessions()])

    @app.post(
        "/sessions", status_code=201, summary="Begin a session.", openapi_extra=body_of(BEGIN)
    )
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

    @app.post("/sessions/{name}/decisions", summary="Ask.", openapi_extra=body_of(ASK))
    async def ask(name: str, request: Request) -> Response:
        given = await service.json(request)
        return await service.answer(lambda: service.ask(name, given))

    @app.post(
        "/sessions/{name}/decisions/{decision}/feedback",
        summary="Tell, exactly once.",
        openapi_extra=body_of(TELL),
    )
    async def tell(name: str, decision: str, request: Request) -> Response:
        given = await service.json(request)
        return await service.answer(lambda: service.tell(name, decision, given))

    return app


class _Service:
    """What the routes share: sessions that are open, tokens, limits and metrics."""

    def __init__(self, store: Store, limits: Limits, open_access: bool):
        self.store, self.limits = store, limits
        self.sessions: dict[str, Session] = {}
        self.lock = threading.Lock()
        self.door = Admission(store, limits, open_access)
        self.metrics = Metrics(store)

    async def guarded(
        self, request: Request, proceed: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        """Let a request through to its route, or refuse it."""
        begin_ = time.perf_counter()
        try:
            await run_in_threadpool(self.door.admit, request)
            response = await proceed(request)
        except Refusal as refusal:
            response = refused(refusal)
        except Exception:
            LOG.exception("an error that should not be")
            response = refused(Refusal(500, "internal", "the service failed; see its log"))
        seconds = time.perf_counter() - begin_
        method = request.method if request.method in ("GET", "POST") else "other"
        self.metrics.count(method, response.status_code, seconds)
        path = request.scope["path"][:200].encode("unicode_escape").decode()
        LOG.info("%s %s %d %.1f ms", method, path, response.status_code, 1e3 * seconds)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Cache-Control"] = "no-store"
        return response

    async def json(self, request: Request) -> Any:
        """Return the parsed body; NaN, infinities, deep nesting and long bodies are refused."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refusal(415, "unsupported", "send JSON, with Content-Type: application/json")
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > self.limits.body:
                raise self.door.too_large()
        try:
            return await run_in_threadpool(json.loads, bytes(body), parse_constant=no_constant)
        except RecursionError:
            raise Refusal(400, "malformed", "the JSON is nested too deeply; flatten it") from None
        except ValueError as error:
            raise Refusal(400, "malformed", f"this is no JSON ({error})") from None

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
                        f"session {name!r} was created in Python, so only Python has its policy; "
                        "the service can show it, but not decide for it"
                    )
                self.sessions[name] = self._begun(name, spec)
            return self.sessions[name]

    def ask(self, name: str, given: Any) -> Any:
        """Answer a decision."""
        check_object(given, (), ("key",))
        decision = self.session(name).ask(given.get("key"))
        return {**asdict(decision), "action": decision.action.tolist()}

    def tell(self, name: str, decision: str, given: Any) -> Any:
        """Answer an acknowledgement."""
        check_object(given, ("cost", "constraint"), ())
        session = self.session(name)
        constraint = given["constraint"]
        if isinstance(constraint, list):
            if len(constraint) > 1000:
                raise ValueError(f"at most 1000 constraints may be told, got {len(constraint)}")
            several = [seen_of(part, "constraint") for part in constraint]
            return asdict(session.tell(decision, seen_of(given["cost"], "cost"), several))
        cost, seen = seen_of(given["cost"], "cost"), seen_of(constraint, "constraint")
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
        columns = {key: plain(value) for key, value in vars(found).items()}
        if actions == "0":
            del columns["actions"]
        return columns


def _refusal_page(_: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    return refused(refusal)


def _unknown_page(_: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    sentence = "there is no such page here; /docs lists all"
    return refused(Refusal(status, "unknown", sentence))


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
