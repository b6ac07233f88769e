"""Who else works in a folder: a lock that the system lets go of when its holder is killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def shared(folder: Path) -> Iterator[bool]:
    """Take part in a folder and yield whether nobody else does.

    Whoever is alone sweeps up what a killed process left half written. On systems without such
    locks nobody is ever alone and nothing is swept up; files are whole there too, because each
    is renamed into place.
    """
    try:
        import fcntl
    except ImportError:
        yield False
        return
    with (folder / "partial" / "lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
            for part in (folder / "partial").glob("*.part"):
                part.unlink()
        except OSError:
            alone = False
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield alone
