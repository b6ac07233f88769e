"""Sessions over HTTP: FastAPI, with tokens, limits, and errors in one sentence."""

from __future__ import annotations

import gc
import html
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, Any

import sqlalchemy as sql
from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.routing import APIRoute
from prometheus_client import generate_latest
from pydantic import TypeAdapter
from pydantic.json_schema import models_json_schema
from starlette.requests import ClientDisconnect

import hedgerow
from hedgerow.live.admission import Admission, Limits, Refusal, refused
from hedgerow.live.decision import Decision
from hedgerow.live.group_commit import GroupCommit
from hedgerow.live.history import read_history
from hedgerow.live.messages import (
    Ask,
    AskMany,
    Feedback,
    HistoryQuery,
    Made,
    NotJsonError,
    Tell,
    TellMany,
    parse,
    plain,
    sentence_of,
)
from hedgerow.live.opening import begin
from hedgerow.live.page import add_page
from hedgerow.live.request_log import Metrics, RequestLog
from hedgerow.live.schema import SESSIONS, VERSIONS
from hedgerow.live.session import Acknowledgement, ConflictError, Session, check_key
from hedgerow.live.specs import Begin, Spec, check_spec, policy_of, stored_spec
from hedgerow.live.store import Status, Store, StoreError, check_name, session_row
from hedgerow.live.tokens import RevokedError

LOG = logging.getLogger("hedgerow.live")
ANY: TypeAdapter[Any] = TypeAdapter(Any)
"""Writes answers as JSON."""
FRONT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>hedgerow live</title>
<style>body{font:16px/1.5 sans-serif;margin:2em;max-width:40em;color-scheme:light dark}</style>
<h1>hedgerow live</h1><p>This service makes decisions under constraints that are seen only
afterwards. Ask for a decision, act on it, and report its cost and its constraints. A decision is
durable before it is returned, and feedback counts exactly once.</p><ul>
<li><a href="dashboard">dashboard</a>: the sessions of this store in figures</li>
<li><a href="docs">docs</a>: all requests; for programs <a href="openapi.json">openapi.json</a></li>
<li><a href="health">health</a>: whether the store can be read</li></ul></html>
"""
BODIES = (Ask, AskMany, Begin, Feedback, Tell, TellMany)
"""The models of request bodies."""


async def read_body(request: Request) -> bytes:
    """Return the body of a request; FastAPI would read it before it checks the token."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal(415, "unsupported", "send JSON, with Content-Type: application/json")
    most, length = request.app.state.longest_body, request.headers.get("content-length", "0")
    too_large = Refusal(413, "too large", f"a body may have {most} bytes at most; send less")
    if not length.isdecimal() or int(length) > most:
        raise too_large
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise too_large
    return bytes(body)


Body = Annotated[bytes, Depends(read_body)]


