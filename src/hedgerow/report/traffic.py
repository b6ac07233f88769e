"""Traffic: maps that show link utilisation, figures over the rounds, a table, and their page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table

from hedgerow.inputs import Vector
from hedgerow.networks.topology import Topology
from hedgerow.problems.traffic_engineering import TrafficEngineering
from hedgerow.protocols.trace import Trace
from hedgerow.report.document import document, figure_section, plain_table, soft
from hedgerow.report.escaping import in_figure, in_html, terminal_table
from hedgerow.report.layout import MOST_NAMES, NodeLabels, circle, free_angle
from hedgerow.report.picture import COLOURS, Picture, canvas, legend_above, save_figure, write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BESIDE = 0.008
"""Distance of a link's two directions from its middle, in widths of the map."""
MOST_MOVED = 12
"""The most demands shown that left their shortest path."""
HEADS = (
    "policy", "latency\nms", "largest\nuse", "CCV", "above\n%", "proved\nms", "time\nµs",
)  # fmt: skip
LEGEND = (
    "latency: of the average unit of traffic; largest use: the largest utilisation of a link in a "
    "round; CCV: the sum over all rounds of what was above the limit, and above the share of such "
    "rounds; proved: a bound of the cost above the best fixed split's, proved by the run alone; "
    "time: ask, feedback and tell, per round. Rows: fixed rules, then programmes of matrices seen, "
    "then learners."
)


def places(topology: Topology) -> Vector:
    """Return where nodes are drawn: on the map, with true proportions at its middle, or in a ring.

    Nodes at the same position are pulled apart a little, so that the link between them is visible.
    """
    ring = circle(len(topology.nodes))
    if topology.positions is None:
        return ring
    spots = topology.positions.copy()
    spots[:, 0] *= np.cos(np.radians(np.median(spots[:, 1])))
    extent = float(np.ptp(spots, axis=0).max()) or 1.0
    _, twin = np.unique(spots.round(2), axis=0, return_inverse=True)
    twin = twin.reshape(-1)  # NumPy 2.0 returns a column
    shared = np.bincount(twin)[twin] > 1
    spots[shared] += 0.015 * extent * ring[shared]
    return spots


