"""The figures of a backtest: cost against bad minutes, limits over clock time, shares, sums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.transforms import Bbox

from hedgerow.experiments.backtesting import BEST, PLAIN, Backtest, BacktestRun
from hedgerow.inputs import Vector
from hedgerow.problems.measured_routes import Limit
from hedgerow.report.backtest_verdict import bad_time, reference, time_noun
from hedgerow.report.escaping import in_figure
from hedgerow.report.network_figure import draw_network
from hedgerow.report.picture import (
    COLOURS,
    Picture,
    canvas,
    decades,
    label_days,
    legend_above,
    round_positions,
    save_figure,
)
from hedgerow.report.plots import plot_compare, plot_shares, plot_voices

MOST_LINES = 10
DPI = 130
WIDE, NARROW = 9.5, 4.6
"""Inches of the first figure: on a screen, and on a phone."""
DOT = 4.0
"""Radius of a point, in points of type."""
MINE, OTHER, REST = COLOURS[0], COLOURS[1], "0.45"


def draw_verdict(test: Backtest, folder: Path) -> Picture:
    """Draw cost against bad minutes, and below it the first limit over time, in two widths."""
    for name, width in (("verdict", WIDE), ("verdict-narrow", NARROW)):
        figure, axes = canvas(2, 1, width, 6.6)
        drawn = _compared(test, axes[0, 0])
        _first_limit(test, axes[1, 0], 8 if width == WIDE else 6)
        figure.draw_without_rendering()
        place_names(axes[0, 0], *drawn)
        save_figure(figure, folder / f"{name}.png", DPI)
    limit, noun = test.problem.limits[0], time_noun(test)
    return Picture(
        "verdict",
        "At a glance",
        f"Above: each policy's cost against its {noun}s over the limit; lower left is better. "
        f"Below: {limit.quantity.name} over time. Grey: {noun}s in which no route meets the limit.",
        wide=False,
    )


def _compared(test: Backtest, ax: Any) -> tuple[list[tuple[float, float]], dict[str, str]]:
    """Draw each policy as a point; return the points, and the colour of each policy's name."""
    problem, noun, other = test.problem, time_noun(test), reference(test)
    points = [(bad_time(run.any_level), run.mean_cost) for run in test.runs]
    marked = {test.runs[0].name: MINE, other.name: OTHER}
    for run, (x, y) in zip(test.runs, points, strict=True):
        colour = marked.get(run.name, REST)
        marker, size = ("D", 40) if run.name == BEST else ("o", 70 if colour != REST else 40)
        ax.scatter([x], [y], size, color=colour, marker=marker, zorder=3, clip_on=False)
    most = max(x for x, _ in points)
    unmet = problem.unkept * (problem.round_minutes or 1.0)
    least = min(x for x, _ in points)
    if least > 0.3 * most:
        room = 0.15 * (most - least) + 0.01 * most
        ax.set_xlim(least - room, most + room)
    elif most > 0.0:  # few minutes matter as much as many
        ax.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0.0)), np.square))
        ax.set_xlim(0.0, 1.12 * most)
        ax.set_xticks(_root_ticks(most))
    if unmet:
        ax.axvspan(0.0, unmet, color="0.88", zorder=0, linewidth=0)
        ax.set_xlim(right=max(ax.get_xlim()[1], 1.05 * unmet))
    ax.margins(y=0.15)
    ax.set_ylabel(in_figure(f"{problem.cost.unit or problem.cost.name} per round"), fontsize=9)
    where = " (grey: no route could have met it)" if unmet else ""
    ax.set_xlabel(f"{noun}s over the limit{where}", fontsize=9)
    ax.tick_params(labelsize=8)
    return points, {run.name: marked.get(run.name, "black") for run in test.runs}


def _root_ticks(most: float) -> list[float]:
    """Return about six round numbers from 0, evenly apart on an axis of square roots."""
    wanted = most * np.linspace(0.0, 1.0, 7) ** 2
    steps = [m * 10.0**e for e in range(-1, 8) for m in (1.0, 2.0, 5.0)]
    return sorted({0.0, *(min(steps, key=lambda s: abs(s - x)) for x in wanted[1:])})


