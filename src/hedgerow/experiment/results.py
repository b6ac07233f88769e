"""Result files: one folder, one record and one array for each run, and no other index.

    experiment.json            what was asked for: every key of the experiment file, resolved
    runs/ID.json  .npy         one run: its record, and its curves
    benchmarks/ID.json  .npy   the best fixed action of one (problem, horizon, seed), likewise
    timings.jsonl              how long each took: the game alone (`seconds`), with drawing the
                               rounds and constants (`task_seconds`), and whether the compiled
                               loop played it (`compiled`); no part of the results
    environment.json           versions and machine of the last session; no part of the results
    partial/                   files being written; empty when nothing runs
    selection.json             only in a folder of `hedgerow tune`: see `hedgerow.experiment.tuning`

A file is complete or absent: it is written under `partial/` and renamed, the array first, so that
a record means that its run is finished. The bytes of `experiment.json`, `runs/` and `benchmarks/`
depend on the experiment and the library alone, not on workers, order, kills or clocks.

*Record of a run*: `id`; `problem` (its label), `kind`, `parameters`; `method`, `preset`,
`eagerness`, `horizon`, `seed`; `status`: "done", or "refused" with the `reason` when the method
does not take this problem (then there is no array and the numbers are null). Numbers, exact totals
over all rounds: `cost`, `ccv` (sum of max(0, g_t)), `signed_ccv` (sum of g_t), `largest_violation`,
`violated_rounds`, `oracle_calls`, `projections`, `certificate` (a proved bound of the regret, null
where the method has none), `dim`. `notes` are the warnings of the method, `constants` what a
theorem was told (null if nothing): `lipschitz` and `bound`, pairs (costs, constraints), and `how`
they were found. `benchmark` is the id of the file in `benchmarks/`; a problem that reacts to the
plays has one for each run.

*Record of a benchmark*: `id`, `problem`, `kind`, `parameters`, `horizon`, `seed`, `dim`; `cost`,
`lower_bound`, `gap`, `status` ("optimal", "gap", "infeasible"), `violation`, `ccv` as in
`hedgerow.Benchmark` (null where infinite; status "refused" with a `reason` when a problem does not
take its seed); `blind`: `cost` and `ccv` of the best fixed action that ignores the
constraint. Regret is a run's cost minus this cost; it does not exist when infeasible.

*Curves*: float64 of shape (4, k), k <= 400, with rows t (the round, from 1 to T), cumulative cost,
CCV and signed CCV up to and including round t. Runs and benchmarks of one horizon share the same t,
so a regret curve is row 1 of the run minus row 1 of its benchmark.

`Results(folder)` reads it all, joins runs with benchmarks and reports what is missing.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from hedgerow.inputs import Vector

Record = Mapping[str, Any]
NO_REGRET = ("infeasible", "refused")
"""What a benchmark may be that no run can be compared with."""
Place = Literal["runs", "benchmarks"]


class Output(NamedTuple):
    """What one task leaves behind: a record and, unless refused, its curves.

    `seconds` is the time of the game, or of the search for the best action, by itself; `compiled`
    is whether the compiled loop played the game, and None where no game was played.
    """

    place: Place
    record: Record
    curves: Vector | None
    seconds: float = 0.0
    compiled: bool | None = None


class RunResult(NamedTuple):
    """A finished run with its benchmark.

    Attributes:
        record: the run's record.
        benchmark: the benchmark's record; None when it is not there yet, or the run was refused.
        regret: cost minus the benchmark's, None where there is no regret.

    """

    record: Record
    benchmark: Record | None
    regret: float | None


@dataclass(frozen=True, eq=False)
class Results:
    """A results folder, read.

    Args:
        folder: the folder of a sweep, whole or still growing.

    """

    folder: Path

    def __post_init__(self) -> None:
        if not (self.folder / "experiment.json").is_file():
            raise ValueError(f"{self.folder} holds no results: it has no experiment.json")

    @cached_property
    def experiment(self) -> dict[str, Any]:
        """The resolved experiment."""
        return dict(read_record(self.folder / "experiment.json"))

    @cached_property
    def benchmarks(self) -> dict[str, Record]:
        """The records of all benchmarks, by id."""
        return {record["id"]: record for record in self._records("benchmarks")}

    @cached_property
    def runs(self) -> tuple[RunResult, ...]:
        """All runs that are there, refused ones included, sorted by id."""
        return tuple(self._joined(record) for record in self._records("runs"))

    def curves(self, result: RunResult) -> Vector:
        """Return rows t, cumulative cost, CCV, signed CCV of a run that is done."""
        return self._array("runs", result.record["id"])

    def benchmark_curves(self, result: RunResult) -> Vector:
        """Return the same rows for the benchmark of a run."""
        return self._array("benchmarks", result.record["benchmark"])

    def timings(self) -> dict[str, float]:
        """Return the seconds that each game took, by the run's id.

        Rounds that are fixed beforehand are drawn before the clock starts, unless they are too
        many (`hedgerow.experiment.drawn`). The first game of a process may include compiling.
        """
        return {name: float(entry["seconds"]) for name, entry in self._games().items()}

    def engines(self) -> dict[str, bool]:
        """Return whether the compiled loop played each game, by the run's id."""
        return {name: bool(entry["compiled"]) for name, entry in self._games().items()}

    def _games(self) -> dict[str, Record]:
        """Return the last entry of each run that was played, by its id."""
        path, games = self.folder / "timings.jsonl", {}
        for line in path.read_text().splitlines() if path.is_file() else ():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # a line cut short by a kill
            if entry["place"] == "runs" and entry.get("compiled") is not None:
                games[entry["id"]] = entry
        return games

    def _joined(self, record: Record) -> RunResult:
        best = self.benchmarks.get(record["benchmark"])
        if record["status"] != "done" or best is None or best["status"] in NO_REGRET:
            return RunResult(record, best, None)
        return RunResult(record, best, record["cost"] - best["cost"])

    def _records(self, place: Place) -> Iterator[Record]:
        for path in sorted((self.folder / place).glob("*.json")):
            yield read_record(path)

    def _array(self, place: Place, name: str) -> Vector:
        path = self.folder / place / f"{name}.npy"
        try:
            return np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)
        except (ValueError, EOFError) as error:
            raise _damaged(path, error) from None


def read_record(path: Path) -> Record:
    """Return what a JSON file of results says."""
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise _damaged(path, error) from None
    if not isinstance(found, dict):
        raise _damaged(path, "it is no JSON object")
    return found


def _damaged(path: Path, why: object) -> ValueError:
    return ValueError(f"{path} is damaged ({why}); remove it and run the experiment again")


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
    part = folder / "partial" / f"{uuid.uuid4().hex}.part"
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def add_timing(folder: Path, output: Output, task_seconds: float) -> None:
    """Append how long a task took; the newline comes first and ends a line that was cut short."""
    entry = {
        "place": output.place,
        "id": output.record["id"],
        "seconds": round(output.seconds, 6),
        "task_seconds": round(task_seconds, 6),
        "compiled": output.compiled,
    }
    with (folder / "timings.jsonl").open("ab") as file:
        file.write(b"\n" + json.dumps(entry).encode())


def as_json(record: Any) -> bytes:
    """Return the one JSON text of a record: sorted keys, exact floats, no NaN."""
    return (json.dumps(record, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()
