"""The figures of a page that answer the mouse: Bokeh's, written into the page as data."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Sequence
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import numpy as np

from hedgerow.report.escaping import in_html
from hedgerow.report.live_plot import (
    FADED,
    HEIGHT,
    Axis,
    Panel,
    colour_of,
    dash_of,
    drawn_last,
    ends_of,
    item_of,
    label_of,
    marker_of,
    models,
    new_plot,
    percent_axis,
    shown_name,
    source_of,
    tag,
    tell,
    thinned,
)
from hedgerow.report.naming import in_words
from hedgerow.report.picture import CCV, COLOURS, REGRET, Picture, Styles
from hedgerow.report.summary import Row, Summary, Which

NO_BOKEH = (
    "Bokeh is not installed, so the figures of this page stand still; "
    'pip install ".[cli]" in a clone of hedgerow installs it, and hedgerow report draws them again.'
)


def has_bokeh() -> bool:
    """Whether figures can be made that answer the mouse."""
    return find_spec("bokeh") is not None


def scripts() -> list[str]:
    """Return the programs of a page with such figures: Bokeh itself, and the controls."""
    resources = importlib.import_module("bokeh.resources")
    parts = resources.Resources(mode="inline", components=["bokeh"]).js_raw
    controls = (files("hedgerow.report") / "page.js").read_text(encoding="utf-8")
    return [*parts, controls]


def panels_section(picture: Picture, panels: Sequence[Panel]) -> str:
    """Return a figure of several panels; files of the same name are its static forms."""
    holders = "".join(
        f'<div><h4>{in_html(panel.heading)}</h4><div class="panel" '
        f'id="{picture.name}-{k}"></div>{_as_data(panel.item, f"{picture.name}-{k}")}</div>'
        for k, panel in enumerate(panels)
    )
    name = in_html(picture.name)
    return (
        f"<figure><h3>{in_html(picture.heading)}</h3>{_own_keys(picture.marks)}"
        f'<div class="panels{" pairs" if picture.pairs else ""}">{holders}</div>'
        f"<figcaption>{in_html(picture.caption)} For print: "
        f'<a href="figures/{name}.pdf">figures/{name}.pdf</a>, '
        f'<a href="figures/{name}.png">.png</a>.</figcaption></figure>'
    )


def _as_data(item: dict[str, Any], target: str) -> str:
    """Return a figure as JSON in which nothing ends the element."""
    text = json.dumps({**item, "target_id": target}, separators=(",", ":"))
    return f'<script type="application/json">{text.replace("<", chr(92) + "u003c")}</script>'


def own_key(label: str) -> str:
    """Return what lines answer to that have a key in their figure alone."""
    return f"in this figure: {label}"


def _own_keys(labels: Sequence[str]) -> str:
    """Return a button for each label, in the colours of a palette."""
    buttons = "".join(
        f'<button type="button" class="key p{k % len(COLOURS)} shown" '
        f'data-key="{in_html(own_key(label))}">{in_html(label)}</button>'
        for k, label in enumerate(labels)
    )
    return f'<div class="keys here">{buttons}</div>' if labels else ""


def keys(methods: Sequence[str], preset: str, styles: Styles) -> str:
    """Return a button for each method, the switch of the axes, and how to use them."""
    buttons = "".join(
        f'<button type="button" class="key{_swatch(method, styles)} shown" '
        f'data-key="{in_html(method)}">{in_html(in_words(method, preset))}</button>'
        for method in methods
    )
    return (
        f'<div class="keys">{buttons}<button type="button" data-all>Show all</button>'
        '<button type="button" data-scale>Linear axes</button></div>'
    )


HINT = (
    "Click a method to mark it in every figure, again to hide it, again to show it. "
    "Point at a line for its numbers; drag to zoom."
)


def _swatch(method: str, styles: Styles) -> str:
    return f" k{list(styles).index(method)}" if method in styles else ""


def swatches(styles: Styles) -> str:
    """Return the colours of the buttons, as rules of style."""
    rules = {f"k{k}": colour for k, (colour, _, _) in enumerate(styles.values())}
    rules |= {f"p{k}": colour for k, colour in enumerate(COLOURS)}
    return "".join(
        f".keys .{name}::before {{ background: {colour}; }}\n" for name, colour in rules.items()
    )


def curve_panels(summary: Summary, rows: Sequence[Row], styles: Styles) -> list[Panel]:
    """Return CCV, regret and time of some methods on one problem."""
    return [
        Panel("Violation (CCV) up to round t", _curves(summary, rows, "ccv", styles)),
        Panel("Regret up to round t", _curves(summary, rows, "regret", styles)),
        Panel("Time of a round", _times(rows, styles)),
    ]


def _curves(summary: Summary, rows: Sequence[Row], which: Which, styles: Styles) -> dict[str, Any]:
    bands = {row.config.method: summary.band(row, which) for row in rows}
    names = {row.config.method: shown_name(in_words(*row.config[:2])) for row in rows}
    ends = [float(end) for _, _, low, high in bands.values() for end in (low.min(), high.max())]
    axis = percent_axis(CCV if which == "ccv" else REGRET, ends)
    rounds = Axis("round t", 0.0, 1.0, math.inf)
    plot = new_plot(rounds, axis)
    lines = []
    for method in sorted(bands, key=lambda method: drawn_last(method, styles)):
        t, middle, low, high = (np.asarray(part)[thinned(part)] for part in bands[method])
        bottom = np.maximum(low, 0.0) if which == "ccv" else low
        columns = axis.columns(y=middle, low=bottom, high=high)
        half = np.asarray(high - middle, dtype=np.float32)
        source = source_of({"t": t.astype(np.float32), "half": half, **columns})
        style = {"name": names[method], "source": source}
        if method in styles:
            plot.varea(
                "t", axis.field("low"), axis.field("high"), fill_color=colour_of(method, styles),
                fill_alpha=0.15, muted_alpha=0.02, **style,
            )  # fmt: skip
        lines.append(
            plot.line(
                "t",
                axis.field("y"),
                line_color=colour_of(method, styles),
                line_dash=dash_of(method, styles),
                line_width=2.2 if method in styles else 1.2,
                muted_alpha=FADED,
                muted_color=colour_of(method, styles),
                **style,
            )
        )
        tag(plot, method)
    unit = "CCV" if which == "ccv" else "regret"
    told = [("", "$name"), ("round", "@t{0}"), (unit, "@y{0.00} ± @half{0.00} %")]
    tell(plot, lines, told, line_policy="nearest")
    return item_of(plot)


def _times(rows: Sequence[Row], styles: Styles) -> dict[str, Any]:
    timed = sorted((row for row in rows if math.isfinite(row.microseconds)), key=_speed)
    values = [row.microseconds for row in timed]
    ends = (min(values) / 1.6, max(values) * 1.6) if values else (1.0, 10.0)
    axis = Axis("microseconds, median", *ends, 0.0)
    plot = new_plot(axis, None, max(HEIGHT, 60 + 34 * len(timed)))
    plot.y_range = models().Range1d(-0.6, max(len(timed) - 0.2, 1.0))
    dots = []
    for k, row in enumerate(timed):
        method, place = row.config.method, float(len(timed) - 1 - k)
        name = shown_name(in_words(*row.config[:2]))
        columns = axis.columns(x=[row.microseconds], first=[ends[0]])
        told = {"ran": [row.ran or "not recorded"], "label": [label_of(name)]}
        source = source_of({**columns, **told, "k": [place], "above": [place + 0.28]})
        style = {"name": name, "source": source}
        plot.segment(
            axis.field("first"), "k", axis.field("x"), "k", line_color="#dddddd",
            muted_alpha=FADED, **style,
        )  # fmt: skip
        plot.text(
            axis.field("first"), "above", "label", text_font_size="12px", text_color="#1a1a1a",
            text_baseline="middle", muted_alpha=0.25, **style,
        )  # fmt: skip
        dots.append(
            plot.scatter(
                axis.field("x"),
                "k",
                marker=marker_of(method, styles),
                size=10,
                line_color=colour_of(method, styles),
                fill_color="white" if row.ran == "through play" else colour_of(method, styles),
                muted_alpha=FADED,
                **style,
            )
        )
        tag(plot, method)
    tell(plot, dots, [("", "$name"), ("a round", "@x{0.0} µs"), ("ran", "@ran")])
    return item_of(plot)


def plane_panel(heading: str, rows: Sequence[Row], styles: Styles) -> Panel:
    """Return regret against CCV of some methods on one problem."""
    ccv = percent_axis(CCV, [end for row in rows for end in ends_of(row.ccv, 0.0)])
    regret = percent_axis(REGRET, [end for row in rows for end in ends_of(row.regret)])
    plot = new_plot(ccv, regret, 420)
    dots = []
    for row in sorted(rows, key=lambda row: drawn_last(row.config.method, styles)):
        method, named = row.config.method, row.config.method in styles
        left, right = ends_of(row.ccv, 0.0)
        bottom, top = ends_of(row.regret)
        across = ccv.columns(x=[row.ccv.value], left=[left], right=[right])
        upwards = regret.columns(y=[row.regret.value], bottom=[bottom], top=[top])
        told = {"ccv": [str(row.ccv)], "regret": [str(row.regret)]}
        name = shown_name(in_words(*row.config[:2]))
        style = {"name": name, "source": source_of({**across, **upwards, **told})}
        bar = {"line_color": colour_of(method, styles), "line_alpha": 0.5 if named else 0.15}
        bar["muted_alpha"] = 0.5 * FADED
        plot.segment(
            ccv.field("left"), regret.field("y"), ccv.field("right"), regret.field("y"), **bar,
            **style,
        )  # fmt: skip
        plot.segment(
            ccv.field("x"), regret.field("bottom"), ccv.field("x"), regret.field("top"), **bar,
            **style,
        )  # fmt: skip
        dots.append(
            plot.scatter(
                ccv.field("x"),
                regret.field("y"),
                marker=marker_of(method, styles),
                size=11 if named else 6,
                color=colour_of(method, styles),
                muted_alpha=FADED,
                **style,
            )
        )
        tag(plot, method)
    told_of = [("", "$name"), ("CCV", "@ccv %"), ("regret", "@regret %")]
    tell(plot, dots, told_of)
    return Panel(heading, item_of(plot))


def _speed(row: Row) -> float:
    return row.microseconds
