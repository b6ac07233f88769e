"""Sessions in a browser: a Bokeh server that reads a store and changes nothing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from html import escape
from typing import Any

import bokeh.models
import numpy as np
from bokeh.application import Application
from bokeh.application.handlers.function import FunctionHandler
from bokeh.core.properties import value
from bokeh.core.templates import FILE
from bokeh.events import DocumentReady
from bokeh.plotting import figure
from bokeh.server.server import Server

from hedgerow.inputs import Vector
from hedgerow.live.history import History, read_history
from hedgerow.live.store import Status, Store, check_name

models: Any = bokeh.models  # whose types are not all declared
REFRESH = 1000
"""Milliseconds between two looks at the store."""
SAMPLES = 200
"""Points of the picture of actions."""
TOP = 12
"""Coordinates that are shown by name; the others are one."""
WINDOWS = {"200": "the last 200 rounds", "2000": "the last 2000 rounds", "0": "all rounds"}
MOST = 20_000
"""Rounds that a page holds at most."""
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
SHARES = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F3C8D",
    "#11A579", "#3969AC", "#F2B701", "#E73F74", "#999999",
)  # fmt: skip
PAGE = FILE.environment.from_string("""{% extends base %}
{% block preamble %}
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; }
body { margin: 0; padding: 1rem !important; box-sizing: border-box !important;
       font: 16px/1.4 system-ui, sans-serif;
       background: light-dark(#ffffff, #14171a); color: light-dark(#1b1f23, #e6e8ea); }
body { display: grid !important; gap: 12px; align-items: start; height: auto !important;
       grid-template-columns: repeat(auto-fit, minmax(min(100%, 430px), 1fr)); }
.bk-Figure { min-width: 0; } .bk-Div, .bk-Select, .shares { grid-column: 1 / -1; }
</style>
{% endblock %}""")
WORDS = """
:host { font: 16px/1.4 system-ui, sans-serif; color: light-dark(#1b1f23, #e6e8ea); width: 100%; }
h1 { font-size: 1.3rem; margin: 0 0 .5rem } h2 { font-size: 1.1rem; margin: .5rem 0 }
.bk-clearfix { width: 100% } .wide { overflow-x: auto; max-width: calc(100vw - 2rem) }
p { overflow-wrap: anywhere } table { border-collapse: collapse }
th, td { text-align: right; padding: .25rem .6rem; border-bottom: 1px solid #8888 }
th:first-child, td:first-child { text-align: left }
a { color: light-dark(#0050a0, #7db8ff) } a:focus { outline: 3px solid #E69F00 }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .5rem;
     margin: 0 } dt { font-size: .85rem; opacity: .8 } dd { margin: 0; font-size: 1.15rem }
"""
CHOICE = """select.bk-input { background-color: light-dark(#ffffff, #14171a);
color: light-dark(#1b1f23, #e6e8ea); font-size: 16px } label { font-size: 14px }"""
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


def serve_dashboard(store: Store, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve the pages of a store until SIGTERM."""
    server = make_server(store, host, port)
    say(f"Dashboard: http://{host}:{server.port}/")
    server.run_until_shutdown()


def make_server(store: Store, host: str, port: int) -> Server:
    """Return a server of the pages; scripts come from it and from nowhere else."""
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
    overview = models.Div(text=_overview(store.sessions()), stylesheets=[WORDS])
    document.add_root(overview)
    view = None
    if given:
        try:
            name = store.status(check_name(given[0])).name
        except (ValueError, LookupError) as error:
            document.add_root(models.Div(text=f"<p>{escape(str(error))}</p>", stylesheets=[WORDS]))
        else:
            view = _SessionView(store, name)
    if view is not None:
        document.title = f"{view.name} - hedgerow live"
        for root in view.roots:
            document.add_root(root)
        document.js_on_event(
            DocumentReady, models.CustomJS(args={"figures": view.figures}, code=DARK)
        )

    def look() -> None:
        overview.text = _overview(store.sessions())
        if view is not None:
            view.refresh()

    document.add_periodic_callback(look, REFRESH)


def _arguments(document: Any) -> dict[str, list[bytes]]:
    context = document.session_context
    return dict(context.request.arguments) if context and context.request else {}


def _overview(sessions: list[Status]) -> str:
    """Return a table of all sessions; every word in it is escaped."""
    if not sessions:
        return "<h1>hedgerow live</h1><p>There is no session in this store yet.</p>"
    rows = "".join(
        f"<tr><td><a href='?session={escape(s.name)}'>{escape(s.name)}</a></td>"
        f"<td>{s.decisions}</td><td>{s.unanswered}</td><td>{_number(_mean_cost(s))}</td>"
        f"<td>{_number(s.ccv)}</td><td>{_number(s.certificate)}</td><td>{_ago(s.last)}</td></tr>"
        for s in sessions
    )
    return (
        "<h1>hedgerow live</h1><div class='wide' tabindex='0'><table><thead><tr><th>session</th>"
        "<th>decisions</th><th>unanswered</th><th>cost per round</th><th>CCV</th>"
        f"<th>certificate</th><th>last</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


class _SessionView:
    """The figures of one session, and how they follow it."""

    def __init__(self, store: Store, name: str):
        self.store, self.name = store, name
        self.labels = store.labels(name)
        self.numbers = models.Div(stylesheets=[WORDS], text="")
        self.window = models.Select(
            title="Show",
            value="200",
            options=list(WINDOWS.items()),
            width=240,
            stylesheets=[CHOICE],
        )
        self.window.on_change("value", lambda attr, old, new: self.refresh(force=True))  # noqa: ARG005
        self.rounds = models.ColumnDataSource(
            {"round": [], "cost": [], "violation": [], "weight": []}
        )
        self.told = models.ColumnDataSource({"told": [], "ccv": [], "cost": []})
        self.proved = models.ColumnDataSource({"told": [], "certificate": [], "best": []})
        names = [f"share{i}" for i in range(TOP + 1)]
        self.shares = models.ColumnDataSource({"round": [], **{name: [] for name in names}})
        cost = _figure("Cost per round", "round")
        cost.line("round", "cost", source=self.rounds, color=BLUE, line_width=1.5)
        violation = _figure("Violation per round", "round")
        violation.line("round", "violation", source=self.rounds, color=ORANGE, line_width=1.5)
        violation.line("round", "zero", source=self._zero(), color="#888888", line_dash="dashed")
        ccv = _figure("CCV: sum of violations", "feedback")
        ccv.line("told", "ccv", source=self.told, color=ORANGE, line_width=2)
        weight = _figure("Weight on the constraint", "round")
        weight.line("round", "weight", source=self.rounds, color=GREEN, line_width=1.5)
        proof = _figure("Certificate: the regret is at most", "feedback")
        proof.line("told", "certificate", source=self.proved, color=BLUE, line_width=2)
        versus = _figure("Total cost, best fixed action", "feedback")
        versus.line("told", "cost", source=self.told, color=BLUE, line_width=2,
                    legend_label="this session")  # fmt: skip
        versus.line("told", "best", source=self.proved, color=GREEN, line_width=2,
                    line_dash="dashed", legend_label="best fixed action, at least")  # fmt: skip
        versus.legend.location = "top_left"
        _clear(versus.legend[0])
        shares = _figure("Action, as shares", "round", height=460)
        shares.css_classes = ["shares"]
        areas = shares.varea_stack(names, x="round", source=self.shares, color=SHARES)
        self.legend = models.Legend(items=[], orientation="horizontal", ncols=2)
        self.items = [models.LegendItem(label=value(""), renderers=[area]) for area in areas]
        self.legend.items = self.items
        _clear(self.legend)
        shares.add_layout(self.legend, "below")
        self.figures = [cost, violation, ccv, weight, proof, versus, shares]
        self.roots = [self.numbers, self.window, *self.figures]
        self.seen: tuple[Any, ...] = ()
        self.refresh()

    def _zero(self) -> Any:
        self.zero = models.ColumnDataSource({"round": [], "zero": []})
        return self.zero

    def refresh(self, force: bool = False) -> None:
        """Look at the store again, and send what is new."""
        status = self.store.status(self.name)
        self.numbers.text = _numbers_of(status)
        seen = (status.decisions, status.answered)
        if seen == self.seen and not force:
            return
        self.seen = seen
        window = int(self.window.value) or MOST
        first = max(1, status.decisions - window + 1)
        history = read_history(self.store, self.name, first=first, actions=False)
        t = history.rounds
        self.rounds.data = {
            "round": t,
            "cost": history.cost,
            "violation": history.violation,
            "weight": history.weight,
        }
        ends = [] if t.size == 0 else [t[0], t[-1]]
        self.zero.data = {"round": ends, "zero": [0.0] * len(ends)}
        self._follow_feedback(history, status)
        self._follow_actions(first, status)

    def _follow_feedback(self, history: History, status: Status) -> None:
        """Totals in the order of feedback; what came before the window is in the status."""
        answered = np.flatnonzero(history.order >= 0)
        by = answered[np.argsort(history.order[answered])]
        cost, over = history.cost[by], np.maximum(history.violation[by], 0.0)
        told = status.answered - by.size + 1 + np.arange(by.size)
        total = status.cost - cost.sum() + np.cumsum(cost)
        self.told.data = {
            "told": told,
            "ccv": status.ccv - over.sum() + np.cumsum(over),
            "cost": total,
        }
        bound = history.certificate[by]
        known = np.isfinite(bound)
        self.proved.data = {
            "told": told[known],
            "certificate": bound[known],
            "best": total[known] - bound[known],
        }

    def _follow_actions(self, first: int, status: Status) -> None:
        """The largest coordinates, one by one, and all others as one."""
        step = max(1, math.ceil((status.decisions - first + 1) / SAMPLES))
        history = read_history(self.store, self.name, first=first, step=step)
        kept = np.isfinite(history.actions).all(axis=1)
        size = np.abs(history.actions[kept])
        share = size / np.maximum(size.sum(axis=1, keepdims=True), 1e-300)
        top = (
            np.argsort(-share.mean(axis=0), kind="stable")[:TOP] if share.size else np.zeros(0, int)
        )
        columns: dict[str, Vector] = {"round": history.rounds[kept].astype(np.float64)}
        for i in range(TOP):
            columns[f"share{i}"] = share[:, top[i]] if i < top.size else np.zeros(share.shape[0])
        columns[f"share{TOP}"] = 1.0 - share[:, top].sum(axis=1)
        self.shares.data = columns
        words = [self._label(int(k)) for k in top] + [""] * (TOP - top.size)
        for item, word in zip(self.items, [*words, "all others"], strict=True):
            item.label = value(word)
            item.visible = bool(word)

    def _label(self, k: int) -> str:
        return self.labels[k] if self.labels else f"coordinate {k}"


def _figure(title: str, x_label: str, height: int = 260) -> Any:
    plot: Any = figure(
        title=title,
        height=height,
        sizing_mode="stretch_width",
        x_axis_label=x_label,
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


def _numbers_of(status: Status) -> str:
    shown = {
        "decisions": str(status.decisions),
        "answered": str(status.answered),
        "open or never answered": str(status.unanswered),
        "cost per round": _number(_mean_cost(status)),
        "CCV": _number(status.ccv),
        "rounds that violated": str(status.violated),
        "weight on the constraint": _number(status.weight),
        "regret is at most": _number(status.certificate),
        "last change": _ago(status.last),
    }
    terms = "".join(f"<div><dt>{k}</dt><dd>{escape(v)}</dd></div>" for k, v in shown.items())
    return f"<h2>{escape(status.name)}</h2><p>{escape(status.policy)}</p><dl>{terms}</dl>"


def _mean_cost(status: Status) -> float | None:
    return status.cost / status.answered if status.answered else None


def _number(number: float | None) -> str:
    return "not known" if number is None else f"{number:.5g}"


def _ago(moment: float | None) -> str:
    if moment is None:
        return "never"
    seconds = max(0.0, time.time() - moment)
    for unit, name in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.0f} {name} ago"
    return f"{seconds:.0f} s ago"
