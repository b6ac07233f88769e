"""Text of users and files, made harmless for the place where it is shown; tables for a terminal."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
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


def in_table(text: object) -> Text:
    """Return a cell or a line for rich: no markup, no emoji codes."""
    return Text(printable(text))


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
