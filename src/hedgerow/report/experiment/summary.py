"""What a results folder says, method by method: means over seeds with intervals, and ranks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hedgerow.experiment.results import Results, RunResult
from hedgerow.inputs import Vector

LEVEL = 0.95
"""Of all intervals: Student's t over seeds."""


class Mean(NamedTuple):
    """A mean over seeds and half the width of its interval; infinite for a single seed."""

    value: float
    half: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """Return the mean of some values, NaN of none."""
        n = len(values)
        if n == 0:
            return cls(math.nan, math.inf)
        if n == 1:
            return cls(float(values[0]), math.inf)
        from scipy import special

        t = float(special.stdtrit(n - 1, 0.5 + LEVEL / 2.0))
        return cls(float(np.mean(values)), t * float(np.std(values, ddof=1)) / math.sqrt(n))


class Place(NamedTuple):
    """A problem at a horizon."""

    problem: str
    horizon: int


class Entrant(NamedTuple):
    """A method with its constants."""

    method: str
    preset: str
    eagerness: float

    def __str__(self) -> str:
        plain = self.preset == "theory" or self.eagerness == 1.0
        return self.method if plain else f"{self.method}, eagerness {self.eagerness:g}"


@dataclass(frozen=True)
class Row:
    """One method on one problem.

    Regret is in percent of the larger of the benchmark's cost and the blind action's cost, in
    absolute value; CCV in percent of the blind action's CCV, the best fixed action that ignores
    the constraint. `rank` is (by regret, by CCV) among the methods of the same preset there.
    """

    place: Place
    entrant: Entrant
    runs: int
    regret: Mean
    ccv: Mean
    regret_raw: Mean
    ccv_raw: Mean
    oracle_calls: float
    projections: float
    microseconds: float
    rank: tuple[int, int] = (0, 0)
    undominated: bool = False


@dataclass(frozen=True)
class Refusal:
    """A method that did not take a problem, with its sentence."""

    place: Place
    entrant: Entrant
    reason: str


class Summary:
    """All rows of a results folder.

    Args:
        results: the folder, read; runs that are missing are simply not there.

    """

    def __init__(self, results: Results):
        self.results = results
        groups: dict[tuple[Place, Entrant], list[RunResult]] = defaultdict(list)
        refused: dict[tuple[Place, Entrant], str] = {}
        for run in results.runs:
            record = run.record
            place = Place(record["problem"], record["horizon"])
            entrant = Entrant(record["method"], record["preset"], record["eagerness"])
            if record["status"] != "done":
                refused[place, entrant] = record["reason"]
            elif run.regret is not None:
                groups[place, entrant].append(run)
        self.runs = {
            key: sorted(runs, key=lambda run: int(run.record["seed"]))
            for key, runs in groups.items()
        }
        self.refusals = [Refusal(*key, reason) for key, reason in refused.items()]
        seconds = results.timings()
        rows = [_row(*key, runs, seconds) for key, runs in self.runs.items()]
        self.rows = sorted(_ranked(rows), key=lambda row: (row.place, row.entrant))

    @property
    def places(self) -> list[Place]:
        """Every problem at its longest horizon, in the order of the experiment."""
        longest: dict[str, int] = {}
        for row in self.rows:
            name, T = row.place
            longest[name] = max(T, longest.get(name, 0))
        order = [problem["label"] for problem in self.results.experiment["problems"]]
        return [Place(name, longest[name]) for name in order if name in longest]

    @property
    def presets(self) -> list[str]:
        """Those that were played, practical first."""
        return sorted({row.entrant.preset for row in self.rows})

    def at(self, place: Place, preset: str) -> list[Row]:
        """Return the rows of one problem and preset, at the eagerness that stands for a method."""
        return _standing(self.rows, place, preset)

    def band(self, row: Row, which: str) -> tuple[Vector, Vector, Vector, Vector]:
        """Return t, mean, low and high of "regret" or "ccv" over the rounds, in the row's unit."""
        runs = self.runs[row.place, row.entrant]
        curves = []
        for run in runs:
            mine = self.results.curves(run)
            if which == "ccv":
                curves.append(100.0 * mine[2] / _ccv_unit(run))
            else:
                best = self.results.benchmark_curves(run)
                curves.append(100.0 * (mine[1] - best[1]) / _regret_unit(run))
        means = [Mean.of(point) for point in np.transpose(curves)]
        middle = np.array([mean.value for mean in means])
        half = np.array([mean.half if math.isfinite(mean.half) else 0.0 for mean in means])
        return mine[0], middle, middle - half, middle + half


def _regret_unit(run: RunResult) -> float:
    assert run.benchmark is not None
    blind = run.benchmark["blind"]["cost"]
    return max(abs(run.benchmark["cost"]), abs(blind)) or 1.0


def _ccv_unit(run: RunResult) -> float:
    assert run.benchmark is not None
    return float(run.benchmark["blind"]["ccv"]) or 1.0


def _row(place: Place, entrant: Entrant, runs: list[RunResult], seconds: dict[str, float]) -> Row:
    T = place.horizon
    regrets = [run.regret for run in runs if run.regret is not None]
    times = [seconds[i] for run in runs if (i := run.record["id"]) in seconds]
    return Row(
        place,
        entrant,
        len(runs),
        Mean.of([100.0 * r / _regret_unit(run) for r, run in zip(regrets, runs, strict=True)]),
        Mean.of([100.0 * run.record["ccv"] / _ccv_unit(run) for run in runs]),
        Mean.of(regrets),
        Mean.of([run.record["ccv"] for run in runs]),
        float(np.mean([run.record["oracle_calls"] for run in runs])) / T,
        float(np.mean([run.record["projections"] for run in runs])) / T,
        1e6 * float(np.median(times)) / T if times else math.nan,
    )


def _standing(rows: list[Row], place: Place, preset: str) -> list[Row]:
    """Return one row for each method: at eagerness 1, or at all where that was not played."""
    found = [row for row in rows if (row.place, row.entrant.preset) == (place, preset)]
    default = {row.entrant.method for row in found if row.entrant.eagerness == 1.0}
    return [r for r in found if r.entrant.eagerness == 1.0 or r.entrant.method not in default]


def _ranked(rows: list[Row]) -> list[Row]:
    """Give each row its ranks among the rows of its problem and preset."""
    from dataclasses import replace

    ranked = []
    for row in rows:
        field = _standing(rows, row.place, row.entrant.preset)
        better = [(r.regret.value < row.regret.value, r.ccv.value < row.ccv.value) for r in field]
        rank = 1 + sum(a for a, _ in better), 1 + sum(b for _, b in better)
        undominated = not any(a and b for a, b in better)
        ranked.append(replace(row, rank=rank, undominated=undominated))
    return ranked
