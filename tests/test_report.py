"""The report says what the results say, in one file that needs nothing else."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.experiment.results import Results
from hedgerow.report.experiment.exports import HEADINGS, as_csv, as_latex
from hedgerow.report.experiment.growth_rates import growth_rates
from hedgerow.report.experiment.page import write_report
from hedgerow.report.experiment.summary import Entrant, Mean, Place, Summary
from hedgerow.report.experiment.verdicts import Game, verdicts

EXPERIMENT = """
name = "small"
about = "Two methods & <three> horizons."
methods = ["projection_free_coco", "unconstrained"]
presets = ["practical", "theory"]
eagerness = [0.5, 1.0, 2.0]
horizons = [30, 60, 120]
seeds = [20, 21, 22]

[[problems]]
kind = "iid_simplex"
n = 5
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("report")
    (at / "small.toml").write_text(EXPERIMENT)
    command = ["run", str(at / "small.toml"), "--out", str(at / "out"), "--workers", "1", "-q"]
    assert CliRunner().invoke(app, command).exit_code == 0
    return at / "out"


@pytest.fixture(scope="module")
def summary(folder: Path) -> Summary:
    return Summary(Results(folder))


def test_a_mean_has_students_interval():
    from scipy import stats

    values = [1.0, 2.0, 4.0, 8.0]
    mean = Mean.of(values)
    low, high = stats.t.interval(0.95, 3, loc=np.mean(values), scale=stats.sem(values))
    assert mean.value == np.mean(values)
    assert [mean.value - mean.half, mean.value + mean.half] == pytest.approx([low, high])
    assert Mean.of([3.0]) == (3.0, math.inf)
    assert math.isnan(Mean.of([]).value)


def test_rows_are_means_over_seeds(folder: Path, summary: Summary):
    row = next(
        r
        for r in summary.rows
        if r.place == Place("iid_simplex", 120)
        and r.entrant == Entrant("projection_free_coco", "practical", 2.0)
    )
    regrets, shares = [], []
    for path in (folder / "runs").glob("*.json"):
        run = json.loads(path.read_text())
        if (run["method"], run["horizon"], run["eagerness"], run["preset"]) == (
            "projection_free_coco",
            120,
            2.0,
            "practical",
        ):
            best = json.loads((folder / "benchmarks" / f"{run['benchmark']}.json").read_text())
            regrets.append(run["cost"] - best["cost"])
            shares.append(100.0 * run["ccv"] / best["blind"]["ccv"])
    assert row.runs == len(regrets) == 3
    assert row.regret_raw.value == pytest.approx(np.mean(regrets))
    assert row.ccv.value == pytest.approx(np.mean(shares))


def test_curves_end_at_the_totals(summary: Summary):
    for row in summary.at(Place("iid_simplex", 120), "practical"):
        for which, total in (("ccv", row.ccv), ("regret", row.regret)):
            t, middle, low, high = summary.band(row, which)
            assert t[-1] == 120
            assert middle[-1] == pytest.approx(total.value)
            assert (low <= middle).all()
            assert (middle <= high).all()


def test_ranks_are_among_the_methods_at_their_defaults(summary: Summary):
    rows = summary.at(Place("iid_simplex", 120), "practical")
    assert [str(row.entrant) for row in rows] == ["projection_free_coco", "unconstrained"]
    assert sorted(row.rank[1] for row in rows) == [1, 2]
    careful, blind = rows
    assert careful.rank == (2, 1)
    assert blind.rank == (1, 2)
    assert careful.undominated
    assert blind.undominated


def test_the_page_stands_alone(summary: Summary, tmp_path: Path):
    page = write_report(summary, tmp_path).read_text()
    assert not re.search(r"https?://|<script|@import|url\(", page)
    sources = re.findall(r'(?:src|href)="([^"]{1,30})', page)
    assert sources
    assert all(source.startswith(("data:", "#")) for source in sources)
    assert "Two methods &amp; &lt;three&gt; horizons." in page
    names = {path.stem for path in (tmp_path / "figures").glob("*.png")}
    assert {"plane-practical", "plane-theory", "growth", "sensitivity"} < names
    assert page.count("data:image/png") == len(names)
    assert names == {path.stem for path in (tmp_path / "figures").glob("*.pdf")}


def test_tables_hold_every_row(summary: Summary):
    read = list(csv.DictReader(io.StringIO(as_csv(summary.rows))))
    assert tuple(read[0]) == HEADINGS
    assert len(read) == len(summary.rows)
    for line, row in zip(read, summary.rows, strict=True):
        assert float(line["ccv"]) == pytest.approx(row.ccv_raw.value, rel=1e-5)
        assert (line["problem"], line["method"]) == (row.place.problem, row.entrant.method)
    latex = as_latex(summary.rows)
    assert latex.count(r"\\") == 1 + len(summary.rows) + len({row.place for row in summary.rows})
    assert not re.search(r"(?<!\\)_", latex)


def test_growth_is_fitted_from_three_horizons_on(summary: Summary):
    rates = growth_rates(summary)
    blind = next(r for r in rates if r.entrant == Entrant("unconstrained", "theory", 1.0))
    assert 0.5 < blind.exponent < 1.5
    assert blind.low <= blind.exponent <= blind.high


def test_verdicts_follow_from_the_numbers(summary: Summary):
    judged = {v.claim: v for v in verdicts(summary, Place("iid_simplex", 120))}
    assert all("not tested" in v.verdict for c, v in judged.items() if "Sinha" in c or "Wang" in c)
    game = Game(summary, Place("iid_simplex", 120), "practical")
    lead = game.lead("projection_free_coco", "unconstrained", "ccv")
    rows = game.rows
    difference = rows["projection_free_coco"].ccv_raw.value - rows["unconstrained"].ccv_raw.value
    assert lead.value == pytest.approx(difference)
    flat = judged["Algorithm 2's CCV curve reaches a flat region"]
    share = game.last_quarter("projection_free_coco")
    assert f"{100.0 * share:.1f} %" in flat.numbers


def test_the_command_writes_and_says_where(folder: Path, tmp_path: Path):
    run = CliRunner().invoke(app, ["report", str(folder), "--out", str(tmp_path), "--json"])
    assert run.exit_code == 0
    assert Path(json.loads(run.stdout)["page"]).is_file()
    missing = CliRunner().invoke(app, ["report", str(tmp_path / "nowhere")])
    assert missing.exit_code == 2
    assert "experiment.json" in missing.output
