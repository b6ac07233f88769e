"""The folder of a sweep: one experiment's, which may grow by seeds."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.experiment.results import Record, as_json, read_record, write_bytes
from hedgerow.experiment.sharing import shared

PARTS = ("partial", "runs", "benchmarks")
FREE = ("about", "seeds", "tune")
"""Keys that may differ from one sweep of a folder to the next: no run depends on them."""


@contextmanager
def opened(folder: Path, resolved: dict[str, Any]) -> Iterator[bool]:
    """Make a folder, or make sure that it belongs to this experiment; yield whether we are alone.

    Everything is written after the lock is taken: who is alone sweeps up half-written files.
    """
    _refuse_foreign(folder)
    try:
        for name in PARTS:
            (folder / name).mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ValueError(f"{folder} is no folder; give another with --out") from None
    with shared(folder) as alone:
        path = folder / "experiment.json"
        if not path.is_file() or _grows(read_record(path), resolved, folder):
            write_bytes(folder, path, as_json(resolved))
        write_bytes(folder, folder / "environment.json", as_json(_environment()))
        yield alone


def _refuse_foreign(folder: Path) -> None:
    """Refuse a folder with files in it that no sweep made."""
    if folder.is_dir() and not (folder / "experiment.json").is_file():
        found = {path.name for path in folder.iterdir()}
        if not found <= set(PARTS):  # these alone are what a kill left just begun
            raise ValueError(f"{folder} is not empty and holds no results; give another with --out")


def _grows(stored: Record, asked: dict[str, Any], folder: Path) -> bool:
    """Return whether more is asked for than is stored; refuse anything but further seeds."""
    fixed = [{k: v for k, v in of.items() if k not in FREE} for of in (stored, asked)]
    old, new = list(stored.get("seeds", [])), asked["seeds"]
    shorter = min(len(old), len(new))
    if fixed[0] != fixed[1] or old[:shorter] != new[:shorter]:
        raise ValueError(
            f"{folder} holds the results of another experiment, or of another version of the "
            "library; a folder may grow only by seeds after those it has: give another folder "
            "with --out, or remove it"
        )
    return len(new) > len(old)


def _environment() -> dict[str, Any]:
    """Return what the results should not depend on, but timings do."""
    import numba
    import scipy

    return {
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "begun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
