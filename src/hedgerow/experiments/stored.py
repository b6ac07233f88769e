"""Stored files read with care: each is whole and says what it must, or it is called damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hedgerow.experiments.config import FORMAT
from hedgerow.experiments.curves import sampled_rounds
from hedgerow.experiments.record_checks import (
    Record,
    check_benchmark,
    check_curves,
    check_experiment,
    check_run,
)
from hedgerow.inputs import Vector
from hedgerow.networks.arrays import UNREADABLE, read_array

Place = Literal["runs", "benchmarks"]
CHECKS: dict[Place, Callable[[Record], None]] = {"runs": check_run, "benchmarks": check_benchmark}


class DamagedError(ValueError):
    """A stored file that cannot be used; a sweep makes it again."""

    def __init__(self, path: Path, why: object):
        self.path, self.why = path, " ".join(str(why).split())
        super().__init__(
            f"{path} is damaged ({self.why}); run the experiment again, which makes it again"
        )


def read_json(path: Path, check: Callable[[Record], None]) -> dict[str, Any]:
    """Return what a JSON file says, checked."""
    try:
        found = json.loads(path.read_bytes(), parse_constant=_no_number)
        if not isinstance(found, dict):
            raise ValueError("it is no JSON object")
        check(found)
    except (ValueError, RecursionError) as error:
        raise DamagedError(path, error) from None
    return found


def read_experiment(folder: Path) -> dict[str, Any]:
    """Return the resolved experiment of a folder."""
    path = folder / "experiment.json"
    found = read_json(path, check_experiment)
    if found["format"] != FORMAT:
        raise ValueError(
            f"{path} has format {found['format']}, this release reads {FORMAT}; read it with the "
            "release that wrote it"
        )
    return found


def read_record(folder: Path, place: Place, name: str) -> Record:
    """Return the record of a run or a benchmark."""
    path = folder / place / f"{name}.json"
    record = read_json(path, CHECKS[place])
    if record["id"] != name:
        raise DamagedError(path, f"its id is {record['id'][:80]!r}")
    return record


def read_curves(folder: Path, place: Place, name: str, horizon: int) -> Vector:
    """Return the curves of a run or a benchmark of so many rounds."""
    path = folder / place / f"{name}.npy"
    try:
        with path.open("rb") as file:
            curves = read_array(file, path.stat().st_size, "it").astype(float)
        check_curves(curves, horizon)
    except FileNotFoundError:
        raise DamagedError(path, "there is no such file beside its record") from None
    except UNREADABLE as error:
        raise DamagedError(path, str(error) or type(error).__name__) from None
    return curves


def read_whole(folder: Path, place: Place, name: str) -> Record:
    """Return a record whose curves, and whose own benchmark where it has one, are whole too."""
    record = read_record(folder, place, name)
    if record["status"] != "refused":
        t = read_curves(folder, place, name, record["horizon"])[0]
        if not np.array_equal(t, sampled_rounds(record["horizon"])):
            raise DamagedError(folder / place / f"{name}.npy", "it shows other rounds than a sweep")
        if place == "runs" and record["benchmark"] == name:  # a game that reacted to the plays
            read_whole(folder, "benchmarks", name)
    return record


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")
