"""The dashboard in the service: an empty page, which asks for data with its reader's token."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Response
from fastapi.responses import HTMLResponse, JSONResponse

from hedgerow.live.admission import Admission
from hedgerow.live.messages import PageQuery, plain
from hedgerow.live.page_content import (
    SOURCES,
    TEXT_STYLE,
    WINDOWS,
    observe,
    overview,
    session_summary,
)
from hedgerow.live.store import Store

POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may load: its own scripts and data, and nothing from elsewhere."""
STYLE = """
:root { color-scheme: light dark; --bokeh-icon-color: light-dark(#747679, #c8ccd0) }
body { margin: 0; padding: 1rem; font: 16px/1.4 system-ui, sans-serif;
       background: light-dark(#ffffff, #14171a); color: light-dark(#1b1f23, #e6e8ea); }
main { display: grid; gap: 12px; align-items: start;
       grid-template-columns: repeat(auto-fit, minmax(min(100%, 430px), 1fr)); }
main > * { min-width: 0 } .whole { grid-column: 1 / -1 } [hidden] { display: none !important }
input, select, button { font: inherit; padding: .25rem .5rem; max-width: 100%;
       background: light-dark(#ffffff, #14171a); color: inherit; border: 1px solid #888;
       border-radius: 4px; box-sizing: border-box }
:focus-visible { outline: 3px solid #E69F00 } label { display: inline-block;
       margin: .5rem 1rem .5rem 0 }
#shares { display: grid; gap: .2rem 1rem; margin: 0; padding: 0 0 0 40px; list-style: none;
       grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); font-size: 14px }
#shares li { overflow-wrap: anywhere } #shares i { display: inline-block; width: 1em; height: 1em;
       margin-right: .5em; vertical-align: -.12em }
#trouble { color: light-dark(#a02000, #ff9a80) }
"""


def add_page(app: FastAPI, store: Store, door: Admission) -> None:
    """Add the page of a store to its service."""

    @app.get("/dashboard", dependencies=door.anyone(), include_in_schema=False)
    def page() -> Response:
        text = _page(asks_tokens=not door.open_access)
        return HTMLResponse(text, headers={"Content-Security-Policy": POLICY})

    @app.get("/dashboard/bokeh.js", dependencies=door.anyone(), include_in_schema=False)
    def library() -> Response:
        return Response(_library(), media_type="text/javascript")

    @app.get("/dashboard/page.js", dependencies=door.anyone(), include_in_schema=False)
    def script() -> Response:
        return Response(_script(), media_type="text/javascript")

    @app.get("/dashboard/data", dependencies=door.needs("observe"), include_in_schema=False)
    def data(asked: Annotated[PageQuery, Query()]) -> Response:
        return JSONResponse(page_data(store, asked))


def page_data(store: Store, asked: PageQuery) -> dict[str, Any]:
    """Return what the page shows; figures only where something is new."""
    if asked.window not in WINDOWS:
        raise ValueError(f"a window is one of {', '.join(WINDOWS)}, got {asked.window[:40]!r}")
    sessions = store.sessions()
    found: dict[str, Any] = {"overview": overview(sessions), "names": [s.name for s in sessions]}
    if asked.session is not None:
        status = store.status(asked.session)
        other = None if asked.other is None else store.status(asked.other)
        found["numbers"] = session_summary(status, asked.other)
        shown = [f"{one.name} {one.decisions} {one.answered}" for one in (status, other) if one]
        found["seen"] = " ".join([*shown, asked.window])
        if found["seen"] != asked.seen:
            sources, found["labels"] = observe(store, status, int(asked.window), other)
            found["sources"] = {
                name: {column: plain(numbers) for column, numbers in columns.items()}
                for name, columns in sources.items()
            }
    return found


@cache
def _page(asks_tokens: bool) -> str:
    """Return the page; Bokeh is loaded with the first one."""
    from bokeh.document import Document
    from bokeh.embed.util import standalone_docs_json_and_render_items

    from hedgerow.live.dashboard import SHARES, Figures

    figures, document = Figures(), Document()
    for name, columns in SOURCES.items():  # axes cannot begin without numbers
        figures.sources[name].data = {column: [0.0, 1.0] for column in columns}
    figures.legend.visible = False  # names change, and wrap better in a list
    for figure in figures.all:
        document.add_root(figure)
    documents, (items,) = standalone_docs_json_and_render_items(document)
    embedded = json.dumps({"documents": documents, "items": items.to_json(), "colours": SHARES})
    places = [str(place) for place in items.roots.to_json().values()]
    roots = "".join(f"<div id='{place}'></div>" for place in places[:-1])
    roots += f"<div class='whole' id='{places[-1]}'></div>"  # the shares
    windows = "".join(f"<option value='{key}'>{label}</option>" for key, label in WINDOWS.items())
    text_style = TEXT_STYLE.replace(":host", ".words")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>hedgerow live</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>{STYLE}{text_style}</style>
<script src="dashboard/bokeh.js" defer></script><script src="dashboard/page.js" defer></script>
</head><body data-tokens="{"asked" if asks_tokens else "none"}">
<form id="who" hidden><label>Token with the role observe:
<input id="token" type="password" autocomplete="off" required></label> <button>Show</button></form>
<p id="trouble" role="alert" hidden></p>
<main><div class="words whole" id="overview"></div><div class="words whole" id="numbers"></div>
<div class="whole" id="choice" hidden><label>Show <select id="window">{windows}</select></label>
<label>Compare with <select id="other"><option value="">no other session</option></select></label>
</div>
{roots}<ul class="whole" id="shares"></ul></main>
<script type="application/json" id="embedded">{embedded.replace("<", chr(92) + "u003c")}</script>
</body></html>
"""


@cache
def _library() -> bytes:
    from bokeh.util.paths import bokehjs_path

    return Path(str(bokehjs_path()), "js", "bokeh.min.js").read_bytes()


@cache
def _script() -> str:
    from hedgerow.live.dashboard import DARK

    own = Path(__file__).with_name("page.js").read_text(encoding="utf-8")
    return f"const follow_colours = (figures) => {{{DARK}}}\n{own}"
