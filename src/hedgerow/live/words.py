"""What pages say of sessions, in words and numbers; every word of a user is escaped."""

from __future__ import annotations

import time
from html import escape

from hedgerow.live.store import Status

WORDS = """
:host { font: 16px/1.4 system-ui, sans-serif; color: light-dark(#1b1f23, #e6e8ea); width: 100%; }
h1 { font-size: 1.3rem; margin: 0 0 .5rem } h2 { font-size: 1.1rem; margin: .5rem 0 }
.bk-clearfix { width: 100% } .wide { overflow-x: auto; max-width: calc(100vw - 2rem) }
p { overflow-wrap: anywhere } table { border-collapse: collapse }
th, td { white-space: nowrap; text-align: right; padding: .25rem .6rem;
         border-bottom: 1px solid #8888 }
th:first-child, td:first-child { text-align: left }
a { color: light-dark(#0050a0, #7db8ff) } a:focus { outline: 3px solid #E69F00 }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .5rem;
     margin: 0 } dt { font-size: .85rem; opacity: .8 } dd { margin: 0; font-size: 1.15rem }
"""


def overview(sessions: list[Status]) -> str:
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


def numbers_of(status: Status) -> str:
    """Return a session in numbers, with its name."""
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
