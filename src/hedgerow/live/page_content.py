"""What pages show of sessions: the columns that figures draw, and tables in HTML.

Every text of a user is escaped.
"""

from __future__ import annotations

import math
import re
import time
from html import escape
from typing import Any, NamedTuple

import numpy as np

from hedgerow.live.history import History, read_history
from hedgerow.live.store import Status, Store

SAMPLES = 200
"""Points of the picture of actions."""
TOP = 12
"""Coordinates that are shown by name; the others are one."""
WINDOWS = {"200": "the last 200 rounds", "2000": "the last 2000 rounds", "0": "all rounds"}
MOST = 20_000
"""Rounds that a page holds at most."""
Columns = dict[str, Any]
LINES = {
    "rounds": ("time", "round", "cost", "violation", "weight"),
    "told": ("time", "ccv", "cost"),
    "proved": ("time", "certificate", "best"),
}
OTHER = "other "
"""Before the name of a table: the same of the session that is compared."""
SOURCES: dict[str, tuple[str, ...]] = {
    **LINES,
    "shares": ("time", *(f"share{i}" for i in range(TOP + 1))),
    **{OTHER + name: columns for name, columns in LINES.items()},
}
"""The tables of numbers that figures draw, and their columns; times are in ms since 1970."""


class Observed(NamedTuple):
    """The data of the figures: columns by table, and the names of the shares."""

    sources: dict[str, Columns]
    labels: list[str]


def observe(store: Store, status: Status, window: int, other: Status | None = None) -> Observed:
    """Read the last `window` rounds of a session, 0 for all.

    Args:
        store: where the session is.
        status: of the session.
        window: how many rounds are wanted.
        other: of a session to compare it with.

    """
    shares, labels = _shares(store, status, _first(status, window))
    nothing: dict[str, Columns] = {
        name: {column: np.zeros(0) for column in columns} for name, columns in LINES.items()
    }
    compared = nothing if other is None else _lines(store, other, window)
    sources = {**_lines(store, status, window), "shares": shares}
    return Observed(sources | {OTHER + name: lines for name, lines in compared.items()}, labels)


def _first(status: Status, window: int) -> int:
    return max(1, status.decisions - (window or MOST) + 1)


def _lines(store: Store, status: Status, window: int) -> dict[str, Columns]:
    """Return what is drawn as lines over the clock time."""
    history = read_history(store, status.name, first=_first(status, window), actions=False)
    told, proved = _totals(history, status)
    mixed = status.ccv is None  # several constraints, whose values have no common unit
    over = np.full(history.rounds.size, math.nan) if mixed else np.maximum(history.violation, 0.0)
    rounds = {
        "time": 1000.0 * history.asked,
        "round": history.rounds,
        "cost": history.cost,
        "violation": over,
        "weight": history.weight,
    }
    return {"rounds": rounds, "told": told, "proved": proved}


def _totals(history: History, status: Status) -> tuple[Columns, Columns]:
    """Totals in the order of feedback; what came before the window is in the status."""
    answered = np.flatnonzero(history.order >= 0)
    by = answered[np.argsort(history.order[answered])]
    cost, over = history.cost[by], np.maximum(history.violation[by], 0.0)
    when = 1000.0 * history.answered[by]
    total = status.cost - cost.sum() + np.cumsum(cost)
    before = math.nan if status.ccv is None else status.ccv - over.sum()
    ccv = before + np.cumsum(over)
    bound = history.certificate[by]
    known = np.isfinite(bound)
    return (
        {"time": when, "ccv": ccv, "cost": total},
        {
            "time": when[known],
            "certificate": bound[known],
            "best": total[known] - bound[known],
        },
    )


def _shares(store: Store, status: Status, first: int) -> tuple[Columns, list[str]]:
    """The largest coordinates, one by one, and all others as one."""
    step = max(1, math.ceil((status.decisions - first + 1) / SAMPLES))
    history = read_history(store, status.name, first=first, step=step)
    known = np.isfinite(history.actions).all(axis=1)
    size = np.abs(history.actions[known])
    share = size / np.maximum(size.sum(axis=1, keepdims=True), 1e-300)
    top = np.argsort(-share.mean(axis=0), kind="stable")[:TOP] if share.size else np.zeros(0, int)
    columns: Columns = {"time": 1000.0 * history.asked[known]}  # ms, as the clock of a browser
    for i in range(TOP):
        columns[f"share{i}"] = share[:, top[i]] if i < top.size else np.zeros(share.shape[0])
    columns[f"share{TOP}"] = 1.0 - share[:, top].sum(axis=1)
    names = store.labels(status.name)
    labels = [names[k] if names else f"coordinate {k}" for k in top]
    return columns, [*labels, *[""] * (TOP - top.size), "all others"]


