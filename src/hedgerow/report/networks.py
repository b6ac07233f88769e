"""Networks in tables: every number beside the word that says what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from rich import box
from rich.table import Table

from hedgerow.inputs import Vector
from hedgerow.networks.network import Network
from hedgerow.networks.timestamps import written
from hedgerow.report.escaping import in_table

LEVELS = {0.0: "least", 0.25: "25 %", 0.5: "median", 0.75: "75 %", 1.0: "largest"}


def rejection_table(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Return the table of what was left out, and why."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("left out", justify="right", no_wrap=True)
    table.add_column("why", overflow="fold")
    table.add_column("first", overflow="fold")
    for row in rows:
        table.add_row(*(in_table(row[key]) for key in ("count", "reason", "first")))
    return table


def record_table(record: Mapping[str, Any]) -> Table:
    """Return the table of every choice that made the network."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("choice", overflow="fold")
    table.add_column("chosen", overflow="fold")
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


def _words(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        shown = ", ".join(map(str, value[:4]))
        return f"{shown}, ... ({len(value)})" if len(value) > 4 else shown
    return "none" if value is None else str(value)
