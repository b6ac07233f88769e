"""Paired comparisons over seeds: differences with their interval, a test, and its correction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hedgerow.report.summary import Mean


class Differences(NamedTuple):
    """One value for each seed that two methods share."""

    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Iterable[float]) -> Differences:
        """Return the differences of some seeds."""
        return cls(tuple(map(float, values)))

    @property
    def mean(self) -> Mean:
        """Their mean with Student's interval."""
        return Mean.of(self.values)

    def p(self, limit: float = 0.0) -> float:
        """Return the two-sided p of Wilcoxon's signed-rank test around a limit; 1 of no values.

        >>> Differences.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).p()
        0.03125
        >>> Differences.of([2.0, 2.0]).p(2.0)
        1.0
        """
        apart = [value - limit for value in self.values if value != limit]
        if not apart:
            return 1.0
        from scipy import stats

        return float(stats.wilcoxon(apart).pvalue)


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p of several tests after Holm's correction.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, least = [0.0] * len(ps), 0.0
    for rank, k in enumerate(sorted(range(len(ps)), key=lambda k: ps[k])):
        least = max(least, min(1.0, (len(ps) - rank) * ps[k]))
        corrected[k] = least
    return corrected


def worded_p(p: float) -> str:
    """Return a p as it is written.

    >>> worded_p(0.0312), worded_p(0.000004), worded_p(1.0)
    ('0.031', '< 0.001', '1')
    """
    return "< 0.001" if p < 0.001 else f"{p:.2g}"
