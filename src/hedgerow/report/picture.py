"""What all figures of a report share: canvas, colours, scales, dates, and the files written."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal, NamedTuple

import numpy as np

from hedgerow.inputs import Vector
from hedgerow.report.naming import Names


def write_file(path: Path, content: str | bytes) -> Path:
    """Write a file and return its path."""
    try:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:  # that of a full disk does not name the file
        raise OSError(error.errno, error.strerror, str(path)) from None
    return path


def save_figure(figure: Any, path: Path, dpi: int, metadata: dict[str, Any] | None = None) -> Path:
    """Write a matplotlib figure in the format of its suffix and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = BytesIO()
    figure.savefig(drawn, format=path.suffix.removeprefix("."), dpi=dpi, metadata=metadata)
    return write_file(path, drawn.getvalue())


COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, distinct for colour-blind readers and in print."""
DASHES = ("-", "-", (0, (4, 3)), "-.", ":")


class Style(NamedTuple):
    """Colour, dashes and marker of a method, and the width of its line."""

    colour: str
    dash: Any
    marker: str
    width: float = 1.9


class Styles(dict[str, Style]):
    """Styles by method, those that stand out first, with their names; any other method is grey."""

    def __init__(self, styles: Mapping[str, Style], names: Names):
        super().__init__(styles)
        self.names = names


STYLES: dict[str, Style] = {
    "projection_free_coco": Style(COLOURS[0], "-", "o"),
    "projection_free_coco_plain": Style(COLOURS[5], "-", "v"),
    "sinha_vaze_2024": Style(COLOURS[1], (0, (5, 2)), "s"),
    "wang_2025": Style(COLOURS[2], (0, (1, 1)), "^"),
    "garber_kretzu_2024_dpp": Style(COLOURS[3], "-.", "D"),
    "unconstrained": Style(COLOURS[6], (0, (1, 3)), "x"),
}
"""The methods of the figures of Sarkar et al. 2026, and the floor."""
STANDS_OUT = 3.0
"""The width of the line of a method that stands out, in points."""
MORE_COLOURS = (COLOURS[4], "#882255", "#8C510A", "#332288", "#117733")
MORE_MARKERS = ("P", "*", "p", "h", "X")
OTHER = Style("0.6", "-", ".", 0.9)
OTHER_COLOUR = "#999999"
REGRET = "regret, % of the larger fixed action's cost"
CCV = "CCV, % of the unconstrained action's"
LINEAR = {REGRET: 10.0, CCV: 1.0}
"""Axes are linear up to here, in percent, and logarithmic beyond."""
EXPONENTS = (0.5, 0.75, 1.0)
"""Exponents of T that theorems name; 1 is no learning."""
MOST_LABELS = 11
MOST_COLUMNS = 5
"""Of a legend."""
SHORTEST_LINE = 12
"""Letters of a line in a legend that is too wide."""
LEGEND_ROOM = 0.5
"""Inches that every figure has for its legend."""
LONGEST_SLUG = 60
DAY = 86_400.0


def styles_with(methods: Sequence[str], names: Names) -> Styles:
    """Return styles of the methods that stand out, then of those in `STYLES` and of these."""
    first, count = names.highlighted, len(MORE_COLOURS)
    more = [method for method in dict.fromkeys((*first, *methods)) if method not in STYLES]
    known = STYLES | {
        method: Style(
            MORE_COLOURS[k % count],
            DASHES[1 + k // count % (len(DASHES) - 1)],
            MORE_MARKERS[k % count],
        )
        for k, method in enumerate(more)
    }
    standing_out = {method: known[method]._replace(width=STANDS_OUT) for method in first}
    return Styles(standing_out | {m: s for m, s in known.items() if m not in first}, names)


class Picture(NamedTuple):
    """A figure in the report's folder: its name without suffix, its heading and its caption.

    `wide` ones scroll sideways on narrow screens instead of shrinking. `part` is the part of the
    page that has it, and `panels` makes the interactive figure in its place, two panels in a row
    where they come in `pairs`. `marks` name lines that are not methods and have their own keys.
    """

    name: str
    heading: str
    caption: str
    wide: bool = True
    part: Literal["headline", "plane", "others"] = "others"
    panels: Callable[[], Sequence[Any]] | None = None
    pairs: bool = False
    marks: Sequence[str] = ()


def preset_title(preset: str) -> str:
    """Return the name of a preset in headings."""
    return "the theorems' constants" if preset == "theory" else f"{preset} constants"


def slug(text: str) -> str:
    """Return a part of a file's name.

    >>> slug("a b/é$")
    'a-b'
    """
    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in text)
    return plain.strip("-")[:LONGEST_SLUG]


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure, sizes in inches, that needs no window system."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def canvas(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    """Return a figure and its axes, sizes in inches."""
    figure = new_figure(width, height)
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        plain_frame(ax)
    return figure, axes


def plain_frame(ax: Any, *, visible: bool = True, **grid: Any) -> None:
    """Hide the upper and right spine, and draw a pale grid behind everything."""
    ax.spines[["top", "right"]].set_visible(False)
    if visible:
        ax.grid(True, **{"color": "0.92", "linewidth": 0.8, **grid})
        ax.set_axisbelow(True)


def _day_numbers(times: Vector) -> Vector:
    """Return Unix seconds as matplotlib counts days; datetime objects would be far slower."""
    from matplotlib.dates import date2num

    first = float(date2num(datetime(1970, 1, 1, tzinfo=UTC)))  # type: ignore[no-untyped-call]
    return np.asarray(first + times / DAY)


def round_positions(times: Vector | None, rounds: int) -> Vector:
    """Return where rounds are drawn: at 1, 2, ..., or at their times in days."""
    return np.arange(1.0, rounds + 1.0) if times is None else _day_numbers(times)


def label_days(axis: Any, most: int) -> None:
    """Label an axis of days with at most this number of dates and times in UTC."""
    from matplotlib import dates

    locator: Any = dates.AutoDateLocator(tz=UTC, minticks=3, maxticks=most)  # type: ignore[no-untyped-call]
    formatter: Any = dates.ConciseDateFormatter(  # type: ignore[no-untyped-call]
        locator,
        tz=UTC,
        formats=["%Y", "%b %Y", "%d %b", "%H:%M", "%H:%M", "%S.%f"],
        zero_formats=["", "%Y", "%b %Y", "%d %b", "%H:%M", "%H:%M"],
        show_offset=False,
    )
    axis.set_major_locator(locator)
    axis.set_major_formatter(formatter)


def legend_above(figure: Any, ax: Any) -> None:
    """Put the legend of one panel above all panels, where it covers nothing."""
    handles, labels = ax.get_legend_handles_labels()
    if not labels:
        return
    width, height = figure.get_size_inches()
    renderer = figure.canvas.get_renderer()
    longest = max(map(len, labels))
    # Fewer columns, then shorter lines, until the legend as it is drawn fits into the figure.
    tries = [(columns, longest) for columns in range(min(MOST_COLUMNS, len(labels)), 0, -1)]
    tries += [(1, letters) for letters in range(longest - 1, SHORTEST_LINE, -4)]
    for columns, letters in tries:
        wrapped = ["\n".join(wrap(label, max(letters, 1))) or label for label in labels]
        style = {"ncols": columns, "frameon": False, "fontsize": 8}
        legend = figure.legend(handles, wrapped, loc="outside upper left", **style)
        box = legend.get_window_extent(renderer)
        if box.width <= 0.98 * width * figure.dpi:
            break
        legend.remove()
    # Panels keep their height, however many lines the legend has.
    figure.set_size_inches(width, height + max(0.0, box.height / figure.dpi - LEGEND_ROOM))


def scale_in_percent(ax: Any, axis: str, label: str) -> None:
    """Label an axis and make it linear near 0, logarithmic beyond, with ticks at 1, 2 and 5.

    Args:
        ax: the panel, everything drawn.
        axis: "x" or "y".
        label: `REGRET` or `CCV`.

    """
    linear = LINEAR[label]
    getattr(ax, f"set_{axis}label")(label, fontsize=9)
    if max(map(abs, getattr(ax, f"get_{axis}lim")())) <= linear:
        return  # an ordinary axis
    getattr(ax, f"set_{axis}scale")("symlog", linthresh=linear)
    low, high = getattr(ax, f"get_{axis}lim")()
    few, shown = percent_ticks(low, high, linear)
    which = getattr(ax, f"{axis}axis")
    which.set_ticks(few, [f"{tick:g}" for tick in few])
    which.set_ticks(shown, minor=True)
    getattr(ax, f"set_{axis}lim")(low, high)


def percent_ticks(low: float, high: float, linear: float) -> tuple[list[float], list[float]]:
    """Return where an axis that is linear near 0 has labels, and where it has ticks."""
    shown = [tick for tick in _ticks(linear, max(abs(low), abs(high))) if low <= tick <= high]
    return (shown if len(shown) <= MOST_LABELS else [t for t in shown if _is_decade(t)]), shown


def decades(axis: Any, low: float, high: float) -> None:
    """Label a logarithmic axis at 1, 2 and 5 where it spans little, else at powers of ten."""
    few, ticks = decade_ticks(low, high)
    axis.set_ticks(few, [f"{tick:g}" for tick in few])
    axis.set_ticks(ticks, minor=True)
    axis.set_minor_formatter("")


def decade_ticks(low: float, high: float) -> tuple[list[float], list[float]]:
    """Return where a logarithmic axis has labels, and where it has ticks."""
    ticks = [tick for tick in _ticks(low, high) if low <= tick <= high]
    return (ticks if len(ticks) <= 7 else [tick for tick in ticks if _is_decade(tick)]), ticks


def _ticks(least: float, most: float) -> list[float]:
    """Return 0 and +-(1, 2, 5) times powers of ten from `least` / 2 to `most`."""
    exponents = range(math.floor(math.log10(least)) - 1, math.ceil(math.log10(most)) + 1)
    sizes = [m * 10.0**e for e in exponents for m in (1, 2, 5) if m * 10.0**e >= least / 2.0]
    return [*(-size for size in reversed(sizes)), 0.0, *sizes]


def _is_decade(tick: float) -> bool:
    return tick == 0.0 or math.isclose(math.log10(abs(tick)) % 1.0, 0.0, abs_tol=1e-9)
