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
from rich.console import Console
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.experiments.results import Results
from hedgerow.report.latex import as_latex
from hedgerow.report.page import write_report
from hedgerow.report.picture import CCV, REGRET, canvas, legend_above, scale_in_percent
from hedgerow.report.provenance import choices, expected_runs, how_far
from hedgerow.report.summary import (
    Mean,
    MethodConfig,
    ProblemAtHorizon,
    Summary,
    growth_rates,
    representatives,
)
from hedgerow.report.tables import HEADINGS, as_csv, summary_table
from made_results import Made, make_results

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


@pytest.fixture
def no_bokeh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be where Bokeh is not installed."""
    monkeypatch.setattr("hedgerow.report.page.has_bokeh", lambda: False)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the figures out, for speed."""
    monkeypatch.setattr("hedgerow.report.page.draw_all", lambda *_: [])


def test_a_mean_has_students_interval():
    from scipy import stats

    values = [1.0, 2.0, 4.0, 8.0]
    mean = Mean.of(values)
    low, high = stats.t.interval(0.95, 3, loc=np.mean(values), scale=stats.sem(values))
    assert mean.value == np.mean(values)
    assert [mean.value - mean.half, mean.value + mean.half] == pytest.approx([low, high])
    assert Mean.of([3.0]) == (3.0, math.inf, 1)
    assert math.isnan(Mean.of([]).value)


def test_rows_are_means_over_seeds(folder: Path, summary: Summary):
    row = next(
        r
        for r in summary.rows
        if r.place == ProblemAtHorizon("iid_simplex", 120)
        and r.config == MethodConfig("projection_free_coco", "practical", 2.0)
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
    for row in summary.at(ProblemAtHorizon("iid_simplex", 120), "practical"):
        for which, total in (("ccv", row.ccv), ("regret", row.regret)):
            t, middle, low, high = summary.band(row, which)
            assert t[-1] == 120
            assert middle[-1] == pytest.approx(total.value)
            assert (low <= middle).all()
            assert (middle <= high).all()


def test_ranks_are_among_the_methods_at_their_defaults(summary: Summary):
    rows = summary.at(ProblemAtHorizon("iid_simplex", 120), "practical")
    assert [str(row.config) for row in rows] == ["projection_free_coco", "unconstrained"]
    assert sorted(row.rank[1] for row in rows) == [1, 2]
    careful, blind = rows
    assert careful.rank == (2, 1)
    assert blind.rank == (1, 2)
    assert careful.undominated
    assert blind.undominated


def test_the_page_stands_alone(summary: Summary, tmp_path: Path):
    path = write_report(summary, tmp_path)
    page, names = path.read_text(), {found.stem for found in (tmp_path / "figures").glob("*.png")}
    shown = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"https?://|@import|url\(", shown)
    sources = set(re.findall(r'(?:src|href)="([^"]{1,30})', shown))
    own = {f"figures/{name}.{suffix}"[:30] for name in names for suffix in ("png", "pdf")}
    assert {source for source in sources if not source.startswith(("data:", "#"))} <= own
    assert not re.search(r"<script[^>]*\ssrc=", page)
    assert "Two methods &amp; &lt;three&gt; horizons." in page
    assert {"headline", "plane-practical", "plane-theory", "growth", "sensitivity"} < names
    assert names == {found.stem for found in (tmp_path / "figures").glob("*.pdf")}
    assert path.stat().st_size < 8e6


@pytest.mark.usefixtures("no_bokeh")
def test_without_bokeh_the_page_has_pictures_and_says_so(summary: Summary, tmp_path: Path):
    page = write_report(summary, tmp_path).read_text()
    names = {found.stem for found in (tmp_path / "figures").glob("*.png")}
    assert "<script" not in page
    assert page.count("data:image/png") == len(names)
    assert page.count("Bokeh is not installed") == 1
    assert page.index('id="answers"') < page.index("data:image/png") < page.index('id="others"')


