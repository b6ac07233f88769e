"""One page for an experiment: static, self-contained, readable in print."""

from __future__ import annotations

import base64
import html
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from hedgerow.report.experiment.choices import choices
from hedgerow.report.experiment.exports import as_csv, as_latex
from hedgerow.report.experiment.figures import Picture, draw_all
from hedgerow.report.experiment.growth_rates import Rate, growth_rates
from hedgerow.report.experiment.summary import Mean, Place, Row, Summary
from hedgerow.report.experiment.verdicts import Verdict, verdicts

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
tr.ours { background: var(--tint); } .front { font-weight: 600; }
.yes { color: #00614a; } .no { color: #a33c00; } .part { color: #7a5c00; }
nav a { margin-right: 1rem; } a { color: #00568a; }
@media (max-width: 40rem) { body { padding: .8rem; font-size: 15px; } }
@media print { body { max-width: none; font-size: 11pt; } h2 { break-after: avoid; }
  figure, table { break-inside: avoid; } nav { display: none; } }
"""
UNITS = (
    "Regret: cost above that of the best fixed action that keeps every round, in % of that "
    "action's cost or of the blind action's, whichever is larger; negative where violation bought "
    "cost. CCV: cumulative constraint violation, the sum of max(0, g_t), in % of the blind "
    "action's, the best fixed action that ignores the constraint. +-: half the 95 % interval over "
    "seeds. Ranks are by regret and by CCV among methods with the same kind of constants; bold: no "
    "other method is better in both. Calls: linear minimisations and projections a round. Time "
    "includes drawing the rounds."
)


def write_report(summary: Summary, folder: Path) -> Path:
    """Write report.html, its figures, the table as CSV and LaTeX; return the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    rates = growth_rates(summary)
    pictures = draw_all(summary, rates, folder / "figures")
    (folder / "table.csv").write_text(as_csv(summary.rows))
    (folder / "table.tex").write_text(as_latex(summary.rows))
    path = folder / "report.html"
    path.write_text(_page(summary, rates, pictures, folder / "figures"), encoding="utf-8")
    return path


def _page(
    summary: Summary, rates: Sequence[Rate], pictures: Sequence[Picture], figures: Path
) -> str:
    experiment = summary.results.experiment
    name = html.escape(str(experiment["name"]))
    parts = [
        f"<h1>{name}</h1>",
        f"<p>{html.escape(str(experiment['about']))}</p>",
        f'<p class="soft">{_size(summary)}</p>',
        '<nav><a href="#verdicts">Verdicts</a><a href="#figures">Figures</a>'
        '<a href="#tables">Tables</a><a href="#choices">Choices</a></nav>',
    ]
    if summary.places:
        judged = verdicts(summary, summary.places[0])
        parts += [
            '<h2 id="verdicts">The paper\'s claims</h2>',
            _verdicts(judged, summary.places[0]),
        ]
    parts.append('<h2 id="figures">Figures</h2>')
    parts += [_figure(picture, figures) for picture in pictures]
    parts += ['<h2 id="tables">Tables</h2>', f'<p class="soft">{html.escape(UNITS)}</p>']
    for place in summary.places:
        for preset in summary.presets:
            if rows := summary.at(place, preset):
                parts.append(_table(place, preset, rows))
    parts += [_growth(rates), _refusals(summary), '<h2 id="choices">Record of choices</h2>']
    parts.append(_rows(("what", "kind", "why"), choices(summary)))
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{name}</title>\n<link rel="icon" href="data:,">\n<style>{STYLE}</style>\n'
        f"</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _size(summary: Summary) -> str:
    experiment, runs = summary.results.experiment, summary.results.runs
    done = sum(run.record["status"] == "done" for run in runs)
    return (
        f"{done} runs of {len(experiment['methods'])} methods on {len(experiment['problems'])} "
        f"problems, {len(experiment['seeds'])} seeds; {len(runs) - done} refusals. "
        f"Hedgerow {html.escape(str(experiment['hedgerow']))}."
    )


def _verdicts(judged: Sequence[Verdict], place: Place) -> str:
    kind = {"r": "yes", "n": "no"}
    rows = []
    for claim, verdict, numbers in judged:
        style = "part" if "only" in verdict or "not tested" in verdict else kind[verdict[0]]
        cells = f"<td>{html.escape(claim)}</td>"
        cells += f'<td class="{style}">{html.escape(verdict)}</td><td>{html.escape(numbers)}</td>'
        rows.append(f"<tr>{cells}</tr>")
    head = "<tr><th>claim</th><th>verdict</th><th>numbers</th></tr>"
    note = f"On {html.escape(place.problem)}, T = {place.horizon}. A lead counts when its 95 % "
    note += "interval over paired seeds excludes zero."
    table = f'<div class="wide"><table>{head}{"".join(rows)}</table></div>'
    return f'<p class="soft">{note}</p>{table}'


def _figure(picture: Picture, folder: Path) -> str:
    data = base64.b64encode((folder / f"{picture.name}.png").read_bytes()).decode()
    heading, caption = html.escape(picture.heading), html.escape(picture.caption)
    return (
        f'<figure><h3>{heading}</h3><img alt="{heading}. {caption}" '
        f'src="data:image/png;base64,{data}"><figcaption>{caption}</figcaption></figure>'
    )


def _table(place: Place, preset: str, rows: Sequence[Row]) -> str:
    heads = ("method", "regret %", "CCV %", "ranks", "calls", "projections", "µs a round", "seeds")
    head = "".join(f"<th{' class=n' if k else ''}>{name}</th>" for k, name in enumerate(heads))
    lines = []
    for row in sorted(rows, key=lambda row: sum(row.rank)):
        style = ' class="ours"' if row.entrant.method == "projection_free_coco" else ""
        name = html.escape(str(row.entrant))
        cells = (
            _shown(row.regret),
            _shown(row.ccv),
            f"{row.rank[0]} / {row.rank[1]}",
            f"{row.oracle_calls:.2f}",
            f"{row.projections:.2f}",
            f"{row.microseconds:.3g}" if math.isfinite(row.microseconds) else "",
            str(row.runs),
        )
        front = ' class="front"' if row.undominated else ""
        numbers = "".join(f'<td class="n">{cell}</td>' for cell in cells)
        lines.append(f"<tr{style}><td{front}>{name}</td>{numbers}</tr>")
    title = f"{html.escape(place.problem)}, T = {place.horizon}, {preset} constants"
    return f'<h3>{title}</h3><div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def _shown(mean: Mean) -> str:
    half = f" &plusmn; {mean.half:.2g}" if math.isfinite(mean.half) else ""
    return f"{mean.value:.3g}{half}"


def _growth(rates: Sequence[Rate]) -> str:
    if not rates:
        return ""
    cells = [
        (
            rate.problem,
            f"{rate.entrant} ({rate.entrant.preset})",
            f"{rate.exponent:.2f}" if math.isfinite(rate.exponent) else rate.reason,
            f"{rate.low:.2f} to {rate.high:.2f}" if math.isfinite(rate.exponent) else "",
        )
        for rate in rates
    ]
    table = _rows(("problem", "method", "exponent of the CCV", "95 % interval"), cells)
    return f"<h3>Growth with the horizon</h3>{table}"


def _refusals(summary: Summary) -> str:
    if not summary.refusals:
        return ""
    cells = [
        (f"{place.problem}, T = {place.horizon}", f"{entrant} ({entrant.preset})", reason)
        for place, entrant, reason in ((r.place, r.entrant, r.reason) for r in summary.refusals)
    ]
    table = _rows(("problem", "method", "why it was not played"), cells)
    return f"<h3>Methods that a problem does not allow</h3>{table}"


def _rows(heads: Sequence[str], cells: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    lines = (
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
        for line in cells
    )
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div>'
