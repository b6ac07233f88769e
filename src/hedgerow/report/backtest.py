"""A backtest as a table and as a page with figures: every policy on the recorded rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from hedgerow.experiments.backtesting import BEST, PLAIN, Backtest, BacktestRun
from hedgerow.functions import parts_of
from hedgerow.inputs import Vector
from hedgerow.networks.timestamps import format_time
from hedgerow.problems.measured_routes import Limit
from hedgerow.protocols.service_level import ServiceLevel, shown
from hedgerow.report.document import document, figure_section, plain_table
from hedgerow.report.escaping import in_figure, in_html, terminal_table
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
    write_file,
)
from hedgerow.report.plots import plot_compare, plot_shares, plot_voices

MOST_LINES = 10
MOST_ROUTES = 8
"""The most routes that are proposed."""
SHORT = {"minutes": "min", "rounds": "rounds"}
DPI = 130


class _Column(NamedTuple):
    """A column of the comparison: its heading, its cell for a policy, and what it means."""

    head: str
    cell: Callable[[BacktestRun], str]
    meaning: str = ""


def _columns(test: Backtest) -> list[_Column]:
    """Return the columns of the comparison; headings have two lines."""
    time, cost, limits = _time(test), test.problem.cost, test.problem.limits
    violated = f"{time} in which a constraint was violated: {'; '.join(map(str, limits))}"
    columns = [
        _Column("policy", lambda run: run.name),
        _Column(f"violated\n{SHORT[time]}", lambda run: _violated_time(run.any_level), violated),
        _Column("\n%", lambda run: f"{100.0 * run.any_level.share:.1f}"),
        _Column(f"longest\n{SHORT[time]}", _longest, f"the most {time} in a row"),
    ]
    if len(limits) == 1:
        unit, meaning = limits[0].quantity.unit, "the largest violation"
        columns.append(_Column(f"worst\n{unit}", lambda run: shown(run.levels[0].worst), meaning))
    per_round = f"{cost.name} per round, mean"
    columns += [
        _Column(f"cost\n{cost.unit or cost.name}", lambda run: f"{run.mean_cost:.4g}", per_round),
        _Column(
            "switches",
            lambda run: str(run.switches),
            "rounds after which the main route was another",
        ),
    ]
    if any(run.dead_minutes is not None for run in test.runs):
        meaning = f"{time} on a dead link, by share of traffic"
        dead = _Column(
            f"dead\n{SHORT[time]}", lambda run: f"{run.dead_minutes or 0.0:.1f}", meaning
        )
        columns.append(dead)
    return columns


def _longest(run: BacktestRun) -> str:
    level = run.any_level
    return f"{level.longest_streak if level.streak_minutes is None else level.streak_minutes:.0f}"


def backtest_table(test: Backtest) -> Table:
    """Return the comparison, which fits 80 columns."""
    columns = _columns(test)
    rows = [[column.cell(run) for column in columns] for run in test.runs]
    return terminal_table([column.head for column in columns], rows, "lr", padding=(0, 0, 0, 1))


def legend(test: Backtest) -> list[str]:
    """Return what the columns mean, line by line."""
    return [
        *(f"{c.head.split()[0]:<10}{c.meaning}" for c in _columns(test) if c.meaning),
        f"{BEST}: a fixed split of the traffic, known only afterwards",
    ]


def each_table(test: Backtest) -> Table | None:
    """Return the violations of each constraint, where there are several."""
    if len(test.problem.limits) == 1:
        return None
    rows = []
    for run in test.runs:
        for k, level in enumerate(run.levels):
            name, constraint, violated, _, worst, _ = _level_cells(run, level)
            rows.append(("" if k else name, constraint, violated, worst, _in_all(run, k)))
    heads = ("policy", "constraint", f"violated\n{SHORT[_time(test)]}", "worst", "CCV")
    return terminal_table(heads, rows, "lfr", padding=(0, 0, 0, 2))


def _level_cells(run: BacktestRun, level: ServiceLevel) -> tuple[str, ...]:
    """Return how long, how often and how far a policy violated one constraint."""
    sizes = (f"{shown(value)} {level.unit}".rstrip() for value in (level.worst, level.p95))
    return (run.name, level.name, _violated_time(level), f"{100.0 * level.share:.1f}", *sizes)


def _in_all(run: BacktestRun, k: int) -> str:
    """Return the CCV of one of several constraints, in its unit."""
    each = run.trace.ccv_each
    assert each is not None
    return f"{shown(float(each[k]))} {run.levels[k].unit}".rstrip()


def _violated_time(level: ServiceLevel) -> str:
    return f"{level.violated if level.minutes is None else level.minutes:.0f}"


def sentences(test: Backtest) -> list[str]:
    """Return remarks on the table: feasibility, the benchmark, and what was proved."""
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
    learner = test.runs[0]
    if best.status == "optimal":
        more = learner.trace.regret(best) / max(1, test.problem.horizon)
        word = "above" if more >= 0.0 else "below"
        amount = f"{abs(more):.4g} {test.problem.cost.unit}".rstrip()
        said.append(f"{learner.name} cost {amount} per round {word} that.")
    proved = learner.certificate
    if proved is not None and proved.says_nothing is not None:
        said.append(f"The certificate of {learner.name} {proved.says_nothing}.")
    elif proved is not None:
        than = f"{abs(proved):.4g} {'more' if proved >= 0.0 else 'less'}"
        bound = "at most" if proved >= 0.0 else "at least"
        said.append(
            f"Proved of {learner.name}, by its own rounds: in all it cost {bound} {than} than "
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


def next_weights(test: Backtest, most: int = MOST_ROUTES) -> list[str]:
    """Return the routes for the next round, as weights that sum to 100, and what rounding costs."""
    few = test.now.rounded(most)
    decided, x = few.weighted(), test.runs[0].following
    lines = [f"{weight:3d}  {name}" for name, weight in few.weights().items()]
    moved = few.moved + decided.moved
    if moved < 0.5e-3:
        return [*lines, "Rounding to these weights moves less than 0.1 % of the traffic."]
    *_, (cost, constraint) = test.problem
    changes = f"the largest constraint value by {decided.change(constraint, x):+.3g}"
    limits, parts = test.problem.limits, parts_of(constraint)
    if len(limits) > 1:  # their values have no common unit
        changes = ", ".join(
            f"{f'{decided.change(part, x):+.3g} {limit.unit}'.rstrip()} of {limit}"
            for limit, part in zip(limits, parts, strict=True)
        )
        changes = f"the constraint values by {changes}"
    return [
        *lines,
        f"Rounding moved {100.0 * moved:.1f} % of the traffic; in the last "
        f"round it changes the cost by {decided.change(cost, x):+.3g} and {changes}.",
    ]


def write_backtest(test: Backtest, folder: Path | str, routes: int = MOST_ROUTES) -> Path:
    """Write backtest.html with its figures embedded, and the figures beside it; return its path."""
    if not isinstance(test, Backtest):
        raise TypeError(
            f"write_backtest needs a Backtest, as backtest(problem) returns it, got {test!r:.60}"
        )
    folder = Path(folder)
    figures = folder / "figures"
    pictures = list(_draw(test, figures))
    problem, X = test.problem, test.problem.decision_set
    title = in_html(f"Backtest from {X.source} to {X.target}")  # type: ignore[attr-defined]
    columns = _columns(test)
    several = ("CCV",) if len(problem.limits) > 1 else ()
    *weights, rounding = next_weights(test, routes)
    body = [
        f"<h1>{title}</h1>",
        f'<p class="soft">{in_html(_asked(test))}</p>',
        "".join(f"<p>{in_html(sentence)}</p>" for sentence in sentences(test)),
        "<h2>Comparison</h2>",
        plain_table(
            [column.head.replace("\n", " ") for column in columns],
            ([column.cell(run) for column in columns] for run in test.runs),
        ),
        f'<ul class="soft">{"".join(map(_entry, legend(test)))}</ul>',
        "<h2>Each constraint</h2>",
        plain_table(
            (
                *("policy", "constraint", f"violated {SHORT[_time(test)]}", "%", "worst", "p95"),
                *several,
            ),
            (
                (*_level_cells(run, level), *(_in_all(run, k) for _ in several))
                for run in test.runs
                for k, level in enumerate(run.levels)
            ),
        ),
        '<p class="soft">p95: the violation that 95 % of all rounds do not exceed.</p>',
        "<h2>Decision for the next round</h2>",
        plain_table(("weight", "route"), (line.split(maxsplit=1) for line in weights)),
        f"<p>{in_html(rounding)}</p>",
        "<h2>Figures</h2>",
        *(figure_section(picture, figures) for picture in pictures),
        "<h2>Record of choices</h2>",
        plain_table(("what", "chosen"), problem.record.items()),
    ]
    return write_file(folder / "backtest.html", document(title, "\n".join(body)))


def _asked(test: Backtest) -> str:
    """Return the question: the cost, the limits, and the rounds."""
    problem, times = test.problem, _times(test)
    when = ""
    if times is not None:
        when = f" from {format_time(int(times[0]))} to {format_time(int(times[-1]))}"
    return (
        f"Cost: {problem.cost.name}. Constraints: {'; '.join(map(str, problem.limits))}. "
        f"{problem.horizon} rounds{when}."
    )


def _entry(line: str) -> str:
    """Return a line of the legend as an entry of a list, its term in bold."""
    word, _, meaning = line.partition(": " if line.startswith(BEST) else " ")
    return f"<li><b>{in_html(word)}</b>: {in_html(meaning.strip())}</li>"


def _draw(test: Backtest, folder: Path) -> Iterator[Picture]:
    """Draw the figures, and yield the name, heading and caption of each."""
    problem, X = test.problem, test.problem.decision_set
    times = _times(test)
    for k, limit in enumerate(problem.limits):
        save_figure(_over_time(test, k, limit), folder / f"kept-{k + 1}.png", DPI)
        yield Picture(
            f"kept-{k + 1}",
            f"{limit}: round by round",
            "The learner and the other policies. Grey: rounds that no action satisfies. The dashed "
            "line is the limit.",
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
    problem, times = test.problem, _times(test)
    others = [run for run in test.runs if run.name not in (test.runs[0].name, BEST, PLAIN)]
    figure, axes = canvas(len(others), 1, 11.0, 1.0 + 1.55 * len(others))
    when = round_positions(times, problem.horizon)
    mine = _values(test.runs[0], k, limit)
    drawn = [mine, *(_values(run, k, limit) for run in others)]
    high = max(float(values.max()) for values in drawn)
    low = min(float(values.min()) for values in drawn)
    log = low > 0.0 and high > 10.0 * max(abs(limit.level), 1e-300)
    infeasible = problem.unavoidable > 0.0
    for ax, run in zip(axes[:, 0], others, strict=True):
        grey = {"transform": ax.get_xaxis_transform(), "color": "0.8", "step": "mid"}
        ax.fill_between(when, 0, 1, where=infeasible, **grey)
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
    """Return the constrained quantity in its own unit: the constraint's value, plus the level."""
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
