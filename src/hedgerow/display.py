"""Short reprs, HTML tables for notebooks, and data frames."""

from __future__ import annotations

import dataclasses
import html
import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

MOST_ENTRIES = 8
"""Arrays and sequences with more entries than this are summarised."""
LONGEST_REPR = 72
"""Arguments that take more characters than this are summarised together."""
WIDTH, HEIGHT, MARGIN = 220.0, 40.0, 3.0
MOST_POINTS = 200
"""Of a sparkline; longer series are drawn as means of equal parts."""
LONGEST_CELL = 120
"""Characters of a text in a cell; the rest is cut."""
LINE = "#2b6cb0"


class ShortRepr:
    """Shown as `Name(arguments)` where these are short, else with `_in_short()`.

    Dataclasses below it keep this `repr`, unless they write their own.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__repr__" not in vars(cls):
            setattr(cls, "__repr__", cls.__repr__)  # noqa: B010 - @dataclass then writes none

    def __repr__(self) -> str:
        text = _arguments(self) if hasattr(self, "__dataclass_fields__") else None
        return f"{type(self).__name__}({self._in_short() if text is None else text})"

    def _in_short(self) -> str:
        """Say in a few words how large it is."""
        return "..."


def _arguments(part: Any) -> str | None:
    """Return the arguments of a dataclass in one line; None if they are long."""
    names = [field.name for field in dataclasses.fields(part) if field.init and field.repr]
    if any(_is_long(getattr(part, name)) for name in names):
        return None
    text = ", ".join(f"{name}={short_repr(getattr(part, name))}" for name in names)
    return text if len(text) <= LONGEST_REPR else None


def _is_long(argument: Any) -> bool:
    if isinstance(argument, np.ndarray):
        return argument.size > MOST_ENTRIES
    return isinstance(argument, (list, tuple)) and len(argument) > MOST_ENTRIES


def short_repr(argument: Any) -> str:
    """Return the `repr` of an argument in one line; long ones by their size.

    >>> short_repr(np.zeros((2, 2))), short_repr(np.zeros(1000)), short_repr([1.0, [2.0]])
    ('array([[0., 0.], [0., 0.]])', 'array of shape (1000,)', '[1.0, [2.0]]')
    """
    if _is_long(argument):
        if isinstance(argument, np.ndarray):
            return f"array of shape {argument.shape}"
        return f"{type(argument).__name__} of {len(argument)}"
    if isinstance(argument, (list, tuple)) and not hasattr(argument, "_fields"):
        return f"[{', '.join(map(short_repr, argument))}]"
    if inspect.isfunction(argument):
        return argument.__name__
    return " ".join(repr(argument).split())


def printable(text: object) -> str:
    r"""Escape invisible characters: ends of lines, commands to terminals, changes of direction.

    >>> print(printable("a\nb \x1b[31mred"))
    a\nb \x1b[31mred
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def escaped(text: object, longest: int = LONGEST_CELL) -> str:
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
    """Return a series of at most `MOST_POINTS` points: means of equal parts."""
    if values.size <= MOST_POINTS:
        return values
    begins = np.arange(MOST_POINTS) * values.size // MOST_POINTS
    sums = np.add.reduceat(values, begins)
    return np.asarray(sums / np.diff(np.append(begins, values.size)))


def data_frame(columns: Mapping[str, Any], index: str | None = None) -> pd.DataFrame:
    """Return columns as a data frame; the column that `index` names becomes its index."""
    frame = _pandas("a data frame").DataFrame(dict(columns))
    return frame if index is None else frame.set_index(index)


def data_series(entries: NDArray[np.float64], labels: Sequence[str] | None) -> pd.Series:
    """Return a vector as a Series, with labels where they are known."""
    return _pandas("a Series").Series(entries.copy(), index=None if labels is None else [*labels])


def _pandas(what: str) -> Any:
    try:
        return importlib.import_module("pandas")
    except ModuleNotFoundError:
        raise ImportError(
            f'{what} needs pandas; install it with: pip install ".[frames]"'
        ) from None
