"""The interactive figures of a page: Bokeh's, written into the page as data.

What is drawn carries the keys of its method or problem as tags, by which `page.js` hides it.
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector
from hedgerow.report.escaping import LONGEST, in_html, printable
from hedgerow.report.picture import (
    CCV,
    COLOURS,
    EXPONENTS,
    LINEAR,
    OTHER_COLOUR,
    REGRET,
    STANDS_OUT,
    Picture,
    Styles,
    decade_ticks,
    percent_ticks,
    preset_title,
)
from hedgerow.report.summary import Mean, MethodConfig, ProblemAtHorizon, Rate, Row, Summary, Which

NO_BOKEH = (
    "Bokeh is not installed, so the figures of this page are not interactive; "
    'pip install ".[cli]" in a clone of hedgerow installs it, and hedgerow report draws them again.'
)
HINT = (
    "Click a method to mark it in every figure, again to hide it, again to show it. "
    "Point at a line for its numbers; drag to zoom."
)
MOST_POINTS = 120
"""Of one line: as many as a panel can show."""
LONGEST_LABEL = 52
"""Characters that fit into a panel on a narrow screen; the buttons show the whole name."""
HEIGHT, ROW_HEIGHT = 330, 34
"""Pixels of a plot, and of each named row in it."""
FADED = 0.07
MARKERS = {
    "o": "circle", "s": "square", "^": "triangle", "v": "inverted_triangle", "D": "diamond",
    "P": "plus", "*": "star", "p": "square_pin", "h": "hex", "X": "triangle_pin",
}  # fmt: skip
DASHES = {"-": "solid", "-.": [6, 3, 2, 3], ":": [2, 3]}


class Panel(NamedTuple):
    """One plot: its heading, and Bokeh's data."""

    heading: str
    item: dict[str, Any]


def has_bokeh() -> bool:
    """Whether Bokeh is installed."""
    return find_spec("bokeh") is not None


def scripts() -> list[str]:
    """Return the programs of a page with interactive figures: Bokeh itself, and the controls."""
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
    """Return a figure as JSON; "<" is escaped, so that no text in it ends the element."""
    text = json.dumps({**item, "target_id": target}, separators=(",", ":"))
    return f'<script type="application/json">{text.replace("<", chr(92) + "u003c")}</script>'


def keys(methods: Sequence[str], preset: str, styles: Styles) -> str:
    """Return a button for each method, one that shows all, and the switch of the axes."""
    order = list(styles)
    buttons = "".join(
        _button(
            f" k{order.index(method)}" if method in styles else "",
            method,
            styles.names.full(method, preset),
        )
        for method in methods
    )
    return (
        f'<div class="keys">{buttons}<button type="button" data-all>Show all</button>'
        '<button type="button" data-scale>Linear axes</button></div>'
    )


def _own_keys(labels: Sequence[str]) -> str:
    """Return the buttons of one figure alone, in the colours of a palette."""
    buttons = "".join(
        _button(f" p{k % len(COLOURS)}", _own_key(label), label) for k, label in enumerate(labels)
    )
    return f'<div class="keys here">{buttons}</div>' if labels else ""


def _own_key(label: str) -> str:
    return f"in this figure: {label}"


def _button(swatch: str, key: str, label: str) -> str:
    return (
        f'<button type="button" class="key{swatch} shown" '
        f'data-key="{in_html(key)}">{in_html(label)}</button>'
    )


def swatches(styles: Styles) -> str:
    """Return the colours of the buttons, as CSS."""
    rules = {f"k{k}": style.colour for k, style in enumerate(styles.values())}
    rules |= {f"p{k}": colour for k, colour in enumerate(COLOURS)}
    return "".join(
        f".keys .{name}::before {{ background: {colour}; }}\n" for name, colour in rules.items()
    )


class Axis(NamedTuple):
    """An axis with two forms, linear and logarithmic, between which the page switches.

    The logarithmic form is linear up to `linear`, which is 0 for a true logarithm and infinite
    where there is no logarithmic form. `at` are its labels, where they are not the usual ones.
    """

    label: str
    low: float
    high: float
    linear: float
    at: tuple[float, ...] = ()

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

    def ticks(self) -> tuple[list[float], list[float]]:
        """Return the labels and the ticks of the logarithmic form."""
        if self.at:
            return list(self.at), list(self.at)
        if self.linear == 0.0:
            return decade_ticks(self.low, self.high)
        return percent_ticks(self.low, self.high, self.linear)