def test_tables_hold_every_row(summary: Summary):
    read = list(csv.DictReader(io.StringIO(as_csv(summary))))
    assert tuple(read[0]) == HEADINGS
    assert len(read) == len(summary.rows)
    for line, row in zip(read, summary.rows, strict=True):
        assert float(line["ccv"]) == pytest.approx(row.ccv_raw.value, rel=1e-5)
        assert (line["problem"], line["method"]) == (row.place.problem, row.config.method)
    latex = as_latex(summary, summary.rows)
    assert latex.count(r"\\") == 1 + len(summary.rows) + len({row.place for row in summary.rows})
    assert not re.search(r"(?<!\\)_", latex)


def test_growth_is_fitted_from_three_horizons_on(summary: Summary):
    rates = growth_rates(summary)
    blind = next(r for r in rates if r.config == MethodConfig("unconstrained", "theory", 1.0))
    assert 0.5 < blind.exponent < 1.5
    assert blind.low <= blind.exponent <= blind.high


@pytest.mark.usefixtures("undrawn")
def test_the_command_writes_and_says_where(folder: Path, tmp_path: Path):
    run = CliRunner().invoke(app, ["report", str(folder), "--out", str(tmp_path), "--json"])
    assert run.exit_code == 0
    assert Path(json.loads(run.stdout)["page"]).is_file()
    missing = CliRunner().invoke(app, ["report", str(tmp_path / "nowhere")])
    assert missing.exit_code == 2
    assert "experiment.json" in missing.output


def test_means_are_written_with_the_digits_that_mean_something():
    shown = {
        Mean(100.0, 4.8e-15, 6): "100 ± 0",
        Mean(-6.234, 0.123, 6): "-6.23 ± 0.12",
        Mean(139.2, 170.4, 6): "139 ± 170",
        Mean(-0.3, 21.0, 6): "0 ± 21",
        Mean(0.0, 0.0, 6): "0 ± 0",
        Mean(1.5, math.inf, 1): "1.50",
        Mean(math.nan, math.inf, 0): "",
    }
    assert {mean: str(mean) for mean in shown} == shown


def test_the_eagerness_nearest_to_one_stands_for_a_method(tmp_path: Path):
    made = [("guo_recoo", Made([k, k], eagerness=e)) for k, e in enumerate((0.25, 0.5, 2.0, 4.0))]
    made.append(("unconstrained", Made([9.0, 9.0])))
    summary = Summary(Results(make_results(tmp_path, made)))
    rows = summary.at(summary.places[0], "practical")
    assert [(row.config.method, row.config.eagerness) for row in rows] == [
        ("guo_recoo", 0.5),  # as near as 2: the lower one
        ("unconstrained", 1.0),
    ]
    one = MethodConfig("guo_recoo", "practical", 1.0)
    assert representatives([row.config for row in summary.rows] + [one]) >= {one}


@pytest.mark.usefixtures("undrawn")
def test_an_unfinished_folder_says_so(folder: Path, tmp_path: Path):
    results = Results(folder)
    assert expected_runs(results.experiment) == len(results.runs) == 54
    assert how_far(results) == "54 runs"
    growing = make_results(tmp_path, {"guo_recoo": Made([1.0, 2.0]), "unconstrained": Made([0.0])})
    assert how_far(Results(growing)) == "3 of 4 runs; not finished"
    said = CliRunner().invoke(app, ["report", str(growing)]).stdout
    assert "3 of 4 runs; not finished" in said
    page = (growing / "report" / "report.html").read_text(encoding="utf-8")
    assert "3 of 4 runs; not finished" in page
    assert page.count(">made<") == 2  # title and heading; what it is about is its name again


def test_the_report_of_a_tuning_counts_what_was_chosen(folder: Path):
    experiment = Results(folder).experiment
    rows = [
        {"problem": "iid_simplex", "horizon": T, "method": method, "eagerness": chosen}
        for T in (30, 60, 120)
        for method, chosen in (("projection_free_coco", 2.0), ("unconstrained", None))
    ]
    # 3 horizons x 3 seeds x (ours tuned, ours in theory, blind play in theory)
    assert expected_runs({**experiment, "selection": rows}) == 27
    assert expected_runs({**experiment, "methods": ["no_such_method"]}) is None


