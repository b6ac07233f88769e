"""Which sources run: the version, and digests that tell two trees of one version apart."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import import_module
from pathlib import Path

PACKAGE = Path(__file__).parent
OUTSIDE = ("cli", "report")
"""Subpackages that no result depends on: layers above the experiments."""


@cache
def sources() -> str:
    """Return the fingerprint of this library, read once in each process."""
    return fingerprint(PACKAGE)


@cache
def commands() -> str:
    """Return the fingerprint of commands and reports, which `sources` leaves out."""
    return _digest(PACKAGE, outside=True)


def this_version() -> str:
    """Return the version and digests of all sources: two different trees never say the same."""
    return f"{_version()} (sources {sources()}, commands {commands()})"


def this_release() -> str:
    """Return the version and the fingerprint, as stores, snapshots and run files name them."""
    return f"{_version()} {sources()}"


def _version() -> str:
    return str(import_module("hedgerow").__version__)  # the package itself is above this layer


def fingerprint(package: Path) -> str:
    """Return 16 digits that are the same for the same names and octets of a package's sources.

    Commands and reports are left out: no result depends on them.
    """
    return _digest(package, outside=False)


def _digest(package: Path, *, outside: bool) -> str:
    files = {path.relative_to(package).as_posix(): path for path in package.rglob("*.py")}
    digest = hashlib.sha256()
    for name in sorted(files):
        if (name.partition("/")[0] in OUTSIDE) == outside:
            content = files[name].read_bytes()
            digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]
