"""The results of a folder by method: means over seeds with intervals, ranks, and growth rates."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from hedgerow.experiments.growth import fit_growth
from hedgerow.experiments.results import Results, RunResult
from hedgerow.inputs import Vector
from hedgerow.protocols.limits import LimitName
from hedgerow.report.naming import Names

LEVEL = 0.95
"""Of all intervals: Student's t over seeds."""
DECIMALS = 4
"""The most that are written."""


class Mean(NamedTuple):
    """A mean over seeds, half the width of its interval (infinite for one seed), and their number.

    >>> print(Mean(12.345, 0.52, 6)), print(Mean(100.0, 4.8e-15, 6)), print(Mean(3.0, math.inf, 1))
    12.3 ± 0.5
    100 ± 0
    3.00
    (None, None, None)
    """

    value: float
    half: float
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """Return the mean of some values, NaN of none."""
        n = len(values)
        if n == 0:
            return cls(math.nan, math.inf, 0)
        if n == 1:
            return cls(float(values[0]), math.inf, 1)
        return cls(float(np.mean(values)), _student(n) * float(np.std(values, ddof=1)), n)

    def below(self, limit: float) -> bool | None:
        """Return whether the whole interval is below a limit; None if the limit is inside."""
        if self.value + self.half < limit:
            return True
        return False if self.value - self.half > limit else None

    def above(self, limit: float) -> bool | None:
        """Return whether the whole interval is above a limit; None if the limit is inside."""
        under = self.below(limit)
        return None if under is None else not under

    def __str__(self) -> str:
        """Return both numbers with the digits that mean something: three of the value at most."""
        if not math.isfinite(self.value):
            return ""
        kept = 2 - _exponent(self.value)
        if math.isfinite(self.half):
            kept = min(kept, 1 - _exponent(self.half)) if self.half > 0.0 else kept
            return f"{_rounded(self.value, kept)} ± {_rounded(self.half, kept)}"
        return _rounded(self.value, kept)


def _student(n: int) -> float:
    """Return half the width of an interval of n values, in their standard deviation."""
    from scipy import special

    return float(special.stdtrit(n - 1, 0.5 + LEVEL / 2.0)) / math.sqrt(n)


def every(answers: Iterable[bool | None]) -> bool | None:
    """Return the answer for a claim of several parts: one no refutes it, one open leaves it open.

    >>> every([True, None]), every([None, False]), every([True, True])
    (None, False, True)
    """
    found = list(answers)
    if False in found:
        return False
    return None if None in found else True


def _exponent(x: float) -> int:
    return math.floor(math.log10(abs(x))) if x else 0


def _rounded(x: float, decimals: int) -> str:
    text = f"{x:.{min(max(decimals, 0), DECIMALS)}f}"
    return text if float(text) else "0"


def three_digits(x: float) -> str:
    """Return a number with three digits, never as a power of ten; nothing where there is none.

    >>> three_digits(0.12345), three_digits(2960.4), three_digits(math.nan)
    ('0.123', '2960', '')
    """
    if not math.isfinite(x):
        return ""
    return f"{x:.3g}" if abs(x) < 1000.0 else f"{x:.0f}"


Which = Literal["regret", "ccv"]
WHICH: tuple[Which, Which] = ("regret", "ccv")
Band = tuple[Vector, Vector, Vector, Vector]


class ProblemAtHorizon(NamedTuple):
    """A problem, by its label, at one horizon."""

    problem: str
    horizon: int

    def __str__(self) -> str:
        return f"{self.problem}, T = {self.horizon}"


class MethodConfig(NamedTuple):
    """A method with the preset and the eagerness that it was played with."""

    method: str
    preset: str
    eagerness: float

    def __str__(self) -> str:
        plain = self.preset == "theory" or self.eagerness == 1.0
        return self.method if plain else f"{self.method}, eagerness {self.eagerness:g}"


@dataclass(frozen=True)
class Row:
    """One method on one problem.

    Regret is in percent of the larger of the benchmark's cost and the unconstrained action's cost,
    in absolute value; CCV in percent of the CCV of the unconstrained action, the best fixed action
    that ignores the constraint. `ran` says how its games were played: "compiled", "through play",
    "partly compiled", or nothing where that was not recorded. `rank` is (by regret, by CCV) among
    the methods of the same preset there. `ccv_each` has the CCV of each constraint by itself, in
    the unit of `ccv`; where `limits` is not empty the constraints have the names and the units in
    it, and `ccv_each` is in these units. It is empty where rounds have one constraint.
    """

    place: ProblemAtHorizon
    config: MethodConfig
    runs: int
    regret: Mean
    ccv: Mean
    regret_raw: Mean
    ccv_raw: Mean
    oracle_calls: float
    projections: float
    microseconds: float
    ran: str
    rank: tuple[int, int] = (0, 0)
    undominated: bool = False
    ccv_each: tuple[Mean, ...] = ()
    limits: tuple[LimitName, ...] = ()