def make_app(store: Store, *, limits: Limits | None = None, open_access: bool = False) -> FastAPI:
    """Return the service of a store.

    Args:
        store: where the sessions are; it is closed with the service.
        limits: what is accepted.
        open_access: whether requests from this machine need no token.

    """
    limits = limits or Limits()
    door, metrics, served = Admission(store, limits, open_access), Metrics(store), _Sessions(store)
    commits = GroupCommit(store)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        gc.collect()
        gc.freeze()  # a collection that looks at all that is loaded takes 0.1 s
        yield
        await run_in_threadpool(commits.close)
        store.close()

    app = FastAPI(
        title="hedgerow live",
        version=hedgerow.__version__,
        description="Durable decisions, and feedback that counts exactly once.",
        lifespan=lifespan,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        openapi_url=None,  # it would have no role
        redirect_slashes=False,  # a redirect repeats the Host header
    )
    app.state.longest_body = limits.body
    app.add_middleware(RequestLog, metrics=metrics)
    _add_error_answers(app, door)
    observe = door.needs("observe")

    def decides(path: str, body: type[Any], answer: Any, summary: str) -> Callable[[Any], None]:
        """Add a route by which clients ask for decisions or report feedback."""

        def add(endpoint: Any) -> None:
            app.router.add_api_route(
                path,
                endpoint,
                methods=["POST"],
                dependencies=door.needs("decide"),
                summary=summary,
                response_model=answer,
                openapi_extra=_body_schema(body),
                route_class_override=DecideRoute,
            )

        return add

    async def write(
        name: str,
        request: Request,
        function: Callable[[Session], Any],
        count: int = 1,
        plain: Callable[[Any], Any] = lambda answer: answer,
    ) -> Response:
        """Answer with what a function of a session returns, after the commit, as plain data."""
        session, token = await served.find(name), request.scope["token"]
        if count > 1:
            door.charge(request, token, count - 1)
        answer = await commits.call(session, partial(function, session), token)
        return Response(ANY.dump_json(plain(answer)), media_type="application/json")

    @decides("/sessions/{name}/decisions", Ask, Made, "Ask for a decision.")
    async def ask(name: str, body: Body, request: Request) -> Response:
        given = parse(Ask, body)
        return await write(
            name,
            request,
            lambda session: session.ask(given.key, given.advice),
            plain=lambda decision: decision.plain(given.names),
        )

    @decides("/sessions/{name}/decisions/batch", AskMany, list[Made], "Ask for several decisions.")
    async def ask_many(name: str, body: Body, request: Request) -> Response:
        given = parse(AskMany, body)
        count = given.count if given.keys is None else len(given.keys)

        def work(session: Session) -> list[Decision]:
            check_answer(count, session.policy.decision_set.dim, limits)
            return session.ask_many(given.count, given.keys)

        def plain(decisions: list[Decision]) -> list[dict[str, Any]]:
            return [decision.plain(given.names) for decision in decisions]

        return await write(name, request, work, count, plain)

    @decides("/sessions/{name}/feedback", Tell, Acknowledgement, "Report feedback, exactly once.")
    async def tell(name: str, body: Body, request: Request) -> Response:
        given = parse(Tell, body)
        feedback = given.of(check_key(given.id))
        return await write(name, request, lambda session: session.tell(*feedback))

    @decides(
        "/sessions/{name}/feedback/batch",
        TellMany,
        list[Acknowledgement],
        "Report feedback on several decisions: all of it, or none.",
    )
    async def tell_many(name: str, body: Body, request: Request) -> Response:
        feedback = [one.of(check_key(one.id)) for one in parse(TellMany, body).feedback]
        return await write(
            name, request, lambda session: session.tell_many(feedback), len(feedback)
        )

    @decides(
        "/sessions/{name}/decisions/{decision}/feedback",
        Feedback,
        Acknowledgement,
        "The same, for ids that can stand in an address.",
    )
    async def tell_addressed(name: str, decision: str, body: Body, request: Request) -> Response:
        feedback = parse(Feedback, body).of(check_key(decision))
        return await write(name, request, lambda session: session.tell(*feedback))

    @app.get("/", dependencies=door.anyone(), include_in_schema=False)
    def front() -> Response:
        return HTMLResponse(FRONT)

    @app.get("/health", dependencies=door.anyone(), summary="Whether the store can be read.")
    def health() -> Response:
        with store.reading() as connection:
            connection.execute(sql.select(VERSIONS.c.version))
        return JSONResponse({"status": "ok"})

    @app.get("/docs", dependencies=door.anyone(), include_in_schema=False)
    def docs() -> Response:
        return HTMLResponse(_page(_openapi(app)))

    @app.get("/openapi.json", dependencies=door.anyone(), include_in_schema=False)
    def openapi() -> Response:
        return JSONResponse(_openapi(app))

    @app.get("/metrics", dependencies=observe, summary="Prometheus metrics.")
    def prometheus() -> Response:
        text = generate_latest(metrics.registry)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get(
        "/sessions", dependencies=observe, summary="All sessions.", response_model=list[Status]
    )
    def sessions() -> Response:
        return JSONResponse([status.plain() for status in store.sessions()])

    @app.post(
        "/sessions",
        dependencies=door.needs("admin"),
        status_code=201,
        summary="Begin a session.",
        response_model=Status,
        openapi_extra=_body_schema(Begin),
    )
    def create(body: Body) -> Response:
        given = parse(Begin, body)
        check_name(given.name)
        check_spec(given, limits.dimension)
        served.begin(given)
        return JSONResponse(store.status(given.name).plain(), 201)

    @app.get(
        "/sessions/{name}",
        dependencies=observe,
        summary="The status of a session, and the names of its coordinates.",
        response_model=Status,
    )
    def status(name: str) -> Response:
        labels = store.labels(name)
        named = {} if labels is None else {"labels": labels}
        return JSONResponse(store.status(name).plain() | named)

    @app.get("/sessions/{name}/history", dependencies=observe, summary="Rounds, from `first` on.")
    def history(name: str, asked: Annotated[HistoryQuery, Query()]) -> Response:
        rows, first = limits.rows, max(1, asked.first)
        if asked.actions:
            rows = max(1, min(rows, limits.body // (8 * store.status(name).dim)))
        found = read_history(store, name, first=first, last=first + rows - 1, actions=asked.actions)
        columns = vars(found) if asked.actions else found.columns()
        return JSONResponse({key: plain(value) for key, value in columns.items()})

    add_page(app, store, door)
    door.check_routes(app)
    return app


def check_answer(count: int, dim: int, limits: Limits) -> None:
    """Refuse to answer with more numbers than a request may have."""
    most = max(1, limits.body // (8 * dim))
    if count > most:
        raise ValueError(
            f"one request may ask for {most} decisions of {dim} numbers, got {count}; ask for fewer"
        )


class DecideRoute(APIRoute):
    """A route that many requests take: it admits and reads them by itself.

    FastAPI resolves dependencies anew for each request, which takes longer than all they do.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what FastAPI calls with a request."""
        (declared,) = self.dependencies
        door: Admission = declared.dependency.__self__  # type: ignore[union-attr]
        (role,) = declared.scopes  # type: ignore[attr-defined]

        async def answer(request: Request) -> Response:
            request.scope["token"] = await door.admit_writer(request, role)
            body = await read_body(request)
            response: Response = await self.endpoint(
                **request.path_params, body=body, request=request
            )
            return response

        return answer


class _Sessions:
    """The sessions that this process decides for, by name."""

    def __init__(self, store: Store):
        self.store, self.lock = store, threading.Lock()
        self.open: dict[str, Session] = {}

    def begin(self, given: Begin) -> None:
        """Begin a session, or find an existing one with the same settings."""
        spec = given.given()
        with self.store.reading() as connection:
            known = sql.select(SESSIONS.c.spec).where(SESSIONS.c.name == given.name)
            before = connection.execute(known).one_or_none()
        if before is not None and (before.spec is None or json.loads(before.spec) != spec):
            raise ConflictError(
                f"session {given.name!r} exists with different settings; give those, or another "
                "name"
            )
        with self.lock:
            if given.name not in self.open:
                self._open(given.name, given, json.dumps(spec))

    async def find(self, name: str) -> Session:
        """Return a session, which is opened, in a thread, when it is first used."""
        known = self.open.get(name)
        return await run_in_threadpool(self._find, name) if known is None else known

    def _find(self, name: str) -> Session:
        check_name(name)
        with self.lock:
            if name not in self.open:
                with self.store.reading() as connection:
                    spec = session_row(connection, name).spec
                if spec is None:
                    raise ValueError(
                        f"session {name!r} was created in Python, so only Python has its policy; "
                        "the service can show it, but not decide for it"
                    )
                self._open(name, stored_spec(spec, name), spec)
            return self.open[name]

    def _open(self, name: str, given: Spec, spec: str) -> None:
        self.open[name] = begin(
            self.store, name, policy_of(given), every=given.every, labels=given.labels, spec=spec
        )


def _add_error_answers(app: FastAPI, door: Admission) -> None:
    """Turn errors of the library into answers."""

    def answers(kind: type[Exception] | int, status: int, code: str) -> None:
        app.add_exception_handler(kind, lambda _, error: refused(Refusal(status, code, str(error))))

    answers(ConflictError, 409, "conflict")
    answers(LookupError, 404, "unknown")
    answers(NotJsonError, 400, "malformed")
    answers(ValueError, 422, "refused")
    answers(TypeError, 422, "refused")

    @app.exception_handler(Refusal)
    def refusal(_: Request, error: Refusal) -> Response:
        return refused(error)

    @app.exception_handler(RevokedError)
    def revoked(request: Request, _: RevokedError) -> Response:
        return refused(door.refuse_revoked(request))

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> Response:
        return refused(Refusal(422, "refused", sentence_of(error.errors()[0])))

    @app.exception_handler(StoreError)
    def unavailable(_: Request, error: StoreError) -> Response:
        LOG.error("%s", error)
        sentence = "the store cannot be used now; try again"
        return refused(Refusal(503, "unavailable", sentence, **{"Retry-After": "1"}))

    @app.exception_handler(ClientDisconnect)
    def disconnected(_: Request, __: ClientDisconnect) -> Response:
        return refused(Refusal(408, "too slow", "the request did not arrive whole; send it again"))

    @app.exception_handler(404)
    @app.exception_handler(405)
    def unknown(_: Request, error: Any) -> Response:
        return refused(
            Refusal(error.status_code, "unknown", "there is no such page here; /docs lists all")
        )


def _body_schema(model: type[Any]) -> dict[str, Any]:
    """Return the OpenAPI description of a body."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"content": {"application/json": {"schema": schema}}, "required": True}}


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Return the description of the service, with the bodies that routes read themselves."""
    schema = app.openapi()
    wanted: Any = [(model, "validation") for model in BODIES]
    _, bodies = models_json_schema(wanted, ref_template="#/components/schemas/{model}")
    schema["components"]["schemas"].update(bodies["$defs"])
    return schema


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
