"""Result files: one folder, one record and one array for each run, and no other index.

    experiment.json            what was asked for: every key of the experiment file, resolved
    runs/ID.json  .npy         one run: its record, and its curves
    benchmarks/ID.json  .npy   the best fixed action of one (problem, horizon, seed), likewise
    timings.jsonl              how long each took: the game alone (`seconds`), with drawing the
                               rounds and constants (`task_seconds`), and whether the compiled
                               loop played it (`compiled`); not part of the results
    environment.json           versions and machine of the last session; not part of the results
    partial/                   files being written, and a lock; no .part when nothing runs
    partial/chunks/            what was played of long games that are not finished
    selection.json             only in a folder of `hedgerow tune`: see `experiments/tuning.py`

A file is complete or absent: it is written under `partial/` and renamed, the array first, so that
a record means that its run is finished. A damaged file does not count as finished: a sweep reads
what is there and makes damaged files again. The bytes of `experiment.json`, `runs/` and
`benchmarks/` depend on the experiment and the library, not on workers, order, kills or clocks.

*Record of a run*: `id`; `problem` (its label), `kind`, `parameters`; `method`, `preset`,
`eagerness`, `horizon`, `seed`; `status`: "done", or "refused" with the `reason` when the method
does not take this problem (then there is no array and the numbers are null). Numbers, exact totals
over all rounds: `cost`, `ccv` (sum of max(0, g_t)), `signed_ccv` (sum of g_t), `largest_violation`,
`violated_rounds`, `oracle_calls`, `projections`, `certificate` (a proved bound of the regret, null
where the method has none), `dim`; and `ccv_each`, the CCV of each constraint in its own unit, only
where all rounds have several, equally many. Where their units may differ there is
`constraint_units`, by which the value of each constraint is divided before the largest one counts
in `ccv`, `signed_ccv`, `largest_violation`, the curves and the benchmark. `infeasible_rounds`, of
earlier releases, is in how many rounds the method found that no action meets the limit. `service`
has an object for each constraint: its name and unit, `violated_rounds`, `violated_share`, `worst`,
`p95`, `longest_streak`, and minutes where a round's length is known. `notes` are the warnings of
the method, `constants` what a theorem was given (null if nothing): `lipschitz` and `bound`, pairs
(costs, constraints), and `how` they were found. `benchmark` is the id of the file in `benchmarks/`;
a problem that reacts to the plays has one for each run. `code` and `method_code` are the SHA-256 of
the files that define a kind of problem and a method from outside of the library; the library's own
have none. `sources` is the fingerprint of the library's sources that made the file
(`release.py`), here and in benchmarks. So are `curves_sha256`, the SHA-256 of the
array's file (null where there is none), and `checksum`, that of the record's other entries as JSON
with sorted keys: a record or an array that was changed later is refused in a sentence that names
its file. Records of older releases have neither, and are read unchecked.

*Record of a benchmark*: `id`, `problem`, `kind`, `parameters`, `horizon`, `seed`, `dim`; `cost`,
`lower_bound`, `gap`, `status` ("optimal", "gap", "infeasible"), `violation`, `ccv` as in
`hedgerow.Benchmark` (null where infinite; status "refused" with a `reason` when a problem does not
take its seed); `blind`: `cost` and `ccv` of the best fixed action that ignores the
constraint; and `comparator`, if no action satisfies every round: the benchmark is then the best one
of those that violate least. Regret is a run's cost minus this cost; it does not exist when
infeasible.

*Curves*: float64 of shape (4, k), k <= 400, with rows t (the round, from 1 to T), cumulative cost,
CCV and signed CCV up to and including round t. Runs and benchmarks of one horizon share the same t,
so a regret curve is row 1 of the run minus row 1 of its benchmark.

`Results(folder)` reads all of it, joins runs with benchmarks and reports what is missing.
"""

from __future__ import annotations