TEXT_STYLE = """
:host { font: 16px/1.4 system-ui, sans-serif; color: light-dark(#1b1f23, #e6e8ea); width: 100%; }
h1 { font-size: 1.3rem; margin: 0 0 .5rem } h2 { font-size: 1.1rem; margin: .5rem 0 }
.bk-clearfix { width: 100% } .wide { overflow-x: auto; max-width: calc(100vw - 2rem) }
p { overflow-wrap: anywhere; margin: .5rem 0 } table { border-collapse: collapse }
th, td { white-space: nowrap; text-align: right; padding: .25rem .6rem;
         border-bottom: 1px solid #8888 }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0;
         background: light-dark(#ffffff, #14171a) }
a { color: light-dark(#0050a0, #7db8ff) } a:focus { outline: 3px solid #E69F00 }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .5rem;
     margin: 0 } dt { font-size: .85rem; opacity: .8 } dd { margin: 0; font-size: 1.15rem }
"""


def overview(sessions: list[Status]) -> str:
    """Return a table of all sessions in HTML."""
    if not sessions:
        return "<h1>hedgerow live</h1><p>There is no session in this store yet.</p>"
    rows = "".join(
        f"<tr><td><a href='?session={escape(s.name)}'>{escape(s.name)}</a></td>"
        f"<td>{s.decisions}</td><td>{s.unanswered}</td><td>{_number(_mean_cost(s))}</td>"
        f"<td>{_ccv(s)}</td><td>{_number(s.certificate)}</td><td>{_ago(s.last)}</td></tr>"
        for s in sessions
    )
    return (
        "<h1>hedgerow live</h1><div class='wide' tabindex='0'><table><thead><tr><th>session</th>"
        "<th>decisions</th><th>unanswered</th><th>cost per round</th><th>CCV</th>"
        f"<th>certificate</th><th>last</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def session_summary(status: Status, other: str | None = None) -> str:
    """Return the name and the numbers of a session in HTML, and what it is compared with."""
    shown = {
        "decisions": str(status.decisions),
        "answered": str(status.answered),
        "open or never answered": str(status.unanswered),
        "cost per round": _number(_mean_cost(status)),
        "CCV": _ccv(status),
        "rounds that violated": str(status.violated),
        **_each(status),
        "weight on the constraint": _number(status.weight),
        "held by feedback": "; ".join(map(str, status.binding)).replace("round ", "") or "none",
        "regret is at most": _number(status.certificate),
        "last change": _ago(status.last),
    }
    terms = "".join(f"<div><dt>{k}</dt><dd>{escape(v)}</dd></div>" for k, v in shown.items())
    compared = "" if other is None else f"<p>Dashed grey lines: {escape(other)}.</p>"
    return (
        f"<h2>{escape(status.name)}</h2><p title='{escape(status.policy)}'>"
        f"{escape(subtitle(status))}</p><dl>{terms}</dl>{compared}"
    )


def subtitle(status: Status) -> str:
    """Return what decides, on what, and since when.

    The policy is stored as its repr, such as "projection_free_coco(Simplex(n=3, total=1.0))".
    """
    method, _, arguments = status.policy.partition("(")
    kind = re.match(r"[A-Za-z]\w*", arguments)
    on = f"{kind[0]} ({status.dim} coordinates)" if kind else f"{status.dim} coordinates"
    since = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(status.created))
    return f"{method} on {on}, since {since}"


def _mean_cost(status: Status) -> float | None:
    return status.cost / status.answered if status.answered else None


def _ccv(status: Status) -> str:
    """Return the CCV, of each constraint where there are several."""
    if status.ccv is not None:
        return _number(status.ccv)
    return ", ".join(_number(one.ccv) for one in status.each) or "of several constraints"


def _each(status: Status) -> dict[str, str]:
    """Return how often and how far each of several constraints was violated."""
    return {
        f"constraint {k}": f"CCV {_number(one.ccv)} in its unit, {one.violated} rounds violated, "
        f"worst {_number(one.worst)}"
        for k, one in enumerate(status.each, start=1)
    }


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
