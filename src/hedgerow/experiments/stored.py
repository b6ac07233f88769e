"""Stored files read with care: each is whole and says what it must, or it is called damaged."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hedgerow.experiments import schema
from hedgerow.experiments.config import FORMAT
from hedgerow.experiments.run_record import curve_rounds
from hedgerow.inputs import Vector
from hedgerow.networks.source_files import UNREADABLE, read_array

NO_REGRET = ("infeasible", "refused")
"""What a benchmark may be that no run can be compared with."""
Record = Mapping[str, Any]


def check_run(record: Record) -> None:
    """Refuse what is no record of a run; keys that only people read are not looked at."""
    _texts(record, "id", "problem", "method", "preset", "benchmark", *_sources(record))
    _whole(record, "seed")
    _whole(record, "horizon", least=1)
    schema.positive(_take(record, "eagerness"), "'eagerness'")
    if schema.one_of(_take(record, "status"), ("done", "refused"), "'status'") == "refused":
        _texts(record, "reason")
        return
    _numbers(record, "cost", "ccv")
    if "ccv_each" in record:
        _several_numbers(record, "ccv_each")
    _whole(record, "oracle_calls", "projections")
    if record.get("constants") is not None:
        _texts(_table(record, "constants"), "how")


def check_benchmark(record: Record) -> None:
    """Refuse what is no record of a benchmark."""
    _texts(record, "id", "problem", *_sources(record))
    _whole(record, "seed")
    _whole(record, "horizon", least=1)
    status = _take(record, "status")
    schema.one_of(status, ("optimal", "gap", *NO_REGRET), "'status'")
    if status == "refused":
        _texts(record, "reason")
    if status not in NO_REGRET or _take(record, "cost") is not None:
        _numbers(record, "cost")
    if status not in NO_REGRET or _take(record, "blind") is not None:
        _numbers(_table(record, "blind"), "cost", "ccv")


def check_experiment(record: Record) -> None:
    """Refuse what is no resolved experiment; other formats are not looked into."""
    _whole(record, "format")
    if record["format"] != FORMAT:
        return
    _texts(record, "name", "about", "hedgerow")
    for key in ("methods", "presets"):
        schema.distinct(_take(record, key), _text, f"'{key}'")
    schema.distinct(_take(record, "eagerness"), schema.positive, "'eagerness'")
    schema.distinct(record.get("eager", record["methods"]), _text, "'eager'")
    schema.seeds(_take(record, "seeds"), "'seeds'")
    if "few" in record:
        _whole(record, "few", least=1)
        schema.distinct(_take(record, "many"), _text, "'many'")
    schema.distinct(_take(record, "problems"), _problem, "'problems'")
    for row in _rows(record, "selection") if "selection" in record else ():
        _texts(row, "problem", "method")
        _whole(row, "horizon", least=1)
        if _take(row, "eagerness") is not None:
            schema.positive(row["eagerness"], "'eagerness'")


def check_selection(record: Record) -> None:
    """Refuse what is no choice of eagerness: its rule and its seeds."""
    _texts(record, "rule")
    if _take(record, "ccv_target") is not None:
        _numbers(record, "ccv_target")
    schema.seeds(_take(record, "train_seeds"), "'train_seeds'")


def check_curves(curves: Vector, horizon: int) -> None:
    """Refuse what are no curves of a game: rows t (from 1 to T), cost, CCV and signed CCV."""
    if curves.ndim != 2 or curves.shape[0] != 4 or not curves.size:
        raise ValueError(f"it must have shape (4, k), got {curves.shape}")
    if not np.isfinite(curves).all():
        raise ValueError("it holds NaN or infinite entries")
    t = curves[0]
    if t[0] != 1.0 or t[-1] != horizon or (np.diff(t) <= 0.0).any():
        raise ValueError(f"its rounds must rise from 1 to {horizon}")


def _problem(table: Any, where: str) -> str:
    """Check one problem of an experiment and return its label."""
    if not isinstance(table, Mapping):
        raise ValueError(f"{where} must be an object")
    _texts(table, "label", "kind")
    schema.distinct(_take(table, "horizons"), schema.count, "'horizons'")
    parameters = _table(table, "parameters")
    for key in _table(table, "sha256"):
        _take(parameters, key)
    return str(table["label"])


def _sources(record: Record) -> tuple[str, ...]:
    """Return the key of the fingerprint, which older releases did not store."""
    return ("sources",) if "sources" in record else ()


def _take(record: Record, key: str) -> Any:
    if key not in record:
        raise ValueError(f"it lacks {key!r}")
    return record[key]


def _text(value: Any, where: str) -> str:
    return str(schema.checked(value, str, where))


def _texts(record: Record, *keys: str) -> None:
    for key in keys:
        _text(_take(record, key), f"'{key}'")


def _numbers(record: Record, *keys: str) -> None:
    for key in keys:
        schema.number(_take(record, key), f"'{key}'")


def _several_numbers(record: Record, key: str) -> None:
    found = record[key]
    if not isinstance(found, list) or len(found) < 2:
        raise ValueError(f"{key!r} must be a list of two numbers or more")
    for k, value in enumerate(found):
        schema.number(value, f"'{key}[{k}]'")


def _whole(record: Record, *keys: str, least: int = 0) -> None:
    for key in keys:
        schema.count(_take(record, key), f"'{key}'", least)


def _table(record: Record, key: str) -> Record:
    found = _take(record, key)
    if not isinstance(found, Mapping):
        raise ValueError(f"{key!r} must be an object")
    return found


def _rows(record: Record, key: str) -> list[Record]:
    found = _take(record, key)
    if not isinstance(found, list) or not all(isinstance(row, Mapping) for row in found):
        raise ValueError(f"{key!r} must be a list of objects")
    return found


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
        raise DamagedError(path, "there is no such file beside its record") from None
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
    raise ValueError(f"{text} is no number of JSON")
