"""One page for an experiment: static, self-contained, readable in print."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from hedgerow.report.escaping import in_html
from hedgerow.report.figures import Rate, draw_all, growth_rates
from hedgerow.report.picture import Picture, write_file
from hedgerow.report.provenance import choices, how_far, made_by, mixture
from hedgerow.report.service import service_section
from hedgerow.report.summary import ProblemAtHorizon, Row, Summary, described
from hedgerow.report.tables import as_csv, as_latex
from hedgerow.report.verdicts import RULE, STAND_INS, Part, Verdict, route_place, verdicts

HEADS = (
    "method", "e", "regret %", "CCV %", "ranks", "calls", "projections", "µs per round", "ran",
    "seeds",
)  # fmt: skip

MOST_CONSTRAINTS = 8
EACH = (
    "The CCV of each constraint by itself, in % of the blind action's CCV as above. In a method's "
    "CCV a round counts once, with its largest violation, so the columns may add up to more."
)


def verdict_section(judged: Sequence[Verdict], place: ProblemAtHorizon) -> str:
    """Return the claims with verdicts; each preset has a line of its own."""
    rows = "".join(map(_claim, judged))
    names = ("claim", "constants", "verdict", "numbers")
    head = "".join(f"<th>{name}</th>" for name in names)
    note = f"On {place.problem}, T = {place.horizon}. {RULE} {STAND_INS}"
    return (
        f'<h2 id="verdicts">The paper\'s claims</h2><p class="soft">{in_html(note)}</p>'
        f'<table class="claims"><tr>{head}</tr>{rows}</table>'
    )


def _claim(verdict: Verdict) -> str:
    parts = verdict.parts or (Part("", verdict.outcome, verdict.verdict, ""),)
    first = f'<td class="claim" rowspan="{len(parts)}">{in_html(verdict.claim)}</td>'
    rows = ""
    for part in parts:
        judged = f'<td class="{part.outcome}">{in_html(part.verdict)}</td>'
        cells = f"<td>{in_html(part.preset)}</td>{judged}<td>{in_html(part.numbers)}</td>"
        rows += f"<tr>{first}{cells}</tr>"
        first = ""
    return rows


def figure_section(picture: Picture, folder: Path) -> str:
    """Return a figure with its picture inside."""
    data = base64.b64encode((folder / f"{picture.name}.png").read_bytes()).decode()
    heading, caption = in_html(picture.heading), in_html(picture.caption)
    screen = "pan" if picture.wide else "fit"
    return (
        f'<figure><h3>{heading}</h3><div class="{screen}"><img alt="{heading}. {caption}" '
        f'src="data:image/png;base64,{data}"></div><figcaption>{caption}</figcaption></figure>'
    )


def table_section(place: ProblemAtHorizon, preset: str, rows: Sequence[Row]) -> str:
    """Return the rows of one problem and preset, best ranks first."""
    head = "".join(f"<th{' class=n' if k else ''}>{name}</th>" for k, name in enumerate(HEADS))
    lines = []
    for row in sorted(rows, key=lambda row: sum(row.rank)):
        style = ' class="ours"' if row.config.method == "projection_free_coco" else ""
        name = in_html(described(row.config))
        cells = (
            f"{row.config.eagerness:g}",
            str(row.regret),
            str(row.ccv),
            f"{row.rank[0]} / {row.rank[1]}",
            f"{row.oracle_calls:.2f}",
            f"{row.projections:.2f}",
            f"{row.microseconds:.3g}" if math.isfinite(row.microseconds) else "",
            row.ran,
            str(row.runs),
        )
        front = ' class="front"' if row.undominated else ""
        numbers = "".join(f'<td class="n">{cell}</td>' for cell in cells)
        lines.append(f"<tr{style}><td{front}>{name}</td>{numbers}</tr>")
    title = in_html(f"{place.problem}, T = {place.horizon}, {preset} constants")
    return f'<h3>{title}</h3><div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def each_section(place: ProblemAtHorizon, preset: str, rows: Sequence[Row]) -> str:
    """Return the CCV of each constraint; empty where rounds have one, or not always as many."""
    counts = {len(row.ccv_each) for row in rows}
    if counts == {0} or len(counts) > 1:
        return ""
    (count,) = counts
    totals = [sum(row.ccv_each[k].value for row in rows) for k in range(count)]
    worst = sorted(range(count), key=lambda k: -totals[k])[:MOST_CONSTRAINTS]
    cells = [
        (described(row.config), str(row.ccv), *(str(row.ccv_each[k]) for k in sorted(worst)))
        for row in sorted(rows, key=lambda row: sum(row.rank))
    ]
    heads = ("method", "CCV %", *(f"constraint {k + 1}" for k in sorted(worst)))
    some = f" The {len(worst)} of {count} with the most are shown." if len(worst) < count else ""
    title = in_html(f"Each constraint of {_at(place)}, {preset} constants")
    return f'<h3>{title}</h3><p class="soft">{EACH}{some}</p>{plain_table(heads, cells)}'


def growth_section(rates: Sequence[Rate]) -> str:
    """Return the table of growth exponents; empty where there were too few horizons."""
    cells = [
        (
            rate.problem,
            f"{rate.config} ({rate.config.preset})",
            f"{rate.exponent:.2f}" if math.isfinite(rate.exponent) else rate.reason,
            f"{rate.low:.2f} to {rate.high:.2f}" if math.isfinite(rate.exponent) else "",
        )
        for rate in rates
    ]
    heads = ("problem", "method", "exponent of the CCV", "95 % interval")
    return _titled("Growth with the horizon", heads, cells)


def refusal_section(summary: Summary) -> str:
    """Return the methods that a problem does not allow, or nothing."""
    cells = [
        (_at(place), f"{config} ({config.preset})", reason)
        for place, config, reason in summary.refusals
    ]
    heads = ("problem", "method", "why it was not played")
    return _titled("Methods that a problem does not allow", heads, cells)


def unjudged_section(summary: Summary) -> str:
    """Return the runs that have no regret and are in no table, or nothing."""
    cells = [(_at(place), str(seed), str(runs), why) for place, seed, runs, why in summary.unjudged]
    heads = ("problem", "seed", "runs", "why there is no regret")
    return _titled("Runs left out of all tables and figures", heads, cells)


def plain_table(heads: Sequence[str], cells: Iterable[Sequence[str]]) -> str:
    """Return an HTML table whose cells are plain text; columns of numbers are set to the right."""
    rows = [list(line) for line in cells]
    sides = [
        ' class="n"' if rows and all(NUMBER.fullmatch(row[k]) for row in rows) else ""
        for k in range(len(heads))
    ]
    head = "".join(
        f"<th{side}>{in_html(name)}</th>" for side, name in zip(sides, heads, strict=True)
    )
    lines = (
        "<tr>"
        + "".join(f"<td{side}>{in_html(cell)}</td>" for side, cell in zip(sides, row, strict=True))
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def _titled(title: str, heads: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    return f"<h3>{title}</h3>{plain_table(heads, cells)}" if cells else ""


def _at(place: ProblemAtHorizon) -> str:
    return f"{place.problem}, T = {place.horizon}"


STYLE = """
:root { color-scheme: light; --ink: #1a1a1a; --soft: #555; --line: #ddd; --tint: #f4f7fa; }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: #fff;
  margin: 0 auto; padding: 1.5rem; max-width: 72rem; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; } p, figcaption { max-width: 50rem; }
