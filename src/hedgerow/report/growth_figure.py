"""Exponents of the violation's growth with their intervals."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from hedgerow.experiments.growth import fit_growth
from hedgerow.report.escaping import in_figure
from hedgerow.report.picture import STYLES, Picture, canvas
from hedgerow.report.summary import MethodConfig, Summary, standing


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


def growth_figure(rates: Sequence[Rate]) -> tuple[Picture, Any] | None:
    """Draw one line for each method and preset on each problem; None where nothing was fitted."""
    fitted = [rate for rate in rates if math.isfinite(rate.exponent) and _stands(rate, rates)]
    if not fitted:
        return None
    figure, ((ax,),) = canvas(1, 1, 8.5, 0.8 + 0.28 * len(fitted))
    names = [in_figure(f"{rate.problem}: {rate.config} ({rate.config.preset})") for rate in fitted]
    for k, rate in enumerate(fitted):
        colour = STYLES.get(rate.config.method, ("0.45",))[0]
        ax.plot([rate.low, rate.high], [k, k], color=colour, linewidth=2.0)
        ax.plot(rate.exponent, k, "o", color=colour)
    for level in (0.5, 0.75, 1.0):
        ax.axvline(level, color="0.6", linewidth=0.8, linestyle=":")
    ax.set_yticks(range(len(fitted)), names, fontsize=7)
    ax.set(xlabel="exponent e in CCV ~ T^e, with 95 % bootstrap interval", ylim=(-1, len(fitted)))
    caption = "Dotted: 1/2, 3/4 and 1, which is no learning. Regret is often negative: no exponent."
    return Picture("growth", "How the violation grows with the horizon", caption), figure


def _stands(rate: Rate, rates: Sequence[Rate]) -> bool:
    return rate.config in standing(other.config for other in rates if other.problem == rate.problem)
