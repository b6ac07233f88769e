"""HAProxy's runtime socket: commands and their answers."""

from __future__ import annotations

import re
import socket
import time
from pathlib import Path

LARGEST = 1 << 24
"""The most bytes of an answer."""
SERVER = re.compile(r"[A-Za-z0-9_.:-]+")
"""Names of HAProxy, so that none of them can be two commands."""


class HaproxyError(ValueError):
    """HAProxy cannot be reached, or refused; one sentence says why."""


def ask_haproxy(path: Path, command: str, timeout: float) -> str:
    """Send one line of commands and return the answer.

    Args:
        path: the socket of a `stats socket ... level admin` line.
        command: one or more commands, separated by semicolons.
        timeout: the seconds that all of it may take.

    """
    until, parts, size = time.monotonic() + timeout, [], 0
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout)
            connection.connect(str(path))
            connection.sendall(command.encode() + b"\n")
            while part := connection.recv(1 << 16):
                size += len(part)
                if size > LARGEST or time.monotonic() > until:
                    raise HaproxyError(f"the answer of HAProxy at {path} has no end")
                parts.append(part)
    except TimeoutError:
        raise HaproxyError(f"HAProxy at {path} did not answer within {timeout:g} s") from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise HaproxyError(f"HAProxy at {path} cannot be reached: {why}") from None
    return b"".join(parts).decode("utf-8", "replace")


def check_names(backend: str, servers: tuple[str, ...]) -> None:
    """Refuse names that HAProxy cannot have."""
    for name in (backend, *servers):
        if not SERVER.fullmatch(name):
            raise ValueError(
                f"HAProxy's names are of letters, digits, '_', '.', ':' and '-', got {name[:60]!r}"
            )