class Refusal(NamedTuple):
    """A method that refused a problem, and why."""

    place: ProblemAtHorizon
    config: MethodConfig
    reason: str


class Unjudged(NamedTuple):
    """A game whose runs have no regret, their number, and why; they are in no row."""

    place: ProblemAtHorizon
    seed: int
    runs: int
    why: str


class Summary:
    """All rows of a results folder.

    Args:
        results: the folder, read; whole or still growing.
        labels: names of methods to show in place of the usual ones, by method.
        highlight: the methods that stand out in figures and come first; the user's own if left out.

    """

    def __init__(
        self,
        results: Results,
        *,
        labels: Mapping[str, str] | None = None,
        highlight: Sequence[str] = (),
    ):
        self.results = results
        self.names = Names(results.experiment, labels, highlight)
        self._bands: dict[tuple[ProblemAtHorizon, MethodConfig, Which], Band] = {}
        groups: dict[tuple[ProblemAtHorizon, MethodConfig], list[RunResult]] = defaultdict(list)
        refused: dict[tuple[ProblemAtHorizon, MethodConfig], str] = {}
        unjudged: dict[tuple[ProblemAtHorizon, int], list[RunResult]] = defaultdict(list)
        for run in sorted(results.runs, key=lambda run: int(run.record["seed"])):
            record = run.record
            place = ProblemAtHorizon(record["problem"], record["horizon"])
            config = MethodConfig(record["method"], record["preset"], record["eagerness"])
            if record["status"] != "done":
                refused[place, config] = record["reason"]
            elif run.regret is None:
                unjudged[place, record["seed"]].append(run)
            else:
                groups[place, config].append(run)
        self.runs = dict(groups)
        self.refusals = [Refusal(*key, reason) for key, reason in refused.items()]
        self.unjudged = [Unjudged(*key, len(r), _why(r[0])) for key, r in unjudged.items()]
        self.seconds, self.compiled = results.timings(), results.engines()
        rows = [self._row(*key, runs) for key, runs in self.runs.items()]
        self.rows = sorted(_ranked(rows), key=lambda row: (row.place, row.config))

    @property
    def places(self) -> list[ProblemAtHorizon]:
        """Every problem at its longest horizon, in the order of the experiment."""
        longest: dict[str, int] = {}
        for row in self.rows:
            name, T = row.place
            longest[name] = max(T, longest.get(name, 0))
        order = [problem["label"] for problem in self.results.experiment["problems"]]
        return [ProblemAtHorizon(name, longest[name]) for name in order if name in longest]

    @property
    def presets(self) -> list[str]:
        """The presets that were played, practical first."""
        return sorted({row.config.preset for row in self.rows})

    def at(self, place: ProblemAtHorizon, preset: str) -> list[Row]:
        """Return one row for each method of one problem and preset: see `representatives`."""
        return _field(self.rows, place, preset)

    def band(self, row: Row, which: Which) -> Band:
        """Return t, mean, low and high of regret or CCV over the rounds, in the row's unit."""
        key = row.place, row.config, which
        if key not in self._bands:
            curves = []
            for run in self.runs[row.place, row.config]:
                t, cost, ccv, _ = self.results.curves(run)
                total = ccv if which == "ccv" else cost - self.results.benchmark_curves(run)[1]
                curves.append(100.0 * total / _unit(run, which))
            middle, half = np.mean(curves, axis=0), 0.0
            if len(curves) > 1:
                half = _student(len(curves)) * np.std(curves, axis=0, ddof=1)
            self._bands[key] = t, middle, middle - half, middle + half
        return self._bands[key]

    def _row(self, place: ProblemAtHorizon, config: MethodConfig, runs: list[RunResult]) -> Row:
        T, ids = place.horizon, [run.record["id"] for run in runs]
        times = [self.seconds[i] for i in ids if i in self.seconds]
        return Row(
            place,
            config,
            len(runs),
            Mean.of([percent(run, "regret") for run in runs]),
            Mean.of([percent(run, "ccv") for run in runs]),
            Mean.of([run.regret for run in runs if run.regret is not None]),
            Mean.of([run.record["ccv"] for run in runs]),
            float(np.mean([run.record["oracle_calls"] for run in runs])) / T,
            float(np.mean([run.record["projections"] for run in runs])) / T,
            1e6 * float(np.median(times)) / T if times else math.nan,
            _ran({self.compiled.get(i) for i in ids}),
            ccv_each=_each(runs),
            limits=_limits(runs),
        )


def percent(run: RunResult, which: Which) -> float:
    """Return a run's regret or CCV in the unit of its row."""
    assert run.regret is not None
    total = run.regret if which == "regret" else float(run.record["ccv"])
    return 100.0 * total / _unit(run, which)