def _percent_axis(label: str, ends: Sequence[float]) -> Axis:
    """Return an axis of regret or CCV; one that stays near 0 is linear."""
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    small = max(abs(low), abs(high)) <= LINEAR[label]
    return Axis(label, low, high, math.inf if small else LINEAR[label])


class _Plot:
    """A Bokeh figure with axes in two forms; without y it has no vertical axis."""

    def __init__(self, x: Axis, y: Axis | None, height: int = HEIGHT):
        self.models = importlib.import_module("bokeh.models")
        self.figure: Any = importlib.import_module("bokeh.plotting").figure(
            height=height,
            sizing_mode="stretch_width",
            tools="pan,box_zoom,reset,save",
            toolbar_location="above",
            active_drag="box_zoom",
            outline_line_color=None,
        )
        self.figure.toolbar.logo, self.figure.toolbar.autohide = None, True
        self._add_axis(x, "below", 0)
        if y is None:
            self.figure.yaxis.visible = self.figure.ygrid.visible = False
        else:
            self._add_axis(y, "left", 1)
        if y is not None and y.linear > 0.0:  # a true logarithm has no 0
            self.span(0.0, "width")

    def _add_axis(self, axis: Axis, side: str, dimension: int) -> None:
        """Label an axis, and lay its logarithmic form beside it; the page shows one of the two."""
        figure = self.figure
        linear, grid = getattr(figure, side)[0], (figure.xgrid, figure.ygrid)[dimension][0]
        forms = [linear]
        grid.grid_line_color = "#ebebeb"
        if math.isfinite(axis.linear):
            labels, ticks = axis.ticks()
            at = axis.logged(labels).tolist()
            ticker = self.models.FixedTicker(ticks=at, minor_ticks=axis.logged(ticks).tolist())
            texts = {place: f"{label:g}" for place, label in zip(at, labels, strict=True)}
            log = self.models.LinearAxis(name="log", ticker=ticker, major_label_overrides=texts)
            forms.append(log)
            figure.add_layout(log, side)
            lines = self.models.Grid(dimension=dimension, ticker=ticker, name="log")
            lines.grid_line_color = "#ebebeb"
            figure.add_layout(lines)
            linear.name = grid.name = "linear"
            linear.visible = grid.visible = False
        for form in forms:
            # The page defines both units once, so that labels are short here.
            form.axis_label = {CCV: "CCV, %", REGRET: "regret, %"}.get(axis.label, axis.label)
            form.axis_label_text_font_style = "normal"
            form.axis_label_text_font_size = form.major_label_text_font_size = "12px"
            form.minor_tick_line_color = form.axis_line_color = "#888888"

    def span(self, at: float, dimension: str, **style: Any) -> None:
        """Draw a line across the whole plot."""
        grey = {"line_color": "#888888", **style}
        self.figure.add_layout(self.models.Span(location=at, dimension=dimension, **grey))

    def pen(self, name: str, columns: dict[str, Any], *tags: str) -> Callable[..., Any]:
        """Return a function that draws a glyph from these columns, tagged with its keys."""
        source = self.models.ColumnDataSource(columns)

        def draw(kind: str, *fields: str, **style: Any) -> Any:
            style = {"muted_alpha": FADED, **style}
            renderer = getattr(self.figure, kind)(*fields, name=name, source=source, **style)
            renderer.tags = list(tags)
            return renderer

        return draw

    def item(
        self, hovered: Sequence[Any], tooltips: list[tuple[str, str]], **policy: str
    ) -> dict[str, Any]:
        """Return the plot as data; pointing at some of its glyphs shows their numbers."""
        self.figure.add_tools(
            self.models.HoverTool(
                renderers=list(hovered), tooltips=[("", "$name"), *tooltips], **policy
            )
        )
        item: dict[str, Any] = importlib.import_module("bokeh.embed").json_item(self.figure)
        return item


def _ends(mean: Mean, least: float = -math.inf) -> tuple[float, float]:
    """Return the ends of an interval, at least `least`; those of one seed are its value."""
    half = mean.half if math.isfinite(mean.half) else 0.0
    return max(mean.value - half, least), mean.value + half


def _drawn_last(method: str, styles: Styles) -> int:
    """Sort grey methods below, and the first of the styles on top."""
    return -list(styles).index(method) if method in styles else -len(styles)


