"""The results folder of one experiment, which may grow; a lock lets processes share it."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from hedgerow.experiments.extension import extended
from hedgerow.experiments.records import CHECKS, DamagedError, Record, read_experiment, read_record
from hedgerow.experiments.results import as_json, write_bytes
from hedgerow.release import sources, this_version


@contextmanager
def folder_lock(folder: Path) -> Iterator[bool]:
    """Share a folder and yield whether no other process uses it.

    A process that is alone removes files that a killed process left half written. Without file
    locks no process counts as alone and nothing is removed; files are complete all the same,
    because each is renamed into place.
    """
    with (folder / "partial" / "lock").open("ab") as lock:
        alone = _locked(lock, alone=True)
        if alone:
            for part in (folder / "partial").glob("*.part"):
                part.unlink(missing_ok=True)
            _remove_old_chunks(folder)
        _locked(lock, alone=False)  # now others may take part
        yield alone


def chunks_of(folder: Path) -> Path:
    """Return the folder for the chunks of long games that are not finished."""
    return folder / "partial" / "chunks"


def _remove_old_chunks(folder: Path) -> None:
    """Remove the chunks of games that are finished, or that another state of the library played."""
    for game in chunks_of(folder).glob("*"):
        name, _, state = game.name.rpartition("-")
        if state != sources() or (folder / "runs" / f"{name}.json").is_file():
            shutil.rmtree(game, ignore_errors=True)


def _locked(lock: IO[bytes], alone: bool) -> bool:
    """Take the lock, exclusively without waiting or shared; return whether it was taken."""
    try:
        import fcntl
    except ImportError:
        return False
    with contextlib.suppress(OSError):  # held by another, or not known to this file system
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB if alone else fcntl.LOCK_SH)
        return True
    return False


PARTS = ("partial", "runs", "benchmarks")
OURS = (*PARTS, "experiment.json", "environment.json", "timings.jsonl", "report")


@contextmanager
def open_results(folder: Path, resolved: dict[str, Any], mix: bool = False) -> Iterator[bool]:
    """Create a folder, or check that it belongs to this experiment; yield whether it is unshared.

    Nothing is written before the lock is taken, because taking it removes half-written files.

    Args:
        folder: where the results go.
        resolved: the experiment.
        mix: whether the folder may be of another version of the library.

    """
    _refuse_foreign(folder)
    try:
        for name in PARTS:
            (folder / name).mkdir(parents=True, exist_ok=True)
        chunks_of(folder).mkdir(exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ValueError(f"{folder} is not a folder; give another one") from None
    with folder_lock(folder) as alone:
        if _fits(folder, resolved, mix):
            write_bytes(folder, folder / "experiment.json", as_json(resolved))
        write_bytes(folder, folder / "environment.json", as_json(_environment()))
        yield alone


def refuse_other_states(folder: Path, states: Iterable[str | None]) -> None:
    """Refuse to mix runs of this state of the library with runs of other states."""
    others = sorted({state or "unknown" for state in states} - {sources()})
    if others:
        raise ValueError(
            f"{folder} holds results of another state of the library (sources "
            f"{', '.join(others)}; here {sources()}), which must not be mixed by accident; "
            "give another folder, or allow the mixture with mix_versions=True; the report shows it"
        )


def _refuse_foreign(folder: Path) -> None:
    """Refuse a folder with files that no sweep wrote."""
    if not folder.is_dir() or (folder / "experiment.json").is_file():
        return
    if not {path.name for path in folder.iterdir()} <= set(OURS):
        raise ValueError(f"{folder} is not empty and holds no results; give another folder")


def _fits(folder: Path, resolved: dict[str, Any], mix: bool) -> bool:
    """Return whether `experiment.json` has to be written; refuse a folder of another experiment."""
    try:
        stored = read_experiment(folder)
    except FileNotFoundError:
        return _restored(folder, resolved, "there is no such file")
    except DamagedError as damage:
        return _restored(folder, resolved, damage.why)
    return extended(stored, resolved, folder, mix)


def _restored(folder: Path, resolved: dict[str, Any], why: str) -> bool:
    """Return that the experiment must be written again, if all results there belong to it."""
    for place in CHECKS:
        for path in sorted((folder / place).glob("*.json")):
            try:
                record = read_record(folder, place, path.stem)
            except DamagedError:
                continue  # made again, or reported when it is read
            if not _belongs(record, resolved):
                raise ValueError(
                    f"{folder / 'experiment.json'} is damaged ({why}), and {path} is of another "
                    "experiment; give another folder"
                )
    return True


def _belongs(record: Record, resolved: dict[str, Any]) -> bool:
    """Whether a record is of a game, a method and a seed that an experiment has."""
    games = [
        (
            problem["label"],
            problem["kind"],
            problem["parameters"],
            problem["sha256"],
            problem.get("code"),
            horizon,
        )
        for problem in resolved["problems"]
        for horizon in problem["horizons"]
    ]
    keys = ("problem", "kind", "parameters", "sha256", "code", "horizon")
    return (
        tuple(map(record.get, keys)) in games
        and record["seed"] in (0, *resolved["seeds"])  # recorded data have seed 0
        and record.get("method", resolved["methods"][0]) in resolved["methods"]
        and record.get("method_code") == resolved.get("code", {}).get(record.get("method"))
        and record.get("constants_given") == resolved.get("constants", {}).get(record.get("method"))
    )


def _environment() -> dict[str, Any]:
    """Return what the results should not depend on, but timings do."""
    import numba
    import scipy

    return {
        "hedgerow": this_version(),
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "begun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
