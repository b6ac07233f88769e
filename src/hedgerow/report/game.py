"""One problem with one preset: its methods, compared seed by seed."""

from __future__ import annotations

import math

import numpy as np

from hedgerow.experiments.results import RunResult
from hedgerow.report.mean import Mean
from hedgerow.report.summary import ProblemAtHorizon, Row, Summary, Which, percent


class Game:
    """The rows of one problem with one preset, by method.

    Args:
        summary: of the folder.
        place: the problem and its horizon.
        preset: the kind of constants.

    """

    def __init__(self, summary: Summary, place: ProblemAtHorizon, preset: str):
        self.summary = summary
        self.rows: dict[str, Row] = {row.config.method: row for row in summary.at(place, preset)}

    def has(self, *methods: str) -> bool:
        """Whether all of them were played."""
        return all(method in self.rows for method in methods)

    def lead(self, one: str, two: str, which: Which) -> Mean:
        """Return by how many percent `one` is above `two`: negative is better."""
        a, b = self._by_seed(one), self._by_seed(two)
        both = sorted(a.keys() & b.keys())
        return Mean.of([percent(a[seed], which) - percent(b[seed], which) for seed in both])

    def slowdown(self, slow: str, fast: str) -> Mean:
        """Return the natural logarithm of how many times as long one takes as the other."""
        a, b = self._by_seed(slow), self._by_seed(fast)
        pairs = [
            (self._seconds(a[seed]), self._seconds(b[seed])) for seed in sorted(a.keys() & b.keys())
        ]
        return Mean.of([math.log(x / y) for x, y in pairs if x and y])

    def last_quarter(self, method: str) -> Mean:
        """Return the percentage of the CCV that the last quarter of the rounds adds."""
        shares = []
        for run in self._by_seed(method).values():
            t, _, ccv, _ = self.summary.results.curves(run)
            before = float(np.interp(0.75 * t[-1], t, ccv))
            shares.append(100.0 * (1.0 - before / ccv[-1]) if ccv[-1] > 0.0 else 0.0)
        return Mean.of(shares)

    def ran(self, method: str) -> str:
        """Return a method's name and whether its games ran compiled."""
        return f"{method} ({self.rows[method].ran or 'compiled or not: not recorded'})"

    def _by_seed(self, method: str) -> dict[int, RunResult]:
        row = self.rows[method]
        return {run.record["seed"]: run for run in self.summary.runs[row.place, row.config]}

    def _seconds(self, run: RunResult) -> float:
        return self.summary.seconds.get(run.record["id"], 0.0)