def _colour(method: str, styles: Styles) -> str:
    return styles[method].colour if method in styles else OTHER_COLOUR


def _line(method: str, styles: Styles) -> dict[str, Any]:
    """Return the style of a method's line; methods without a style are thin and grey."""
    dash: Any = styles[method].dash if method in styles else "-"
    return {
        "line_color": _colour(method, styles),
        "line_dash": DASHES[dash] if dash in DASHES else [2 * length for length in dash[1]],
        "line_width": 1.15 * styles[method].width if method in styles else 1.2,
    }


def _size(method: str, styles: Styles) -> int:
    """Return the size of a point; methods that stand out are larger."""
    if method not in styles:
        return 6
    return 15 if styles[method].width == STANDS_OUT else 11


def _marker(method: str, styles: Styles) -> str:
    return MARKERS.get(styles[method].marker, "x") if method in styles else "circle"


def _name(config: MethodConfig, styles: Styles) -> str:
    return _cut(styles.names.full(config.method, config.preset))


def _cut(name: str) -> str:
    """Return a name that Bokeh shows as it is, cut where it is too long."""
    shown = printable(name)
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def label_of(name: str) -> str:
    """Return a name for a place inside a plot, without its remarks where it is long.

    >>> label_of("Wang, Wan and Zhang 2025, OFW-TVC (restarts around Hedgerow's learner)")
    'Wang, Wan and Zhang 2025, OFW-TVC'
    """
    return name if len(name) <= LONGEST_LABEL else name.split(" (")[0]


def curve_panels(summary: Summary, rows: Sequence[Row], styles: Styles) -> list[Panel]:
    """Return CCV, regret and time of some methods on one problem."""
    return [
        Panel("Violation (CCV) up to round t", _curves(summary, rows, "ccv", styles)),
        Panel("Regret up to round t", _curves(summary, rows, "regret", styles)),
        Panel("Time of a round", _times(rows, styles)),
    ]


def _curves(summary: Summary, rows: Sequence[Row], which: Which, styles: Styles) -> dict[str, Any]:
    bands = {row.config: summary.band(row, which) for row in rows}
    ends = [float(end) for _, _, low, high in bands.values() for end in (low.min(), high.max())]
    axis = _percent_axis(CCV if which == "ccv" else REGRET, ends)
    plot = _Plot(Axis("round t", 0.0, 1.0, math.inf), axis)
    lines = []
    for config in sorted(bands, key=lambda config: _drawn_last(config.method, styles)):
        method, count = config.method, len(bands[config][0])
        # Thin the line to what a panel can show, with both ends.
        few = np.unique(np.linspace(0, count - 1, MOST_POINTS).round().astype(np.intp))
        t, middle, low, high = (part[few] for part in bands[config])
        bottom = np.maximum(low, 0.0) if which == "ccv" else low
        half = np.asarray(high - middle, dtype=np.float32)
        columns = axis.columns(y=middle, low=bottom, high=high)
        draw = plot.pen(
            _name(config, styles), {"t": t.astype(np.float32), "half": half, **columns}, method
        )
        if method in styles:
            fill = {"fill_color": _colour(method, styles), "fill_alpha": 0.15, "muted_alpha": 0.02}
            draw("varea", "t", axis.field("low"), axis.field("high"), **fill)
        colour = {"muted_color": _colour(method, styles)}
        lines.append(draw("line", "t", axis.field("y"), **_line(method, styles), **colour))
    unit = "CCV" if which == "ccv" else "regret"
    tooltips = [("round", "@t{0}"), (unit, "@y{0.00} ± @half{0.00} %")]
    return plot.item(lines, tooltips, line_policy="nearest")


class _Dot(NamedTuple):
    """A value of one method with the line through it, their styles, and a remark for the mouse."""

    config: MethodConfig
    low: float
    value: float
    high: float
    remark: str
    line: dict[str, Any]
    dot: dict[str, Any]


