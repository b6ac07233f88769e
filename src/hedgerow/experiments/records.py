"""Validation of stored records and curves; `hedgerow.experiments.results` describes the files."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from hedgerow.experiments.experiment import FORMAT
from hedgerow.experiments.validation import (
    Count,
    Distinct,
    Filled,
    Number,
    Positive,
    Seed,
    Seeds,
    Text,
    distinct,
    parse,
)
from hedgerow.inputs import Vector
from hedgerow.networks.source_files import UNREADABLE, read_array

NO_REGRET = ("infeasible", "refused")
"""The status of benchmarks without a regret."""
Record = Mapping[str, Any]


def finite(value: float) -> float | None:
    """Return a number, or None where it is not finite.

    >>> finite(2.5), finite(math.inf)
    (2.5, None)
    """
    return float(value) if math.isfinite(value) else None


def sentence(error: Exception) -> str:
    """Return the message of an error on one line."""
    return " ".join(str(error).split())


POINTS = 400
"""The largest number of points of a curve."""


def curve_rounds(horizon: int) -> Vector:
    """Return the rounds that curves show: evenly spaced ones, and more of the first.

    >>> curve_rounds(5)
    array([1., 2., 3., 4., 5.])
    >>> t = curve_rounds(100_000)
    >>> t.size <= POINTS, t[:3], t[-1]
    (True, array([1., 2., 3.]), np.float64(100000.0))
    """
    even = np.linspace(1, horizon, POINTS - POINTS // 4)
    early = np.geomspace(1, horizon, POINTS // 4)
    return np.unique(np.rint(np.concatenate((even, early))))


def curves(costs: Vector, violations: Vector) -> Vector:
    """Return rows t, cumulative cost, CCV and signed CCV at the sampled rounds."""
    t = curve_rounds(len(costs))
    rows = costs, np.maximum(violations, 0.0), violations
    return np.stack((t, *(np.cumsum(row)[t.astype(np.intp) - 1] for row in rows)))


class _Stored(BaseModel):
    """What must be in a stored object; keys that only people read are not validated."""

    model_config = ConfigDict(strict=True)


class _Game(_Stored):
    id: Text
    problem: Text
    seed: Seed
    horizon: Count
    sources: Text = "unknown"  # older releases did not store it


class _Refused(_Game):
    status: Literal["refused"]
    reason: Text


class _Constants(_Stored):
    how: Text


class _Run(_Game):
    method: Text
    preset: Text
    benchmark: Text
    eagerness: Positive


def _check_several(numbers: list[float]) -> list[float]:
    if len(numbers) < 2:
        raise ValueError(f" must be a list of two numbers or more, got {numbers}")
    return numbers


class _DoneRun(_Run):
    status: Literal["done"]
    cost: Number
    ccv: Number
    ccv_each: Annotated[list[Number], AfterValidator(_check_several)] | None = None
    constraint_units: Annotated[list[Positive], AfterValidator(_check_several)] | None = None
    infeasible_rounds: Seed = 0
    oracle_calls: Seed
    projections: Seed
    constants: _Constants | None = None


class _Unconstrained(_Stored):
    cost: Number
    ccv: Number


class _Benchmark(_Game):
    status: Literal["optimal", "gap"]
    cost: Number
    blind: _Unconstrained


class _NoRegret(_Game):
    status: Literal["infeasible", "refused"]
    cost: Number | None
    blind: _Unconstrained | None


class _Problem(_Stored):
    label: Text
    kind: Text
    horizons: Distinct[Count]
    parameters: dict[str, Any]
    sha256: dict[str, str]

    @model_validator(mode="after")
    def _check_files(self) -> _Problem:
        if missing := self.sha256.keys() - self.parameters.keys():
            raise ValueError(f".parameters lacks the key {min(missing)!r}")
        return self


class _Choice(_Stored):
    problem: Text
    method: Text
    horizon: Count
    eagerness: Positive | None


def _check_labels(problems: list[_Problem]) -> list[_Problem]:
    distinct([problem.label for problem in problems])
    return problems


class _Experiment(_Stored):
    name: Text
    about: Text
    hedgerow: Text
    methods: Distinct[Text]
    presets: Distinct[Text]
    eagerness: Distinct[Positive]
    eagerness_methods: Distinct[Text] | None = None
    seeds: Seeds
    common_seeds: Count | None = None
    all_seeds: Distinct[Text] | None = None
    problems: Annotated[Filled[_Problem], AfterValidator(_check_labels)]
    selection: list[_Choice] | None = None


class _Format(_Stored):
    format: Seed


class _Selection(_Stored):
    rule: Text
    ccv_target: Number | None
    train_seeds: Seeds


def check_run(record: Record) -> None:
    """Refuse what is not the record of a run."""
    parse(_Run, record, root="it")
    parse(_Refused if record.get("status") == "refused" else _DoneRun, record, root="it")


def check_benchmark(record: Record) -> None:
    """Refuse what is not the record of a benchmark."""
    if record.get("status") == "refused":
        parse(_Refused, record, root="it")
    parse(_NoRegret if record.get("status") in NO_REGRET else _Benchmark, record, root="it")


def check_experiment(record: Record) -> None:
    """Refuse what is not a resolved experiment; other formats are not validated."""
    if parse(_Format, record, root="it").format == FORMAT:
        parse(_Experiment, record, root="it")


def check_selection(record: Record) -> None:
    """Refuse what is not a choice of eagerness: its rule and its seeds."""
    parse(_Selection, record, root="it")


def check_curves(curves: Vector, horizon: int) -> None:
    """Refuse what are not the curves of a game: rows t (from 1 to T), cost, CCV and signed CCV."""
    if curves.ndim != 2 or curves.shape[0] != 4 or not curves.size:
        raise ValueError(f"it must have shape (4, k), got {curves.shape}")
    if not np.isfinite(curves).all():
        raise ValueError("it holds NaN or infinite entries")
    t = curves[0]
    if t[0] != 1.0 or t[-1] != horizon or (np.diff(t) <= 0.0).any():
        raise ValueError(f"its rounds must rise from 1 to {horizon}")


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
    """Return the validated content of a JSON file."""
    try:
        found = json.loads(path.read_bytes(), parse_constant=_no_number)
        if not isinstance(found, dict):
            raise ValueError("it is not a JSON object")
        check(found)
    except (ValueError, RecursionError) as error:
        why = str(error).removesuffix("; give it")  # advice for authors of files
        raise DamagedError(path, why) from None
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


def signed(record: Record, curves: bytes | None) -> dict[str, Any]:
    """Return a record with the SHA-256 of its curves' file and, last, of the record itself."""
    digest = None if curves is None else hashlib.sha256(curves).hexdigest()
    found = {**record, "curves_sha256": digest}
    return {**found, "checksum": checksum(found)}


