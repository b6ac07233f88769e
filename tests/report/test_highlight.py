"""Methods that stand out, their labels, and tables for somebody else's paper."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.experiments.results import Results
from hedgerow.report.figures import curve_figure, growth_figure, plane_figure
from hedgerow.report.headline import headline_place, headline_rows, headline_styles, standings
from hedgerow.report.latex import IGNORES, as_latex
from hedgerow.report.naming import GARBER, OURS, SINHA, WANG
from hedgerow.report.picture import STANDS_OUT
from hedgerow.report.summary import Rate, Summary
from made_results import Made, make_results

MINE = "mine:my_fw"
METHODS = {
    OURS: Made([1.0, 1.1], ccv=[2.0, 2.1]),
    SINHA: Made([2.0, 2.1], ccv=[3.0, 3.1]),
    WANG: Made([3.0, 3.1], ccv=[4.0, 4.1]),
    GARBER: Made([4.0, 4.1], ccv=[5.0, 5.1]),
    "guo_recoo": Made([5.0, 5.1], ccv=[95.0, 95.1]),
    MINE: Made([6.0, 6.1], ccv=[7.0, 7.1]),
}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return make_results(tmp_path / "results", METHODS)


def drawn(summary: Summary):
    """Return every kind of figure that these results allow."""
    styles, place = headline_styles(summary), headline_place(summary)
    yield curve_figure(summary, place, "practical", summary.at(place, "practical"), styles)[1]
    yield plane_figure(summary, "practical", styles)[1]
    rates = [
        Rate(place.problem, row.config, (), 0.5, 0.4, 0.6) for row in summary.at(place, "practical")
    ]
    figure = growth_figure(rates, styles)
    assert figure is not None
    yield figure[1]


def legend_of(figure) -> list[str]:
    return [text.get_text().replace("\n", " ") for text in figure.legends[0].get_texts()]


@pytest.mark.parametrize(
    ("highlight", "first"), [((), [MINE]), ((SINHA, "guo_recoo"), [SINHA, "guo_recoo"])]
)
def test_what_stands_out_is_first_and_wide_in_every_figure(results: Path, highlight, first):
    """The user's own methods by default; else those that are asked for."""
    summary = Summary(Results(results), highlight=highlight)
    assert list(summary.names.highlighted) == first
    styles = headline_styles(summary)
    assert list(styles)[: len(first)] == first
    assert {name for name, style in styles.items() if style.width == STANDS_OUT} == {*first}
    place = headline_place(summary)
    opening = [row.config.method for row in headline_rows(summary, place, "practical")]
    assert opening[: len(first)] == first
    names = [summary.names.full(name, "practical") for name in first]
    curves, plane, growth = drawn(summary)
    for figure in (curves, plane):
        assert legend_of(figure)[: len(names)] == names
    labels = [label.get_text() for label in growth.axes[0].get_yticklabels()]
    tops = [summary.names.short(name, "practical") for name in first]
    assert all(label.startswith(top) for label, top in zip(labels[::-1], tops, strict=False))
    (answer,) = standings(summary, "practical")
    assert all(f"{name}: " in answer.answer for name in names)


def test_without_a_method_of_your_own_the_default_stands_out(tmp_path: Path):
    methods = {name: made for name, made in METHODS.items() if name != MINE}
    assert Summary(Results(make_results(tmp_path, methods))).names.highlighted == (OURS,)


LONG = "a name of your own that is so long that no legend has room for it in any single line at all"


def test_no_legend_leaves_its_figure_however_long_the_names(results: Path):
    summary = Summary(Results(results), labels={name: f"{LONG} {name}" for name in METHODS})
    for figure in drawn(summary):
        figure.draw_without_rendering()
        for legend in figure.legends:
            box = legend.get_window_extent()
            assert 0.0 <= box.x0 < box.x1 <= figure.bbox.x1
            assert 0.0 <= box.y0 < box.y1 <= figure.bbox.y1
        for ax in figure.axes:
            if figure.legends:
                assert ax.get_window_extent().height > 1.5 * figure.dpi, "panels keep their height"


def test_labels_replace_names_everywhere_and_remarks_stay(results: Path, tmp_path: Path):
    labels = tmp_path / "labels.toml"
    labels.write_text('sinha_vaze_2024 = "SV24"\n"mine:my_fw" = "Ours & more"\n')
    asked = ["--labels", labels, "--labels", f"{GARBER}=GK"]
    said = CliRunner().invoke(app, ["report", str(results), *map(str, asked)])
    assert said.exit_code == 0, said.output
    assert re.search(r"^ *SV24 ", said.stdout, re.MULTILINE)
    page = (results / "report/report.html").read_text()
    for text in ("SV24 (projects)", "Ours &amp; more", "GK (reconstruction)"):
        assert text in page
    before, _, sources = page.partition('id="choices"')
    assert "Sinha and Vaze 2024" not in before
    assert "Sinha and Vaze 2024" in sources, "the record says what the label stands for"
    latex = (results / "report/headline.tex").read_text()
    assert r"Ours \& more & $" in latex
    assert re.search(r"GK\\textsuperscript\{\w\} & ", latex)
    assert re.search(r"\\textsuperscript\{\w\} reconstruction\.", latex)
    assert not re.search(r"\bour\b", latex + page.partition('id="verdicts"')[0], re.IGNORECASE)


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (("--highlight", "sinha_vaze"), "did you mean 'sinha_vaze_2024'?"),
        (("--labels", "none=x"), "labels names 'none', which the experiment does not have"),
        (("--labels", "absent.toml"), "METHOD=NAME or a TOML file, and there is no file"),
        (("--labels", "sinha_vaze_2024="), "two texts"),
    ],
)
def test_a_name_that_is_not_there_is_refused(results: Path, option, sentence):
    said = CliRunner().invoke(app, ["report", str(results), *option])
    assert said.exit_code == 2
    assert sentence in " ".join(said.stderr.split())
    assert not (results / "report").exists()


def test_every_caveat_is_a_note_of_the_table(results: Path):
    summary = Summary(Results(results))
    latex = as_latex(summary, summary.rows)
    table, _, notes = latex.partition(r"\end{tabular}")
    for text in ("reconstruction", "restarts around Hedgerow's learner", "projects", IGNORES):
        found = re.search(rf"\\textsuperscript\{{(\w)\}} {re.escape(text[:20])}", notes)
        assert found, text
        assert re.search(rf"\\textsuperscript\{{[\w,]*\b{found[1]}\b", table), "a row leads to it"
    assert "No method was tuned" in notes
    assert "Means over 2 seeds" in notes
    assert "(" not in table.replace(r"(\%)", ""), "remarks are notes"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex: texlive-latex-base")
def test_the_tables_compile_with_booktabs(results: Path, tmp_path: Path):
    summary = Summary(Results(results), labels={MINE: "50% of #1 & x_y^2 {~} \\"})
    (tmp_path / "table.tex").write_text(as_latex(summary, summary.rows), encoding="utf-8")
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
        "\\begin{table}\\centering\\input{table.tex}\\caption{Results.}\\end{table}\n"
        "\\end{document}\n"
    )
    made = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert made.returncode == 0, made.stdout[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 1000
