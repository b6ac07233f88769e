"""A backtest in a table and on one page: what each policy would have done, minute by minute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

from hedgerow.experiments.backtesting import BEST, DEFAULT, Backtest, BacktestRun
from hedgerow.inputs import Vector
from hedgerow.networks.timestamps import written
from hedgerow.problems.measured_routes import Limit
from hedgerow.protocols.service_level import ServiceLevel, shown
from hedgerow.report.dated_axis import days, label_days
from hedgerow.report.document import document, figure_section, plain_table
from hedgerow.report.escaping import in_figure, in_html, in_table
from hedgerow.report.network_figure import draw_network
from hedgerow.report.picture import (
    COLOURS,
    Picture,
    canvas,
    decades,
    legend_above,
    save_figure,
    write_file,
)
from hedgerow.report.plots import plot_compare, plot_shares

MOST_LINES = 7
MOST_ROUTES = 8
"""So many routes are proposed at most."""
SHORT = {"minutes": "min", "rounds": "rounds"}
DPI = 130


def backtest_table(test: Backtest) -> Table:
    """Return the comparison, which fits 80 columns."""
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, 0, 0, 1),
        pad_edge=False,
    )
    for k, heading in enumerate(headings(test)):
        table.add_column(heading, justify="right" if k else "left", no_wrap=True)
    for run in test.runs:
        table.add_row(*(in_table(cell) for cell in cells(test, run)))
    return table


def headings(test: Backtest) -> tuple[str, ...]:
    """Return the heads of the columns, in two lines each."""
    time, cost, limits = _time(test), test.problem.cost, test.problem.limits
    return tuple(
        head
        for head in (
            "policy",
            f"violated\n{SHORT[time]}",
            "\n%",
            f"longest\n{SHORT[time]}",
            f"worst\n{limits[0].quantity.unit}" if len(limits) == 1 else "",
            f"cost\n{cost.unit or cost.name}",
            "switches",
            f"dead\n{SHORT[time]}" if _knows_dead(test) else "",
        )
        if head
    )


def cells(test: Backtest, run: BacktestRun) -> list[str]:
    """Return one row."""
    level = run.any_level
    minutes = level.violated if level.minutes is None else level.minutes
    streak = level.longest_streak if level.streak_minutes is None else level.streak_minutes
    row = [run.name, f"{minutes:.0f}", f"{100.0 * level.share:.1f}", f"{streak:.0f}"]
    if len(run.levels) == 1:
        row.append(shown(run.levels[0].worst))
    row += [f"{run.mean_cost:.4g}", str(run.switches)]
    if _knows_dead(test):
        row.append(f"{run.dead_minutes or 0.0:.1f}")
    return row


def legend(test: Backtest) -> list[str]:
    """Say what the columns mean, line by line."""
    problem, time = test.problem, _time(test)
    kept = "; ".join(str(limit) for limit in problem.limits)
    return [
        f"violated  {time} in which not all was kept: {kept}",
        f"longest   the most {time} in a row",
        *(["worst     the largest violation"] if len(problem.limits) == 1 else []),
        f"cost      {problem.cost.name} per round, mean",
        "switches  rounds after which the main route was another",
        *([f"dead      {time} on a dead link, by share of traffic"] if _knows_dead(test) else []),
        "best in hindsight: a fixed split of the traffic, known only afterwards",
    ]


def each_table(test: Backtest) -> Table | None:
    """Return how well each constraint was kept, where there are several."""
    if len(test.problem.limits) == 1:
        return None
    table = Table(box=SIMPLE_HEAD, padding=(0, 0, 0, 2), pad_edge=False)
    for k, heading in enumerate(
        ("policy", "constraint", f"violated\n{SHORT[_time(test)]}", "worst")
    ):
        table.add_column(heading, justify="right" if k > 1 else "left", no_wrap=k != 1)
    for run in test.runs:
        for k, level in enumerate(run.levels):
            minutes = level.violated if level.minutes is None else level.minutes
            worst = f"{shown(level.worst)} {level.unit}".rstrip()
            first = run.name if k == 0 else ""
            table.add_row(*map(in_table, (first, level.name, f"{minutes:.0f}", worst)))
    return table


def sentences(test: Backtest) -> list[str]:
    """Return what a reader of the table should know."""
    said = [test.problem.feasibility]
    best = test.best
    if best.status == "time limit":
        said.append(
            f"{BEST}: the best fixed action that was found in time, which violates by "
            f"{_violated(test)} in all; there may be a better one."
        )
    else:
        gap = "" if best.status == "optimal" else f" (search ended with status {best.status!r})"
        said.append(f"{BEST}: {best.comparator}{gap}.")
        if best.least and len(test.problem.limits) > 1:
            said.append(f"Constraint by constraint it violates by {_violated(test)} in all.")
    if test.best.status == "optimal":
        more = test.runs[0].trace.regret(best) / max(1, test.problem.horizon)
        word = "above" if more >= 0.0 else "below"
        amount = f"{abs(more):.4g} {test.problem.cost.unit}".rstrip()
        said.append(f"{test.runs[0].name} cost {amount} a round {word} that.")
    proved = test.runs[0].certificate
    if proved is not None and proved.says_nothing is not None:
        said.append(f"The certificate of {test.runs[0].name} {proved.says_nothing}.")
    elif proved is not None:
        than = f"{abs(proved):.4g} {'more' if proved >= 0.0 else 'less'}"
        bound = "at most" if proved >= 0.0 else "at least"
        said.append(
            f"Proved of {test.runs[0].name}, by its own rounds: in all it cost {bound} {than} than "
            f"{proved.comparator}."
        )
    return said


def _violated(test: Backtest) -> str:
    """Return by how much the best fixed action violates each constraint in all."""
    trace, limits = test[BEST].trace, test.problem.limits
    totals = [trace.ccv] if trace.ccv_each is None else trace.ccv_each.tolist()
    parts = [
        f"{shown(total)} {limit.quantity.unit}".rstrip()
        for total, limit in zip(totals, limits, strict=True)
    ]
    if len(parts) == 1:
        return parts[0]
    return ", ".join(f"{part} ({limit})" for part, limit in zip(parts, limits, strict=True))


def advice(test: Backtest, most: int = MOST_ROUTES) -> list[str]:
    """Return the routes to play next, as weights that sum to 100, and what rounding costs."""
    few = test.now.rounded(most)
    played, x = few.weighted(), test.runs[0].following
    lines = [f"{weight:3d}  {name}" for name, weight in few.weights().items()]
    moved = few.moved + played.moved
    if moved < 0.5e-3:
        return [*lines, "Rounding to these weights moves less than 0.1 % of the traffic."]
    *_, (cost, constraint) = test.problem
    return [
        *lines,
        f"Rounding moved {100.0 * moved:.1f} % of the traffic; in the last "
        f"round it changes the cost by {played.change(cost, x):+.3g} and the largest constraint "
        f"value by {played.change(constraint, x):+.3g}.",
    ]


def write_backtest(test: Backtest, folder: Path | str, routes: int = MOST_ROUTES) -> Path:
    """Write backtest.html with its pictures inside, and the pictures beside it; return its path."""
    if not isinstance(test, Backtest):
        raise TypeError(
            f"write_backtest needs a Backtest, as backtest(problem) returns it, got {test!r:.60}"
        )
    folder = Path(folder)
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    pictures = list(_draw(test, figures))
    problem, X = test.problem, test.problem.decision_set
    title = in_html(f"Backtest from {X.source} to {X.target}")  # type: ignore[attr-defined]
    said = "".join(f"<p>{in_html(sentence)}</p>" for sentence in sentences(test))
    heads = [head.replace("\n", " ") for head in headings(test)]
    *weights, rounding = advice(test, routes)
    body = [
        f"<h1>{title}</h1>",
        f'<p class="soft">{in_html(_asked(test))}</p>',
        said,
        "<h2>Comparison</h2>",
        plain_table(heads, (cells(test, run) for run in test.runs)),
        f'<ul class="soft">{"".join(map(_entry, legend(test)))}</ul>',
        "<h2>Each constraint</h2>",
        plain_table(
            ("policy", "constraint", f"violated {SHORT[_time(test)]}", "%", "worst", "p95"),
            (_kept(run, level) for run in test.runs for level in run.levels),
        ),
        '<p class="soft">p95: the violation that 95 % of all rounds do not exceed.</p>',
        "<h2>What to play next</h2>",
        plain_table(("weight", "route"), (line.split(maxsplit=1) for line in weights)),
        f"<p>{in_html(rounding)}</p>",
        "<h2>Pictures</h2>",
        *(figure_section(picture, figures) for picture in pictures),
        "<h2>Record of choices</h2>",
        plain_table(("what", "chosen"), problem.record.items()),
    ]
    return write_file(folder / "backtest.html", document(title, "\n".join(body)))


def _asked(test: Backtest) -> str:
    """Say what was asked for: the cost, the limits, and the rounds."""
    problem, times = test.problem, _times(test)
    when = "" if times is None else f" from {written(int(times[0]))} to {written(int(times[-1]))}"
    return (
        f"Cost: {problem.cost.name}. To be kept: {'; '.join(map(str, problem.limits))}. "
        f"{problem.horizon} rounds{when}."
    )


def _entry(line: str) -> str:
    """Return a line of the legend as an entry of a list, its word in bold."""
    word, _, meaning = line.partition(": " if line.startswith(BEST) else " ")
    return f"<li><b>{in_html(word)}</b>: {in_html(meaning.strip())}</li>"


def _kept(run: BacktestRun, level: ServiceLevel) -> tuple[str, ...]:
    """Return how well a policy kept one constraint."""
    minutes = level.violated if level.minutes is None else level.minutes
    sizes = (f"{shown(value)} {level.unit}".rstrip() for value in (level.worst, level.p95))
    return (run.name, level.name, f"{minutes:.0f}", f"{100.0 * level.share:.1f}", *sizes)


def _draw(test: Backtest, folder: Path) -> Iterator[Picture]:
    """Draw the pictures and yield what they show."""
    problem, X = test.problem, test.problem.decision_set
    times = _times(test)
    for k, limit in enumerate(problem.limits):
        save_figure(_over_time(test, k, limit), folder / f"kept-{k + 1}.png", DPI)
        yield Picture(
            f"kept-{k + 1}",
            f"{limit}: round by round",
            "The learner, and what is done today. Grey: rounds that no action keeps. The dashed "
            "line is the limit.",
        )
    count = len(problem.limits)
    figure, axes = canvas(1, 1 + count, 5.5 * (1 + count), 4.0)
    traces = {run.name: run.trace for run in test.runs[:MOST_LINES]}
    mean, *sums = plot_compare(traces, axes=axes[0], times=times)
    mean.set_ylabel(in_figure(f"{problem.cost.unit or problem.cost.name} a round"), fontsize=9)
    for ax, limit in zip(sums, problem.limits, strict=True):
        which = "" if count == 1 else f": {limit}"
        ax.set_title(in_figure(f"Violation so far, added up (CCV){which}"), fontsize=10, loc="left")
        ax.set_ylabel(in_figure(limit.quantity.unit or limit.quantity.name), fontsize=9)
    if (inside := mean.get_legend()) is not None:
        inside.remove()  # it would cover lines
    legend_above(figure, mean)
    save_figure(figure, folder / "compared.png", DPI)
    yield Picture("compared", "Cost and violation so far", "All policies on the same rounds.")
    names = [f"{a} → {b}" for a, b in X.edges]  # type: ignore[attr-defined]
    used = int(np.count_nonzero(test.runs[0].plays.max(axis=0)))
    figure, axes = canvas(1, 1, 11.0, 1.2 + 0.26 * min(25, used))
    plot_shares(test.runs[0].plays, names, axes[0, 0], times=times)
    save_figure(figure, folder / "shares.png", DPI)
    yield Picture("shares", f"Who carried what: {test.runs[0].name}", "Darker is more traffic.")
    ends = [problem.network.nodes.index(node) for node in (X.source, X.target)]  # type: ignore[attr-defined]
    marked = replace(problem.network, source=ends[0], target=ends[1])
    draw_network(marked, folder / "network.png")
    yield Picture("network", "The network", "Links as they were read, and their quantities.")


def _over_time(test: Backtest, k: int, limit: Limit) -> Any:
    """Draw one constrained quantity of the learner and of the others over time."""
    problem, times = test.problem, _times(test)
    others = [run for run in test.runs if run.name not in (DEFAULT, BEST, "hedgerow, plain")]
    figure, axes = canvas(len(others), 1, 11.0, 1.0 + 1.55 * len(others))
    when = days(times) if times is not None else np.arange(1.0, problem.horizon + 1.0)
    mine = _values(test.runs[0], k, limit)
    drawn = [mine, *(_values(run, k, limit) for run in others)]
    high = max(float(values.max()) for values in drawn)
    low = min(float(values.min()) for values in drawn)
    log = low > 0.0 and high > 10.0 * max(abs(limit.level), 1e-300)
    hopeless = problem.unavoidable > 0.0
    for ax, run in zip(axes[:, 0], others, strict=True):
        ax.fill_between(
            when, 0, 1, where=hopeless, transform=ax.get_xaxis_transform(), color="0.8", step="mid"
        )
        style = {"linewidth": 0.9, "alpha": 0.9}
        ax.plot(when, _values(run, k, limit), color=COLOURS[1], label=in_figure(run.name), **style)
        ax.plot(when, mine, color=COLOURS[0], label=in_figure(test.runs[0].name), **style)
        line = 0.0 if limit.kind == "capacity" else limit.level
        ax.axhline(line, color="0.1", linewidth=1.0, linestyle=(0, (4, 3)))
        if log:
            ax.set_yscale("log")
            decades(ax.yaxis, *ax.get_ylim())
        above = {"loc": "lower left", "bbox_to_anchor": (0.0, 0.98), "borderaxespad": 0.0}
        ax.legend(frameon=False, fontsize=8, ncols=2, **above)
        unit = limit.quantity.unit or limit.quantity.name
        ax.set_ylabel(in_figure(f"{unit} over" if limit.kind == "capacity" else unit), fontsize=8)
        ax.tick_params(labelsize=8, labelbottom=ax is axes[-1, 0])
        ax.margins(x=0.0)
        if times is not None:
            label_days(ax.xaxis, 9)
    axes[-1, 0].set_xlabel("round t" if times is None else "time, UTC", fontsize=9)
    return figure


def _values(run: BacktestRun, k: int, limit: Limit) -> Vector:
    """Return what was constrained, in its own unit: what is violated, plus the level."""
    each = run.trace.violations_each
    values = run.trace.violations if each is None else each[k]
    if limit.kind == "capacity":
        return values
    return values + limit.level if limit.kind == "cap" else limit.level - values


def _times(test: Backtest) -> Vector | None:
    """Return when the rounds were, where all of them have a time."""
    times = test.problem.network.times
    return times if times is not None and len(times) == test.problem.horizon else None


def _time(test: Backtest) -> str:
    return "rounds" if test.problem.round_minutes is None else "minutes"


def _knows_dead(test: Backtest) -> bool:
    return any(run.dead_minutes is not None for run in test.runs)
