"""Results to files: each is written whole or not at all."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.atomic_write import replace_files
from hedgerow.experiments.results import Output
from hedgerow.experiments.stopped import UnwritableError


def write(folder: Path, output: Output) -> None:
    """Write one output, the array before the record that vouches for it."""
    name, place = output.record["id"], folder / output.place
    if output.curves is not None:
        buffer = BytesIO()
        np.save(buffer, np.ascontiguousarray(output.curves), allow_pickle=False)
        write_bytes(folder, place / f"{name}.npy", buffer.getvalue())
    write_bytes(folder, place / f"{name}.json", as_json(output.record))


def write_bytes(folder: Path, path: Path, content: bytes) -> None:
    """Write a file whole or not at all, whoever else writes the same."""
    try:
        replace_files({path: content}, folder / "partial")
    except OSError as error:
        raise UnwritableError(path, error) from None


def add_timing(folder: Path, output: Output, task_seconds: float) -> None:
    """Append how long a task took; the newline comes first and ends a line that was cut short."""
    entry = {
        "place": output.place,
        "id": output.record["id"],
        "seconds": round(output.seconds, 6),
        "task_seconds": round(task_seconds, 6),
        "compiled": output.compiled,
    }
    path = folder / "timings.jsonl"
    try:
        with path.open("ab") as file:
            file.write(b"\n" + json.dumps(entry).encode())
    except OSError as error:
        raise UnwritableError(path, error) from None


def as_json(record: Any) -> bytes:
    """Return the one JSON text of a record: sorted keys, exact floats, no NaN."""
    return (json.dumps(record, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()
