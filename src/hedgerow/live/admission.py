"""Admission of requests: tokens and roles, rates, and the number and time of connections."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import Annotated, ClassVar

import h11
from fastapi import Depends, FastAPI, Request, Response, Security
from fastapi.params import Depends as Dependency
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes
from uvicorn.protocols.http.h11_impl import H11Protocol

from hedgerow.live.store import Store
from hedgerow.live.tokens import ROLES, find_token

LOCAL_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d+)?", re.ASCII | re.IGNORECASE)
BEARER = HTTPBearer(auto_error=False, description="`hedgerow token add STORE` makes one.")


@dataclass(frozen=True)
class Limits:
    """What the service accepts.

    Attributes:
        body: bytes per request.
        dimension: of an action.
        rate: requests per second, of a token or of an address without one, averaged over ten
            seconds.
        rows: rounds per answer of history.
        seconds: within which a request must arrive, and a client must accept its answer.
        connections: open at a time, in all.
        per_address: connections open at a time from one address.

    """

    body: int = 4 << 20
    dimension: int = 20_000
    rate: float = 1000.0
    rows: int = 1000
    seconds: float = 20.0
    connections: int = 800
    per_address: int = 100


class Refusal(Exception):  # noqa: N818 - an answer, not a failure of the service
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, code: str, sentence: str, **headers: str):
        super().__init__(sentence)
        self.status, self.code, self.sentence, self.headers = status, code, sentence, headers


def refused(refusal: Refusal) -> Response:
    """Return the answer of a refusal."""
    content = {"error": {"code": refusal.code, "sentence": refusal.sentence}}
    return JSONResponse(content, refusal.status, headers=refusal.headers)


class Admission:
    """Checks tokens, roles and rates; every route depends on it.

    Args:
        store: where the tokens are.
        limits: what is accepted.
        open_access: whether requests from this machine need no token.

    """

    def __init__(self, store: Store, limits: Limits, open_access: bool):
        self.store, self.limits, self.open_access = store, limits, open_access
        self._rates, self._failures = _Rates(limits.rate), _Rates(10.0)

    def anyone(self) -> list[Dependency]:
        """Return the dependency of a route that needs no token."""
        return [Depends(self.admit_anyone)]

    def needs(self, role: str) -> list[Dependency]:
        """Return the dependency of a route that needs a token of a role, or of a higher one."""
        return [Security(self.admit_token, scopes=[role])]

    def check_routes(self, app: FastAPI) -> None:
        """Refuse a service with a route that declares neither a role nor `anyone`."""
        for route in app.routes:
            declared = route.dependencies if isinstance(route, APIRoute) else []
            if not any(d.dependency in (self.admit_anyone, self.admit_token) for d in declared):
                raise ValueError(f"the route {route} declares no role; add one to its dependencies")

    def admit_anyone(self, request: Request) -> None:
        """Admit a request without looking at its token."""
        if self.open_access:
            self._check_local(request)
        self._check_rate(_address(request))

    def admit_token(
        self,
        request: Request,
        needed: SecurityScopes,
        given: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)],
    ) -> None:
        """Admit a request whose token has the role that the matched route declares."""
        if self.open_access:
            return self.admit_anyone(request)
        token = None if given is None else find_token(self.store, given.credentials)
        if token is None:
            if not self._failures.allow(_address(request)):
                raise Refusal(429, "too many", "too many refused tokens; wait a second")
            sentence = "give a valid token: Authorization: Bearer TOKEN; `hedgerow token` makes one"
            raise Refusal(401, "unauthorized", sentence, **{"WWW-Authenticate": "Bearer"})
        (role,) = needed.scopes
        if ROLES.index(token.role) < ROLES.index(role):
            raise Refusal(403, "forbidden", f"this needs a token of role {role}, not {token.role}")
        return self._check_rate(token.id)

    def _check_local(self, request: Request) -> None:
        """Refuse other machines, and pages of other sites in a browser on this one."""
        host, address = request.headers.get("host", ""), _address(request)
        if (
            not LOCAL_HOST.fullmatch(host)
            or not is_loopback(address)
            or "origin" in request.headers
        ):
            raise Refusal(403, "forbidden", "without tokens only local requests are accepted")

    def _check_rate(self, caller: str) -> None:
        if not self._rates.allow(caller):
            sentence = f"more than {self.limits.rate:g} requests per second; send fewer"
            raise Refusal(429, "too many", sentence, **{"Retry-After": "1"})


def _address(request: Request) -> str:
    """Return the address of the connection; no header can change it."""
    return request.client.host if request.client else "unknown"


class _Rates:
    """A number of requests per second for each caller, averaged over ten seconds."""

    def __init__(self, rate: float):
        self.rate, self.lock = rate, threading.Lock()
        self.left: dict[str, tuple[float, float]] = {}

    def allow(self, caller: str) -> bool:
        with self.lock:
            now = time.monotonic()
            if len(self.left) > 10_000:
                self.left.clear()
            before, left = self.left.get(caller, (now, 10.0 * self.rate))
            left = min(10.0 * self.rate, left + self.rate * (now - before))
            self.left[caller] = now, max(0.0, left - 1.0)
            return left >= 1.0


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def limited_protocol(limits: Limits) -> type[LimitedProtocol]:
    """Return the protocol for `uvicorn.Config(http=...)` that enforces these limits."""
    return type("LimitedProtocol", (LimitedProtocol,), {"limits": limits, "open": Counter()})


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn, for clients that may be slow on purpose.

    uvicorn has no time limit for a request that is sent in part, and counts connections only when
    a request is complete. Here a client has `limits.seconds` to send a whole request, and as many
    to accept the answer; the time that the service takes for the answer is not limited.
    """

    limits: ClassVar[Limits]
    open: ClassVar[Counter[str]]  # connections by address
    _deadline: asyncio.TimerHandle | None = None
    _blocked = False  # the client does not accept the answer fast enough
    _counted = False  # it is one of the open connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Close the connection at once if too many are open.

        A connection that is refused never counts: it ends a turn of the event loop later, and
        others that came in the same turn must not be refused because of it.
        """
        super().connection_made(transport)
        self._host = self.client[0] if self.client else ""
        here, everywhere = self.open[self._host], self.open.total()
        self._counted = here < self.limits.per_address and everywhere < self.limits.connections
        if self._counted:
            self.open[self._host] += 1
        else:
            transport.abort()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        super().connection_lost(exc)
        self.open[self._host] -= self._counted
        if self.open[self._host] == 0:
            del self.open[self._host]
        if self._deadline is not None:
            self._deadline.cancel()

    def data_received(self, data: bytes) -> None:
        """Stop the clock when the request is complete."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Start the clock for the next request."""
        super().on_response_complete()
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._watch()

    def pause_writing(self) -> None:
        """Start the clock: the answer waits for the client."""
        super().pause_writing()
        self._blocked = True
        self._watch()

    def resume_writing(self) -> None:
        """Stop the clock."""
        super().resume_writing()
        self._blocked = False
        self._watch()

    def _watch(self) -> None:
        """Let the clock run exactly while the client has something to do."""
        waits = (
            self._blocked
            or self.transport.is_closing()  # what is left of the answer is still being sent
            or self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        )
        if not waits and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        elif waits and self._deadline is None:
            self._deadline = self.loop.call_later(self.limits.seconds, self.transport.abort)
