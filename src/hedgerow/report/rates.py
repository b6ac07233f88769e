"""How fast the CCV of each method grows with the horizon."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from hedgerow.experiments.growth import fit_growth
from hedgerow.report.summary import Mean, MethodConfig, Summary, standing


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
    """Return those that were fitted, of each method the eagerness that stands for it."""
    return [rate for rate in rates if math.isfinite(rate.exponent) and _stands(rate, rates)]


def _stands(rate: Rate, rates: Sequence[Rate]) -> bool:
    return rate.config in standing(other.config for other in rates if other.problem == rate.problem)