def _dots(plot: _Plot, axis: Axis, dots: Sequence[_Dot], styles: Styles) -> list[Any]:
    """Draw a row for each dot, the first on top, with the method's name above it."""
    plot.figure.y_range = plot.models.Range1d(-0.6, max(len(dots) - 0.2, 1.0))
    drawn = []
    for k, dot in enumerate(dots):
        name, at = _name(dot.config, styles), float(len(dots) - 1 - k)
        columns = axis.columns(low=[dot.low], x=[dot.value], high=[dot.high], first=[axis.low])
        columns |= {"remark": [dot.remark], "label": [label_of(name)]}
        draw = plot.pen(name, {**columns, "k": [at], "above": [at + 0.3]}, dot.config.method)
        draw("segment", axis.field("low"), "k", axis.field("high"), "k", **dot.line)
        draw(
            "text", axis.field("first"), "above", "label", text_font_size="12px",
            text_color="#1a1a1a", text_baseline="middle", muted_alpha=0.25,
        )  # fmt: skip
        marker = _marker(dot.config.method, styles)
        drawn.append(draw("scatter", axis.field("x"), "k", marker=marker, **dot.dot))
    return drawn


def _height(rows: int) -> int:
    return max(HEIGHT, 60 + ROW_HEIGHT * rows)


def _times(rows: Sequence[Row], styles: Styles) -> dict[str, Any]:
    timed = [row for row in rows if math.isfinite(row.microseconds)]
    timed.sort(key=lambda row: row.microseconds)
    values = [row.microseconds for row in timed]
    ends = (min(values) / 1.6, max(values) * 1.6) if values else (1.0, 10.0)
    axis = Axis("microseconds, median", *ends, 0.0)
    plot, dots = _Plot(axis, None, _height(len(timed))), []
    for row in timed:
        colour, time = _colour(row.config.method, styles), row.microseconds
        inside = "white" if row.ran == "through play" else colour
        dot = {"size": 10, "line_color": colour, "fill_color": inside}
        line = {"line_color": "#dddddd"}
        dots.append(_Dot(row.config, ends[0], time, time, row.ran or "not recorded", line, dot))
    drawn = _dots(plot, axis, dots, styles)
    return plot.item(drawn, [("a round", "@x{0.0} µs"), ("ran", "@remark")])


def plane_panel(heading: str, rows: Sequence[Row], styles: Styles) -> Panel:
    """Return regret against CCV of some methods on one problem."""
    ccv = _percent_axis(CCV, [end for row in rows for end in _ends(row.ccv, 0.0)])
    regret = _percent_axis(REGRET, [end for row in rows for end in _ends(row.regret)])
    plot = _Plot(ccv, regret, 420)
    x, y = ccv.field("x"), regret.field("y")
    dots = []
    for row in sorted(rows, key=lambda row: _drawn_last(row.config.method, styles)):
        method, named = row.config.method, row.config.method in styles
        left, right = _ends(row.ccv, 0.0)
        bottom, top = _ends(row.regret)
        columns = ccv.columns(x=[row.ccv.value], left=[left], right=[right])
        columns |= regret.columns(y=[row.regret.value], bottom=[bottom], top=[top])
        columns |= {"ccv": [str(row.ccv)], "regret": [str(row.regret)]}
        draw = plot.pen(_name(row.config, styles), columns, method)
        colour = _colour(method, styles)
        bar = {"line_color": colour, "line_alpha": 0.5 if named else 0.15}
        bar["muted_alpha"] = 0.5 * FADED
        draw("segment", ccv.field("left"), y, ccv.field("right"), y, **bar)
        draw("segment", x, regret.field("bottom"), x, regret.field("top"), **bar)
        point = {"marker": _marker(method, styles), "size": _size(method, styles)}
        dots.append(draw("scatter", x, y, color=colour, **point))
    return Panel(heading, plot.item(dots, [("CCV", "@ccv %"), ("regret", "@regret %")]))


def growth_panels(rates: Sequence[Rate], styles: Styles) -> list[Panel]:
    """Return CCV against the horizon and its exponents, for each problem and preset."""
    groups: dict[tuple[str, str], list[Rate]] = {}
    for rate in rates:
        groups.setdefault((rate.problem, rate.config.preset), []).append(rate)
    found = []
    for (problem, preset), some in groups.items():
        where = f"{problem}, {preset_title(preset)}"
        found.append(Panel(f"CCV after T rounds: {where}", _horizons(some, styles)))
        found.append(Panel(f"Exponent e in CCV ~ T^e: {where}", _exponents(some, styles)))
    return found


