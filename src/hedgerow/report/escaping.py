"""Text of users and files, made harmless for the place where it is shown."""

from __future__ import annotations

import html

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


def in_figure(text: object) -> str:
    r"""Return a text for matplotlib: no mathematics, and not hidden from legends.

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
