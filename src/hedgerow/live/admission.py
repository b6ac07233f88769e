"""Admission of requests: tokens and roles, and rates."""

from __future__ import annotations

import hashlib
import ipaddress
import re
import threading
import time
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, FastAPI, Request, Response, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.params import Depends as Dependency
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes

from hedgerow.live.store import Store
from hedgerow.live.tokens import ROLES, Token, find_token

LOCAL_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d+)?", re.ASCII | re.IGNORECASE)
BEARER = HTTPBearer(auto_error=False, description="`hedgerow token add STORE` makes one.")
KNOWN = 1000
"""Tokens that a process remembers."""


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
        self._known: dict[bytes, Token] = {}  # by the digest of the token

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
        (role,) = needed.scopes
        self._check_role(request, token, role)
        return None

    async def admit_writer(self, request: Request, role: str) -> Token | None:
        """Do the same without reading the store for a token that was valid before.

        Its caller must check, in the transaction that writes, that the token returned still is.
        """
        if self.open_access:
            self.admit_anyone(request)
            return None
        given = await BEARER(request)
        key = b"" if given is None else hashlib.sha256(given.credentials.encode()).digest()
        token = self._known.get(key)
        if token is None and given is not None:
            token = await run_in_threadpool(find_token, self.store, given.credentials)
        checked = self._check_role(request, token, role)
        if len(self._known) >= KNOWN:
            self._known.clear()
        self._known[key] = checked
        return checked

    def refuse_token(self, request: Request) -> Refusal:
        """Return the answer to a request without a valid token."""
        if not self._failures.allow(_address(request)):
            return Refusal(429, "too many", "too many refused tokens; wait a second")
        sentence = "give a valid token: Authorization: Bearer TOKEN; `hedgerow token` makes one"
        return Refusal(401, "unauthorized", sentence, **{"WWW-Authenticate": "Bearer"})

    def refuse_revoked(self, request: Request) -> Refusal:
        """Return the answer to a request whose token was valid, and read all tokens again."""
        self._known.clear()
        return self.refuse_token(request)

    def charge(self, request: Request, token: Token | None, more: int) -> None:
        """Count a request as this many more."""
        self._check_rate(_address(request) if token is None else token.id, more)

    def _check_role(self, request: Request, token: Token | None, role: str) -> Token:
        if token is None:
            raise self.refuse_token(request)
        if ROLES.index(token.role) < ROLES.index(role):
            raise Refusal(403, "forbidden", f"this needs a token of role {role}, not {token.role}")
        self._check_rate(token.id)
        return token

    def _check_local(self, request: Request) -> None:
        """Refuse other machines, and pages of other sites in a browser on this one."""
        host, address = request.headers.get("host", ""), _address(request)
        if (
            not LOCAL_HOST.fullmatch(host)
            or not is_loopback(address)
            or "origin" in request.headers
        ):
            raise Refusal(403, "forbidden", "without tokens only local requests are accepted")

    def _check_rate(self, caller: str, count: int = 1) -> None:
        if not self._rates.allow(caller, count):
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

    def allow(self, caller: str, count: int = 1) -> bool:
        """Return whether a caller has a request left, and count some, even more than are left."""
        with self.lock:
            now = time.monotonic()
            if len(self.left) > 10_000:
                self.left.clear()
            before, left = self.left.get(caller, (now, 10.0 * self.rate))
            left = min(10.0 * self.rate, left + self.rate * (now - before))
            self.left[caller] = now, left - count if left >= 1.0 else min(0.0, left)
            return left >= 1.0


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
