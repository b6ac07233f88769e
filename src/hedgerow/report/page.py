"""The page of an experiment: the answers first, then the figures and tables behind them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.protocols.limits import numbered
from hedgerow.report.document import (
    document,
    figure_section,
    folded,
    plain_table,
    soft,
    titled_table,
)
from hedgerow.report.escaping import in_html
from hedgerow.report.figures import draw_all
from hedgerow.report.headline import (
    AXES,
    RANKS,
    Answer,
    answers,
    headline_place,
    headline_rows,
    headline_styles,
    place_title,
    standings,
    what_was_run,
)
from hedgerow.report.interactive import (
    HINT,
    NO_BOKEH,
    has_bokeh,
    keys,
    panels_section,
    scripts,
    swatches,
)
from hedgerow.report.latex import as_latex
from hedgerow.report.naming import Names
from hedgerow.report.picture import Picture, preset_title, write_file
from hedgerow.report.provenance import choices, how_far, mixture
from hedgerow.report.summary import (
    MethodConfig,
    ProblemAtHorizon,
    Rate,
    Row,
    Summary,
    growth_rates,
    three_digits,
)
from hedgerow.report.tables import as_csv
from hedgerow.report.verdicts import (
    RULE,
    STAND_INS,
    Part,
    Verdict,
    format_p,
    route_place,
    verdicts,
)

LINKS = {"answers": "Answers", "verdicts": "Verdicts", "others": "All methods", "tables": "Tables",
         "choices": "Choices"}  # fmt: skip
HEADS = (
    "method", "e", "regret %", "CCV %", "ranks", "calls", "projections", "µs per round", "ran",
    "seeds",
)  # fmt: skip

POINTS = (
    "Points: the claim's method minus the other, in percent as above, seed by seed. A verdict is "
    "about the methods that are named below it. With practical constants Algorithm 2 is Hedgerow's "
    "default; with the theorems' constants it is as published."
)
MOST_CONSTRAINTS = 8
EACH = (
    "The CCV of each constraint by itself, in % of the unconstrained action's CCV as above. In a "
    "method's CCV a round counts once, with its largest violation, so the columns may add up to "
    "more."
)
EACH_IN_ITS_UNIT = (
    "The CCV of each constraint by itself, in its own unit. In a method's CCV a round counts once, "
    "with the largest violation after each was divided by its size, such as the limit."
)
UNITS = (
    "Regret: cost above that of the best fixed action that satisfies every round's constraint, in "
    "% of that action's cost or of the unconstrained action's, whichever is larger; negative where "
    "violation bought cost. CCV: cumulative constraint violation, the sum of max(0, g_t), in % of "
    "that of the unconstrained action, the best fixed action that ignores the constraint. ±: half "
    "the 95 % interval over seeds. e: eagerness, the tuned factor of the methods that have one; "
    "each method is shown at the value nearest to 1, and all are in table.csv. Ranks are by regret "
    "and by CCV among those with the same kind of constants; bold: no other method is as good in "
    "both and better in one. Calls: linear minimisations per round. Time: median of the game, "
    "without drawing rounds that fit in memory. Games that ran compiled are one compiled loop, the "
    "others ran in Python through play: between the two, times compare code, not algorithms; an "
    "empty cell means that it was not recorded."
)
SERVICE_HEADS = ("method", "constraint", "violated %", "worst", "p95", "longest", "minutes", "unit")
SERVICE = (
    "Violated: the share of rounds with a violation. Worst and p95: the largest violation, and "
    "what 95 % of all rounds do not exceed, in the constraint's unit. Longest: the most violated "
    "rounds in a row, or minutes where a round's length is known. Means over seeds; worst and "
    "longest are the largest."
)


def write_report(summary: Summary, folder: Path | str) -> Path:
    """Write report.html, its figures, and tables as CSV and LaTeX; return the page's path.

    Figures are interactive where Bokeh is installed. PNG and PDF of each are in `figures`;
    `table.csv` and `table.tex` have every row, `headline.tex` the methods that the page opens with.
    """
    if not isinstance(summary, Summary):
        raise TypeError(
            f"write_report needs a summary, Summary(Results(folder)), got {summary!r:.60}"
        )
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rates = growth_rates(summary)
    pictures = draw_all(summary, rates, folder / "figures")
    write_file(folder / "table.csv", as_csv(summary))
    write_file(folder / "table.tex", as_latex(summary, summary.rows))
    preset = summary.presets[0]
    opening = [row for place in summary.places for row in headline_rows(summary, place, preset)]
    write_file(folder / "headline.tex", as_latex(summary, opening))
    page = _page(summary, rates, pictures, folder / "figures")
    return write_file(folder / "report.html", page)


def _page(
    summary: Summary, rates: Sequence[Rate], pictures: Sequence[Picture], figures: Path
) -> str:
    name = in_html(str(summary.results.experiment["name"]))
    live = has_bokeh() and bool(pictures)

    def show(part: str) -> list[str]:
        return [_shown(picture, figures, live) for picture in pictures if picture.part == part]

    place, claims = headline_place(summary), route_place(summary)
    preset = summary.presets[0]
    opening = [row.config.method for row in headline_rows(summary, place, preset)]
    parts = _head(summary, claims is not None)
    title = f"{place_title(summary, place)}, {preset_title(preset)}"
    parts.append(f'<h2 id="answers">{in_html(title)}</h2>')
    parts.append(_list(answers(summary, place, preset)))
    parts += [f"<h3>Each problem, {in_html(preset_title(preset))}</h3>", soft(RANKS)]
    parts.append(_list(standings(summary, preset)))
    styles = headline_styles(summary)
    if live:
        parts.append(keys(opening, preset, styles) + soft(HINT))
    parts += [*show("headline"), _axes(), *show("plane")]
    if claims is not None:
        parts.append(verdict_section(verdicts(summary, claims), claims))
    others = [name for name in summary.results.experiment["methods"] if name not in opening]
    parts.append('<h2 id="others">All methods, all problems</h2>')
    if live and others:
        parts.append(folded("Mark or hide other methods", keys(others, preset, styles)))
    parts += [
        folded(picture.heading, _shown(picture, figures, live))
        for picture in pictures
        if picture.part == "others"
    ]
    parts += ['<h2 id="tables">Tables</h2>', folded("What the columns mean", soft(UNITS))]
    parts += _tables(summary)
    parts.append(_folded("Growth with the horizon", _growth_section(summary.names, rates)))
    parts.append(_folded("Methods that a problem does not allow", _refusal_section(summary)))
    parts.append(_unjudged_section(summary))
    parts.append('<h2 id="choices">Record of choices</h2>')
    table = plain_table(("what", "kind", "why"), choices(summary))
    parts.append(folded("What the paper leaves open, and where everything comes from", table))
    if not has_bokeh():
        parts.append(soft(NO_BOKEH))
    if not live:
        return document(name, "\n".join(parts))
    return document(name, "\n".join(parts), scripts(), swatches(styles))


def _shown(picture: Picture, figures: Path, live: bool) -> str:
    if live and picture.panels is not None:
        return panels_section(picture, picture.panels())
    return figure_section(picture, figures)


def _folded(title: str, body: str) -> str:
    return folded(title, body) if body else ""


def _tables(summary: Summary) -> list[str]:
    """Return the tables of every problem and preset, the first one open."""
    found: list[str] = []
    for place in summary.places:
        for preset in summary.presets:
            if rows := summary.at(place, preset):
                parts = (
                    _table_section(summary, place, preset, rows),
                    _each_section(summary, place, preset, rows),
                    _folded(
                        "How often and how far", _service_section(summary, place, preset, rows)
                    ),
                )
                title = f"{place_title(summary, place)}, {preset_title(preset)}"
                found.append("".join(parts) if not found else folded(title, "".join(parts)))
    return found


def _head(summary: Summary, judged: bool) -> list[str]:
    experiment = summary.results.experiment
    parts = [f"<h1>{in_html(str(experiment['about']))}</h1>"]
    far = how_far(summary.results)
    if "not finished" in far:
        parts.append(f'<p class="warn">{in_html(far)}.</p>')
    if mixed := mixture(summary.results):
        parts.append(f'<p class="warn">{in_html(mixed)}.</p>')
    parts += map(soft, what_was_run(summary))
    shown = [key for key in LINKS if judged or key != "verdicts"]
    links = "".join(f'<a href="#{key}">{LINKS[key]}</a>' for key in shown)
    return [*parts, f"<nav>{links}</nav>"]


def _list(said: Sequence[Answer]) -> str:
    lines = "".join(f"<dt>{in_html(a.question)}</dt><dd>{in_html(a.answer)}</dd>" for a in said)
    return f'<dl class="answers">{lines}</dl>'


def _axes() -> str:
    axes = "".join(
        f'<li class="soft"><strong>{name}</strong>: {in_html(text)}</li>'
        for name, text in AXES.items()
    )
    return f'<ul class="axes">{axes}</ul>'


def verdict_section(judged: Sequence[Verdict], place: ProblemAtHorizon) -> str:
    """Return the claims in a compact table, and every number in one that is folded."""
    presets = list(dict.fromkeys(part.preset for verdict in judged for part in verdict.parts))
    first = presets[0] if presets else "practical"
    heads = [
        "claim",
        preset_title(first),
        "number",
        "p",
        *(preset_title(preset) for preset in presets[1:]),
    ]
    head = "".join(f"<th>{in_html(name)}</th>" for name in heads)
    rows = "".join(_line(verdict, first, presets[1:]) for verdict in judged)
    names = ("claim", "constants", "compared", "verdict", "p", "numbers")
    cells = [
        (
            *(verdict.claim, part.preset, part.compared, part.verdict),
            *(format_p(part.p), part.numbers),
        )
        for verdict in judged
        for part in verdict.parts or (Part("", verdict.outcome, verdict.verdict, "", "", 1.0),)
    ]
    details = soft(RULE) + plain_table(names, cells)
    return (
        f'<h2 id="verdicts">The claims of Sarkar et al. 2026</h2>'
        f"{soft(f'On {place}. {POINTS} {STAND_INS}')}"
        f'<table class="claims"><tr>{head}</tr>{rows}</table>'
        f"{folded('How a claim is judged, and all numbers', details)}"
    )


def _line(verdict: Verdict, first: str, others: Sequence[str]) -> str:
    parts = {part.preset: part for part in verdict.parts}
    one = parts.get(first)
    cells = [f'<td class="claim">{in_html(verdict.claim)}</td>']
    if one is None:
        cells.append(f'<td class="{verdict.outcome}">{in_html(verdict.verdict)}</td>')
        cells.append("<td></td><td></td>")
    else:
        named = f'<div class="soft">{in_html(one.compared)}</div>'
        cells.append(f'<td class="{one.outcome}">{in_html(one.verdict)}{named}</td>')
        cells.append(f"<td>{in_html(one.number)}</td>")
        cells.append(f'<td class="n" data-head="p">{in_html(format_p(one.p))}</td>')
    for preset in others:
        part = parts.get(preset)
        said = in_html(part.verdict.split(":")[0]) if part else ""
        outcome = part.outcome if part else "untested"
        cells.append(
            f'<td class="{outcome}" data-head="{in_html(preset_title(preset))}">{said}</td>'
        )
    return f"<tr>{''.join(cells)}</tr>"


def _table_section(
    summary: Summary, place: ProblemAtHorizon, preset: str, rows: Sequence[Row]
) -> str:
    """Return the rows of one problem and preset, best ranks first."""
    head = "".join(f"<th{' class=n' if k else ''}>{name}</th>" for k, name in enumerate(HEADS))
    lines = []
    for row in _best_first(rows):
        own = row.config.method in summary.names.highlighted
        style = ' class="highlighted"' if own else ""
        name = in_html(summary.names.in_code(*row.config[:2]))
        cells = (
            f"{row.config.eagerness:g}",
            str(row.regret),
            str(row.ccv),
            f"{row.rank[0]} / {row.rank[1]}",
            f"{row.oracle_calls:.2f}",
            f"{row.projections:.2f}",
            three_digits(row.microseconds),
            row.ran,
            str(row.runs),
        )
        front = ' class="front"' if row.undominated else ""
        numbers = "".join(f'<td class="n">{cell}</td>' for cell in cells)
        method = in_html(row.config.method)
        lines.append(f'<tr{style} data-method="{method}"><td{front}>{name}</td>{numbers}</tr>')
    title = in_html(f"{place}, {preset_title(preset)}, best sum of ranks first")
    return f'<h3>{title}</h3><div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def _best_first(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: sum(row.rank))


def _each_section(
    summary: Summary, place: ProblemAtHorizon, preset: str, rows: Sequence[Row]
) -> str:
    """Return the CCV of each constraint; empty where rounds have one, or not always as many."""
    counts = {len(row.ccv_each) for row in rows}
    if counts == {0} or len(counts) > 1:
        return ""
    (count,) = counts
    totals = [sum(row.ccv_each[k].value for row in rows) for k in range(count)]
    limits = rows[0].limits
    by_size = range(count) if limits else sorted(range(count), key=lambda k: -totals[k])
    worst = by_size[:MOST_CONSTRAINTS]
    cells = [
        (
            summary.names.in_code(*row.config[:2]),
            str(row.ccv),
            *(str(row.ccv_each[k]) for k in sorted(worst)),
        )
        for row in _best_first(rows)
    ]
    names = [str(limit) for limit in limits or numbered((), count)]
    heads = ("method", "CCV %", *(names[k] for k in sorted(worst)))
    most = "" if limits else " with the most"
    first = "first " if limits else ""
    some = f" The {first}{len(worst)} of {count}{most} are shown." if len(worst) < count else ""
    about = EACH_IN_ITS_UNIT if limits else EACH
    title = in_html(f"Each constraint of {place}, {preset_title(preset)}")
    return f"<h3>{title}</h3>{soft(about + some)}{plain_table(heads, cells)}"


def _growth_section(names: Names, rates: Sequence[Rate]) -> str:
    """Return the table of growth exponents; empty where there were too few horizons."""
    cells = [
        (
            rate.problem,
            _played(names, rate.config),
            f"{rate.exponent:.2f}" if math.isfinite(rate.exponent) else rate.reason,
            f"{rate.low:.2f} to {rate.high:.2f}" if math.isfinite(rate.exponent) else "",
        )
        for rate in rates
    ]
    heads = ("problem", "method", "exponent of the CCV", "95 % interval")
    return titled_table("Growth with the horizon", heads, cells)


def _refusal_section(summary: Summary) -> str:
    """Return the methods that a problem does not allow, or an empty text."""
    cells = [
        (str(place), _played(summary.names, config), reason)
        for place, config, reason in summary.refusals
    ]
    heads = ("problem", "method", "why it was not played")
    return titled_table("Methods that a problem does not allow", heads, cells)


def _unjudged_section(summary: Summary) -> str:
    """Return the runs that have no regret and are in no table, or an empty text."""
    cells = [(str(place), str(seed), str(runs), why) for place, seed, runs, why in summary.unjudged]
    heads = ("problem", "seed", "runs", "why there is no regret")
    return titled_table("Runs left out of all tables and figures", heads, cells)


def _played(names: Names, config: MethodConfig) -> str:
    remarks = names.remarks(config.method, config.preset)
    return f"{config} ({'; '.join(part for part in (config.preset, remarks) if part)})"


def _service_section(
    summary: Summary, place: ProblemAtHorizon, preset: str, rows: Sequence[Row]
) -> str:
    """Return the table of service levels; empty where runs have not recorded them."""
    cells = []
    for row in _best_first(rows):
        runs = [run.record.get("service") or [] for run in summary.runs[row.place, row.config]]
        for levels in zip(*runs, strict=False):
            cells.append((summary.names.in_code(*row.config[:2]), *_service_cells(levels)))
    title = in_html(f"How often and how far, {place}, {preset} constants")
    table = plain_table(SERVICE_HEADS, cells)
    said = SERVICE + _infeasible(summary, place, rows)
    return f"<h3>{title}</h3>{soft(said)}{table}" if cells else ""


def _infeasible(summary: Summary, place: ProblemAtHorizon, rows: Sequence[Row]) -> str:
    """Say in how many rounds no action meets the limit, by the count of the methods themselves."""
    runs = [run for row in rows for run in summary.runs[row.place, row.config]]
    counts = {run.record.get("infeasible_rounds", 0) for run in runs} - {0}
    if not counts:
        return ""
    few = f"{min(counts)} to " if len(counts) > 1 else ""
    return f" In {few}{max(counts)} of {place.horizon} rounds no action meets the limit."


def _service_cells(levels: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the cells of one constraint, over the seeds of a method."""
    minutes = [level["violated_minutes"] for level in levels]
    longest = max(level["longest_minutes"] or level["longest_streak"] for level in levels)
    known = None not in minutes
    return (
        str(levels[0]["constraint"]),
        f"{100.0 * float(np.mean([level['violated_share'] for level in levels])):.2f}",
        f"{max(level['worst'] for level in levels):.3g}",
        f"{float(np.mean([level['p95'] for level in levels])):.3g}",
        f"{longest:g}{' min' if known else ''}",
        f"{float(np.mean(minutes)):g}" if known else "",
        str(levels[0]["unit"]),
    )
