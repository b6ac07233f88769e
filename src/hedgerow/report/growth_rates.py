"""Growth exponents of the violation, where an experiment has several horizons."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import NamedTuple

from hedgerow.experiments.growth import fit_growth
from hedgerow.report.summary import MethodConfig, Summary


class Rate(NamedTuple):
    """CCV ~ T^exponent with an interval; NaN and a reason where there is no fit."""

    problem: str
    config: MethodConfig
    exponent: float
    low: float
    high: float
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
        repeats = min(len(at[T]) for T in horizons)
        try:
            fit = fit_growth(horizons, [at[T][:repeats] for T in horizons])
        except ValueError as refusal:
            rates.append(Rate(problem, config, math.nan, math.nan, math.nan, str(refusal)))
            continue
        rates.append(Rate(problem, config, fit.exponent, fit.low, fit.high))
    return rates
