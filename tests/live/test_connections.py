"""Clients that hold connections: how many, and for how long."""

from __future__ import annotations

import asyncio
import resource
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import pytest
from listening import listening
from raw_http import exchange, request

import hedgerow as hr
from hedgerow.live.admission import Limits
from hedgerow.live.service import make_app
from hedgerow.live.tokens import make_token

HALF_SENT = (
    b"",
    b"GET /health HT",
    b"GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ",
    b"POST /sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Content-Length: 100\r\n\r\n{",
    b"POST /sessions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
    b"GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
)
"""Requests that never end."""
ELSEWHERE = "127.0.0.2"
"""A second address of this machine."""


def other_address_works():
    try:
        with socket.socket() as tried:
            tried.bind((ELSEWHERE, 0))
    except OSError:
        return False
    return True


needs_second_address = pytest.mark.skipif(
    not other_address_works(), reason="needs a second loopback address, 127.0.0.2, as Linux has"
)


def connect(port, source="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(source, 0))


def read_until_closed(line):
    """Return what comes until the service closes; a timeout of the socket is an error."""
    found = b""
    try:
        while part := line.recv(65536):
            found += part
    except ConnectionResetError:
        pass
    return found


def wait_until(condition):
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("this did not happen within a minute")


def drip(line):
    """Send an octet now and then, for twenty seconds at most."""
    for _ in range(400):
        line.sendall(b"x")
        time.sleep(0.05)


def flood(line):
    """Send 25 MiB."""
    for _ in range(400):
        line.sendall(b"x" * (1 << 16))


@contextmanager
def service(folder, **limits):
    store = hr.live.Store(f"{folder}/s.db")
    token = make_token(store, "admin")
    held = Limits(**limits)
    with listening(make_app(store, limits=held), held) as http:
        yield http.base_url.port, token


def test_a_request_that_does_not_end_is_closed(folder):
    with service(folder, seconds=0.5) as (port, token), ExitStack() as lines:
        opened = []
        for begin in (*HALF_SENT, HALF_SENT[3].replace(b"{", f"{token}".encode())):
            line = lines.enter_context(connect(port))
            line.sendall(begin)
            opened.append(line)
        for line in opened:
            read_until_closed(line)
        assert exchange(port, request("GET", "/health"))[0] == 200


def test_sending_octet_by_octet_does_not_keep_a_connection(folder):
    for begin in (b"GET /health HTTP/1.1\r\nX: ", HALF_SENT[3]):
        with service(folder, seconds=0.5) as (port, _), connect(port) as line:
            line.sendall(begin)
            with pytest.raises((ConnectionResetError, BrokenPipeError)):
                drip(line)


def test_the_next_request_of_a_connection_has_the_same_limit(folder):
    whole = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    for rest in (b"", b"GET /hea"):
        with service(folder, seconds=0.5) as (port, _), connect(port) as line:
            line.sendall(whole + rest)
            assert read_until_closed(line).count(b"200 OK") == 1


def test_a_client_that_does_not_read_is_closed(folder):
    limits = Limits(seconds=0.5)
    store = hr.live.Store(f"{folder}/s.db")
    with listening(make_app(store, limits=limits), limits) as http, socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", http.base_url.port))
        line.sendall(b"GET /dashboard/bokeh.js HTTP/1.1\r\nHost: x\r\n\r\n" * 40)
        wait_until(lambda: http.open_connections.total() == 1)
        wait_until(lambda: http.open_connections.total() == 0)
        line.settimeout(60)
        assert read_until_closed(line).count(b"200 OK") < 40


@pytest.mark.parametrize(
    "begin",
    [
        b"GET /health HTTP/1.1\r\nX: ",
        b"GET /",
        b"POST /sessions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
        b"POST /sessions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;x=",
    ],
    ids=["header", "address", "trailer", "chunk"],
)
def test_a_head_without_end_is_refused(folder, begin):
    """Well before the time limit, and before it fills the memory."""
    with service(folder, seconds=60.0) as (port, _), connect(port) as line:
        line.sendall(begin)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            flood(line)
        assert exchange(port, request("GET", "/health"))[0] == 200


def test_a_long_head_gets_an_answer(folder):
    with service(folder) as (port, _):
        assert exchange(port, request("GET", "/health", X="x" * 60_000))[0] == 200
        status, body = exchange(port, request("GET", "/health", X="x" * 70_000)[:-2])
        assert status == 431
        assert b"a head may have 65536 bytes" in body


def test_a_body_in_many_chunks_is_no_head(folder):
    chunks = b"3\r\n   \r\n" * 5000 + b"2\r\n{}\r\n0\r\n\r\n"
    head = b"POST /sessions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: "
    head += b"application/json\r\nTransfer-Encoding: chunked\r\nAuthorization: Bearer "
    with service(folder) as (port, token):
        status, body = exchange(port, head + token.encode() + b"\r\n\r\n" + chunks)
        assert status == 422
        assert b"is missing" in body


async def slow_app(scope, receive, send):
    """Answer after a second."""
    if scope["type"] == "http":
        await receive()
        await asyncio.sleep(1.0)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"late"})


