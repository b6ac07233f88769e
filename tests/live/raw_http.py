"""HTTP by hand: requests that no client library would send."""

from __future__ import annotations

import socket


def exchange(port, text, source="127.0.0.1"):
    """Send octets and return the status and the body of the answer; 0 if none came."""
    address = ("127.0.0.1", port)
    with socket.create_connection(address, timeout=30, source_address=(source, 0)) as line:
        line.sendall(text)
        found = b""
        try:
            while part := line.recv(65536):
                found += part
        except ConnectionResetError:
            pass
    head, _, body = found.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]) if head else 0, body


def request(method, target, body=b"", **headers):
    """Return the octets of a request that closes its connection; underscores stand for hyphens."""
    lines = {"Host": "127.0.0.1", "Connection": "close"}
    if method == "POST":
        lines |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = f"{method} {target} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines.items())
    return head.encode("latin-1") + b"\r\n" + body
