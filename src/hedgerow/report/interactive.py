"""The figures of a page that answer the mouse: Bokeh's, written into the page as data."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Sequence
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector
from hedgerow.report.escaping import LONGEST, in_html, printable
from hedgerow.report.naming import in_words
from hedgerow.report.picture import (
    CCV,
    LINEAR,
    OTHER_COLOUR,
    REGRET,
    STYLES,
    Picture,
    decade_ticks,
    percent_ticks,
)
from hedgerow.report.summary import Mean, Row, Summary, Which

MOST_POINTS = 120
"""Of one line: as many as a panel can show."""
HEIGHT = 330
FADED = 0.07
MARKERS = {"o": "circle", "s": "square", "^": "triangle", "v": "inverted_triangle", "D": "diamond"}
DASHES = {"-": "solid", "-.": [6, 3, 2, 3]}
NO_BOKEH = (
    "Bokeh is not installed, so the figures of this page stand still; "
    'pip install "hedgerow[cli]" brings it, and hedgerow report draws them again.'
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


class Panel(NamedTuple):
    """One plot: what stands above it, and Bokeh's data."""

    heading: str
    item: dict[str, Any]


def panels_section(picture: Picture, panels: Sequence[Panel]) -> str:
    """Return a figure of several panels; files of the same name are its static forms."""
    holders = "".join(
        f'<div><h4>{in_html(panel.heading)}</h4><div class="panel" '
        f'id="{picture.name}-{k}"></div>{_as_data(panel.item, f"{picture.name}-{k}")}</div>'
        for k, panel in enumerate(panels)
    )
    name = in_html(picture.name)
    return (
        f'<figure><h3>{in_html(picture.heading)}</h3><div class="panels">{holders}</div>'
        f"<figcaption>{in_html(picture.caption)} For print: "
        f'<a href="figures/{name}.pdf">figures/{name}.pdf</a>, '
        f'<a href="figures/{name}.png">.png</a>.</figcaption></figure>'
    )


def _as_data(item: dict[str, Any], target: str) -> str:
    """Return a figure as JSON in which nothing ends the element."""
    text = json.dumps({**item, "target_id": target}, separators=(",", ":"))
    return f'<script type="application/json">{text.replace("<", chr(92) + "u003c")}</script>'


