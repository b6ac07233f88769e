"""Figures of a network: the graph with its quantities and their distributions, and its series."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.inputs import Vector
from hedgerow.networks.network import Network
from hedgerow.report.escaping import in_figure
from hedgerow.report.layout import MOST_NAMES, Layout, NodeLabels, free_angle, layout
from hedgerow.report.networks import Shown, shown_quantities
from hedgerow.report.picture import (
    COLOURS,
    decades,
    label_days,
    new_figure,
    plain_frame,
    round_positions,
    save_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ARROWS = 160
"""More edges than this are drawn as lines: heads would hide them."""
BUSIEST = 6
MOST_LINES = 3000
"""More edges than this are drawn as a sample: all of them would be a black disc."""
MOST_DISTRIBUTIONS = 4
SHADES = "viridis_r"
LONGEST_NAME = 30
MOST_PANELS = 24
COLUMNS = 4
MOST_POINTS = 1500
"""Of one line; longer series are drawn as medians of equal parts, with their range behind."""
ENDS = (
    ("hub", COLOURS[6], 0.5 * math.pi),
    ("source", COLOURS[2], math.pi),
    ("target", COLOURS[1], 0.0),
)
"""The roles of nodes, their colours, and the angle of their labels in a crowd."""


def draw_network(
    network: Network, path: Path | str, *, colour: str = "latency", width: str | None = None
) -> Path:
    """Draw the graph and the distributions, each with its label, and return the path.

    Args:
        network: what to draw.
        path: the file to write; its suffix is the format.
        colour: the quantity that colours the edges.
        width: the quantity that makes them wide; None takes the bandwidth, or else the first of the
            other quantities, and "" none.

    """
    return save_figure(network_figure(network, colour, width), Path(path), dpi=150)


def network_figure(network: Network, colour: str, width: str | None) -> Figure:
    """Return the figure of `draw_network`."""
    every = shown_quantities(network)
    found = {name: each for name, each in every.items() if not np.isnan(each.values).all()}
    if width is None:
        width = next((name for name in found if name != colour and name != "latency"), "")
    for name in filter(None, (colour, width)):
        if name not in found:
            raise ValueError(f"the network has no quantity {name!r}; it has {', '.join(found)}")
    beside = [found[name] for name in list(found)[:MOST_DISTRIBUTIONS]]
    figure: Figure = new_figure(12.0, 6.6)
    grid = figure.add_gridspec(max(2, len(beside)), 2, width_ratios=(2.1, 1.0))
    graph = figure.add_subplot(grid[:, 0])
    for i, quantity in enumerate(beside):
        place = grid[:, 1] if len(beside) == 1 else grid[i, 1]
        _distribution(figure.add_subplot(place), quantity, COLOURS[i])
    draw_graph(graph, network, found[colour], found.get(width))  # last: labels need its final size
    return figure


def draw_graph(axes: Axes, network: Network, colour: Shown, width: Shown | None) -> None:
    """Draw nodes and edges on axes, with labels where they fit."""
    from matplotlib.colors import LogNorm

    placed = layout(network)
    if placed.is_map:
        _as_map(axes, placed.places)
    else:
        axes.margins(0.08)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_axis_off()
    shades = _shades(colour.values)
    widths = _widths(None if width is None else width.values, len(network.edges))
    few = len(network.edges) <= MOST_ARROWS
    drawn = (_arrows if few else _lines)(axes, network, placed, shades, widths)
    figure: Any = axes.figure
    bar = figure.colorbar(shades, ax=axes, location="bottom", shrink=0.5, aspect=40, pad=0.01)
    bar.set_label(in_figure(colour.title), fontsize=9)
    if isinstance(shades.norm, LogNorm):
        decades(bar.ax.xaxis, *bar.ax.get_xlim())
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)
    said = [f"{len(network.nodes)} nodes, {len(network.edges)} directed edges{drawn}"]
    said.append(placed.meaning)
    if width is not None:
        low, high = np.nanmin(width.values), np.nanmax(width.values)
        said.append(in_figure(f"width: {width.title}, from {low:.4g} to {high:.4g}"))
    axes.set_title("\n".join([said[0], "; ".join(said[1:])]), fontsize=10, loc="left")
    _nodes(axes, network, placed)


def _as_map(axes: Axes, places: NDArray[np.float64]) -> None:
    """Show longitude and latitude, in the proportion of the middle latitude."""
    low, high = places.min(axis=0), places.max(axis=0)
    margin = np.maximum(0.12 * (high - low), 0.5)
    (west, south), (east, north) = low - margin, high + margin
    axes.set(xlim=(west, east), ylim=(south, north))
    middle = math.radians(min(80.0, abs(0.5 * (south + north))))
    axes.set_aspect(1.0 / math.cos(middle))
    axes.grid(True, color="0.93", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_formatter(lambda x, _: f"{abs(x):g}°{'E' if x >= 0 else 'W'}")
    axes.yaxis.set_major_formatter(lambda y, _: f"{abs(y):g}°{'N' if y >= 0 else 'S'}")
    axes.tick_params(labelsize=8, colors="0.45", length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _shades(values: Vector) -> Any:
    """Return a mapping of values to colours, logarithmic where they span much."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm, Normalize

    known = values[~np.isnan(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    log = low > 0.0 and high > 20.0 * low
    norm = LogNorm(low, high) if log else Normalize(low, high if high > low else low + 1.0)
    map_ = colormaps[SHADES].with_extremes(bad="0.7")
    shades = ScalarMappable(norm, map_)
    shades.set_array(np.ma.masked_invalid(values))
    return shades


def _widths(values: Vector | None, edges: int) -> Vector:
    """Return line widths in points, narrower where there are many edges."""
    crowd = 1.0 / np.sqrt(1.0 + edges / 100.0)
    if values is None:
        return np.full(edges, 1.8 * crowd)
    low, high = np.nanmin(values), np.nanmax(values)
    share = (np.nan_to_num(values, nan=low) - low) / max(high - low, 1e-300)
    return np.asarray((0.7 + 4.3 * share) * crowd)


def _arrows(axes: Axes, network: Network, placed: Layout, shades: Any, widths: Vector) -> str:
    """Draw each edge as an arrow; equal directions as one line, others bent apart."""
    from matplotlib.patches import FancyArrowPatch

    colours = shades.to_rgba(shades.get_array())
    index = {tuple(edge): e for e, edge in enumerate(network.edges.tolist())}
    both_ways = False
    for (u, v), e in index.items():
        back = index.get((v, u))
        alike = (
            back is not None and widths[e] == widths[back] and (colours[e] == colours[back]).all()
        )
        both_ways = both_ways or alike
        if alike and v < u:
            continue
        bent = 0.0 if back is None or alike else 0.14
        axes.add_patch(
            FancyArrowPatch(
                placed.places[u].tolist(),
                placed.places[v].tolist(),
                arrowstyle="-" if alike else "-|>",
                connectionstyle=f"arc3,rad={bent}",
                mutation_scale=7.0 + 1.6 * widths[e],
                linewidth=widths[e],
                color=colours[e],
                shrinkA=3.0 if alike else 5.0,
                shrinkB=3.0 if alike else 5.0,
                zorder=1.0,
            )
        )
    return ", without heads where both ways are alike" if both_ways else ""


def _lines(axes: Axes, network: Network, placed: Layout, shades: Any, widths: Vector) -> str:
    """Draw the edges as lines, the light ones first, and return what is not drawn."""
    from matplotlib.collections import LineCollection

    count = len(network.edges)
    some = np.unique(np.linspace(0, count - 1, min(count, MOST_LINES)).astype(int))
    values = np.ma.filled(shades.get_array().astype(float), np.nan)
    some = some[np.argsort(values[some], kind="stable")]
    lines = LineCollection(
        placed.places[network.edges[some]].tolist(),
        colors=shades.to_rgba(shades.get_array())[some],
        linewidths=widths[some],
        alpha=max(0.15, 0.85 / math.sqrt(1.0 + len(some) / 400.0)),
        zorder=1.0,
    )
    axes.add_collection(lines)
    return (f", {len(some)} drawn" if len(some) < count else "") + ", heads not drawn"


def _nodes(axes: Axes, network: Network, placed: Layout) -> None:
    """Draw the nodes, with the labels of all ends and of those that fit."""
    places, count = placed.places, len(network.nodes)
    size = 26.0 if count <= MOST_NAMES else 12.0
    axes.scatter(places[:, 0], places[:, 1], s=size, color="0.2", linewidths=0.0, zorder=2)
    names = NodeLabels(axes, places, 9.0 if count <= 20 else 7.5)
    labels = {}
    for role, colour, angle in ENDS:
        node = getattr(network, role)
        if node is not None:
            x, y = places[node].tolist()
            axes.scatter(x, y, s=90, color=colour, edgecolor="white", zorder=3)
            crowd = angle if count > MOST_NAMES else free_angle(network.edges, places, node)
            names.write(node, f"{_short(network.nodes[node])} ({role})", crowd, colour)
            labels[node] = places[node]
    apart = 0.0
    nodes = list(range(count))
    if count > MOST_NAMES:
        degree = np.bincount(network.edges.ravel(), minlength=count)
        nodes = np.argsort(-degree, kind="stable")[:BUSIEST].tolist()
        apart = 0.15 * float(np.ptp(places, axis=0).max())
    for node in nodes:
        if all(np.linalg.norm(places[node] - place) > apart for place in labels.values()):
            names.write(node, _short(network.nodes[node]), free_angle(network.edges, places, node))
            labels[node] = places[node]


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _distribution(axes: Axes, shown: Shown, colour: str) -> None:
    values = shown.values[~np.isnan(shown.values)]
    positive = values[values > 0.0]
    if len(positive) and len(positive) == len(values) and values.max() > 20.0 * values.min():
        bins = np.geomspace(positive.min(), positive.max() * (1 + 1e-9), 40)
        axes.set_xscale("log")
        decades(axes.xaxis, float(bins[0]), float(bins[-1]))
    else:
        low, high = (values.min(), values.max()) if len(values) else (0.0, 1.0)
        margin = max(1e-9, 1e-9 * abs(high))
        bins = np.linspace(low - margin, high + margin, 40 if len(values) > 60 else 16)
    axes.hist(values, bins=bins.tolist(), color=colour, alpha=0.85)
    axes.set_title(in_figure(f"{shown.name}: {shown.label}"), fontsize=10, loc="left")
    unit = in_figure(shown.unit or shown.name)
    if len(values):
        median = float(np.median(values))
        axes.axvline(median, color="0.15", linewidth=1.0, linestyle=(0, (4, 3)))
        axes.set_xlabel(f"{unit} (dashed: the median, {median:.3g})", fontsize=9)
    axes.set_ylabel("edges", fontsize=9)
    axes.locator_params(axis="y", integer=True, nbins=4)
    axes.tick_params(labelsize=8)
    plain_frame(axes, axis="y")


def series_of(network: Network) -> dict[str, Shown]:
    """Return the quantities that have a series, by name."""
    found = shown_quantities(network)
    return {name: shown for name, shown in found.items() if shown.series is not None}


def draw_series(network: Network, name: str, path: Path | str) -> Path:
    """Draw one series by edge and return the path of the figure.

    Args:
        network: what to draw.
        name: latency, bandwidth or the name of a quantity.
        path: the file to write; its suffix is the format.

    """
    return save_figure(series_figure(network, name), Path(path), dpi=130)


def series_figure(network: Network, name: str) -> Figure:
    """Return the figure of `draw_series`: all edges together, then those that vary most."""
    found = series_of(network)
    if name not in found:
        raise ValueError(
            f"the network has no series of {name!r}; it has {', '.join(found) or 'none'}"
        )
    series = found[name].series
    assert series is not None  # as `series_of` chose it
    panels, which = _panels(network, series)
    rows = math.ceil(len(panels) / COLUMNS)
    figure: Figure = new_figure(12.0, 2.4 + 1.45 * rows)
    grid = figure.add_gridspec(rows + 1, COLUMNS, height_ratios=(1.5, *[1.0] * rows))
    when = round_positions(network.times, len(series))
    known = series[np.isfinite(series)]
    log = bool(known.size and known.min() > 0.0 and known.max() > 20.0 * known.min())
    whole = figure.add_subplot(grid[0, :])
    _all_edges(whole, when, series)
    whole.set_title(
        in_figure(found[name].title)
        + ("" if network.times is None else ", by time in UTC")
        + f": the median of all edges, with 5 to 95 % of them. Below, on one scale: {which}",
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


def _all_edges(ax: Any, when: Vector, series: NDArray[np.float64]) -> None:
    some = ~np.isnan(series).all(axis=1)
    low, middle, high = np.full((3, len(series)), np.nan)
    low[some], middle[some], high[some] = np.nanquantile(series[some], (0.05, 0.5, 0.95), axis=1)
    _band(ax, when, low, middle, high, alpha=0.2, linewidth=1.2)


def _one_edge(ax: Any, when: Vector, values: Vector) -> None:
    part = math.ceil(len(values) / MOST_POINTS)
    if part == 1:
        ax.plot(when, values, color=COLOURS[0], linewidth=0.8)
        return
    whole = np.append(values, np.full(-len(values) % part, np.nan)).reshape(-1, part)
    some = ~np.isnan(whole).all(axis=1)
    low, middle, high = np.full((3, len(whole)), np.nan)
    low[some], high[some] = np.nanmin(whole[some], axis=1), np.nanmax(whole[some], axis=1)
    middle[some] = np.nanmedian(whole[some], axis=1)
    _band(ax, when[::part], low, middle, high, alpha=0.25, linewidth=0.8)


def _band(
    ax: Any, x: Vector, low: Vector, middle: Vector, high: Vector, *, alpha: float, linewidth: float
) -> None:
    ax.fill_between(x, low, high, color=COLOURS[0], alpha=alpha, linewidth=0.0)
    ax.plot(x, middle, color=COLOURS[0], linewidth=linewidth)


def _trim(ax: Any, log: bool, *, bottom: bool, left: bool) -> None:
    """Give one panel its scale, and labels only at the bottom and the left."""
    if log:
        ax.set_yscale("log")
        decades(ax.yaxis, *ax.get_ylim())
    ax.tick_params(labelsize=7, labelbottom=bottom, labelleft=left)
    plain_frame(ax, linewidth=0.6)
    ax.margins(x=0.0)
