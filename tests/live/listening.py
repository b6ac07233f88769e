"""A service that listens, in a thread of the test."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import httpx
import uvicorn

from hedgerow.live.admission import Limits
from hedgerow.live.connections import limited_protocol


@contextmanager
def listening(app, limits=None):
    """The app on a port of its own, and a client of it."""
    protocol = limited_protocol(limits or Limits())
    config = uvicorn.Config(
        app, port=0, log_level="critical", timeout_graceful_shutdown=5,
        http=protocol, ws="none", proxy_headers=False,
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.005)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30.0) as http:
            http.open_connections = protocol.open
            yield http
    finally:
        server.should_exit = True
        thread.join()
