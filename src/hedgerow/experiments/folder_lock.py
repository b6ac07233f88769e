"""Who else works in a folder: a lock that the system lets go of when its holder is killed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def folder_lock(folder: Path) -> Iterator[bool]:
    """Take part in a folder and yield whether nobody else does.

    Whoever is alone sweeps up what a killed process left half written. Where the system or the
    file system has no such locks nobody is ever alone and nothing is swept up; files are whole
    there too, because each is renamed into place.
    """
    with (folder / "partial" / "lock").open("ab") as lock:
        alone = _locked(lock, alone=True)
        if alone:
            for part in (folder / "partial").glob("*.part"):
                part.unlink(missing_ok=True)
        _locked(lock, alone=False)  # now others may take part
        yield alone


def _locked(lock: IO[bytes], alone: bool) -> bool:
    """Take the lock, alone at once or never, else together with others; say whether we have it."""
    try:
        import fcntl
    except ImportError:
        return False
    with contextlib.suppress(OSError):  # held by another, or not known to this file system
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB if alone else fcntl.LOCK_SH)
        return True
    return False
