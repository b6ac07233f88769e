"""What every live plot of a page is made of: axes in two forms, looks, tags and what is told."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.inputs import Vector
from hedgerow.report.escaping import LONGEST, printable
from hedgerow.report.picture import (
    CCV,
    LINEAR,
    OTHER_COLOUR,
    REGRET,
    Styles,
    decade_ticks,
    percent_ticks,
)
from hedgerow.report.summary import Mean

MOST_POINTS = 120
"""Of one line: as many as a panel can show."""
LONGEST_LABEL = 52
"""As many letters as a panel on a narrow screen has room for; keys show the whole name."""
HEIGHT = 330
FADED = 0.07
MARKERS = {
    "o": "circle",
    "s": "square",
    "^": "triangle",
    "v": "inverted_triangle",
    "D": "diamond",
    "P": "plus",
    "*": "star",
    "p": "square_pin",
    "h": "hex",
    "X": "triangle_pin",
}
DASHES = {"-": "solid", "-.": [6, 3, 2, 3], ":": [2, 3]}


class Axis(NamedTuple):
    """An axis: its label, the values on it, and up to where its logarithmic form is linear.

    `linear` is 0 for a true logarithm, and infinite where there is no logarithmic form. `at` are
    the labels of the logarithmic form, where they are not the usual ones.
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

    @property
    def short(self) -> str:
        """The label without its unit in words, which the page defines once."""
        return {CCV: "CCV, %", REGRET: "regret, %"}.get(self.label, self.label)

    def ticks(self) -> tuple[list[float], list[float]]:
        """Return the labels and the ticks of the logarithmic form."""
        if self.at:
            return list(self.at), list(self.at)
        if self.linear == 0.0:
            return decade_ticks(self.low, self.high)
        return percent_ticks(self.low, self.high, self.linear)


def percent_axis(label: str, ends: Sequence[float]) -> Axis:
    """Return an axis of regret or CCV; one that stays near 0 is linear."""
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    small = max(abs(low), abs(high)) <= LINEAR[label]
    return Axis(label, low, high, math.inf if small else LINEAR[label])


class Panel(NamedTuple):
    """One plot: what stands above it, and Bokeh's data."""

    heading: str
    item: dict[str, Any]


def ends_of(mean: Mean, least: float = -math.inf) -> tuple[float, float]:
    """Return the ends of an interval, at least `least`; those of one seed are its value."""
    half = mean.half if math.isfinite(mean.half) else 0.0
    return max(mean.value - half, least), mean.value + half


def drawn_last(method: str, styles: Styles) -> int:
    """Order: those in grey below, the first of the styles on top."""
    return -list(styles).index(method) if method in styles else -len(styles)


def thinned(values: Vector) -> Vector:
    """Return which points of a line are kept, the ends among them."""
    return np.unique(np.linspace(0, len(values) - 1, MOST_POINTS).round().astype(np.intp))


def colour_of(method: str, styles: Styles) -> str:
    """Return the colour of a method; most are grey."""
    return styles[method][0] if method in styles else OTHER_COLOUR


def dash_of(method: str, styles: Styles) -> Any:
    """Return the dashes of a method's line."""
    dash: Any = styles[method][1] if method in styles else "-"
    return DASHES[dash] if dash in DASHES else [2 * length for length in dash[1]]


def marker_of(method: str, styles: Styles) -> str:
    """Return the shape of a method's points."""
    return MARKERS.get(styles[method][2], "x") if method in styles else "circle"


def shown_name(name: str) -> str:
    """Return a name for a plot, which shows text as it is."""
    shown = printable(name)
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def label_of(name: str) -> str:
    """Return a name for a place inside a plot, without its remarks where it is long.

    >>> label_of("Wang, Wan and Zhang 2025, OFW-TVC (restarts around our learner)")
    'Wang, Wan and Zhang 2025, OFW-TVC'
    """
    return name if len(name) <= LONGEST_LABEL else name.split(" (")[0]


def models() -> Any:
    """Return Bokeh's models, imported when they are needed."""
    return importlib.import_module("bokeh.models")


def source_of(columns: dict[str, Any]) -> Any:
    """Return columns for a plot to draw from."""
    return models().ColumnDataSource(columns)


def new_plot(x: Axis, y: Axis | None, height: int = HEIGHT) -> Any:
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
    if y is not None and y.linear > 0.0:  # a true logarithm has no 0
        zero = models().Span(location=0.0, dimension="width", line_color="#888888")
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
        kinds = models()
        ticker = kinds.FixedTicker(ticks=at, minor_ticks=axis.logged(ticks).tolist())
        texts = {place: f"{label:g}" for place, label in zip(at, labels, strict=True)}
        forms.append(kinds.LinearAxis(name="log", ticker=ticker, major_label_overrides=texts))
        plot.add_layout(forms[1], side)
        lines = kinds.Grid(dimension=dimension, ticker=ticker, name="log")
        lines.grid_line_color = "#ebebeb"
        plot.add_layout(lines)
        linear.name = grid.name = "linear"
        linear.visible = grid.visible = False
    for form in forms:
        form.axis_label, form.axis_label_text_font_style = axis.short, "normal"
        form.axis_label_text_font_size, form.major_label_text_font_size = "12px", "12px"
        form.minor_tick_line_color = form.axis_line_color = "#888888"


def tag(plot: Any, *owners: str) -> None:
    """Mark what was drawn last with the keys that it answers to, a method's name first."""
    for renderer in plot.renderers:
        renderer.tags = renderer.tags or list(owners)


def tell(plot: Any, renderers: Sequence[Any], told: list[tuple[str, str]], **policy: str) -> None:
    """Name what the mouse points at, with its numbers."""
    plot.add_tools(models().HoverTool(renderers=list(renderers), tooltips=told, **policy))


def item_of(plot: Any) -> dict[str, Any]:
    """Return a plot as data."""
    item: dict[str, Any] = importlib.import_module("bokeh.embed").json_item(plot)
    return item
