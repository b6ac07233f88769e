"""Text of users and files, made harmless for the place where it is shown; tables for a terminal."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.containers import Lines
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from hedgerow.display import printable as printable

LONGEST = 120
"""Characters of one name in a figure; the rest is cut."""
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What makes a spreadsheet compute a cell, in ASCII and as wide characters."""
LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        **{c: rf"\{c}" for c in "&%$#_{}"},
        **{c: f"{{{c}}}" for c in "[]*"},  # after \\ these would be its arguments
    }
)


PIECE = re.compile(r"[^\s_/.,-]*[_/.,-]*")
"""Names are broken after these characters alone."""


class Line(Text):
    """A text that is broken between words, or inside a long name where it has a joint."""

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return the width of the longest piece, and of the longest line."""
        widest = super().__rich_measure__(console, options).maximum
        pieces = (cell_len(piece) for word in self.plain.split() for piece in PIECE.findall(word))
        return Measurement(min(widest, max(pieces, default=0)), widest)

    def wrap(self, console: Console, width: int, **more: Any) -> Lines:
        """Wrap at spaces, and a word that is wider than a line at its joints."""
        words = re.split(r"(\s+)", self.plain)
        text = Text("".join(_broken(word, width) for word in words), self.style)
        return text.wrap(console, width, **more)


def _broken(word: str, width: int) -> str:
    """Return a word with line breaks, where it is wider than a line.

    >>> _broken("garber_kretzu_2024_dpp", 14).split()
    ['garber_kretzu_', '2024_dpp']
    """
    if cell_len(word) <= width:
        return word
    lines = [""]
    for piece in PIECE.findall(word):
        if lines[-1] and cell_len(lines[-1] + piece) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def in_table(text: object) -> Text:
    """Return a cell or a line for rich: no markup, no emoji codes."""
    return Line(printable(text))


def terminal_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    columns: str,
    *,
    title: str = "",
    caption: str | Text | None = None,
    padding: tuple[int, int, int, int] = (0, 1, 0, 1),
) -> Table:
    """Return a table for rich, in which no cell is markup.

    Args:
        heads: the headings.
        rows: their cells.
        columns: a letter for each column, the last one for all that follow: "l" to the left, "r" to
            the right, in one line each; "f" to the left and "F" to the right, folded where needed.
        title: above it.
        caption: below it.
        padding: of a cell: above, right, below, left.

    """
    table = Table(
        title=in_table(title) if title else None,
        caption=caption,
        title_justify="left",
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=padding,
        pad_edge=False,
    )
    for head, kind in zip(heads, columns.ljust(len(heads), columns[-1]), strict=True):
        table.add_column(
            head,
            justify="right" if kind in "rF" else "left",
            no_wrap=kind in "lr",
            overflow="ellipsis" if kind in "lr" else "fold",
        )
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else in_table(cell) for cell in row))
    return table


def in_figure(text: object) -> str:
    r"""Return a text for matplotlib: no formulas, and not hidden from legends.

    >>> print(in_figure("$1 and _2"), in_figure("_2"))
    \$1 and _2  _2
    """
    shown = printable(text)
    shown = shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"
    return (" " if shown.startswith("_") else "") + shown.replace("$", r"\$")


def in_html(text: object) -> str:
    """Return a text for a page: no tags."""
    return html.escape(printable(text))


def in_csv(text: object) -> str:
    """Return a cell that no spreadsheet takes for a formula.

    >>> in_csv("=1+1"), in_csv("1+1")
    ("'=1+1", '1+1')
    """
    shown = printable(text)
    return f"'{shown}" if shown.lstrip().startswith(FORMULA) else shown


def in_latex(text: object) -> str:
    r"""Return a text in which nothing is a command.

    >>> print(in_latex("a_b & 50%"))
    a\_b \& 50\%
    """
    return printable(text).translate(LATEX)