import errno
import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hedgerow.display import data_frame, html_table
from hedgerow.experiments.records import (
    NO_REGRET,
    DamagedError,
    Place,
    Record,
    read_curves,
    read_experiment,
    read_record,
    signed,
)
from hedgerow.files import replace_files
from hedgerow.inputs import Vector

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    *("id", "problem", "kind", "method", "preset", "eagerness", "horizon", "seed", "status"),
    *("reason", "cost", "ccv", "signed_ccv", "largest_violation", "violated_rounds"),
    *("oracle_calls", "projections", "certificate", "dim"),
)
"""Of a data frame, from the record of a run."""
GROUPED = ("problem", "horizon", "method", "preset", "eagerness")
MOST_ROWS = 40
"""Of the table in a notebook."""
FULL = (errno.ENOSPC, errno.EDQUOT)


class StoppedError(RuntimeError):
    """A sweep cannot go on; what is finished is kept."""


class WorkersLostError(StoppedError):
    """The workers are lost for good."""


class UnwritableError(StoppedError):
    """A result cannot be written.

    Args:
        path: where it should go.
        error: of the operating system.

    >>> str(UnwritableError(Path("out/runs/a.json"), OSError(errno.ENOSPC, "No space left")))
    'out/runs/a.json cannot be written: no space left; free some and run the experiment again'

    """

    def __init__(self, path: Path, error: OSError):
        why = (error.strerror or str(error)).lower()
        remedy = "free some" if error.errno in FULL else "check the path and its permissions"
        super().__init__(f"{path} cannot be written: {why}; {remedy} and run the experiment again")


class Output(NamedTuple):
    """The output of one task: a record and, unless refused, its curves.

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
        object.__setattr__(self, "folder", Path(self.folder))  # a string will do
        if not (self.folder / "experiment.json").is_file():
            raise ValueError(
                f"{self.folder} holds no results: it has no experiment.json; give the folder of a "
                "sweep, or run the experiment into it again"
            )

    @cached_property
    def experiment(self) -> dict[str, Any]:
        """The experiment as it is stored: every default and every digest written out."""
        return read_experiment(self.folder)

    @cached_property
    def benchmarks(self) -> dict[str, Record]:
        """The records of all benchmarks, by id."""
        return {record["id"]: record for record in self._records("benchmarks")}

    @cached_property
    def runs(self) -> tuple[RunResult, ...]:
        """All runs that are there, refused ones included, sorted by id."""
        return tuple(self._joined(record) for record in self._records("runs"))

    @cached_property
    def states(self) -> Counter[str | None]:
        """How many files each state of the library made, runs and benchmarks, by its fingerprint.

        None counts files of releases that did not store it. More than one entry is a mixture.
        """
        records = [*(run.record for run in self.runs), *self.benchmarks.values()]
        return Counter(record.get("sources") for record in records)

    def curves(self, result: RunResult) -> Vector:
        """Return rows t, cumulative cost, CCV, signed CCV of a run that is done."""
        return self._array("runs", result.record)

    def benchmark_curves(self, result: RunResult) -> Vector:
        """Return the same rows for the benchmark of a run."""
        name = result.record["benchmark"]
        if name not in self.benchmarks:
            raise DamagedError(self.folder / "benchmarks" / f"{name}.json", "the file is missing")
        return self._array("benchmarks", self.benchmarks[name])

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each run, refused ones included; it needs pandas.

        Columns: what identifies a run, the numbers of the record, the regret, the cost of the
        benchmark, and the seconds of the game. Numbers that a run lacks are missing. Where runs
        have several constraints, `ccv_1`, `ccv_2` and so on have the CCV of each in its own unit.
        """
        seconds = self.timings()
        rows = [
            {
                **{name: run.record.get(name) for name in COLUMNS},
                "regret": run.regret,
                "benchmark_cost": None if run.benchmark is None else run.benchmark["cost"],
                "seconds": seconds.get(run.record["id"]),
            }
            for run in self.runs
        ]
        names = (*COLUMNS, "regret", "benchmark_cost", "seconds")
        columns = {name: [row[name] for row in rows] for name in names}
        each = [run.record.get("ccv_each") or () for run in self.runs]
        for k in range(max(map(len, each), default=0)):
            columns[f"ccv_{k + 1}"] = [ccvs[k] if k < len(ccvs) else None for ccvs in each]
        return data_frame(columns, index="id")

    def _repr_html_(self) -> str:
        """Show how many runs each method has, with mean regret and CCV."""
        groups: dict[tuple[Any, ...], list[RunResult]] = {}
        for run in self.runs:
            groups.setdefault(tuple(run.record[name] for name in GROUPED), []).append(run)
        rows = [(*key, len(of), *_means(of)) for key, of in groups.items()]
        more = len(rows) - MOST_ROWS
        caption = f"{self.experiment['name']}: {len(self.runs)} runs"
        caption += f"; {more} more rows in to_frame()" if more > 0 else ""
        head = (*GROUPED, "runs", "mean regret", "mean CCV")
        return html_table(head, rows[:MOST_ROWS], caption)

    def timings(self) -> dict[str, float]:
        """Return the seconds that each game took, by the run's id.

        Rounds that are fixed in advance are drawn before the clock starts, unless they are too
        many (`hedgerow.experiments.playing`). The first game of a process may include
        compiling.
        """
        return {name: float(entry["seconds"]) for name, entry in self._games().items()}

    def engines(self) -> dict[str, bool]:
        """Return whether the compiled loop played each game, by the run's id."""
        return {name: bool(entry["compiled"]) for name, entry in self._games().items()}

    def _games(self) -> dict[str, Record]:
        """Return the last entry of each run that was played, by its id."""
        return {
            entry["id"]: entry
            for entry in _timing_entries(self.folder)
            if entry.get("place") == "runs" and entry.get("compiled") is not None
        }

    def _joined(self, record: Record) -> RunResult:
        best = self.benchmarks.get(record["benchmark"])
        if record["status"] != "done" or best is None or best["status"] in NO_REGRET:
            return RunResult(record, best, None)
        return RunResult(record, best, record["cost"] - best["cost"])

    def _records(self, place: Place) -> Iterator[Record]:
        for path in sorted((self.folder / place).glob("*.json")):
            yield read_record(self.folder, place, path.stem)

    def _array(self, place: Place, record: Record) -> Vector:
        curves = read_curves(self.folder, place, record)
        if not np.array_equal(self._rounds.setdefault(record["horizon"], curves[0]), curves[0]):
            path = self.folder / place / f"{record['id']}.npy"
            raise DamagedError(path, "it shows other rounds than the first curves of its horizon")
        return curves

    @cached_property
    def _rounds(self) -> dict[int, Vector]:
        """The rounds that curves show, by horizon: the first ones read."""
        return {}