def place_names(ax: Any, points: Sequence[tuple[float, float]], names: Mapping[str, str]) -> None:
    """Write each name, in its colour, beside its point; it covers neither another nor a point."""
    figure = ax.figure
    renderer = figure.canvas.get_renderer()
    inside = ax.get_window_extent(renderer)
    taken: list[Any] = []
    size = 2.0 * DOT * figure.dpi / 72.0
    dots = [
        Bbox.from_bounds(x - size / 2, y - size / 2, size, size)
        for x, y in ax.transData.transform(points)
    ]
    for point, (name, colour) in zip(points, names.items(), strict=True):
        text = ax.annotate(
            in_figure(name), point, (0, 0), textcoords="offset points", fontsize=8, color=colour
        )
        choices = [
            (side * 7.0, step * 9.0, "left" if side > 0 else "right")
            for step in (0, 1, -1, 2, -2, 3, -3, 4, -4)
            for side in (1, -1)
        ]
        best = None
        for dx, dy, align in choices:
            text.set(position=(dx, dy), horizontalalignment=align, verticalalignment="center")
            box = text.get_window_extent(renderer)
            covered = sum(box.overlaps(other) for other in taken)
            covered += sum(box.overlaps(dot) for dot in dots)
            covered += 2 * (box.x0 < inside.x0 or box.x1 > figure.bbox.x1 - 4)
            covered += 2 * (box.y0 < inside.y0 + 2)
            if best is None or covered < best[0]:
                best = (covered, dx, dy, align)
            if not covered:
                break
        _, dx, dy, align = best or (0, 7.0, 0.0, "left")
        text.set(position=(dx, dy), horizontalalignment=align)
        taken.append(text.get_window_extent(renderer))
        if abs(dy) > 9.0:
            style = {"color": "0.6", "linewidth": 0.6}
            ax.annotate("", point, (dx, dy), textcoords="offset points",
                        arrowprops={"arrowstyle": "-", **style})  # fmt: skip


def _first_limit(test: Backtest, ax: Any, dates: int) -> None:
    """Draw the first limited quantity of the learner and of the run it is compared with."""
    limit = test.problem.limits[0]
    runs = dict.fromkeys([reference(test), test.runs[0]])
    _draw_values(test, ax, 0, limit, {run: _values(run, 0, limit) for run in runs})
    _label_time(test, ax, dates)


def draw_figures(test: Backtest, folder: Path) -> Iterator[Picture]:
    """Draw the further figures, and yield the name, heading and caption of each."""
    problem, X = test.problem, test.problem.decision_set
    times = round_times(test)
    for k, limit in enumerate(problem.limits):
        save_figure(_over_time(test, k, limit), folder / f"limit-{k + 1}.png", DPI)
        yield Picture(
            f"limit-{k + 1}",
            f"{limit}: round by round",
            "The learner and the other policies. Grey: rounds in which no route meets the limit. "
            "The dashed line is the limit.",
        )
    count = len(problem.limits)
    figure, axes = canvas(1, 1 + count, 5.5 * (1 + count), 4.0)
    # Axes for each limit, also where two have one unit.
    traces = {run.name: replace(run.trace, one_unit=count == 1) for run in test.runs[:MOST_LINES]}
    mean, *sums = plot_compare(traces, axes=axes[0], times=times)
    mean.set_ylabel(in_figure(f"{problem.cost.unit or problem.cost.name} per round"), fontsize=9)
    for ax, limit in zip(sums, problem.limits, strict=True):
        which = "" if count == 1 else f": {limit}"
        ax.set_title(in_figure(f"Violation so far, added up (CCV){which}"), fontsize=10, loc="left")
        ax.set_ylabel(in_figure(limit.quantity.unit or limit.quantity.name), fontsize=9)
    if (inside := mean.get_legend()) is not None:
        inside.remove()  # it would cover lines
    legend_above(figure, mean)
    save_figure(figure, folder / "compared.png", DPI)
    yield Picture("compared", "Cost and violation so far", "All policies on the same rounds.")
    for run in test.runs:
        if run.voices:
            figure, axes = canvas(1, 1, 11.0, 2.6)
            plot_voices(run.voices, axes[0, 0], times=times)
            save_figure(figure, folder / "voices.png", DPI)
            yield Picture(
                "voices",
                f"Who was followed: {run.name}",
                "The weight of each adviser after each round; policy is Hedgerow's own decision.",
            )
    names = [f"{a} → {b}" for a, b in X.edges]  # type: ignore[attr-defined]
    used = int(np.count_nonzero(test.runs[0].plays.max(axis=0)))
    figure, axes = canvas(1, 1, 11.0, 1.2 + 0.26 * min(25, used))
    plot_shares(test.runs[0].plays, names, axes[0, 0], times=times)
    save_figure(figure, folder / "shares.png", DPI)
    yield Picture("shares", f"Traffic on each link: {test.runs[0].name}", "Darker is more traffic.")
    ends = [problem.network.nodes.index(node) for node in (X.source, X.target)]  # type: ignore[attr-defined]
    marked = replace(problem.network, source=ends[0], target=ends[1])
    draw_network(marked, folder / "network.png")
    yield Picture("network", "The network", "Links as they were read, and their quantities.")