@pytest.mark.usefixtures("undrawn")
def test_runs_without_a_regret_are_listed(tmp_path: Path):
    whole = make_results(
        tmp_path, {"guo_recoo": Made([1.0, 2.0]), "unconstrained": Made([0.0, 0.0])}
    )
    path = whole / "benchmarks" / "random_network-41.json"
    best = json.loads(path.read_text()) | {"status": "infeasible", "cost": None}
    path.write_text(json.dumps(best))
    summary = Summary(Results(whole))
    assert [row.runs for row in summary.rows] == [1, 1]
    reason = "no fixed action satisfies every round's constraint"
    assert summary.unjudged == [(ProblemAtHorizon("random_network", 100), 41, 2, reason)]
    out = CliRunner().invoke(app, ["report", str(whole)])
    assert "left out: random_network, T = 100, seed 41, 2 runs" in out.stdout
    assert "Runs left out" in (whole / "report" / "report.html").read_text(encoding="utf-8")


def test_a_folder_of_infeasible_games_says_why(tmp_path: Path):
    at = make_results(tmp_path, {"guo_recoo": Made([1.0])}, status="infeasible")
    out = CliRunner().invoke(app, ["report", str(at)])
    assert out.exit_code == 2
    assert "satisfies every round" in " ".join(out.output.split())


def test_times_say_what_ran_compiled(tmp_path: Path):
    timed = {
        "guo_recoo": Made([1.0, 2.0], seconds=[1e-2, 3e-2], compiled=False),
        "unconstrained": Made([1.0, 2.0], seconds=[1e-4, 3e-4], compiled=True),
    }
    summary = Summary(Results(make_results(tmp_path / "a", timed)))
    assert [row.ran for row in summary.rows] == ["through play", "compiled"]
    assert [row.microseconds for row in summary.rows] == pytest.approx([200.0, 2.0])
    table = "\n".join(_lines(summary, 80))
    assert re.search(r"guo_recoo .* 200 p", table)
    assert re.search(r"unconstrained .* 2 c", table)
    page = write_report(summary, tmp_path / "out").read_text(encoding="utf-8")
    assert "through play</td>" in page
    assert "compares code, not algorithms" in page


def _lines(summary: Summary, width: int) -> list[str]:
    console = Console(width=width, highlight=False, record=True, file=io.StringIO())
    console.print(summary_table(summary, summary.places[0], "practical"))
    return console.export_text().splitlines()


def test_no_number_is_cut_at_80_columns(tmp_path: Path):
    name = "projection_free_long_term"
    wide = Made([-12345.0, 1.0], ccv=[123.0, 456.0], seconds=[1.234, 1.234], compiled=False)
    wide = wide._replace(eagerness=0.125)
    summary = Summary(Results(make_results(tmp_path, {name: wide}, labels=("[red]routes",))))
    lines = _lines(summary, 80)
    assert lines[0].startswith("[red]routes, T = 100")  # a label is no markup
    row = summary.rows[0]
    numbers = (f"{row.regret} {row.ccv}".replace("± ", "±") + " 0.125 1/1* 1.00+0.00 p").split()
    assert "…" not in "".join(lines)
    assert all(any(number in line for line in lines) for number in numbers)
    assert max(map(len, lines)) <= 80