def _means(runs: list[RunResult]) -> tuple[str, str]:
    """Return mean regret and mean CCV in a few digits, a dash where there are none."""
    regrets = [run.regret for run in runs if run.regret is not None]
    ccvs = [run.record["ccv"] for run in runs if run.record["status"] == "done"]
    regret, ccv = (f"{np.mean(of):.5g}" if of else "-" for of in (regrets, ccvs))
    return regret, ccv


def write(folder: Path, output: Output) -> None:
    """Write one output, the array before the record."""
    name, place, curves = output.record["id"], folder / output.place, None
    if output.curves is not None:
        buffer = BytesIO()
        np.save(buffer, np.ascontiguousarray(output.curves), allow_pickle=False)
        curves = buffer.getvalue()
        write_bytes(folder, place / f"{name}.npy", curves)
    write_bytes(folder, place / f"{name}.json", as_json(signed(output.record, curves)))


def write_bytes(folder: Path, path: Path, content: bytes) -> None:
    """Write a file completely or not at all, even if other processes write it too."""
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


def task_seconds(folder: Path) -> dict[str, float]:
    """Return how long each task took, drawing of rounds included, by its id."""
    return {entry["id"]: float(entry["task_seconds"]) for entry in _timing_entries(folder)}


def _timing_entries(folder: Path) -> Iterator[Record]:
    """Yield the entries of `timings.jsonl` that can be used, in order."""
    path = folder / "timings.jsonl"
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            entry = json.loads(line)
            times = entry["seconds"], entry.get("task_seconds", entry["seconds"])
            if all(0.0 <= seconds < math.inf for seconds in times):
                yield {**entry, "id": str(entry["id"]), "task_seconds": times[1]}
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue  # cut short by a kill, or damaged: times are not part of the results


def as_json(record: Any) -> bytes:
    """Return the one JSON text of a record: sorted keys, exact floats, no NaN."""
    return (json.dumps(record, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()
