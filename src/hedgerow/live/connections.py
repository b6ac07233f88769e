"""Connections of the service: how many there may be, and how slow and how long-winded."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from hedgerow.live.admission import Limits

LONGEST_HEAD = 1 << 16
"""Bytes of a request besides its body: its head, the marks of its chunks, and what follows them."""


def limited_protocol(limits: Limits) -> type[LimitedProtocol]:
    """Return the protocol for `uvicorn.Config(http=...)` that enforces these limits."""
    return type("LimitedProtocol", (LimitedProtocol,), {"limits": limits, "open": Counter()})


class GatheredWrites:
    """A transport that sends what is written in one turn of the event loop at once.

    uvicorn writes the head and the body of an answer one after the other, and each write is a call
    of the system during which another thread may take over.

    Args:
        transport: that sends.

    """

    def __init__(self, transport: asyncio.Transport):
        self._transport, self._parts = transport, list[bytes]()

    def __getattr__(self, name: str) -> Any:
        """Return what the transport itself has."""
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send data at the end of this turn."""
        if not self._parts:
            asyncio.get_running_loop().call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        """Send what was written, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._parts:
            data, self._parts = b"".join(self._parts), []
            self._transport.write(data)


class LimitedProtocol(HttpToolsProtocol):
    """HTTP/1.1 of uvicorn, for clients that may be slow or long-winded on purpose.

    uvicorn has no time limit for a request that is sent in part, no limit of its head, and counts
    connections only when a request is complete. Here a client has `limits.seconds` to send a whole
    request, and as many to accept the answer; the time that the service takes for the answer is not
    limited.
    """

    limits: ClassVar[Limits]
    open: ClassVar[Counter[str]]  # connections by address
    _deadline: asyncio.TimerHandle | None = None
    _blocked = False  # the client does not accept the answer fast enough
    _counted = False  # it is one of the open connections
    _head = 0  # bytes of a request besides its body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Close the connection at once if too many are open.

        A connection that is refused never counts: it ends a turn of the event loop later, and
        others that came in the same turn must not be refused because of it.
        """
        super().connection_made(GatheredWrites(transport))  # type: ignore[arg-type]
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
        """Stop the clock when the request is complete; refuse a head without end."""
        self._head += len(data)
        super().data_received(data)
        if self._head > LONGEST_HEAD and not self.transport.is_closing():
            self._refuse(431, "too large", f"a head may have {LONGEST_HEAD} bytes; send less")
        self._watch()

    def on_body(self, body: bytes) -> None:
        """Count the head alone."""
        self._head -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Begin to count again."""
        self._head = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - it is always the same
        """Answer what the parser refuses in the form of all errors."""
        sentence = "send HTTP/1.1, with either Content-Length or Transfer-Encoding, not both"
        self._refuse(400, "malformed", sentence)

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

    def _refuse(self, status: int, code: str, sentence: str) -> None:
        """Answer and close the connection."""
        content = json.dumps({"error": {"code": code, "sentence": sentence}}).encode()
        self.transport.write(
            STATUS_LINE[status] + b"content-type: application/json\r\nconnection: close\r\n"
            b"x-content-type-options: nosniff\r\ncache-control: no-store\r\n"
            b"content-length: %d\r\n\r\n%b" % (len(content), content)
        )
        self.transport.close()

    def _watch(self) -> None:
        """Let the clock run exactly while the client has something to do."""
        cycle: Any = self.cycle  # None before the first request
        is_answering = bool(self.pipeline) or (
            cycle is not None and not cycle.response_complete and not cycle.more_body
        )
        # what is left of an answer is still being sent while the connection closes
        waits = self._blocked or self.transport.is_closing() or not is_answering
        if not waits and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        elif waits and self._deadline is None:
            self._deadline = self.loop.call_later(self.limits.seconds, self.transport.abort)
