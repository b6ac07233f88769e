"""Series of a network as small multiples: all edges together, then each that varies most."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.networks.network import Network
from hedgerow.report.dated_axis import days, label_days
from hedgerow.report.escaping import in_figure
from hedgerow.report.picture import COLOURS, decades, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 24
COLUMNS = 4
MOST_POINTS = 1500
"""Of one line; longer series are drawn as medians of equal parts, with their range behind."""


def series_of(network: Network) -> dict[str, tuple[str, NDArray[np.float64]]]:
    """Return the series of a network, each with its unit, by name."""
    found = {}
    if network.latency_series is not None:
        found["latency"] = ("ms", network.latency_series)
    if network.bandwidth_series is not None:
        found["bandwidth"] = ("Mbit/s", network.bandwidth_series)
    for name, quantity in network.quantities.items():
        if quantity.series is not None:
            found[name] = ("", quantity.series)
    return found


def draw_series(network: Network, name: str, path: Path | str) -> Path:
    """Draw one series by edge and return where the picture is.

    Args:
        network: what to draw.
        name: latency, bandwidth or the name of a quantity.
        path: the picture to write; its suffix says the format.

    """
    path = Path(path)
    figure = series_figure(network, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    return save_figure(figure, path, dpi=130)


def series_figure(network: Network, name: str) -> Figure:
    """Return the picture of `draw_series`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    found = series_of(network)
    if name not in found:
        raise ValueError(
            f"the network has no series of {name!r}; it has {', '.join(found) or 'none'}"
        )
    unit, series = found[name]
    panels, said = _panels(network, series)
    rows = math.ceil(len(panels) / COLUMNS)
    figure = Figure(figsize=(12.0, 2.4 + 1.45 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(rows + 1, COLUMNS, height_ratios=(1.5, *[1.0] * rows))
    when = _moments(network, len(series))
    known = series[np.isfinite(series)]
    log = bool(known.size and known.min() > 0.0 and known.max() > 20.0 * known.min())
    whole = figure.add_subplot(grid[0, :])
    _all_edges(whole, when, series)
    whole.set_title(
        in_figure(f"{name}, {unit}" if unit else name)
        + ("" if network.times is None else ", by time in UTC")
        + f": the median of all edges, with 5 to 95 % of them. Below, on one scale: {said}",
        fontsize=10,
        loc="left",
    )
    axes = [whole]
    for i, (title, values) in enumerate(panels):
        ax = figure.add_subplot(grid[1 + i // COLUMNS, i % COLUMNS], sharex=whole)
        if i:
            ax.sharey(axes[1])
        _one_edge(ax, when, values)
        ax.set_title(in_figure(title), fontsize=8, loc="left", pad=2)
        axes.append(ax)
    if network.times is not None:
        label_days(whole.xaxis, 5)
    for i, ax in enumerate(axes):
        _trim(ax, log, bottom=i == 0 or i > len(panels) - COLUMNS, left=i == 0 or i % COLUMNS == 1)
    return figure


def _panels(
    network: Network, series: NDArray[np.float64]
) -> tuple[list[tuple[str, NDArray[np.float64]]], str]:
    """Return a title and the values of each panel; directions that are alike share one."""
    index = {tuple(edge): e for e, edge in enumerate(network.edges.tolist())}
    found = []
    for (u, v), e in index.items():
        back = index.get((v, u))
        alike = back is not None and np.array_equal(series[:, e], series[:, back], equal_nan=True)
        if not (alike and v < u):
            arrow = "↔" if alike else "→"
            found.append((f"{network.nodes[u]} {arrow} {network.nodes[v]}", series[:, e]))
    if len(found) <= MOST_PANELS:
        return found, "every edge"
    spread = [_spread(values) for _, values in found]
    kept = sorted(np.argsort(spread, kind="stable")[::-1][:MOST_PANELS].tolist())
    return [found[i] for i in kept], f"the {MOST_PANELS} of {len(found)} edges that vary most"


def _spread(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    if known.size < 2:
        return 0.0
    low, middle, high = np.quantile(known, (0.02, 0.5, 0.98))
    return float((high - low) / max(abs(middle), 1e-12))


def _moments(network: Network, rounds: int) -> NDArray[Any]:
    if network.times is None:
        return np.arange(1, rounds + 1)
    return days(network.times)


def _all_edges(ax: Any, when: Any, series: NDArray[np.float64]) -> None:
    some = ~np.isnan(series).all(axis=1)
    low, middle, high = np.full((3, len(series)), np.nan)
    low[some], middle[some], high[some] = np.nanquantile(series[some], (0.05, 0.5, 0.95), axis=1)
    ax.fill_between(when, low, high, color=COLOURS[0], alpha=0.2, linewidth=0.0)
    ax.plot(when, middle, color=COLOURS[0], linewidth=1.2)


def _one_edge(ax: Any, when: Any, values: NDArray[np.float64]) -> None:
    part = math.ceil(len(values) / MOST_POINTS)
    if part == 1:
        ax.plot(when, values, color=COLOURS[0], linewidth=0.8)
        return
    whole = np.append(values, np.full(-len(values) % part, np.nan)).reshape(-1, part)
    some = ~np.isnan(whole).all(axis=1)
    low, middle, high = np.full((3, len(whole)), np.nan)
    low[some], high[some] = np.nanmin(whole[some], axis=1), np.nanmax(whole[some], axis=1)
    middle[some] = np.nanmedian(whole[some], axis=1)
    ax.fill_between(when[::part], low, high, color=COLOURS[0], alpha=0.25, linewidth=0.0)
    ax.plot(when[::part], middle, color=COLOURS[0], linewidth=0.8)


def _trim(ax: Any, log: bool, *, bottom: bool, left: bool) -> None:
    """Give one panel its scale, and labels only at the bottom and the left."""
    if log:
        ax.set_yscale("log")
        decades(ax.yaxis, *ax.get_ylim())
    ax.tick_params(labelsize=7, labelbottom=bottom, labelleft=left)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="0.92", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.margins(x=0.0)