def test_the_time_that_an_answer_takes_is_not_limited():
    with listening(slow_app, Limits(seconds=0.2)) as http:
        assert http.get("/").text == "late"
        assert http.post("/", content=b"x" * 100_000).text == "late"
        assert http.get("/").text == "late"  # on the same connection
        with connect(http.base_url.port) as line:  # two at once
            line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 2)
            assert read_until_closed(line).count(b"late") == 2


def test_a_connection_lives_on_while_requests_come(folder):
    """For longer than one request may take."""
    with service(folder, seconds=3.0) as (port, _), connect(port) as line:
        for _ in range(16):
            line.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            found = b""
            while not found.endswith(b'{"status":"ok"}'):
                found += (part := line.recv(65536))
                assert part, "the service closed the connection"
            time.sleep(0.2)


@needs_second_address
def test_one_address_does_not_take_the_connections_of_others(folder):
    with service(folder, per_address=5) as (port, _), ExitStack() as lines:
        held = [lines.enter_context(connect(port, ELSEWHERE)) for _ in range(12)]
        assert exchange(port, request("GET", "/health"), ELSEWHERE)[0] == 0
        for line in held[5:]:
            assert read_until_closed(line) == b""
        assert exchange(port, request("GET", "/health"))[0] == 200
        for line in held[:5]:  # those within the limit work
            line.sendall(request("GET", "/health"))
            assert b"200 OK" in read_until_closed(line)
        assert exchange(port, request("GET", "/health"), ELSEWHERE)[0] == 200


@needs_second_address
def test_connections_are_limited_in_all(folder):
    with (
        service(folder, connections=6, per_address=4, seconds=3.0) as (port, _),
        ExitStack() as lines,
    ):
        for source in ("127.0.0.2", "127.0.0.3"):
            for _ in range(4):
                lines.enter_context(connect(port, source))
        assert exchange(port, request("GET", "/health"))[0] == 0
        wait_until(lambda: exchange(port, request("GET", "/health"))[0] == 200)


@needs_second_address
def test_a_thousand_half_sent_requests_shut_nobody_out(folder):
    """The command itself, with the usual number of open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1400:
        pytest.skip(f"needs 1400 open files; this system allows {hard}")
    with hr.live.Store(f"{folder}/s.db") as store:
        make_token(store, "observe")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    code = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024));"
    code += "from hedgerow.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", f"{folder}/s.db", "--port", str(port)]
    process = subprocess.Popen(command)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1400, hard))
    try:
        for _ in range(600):
            try:
                connect(port).close()
                break
            except ConnectionRefusedError:
                assert process.poll() is None
                time.sleep(0.1)
        with ExitStack() as lines:
            for _ in range(1100):
                line = lines.enter_context(connect(port, ELSEWHERE))
                line.sendall(HALF_SENT[2])
            assert exchange(port, request("GET", "/health"))[0] == 200
            assert exchange(port, request("GET", "/sessions"))[0] == 401
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        process.terminate()
        process.wait(60)
