"""The dashboard: figures of sessions, and a read-only Bokeh server that shows them."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import bokeh.models
from bokeh.application import Application
from bokeh.application.handlers.function import FunctionHandler
from bokeh.core.properties import value
from bokeh.core.templates import FILE
from bokeh.events import DocumentReady
from bokeh.plotting import figure

from hedgerow.live.page_content import (
    OTHER,
    SOURCES,
    TEXT_STYLE,
    TOP,
    WINDOWS,
    Observed,
    observe,
    overview,
    session_summary,
)
from hedgerow.live.store import Status, Store, check_name

REFRESH = 1000
"""Milliseconds between two updates of the session that is shown."""
OVERVIEW = 10_000
"""The same for the table of all sessions; replacing it loses the keyboard's focus."""
PAGE = FILE.environment.from_string("""{% extends base %}
{% block preamble %}
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; --bokeh-icon-color: light-dark(#747679, #c8ccd0) }
body { margin: 0; padding: 1rem !important; box-sizing: border-box !important;
       font: 16px/1.4 system-ui, sans-serif;
       background: light-dark(#ffffff, #14171a); color: light-dark(#1b1f23, #e6e8ea); }
body { display: grid !important; gap: 12px; align-items: start; height: auto !important;
       grid-template-columns: repeat(auto-fit, minmax(min(100%, 430px), 1fr)); }
.bk-Figure { min-width: 0; } .bk-Div, .choices, .shares { grid-column: 1 / -1; }
.choices { flex-wrap: wrap; gap: 1rem }
</style>
{% endblock %}""")
CHOICE = """select.bk-input { background: light-dark(#ffffff, #14171a) !important;
appearance: auto !important; color-scheme: light dark; color: light-dark(#1b1f23, #e6e8ea);
font-size: 16px }
label { font-size: 14px }"""


def serve_dashboard(store: Store, host: str, port: int, print_line: Callable[[str], None]) -> None:
    """Serve the pages of a store until SIGTERM."""
    server = make_server(store, host, port)
    print_line(f"Dashboard: http://{host}:{server.port}/")
    server.run_until_shutdown()


def make_server(store: Store, host: str, port: int) -> Any:
    """Return a server of the pages; scripts come from it and from nowhere else."""
    from bokeh.server.server import Server  # the page of the service draws figures without it

    app = Application(FunctionHandler(lambda document: _build(document, store)))
    server = Server({"/": app}, address=host, port=port, allow_websocket_origin=["127.0.0.1:0"])
    for name in {host, "localhost", "127.0.0.1"}:
        server._tornado._websocket_origins.add(f"{name}:{server.port}")
    server.start()
    return server


def _build(document: Any, store: Store) -> None:
    """Fill a page: all sessions, and the one that its address names."""
    document.template, document.title = PAGE, "hedgerow live"
    given = [part.decode(errors="replace") for part in _arguments(document).get("session", [])]
    table = models.Div(text=overview(store.sessions()), stylesheets=[TEXT_STYLE])
    document.add_root(table)
    view = None
    if given:
        try:
            name = store.status(check_name(given[0])).name
        except (ValueError, LookupError) as error:
            document.add_root(
                models.Div(text=f"<p>{escape(str(error))}</p>", stylesheets=[TEXT_STYLE])
            )
        else:
            view = _SessionView(store, name)
    if view is not None:
        document.title = f"{view.name} - hedgerow live"
        for root in view.roots:
            document.add_root(root)
        document.js_on_event(
            DocumentReady, models.CustomJS(args={"figures": view.figures.all}, code=DARK)
        )

    def refresh_overview() -> None:
        sessions = store.sessions()
        table.text = overview(sessions)
        if view is not None:
            view.offer(sessions)

    document.add_periodic_callback(refresh_overview, OVERVIEW)
    if view is not None:
        document.add_periodic_callback(view.refresh, REFRESH)


def _arguments(document: Any) -> dict[str, list[bytes]]:
    context = document.session_context
    return dict(context.request.arguments) if context and context.request else {}


class _SessionView:
    """The figures of one session, which follow it."""

    def __init__(self, store: Store, name: str):
        self.store, self.name = store, name
        self.numbers = models.Div(stylesheets=[TEXT_STYLE], text="")
        self.window = models.Select(
            title="Show",
            value="200",
            options=list(WINDOWS.items()),
            width=240,
            stylesheets=[CHOICE],
        )
        self.other = models.Select(title="Compare with", value="", width=240, stylesheets=[CHOICE])
        self.offer(store.sessions())
        self.figures = Figures()
        choices = models.Row(self.window, self.other, css_classes=["choices"])
        self.roots = [self.numbers, choices, *self.figures.all]
        self.seen: tuple[Any, ...] = ()
        self.refresh()
        for choice in (self.window, self.other):
            choice.on_change("value", lambda attr, old, new: self.refresh())  # noqa: ARG005

    def offer(self, sessions: list[Status]) -> None:
        """Let the reader compare with each other session."""
        names = [one.name for one in sessions if one.name != self.name]
        self.other.options = [("", "no other session"), *((name, name) for name in names)]

    def refresh(self) -> None:
        """Read the store again, and send what is new."""
        status = self.store.status(self.name)
        other = self.store.status(self.other.value) if self.other.value else None
        self.numbers.text = session_summary(status, self.other.value or None)
        shown = [(one.name, one.decisions, one.answered) for one in (status, other) if one]
        seen = (*shown, self.window.value)
        if seen == self.seen:
            return
        self.seen = seen
        self.figures.show(observe(self.store, status, int(self.window.value), other))