@pytest.mark.usefixtures("undrawn")
def test_names_stand_beside_what_a_reader_must_know(tmp_path: Path):
    methods = ("wang_2025", "yu_neely_2020", "garber_kretzu_2024_lpm", "projection_free_coco")
    made = {name: Made([float(k), k + 1.0]) for k, name in enumerate(methods)}
    summary = Summary(Results(make_results(tmp_path / "made", made)))
    page = write_report(summary, tmp_path / "report").read_text()
    assert "wang_2025 (restarts around Hedgerow&#x27;s learner)" in page
    assert "yu_neely_2020 (out of scope: fixed constraint, Slater; reconstruction)" in page
    assert "garber_kretzu_2024_lpm (reconstruction)" in page
    assert "Played: 4 methods on " in page
    assert ">projection_free_coco<" in page
    assert "} restarts around Hedgerow's learner." in as_latex(summary, summary.rows)
    console = Console(width=80, file=io.StringIO())
    console.print(summary_table(summary, summary.places[0], "practical"))
    assert "wang_2025 (restarts around Hedgerow's learner)" in console.file.getvalue()
    theory = [row.config._replace(preset="theory") for row in summary.rows]
    shown = [summary.names.in_code(*config[:2]) for config in theory]
    assert "wang_2025" in shown, "the theorem's constants are their own"


@pytest.mark.usefixtures("undrawn")
def test_the_page_has_the_ccv_of_each_constraint(tmp_path: Path):
    """The blind action's CCV is 100, so that a CCV is its own percentage."""
    made = {
        "guo_recoo": Made([1.0, 2.0], ccv=[5.0, 7.0], each=[[4.0, 3.0], [6.0, 3.0]]),
        "unconstrained": Made([0.0, 1.0], ccv=[90.0, 90.0], each=[[80.0, 25.0], [80.0, 25.0]]),
    }
    summary = Summary(Results(make_results(tmp_path / "made", made)))
    (kept,) = (row for row in summary.rows if row.config.method == "guo_recoo")
    assert kept.ccv_each == (Mean.of([4.0, 6.0]), Mean.of([3.0, 3.0]))
    page = write_report(summary, tmp_path / "report").read_text()
    section = page.split("Each constraint of random_network, T = 100, practical constants")[1]
    head, *rows = re.findall(r"<tr>(.*?)</tr>", section.split("</table>")[0])
    assert re.findall(r"<th>(.*?)</th>", head) == [
        "method",
        "CCV %",
        "constraint 1",
        "constraint 2",
    ]
    cells = {cell[0]: cell[1:] for cell in (re.findall(r"<td>(.*?)</td>", row) for row in rows)}
    assert cells["unconstrained"] == ["90.0 ± 0", "80.0 ± 0", "25.0 ± 0"]
    assert cells["guo_recoo (schedules reconstructed)"] == [str(kept.ccv), *map(str, kept.ccv_each)]


@pytest.mark.usefixtures("undrawn")
def test_constraints_with_units_of_their_own_are_named_and_not_added(tmp_path: Path):
    service = [
        {"constraint": name, "unit": unit, "violated_minutes": None, "longest_minutes": None}
        | {"violated_share": 0.1, "worst": 5.0, "p95": 1.0, "longest_streak": 3}
        for name, unit in (("latency", "ms"), ("share of B", ""))
    ]
    more = {"constraint_units": [120.0, 0.4], "service": service, "infeasible_rounds": 12}
    made = {"guo_recoo": Made([1.0], ccv=[5.0], each=[[400.0, 0.3]], more=more)}
    summary = Summary(Results(make_results(tmp_path / "made", made)))
    (row,) = summary.rows
    assert [mean.value for mean in row.ccv_each] == [400.0, 0.3], "not in percent of a mixed sum"
    page = write_report(summary, tmp_path / "report").read_text()
    section = page.split("Each constraint of random_network, T = 100, practical constants")[1]
    section = section.split("</table>")[0]
    assert "in its own unit" in section
    heads = re.findall(r"<th[^>]*>(.*?)</th>", section)
    assert heads == ["method", "CCV %", "latency in ms", "share of B"]
    assert re.findall(r'<td class="n">(.*?)</td>', section) == ["5.00", "400", "0.300"]
    assert "In 12 of 100 rounds no action meets the limit." in page


