"""Who may ask the service for what, how often and how much."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from hedgerow.live.store import Store
from hedgerow.live.tokens import ROLES, find_token

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
OPEN = ("/health", "/docs", "/openapi.json", "/dashboard", "/dashboard/bokeh.js",
        "/dashboard/page.js")  # fmt: skip
"""Pages that need no token: nothing of a session is in them."""


@dataclass(frozen=True)
class Limits:
    """What the service accepts.

    Attributes:
        body: bytes of a request.
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


def refused(refusal: Refusal) -> Response:
    """Return the answer of a refusal."""
    content = {"error": {"code": refusal.code, "sentence": refusal.sentence}}
    return JSONResponse(content, refusal.status, headers=refusal.headers)


def role_of(method: str, path: str) -> str | None:
    """Return the role that a request needs; None for those that need none."""
    if path in OPEN:
        return None
    if method in ("GET", "HEAD"):
        return "observe"
    return "admin" if path == "/sessions" else "decide"


class Admission:
    """The door: tokens, roles, sizes and rates.

    Args:
        store: where the tokens are.
        limits: what is accepted.
        open_access: whether requests from this machine need no token.

    """

    def __init__(self, store: Store, limits: Limits, open_access: bool):
        self.store, self.limits, self.open_access = store, limits, open_access
        self._rates, self._failures = _Rates(limits.rate), _Rates(10.0)

    def admit(self, request: Request) -> None:
        """Check who asks, for what, how often and how much."""
        size = request.headers.get("content-length", "0")
        if not size.isdigit() or int(size) > self.limits.body:
            raise self.too_large()
        role, who = role_of(request.method, request.url.path), "nobody"
        if self.open_access:
            host = request.headers.get("host", "").rpartition(":")[0] or request.headers["host"]
            if host not in LOOPBACK or "origin" in request.headers:
                raise Refusal(403, "forbidden", "without tokens only local requests are accepted")
        elif role is not None:
            who = self._identified(request, role)
        if not self._rates.allow(who):
            sentence = f"more than {self.limits.rate:g} requests a second; ask less often"
            raise Refusal(429, "too many", sentence, **{"Retry-After": "1"})

    def _identified(self, request: Request, role: str) -> str:
        client = request.client.host if request.client else "unknown"
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        token = find_token(self.store, given) if scheme.lower() == "bearer" else None
        if token is None:
            if not self._failures.allow(client):
                raise Refusal(429, "too many", "too many refused tokens; wait a second")
            sentence = "give a valid token: Authorization: Bearer TOKEN; `hedgerow token` makes one"
            raise Refusal(401, "unauthorized", sentence, **{"WWW-Authenticate": "Bearer"})
        if ROLES.index(token.role) < ROLES.index(role):
            raise Refusal(403, "forbidden", f"this needs a token of role {role}, not {token.role}")
        return token.id

    def too_large(self) -> Refusal:
        """Return the refusal of a long body."""
        sentence = f"a body may have {self.limits.body} bytes at most; send less"
        return Refusal(413, "too large", sentence)


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
