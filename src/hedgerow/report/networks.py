"""Networks in tables and pictures: every number beside the word that says what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table

from hedgerow.inputs import Vector
from hedgerow.networks.network import Network
from hedgerow.networks.timestamps import written
from hedgerow.report.curves import COLOURS
from hedgerow.report.escaping import in_figure, in_table
from hedgerow.report.files import save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVELS = {0.0: "least", 0.25: "25 %", 0.5: "median", 0.75: "75 %", 1.0: "largest"}
MOST_LINES = 3000
"""More edges than this are drawn as a sample: the picture would be a black disc."""


def rejection_table(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Return the table of what was left out, and why."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("left out", justify="right", no_wrap=True)
    table.add_column("why")
    table.add_column("first")
    for row in rows:
        table.add_row(*(in_table(row[key]) for key in ("count", "reason", "first")))
    return table


def record_table(record: Mapping[str, Any]) -> Table:
    """Return the record of every choice."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("choice", no_wrap=True)
    table.add_column("chosen")
    for name, value in record.items():
        if isinstance(value, Mapping):
            for inner, chosen in value.items():
                table.add_row(in_table(f"{name}: {inner}"), in_table(_words(chosen)))
        else:
            table.add_row(in_table(name), in_table(_words(value)))
    return table


def network_table(network: Network) -> Table:
    """Return a summary: what each quantity is, and its quantiles over the edges."""
    columns = {"latency, ms": (network.latency_label, network.latency_ms)}
    if network.bandwidth_mbps is not None:
        columns["bandwidth, Mbit/s"] = (network.bandwidth_label or "", network.bandwidth_mbps)
    if network.quantities:
        return _long_table(columns, network)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", overflow="fold")
    table.add_row("what it is", *(in_table(label) for label, _ in columns.values()))
    quantiles = [np.quantile(values, list(LEVELS)) for _, values in columns.values()]
    for name, row in zip(LEVELS.values(), zip(*quantiles, strict=True), strict=True):
        table.add_row(name, *(f"{value:.4g}" for value in row))
    return table


