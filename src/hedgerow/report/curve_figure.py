"""CCV and regret over the rounds, and the time of a round, as in the paper's three figures."""

from __future__ import annotations

import math
from typing import Any

from hedgerow.report.escaping import in_figure
from hedgerow.report.picture import (
    CCV,
    OTHER,
    REGRET,
    STYLES,
    Picture,
    canvas,
    decades,
    legend_above,
    scale_in_percent,
    slug,
    words,
)
from hedgerow.report.summary import ProblemAtHorizon, Row, Summary

CAPTION = (
    "Left: cumulative violation. Middle: regret up to round t; below zero where violation bought "
    "cost. Bands: 95 % intervals over seeds. Axes that reach beyond 1 % (CCV) or 10 % (regret) are "
    "logarithmic there. Right: median time of a round, without drawing it where all rounds fit in "
    "memory; "
)
RAN = (
    "filled: one compiled loop, hollow: Python through play, so a hollow point against a filled "
    "one compares code, not algorithms."
)
UNRECORDED = "a cross, or no point: it was not recorded whether the games ran compiled."


def curve_figure(
    summary: Summary, place: ProblemAtHorizon, preset: str, rows: list[Row]
) -> tuple[Picture, Any]:
    """Draw one problem with one preset."""
    figure, ((ccv, regret, time),) = canvas(1, 3, 12.5, 4.1)
    for row in sorted(rows, key=lambda row: row.config.method in STYLES):  # grey ones below
        colour, dash, _ = STYLES.get(row.config.method, OTHER)
        named = row.config.method in STYLES
        for ax, which in ((ccv, "ccv"), (regret, "regret")):
            t, middle, low, high = summary.band(row, "ccv" if which == "ccv" else "regret")
            label = row.config.method if named else None
            width = 1.9 if named else 0.9
            ax.plot(t, middle, color=colour, linestyle=dash, linewidth=width, label=label)
            if named and row.config.method != "unconstrained":
                ax.fill_between(t, low, high, color=colour, alpha=0.15, linewidth=0.0)
    if any(row.config.method not in STYLES for row in rows):
        ccv.plot([], [], color=OTHER[0], linewidth=0.9, label="other methods")
    ccv.set_ylim(bottom=0.0)
    for ax, label in ((ccv, CCV), (regret, REGRET)):
        ax.set(xlabel="round t", xlim=(0, place.horizon))
        scale_in_percent(ax, "y", label)
    regret.axhline(0.0, color="0.5", linewidth=0.8)
    _times(time, rows)
    legend_above(figure, ccv)
    heading = f"{place.problem}, T = {place.horizon}, {words(preset)}"
    caption = CAPTION + (RAN if all(row.ran for row in rows) else UNRECORDED)
    return Picture(_name(summary, place, preset), heading, caption), figure


def _times(ax: Any, rows: list[Row]) -> None:
    timed = [row for row in rows if math.isfinite(row.microseconds)]
    timed.sort(key=lambda row: -row.microseconds)
    for k, row in enumerate(timed):
        colour = STYLES.get(row.config.method, OTHER)[0]
        inside = "none" if row.ran == "through play" else colour
        marker = "o" if row.ran else "x"
        style = {"color": colour, "marker": marker, "markersize": 7, "linestyle": "none"}
        ax.plot(row.microseconds, k, markerfacecolor=inside, **style)
    names = [in_figure(row.config.method) for row in timed]
    ax.set_yticks(range(len(timed)), names, fontsize=6 if len(names) > 12 else 8)
    ax.set_xlabel("microseconds a round")
    if not timed:
        ax.set_axis_off()
        ax.text(0.5, 0.5, "no times recorded", ha="center", transform=ax.transAxes, color="0.4")
    else:
        ax.set_xscale("log")
        low, high = timed[-1].microseconds / 1.5, timed[0].microseconds * 1.5
        decades(ax.xaxis, low, high)
        ax.set_xlim(low, high)


def _name(summary: Summary, place: ProblemAtHorizon, preset: str) -> str:
    """Return a name for files: the problem's number makes it unique, its label readable."""
    labels = [problem["label"] for problem in summary.results.experiment["problems"]]
    number = 1 + labels.index(place.problem)
    return f"curves-{number}-{slug(place.problem.lower())}-{slug(preset)}"