.soft, figcaption { color: var(--soft); font-size: .875rem; }
figure { margin: 1rem 0 2rem; } img { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; } td.n, th.n { text-align: right; white-space: nowrap; }
.claims td:last-child { width: 50%; } .claim { width: 20%; }
tr.ours { background: var(--tint); } .front { font-weight: 600; }
.yes { color: #00614a; } .no, .warn { color: #a33c00; }
.mixed, .undecided, .untested { color: #7a5c00; }
nav a { margin-right: 1rem; } a { color: #00568a; }
@media (max-width: 40rem) { body { padding: .8rem; font-size: 15px; }
  .pan { overflow-x: auto; } .pan img { max-width: 60rem; }
  .claims th { display: none; } .claims, .claims tbody, .claims tr, .claims td { display: block; }
  .claims td, .claims td:last-child { width: auto; border: 0; padding: .1rem 0; }
  .claims td.claim { font-weight: 600; border-top: 1px solid var(--line); padding-top: .5rem; } }
@media print { body { max-width: none; font-size: 11pt; } h2 { break-after: avoid; }
  figure, table { break-inside: avoid; } nav { display: none; } }
"""

NUMBER = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?( [^\d\s]+)?|-|")
"""A number, perhaps with its unit; or nothing."""
UNITS = (
    "Regret: cost above that of the best fixed action that keeps every round, in % of that "
    "action's cost or of the blind action's, whichever is larger; negative where violation bought "
    "cost. CCV: cumulative constraint violation, the sum of max(0, g_t), in % of the blind "
    "action's, the best fixed action that ignores the constraint. ±: half the 95 % interval over "
    "seeds. e: eagerness, the tuned factor of the methods that have one; each method is shown at "
    "the value nearest to 1, and all are in table.csv. Ranks are by regret and by CCV among those "
    "with the same kind of constants; bold: no other method is as good in both and better in one. "
    "Calls: linear minimisations and projections per round. Time: median of the game, without "
    "drawing rounds that fit in memory. "
    "Games that ran compiled are one compiled loop, the others ran in Python through play: between "
    "the two, times compare code, not algorithms; an empty cell means that it was not recorded."
)


def write_report(summary: Summary, folder: Path | str) -> Path:
    """Write report.html, its figures, the table as CSV and LaTeX; return the page's path."""
    if not isinstance(summary, Summary):
        raise TypeError(
            f"write_report needs a summary, Summary(Results(folder)), got {summary!r:.60}"
        )
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rates = growth_rates(summary)
    pictures = draw_all(summary, rates, folder / "figures")
    write_file(folder / "table.csv", as_csv(summary.rows))
    write_file(folder / "table.tex", as_latex(summary.rows))
    page = _page(summary, rates, pictures, folder / "figures")
    return write_file(folder / "report.html", page)


def _page(
    summary: Summary, rates: Sequence[Rate], pictures: Sequence[Picture], figures: Path
) -> str:
    name = in_html(str(summary.results.experiment["name"]))
    place = route_place(summary)
    parts = _head(summary, judged=place is not None)
    if place is not None:
        parts.append(verdict_section(verdicts(summary, place), place))
    parts.append('<h2 id="figures">Figures</h2>')
    parts += [figure_section(picture, figures) for picture in pictures]
    parts += ['<h2 id="tables">Tables</h2>', f'<p class="soft">{in_html(UNITS)}</p>']
    for at in summary.places:
        for preset in summary.presets:
            if rows := summary.at(at, preset):
                parts += [table_section(at, preset, rows), each_section(at, preset, rows)]
                parts.append(service_section(summary, at, preset, rows))
    parts += [growth_section(rates), refusal_section(summary), unjudged_section(summary)]
    parts.append('<h2 id="choices">Record of choices</h2>')
    parts.append(plain_table(("what", "kind", "why"), choices(summary)))
    return document(name, "\n".join(parts))


def document(title: str, body: str) -> str:
    """Return a whole page that loads nothing from elsewhere; both are HTML already."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{title}</title>\n<link rel="icon" href="data:,">\n<style>{STYLE}</style>\n'
        f"</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _head(summary: Summary, judged: bool) -> list[str]:
    experiment = summary.results.experiment
    name, about = str(experiment["name"]), str(experiment["about"])
    parts = [f"<h1>{in_html(name)}</h1>"]
    if about != name:
        parts.append(f"<p>{in_html(about)}</p>")
    far = how_far(summary.results)
    parts.append(f'<p class="{"warn" if "not finished" in far else "soft"}">{far}.</p>')
    if mixed := mixture(summary.results):
        parts.append(f'<p class="warn">{in_html(mixed)}.</p>')
    parts.append(f'<p class="soft">{in_html(_size(summary))}</p>')
    names = [*(["Verdicts"] if judged else []), "Figures", "Tables", "Choices"]
    links = "".join(f'<a href="#{name.lower()}">{name}</a>' for name in names)
    return [*parts, f"<nav>{links}</nav>"]


def _size(summary: Summary) -> str:
    experiment, runs = summary.results.experiment, summary.results.runs
    refused = sum(run.record["status"] != "done" for run in runs)
    left_out = sum(game.runs for game in summary.unjudged)
    return (
        f"Methods: {len(experiment['methods'])}; problems: {len(experiment['problems'])}; "
        f"seeds: {len(experiment['seeds'])}; runs refused: {refused}; runs without a benchmark: "
        f"{left_out}. Hedgerow {experiment['hedgerow']}{made_by(summary.results)}."
    )


def _policy() -> str:
    """Return what a browser may load: pictures inside the page, this style, and nothing else."""
    style = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    rules = ("default-src 'none'", "img-src data:", f"style-src 'sha256-{style}'")
    return "; ".join((*rules, "base-uri 'none'", "form-action 'none'"))
