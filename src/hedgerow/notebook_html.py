"""Small tables and pictures for notebooks: plain HTML and SVG, in which no text is a tag."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hedgerow.showing import printable

WIDTH, HEIGHT, MARGIN = 220.0, 40.0, 3.0
MOST_POINTS = 200
"""Of a sparkline; longer series are drawn as means of equal parts."""
LONGEST = 120
"""Characters of a text in a cell; the rest is cut."""
LINE = "#2b6cb0"


def escaped(text: object, longest: int = LONGEST) -> str:
    """Return a text for a page: no tags, nothing invisible, not too long.

    >>> escaped("<b>1 & 2")
    '&lt;b&gt;1 &amp; 2'
    """
    shown = printable(text)
    return html.escape(shown if len(shown) <= longest else shown[: longest - 1] + "…")


def html_table(head: Sequence[object], rows: Sequence[Sequence[object]], caption: str = "") -> str:
    """Return a table; cells that begin with an SVG of `sparkline` are pictures, others are text."""
    parts = ["<table>"]
    if caption:
        parts.append(f"<caption>{escaped(caption)}</caption>")
    if head:
        cells = "".join(f"<th>{escaped(cell)}</th>" for cell in head)
        parts.append(f"<thead><tr>{cells}</tr></thead>")
    parts.append("<tbody>")
    for row in rows:
        cells = "".join(
            f"<td>{cell if isinstance(cell, Svg) else escaped(cell)}</td>" for cell in row
        )
        parts.append(f"<tr>{cells}</tr>")
    parts.append("</tbody></table>")
    return "".join(parts)


class Svg(str):
    """A picture that was made here, with every text in it escaped."""


def sparkline(values: NDArray[np.float64], label: str) -> Svg:
    """Return a line through a series, as wide as a word or two; gaps are left out."""
    drawn = _means(np.asarray(values, dtype=np.float64))
    x = np.linspace(MARGIN, WIDTH - MARGIN, drawn.size) if drawn.size > 1 else [WIDTH / 2.0]
    known = np.isfinite(drawn)
    low, high = (drawn[known].min(), drawn[known].max()) if known.any() else (0.0, 0.0)
    span = high - low
    inner = HEIGHT - 2.0 * MARGIN
    points = " ".join(
        f"{at:.1f},{HEIGHT - MARGIN - inner * ((value - low) / span if span > 0.0 else 0.5):.1f}"
        for at, value, there in zip(x, drawn.tolist(), known.tolist(), strict=False)
        if there
    )
    return Svg(
        f'<svg role="img" width="{WIDTH:g}" height="{HEIGHT:g}" '
        f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}"><title>{escaped(label)}</title>'
        f'<polyline points="{points}" fill="none" stroke="{LINE}" stroke-width="1.5"/></svg>'
    )


def _means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a series of at most so many points: means of equal parts."""
    if values.size <= MOST_POINTS:
        return values
    begins = np.arange(MOST_POINTS) * values.size // MOST_POINTS
    sums = np.add.reduceat(values, begins)
    return np.asarray(sums / np.diff(np.append(begins, values.size)))