models: Any = bokeh.models  # whose types are not all declared
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#8a8f98"
SHARES = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F3C8D",
    "#11A579", "#3969AC", "#F2B701", "#E73F74", "#999999",
)  # fmt: skip
DARK = """
const paint = () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches
  const ink = dark ? "#e6e8ea" : "#1b1f23", paper = dark ? "#14171a" : "#ffffff"
  for (const f of figures) {
    f.title.text_color = ink
    f.background_fill_color = paper; f.border_fill_color = paper
    for (const axis of [...f.below, ...f.left]) {
      if (!("axis_label_text_color" in axis)) continue
      axis.axis_label_text_color = ink; axis.major_label_text_color = ink
      axis.axis_line_color = ink; axis.major_tick_line_color = ink
    }
    for (const legend of [...f.center, ...f.above, ...f.right, ...f.below]) {
      if ("label_text_color" in legend) legend.label_text_color = ink
    }
  }
}
paint()
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint)
"""


class Figures:
    """Seven figures, empty until something is shown.

    Attributes:
        sources: the tables of numbers, by name.
        items: of the legend of shares.
        legend: of the shares.
        all: the figures.

    """

    def __init__(self) -> None:
        self.sources: dict[str, Any] = {
            name: models.ColumnDataSource({column: [] for column in columns}, name=name)
            for name, columns in SOURCES.items()
        }
        cost = self._lines("Cost per round", "rounds", "cost", BLUE)
        violation = self._lines(
            "Violation per round, above the limit", "rounds", "violation", ORANGE
        )
        ccv = self._lines("CCV: violations added up", "told", "ccv", ORANGE)
        weight = self._lines("Weight on the constraint", "rounds", "weight", GREEN)
        proof = self._lines("Certificate: the regret is at most", "proved", "certificate", BLUE)
        versus = self._lines("Total cost, and the best fixed action's", "told", "cost", BLUE)
        versus.line("time", "best", source=self.sources["proved"], color=GREEN, line_width=2,
                    line_dash="dotted", legend_label="best fixed action, at least")  # fmt: skip
        versus.legend.location = "bottom_right"
        _clear(versus.legend[0])
        shares = _figure("Action, as shares", height=460)
        shares.css_classes = ["shares"]
        names = [f"share{i}" for i in range(TOP + 1)]
        areas = shares.varea_stack(names, x="time", source=self.sources["shares"], color=SHARES)
        self.items = [models.LegendItem(label=value(""), renderers=[area])
                      for area in areas]  # fmt: skip
        self.legend = models.Legend(items=self.items, orientation="horizontal", ncols=2)
        _clear(self.legend)
        shares.add_layout(self.legend, "below")
        self.all = [cost, violation, ccv, weight, proof, versus, shares]

    def _lines(self, title: str, source: str, column: str, colour: str) -> Any:
        """Return a figure of a column over time, and of that of the other session."""
        plot = _figure(title)
        plot.line("time", column, source=self.sources[OTHER + source], color=GREY, line_width=1.5,
                  line_dash="dashed")  # fmt: skip
        plot.line("time", column, source=self.sources[source], color=colour, line_width=1.8)
        return plot

    def show(self, observed: Observed) -> None:
        """Draw what was observed."""
        for name, columns in observed.sources.items():
            self.sources[name].data = columns
        for item, label in zip(self.items, observed.labels, strict=True):
            item.label = value(label)
            item.visible = bool(label)


def _figure(title: str, height: int = 260) -> Any:
    plot: Any = figure(
        title=title,
        height=height,
        sizing_mode="stretch_width",
        x_axis_label="time, UTC",
        x_axis_type="datetime",
        tools="pan,wheel_zoom,box_zoom,reset,save",
        active_scroll=None,
        toolbar_location="right",
        outline_line_color="#888888",
    )
    plot.toolbar.logo = None
    plot.toolbar.autohide = True
    plot.grid.grid_line_color = "#888888"
    plot.grid.grid_line_alpha = 0.35
    plot.title.text_font_size = "15px"
    for axis in plot.axis:
        axis.major_label_text_font_size = "13px"
        axis.axis_label_text_font_size = "13px"
    return plot


def _clear(legend: Any) -> None:
    legend.background_fill_alpha = 0.0
    legend.border_line_alpha = 0.0
    legend.label_text_font_size = "13px"
