"""Networks in tables and sentences: every number beside the label that says what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from hedgerow.inputs import Vector
from hedgerow.networks.network import Network
from hedgerow.networks.timestamps import format_time
from hedgerow.report.escaping import terminal_table

LEVELS = {0.0: "least", 0.25: "25 %", 0.5: "median", 0.75: "75 %", 1.0: "largest"}


def rejection_table(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Return the table of what was left out, and why."""
    cells = [(row["count"], row["reason"], row["first"]) for row in rows]
    return terminal_table(("left out", "why", "first"), cells, "rf")


def record_table(record: Mapping[str, Any]) -> Table:
    """Return the table of every choice that made the network."""
    cells = []
    for name, value in record.items():
        if isinstance(value, Mapping):
            cells += [(f"{name}: {inner}", _listed(chosen)) for inner, chosen in value.items()]
        else:
            cells.append((name, _listed(value)))
    return terminal_table(("choice", "chosen"), cells, "f")


class Shown(NamedTuple):
    """A quantity of a network as figures and tables show it."""

    name: str
    unit: str
    label: str
    values: Vector
    series: NDArray[np.float64] | None

    @property
    def title(self) -> str:
        """The name and the unit."""
        return f"{self.name}, {self.unit}" if self.unit else self.name


def shown_quantities(network: Network) -> dict[str, Shown]:
    """Return latency, bandwidth where there is one, and all other quantities, by name."""
    n = network
    found = [Shown("latency", "ms", n.latency_label, n.latency_ms, n.latency_series)]
    if n.bandwidth_mbps is not None:
        label = n.bandwidth_label or ""
        found.append(Shown("bandwidth", "Mbit/s", label, n.bandwidth_mbps, n.bandwidth_series))
    found += [Shown(name, "", q.label, q.values, q.series) for name, q in n.quantities.items()]
    return {shown.name: shown for shown in found}


def network_table(network: Network) -> Table:
    """Return a summary: the label of each quantity, and its quantiles over the edges."""
    shown = shown_quantities(network).values()
    rows = [(each.title, each.label, *_quantiles(each.values)) for each in shown]
    heads = ("", "what it is", *LEVELS.values())
    if network.quantities:  # of which there may be many: a row for each
        return terminal_table(heads, rows, "ffr")
    names, *lines = zip(*rows, strict=True)
    cells = [(head, *line) for head, line in zip(heads[1:], lines, strict=True)]
    return terminal_table(("", *names), cells, "lF")


def _quantiles(values: Vector) -> list[str]:
    known = values[~np.isnan(values)]
    numbers = np.quantile(known, list(LEVELS)) if known.size else [np.nan] * len(LEVELS)
    return [f"{value:.4g}" for value in numbers]


def network_sentences(network: Network) -> list[str]:
    """Return sentences about sizes, ends, series and correlation."""
    size = f"{len(network.nodes)} nodes, {len(network.edges)} directed edges"
    ends = (("hub", network.hub), ("source", network.source), ("target", network.target))
    named = [f"{name} {network.nodes[i]}" for name, i in ends if i is not None]
    at = np.bincount(network.edges.ravel(), minlength=len(network.nodes))
    degrees = f"A node has {at.min()} to {at.max()} edges, at the median {np.median(at):g}."
    lines = [f"{', '.join([size, *named])}.", degrees]
    pieces = network.pieces
    if len(pieces) > 1:
        sizes = _listed(pieces)
        lines.append(
            f"The graph is in {len(pieces)} pieces, with {sizes} nodes; no route joins them."
        )
    for name, shown in shown_quantities(network).items():
        if (values := shown.series) is not None:
            gaps = float(np.isnan(values).mean())
            lines.append(f"Series of {name}: {len(values)} rounds, {gaps:.2%} without a reading.")
    if network.times is not None:
        first, last = (format_time(int(network.times[i])) for i in (0, -1))
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


def _listed(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        shown = ", ".join(map(str, value[:4]))
        return f"{shown}, ... ({len(value)})" if len(value) > 4 else shown
    return "none" if value is None else str(value)
