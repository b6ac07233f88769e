"""Connections of the service: how many may be open, and how long a client may keep one waiting."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from hedgerow.live.admission import Limits


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

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Close the connection at once if too many are open."""
        super().connection_made(transport)
        self._host = self.client[0] if self.client else ""
        self.open[self._host] += 1
        if (
            self.open[self._host] > self.limits.per_address
            or self.open.total() > self.limits.connections
        ):
            transport.abort()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        super().connection_lost(exc)
        self.open[self._host] -= 1
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
