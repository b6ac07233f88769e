"""What a stored record must say: each check names the key that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hedgerow.experiments import schema
from hedgerow.experiments.config import FORMAT
from hedgerow.inputs import Vector

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
