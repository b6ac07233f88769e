"""The state of the library: runs of two states are not compared unawares."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

OUTSIDE = ("cli", "report")
"""Rooms that no run depends on: they lie above the experiments (see import-linter's layers)."""


@cache
def sources() -> str:
    """Return a fingerprint of the library's sources: 16 digits, the same for the same octets.

    Read once in each process. Commands and reports are left out: no result depends on them.
    """
    root = Path(__file__).parent.parent
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*.py")}
    digest = hashlib.sha256()
    for name in sorted(files):
        if not name.startswith(tuple(f"{room}/" for room in OUTSIDE)):
            content = files[name].read_bytes()
            digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]
