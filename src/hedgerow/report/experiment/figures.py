"""The figures of a report: curves as in the paper, the plane, growth, sensitivity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hedgerow.report.curves import COLOURS
from hedgerow.report.experiment.growth_rates import Rate
from hedgerow.report.experiment.summary import Place, Row, Summary

STYLES = {
    "projection_free_coco": (COLOURS[0], "-", "o"),
    "sinha_vaze": (COLOURS[1], (0, (5, 2)), "s"),
    "wang_ofw": (COLOURS[2], (0, (1, 1)), "^"),
    "garber_kretzu_dpp": (COLOURS[3], "-.", "D"),
    "unconstrained": (COLOURS[6], (0, (1, 3)), "x"),
}
"""The methods of the paper's figures, and the floor; all others are grey."""
OTHER = ("0.72", "-", ".")
WORDS = {"practical": "practical constants", "theory": "the theorems' constants"}
REGRET = "regret, % of the larger fixed action's cost"
CCV = "CCV, % of the blind action's"


class Picture(NamedTuple):
    """A figure in the report's folder: its name without suffix, its heading and its caption."""

    name: str
    heading: str
    caption: str


def draw_all(summary: Summary, rates: Sequence[Rate], folder: Path) -> list[Picture]:
    """Draw every figure that the results allow, as PNG and PDF."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    for picture, figure in _figures(summary, rates):
        for suffix in ("png", "pdf"):
            figure.savefig(folder / f"{picture.name}.{suffix}", dpi=160, metadata=_undated(suffix))
        pictures.append(picture)
    return pictures


def _undated(suffix: str) -> dict[str, Any]:
    return {"CreationDate": None} if suffix == "pdf" else {"Software": None}


def _figures(summary: Summary, rates: Sequence[Rate]) -> Iterator[tuple[Picture, Any]]:
    for preset in summary.presets:
        for place in summary.places:
            if rows := summary.at(place, preset):
                yield _curves(summary, place, preset, rows)
        yield _planes(summary, preset)
    fitted = [r for r in rates if math.isfinite(r.exponent) and r.entrant.eagerness == 1.0]
    if fitted:
        yield _growth(fitted)
    if eager := _eager(summary):
        yield _sensitivity(eager)


def _new(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(True, color="0.92", linewidth=0.8)
        ax.set_axisbelow(True)
    return figure, axes


def _curves(summary: Summary, place: Place, preset: str, rows: list[Row]) -> tuple[Picture, Any]:
    figure, ((ccv, regret, time),) = _new(1, 3, 12.5, 3.9)
    shown = sorted(rows, key=lambda row: row.entrant.method in STYLES)  # grey ones below
    for row in shown:
        colour, dash, _ = STYLES.get(row.entrant.method, OTHER)
        named = row.entrant.method in STYLES
        for ax, which in ((ccv, "ccv"), (regret, "regret")):
            t, middle, low, high = summary.band(row, which)
            label = row.entrant.method if named else None
            width = 1.9 if named else 0.9
            ax.plot(t, middle, color=colour, linestyle=dash, linewidth=width, label=label)
            if named and row.entrant.method != "unconstrained":
                ax.fill_between(t, low, high, color=colour, alpha=0.15, linewidth=0.0)
    if any(row.entrant.method not in STYLES for row in rows):
        ccv.plot([], [], color=OTHER[0], linewidth=0.9, label="other methods")
    for ax, label, linear in ((ccv, CCV, 1.0), (regret, REGRET, 10.0)):
        ax.set(xlabel="round t", ylabel=label, xlim=(0, place.horizon))
        ax.set_yscale("symlog", linthresh=linear)
        ax.yaxis.set_major_formatter("{x:g}")
    ccv.set_ylim(bottom=0.0)
    regret.axhline(0.0, color="0.5", linewidth=0.8)
    _bars(time, rows)
    figure.legend(
        *ccv.get_legend_handles_labels(), loc="outside upper left", ncols=6, frameon=False
    )
    heading = f"{place.problem}, T = {place.horizon}, {WORDS[preset]}"
    caption = (
        "Left: cumulative violation. Middle: regret up to round t; below zero where violation "
        "bought cost. Bands: 95 % intervals over seeds. The axes are linear up to 1 % and 10 %, "
        "logarithmic beyond. Right: median time of a round, drawing its functions included."
    )
    return Picture(f"curves-{_slug(place.problem)}-{preset}", heading, caption), figure


def _bars(ax: Any, rows: list[Row]) -> None:
    timed = [row for row in rows if math.isfinite(row.microseconds)]
    timed.sort(key=lambda row: -row.microseconds)
    names = [row.entrant.method for row in timed]
    colours = [STYLES.get(name, OTHER)[0] for name in names]
    ax.barh(names, [row.microseconds for row in timed], color=colours)
    ax.set_xscale("log")
    if timed:  # whole decades
        low, high = math.log10(timed[-1].microseconds), math.log10(timed[0].microseconds)
        ax.set_xlim(10.0 ** math.floor(low), 10.0 ** math.ceil(high + 0.01))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("")
    ax.tick_params(axis="y", labelsize=6 if len(names) > 12 else 8)
    ax.set_xlabel("microseconds a round")


def _planes(summary: Summary, preset: str) -> tuple[Picture, Any]:
    places = summary.places
    columns = min(3, len(places))
    count = math.ceil(len(places) / columns)
    figure, axes = _new(count, columns, 4.3 * columns, 3.7 * count)
    for ax in list(axes.flat)[len(places) :]:
        ax.set_visible(False)
    for ax, place in zip(axes.flat, places, strict=False):
        for row in summary.at(place, preset):
            colour, _, marker = STYLES.get(row.entrant.method, OTHER)
            named = row.entrant.method in STYLES
            ax.errorbar(
                row.ccv.value,
                row.regret.value,
                xerr=_half(row.ccv.half),
                yerr=_half(row.regret.half),
                color=colour if named else "0.55",
                marker=marker,
                markersize=7 if named else 5,
                linewidth=1.0,
                zorder=3 if named else 2,
            )
            if row.undominated or named:
                ax.annotate(
                    row.entrant.method,
                    (row.ccv.value, row.regret.value),
                    (4, 4),
                    textcoords="offset points",
                    fontsize=7,
                    color=colour if named else "0.35",
                )
        ax.set_title(f"{place.problem}, T = {place.horizon}", fontsize=9, loc="left")
        ax.set(xlabel=CCV, ylabel=REGRET)
        ax.set_xscale("symlog", linthresh=1.0)
        ax.set_yscale("symlog", linthresh=10.0)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter("{x:g}")
        ax.set_xlim(left=0.0)
        ax.axhline(0.0, color="0.5", linewidth=0.8)
    caption = (
        "Lower left is better. Each point is a method, with 95 % intervals over seeds; named are "
        "the paper's methods and those that no other beats in both."
    )
    heading = f"Regret against violation, {WORDS[preset]}"
    return Picture(f"plane-{preset}", heading, caption), figure


def _half(half: float) -> float | None:
    return half if math.isfinite(half) else None


def _growth(fitted: Sequence[Rate]) -> tuple[Picture, Any]:
    figure, ((ax,),) = _new(1, 1, 8.5, 0.8 + 0.28 * len(fitted))
    names = [f"{rate.problem}: {rate.entrant} ({rate.entrant.preset})" for rate in fitted]
    for k, rate in enumerate(fitted):
        colour = STYLES.get(rate.entrant.method, ("0.45",))[0]
        ax.plot([rate.low, rate.high], [k, k], color=colour, linewidth=2.0)
        ax.plot(rate.exponent, k, "o", color=colour)
    for level in (0.5, 0.75, 1.0):
        ax.axvline(level, color="0.6", linewidth=0.8, linestyle=":")
    ax.set_yticks(range(len(fitted)), names, fontsize=7)
    ax.set(xlabel="exponent e in CCV ~ T^e, with 95 % bootstrap interval", ylim=(-1, len(fitted)))
    caption = "Dotted: 1/2, 3/4 and 1, which is no learning. Regret is often negative: no exponent."
    return Picture("growth", "How the violation grows with the horizon", caption), figure


def _eager(summary: Summary) -> dict[Place, list[Row]]:
    found: dict[Place, list[Row]] = {}
    for place in summary.places:
        rows = [
            row
            for row in summary.rows
            if row.place == place
            and row.entrant.method == "projection_free_coco"
            and row.entrant.preset == "practical"
        ]
        if len(rows) > 2:
            found[place] = sorted(rows, key=lambda row: row.entrant.eagerness)
    return found


def _sensitivity(eager: dict[Place, list[Row]]) -> tuple[Picture, Any]:
    figure, ((regret, ccv),) = _new(1, 2, 9.5, 3.7)
    for k, (place, rows) in enumerate(eager.items()):
        at = [row.entrant.eagerness for row in rows]
        for ax, means in ((regret, [r.regret for r in rows]), (ccv, [r.ccv for r in rows])):
            ax.errorbar(
                at,
                [mean.value for mean in means],
                yerr=[mean.half if math.isfinite(mean.half) else 0.0 for mean in means],
                color=COLOURS[k % len(COLOURS)],
                marker="osD^vx*"[k % 7],
                label=place.problem,
            )
    for ax, label, linear in ((regret, REGRET, 10.0), (ccv, CCV, 1.0)):
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set(xlabel="eagerness: 1 is the default", ylabel=label)
        ax.set_yscale("symlog", linthresh=linear)
        ax.yaxis.set_major_formatter("{x:g}")
    regret.legend(frameon=False, fontsize=8)
    caption = (
        "Twice the eagerness is half the violation_scale: the cumulative violation that may be "
        "spent. The knob moves along the trade-off."
    )
    heading = "Sensitivity of projection_free_coco to its one knob"
    return Picture("sensitivity", heading, caption), figure


def _slug(text: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in text.lower()).strip("-")