def _long_table(columns: dict[str, tuple[str, Vector]], network: Network) -> Table:
    """Return the same with a row for each quantity, of which there may be many."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", overflow="fold")
    table.add_column("what it is", overflow="fold")
    for name in LEVELS.values():
        table.add_column(name, justify="right", no_wrap=True)
    for name, quantity in network.quantities.items():
        columns[name] = (quantity.label, quantity.values)
    for name, (label, values) in columns.items():
        known = values[~np.isnan(values)]
        numbers = np.quantile(known, list(LEVELS)) if known.size else [np.nan] * len(LEVELS)
        table.add_row(in_table(name), in_table(label), *(f"{value:.4g}" for value in numbers))
    return table


def network_sentences(network: Network) -> list[str]:
    """Return what a table does not hold: sizes, ends, series, correlation."""
    size = f"{len(network.nodes)} nodes, {len(network.edges)} directed edges"
    ends = (("hub", network.hub), ("source", network.source), ("target", network.target))
    named = [f"{name} {network.nodes[i]}" for name, i in ends if i is not None]
    at = np.bincount(network.edges.ravel(), minlength=len(network.nodes))
    degrees = f"A node has {at.min()} to {at.max()} edges, at the median {np.median(at):g}."
    lines = [f"{', '.join([size, *named])}.", degrees]
    pieces = network.pieces
    if len(pieces) > 1:
        sizes = _words(pieces)
        lines.append(
            f"The graph is in {len(pieces)} pieces, with {sizes} nodes; no route joins them."
        )
    series = {"latency": network.latency_series, "bandwidth": network.bandwidth_series}
    series |= {name: quantity.series for name, quantity in network.quantities.items()}
    for name, values in series.items():
        if values is not None:
            gaps = float(np.isnan(values).mean())
            lines.append(f"Series of {name}: {len(values)} rounds, {gaps:.2%} without a reading.")
    if network.times is not None:
        first, last = (written(int(network.times[i])) for i in (0, -1))
        lines.append(f"Rounds begin from {first} to {last}.")
    if network.bandwidth_mbps is None:
        lines.append("No bandwidth.")
    elif network.rank_correlation is not None:
        rho = network.rank_correlation
        label = network.bandwidth_label
        lines.append(f"Rank correlation of bandwidth ({label}) with latency: {rho:.2f}.")
    if network.caution:
        lines.append(f"Caution: {network.caution}.")
    return lines


def draw_network(network: Network, path: Path) -> Path:
    """Draw the graph and the distributions, each with its label, and return where it is."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    known = network.bandwidth_mbps is not None
    figure = Figure(figsize=(10.5, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.15, 1.0))
    _graph(figure.add_subplot(grid[:, 0]), network)
    upper = figure.add_subplot(grid[0, 1] if known else grid[:, 1])
    _distribution(upper, network.latency_ms, "Latency", "ms", network.latency_label, COLOURS[0])
    if network.bandwidth_mbps is not None and network.bandwidth_label is not None:
        lower = figure.add_subplot(grid[1, 1])
        values, label = network.bandwidth_mbps, network.bandwidth_label
        _distribution(lower, values, "Bandwidth", "Mbit/s", label, COLOURS[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    return save_figure(figure, path, dpi=150)


def _graph(axes: Axes, network: Network) -> None:
    """Nodes on a circle, or around the hub at a distance that grows with its latency."""
    from matplotlib.collections import LineCollection

    places, faint = _places(network), 0.9 / np.sqrt(1.0 + len(network.edges) / 60.0)
    edges = network.edges
    shown = np.unique(np.linspace(0, len(edges) - 1, min(len(edges), MOST_LINES)).astype(int))
    at_hub = (edges == network.hub).any(axis=1) if network.hub is not None else np.zeros(len(edges))
    for mask, colour in ((at_hub == 0, "0.45"), (at_hub == 1, COLOURS[0])):
        some = shown[mask[shown]]
        lines = LineCollection(places[edges[some]].tolist(), colors=colour, linewidths=0.6)
        lines.set_alpha(max(0.06, faint))
        axes.add_collection(lines)
    axes.scatter(places[:, 0], places[:, 1], s=9, color="0.2", zorder=2)
    for name, colour in (("hub", COLOURS[0]), ("source", COLOURS[2]), ("target", COLOURS[1])):
        node = getattr(network, name)
        if node is not None:
            label = in_figure(f"{name} {network.nodes[node]}")
            x, y = places[node].tolist()
            axes.scatter(x, y, s=60, color=colour, zorder=3, label=label)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, loc="upper left", fontsize=8, bbox_to_anchor=(0.0, 0.0), ncols=3)
    sample = f", {len(shown)} drawn" if len(shown) < len(edges) else ""
    title = f"{len(network.nodes)} nodes, {len(edges)} directed edges{sample}"
    if network.hub is not None:
        title += "\ndistance from the hub grows with the latency to it"
    axes.set_title(title, fontsize=10, loc="left")
    axes.set(aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))  # two nodes lie on one line
    axes.set_axis_off()


def _places(network: Network) -> Vector:
    n = len(network.nodes)
    around = [i for i in range(n) if i != network.hub]
    radius = np.ones(n)
    if network.hub is not None:
        near = np.full(n, np.nan)
        for (a, b), ms in zip(network.edges.tolist(), network.latency_ms.tolist(), strict=True):
            if network.hub in (a, b):
                near[b if a == network.hub else a] = ms
        near[np.isnan(near)] = np.nanmax(near)
        radius = 0.25 + 0.75 * np.sqrt(near / max(float(near.max()), 1e-9))
    angle = np.zeros(n)
    angle[around] = 2.0 * np.pi * np.arange(len(around)) / max(1, len(around))
    places = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    if network.hub is not None:
        places[network.hub] = 0.0
    return places


def _distribution(
    axes: Axes, values: Vector, name: str, unit: str, label: str, colour: str
) -> None:
    positive = values[values > 0.0]
    if len(positive) and positive.max() > 20.0 * positive.min():
        bins = np.geomspace(positive.min(), positive.max() * (1 + 1e-9), 40)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    else:
        bins = np.linspace(values.min() - 1e-9, values.max() + 1e-9, 40)
    axes.hist(positive if len(positive) else values, bins=bins.tolist(), color=colour, alpha=0.85)
    median = float(np.median(values))
    axes.axvline(median, color="0.15", linewidth=1.0, linestyle=(0, (4, 3)))
    axes.set_title(in_figure(f"{name}: {label}"), fontsize=10, loc="left")
    axes.set_xlabel(f"{unit} (dashed: the median, {median:.3g})")
    axes.set_ylabel("edges")
    axes.locator_params(axis="y", integer=True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, axis="y", color="0.92", linewidth=0.8)
    axes.set_axisbelow(True)


def _words(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        shown = ", ".join(map(str, value[:4]))
        return f"{shown}, ... ({len(value)})" if len(value) > 4 else shown
    return "none" if value is None else str(value)
