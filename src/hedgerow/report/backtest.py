"""A backtest as a table and as a page with figures: every policy on the recorded rounds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.table import Table

from hedgerow.experiments.backtesting import BEST, Backtest, BacktestRun
from hedgerow.functions import parts_of
from hedgerow.networks.timestamps import format_time
from hedgerow.policies.certificate import Certificate
from hedgerow.protocols.service_level import ServiceLevel, shown
from hedgerow.report.backtest_figures import draw_figures, draw_verdict, round_times
from hedgerow.report.backtest_verdict import bad_time, better_in_both, time_noun, verdict
from hedgerow.report.document import document, figure_section, plain_table, soft
from hedgerow.report.escaping import in_html, terminal_table
from hedgerow.report.picture import write_file

MOST_ROUTES = 8
"""The most routes that are proposed."""
SHORT = {"minute": "min", "round": "rounds"}
STYLE = ".verdict { font-size: 1.2rem; line-height: 1.4; font-weight: 600; max-width: 60rem; }"
"""Beside the style of all pages."""


class _Column(NamedTuple):
    """A column of the comparison: its heading, its cell for a policy, and what it means."""

    head: str
    cell: Callable[[BacktestRun], str]
    meaning: str = ""


def _columns(test: Backtest) -> list[_Column]:
    """Return the columns of the comparison; headings have two lines."""
    noun, cost, limits = time_noun(test), test.problem.cost, test.problem.limits
    columns = [
        _Column("policy", lambda run: run.name),
        _Column(
            f"over\n{SHORT[noun]}",
            lambda run: f"{bad_time(run.any_level):.0f}",
            f"{noun}s over a limit, and their share: {'; '.join(map(str, limits))}",
        ),
        _Column("\n%", lambda run: f"{100.0 * run.any_level.share:.1f}"),
    ]
    if len(limits) == 1:
        unit = limits[0].quantity.unit
        meaning = {
            "mean": "violation per round; rounds without one count as 0",
            "total": "all violations added up (CCV)",
            "worst": "the largest violation",
        }
        columns += [
            _Column(f"{name}\n{unit}", partial(_size, name=name), meaning[name]) for name in meaning
        ]
    columns += [
        _Column(
            f"cost\n{cost.unit or cost.name}",
            lambda run: f"{run.mean_cost:.4g}",
            f"{cost.name} per round, mean",
        ),
        _Column("switches", lambda run: str(run.switches), "how often the main route changed"),
    ]
    if any(run.dead_minutes is not None for run in test.runs):
        columns.append(
            _Column(
                f"dead\n{SHORT[noun]}",
                lambda run: f"{run.dead_minutes or 0.0:.1f}",
                f"{noun}s on a dead link, by share of traffic",
            )
        )
    return columns


def _size(run: BacktestRun, name: str) -> str:
    """Return the mean, total or worst violation of the one limit."""
    return shown(float(getattr(run.levels[0], name)))


def backtest_table(test: Backtest) -> Table:
    """Return the comparison, which fits 80 columns."""
    columns = _columns(test)
    rows = [[column.cell(run) for column in columns] for run in test.runs]
    return terminal_table([column.head for column in columns], rows, "lr", padding=(0, 0, 0, 1))


def legend(test: Backtest) -> list[str]:
    """Return the order of the rows and what the columns mean, line by line."""
    return [
        "rows      the learner, then the rules that are usual today, then the best in hindsight",
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
            name, *cells = _level_cells(run, level)
            rows.append(("" if k else name, *cells[:2], *cells[4:7]))
    heads = ("policy", "constraint", f"over\n{SHORT[time_noun(test)]}", *LEVELS[4:7])
    return terminal_table(heads, rows, "lfr", padding=(0, 0, 0, 1))


LEVELS = ("constraint", "over", "%", "longest", "mean", "total", "worst", "p95")
"""What the page tells of each constraint."""


def _level_cells(run: BacktestRun, level: ServiceLevel) -> tuple[str, ...]:
    """Return how long, how often and how far a policy violated one constraint, as `LEVELS`."""
    sizes = (level.mean, level.total, level.worst, level.p95)
    streak = level.longest_streak if level.streak_minutes is None else level.streak_minutes
    return (
        run.name,
        level.name,
        f"{bad_time(level):.0f}",
        f"{100.0 * level.share:.1f}",
        f"{streak:.0f}",
        *(f"{shown(size)} {level.unit}".rstrip() for size in sizes),
    )


def sentences(test: Backtest) -> list[str]:
    """Return remarks on the table: feasibility, the benchmark, and what was proved."""
    said = [better_in_both(test), test.problem.feasibility]
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
    if learner.certificate is not None:
        said.append(certificate_sentence(test, learner.certificate))
    return said


def certificate_sentence(test: Backtest, proved: Certificate) -> str:
    """Return what is proved of the learner's cost, or that and why nothing is."""
    limits, unit = test.problem.limits, test.problem.cost.unit
    if proved.says_nothing is not None:
        return f"The certificate {proved.says_nothing}."
    amount = f"{abs(proved):.4g} {unit}".rstrip()
    bound = f"at most {amount} more" if proved >= 0.0 else f"at least {amount} less"
    budgets = proved.budget if isinstance(proved.budget, tuple) else (proved.budget,)
    split = "meets the limits in all rounds"
    if any(budgets):
        units = [limit.unit for limit in limits]
        parts = (f"{shown(b)} {u}".rstrip() for b, u in zip(budgets, units, strict=False))
        split = f"violates the limits by at most {', '.join(parts)} in total"
    name = test.runs[0].name
    return (
        f"Certificate: over the run {name[0].upper()}{name[1:]} cost {bound} than any fixed split "
        f"that {split}."
    )


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
    first, pictures = draw_verdict(test, figures), list(draw_figures(test, figures))
    problem, X = test.problem, test.problem.decision_set
    title = in_html(f"Backtest from {X.source} to {X.target}")  # type: ignore[attr-defined]
    columns = _columns(test)
    *weights, rounding = next_weights(test, routes)
    noun = SHORT[time_noun(test)]
    body = [
        f"<h1>{title}</h1>",
        f'<p class="verdict">{in_html(verdict(test))}</p>',
        f'<p class="soft">{in_html(_asked(test))}</p>',
        figure_section(first, figures, narrow="verdict-narrow"),
        "<h2>Comparison</h2>",
        plain_table(
            [column.head.replace("\n", " ") for column in columns],
            ([column.cell(run) for column in columns] for run in test.runs),
        ),
        "<h2>Decision for the next round</h2>",
        plain_table(("weight", "route"), (line.split(maxsplit=1) for line in weights)),
        f"<p>{in_html(rounding)}</p>",
        "<h2>More figures</h2>",
        *(figure_section(picture, figures) for picture in pictures),
        "<h2>Each constraint</h2>",
        plain_table(
            ("policy", "constraint", f"over {noun}", "%", f"longest {noun}", *LEVELS[4:]),
            (_level_cells(run, level) for run in test.runs for level in run.levels),
        ),
        '<p class="soft">longest: without a pause. p95: the violation that 95 % of all rounds do '
        "not exceed.</p>",
        "<h2>What this means</h2>",
        "".join(f"<p>{in_html(sentence)}</p>" for sentence in sentences(test)),
        f'<ul class="soft">{"".join(map(_entry, legend(test)))}</ul>',
        "<h2>Record of choices</h2>",
        *(soft(remark) for remark in problem.network.provenance.get("remarks", ())),
        plain_table(("what", "chosen"), problem.record.items()),
    ]
    return write_file(folder / "backtest.html", document(title, "\n".join(body), style=STYLE))


def _asked(test: Backtest) -> str:
    """Return the question: the cost, the limits, and the rounds."""
    problem, times = test.problem, round_times(test)
    when = ""
    if times is not None:
        when = f" from {format_time(int(times[0]))} to {format_time(int(times[-1]))}"
    return (
        f"Cost: {problem.cost.name}. Constraints: {'; '.join(map(str, problem.limits))}. "
        f"{problem.horizon} rounds{when}. {problem.missing}"
    ).rstrip()


def _entry(line: str) -> str:
    """Return a line of the legend as an entry of a list, its term in bold."""
    word, _, meaning = line.partition(": " if line.startswith(BEST) else " ")
    return f"<li><b>{in_html(word)}</b>: {in_html(meaning.strip())}</li>"
