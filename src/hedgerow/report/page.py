"""One page for an experiment: the answers first, then what they rest on, in one file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hedgerow.report.document import document, figure_section, folded, plain_table, soft
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
    place_in_words,
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
from hedgerow.report.naming import in_words
from hedgerow.report.picture import Picture, words, write_file
from hedgerow.report.provenance import choices, how_far, mixture
from hedgerow.report.rates import Rate, growth_rates
from hedgerow.report.sections import (
    UNITS,
    each_section,
    growth_section,
    refusal_section,
    table_section,
    unjudged_section,
    verdict_section,
)
from hedgerow.report.service import service_section
from hedgerow.report.summary import Summary
from hedgerow.report.tables import as_csv, as_latex
from hedgerow.report.verdicts import route_place, verdicts

LINKS = {"answers": "Answers", "verdicts": "Verdicts", "others": "All methods", "tables": "Tables",
         "choices": "Choices"}  # fmt: skip


def write_report(summary: Summary, folder: Path | str) -> Path:
    """Write report.html, its figures, and tables as CSV and LaTeX; return the page's path.

    Figures answer the mouse where Bokeh is installed. PNG and PDF of each are in `figures`;
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
    write_file(folder / "table.csv", as_csv(summary.rows))
    write_file(folder / "table.tex", as_latex(summary.rows))
    preset = summary.presets[0]
    opening = [row for place in summary.places for row in headline_rows(summary, place, preset)]
    names = {row.config.method: in_words(row.config.method, preset) for row in opening}
    write_file(folder / "headline.tex", as_latex(opening, names, summary.rows))
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
    title = f"{place_in_words(summary, place)}, {words(preset)}"
    parts.append(f'<h2 id="answers">{in_html(title)}</h2>')
    parts.append(_list(answers(summary, place, preset)))
    parts += [f"<h3>Each problem, {in_html(words(preset))}</h3>", soft(RANKS)]
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
    parts.append(_folded("Growth with the horizon", growth_section(rates)))
    parts.append(_folded("Methods that a problem does not allow", refusal_section(summary)))
    parts.append(unjudged_section(summary))
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
                    table_section(place, preset, rows),
                    each_section(place, preset, rows),
                    _folded("How often and how far", service_section(summary, place, preset, rows)),
                )
                title = f"{place_in_words(summary, place)}, {words(preset)}"
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