def _horizons(rates: Sequence[Rate], styles: Styles) -> dict[str, Any]:
    horizons = sorted({T for rate in rates for T, _ in rate.means})
    values = [mean.value for rate in rates for _, mean in rate.means]
    rounds = Axis("rounds T", horizons[0], horizons[-1], 0.0, tuple(map(float, horizons)))
    ccv = Axis("CCV, in the problem's unit", min(values), max(values), 0.0)
    plot, lines = _Plot(rounds, ccv), []
    x, y = rounds.field("x"), ccv.field("y")
    for rate in sorted(rates, key=lambda rate: _drawn_last(rate.config.method, styles)):
        method = rate.config.method
        columns = rounds.columns(x=[float(T) for T, _ in rate.means])
        columns |= ccv.columns(y=[mean.value for _, mean in rate.means])
        columns["ccv"] = [str(mean) for _, mean in rate.means]
        columns["exponent"] = [_interval(rate)] * len(rate.means)
        draw = plot.pen(_name(rate.config, styles), columns, method)
        lines.append(draw("line", x, y, **_line(method, styles)))
        marker, colour = _marker(method, styles), _colour(method, styles)
        draw("scatter", x, y, marker=marker, size=7, color=colour)
    tooltips = [("T", "@x{0}"), ("CCV", "@ccv"), ("exponent", "@exponent")]
    return plot.item(lines, tooltips, line_policy="nearest")


def _exponents(rates: Sequence[Rate], styles: Styles) -> dict[str, Any]:
    ordered = sorted(rates, key=lambda rate: rate.exponent)
    low = min(*EXPONENTS, *(rate.low for rate in ordered)) - 0.05
    high = max(*EXPONENTS, *(rate.high for rate in ordered)) + 0.05
    axis = Axis("exponent e, with 95 % bootstrap interval", low, high, math.inf)
    plot = _Plot(axis, None, _height(len(ordered)))
    plot.figure.x_range = plot.models.Range1d(low, high)
    for level in EXPONENTS:
        plot.span(level, "height", line_dash="dotted")
    dots = []
    for rate in ordered:
        colour, ends = _colour(rate.config.method, styles), (rate.low, rate.exponent, rate.high)
        line, dot = {"line_color": colour, "line_width": 2.0}, {"size": 9, "color": colour}
        dots.append(_Dot(rate.config, *ends, _interval(rate), line, dot))
    return plot.item(_dots(plot, axis, dots, styles), [("exponent", "@remark")])


def _interval(rate: Rate) -> str:
    return f"{rate.exponent:.2f}, from {rate.low:.2f} to {rate.high:.2f}"


def eagerness_panels(sweeps: Mapping[ProblemAtHorizon, Sequence[Row]], method: str) -> list[Panel]:
    """Return regret and CCV of a method against eagerness, a line for each problem."""
    return [
        Panel("Regret", _by_eagerness(sweeps, method, "regret")),
        Panel("Violation (CCV)", _by_eagerness(sweeps, method, "ccv")),
    ]


def _by_eagerness(
    sweeps: Mapping[ProblemAtHorizon, Sequence[Row]], method: str, which: Which
) -> dict[str, Any]:
    label, unit, least = (REGRET, "regret", -math.inf) if which == "regret" else (CCV, "CCV", 0.0)
    means = {place: [getattr(row, which) for row in rows] for place, rows in sweeps.items()}
    ends = {place: [_ends(mean, least) for mean in some] for place, some in means.items()}
    played = sorted({row.config.eagerness for rows in sweeps.values() for row in rows})
    eagerness = Axis("eagerness", played[0], played[-1], 0.0, tuple(played))
    axis = _percent_axis(label, [end for some in ends.values() for pair in some for end in pair])
    plot, lines = _Plot(eagerness, axis), []
    x, y, shapes = eagerness.field("x"), axis.field("y"), list(MARKERS.values())
    for k, (place, rows) in enumerate(sweeps.items()):
        columns = eagerness.columns(x=[row.config.eagerness for row in rows])
        bottom, top = zip(*ends[place], strict=True)
        columns |= axis.columns(y=[mean.value for mean in means[place]], bottom=bottom, top=top)
        columns["mean"] = [str(mean) for mean in means[place]]
        draw = plot.pen(_cut(place.problem), columns, method, _own_key(place.problem))
        colour, bars = COLOURS[k % len(COLOURS)], (axis.field("bottom"), axis.field("top"))
        draw("segment", x, bars[0], x, bars[1], line_color=colour, line_alpha=0.5)
        lines.append(draw("line", x, y, line_color=colour, line_width=2.0))
        draw("scatter", x, y, marker=shapes[k % len(shapes)], size=8, color=colour)
    tooltips = [("eagerness", "@x"), (unit, "@mean %")]
    return plot.item(lines, tooltips, line_policy="nearest")
