"""The state of the library: runs of two states are not compared unawares."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

OUTSIDE = ("cli", "report")
"""Rooms that no run depends on: they lie above the experiments (see import-linter's layers)."""


@cache
def sources() -> str:
    """Return the fingerprint of this library, read once in each process."""
    return fingerprint(Path(__file__).parent.parent)


def fingerprint(package: Path) -> str:
    """Return 16 digits that are the same for the same names and octets of a package's sources.

    Commands and reports are left out: no result depends on them.
    """
    files = {path.relative_to(package).as_posix(): path for path in package.rglob("*.py")}
    digest = hashlib.sha256()
    for name in sorted(files):
        if name.partition("/")[0] not in OUTSIDE:
            content = files[name].read_bytes()
            digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]