def draw_map(axes: Axes, topology: Topology, utilisation: Vector, limit: float, title: str) -> Any:
    """Draw every link on its right-hand side, and return what a colour bar needs.

    Colour and width show utilisation: blue below the limit, red above it.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.colors import TwoSlopeNorm

    spots = places(topology)
    extent = float(np.ptp(spots, axis=0).max()) or 1.0
    begin, end = spots[topology.edges[:, 0]], spots[topology.edges[:, 1]]
    along = end - begin
    length = np.maximum(np.linalg.norm(along, axis=1), 1e-12)[:, None]
    aside = BESIDE * extent * np.column_stack([along[:, 1], -along[:, 0]]) / length
    order = np.argsort(utilisation)  # the busiest on top
    lines = LineCollection(
        np.stack([begin + aside, end + aside], axis=1)[order].tolist(),
        array=utilisation[order],
        cmap="coolwarm",
        norm=TwoSlopeNorm(limit, 0.0, 1.5 * limit),
        linewidths=(0.8 + 4.2 * np.minimum(utilisation[order] / limit, 1.6)).tolist(),
        capstyle="butt",
    )
    axes.add_collection(lines)
    _frame(axes, topology, spots, title)
    return lines


def _frame(axes: Axes, topology: Topology, spots: Vector, title: str) -> None:
    """Draw the nodes, with names where they fit, and hide the axes."""
    axes.scatter(spots[:, 0], spots[:, 1], s=14, color="0.15", zorder=3)
    axes.set_aspect("equal")
    axes.margins(0.06)
    axes.set_axis_off()
    axes.set_title(in_figure(title), fontsize=10, loc="left")
    if len(topology.nodes) <= MOST_NAMES:
        labels = NodeLabels(axes, spots, 7.0)
        for node, name in enumerate(topology.nodes):
            labels.write(node, name, free_angle(topology.edges, spots, node))


def _height(spots: Vector, width: float) -> float:
    """Return the height of a map of this width, between a third of it and all of it."""
    wide, high = np.ptp(spots, axis=0)
    return width * float(np.clip(high / max(wide, 1e-12), 0.35, 1.0)) + 0.5


def draw_topology(topology: Topology, path: Path) -> Path:
    """Draw a network without traffic and return the path of the figure; width shows capacity."""
    from matplotlib.collections import LineCollection

    spots = places(topology)
    figure, axes = canvas(1, 1, 8.0, _height(spots, 8.0))
    share = topology.bandwidth_mbps / float(topology.bandwidth_mbps.max())
    lines = LineCollection(
        spots[topology.edges].tolist(),
        colors=COLOURS[0],
        linewidths=(0.4 + 1.4 * share).tolist(),
        alpha=0.6,
    )
    axes[0, 0].add_collection(lines)
    title = f"{topology.name}: {len(topology.nodes)} nodes, {len(topology.edges)} directed links"
    _frame(axes[0, 0], topology, spots, title)
    return save_figure(figure, path, dpi=150)


def draw_before_and_after(
    topology: Topology,
    splits: Mapping[str, Vector],
    problem: TrafficEngineering,
    t: int,
    path: Path,
) -> Path:
    """Draw one round under several splits beside each other.

    Args:
        topology: the map.
        splits: the decisions in that round, by policy.
        problem: the rounds.
        t: the round, from 0.
        path: the file to write.

    """
    figure, axes = canvas(1, len(splits), 6.4 * len(splits), _height(places(topology), 6.0))
    lines = None
    for ax, (name, x) in zip(axes[0], splits.items(), strict=True):
        used = used_in_round(problem, x, t)
        title = f"{name}: largest utilisation {used.max():.2f}, limit {problem.limit:.2f}"
        lines = draw_map(ax, topology, used, problem.limit, title)
    bar = figure.colorbar(lines, ax=list(axes[0]), shrink=0.8, pad=0.01)
    bar.set_label("utilisation of a link (pale: the limit)", fontsize=8)
    return save_figure(figure, path, dpi=140)


def draw_frames(
    topology: Topology, plays: Mapping[int, Vector], problem: TrafficEngineering, path: Path
) -> Path:
    """Draw rounds one after the other as an animated GIF.

    Args:
        topology: the map.
        plays: the decision in each of these rounds, numbered from 0.
        problem: the rounds.
        path: the file to write.

    """
    from matplotlib.animation import PillowWriter

    figure, axes = canvas(1, 1, 6.4, _height(places(topology), 6.0))
    writer = PillowWriter(fps=4)
    path.parent.mkdir(parents=True, exist_ok=True)
    with writer.saving(figure, path, dpi=100):
        for t, x in sorted(plays.items()):
            axes[0, 0].clear()
            used = used_in_round(problem, x, t)
            title = (
                f"round {t + 1}: largest utilisation {used.max():.2f}, limit {problem.limit:.2f}"
            )
            draw_map(axes[0, 0], topology, used, problem.limit, title)
            writer.grab_frame()
    return path


def used_in_round(problem: TrafficEngineering, x: Vector, t: int) -> Vector:
    """Return the utilisation of every link in one round, numbered from 0."""
    used = problem.loads.utilisation(x, problem.demands[t])
    return used if problem.available is None else used / problem.available[t]


def draw_days(
    traces: Mapping[str, Trace], limit: float, rounds_per_day: float | None, path: Path
) -> Path:
    """Draw the largest utilisation, and the CCV and cost so far, over the rounds."""
    figure, axes = canvas(3, 1, 9.5, 7.6)
    top, middle, bottom = axes[:, 0]
    means = [trace.costs.cumsum() / np.arange(1, trace.costs.size + 1) for trace in traces.values()]
    for (name, trace), mean, colour in zip(traces.items(), means, COLOURS, strict=False):
        t = np.arange(1, trace.costs.size + 1) / (rounds_per_day or 1.0)
        style = {"color": colour, "linewidth": 1.2, "label": in_figure(name)}
        top.plot(t, trace.violations + limit, **{**style, "linewidth": 0.7})
        middle.plot(t, np.cumsum(np.maximum(trace.violations, 0.0)), **style)
        bottom.plot(t, mean, **style)
    top.axhline(limit, color="0.15", linewidth=1.0, linestyle=(0, (4, 3)))
    top.set_title("Largest utilisation of a link (dashed: the limit)", fontsize=10, loc="left")
    middle.set_title("Violation so far (CCV), in utilisation", fontsize=10, loc="left")
    middle.set_yscale("symlog", linthresh=0.1)
    bottom.set_title("Mean latency so far, ms", fontsize=10, loc="left")
    bottom.set_xlabel("day" if rounds_per_day else "round", fontsize=9)
    for ax in (top, middle, bottom):
        ax.margins(x=0.0)
        ax.tick_params(labelsize=8)
    # The first twentieth of a mean swings; it may leave the frame.
    late = np.concatenate([mean[mean.size // 20 :] for mean in means])
    margin = 0.1 * (float(np.ptp(late)) or 1.0)
    bottom.set_ylim(late.min() - margin, late.max() + margin)
    ticks = [tick for tick in (0.0, 0.1, 1.0, 10.0, 100.0, 1000.0) if tick <= middle.get_ylim()[1]]
    middle.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    legend_above(figure, top)
    return save_figure(figure, path, dpi=140)


def draw_moved(problem: TrafficEngineering, x: Vector, path: Path) -> Path | None:
    """Draw the demands of which most was moved off their shortest path; None if none was."""
    X = problem.decision_set
    mean = problem.demands.mean(axis=0)
    kept = np.bincount(X.pair_of, np.minimum(x, problem.shortest), len(X.pairs))
    share = np.clip(1.0 - kept / np.bincount(X.pair_of, problem.shortest), 0.0, 1.0)
    moved = share * mean
    order = np.argsort(moved)[::-1][:MOST_MOVED]
    order = order[moved[order] > 1e-9 * max(float(mean.max()), 1e-300)][::-1]
    if not order.size:
        return None
    figure, axes = canvas(1, 1, 7.0, 0.6 + 0.32 * order.size)
    ax = axes[0, 0]
    names = [in_figure(f"{X.pairs[d][0]} to {X.pairs[d][1]}") for d in order]
    ax.barh(names, mean[order], color="0.85", label="mean demand")
    ax.barh(names, moved[order], color=COLOURS[0], label="moved off the shortest path")
    ax.set_xlabel("Mbit/s", fontsize=9)
    ax.tick_params(labelsize=8)
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    return save_figure(figure, path, dpi=140)


def traffic_rows(
    traces: Mapping[str, Trace], certificates: Mapping[str, float], limit: float
) -> list[list[str]]:
    """Return a row of numbers for each policy, as `HEADS` names them."""
    rows = []
    for name, trace in traces.items():
        T = trace.costs.size
        proved = certificates.get(name)
        rows.append(
            [
                name,
                f"{trace.cost / T:.3f}",
                f"{float(trace.violations.max()) + limit:.3f}",
                f"{trace.ccv:.3f}",
                f"{100.0 * float((trace.violations > 0.0).mean()):.1f}",
                "-" if proved is None else f"{proved / T:+.3f}",
                f"{1e6 * trace.seconds / T:.0f}",
            ]
        )
    return rows


def traffic_table(rows: Sequence[Sequence[str]]) -> Table:
    """Return the rows for a terminal."""
    return terminal_table(HEADS, rows, "lr", caption=LEGEND, padding=(0, 0, 0, 1))


def write_traffic_page(
    title: str,
    sentences: Sequence[str],
    rows: Sequence[Sequence[str]],
    pictures: Sequence[Picture],
    path: Path,
) -> Path:
    """Write one self-contained page; its figures are beside it as PNG files."""
    table = plain_table([head.replace("\n", " ") for head in HEADS], rows)
    body = [
        f"<h1>{in_html(title)}</h1>",
        *(f"<p>{in_html(sentence)}</p>" for sentence in sentences),
        "<h2>Comparison</h2>",
        table,
        soft(LEGEND),
        "<h2>Figures</h2>",
        *(figure_section(picture, path.parent) for picture in pictures),
    ]
    return write_file(path, document(in_html(title), "\n".join(body)))
