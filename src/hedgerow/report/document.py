"""The skeleton of every page: one style, plain tables and embedded figures; nothing is loaded."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

from hedgerow.report.escaping import in_html
from hedgerow.report.picture import Picture

NUMBER = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?( [^\d\s]+)?|-|")
"""A number, perhaps with its unit; or nothing."""
STYLE = (files("hedgerow.report") / "page.css").read_text(encoding="utf-8")


def document(title: str, body: str, scripts: Sequence[str] = (), style: str = "") -> str:
    """Return a whole page that loads nothing from elsewhere; title and body are HTML already.

    Args:
        title: of the window.
        body: the content.
        scripts: programs that run after the body, in this order; the browser runs no others.
        style: CSS after that of all pages.

    """
    style = STYLE + style
    run = "".join(f"<script>{script}</script>\n" for script in scripts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, scripts)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{title}</title>\n<link rel="icon" href="data:,">\n<style>{style}</style>\n'
        f"</head>\n<body>\n<main>\n{body}\n</main>\n{run}</body>\n</html>\n"
    )


def _policy(style: str, scripts: Sequence[str]) -> str:
    """Return what a browser may load: pictures inside the page, this style, these scripts.

    Scripts that draw add styles of their own, whose digests are not known beforehand.
    """
    rules = ["default-src 'none'", "img-src data:"]
    rules.append("style-src 'unsafe-inline'" if scripts else f"style-src {_digest(style)}")
    if scripts:
        rules.append(f"script-src {' '.join(map(_digest, scripts))}")
    return "; ".join((*rules, "base-uri 'none'", "form-action 'none'"))


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def plain_table(heads: Sequence[str], cells: Iterable[Sequence[str]]) -> str:
    """Return an HTML table whose cells are plain text; columns of numbers are set to the right."""
    rows = [list(line) for line in cells]
    sides = [
        ' class="n"' if rows and all(NUMBER.fullmatch(row[k]) for row in rows) else ""
        for k in range(len(heads))
    ]

    def line(tag: str, texts: Sequence[str]) -> str:
        pairs = zip(sides, texts, strict=True)
        inside = "".join(f"<{tag}{side}>{in_html(text)}</{tag}>" for side, text in pairs)
        return f"<tr>{inside}</tr>"

    lines = line("th", heads) + "".join(line("td", row) for row in rows)
    return f'<div class="wide"><table>{lines}</table></div>'


def titled_table(title: str, heads: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Return a table under its title, or an empty text where it has no rows."""
    return f"<h3>{in_html(title)}</h3>{plain_table(heads, cells)}" if cells else ""


def soft(sentence: str) -> str:
    """Return a sentence in small type."""
    return f'<p class="soft">{in_html(sentence)}</p>'


def folded(title: str, body: str) -> str:
    """Return a part that is shown after a click on its title."""
    return f"<details><summary>{in_html(title)}</summary>{body}</details>"


def figure_section(picture: Picture, folder: Path, narrow: str = "") -> str:
    """Return a figure with its PNG embedded; phones show the one named `narrow` in its place."""
    data = _embedded(folder / f"{picture.name}.png")
    source = ""
    if narrow:
        phone = _embedded(folder / f"{narrow}.png")
        source = f'<source media="(max-width: 40rem)" srcset="{phone}">'
    heading, caption = in_html(picture.heading), in_html(picture.caption)
    screen = "pan" if picture.wide else "fit"
    return (
        f'<figure><h3>{heading}</h3><div class="{screen}"><picture>{source}<img '
        f'alt="{heading}. {caption}" src="{data}"></picture></div>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _embedded(path: Path) -> str:
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"
