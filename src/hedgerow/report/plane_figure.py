"""The plane of regret and violation: who pays what for what."""

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
    legend_above,
    scale_in_percent,
    slug,
    words,
)
from hedgerow.report.summary import Row, Summary

CAPTION = (
    "Lower left is better. Each point is a method, with 95 % intervals over seeds. Coloured: the "
    "paper's methods; numbered: others that no method beats in both on some problem; grey: the "
    "rest. With the theorems' constants many points may lie on each other near 100 %, where the "
    "constraint is ignored."
)


def plane_figure(summary: Summary, preset: str) -> tuple[Picture, Any]:
    """Draw every problem at its longest horizon, with one preset."""
    fields = {place: summary.at(place, preset) for place in summary.places}
    numbers = _numbered([row for rows in fields.values() for row in rows])
    columns = min(3, len(fields))
    count = math.ceil(len(fields) / columns)
    figure, axes = canvas(count, columns, 4.3 * columns, 3.7 * count + 0.5)
    panels = list(axes.flat)
    for ax in panels[len(fields) :]:
        ax.set_visible(False)
    for ax, (place, rows) in zip(panels, fields.items(), strict=False):
        for row in rows:
            _point(ax, row, numbers)
        ax.set_title(in_figure(f"{place.problem}, T = {place.horizon}"), fontsize=9, loc="left")
        ax.set_xlim(0.0, 1.2 * max((row.ccv.value for row in rows), default=1.0) or 1.0)
        ax.axhline(0.0, color="0.5", linewidth=0.8)
        scale_in_percent(ax, "x", CCV)
        scale_in_percent(ax, "y", REGRET)
    _keys(panels[0], numbers, [row for rows in fields.values() for row in rows])
    legend_above(figure, panels[0])
    heading = f"Regret against violation, {words(preset)}"
    return Picture(f"plane-{slug(preset)}", heading, CAPTION, wide=columns > 1), figure


def _numbered(rows: list[Row]) -> dict[str, int]:
    names = {r.config.method for r in rows if r.undominated and r.config.method not in STYLES}
    return {name: k for k, name in enumerate(sorted(names), start=1)}


def _look(method: str, numbers: dict[str, int]) -> dict[str, Any]:
    if method in STYLES:
        colour, _, marker = STYLES[method]
        return {"color": colour, "marker": marker, "markersize": 7, "zorder": 3}
    if method in numbers:
        marker = f"${numbers[method]}$"
        return {"color": "0.25", "marker": marker, "markersize": 7, "zorder": 4}
    return {"color": OTHER[0], "marker": OTHER[2], "markersize": 6, "zorder": 2}


def _point(ax: Any, row: Row, numbers: dict[str, int]) -> None:
    half = row.ccv.half
    ax.errorbar(
        row.ccv.value,
        row.regret.value,
        xerr=[[min(half, row.ccv.value)], [half]] if math.isfinite(half) else None,
        yerr=row.regret.half if math.isfinite(row.regret.half) else None,
        linewidth=1.0,
        ecolor="0.75" if row.config.method in numbers else None,
        clip_on=False,
        **_look(row.config.method, numbers),
    )


def _keys(ax: Any, numbers: dict[str, int], rows: list[Row]) -> None:
    """Put each kind of point into the legend once."""
    played = {row.config.method for row in rows}
    for method in [*(name for name in STYLES if name in played), *numbers]:
        ax.plot([], [], linestyle="none", label=in_figure(method), **_look(method, numbers))
    if played - STYLES.keys() - numbers.keys():
        ax.plot([], [], linestyle="none", label="other methods", **_look("", numbers))
