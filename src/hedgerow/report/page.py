"""One page for an experiment: static, self-contained, readable in print."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from hedgerow.baselines.methods import METHODS
from hedgerow.report.choices import choices
from hedgerow.report.escaping import in_html
from hedgerow.report.expected import how_far, made_by, mixture
from hedgerow.report.exports import as_csv, as_latex
from hedgerow.report.figures import draw_all
from hedgerow.report.files import write_file
from hedgerow.report.growth_figure import Rate, growth_rates
from hedgerow.report.picture import Picture
from hedgerow.report.sections import (
    figure_section,
    growth_section,
    plain_table,
    refusal_section,
    table_section,
    unjudged_section,
    verdict_section,
)
from hedgerow.report.summary import Summary
from hedgerow.report.verdicts import route_place, verdicts

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

UNITS = (
    "Regret: cost above that of the best fixed action that keeps every round, in % of that "
    "action's cost or of the blind action's, whichever is larger; negative where violation bought "
    "cost. CCV: cumulative constraint violation, the sum of max(0, g_t), in % of the blind "
    "action's, the best fixed action that ignores the constraint. ±: half the 95 % interval over "
    "seeds. e: eagerness, the tuned factor of the methods that have one; each method is shown at "
    "the value nearest to 1, and all are in table.csv. Ranks are by regret and by CCV among those "
    "with the same kind of constants; bold: no other method is as good in both and better in one. "
    "Calls: linear minimisations and projections a round. Time: median of the game, without "
    "drawing rounds that fit in memory. "
    "Games that ran compiled are one compiled loop, the others ran in Python through play: between "
    "the two, times compare code, not algorithms; an empty cell means that it was not recorded."
)


def write_report(summary: Summary, folder: Path | str) -> Path:
    """Write report.html, its figures, the table as CSV and LaTeX; return the page's path."""
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
                parts.append(table_section(at, preset, rows))
    parts += [growth_section(rates), refusal_section(summary), unjudged_section(summary)]
    parts.append('<h2 id="choices">Record of choices</h2>')
    parts.append(plain_table(("what", "kind", "why"), choices(summary)))
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{name}</title>\n<link rel="icon" href="data:,">\n<style>{STYLE}</style>\n'
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
        f"Methods: {_counted(experiment['methods'])}; problems: {len(experiment['problems'])}; "
        f"seeds: {len(experiment['seeds'])}; runs refused: {refused}; runs without a benchmark: "
        f"{left_out}. Hedgerow {experiment['hedgerow']}{made_by(summary.results)}."
    )


def _counted(names: Sequence[str]) -> str:
    """Return how many methods there are, those that play as another one does counted once."""
    twins = {name: METHODS[name].plays_as for name in names if name in METHODS}
    again = [f"{name} plays as {other}" for name, other in twins.items() if other in names]
    many = str(len(names) - len(again))
    return f"{many}, and {', '.join(again)}" if again else many


def _policy() -> str:
    """Return what a browser may load: pictures inside the page, this style, and nothing else."""
    style = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    rules = ("default-src 'none'", "img-src data:", f"style-src 'sha256-{style}'")
    return "; ".join((*rules, "base-uri 'none'", "form-action 'none'"))