def _over_time(test: Backtest, k: int, limit: Limit) -> Any:
    """Draw one constrained quantity of the learner and of the others over time."""
    mine = test.runs[0]
    others = [run for run in test.runs if run.name not in (mine.name, BEST, PLAIN)]
    figure, axes = canvas(len(others), 1, 11.0, 1.0 + 1.55 * len(others))
    values = {run: _values(run, k, limit) for run in (mine, *others)}
    for ax, run in zip(axes[:, 0], others, strict=True):
        _draw_values(test, ax, k, limit, {run: values[run], mine: values[mine]}, values.values())
        ax.tick_params(labelbottom=ax is axes[-1, 0])
        if round_times(test) is not None:
            label_days(ax.xaxis, 9)
    _label_time(test, axes[-1, 0], 9)
    return figure


def _draw_values(
    test: Backtest,
    ax: Any,
    k: int,
    limit: Limit,
    drawn: dict[BacktestRun, Vector],
    scale: Any = None,
) -> None:
    """Draw lines over time, the limit, and in grey the rounds that no action satisfies."""
    problem = test.problem
    when = round_positions(round_times(test), problem.horizon)
    values = list(drawn.values() if scale is None else scale)
    high, low = max(float(v.max()) for v in values), min(float(v.min()) for v in values)
    grey = {"transform": ax.get_xaxis_transform(), "color": "0.8", "step": "mid"}
    ax.fill_between(when, 0, 1, where=problem.unavoidable_each[k] > 0.0, **grey)
    for run, line in drawn.items():
        colour = MINE if run is test.runs[0] else OTHER
        label = in_figure(run.name)
        ax.plot(when, line, color=colour, label=label, linewidth=0.9, alpha=0.9)
    level = 0.0 if limit.kind == "capacity" else limit.level
    ax.axhline(level, color="0.1", linewidth=1.0, linestyle=(0, (4, 3)), label="limit")
    if low > 0.0 and high > 10.0 * max(abs(limit.level), 1e-300):
        ax.set_yscale("log")
        decades(ax.yaxis, *ax.get_ylim())
    above = {"loc": "lower left", "bbox_to_anchor": (0.0, 0.98), "borderaxespad": 0.0}
    ax.legend(frameon=False, fontsize=8, ncols=3, **above)
    unit = limit.quantity.unit or limit.quantity.name
    ax.set_ylabel(in_figure(f"{unit} over" if limit.kind == "capacity" else unit), fontsize=8)
    ax.tick_params(labelsize=8)
    ax.margins(x=0.0)


def _label_time(test: Backtest, ax: Any, dates: int) -> None:
    """Name the axis of rounds, in clock time where it is known."""
    times = round_times(test)
    if times is not None:
        label_days(ax.xaxis, dates)
    ax.set_xlabel("round t" if times is None else "time, UTC", fontsize=9)


def _values(run: BacktestRun, k: int, limit: Limit) -> Vector:
    """Return the constrained quantity in its own unit: the constraint's value, plus the level."""
    each = run.trace.violations_each
    values = run.trace.violations if each is None else each[k]
    if limit.kind == "capacity":
        return values
    return values + limit.level if limit.kind == "cap" else limit.level - values


def round_times(test: Backtest) -> Vector | None:
    """Return when the rounds were, where all of them have a time."""
    times = test.problem.network.times
    return times if times is not None and len(times) == test.problem.horizon else None