def checksum(record: Record) -> str:
    """Return the SHA-256 of a record's other entries, whatever their order in the file."""
    rest = {key: value for key, value in record.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def read_record(folder: Path, place: Place, name: str) -> Record:
    """Return the record of a run or a benchmark, which must be as it was written.

    Version 0.2 and earlier ones wrote no `checksum`. Such a record is read as it is: nothing shows
    whether its numbers were changed.
    """

    def check(record: Record) -> None:
        CHECKS[place](record)
        if record["id"] != name:
            raise ValueError(f"its id is {record['id'][:80]!r}")
        if record.get("checksum", found := checksum(record)) != found:
            raise ValueError("it was changed after it was written: its checksum does not fit")

    return read_json(folder / place / f"{name}.json", check)


def read_curves(folder: Path, place: Place, record: Record) -> Vector:
    """Return the curves of the run or the benchmark of a record."""
    path = folder / place / f"{record['id']}.npy"
    try:
        content = path.read_bytes()
        if record.get("curves_sha256", digest := hashlib.sha256(content).hexdigest()) != digest:
            raise ValueError("it was changed after it was written: its SHA-256 does not fit")
        curves = read_array(io.BytesIO(content), len(content), "it").astype(float)
        check_curves(curves, record["horizon"])
    except FileNotFoundError:
        raise DamagedError(path, "the file is missing beside its record") from None
    except UNREADABLE as error:
        raise DamagedError(path, str(error) or type(error).__name__) from None
    return curves


def read_whole(folder: Path, place: Place, name: str) -> Record:
    """Return a record whose curves, and whose own benchmark where it has one, are whole too."""
    record = read_record(folder, place, name)
    if record["status"] != "refused":
        t = read_curves(folder, place, record)[0]
        if not np.array_equal(t, curve_rounds(record["horizon"])):
            raise DamagedError(folder / place / f"{name}.npy", "it shows other rounds than a sweep")
        if place == "runs" and record["benchmark"] == name:  # a game that reacted to the plays
            read_whole(folder, "benchmarks", name)
    return record


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number of JSON")