def representatives(configs: Iterable[MethodConfig]) -> set[MethodConfig]:
    """Return one config for each method and preset: the eagerness nearest to 1, below on a tie."""
    best: dict[tuple[str, str], MethodConfig] = {}
    for config in sorted(configs, key=lambda e: (abs(math.log(e.eagerness)), e.eagerness)):
        best.setdefault((config.method, config.preset), config)
    return set(best.values())


def _unit(run: RunResult, which: Which) -> float:
    assert run.benchmark is not None
    unconstrained = run.benchmark["blind"]
    if which == "ccv":
        return float(unconstrained["ccv"]) or 1.0
    return max(abs(run.benchmark["cost"]), abs(unconstrained["cost"])) or 1.0


def _each(runs: list[RunResult]) -> tuple[Mean, ...]:
    """Return the CCV of each constraint, where all runs recorded equally many.

    In percent of the unconstrained CCV; in its own unit where units may differ.
    """
    recorded = [run.record.get("ccv_each", ()) for run in runs]
    if len(set(map(len, recorded))) > 1:
        return ()
    mixed = any("constraint_units" in run.record for run in runs)
    units = [100.0 if mixed else _unit(run, "ccv") for run in runs]
    return tuple(
        Mean.of([100.0 * ccv / unit for ccv, unit in zip(column, units, strict=True)])
        for column in zip(*recorded, strict=True)
    )


def _limits(runs: list[RunResult]) -> tuple[LimitName, ...]:
    """Return names and units of constraints whose units may differ, as the runs recorded them."""
    record = runs[0].record
    if "constraint_units" not in record:
        return ()
    return tuple(LimitName(level["constraint"], level["unit"]) for level in record["service"])


def _why(run: RunResult) -> str:
    if run.benchmark is None:
        return "its best fixed action has not been computed yet"
    if run.benchmark["status"] == "infeasible":
        return "no fixed action satisfies every round's constraint"
    return str(run.benchmark["reason"])


def _ran(flags: set[bool | None]) -> str:
    if len(flags) > 1:
        return "partly compiled" if True in flags else ""
    return {True: "compiled", False: "through play", None: ""}[flags.pop()]


def _field(rows: list[Row], place: ProblemAtHorizon, preset: str) -> list[Row]:
    found = [row for row in rows if (row.place, row.config.preset) == (place, preset)]
    chosen = representatives(row.config for row in found)
    return [row for row in found if row.config in chosen]


def _dominates(one: Row, other: Row) -> bool:
    """Whether one row is as good as another in both, and better in regret or CCV."""
    a, b = (one.regret.value, one.ccv.value), (other.regret.value, other.ccv.value)
    return a[0] <= b[0] and a[1] <= b[1] and a != b


def _ranked(rows: list[Row]) -> list[Row]:
    """Give each row its ranks among the rows of its problem and preset."""
    ranked = []
    for row in rows:
        field = _field(rows, row.place, row.config.preset)
        better = [(r.regret.value < row.regret.value, r.ccv.value < row.ccv.value) for r in field]
        rank = 1 + sum(a for a, _ in better), 1 + sum(b for _, b in better)
        undominated = not any(_dominates(r, row) for r in field)
        ranked.append(replace(row, rank=rank, undominated=undominated))
    return ranked


class Rate(NamedTuple):
    """CCV ~ T^exponent with an interval; NaN and a reason where there is no fit.

    `means` are the mean CCV at each horizon, in the problem's own unit.
    """

    problem: str
    config: MethodConfig
    means: tuple[tuple[int, Mean], ...]
    exponent: float = math.nan
    low: float = math.nan
    high: float = math.nan
    reason: str = ""


def growth_rates(summary: Summary) -> list[Rate]:
    """Fit the CCV of every method that was played at three horizons or more."""
    found: dict[tuple[str, MethodConfig], dict[int, list[float]]] = defaultdict(dict)
    for (place, config), runs in summary.runs.items():
        ccvs = [run.record["ccv"] for run in runs]
        found[place.problem, config][place.horizon] = ccvs
    rates = []
    for (problem, config), at in sorted(found.items()):
        if len(at) < 3:
            continue
        horizons = sorted(at)
        rate = Rate(problem, config, tuple((T, Mean.of(at[T])) for T in horizons))
        repeats = min(len(at[T]) for T in horizons)
        try:
            fit = fit_growth(horizons, [at[T][:repeats] for T in horizons])
        except ValueError as refusal:
            rates.append(rate._replace(reason=str(refusal)))
            continue
        rates.append(rate._replace(exponent=fit.exponent, low=fit.low, high=fit.high))
    return rates


def shown_rates(rates: Sequence[Rate]) -> list[Rate]:
    """Return the fitted rates, of each method that of its representative eagerness."""
    chosen = {
        problem: representatives(rate.config for rate in rates if rate.problem == problem)
        for problem in {rate.problem for rate in rates}
    }
    return [r for r in rates if math.isfinite(r.exponent) and r.config in chosen[r.problem]]
