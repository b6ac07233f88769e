"""Requests to the live service over an open connection, with as little work as possible.

A client library takes longer for a request than the service does.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any


class Line:
    """A connection to a service on this machine.

    Args:
        reader: of the connection.
        writer: of the connection.
        token: that its requests carry.

    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str):
        self._reader, self._writer, self._token = reader, writer, token

    @classmethod
    async def open(cls, port: int, token: str) -> Line:
        """Connect."""
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=1 << 22), token)

    async def post(self, path: str, body: bytes) -> tuple[int, Any]:
        """Send JSON; return the status and the JSON of the answer."""
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {self._token}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        size = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        return int(answer[9:12]), json.loads(await self._reader.readexactly(size))

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()
