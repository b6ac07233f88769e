"""Fingerprints (SHA-256) of data files and of code."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_sha256(path: Path, expected: str) -> None:
    """Refuse a file that was changed, or that is another one on this machine."""
    if not path.is_file():
        raise ChangedFileError(f"there is no file {path} on this machine; workers need it there")
    if sha256(path) != expected:
        raise ChangedFileError(
            f"{path} is not the file that the experiment was read with: its SHA-256 is another; "
            "start the experiment again, or copy the file to this worker"
        )


class ChangedFileError(RuntimeError):
    """A data file or a code file is missing or was changed after the experiment was read."""


def code_of(build: Callable[..., Any]) -> str:
    """Return the SHA-256 of the file that defines a function; empty for the library's own.

    What the file imports is not hashed. After a change of the file, restart Python.
    """
    function = getattr(build, "func", build)  # of a partial
    name = str(getattr(function, "__module__", None) or type(function).__module__)
    file = getattr(sys.modules.get(name), "__file__", None)
    if name.partition(".")[0] == "hedgerow" or file is None:
        return ""
    return sha256(Path(file))


def check_code(find: Callable[[str], Any], name: str, expected: str) -> None:
    """Refuse code that this process lacks or has in another version."""
    if not expected:
        return
    try:
        build = find(name).build
    except ValueError as error:
        raise ChangedFileError(f"{error}; every worker needs it") from None
    if code_of(build) != expected:
        raise ChangedFileError(
            f"the code of {name} is not that which the experiment was read with: its SHA-256 is "
            "another; start the experiment again, or bring all workers to one state"
        )
