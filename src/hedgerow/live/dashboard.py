"""Sessions in a browser: a Bokeh server that reads a store and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from bokeh.application import Application
from bokeh.application.handlers.function import FunctionHandler
from bokeh.core.templates import FILE
from bokeh.events import DocumentReady
from bokeh.server.server import Server

from hedgerow.live.figures import DARK, Figures, models
from hedgerow.live.observed import WINDOWS, observe
from hedgerow.live.store import Store, check_name
from hedgerow.live.words import WORDS, numbers_of, overview

REFRESH = 1000
"""Milliseconds between two looks at the session that is shown."""
OVERVIEW = 10_000
"""The same of all sessions: a table that is replaced takes the keyboard's focus with it."""
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
CHOICE = """select.bk-input { background-color: light-dark(#ffffff, #14171a);
color: light-dark(#1b1f23, #e6e8ea); font-size: 16px } label { font-size: 14px }"""


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
    table = models.Div(text=overview(store.sessions()), stylesheets=[WORDS])
    document.add_root(table)
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
            DocumentReady, models.CustomJS(args={"figures": view.figures.all}, code=DARK)
        )

    def look_at_all() -> None:
        table.text = overview(store.sessions())

    document.add_periodic_callback(look_at_all, OVERVIEW)
    if view is not None:
        document.add_periodic_callback(view.refresh, REFRESH)


def _arguments(document: Any) -> dict[str, list[bytes]]:
    context = document.session_context
    return dict(context.request.arguments) if context and context.request else {}


class _SessionView:
    """The figures of one session, and how they follow it."""

    def __init__(self, store: Store, name: str):
        self.store, self.name = store, name
        self.numbers = models.Div(stylesheets=[WORDS], text="")
        self.window = models.Select(
            title="Show",
            value="200",
            options=list(WINDOWS.items()),
            width=240,
            stylesheets=[CHOICE],
        )
        self.window.on_change("value", lambda attr, old, new: self.refresh(force=True))  # noqa: ARG005
        self.figures = Figures()
        self.roots = [self.numbers, self.window, *self.figures.all]
        self.seen: tuple[Any, ...] = ()
        self.refresh()

    def refresh(self, force: bool = False) -> None:
        """Evaluate at the store again, and send what is new."""
        status = self.store.status(self.name)
        self.numbers.text = numbers_of(status)
        seen = (status.decisions, status.answered)
        if seen == self.seen and not force:
            return
        self.seen = seen
        self.figures.show(observe(self.store, status, int(self.window.value)))