def keys(methods: Sequence[str]) -> str:
    """Return a button for each method, the switch of the axes, and how to use them."""
    buttons = "".join(
        f'<button type="button" class="key{_swatch(method)} shown" '
        f'data-key="{in_html(method)}">{in_html(in_words(method))}</button>'
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


def _swatch(method: str) -> str:
    return f" k{list(STYLES).index(method)}" if method in STYLES else ""


def swatches() -> str:
    """Return the colours of the buttons, as rules of style."""
    return "".join(
        f".keys .k{k}::before {{ background: {colour}; }}\n"
        for k, (colour, _, _) in enumerate(STYLES.values())
    )


class Axis(NamedTuple):
    """An axis: its label, the values on it, and up to where its logarithmic form is linear.

    `linear` is 0 for a true logarithm, and infinite where there is no logarithmic form.
    """

    label: str
    low: float
    high: float
    linear: float

    def logged(self, values: ArrayLike) -> Vector:
        """Return where values lie on the logarithmic form."""
        v = np.asarray(values, dtype=float)
        if self.linear == 0.0:
            return np.asarray(np.log10(v))
        size = np.maximum(np.abs(v) / self.linear, 1e-300)
        return np.asarray(np.sign(v) * np.where(size <= 1.0, size, 1.0 + np.log10(size)))

    def columns(self, **given: ArrayLike) -> dict[str, Any]:
        """Return columns for a plot, each also in its logarithmic form where there is one."""
        found: dict[str, Any] = {
            name: np.asarray(values, dtype=np.float32) for name, values in given.items()
        }
        if math.isfinite(self.linear):
            for name, values in given.items():
                found[f"{name}_log"] = self.logged(values).astype(np.float32)
        return found

    def field(self, name: str) -> str:
        """Return the column that is shown first."""
        return f"{name}_log" if math.isfinite(self.linear) else name

    @property
    def short(self) -> str:
        """The label without its unit in words, which the page defines once."""
        return {CCV: "CCV, %", REGRET: "regret, %"}.get(self.label, self.label)

    def ticks(self) -> tuple[list[float], list[float]]:
        """Return the labels and the ticks of the logarithmic form."""
        if self.linear == 0.0:
            return decade_ticks(self.low, self.high)
        return percent_ticks(self.low, self.high, self.linear)


def _percent_axis(label: str, ends: Sequence[float]) -> Axis:
    """Return an axis of regret or CCV; one that stays near 0 is linear."""
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    small = max(abs(low), abs(high)) <= LINEAR[label]
    return Axis(label, low, high, math.inf if small else LINEAR[label])


def curve_panels(summary: Summary, rows: Sequence[Row]) -> list[Panel]:
    """Return CCV, regret and time of some methods on one problem."""
    return [
        Panel("Violation (CCV) up to round t", _curves(summary, rows, "ccv", CCV)),
        Panel("Regret up to round t", _curves(summary, rows, "regret", REGRET)),
        Panel("Time of a round", _times(rows)),
    ]


def _curves(summary: Summary, rows: Sequence[Row], which: Which, label: str) -> dict[str, Any]:
    bands = {row.config.method: summary.band(row, which) for row in rows}
    ends = [float(end) for _, _, low, high in bands.values() for end in (low.min(), high.max())]
    axis = _percent_axis(label, ends)
    rounds = Axis("round t", 0.0, 1.0, math.inf)
    plot = _plot(rounds, axis)
    lines = []
    for method in sorted(bands, key=_drawn_last):
        t, middle, low, high = (np.asarray(part)[_thinned(part)] for part in bands[method])
        bottom = np.maximum(low, 0.0) if which == "ccv" else low
        columns = axis.columns(y=middle, low=bottom, high=high)
        half = np.asarray(high - middle, dtype=np.float32)
        source = _source({"t": t.astype(np.float32), "half": half, **columns})
        look = {"name": _name(method), "source": source}
        if method in STYLES:
            plot.varea(
                "t", axis.field("low"), axis.field("high"), fill_color=_colour(method),
                fill_alpha=0.15, muted_alpha=0.02, **look,
            )  # fmt: skip
        lines.append(
            plot.line(
                "t",
                axis.field("y"),
                line_color=_colour(method),
                line_dash=_dash(method),
                line_width=2.2 if method in STYLES else 1.2,
                muted_alpha=FADED,
                muted_color=_colour(method),
                **look,
            )
        )
        _tag(plot, method)
    unit = "CCV" if which == "ccv" else "regret"
    told = [("", "$name"), ("round", "@t{0}"), (unit, "@y{0.00} ± @half{0.00} %")]
    _tell(plot, lines, told, line_policy="nearest")
    return _item(plot)


def _times(rows: Sequence[Row]) -> dict[str, Any]:
    timed = sorted((row for row in rows if math.isfinite(row.microseconds)), key=_speed)
    values = [row.microseconds for row in timed]
    ends = (min(values) / 1.6, max(values) * 1.6) if values else (1.0, 10.0)
    axis = Axis("microseconds, median", *ends, 0.0)
    plot = _plot(axis, None, max(HEIGHT, 60 + 34 * len(timed)))
    plot.y_range = _models().Range1d(-0.6, max(len(timed) - 0.2, 1.0))
    dots = []
    for k, row in enumerate(timed):
        method, place = row.config.method, float(len(timed) - 1 - k)
        columns = axis.columns(x=[row.microseconds], first=[ends[0]])
        told = {"ran": [row.ran or "not recorded"], "label": [_name(method)]}
        source = _source({**columns, **told, "k": [place], "above": [place + 0.28]})
        look = {"name": _name(method), "source": source}
        plot.segment(
            axis.field("first"), "k", axis.field("x"), "k", line_color="#dddddd",
            muted_alpha=FADED, **look,
        )  # fmt: skip
        plot.text(
            axis.field("first"), "above", "label", text_font_size="12px", text_color="#1a1a1a",
            text_baseline="middle", muted_alpha=0.25, **look,
        )  # fmt: skip
        dots.append(
            plot.scatter(
                axis.field("x"),
                "k",
                marker=_marker(method),
                size=10,
                line_color=_colour(method),
                fill_color="white" if row.ran == "through play" else _colour(method),
                muted_alpha=FADED,
                **look,
            )
        )
        _tag(plot, method)
    _tell(plot, dots, [("", "$name"), ("a round", "@x{0.0} µs"), ("ran", "@ran")])
    return _item(plot)


def plane_panel(heading: str, rows: Sequence[Row]) -> Panel:
    """Return regret against CCV of some methods on one problem."""
    ccv = _percent_axis(CCV, [end for row in rows for end in _ends(row.ccv, 0.0)])
    regret = _percent_axis(REGRET, [end for row in rows for end in _ends(row.regret)])
    plot = _plot(ccv, regret, 420)
    dots = []
    for row in sorted(rows, key=lambda row: _drawn_last(row.config.method)):
        method, named = row.config.method, row.config.method in STYLES
        left, right = _ends(row.ccv, 0.0)
        bottom, top = _ends(row.regret)
        across = ccv.columns(x=[row.ccv.value], left=[left], right=[right])
        upwards = regret.columns(y=[row.regret.value], bottom=[bottom], top=[top])
        told = {"ccv": [str(row.ccv)], "regret": [str(row.regret)]}
        look = {"name": _name(method), "source": _source({**across, **upwards, **told})}
        bar = {"line_color": _colour(method), "line_alpha": 0.5 if named else 0.15}
        bar["muted_alpha"] = 0.5 * FADED
        plot.segment(
            ccv.field("left"), regret.field("y"), ccv.field("right"), regret.field("y"), **bar,
            **look,
        )  # fmt: skip
        plot.segment(
            ccv.field("x"), regret.field("bottom"), ccv.field("x"), regret.field("top"), **bar,
            **look,
        )  # fmt: skip
        dots.append(
            plot.scatter(
                ccv.field("x"),
                regret.field("y"),
                marker=_marker(method),
                size=11 if named else 6,
                color=_colour(method),
                muted_alpha=FADED,
                **look,
            )
        )
        _tag(plot, method)
    told_of = [("", "$name"), ("CCV", "@ccv %"), ("regret", "@regret %")]
    _tell(plot, dots, told_of)
    return Panel(heading, _item(plot))


def _ends(mean: Mean, least: float = -math.inf) -> tuple[float, float]:
    half = mean.half if math.isfinite(mean.half) else 0.0
    return max(mean.value - half, least), mean.value + half


def _speed(row: Row) -> float:
    return row.microseconds


def _drawn_last(method: str) -> int:
    """Order: those in grey below, the first of the styles on top."""
    return -list(STYLES).index(method) if method in STYLES else -len(STYLES)


def _thinned(values: Vector) -> Vector:
    """Return which points of a line are kept, the ends among them."""
    return np.unique(np.linspace(0, len(values) - 1, MOST_POINTS).round().astype(np.intp))


def _colour(method: str) -> str:
    return STYLES[method][0] if method in STYLES else OTHER_COLOUR


def _dash(method: str) -> Any:
    dash: Any = STYLES[method][1] if method in STYLES else "-"
    return DASHES[dash] if dash in DASHES else [2 * length for length in dash[1]]


def _marker(method: str) -> str:
    return MARKERS.get(STYLES[method][2], "x") if method in STYLES else "circle"


def _name(method: str) -> str:
    """Return a name for a plot, which shows text as it is."""
    shown = printable(in_words(method))
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def _models() -> Any:
    return importlib.import_module("bokeh.models")


def _source(columns: dict[str, Any]) -> Any:
    return _models().ColumnDataSource(columns)


def _plot(x: Axis, y: Axis | None, height: int = HEIGHT) -> Any:
    """Return an empty plot; without y there is no vertical axis."""
    plot = importlib.import_module("bokeh.plotting").figure(
        height=height,
        sizing_mode="stretch_width",
        tools="pan,box_zoom,reset,save",
        toolbar_location="above",
        active_drag="box_zoom",
        outline_line_color=None,
    )
    plot.toolbar.logo, plot.toolbar.autohide = None, True
    _dress(plot, x, "below", 0)
    if y is None:
        plot.yaxis.visible = plot.ygrid.visible = False
    else:
        _dress(plot, y, "left", 1)
        zero = _models().Span(location=0.0, dimension="width", line_color="#888888")
        plot.add_layout(zero)
    return plot


def _dress(plot: Any, axis: Axis, side: str, dimension: int) -> None:
    """Label an axis, and lay its logarithmic form beside it; a switch shows one of both."""
    linear, grid = getattr(plot, side)[0], (plot.xgrid, plot.ygrid)[dimension][0]
    forms = [linear]
    grid.grid_line_color = "#ebebeb"
    if math.isfinite(axis.linear):
        labels, ticks = axis.ticks()
        at = axis.logged(labels).tolist()
        models = _models()
        ticker = models.FixedTicker(ticks=at, minor_ticks=axis.logged(ticks).tolist())
        texts = {place: f"{label:g}" for place, label in zip(at, labels, strict=True)}
        forms.append(models.LinearAxis(name="log", ticker=ticker, major_label_overrides=texts))
        plot.add_layout(forms[1], side)
        lines = models.Grid(dimension=dimension, ticker=ticker, name="log")
        lines.grid_line_color = "#ebebeb"
        plot.add_layout(lines)
        linear.name = grid.name = "linear"
        linear.visible = grid.visible = False
    for form in forms:
        form.axis_label, form.axis_label_text_font_style = axis.short, "normal"
        form.axis_label_text_font_size, form.major_label_text_font_size = "12px", "12px"
        form.minor_tick_line_color = form.axis_line_color = "#888888"


def _tag(plot: Any, method: str) -> None:
    """Mark what was drawn last as a method's, for the controls of the page."""
    for renderer in plot.renderers:
        renderer.tags = renderer.tags or [method]


def _tell(plot: Any, renderers: Sequence[Any], told: list[tuple[str, str]], **policy: str) -> None:
    """Name what the mouse points at, with its numbers."""
    plot.add_tools(_models().HoverTool(renderers=list(renderers), tooltips=told, **policy))


def _item(plot: Any) -> dict[str, Any]:
    item: dict[str, Any] = importlib.import_module("bokeh.embed").json_item(plot)
    return item
