"""Data files are known by what they say: the SHA-256 of their octets."""

from __future__ import annotations

import hashlib
from pathlib import Path


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
    """A data file is gone, or says something else than when the experiment was read."""
