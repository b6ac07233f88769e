"""Figures of single games: functions that draw on axes and return them, and curves as a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.inputs import Vector, as_array, as_count, as_vector
from hedgerow.labels import labels_of
from hedgerow.policies.certificate import Certificate
from hedgerow.protocols.benchmark import Benchmark
from hedgerow.protocols.limits import numbered
from hedgerow.protocols.trace import Step, Trace
from hedgerow.report.escaping import in_figure
from hedgerow.report.picture import (
    COLOURS,
    DASHES,
    canvas,
    label_days,
    plain_frame,
    round_positions,
    save_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_COLUMNS = 800
"""Of a figure of shares; longer games are drawn as means of equal parts."""
SMOOTHED = 50
"""The moving mean is over this part of the game: a fiftieth."""
LINES = ("-", (0, (5, 2)), "-.", (0, (1, 1)), (0, (5, 1, 1, 1)))


def plot_trace(
    trace: Trace,
    benchmark: Benchmark | None = None,
    axes: Sequence[Axes] | None = None,
    *,
    times: ArrayLike | None = None,
) -> tuple[Axes, ...]:
    """Draw one game: its cost by round, and its violation added up.

    The first axes have the cost of every round, its moving mean and, where it is given, the mean
    cost of the best fixed action. The second have the CCV and the signed sum, in which slack
    pays for violation. Each of several constraints has axes of its own, unless the problem says
    that all have one unit.

    Args:
        trace: the game.
        benchmark: the best fixed action, as `hindsight` returns it.
        axes: axes to draw on, one for the cost and one for each constraint; None makes a new
            figure.
        times: when the rounds were: Unix seconds, such as `network.times`, or datetimes, such as
            the index of a frame.

    """
    if not isinstance(trace, Trace):
        raise TypeError(f"plot_trace needs a Trace, as simulate returns it, got {trace!r:.60}")
    each = _each(trace)
    left, *others = drawn = _axes("plot_trace", axes, len(each))
    when = _when(times, len(trace.costs))
    left.plot(when, trace.costs, color="0.8", linewidth=0.6, label="every round")
    left.plot(when, _moving_mean(trace.costs), color=COLOURS[0], linewidth=1.8, label="moving mean")
    _add_best(left, benchmark, len(trace.costs))
    _title(left, "Cost of a round", "f_t(x_t)")
    for ax, (which, unit, row) in zip(others, each, strict=True):
        ccv = np.maximum(row, 0.0).cumsum()
        ax.plot(when, ccv, color=COLOURS[1], linewidth=1.8, label="CCV")
        signed: dict[str, Any] = {"color": COLOURS[2], "linewidth": 1.4, "linestyle": LINES[1]}
        ax.plot(when, row.cumsum(), label="signed sum", **signed)
        ax.axhline(0.0, color="0.6", linewidth=0.8)
        _title(ax, f"Violation{which}, added up", unit or "sum of g_t(x_t)")
    for ax in drawn:
        _finish(ax, times is not None)
    return drawn


def plot_compare(
    traces: Mapping[str, Trace],
    benchmark: Benchmark | None = None,
    axes: Sequence[Axes] | None = None,
    *,
    times: ArrayLike | None = None,
) -> tuple[Axes, ...]:
    """Draw several games on the same rounds: mean cost so far, and CCV so far.

    Each of several constraints has axes of its own, unless the problem says that all have one unit.

    Args:
        traces: the games by the names that they have in the legend.
        benchmark: the best fixed action; its mean cost is a line.
        axes: axes to draw on, one for the cost and one for each constraint; None makes a new
            figure.
        times: when the rounds were: Unix seconds, or datetimes.

    """
    given: object = traces
    games: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {}
    lengths = {len(trace.costs) for trace in games.values() if isinstance(trace, Trace)}
    if len(lengths) != 1 or not all(isinstance(trace, Trace) for trace in games.values()):
        raise TypeError(
            "plot_compare needs a dict of Traces by name, all of equally many rounds, got "
            f"{traces!r:.60}"
        )
    violations = {name: _each(trace) for name, trace in games.items()}
    if len(counts := {len(rows) for rows in violations.values()}) > 1:
        raise ValueError(
            f"plot_compare needs games with equally many constraints, got {sorted(counts)}"
        )
    (count,) = counts
    left, *others = drawn = _axes("plot_compare", axes, count)
    (rounds,) = lengths
    when = _when(times, rounds)
    for i, (name, trace) in enumerate(games.items()):
        style: dict[str, Any] = {
            "color": COLOURS[i % len(COLOURS)],
            "linestyle": LINES[i % len(LINES)],
            "linewidth": 1.8,
        }
        mean = trace.costs.cumsum() / np.arange(1, rounds + 1)
        left.plot(when, mean, label=in_figure(name), **style)
        for ax, (_, _, row) in zip(others, violations[name], strict=True):
            ax.plot(when, np.maximum(row, 0.0).cumsum(), **style)
    _add_best(left, benchmark, rounds)
    _title(left, "Mean cost so far", "cost per round")
    for ax, (which, unit, _) in zip(others, next(iter(violations.values())), strict=True):
        _title(ax, f"CCV{which} so far", unit or "sum of max(0, g_t(x_t))")
    for ax in drawn:
        _finish(ax, times is not None)
    return drawn


def _each(trace: Trace) -> list[tuple[str, str, Vector]]:
    """Return what is drawn on axes of its own: words for the title, the unit, and the values.

    That is the largest value of each round where it has a unit, else each constraint.
    """
    rows = trace.violations_each
    if rows is None or trace.one_unit:
        trace.check_unit("figure")
        unit = trace.limits[0].unit if trace.limits else ""
        which = f" of {trace.limits[0].name}" if len(trace.limits) == 1 else ""
        return [(which, unit, trace.violations)]
    names = numbered(trace.limits, len(rows))
    return [(f" of {name}", unit, row) for (name, unit), row in zip(names, rows, strict=True)]


def _axes(function: str, given: Sequence[Axes] | None, count: int) -> tuple[Axes, ...]:
    """Return axes for the cost and for each of so many constraints."""
    drawn = tuple(_figure(1 + count, (5.0 + 5.0 * count, 3.8)) if given is None else given)
    if len(drawn) != 1 + count:
        raise ValueError(
            f"{function} needs {1 + count} axes here, one for the cost and one for each "
            f"constraint, got {len(drawn)}"
        )
    return drawn


def plot_voices(
    voices: Mapping[str, ArrayLike], axes: Axes | None = None, *, times: ArrayLike | None = None
) -> Axes:
    """Draw how much each adviser was followed over time, and the policy itself.

    Args:
        voices: the weight of each voice after each round, by name, as `policy.voices` has it.
        axes: where to draw; None makes a new figure.
        times: when the rounds were: Unix seconds, or datetimes.

    """
    weights = np.array([np.asarray(row, dtype=np.float64) for row in voices.values()])
    if weights.ndim != 2 or not weights.size:
        raise ValueError(
            "voices must have a name and a weight per round for each voice, such as "
            "{'plan': [...], 'policy': [...]}; record policy.voices after each round"
        )
    ax = axes if axes is not None else _figure(1, (9.0, 2.6))[0]
    when = _when(times, weights.shape[1])
    colours = [COLOURS[k % len(COLOURS)] for k in range(len(weights))]
    labels = [in_figure(name) for name in voices]
    ax.stackplot(when, 100.0 * weights, labels=labels, colors=colours, linewidth=0.0)
    ax.set_ylim(0.0, 100.0)
    ax.margins(x=0.0)
    ax.set_ylabel("weight, %", fontsize=9)
    ax.set_xlabel("round t" if times is None else "time, UTC", fontsize=9)
    if times is not None:
        label_days(ax.xaxis, 9)
    ax.legend(
        frameon=False, fontsize=8, ncols=4, loc="lower left", bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.0, reverse=True,
    )  # fmt: skip
    return ax


def plot_shares(
    plays: ArrayLike | Iterable[Step],
    names: Sequence[str] | None = None,
    axes: Axes | None = None,
    *,
    times: ArrayLike | None = None,
    most: int = 25,
) -> Axes:
    """Draw the decisions over time: a row for each coordinate, darker where it is larger.

    Args:
        plays: a row x_t for each round, as an array or a frame, or the steps of `play`.
        names: of the coordinates, such as "Lisbon → Madrid"; left out, the columns of a frame.
        axes: where to draw; None makes a new figure.
        times: when the rounds were: Unix seconds, or datetimes.
        most: how many coordinates to show, those with the largest sums; never one that is always 0.

    """
    names = labels_of(plays) if names is None else names
    shares = _plays(plays)
    rounds, n = shares.shape
    named = [str(i) for i in range(n)] if names is None else [str(name) for name in names]
    if len(named) != n:
        raise ValueError(f"names must have one entry for each of {n} coordinates, got {len(named)}")
    when = _when(times, rounds)
    total = np.abs(shares).sum(axis=0)
    order = np.argsort(-total, kind="stable")[: as_count(most, "most")]
    order = order[total[order] > 0.0] if total.any() else order
    ax = axes if axes is not None else _figure(1, (9.0, 1.6 + 0.24 * len(order)))[0]
    part = -(-rounds // MOST_COLUMNS)
    begins = np.arange(0, rounds, part)
    drawn = np.add.reduceat(shares[:, order], begins, axis=0)
    drawn /= np.diff(np.append(begins, rounds))[:, np.newaxis]
    step = float(np.median(np.diff(when))) if rounds > 1 else 1.0
    edges = np.append(when[begins], when[-1] + step)
    mesh = ax.pcolormesh(
        edges,
        np.arange(len(order) + 1) - 0.5,
        drawn.T,
        cmap="Blues" if drawn.min() >= 0.0 else "RdBu",
        vmin=0.0 if drawn.min() >= 0.0 else -np.abs(drawn).max(),
        vmax=max(float(np.abs(drawn).max()), 1e-12),
    )
    ax.set_yticks(np.arange(len(order)), [in_figure(named[i]) for i in order.tolist()], fontsize=8)
    ax.invert_yaxis()
    others = n - len(order)
    less = "less" if total.sum() > total[order].sum() else "none"
    said = f" ({others} others have {less})" if others else ""
    _title(ax, f"Shares over time{said}", "")
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.01)
    bar.set_label("share", fontsize=9)
    bar.ax.tick_params(labelsize=8)
    _finish(ax, times is not None, grid=False)
    return ax


def _plays(given: Any) -> NDArray[np.float64]:
    rows = given if hasattr(given, "shape") else list(given)
    if isinstance(rows, list) and rows and isinstance(rows[0], Step):
        rows = [step.x for step in rows]
    shares = as_array(rows, "plays")
    if shares.ndim != 2 or not shares.size:
        raise ValueError(
            f"plays must be a row of shares for each round, or the steps of play, got shape "
            f"{shares.shape}"
        )
    return shares


def _figure(columns: int, size: tuple[float, float]) -> Any:
    from matplotlib import pyplot as plt

    _, axes = plt.subplots(1, columns, figsize=size, layout="constrained", squeeze=False)
    return axes[0]


def _when(times: Any, rounds: int) -> Vector:
    """Return where rounds are drawn; times are seconds, or datetimes as an index of pandas has."""
    if getattr(times, "tz", None) is not None:
        times = times.tz_convert(None)  # UTC
    given = None if times is None else np.asarray(times)
    if given is not None and given.dtype.kind == "M":
        times = (given - np.datetime64(0, "s")) / np.timedelta64(1, "s")
    return round_positions(None if times is None else as_vector(times, "times", rounds), rounds)


def _moving_mean(values: Vector) -> Vector:
    """Return the mean of the last fiftieth of the game at each round, of fewer at its beginning."""
    window = max(1, len(values) // SMOOTHED)
    sums = np.append(0.0, values.cumsum())
    ends = np.arange(1, len(values) + 1)
    begins = np.maximum(ends - window, 0)
    return np.asarray((sums[ends] - sums[begins]) / (ends - begins))


def _add_best(ax: Axes, benchmark: Benchmark | None, rounds: int) -> None:
    if benchmark is None:
        return
    if not isinstance(benchmark, Benchmark):
        raise TypeError(
            f"benchmark must be a Benchmark, as hindsight returns it, got {benchmark!r:.60}"
        )
    style: dict[str, Any] = {"color": "0.15", "linewidth": 1.0, "linestyle": ":"}
    ax.axhline(benchmark.cost / rounds, label="best fixed action", **style)


def _title(ax: Axes, title: str, label: str) -> None:
    ax.set_title(in_figure(title), fontsize=10, loc="left")
    ax.set_ylabel(in_figure(label), fontsize=9)


def _finish(ax: Axes, dated: bool, *, grid: bool = True) -> None:
    if dated:
        label_days(ax.xaxis, 7)
        ax.set_xlabel("time, UTC", fontsize=9)
    else:
        ax.set_xlabel("round t", fontsize=9)
    ax.tick_params(labelsize=8)
    plain_frame(ax, visible=grid)
    ax.margins(x=0.0)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize=8)


class Run(NamedTuple):
    """A game of one policy, with its name in figures and tables."""

    name: str
    trace: Trace
    certificate: Certificate


def draw_curves(runs: Sequence[Run], best_costs: Vector, budget: float, path: Path) -> Path:
    """Draw cumulative regret and CCV of several runs and return the path of the figure.

    Args:
        runs: the games, all on the same rounds.
        best_costs: the benchmark's cost in each round.
        budget: the constraint's threshold per round, for percentages.
        path: the picture to write.

    """
    figure, ((left, right),) = canvas(1, 2, 9.5, 3.9)
    T = len(best_costs)
    t = np.arange(1, T + 1)
    for run, colour, dash in zip(runs, COLOURS, DASHES, strict=False):
        style = {"color": colour, "linestyle": dash, "linewidth": 1.8}
        regret = np.cumsum(run.trace.costs - best_costs)
        ccv = np.cumsum(np.maximum(run.trace.violations, 0.0))
        left.plot(t, 100.0 * regret / best_costs.sum(), label=in_figure(run.name), **style)
        right.plot(t, 100.0 * ccv / (T * budget), **style)
    left.axhline(0.0, color="0.6", linewidth=0.8)
    left.set_title("Regret: cost above the best fixed action", fontsize=10, loc="left")
    left.set_ylabel("% of that action's total cost")
    right.set_title("CCV: cumulative constraint violation", fontsize=10, loc="left")
    right.set_ylabel("% of what all rounds ask for")
    right.set_yscale("log")
    right.set_ylim(bottom=1e-2)
    right.yaxis.set_major_formatter("{x:g}")
    for axes in (left, right):
        axes.set_xlabel("round t")
        axes.set_xlim(0, T)
    left.legend(frameon=False, loc="lower left")
    return save_figure(figure, path, dpi=150)
