"""All figures that the results allow, as PNG and PDF."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hedgerow.report.escaping import in_figure
from hedgerow.report.headline import headline_place, headline_rows, headline_styles, place_title
from hedgerow.report.interactive import (
    curve_panels,
    eagerness_panels,
    growth_panels,
    plane_panel,
)
from hedgerow.report.naming import OURS
from hedgerow.report.picture import (
    CCV,
    COLOURS,
    EXPONENTS,
    OTHER,
    REGRET,
    STANDS_OUT,
    Picture,
    Styles,
    canvas,
    decades,
    legend_above,
    preset_title,
    save_figure,
    scale_in_percent,
    slug,
)
from hedgerow.report.summary import WHICH, ProblemAtHorizon, Rate, Row, Summary, shown_rates

CURVES = (
    "Bands: 95 % intervals over seeds. Logarithmic axes are linear up to 1 % (CCV) or 10 % "
    "(regret). Times leave out drawing the rounds where all fit in memory; filled marks ran "
    "compiled, hollow ones in Python."
)
UNRECORDED = " A cross, or no mark: it was not recorded whether the games ran compiled."


def curve_figure(
    summary: Summary, place: ProblemAtHorizon, preset: str, rows: list[Row], styles: Styles
) -> tuple[Picture, Any]:
    """Draw CCV, regret and time per round of some methods on one problem, with one preset."""
    figure, ((ccv, regret, time),) = canvas(1, 3, 12.5, max(4.1, 1.0 + 0.2 * len(rows)))
    order = list(styles)
    rows = sorted(rows, key=lambda row: _place(row.config.method, order))  # as in the legend
    for k, row in enumerate(rows):
        style = styles.get(row.config.method, OTHER)
        colour = style.colour
        named = row.config.method in styles
        for ax, which in zip((regret, ccv), WHICH, strict=True):
            t, middle, low, high = summary.band(row, which)
            label = in_figure(summary.names.full(row.config.method, preset)) if named else None
            line = {
                "color": colour,
                "linestyle": style.dash,
                "linewidth": style.width,
                "zorder": 3.0 - 0.01 * k,
            }
            ax.plot(t, middle, label=label, **line)
            if named and row.config.method != "unconstrained":
                ax.fill_between(t, low, high, color=colour, alpha=0.15, linewidth=0.0)
    if any(row.config.method not in styles for row in rows):
        ccv.plot([], [], color=OTHER.colour, linewidth=OTHER.width, label="other methods")
    ccv.set_ylim(bottom=0.0)
    for ax, label in ((ccv, CCV), (regret, REGRET)):
        ax.set(xlabel="round t", xlim=(0, place.horizon))
        scale_in_percent(ax, "y", label)
    regret.axhline(0.0, color="0.5", linewidth=0.8)
    _times(time, rows, styles)
    legend_above(figure, ccv)
    heading = f"{place_title(summary, place)}, {preset_title(preset)}"
    caption = CURVES + ("" if all(row.ran for row in rows) else UNRECORDED)
    panels = partial(curve_panels, summary, rows, styles)
    return Picture(_name(summary, place, preset), heading, caption, panels=panels), figure


def _place(method: str, order: Sequence[str]) -> int:
    return order.index(method) if method in order else len(order)


def headline_figure(summary: Summary, styles: Styles) -> tuple[Picture, Any]:
    """Draw the methods that the page opens with, on the problem that it opens with."""
    place, preset = headline_place(summary), summary.presets[0]
    rows = headline_rows(summary, place, preset)
    picture, figure = curve_figure(summary, place, preset, rows, styles)
    heading = "Violation, regret and time"
    return picture._replace(name="headline", part="headline", heading=heading), figure


def _times(ax: Any, rows: list[Row], styles: Styles) -> None:
    timed = [row for row in rows if math.isfinite(row.microseconds)]
    timed.sort(key=lambda row: -row.microseconds)
    for k, row in enumerate(timed):
        colour = styles.get(row.config.method, OTHER).colour
        inside = "none" if row.ran == "through play" else colour
        marker = "o" if row.ran else "x"
        style = {"color": colour, "marker": marker, "markersize": 7, "linestyle": "none"}
        ax.plot(row.microseconds, k, markerfacecolor=inside, **style)
    names = [in_figure(styles.names.short(*row.config[:2])) for row in timed]
    ax.set_yticks(range(len(timed)), names, fontsize=8)
    ax.set_xlabel("microseconds per round")
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


PLANE = (
    "Lower left is better. Each point is a method, with 95 % intervals over seeds. Coloured: the "
    "methods that stand out, those of Sarkar et al. 2026 and the best; cross: the unconstrained "
    "method; grey: the others, numbered in print where none beats them in both. With the theorems' "
    "constants many points may lie on each other near 100 %, where the constraint is ignored."
)


def plane_figure(summary: Summary, preset: str, styles: Styles) -> tuple[Picture, Any]:
    """Draw every problem at its longest horizon, with one preset."""
    fields = {place: summary.at(place, preset) for place in summary.places}
    numbers = _numbered([row for rows in fields.values() for row in rows], styles)
    columns = min(3, len(fields))
    count = math.ceil(len(fields) / columns)
    figure, axes = canvas(count, columns, 4.3 * columns, 3.7 * count + 0.5)
    panels = list(axes.flat)
    for ax in panels[len(fields) :]:
        ax.set_visible(False)
    for ax, (place, rows) in zip(panels, fields.items(), strict=False):
        for row in rows:
            _point(ax, row, numbers, styles)
        ax.set_title(in_figure(place), fontsize=9, loc="left")
        ax.set_xlim(0.0, 1.2 * max((row.ccv.value for row in rows), default=1.0) or 1.0)
        ax.axhline(0.0, color="0.5", linewidth=0.8)
        scale_in_percent(ax, "x", CCV)
        scale_in_percent(ax, "y", REGRET)
    played = {row.config.method for rows in fields.values() for row in rows}
    _keys(panels[0], numbers, played, preset, styles)
    legend_above(figure, panels[0])
    heading = f"Regret against violation, {preset_title(preset)}"
    part: Any = "plane" if preset == summary.presets[0] else "others"
    titles = {place_title(summary, place): rows for place, rows in fields.items() if rows}

    def live() -> list[Any]:
        return [plane_panel(title, rows, styles) for title, rows in titles.items()]

    return Picture(f"plane-{slug(preset)}", heading, PLANE, columns > 1, part, live), figure


def _numbered(rows: list[Row], styles: Styles) -> dict[str, int]:
    names = {r.config.method for r in rows if r.undominated and r.config.method not in styles}
    return {name: k for k, name in enumerate(sorted(names), start=1)}


def _point_style(method: str, numbers: dict[str, int], styles: Styles) -> dict[str, Any]:
    if method in styles:
        colour, _, marker, width = styles[method]
        size = 10 if width == STANDS_OUT else 7
        return {"color": colour, "marker": marker, "markersize": size, "zorder": 3}
    if method in numbers:
        marker = f"${numbers[method]}$"
        return {"color": "0.25", "marker": marker, "markersize": 7, "zorder": 4}
    return {"color": OTHER.colour, "marker": OTHER.marker, "markersize": 6, "zorder": 2}


def _point(ax: Any, row: Row, numbers: dict[str, int], styles: Styles) -> None:
    half = row.ccv.half
    _, _, bars = ax.errorbar(
        row.ccv.value,
        row.regret.value,
        xerr=[[min(half, row.ccv.value)], [half]] if math.isfinite(half) else None,
        yerr=row.regret.half if math.isfinite(row.regret.half) else None,
        linewidth=1.0,
        ecolor="0.75" if row.config.method in numbers else None,
        clip_on=False,  # points at 0 are whole
        **_point_style(row.config.method, numbers, styles),
    )
    for bar in bars:
        bar.set_clip_on(True)  # an interval ends at the edge of its panel, not of the figure


def _keys(ax: Any, numbers: dict[str, int], played: set[str], preset: str, styles: Styles) -> None:
    """Put each kind of point into the legend once."""
    for method in [*(name for name in styles if name in played), *numbers]:
        label = in_figure(styles.names.full(method, preset))
        ax.plot([], [], linestyle="none", label=label, **_point_style(method, numbers, styles))
    if played - styles.keys() - numbers.keys():
        ax.plot(
            [], [], linestyle="none", label="other methods", **_point_style("", numbers, styles)
        )


def growth_figure(rates: Sequence[Rate], styles: Styles) -> tuple[Picture, Any] | None:
    """Draw one line for each method and preset on each problem; None where nothing was fitted."""
    order = list(styles)  # the first of them on top
    fitted = sorted(shown_rates(rates), key=lambda rate: -_place(rate.config.method, order))
    if not fitted:
        return None
    figure, ((ax,),) = canvas(1, 1, 8.5, 0.8 + 0.28 * len(fitted))
    names = [
        in_figure(
            f"{styles.names.short(*rate.config[:2])}, {preset_title(rate.config.preset)}, "
            f"{rate.problem}"
        )
        for rate in fitted
    ]
    for k, rate in enumerate(fitted):
        colour = styles.get(rate.config.method, OTHER).colour
        ax.plot([rate.low, rate.high], [k, k], color=colour, linewidth=2.0)
        ax.plot(rate.exponent, k, "o", color=colour)
    for level in EXPONENTS:
        ax.axvline(level, color="0.6", linewidth=0.8, linestyle=":")
    ax.set_yticks(range(len(fitted)), names, fontsize=7)
    ax.set(xlabel="exponent e in CCV ~ T^e, with 95 % bootstrap interval", ylim=(-1, len(fitted)))
    caption = "Dotted: 1/2, 3/4 and 1, which is no learning. Regret is often negative: no exponent."
    heading = "How the violation grows with the horizon"
    panels = partial(growth_panels, fitted, styles)
    return Picture("growth", heading, caption, panels=panels, pairs=True), figure


SENSITIVITY = (
    "Eagerness moves along the trade-off: more of it means less violation and more regret. "
    "Bars: 95 % intervals over seeds."
)


def sensitivity_figure(summary: Summary) -> tuple[Picture, Any] | None:
    """Draw regret and CCV against eagerness; None where fewer than three values were played.

    Of the methods that stand out, and then of Hedgerow's, the first with three values is shown.
    """
    shown = {method: _eager(summary, method) for method in (*summary.names.highlighted, OURS)}
    method = next((name for name, rows in shown.items() if rows), None)
    if method is None:
        return None
    eager = shown[method]
    figure, ((regret, ccv),) = canvas(1, 2, 9.5, 4.0)
    for k, (place, rows) in enumerate(eager.items()):
        at = [1.02**k * row.config.eagerness for row in rows]  # bars beside each other
        for ax, means in ((regret, [r.regret for r in rows]), (ccv, [r.ccv for r in rows])):
            ax.errorbar(
                at,
                [mean.value for mean in means],
                yerr=[mean.half if math.isfinite(mean.half) else 0.0 for mean in means],
                color=COLOURS[k % len(COLOURS)],
                marker="osD^vx*"[k % 7],
                label=in_figure(place.problem),
            )
    values = sorted({row.config.eagerness for rows in eager.values() for row in rows})
    for ax, label in ((regret, REGRET), (ccv, CCV)):
        ax.set_xscale("log", base=2)
        ax.set_xticks(values, [f"{value:g}" for value in values])
        ax.set_xlabel("eagerness: 1 is the default")
        scale_in_percent(ax, "y", label)
    legend_above(figure, regret)
    heading, labels = (
        f"One knob: {summary.names.full(method, 'practical')}",
        [place.problem for place in eager],
    )
    panels = partial(eagerness_panels, eager, method)
    return Picture("sensitivity", heading, SENSITIVITY, panels=panels, marks=labels), figure


def _eager(summary: Summary, method: str) -> dict[ProblemAtHorizon, list[Row]]:
    found: dict[ProblemAtHorizon, list[Row]] = {}
    for place in summary.places:
        rows = [
            row
            for row in summary.rows
            if (row.place, row.config.method, row.config.preset) == (place, method, "practical")
        ]
        if len(rows) > 2:
            found[place] = sorted(rows, key=lambda row: row.config.eagerness)
    return found


UNDATED: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "png": {"Software": None}}


def draw_all(summary: Summary, rates: Sequence[Rate], folder: Path) -> list[Picture]:
    """Draw every figure that the results allow, as PNG and PDF."""
    pictures = []
    for picture, figure in _figures(summary, rates):
        for suffix, metadata in UNDATED.items():
            save_figure(figure, folder / f"{picture.name}.{suffix}", 160, metadata)
        pictures.append(picture)
    return pictures


def _figures(summary: Summary, rates: Sequence[Rate]) -> Iterator[tuple[Picture, Any]]:
    styles = headline_styles(summary)
    yield headline_figure(summary, styles)
    opening = headline_rows(summary, headline_place(summary), summary.presets[0])
    for preset in summary.presets:
        for place in summary.places:
            rows = summary.at(place, preset)
            if rows and rows != sorted(opening, key=lambda row: row.config):  # drawn already
                yield curve_figure(summary, place, preset, rows, styles)
        yield plane_figure(summary, preset, styles)
    for drawn in (growth_figure(rates, styles), sensitivity_figure(summary)):
        if drawn is not None:
            yield drawn