@pytest.mark.usefixtures("undrawn")
def test_of_many_constraints_the_page_has_those_that_are_violated_most(tmp_path: Path):
    many = [float(k % 7) for k in range(20)]
    at = make_results(tmp_path / "many", {"unconstrained": Made([0.0], each=[many])})
    page = write_report(Summary(Results(at)), tmp_path / "report").read_text()
    assert "The 8 of 20 with the most are shown." in page
    shown = [int(k) for k in re.findall(r"<th[^>]*>constraint (\d+)</th>", page)]
    assert shown == [5, 6, 7, 12, 13, 14, 19, 20]  # those with 4, 5 and 6


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("each", [(), [[1.0, 2.0], [1.0, 2.0, 3.0]]])
def test_without_a_ccv_of_each_there_is_no_section(tmp_path: Path, each):
    at = make_results(tmp_path / "one", {"unconstrained": Made([0.0, 1.0], each=each)})
    page = write_report(Summary(Results(at)), tmp_path / "report").read_text()
    assert "Each constraint of" not in page


def test_labels_that_look_alike_keep_their_figures(tmp_path: Path):
    labels, kinds = ("a b", "a-b"), ("iid_simplex", "iid_simplex")
    at = make_results(tmp_path / "in", {"guo_recoo": Made([1.0, 2.0])}, kinds, labels)
    page = write_report(Summary(Results(at)), tmp_path / "out").read_text(encoding="utf-8")
    names = {path.stem for path in (tmp_path / "out" / "figures").glob("curves*.png")}
    assert names == {"curves-2-a-b-practical"}, "the first one is the headline"
    found = re.findall(r'class="panel" id="([^"]*)-0"', page)
    assert sorted(found) == ["curves-2-a-b-practical", "headline", "plane-practical"]


def test_latex_takes_any_label(tmp_path: Path):
    at = make_results(tmp_path, {"guo_recoo": Made([1.0, 2.0])}, labels=(r"a & b #1 $5 50% x_y",))
    summary = Summary(Results(at))
    latex = as_latex(summary, summary.rows)
    assert r"a \& b \#1 \$5 50\% x\_y" in latex
    assert r"\pm" in latex
    assert "±" not in latex


def test_choices_say_what_is_known_and_no_more(tmp_path: Path):
    methods = {"guo_recoo": Made([1.0, 2.0])}
    drawn = make_results(tmp_path / "a", methods, ("iid_simplex",))
    found = {choice.what: choice for choice in choices(Summary(Results(drawn)))}
    assert found["iid_simplex"].kind == "synthetic"
    assert "the graph" not in found
    assert "the constraint's threshold" not in found
    problem = {"label": "net", "kind": "shortest_path", "horizons": [100]}
    problem |= {"parameters": {"network": "europe.json"}, "sha256": {"network": "00"}}
    at = make_results(
        tmp_path / "b", methods, ("shortest_path",), labels=("net",), problems=[problem]
    )
    found = {choice.what: choice for choice in choices(Summary(Results(at)))}
    assert found["net"].kind == "file"
    assert "europe.json" in found["net"].why
    assert "labels" in found["net"].why
    assert "the graph" in found


def test_axes_show_more_than_powers_of_ten():
    _, ((ax,),) = canvas(1, 1, 4.0, 3.0)
    ax.plot([0.0, 1.0], [-30.0, 60.0])
    scale_in_percent(ax, "y", REGRET)
    low, high = ax.get_ylim()
    shown = [float(text.get_text()) for text in ax.get_yticklabels()]
    assert {-20.0, -10.0, -5.0, 0.0, 5.0, 10.0, 20.0, 50.0} <= set(shown)
    assert low <= min(shown)
    assert max(shown) <= high
    _, ((ax,),) = canvas(1, 1, 4.0, 3.0)
    ax.plot([0.0, 1.0], [0.0, 0.6])
    scale_in_percent(ax, "y", CCV)
    assert ax.get_yscale() == "linear"


def test_no_entry_of_a_legend_leaves_its_figure():
    figure, ((ax,),) = canvas(1, 1, 8.0, 4.0)
    for k in range(5):
        ax.plot(
            [0, 1], [0, k], label=f"method {k}, with remarks of sixty letters or a few more ({k})"
        )
    legend_above(figure, ax)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert legend.get_window_extent().x1 <= figure.bbox.x1
