"""The page opens with answers that follow from the results, and its figures answer the mouse."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from hedgerow.experiments.executors import serial
from hedgerow.experiments.reading import load_experiment
from hedgerow.experiments.results import Results
from hedgerow.experiments.sweeps import sweep
from hedgerow.report.escaping import in_latex
from hedgerow.report.headline import (
    answers,
    headline_place,
    headline_rows,
    headline_styles,
    standings,
    what_was_run,
)
from hedgerow.report.latex import as_latex
from hedgerow.report.naming import GARBER, HEADLINE, OURS, PLAIN, SINHA, WANG, Names
from hedgerow.report.page import write_report
from hedgerow.report.summary import Summary
from live_figures import items, renderers, wait_until
from made_results import Made, make_results

CHROMIUM = shutil.which("chromium")
HOSTILE = "<b>&'\"$x</script>"


def made(regret: float, ccv: float, microseconds: float, compiled: bool = True) -> Made:
    seeds = range(4)
    return Made(
        [regret + 0.1 * k for k in seeds],
        ccv=[ccv + 0.1 * k for k in seeds],
        seconds=[1e-4 * microseconds] * 4,  # a hundred rounds
        compiled=compiled,
    )


GAME = {
    OURS: made(-1.0, 1.0, 6.0),
    PLAIN: made(-2.0, 2.0, 4.0),
    SINHA: made(-3.0, 3.0, 400.0, compiled=False),
    WANG: made(-4.0, 30.0, 8.0),
    GARBER: made(5.0, 5.0, 80.0, compiled=False),
    "guo_recoo": made(1.0, 0.5, 900.0, compiled=False),
    "yi_2023": made(3.0, 8.0, 90.0),
    HOSTILE: made(2.0, 95.0, 9.0),
}
OPENING = [HOSTILE, *HEADLINE, "guo_recoo"]
"""The paper's methods, the user's own, and the one with the lowest CCV."""


def summarised(at: Path, methods: dict[str, Made]) -> Summary:
    return Summary(Results(make_results(at, methods)))


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    return summarised(tmp_path_factory.mktemp("made") / "results", GAME)


@pytest.fixture(scope="module")
def page(summary: Summary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(summary, tmp_path_factory.mktemp("page"))


def named(method: str) -> str:
    return Names({"methods": [method]}).full(method, "practical")


def said(summary: Summary) -> list[str]:
    return [a.answer for a in answers(summary, headline_place(summary), "practical")]


def test_answers_follow_from_the_results(tmp_path: Path, summary: Summary):
    kept, cost, fast = said(summary)
    rows = {row.config.method: row for row in summary.rows}
    guo = rows["guo_recoo"]
    assert kept == (
        f"{named('guo_recoo')} has a CCV of {guo.ccv} % of the unconstrained action's, the lowest "
        f"of 8 methods. Second is {named(OURS)} with {rows[OURS].ccv} %; the difference is "
        f"significant over 4 seeds. {HOSTILE} violates most: {rows[HOSTILE].ccv} %."
    )
    assert "costs more than the best fixed action that satisfies every round" in cost
    assert f"below 90 %, {named(WANG)} costs least: regret {rows[WANG].regret} %, CCV" in cost
    assert fast == (
        f"{named(PLAIN)} is fastest: 4 µs per round (compiled). The slowest, "
        f"{named('guo_recoo')}, takes 225 times as long (in Python)."
    )
    swapped = summarised(
        tmp_path / "swapped",
        {**GAME, OURS: GAME[GARBER], "guo_recoo": GAME[OURS], PLAIN: GAME[OURS]},
    )
    kept, cost, _ = said(swapped)
    first, second = (row for row in swapped.rows if row.config.method in ("guo_recoo", PLAIN))
    assert first.ccv == second.ccv
    assert "the difference is not significant over 4 seeds" in kept
    assert named(OURS) not in kept + cost


MINE = "mine:my_fw"


@pytest.mark.parametrize("ccv", [0.2, 4.0])
def test_a_method_of_the_users_own_is_judged_like_all_others(tmp_path: Path, ccv: float):
    """It opens the page; where it is best, every answer and the bold are about it."""
    methods = {**GAME, MINE: made(-3.5, ccv, 5.0)}
    summary = summarised(tmp_path / "results", methods)
    place, wins = headline_place(summary), ccv < 0.5
    opening = [row.config.method for row in headline_rows(summary, place, "practical")]
    assert opening == [HOSTILE, MINE, *HEADLINE, *([] if wins else ["guo_recoo"])]
    page = write_report(summary, tmp_path / "page")
    kept, _, _ = said(summary)
    assert kept.startswith(f"{MINE if wins else named('guo_recoo')} has a CCV of ")
    (line,) = (
        line
        for line in (page.parent / "headline.tex").read_text().splitlines()
        if line.startswith(in_latex(MINE))
    )
    assert (r"$\mathbf{0.3" in line) is wins
    ((_, standing),) = standings(summary, "practical")
    rank = "1st" if wins else "5th"
    assert f"{MINE}: 2nd of 9 by regret, {rank} by CCV." in standing
    drawn = items(page)
    for panel in ("headline-0", "headline-1", "headline-2"):
        assert MINE in {method for method, _, _ in renderers(drawn[panel])}
    styles = headline_styles(summary)
    assert len({styles[method][0] for method in opening}) == len(opening), "a colour for each"


def test_each_problem_has_its_answer_also_where_our_default_is_last(tmp_path: Path):
    methods = {OURS: GAME[GARBER], SINHA: GAME[SINHA], WANG: GAME[WANG], "yi_2023": GAME[OURS]}
    kinds = ("iid_simplex", "portfolio")
    folder = make_results(tmp_path / "results", methods, kinds=kinds)
    for run in (folder / "runs").glob("portfolio-*.json"):
        run.unlink()
    best = json.loads((folder / "benchmarks" / "portfolio-40.json").read_text())
    assert best["status"] == "optimal"
    summary = Summary(Results(folder))
    first, second = standings(summary, "practical")
    rows = {row.config.method: row for row in summary.rows}
    assert first.question == "iid_simplex, T = 100"
    assert first.answer == (
        f"Lowest CCV: {named('yi_2023')}, {rows['yi_2023'].ccv} %. Lowest regret with a CCV below "
        f"90 %: {named(WANG)}, {rows[WANG].regret} %, with a CCV of {rows[WANG].ccv} %. "
        f"{named(OURS)}: 4th of 4 by regret, 3rd by CCV."
    )
    assert second == ("portfolio", "No answer: no finished run with these constants.")
    text = write_report(summary, tmp_path / "page").read_text()
    for question, answer in (first, second):
        assert f"<dt>{html.escape(question)}</dt><dd>{html.escape(answer)}</dd>" in text


def test_where_all_ignore_the_constraint_the_answer_says_so(tmp_path: Path):
    blind = Made([-50.0] * 4, ccv=[99.0] * 4)
    summary = summarised(tmp_path, {OURS: blind, SINHA: blind})
    assert said(summary)[1].endswith(
        "Every method has a CCV of 90 % or more: all ignore the constraint."
    )
    assert "all ignore the constraint" in standings(summary, "practical")[0].answer


def test_every_table_says_what_is_a_reconstruction(tmp_path: Path):
    summary = summarised(tmp_path / "results", GAME)
    folder = write_report(summary, tmp_path / "page").parent
    for name in ("headline.tex", "table.tex", "table.csv"):
        text = (folder / name).read_text()
        for remark in (
            "reconstruction",
            "restarts around Hedgerow's learner",
            "schedules reconstructed",
        ):
            assert remark in text, (name, remark)


def test_a_regret_around_zero_is_not_called_equal(tmp_path: Path):
    even = Made([-1.0, 1.0, -1.0, 1.0], ccv=[1.0] * 4)
    _, cost = said(summarised(tmp_path, {OURS: even, SINHA: Made([0.0] * 4, ccv=[2.0] * 4)}))
    assert cost.startswith(f"{named(OURS)} costs about as much as the best fixed action")
    assert "± 1.8 %, which may be above or below 0)" in cost


@pytest.mark.parametrize(
    ("second", "decided"), [([-2.0, -2.1, -2.0, -2.1], "is"), ([-9.0, 4, -9, 4], "is not")]
)
def test_the_lowest_cost_says_whether_the_seeds_decide(tmp_path: Path, second, decided):
    made = {
        OURS: Made([1.0] * 4, ccv=[1.0] * 4),
        SINHA: Made([-3.0, -3.1, -3.1, -3.0], ccv=[3.0] * 4),
        "my_methods:mine": Made(second, ccv=[2.0] * 4),
    }
    _, cost = said(summarised(tmp_path, made))
    assert f"{named(SINHA)} costs least: regret -" in cost
    assert "Second is my_methods:mine with -" in cost
    assert cost.endswith(f"; the difference {decided} significant over 4 seeds.")


def test_one_seed_shows_no_significance(tmp_path: Path):
    kept, _ = said(summarised(tmp_path, {OURS: Made([1.0]), SINHA: Made([2.0], ccv=[3.0])}))
    assert "one seed cannot show whether the difference is significant." in kept


def test_the_page_says_where_shorter_games_are(tmp_path: Path):
    results = tmp_path / "results"
    (tmp_path / "two.toml").write_text(
        "name = 'two'\nmethods = ['projection_free_coco']\nhorizons = [10, 20]\nseeds = [1, 2]\n"
        "[[problems]]\nkind = 'iid_simplex'\nn = 3\n"
    )
    sweep(load_experiment(tmp_path / "two.toml"), results, serial)
    first, _ = what_was_run(Summary(Results(results)))
    assert "T = 20; 2 seeds" in first
    assert first.endswith(
        "4 runs. Shorter games, T = 10, are counted here; table.csv has their results."
    )


def test_the_page_says_which_method_has_no_run(tmp_path: Path):
    results = tmp_path / "results"
    made = {name: Made([1.0] * 4) for name in (OURS, SINHA, "my_methods:failed")}
    summarised(results, made)
    for record in (results / "runs").glob("*.json"):
        if json.loads(record.read_bytes())["method"] == "my_methods:failed":
            record.unlink()
    summary = Summary(Results(results))
    first, _ = what_was_run(summary)
    assert first.startswith("Played: 2 of 3 methods on ")
    assert "8 runs; not finished: none of my_methods:failed." in first
    text = write_report(summary, tmp_path / "page").read_text()
    assert '<p class="warn">8 runs; not finished: none of my_methods:failed.</p>' in text


def test_the_page_opens_with_what_was_run(summary: Summary, page: Path):
    text = page.read_text()
    first, second = what_was_run(summary)
    assert "8 methods on Routes on a graph by the paper's recipe (random_network), T = 100" in first
    assert "4 seeds (40 to 43). 32 runs." in first
    assert second == "Hedgerow 0.", "the environment was not stored"
    order = [html.escape(first), 'id="answers"', *map(html.escape, said(summary))]
    order += ['id="headline-0"', "<strong>CCV</strong>", 'id="plane-practical-0"', 'id="verdicts"']
    order += [
        'id="others"',
        'id="curves-1-random-network-practical-0"',
        'id="tables"',
        'id="choices"',
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    (summary.results.folder / "environment.json").write_text(
        json.dumps({"begun": "2026-01-02", "processors": 2, "platform": "x", "numpy": "9"})
    )
    assert what_was_run(summary)[1] == "Begun 2026-01-02, on 2 processors (x). Hedgerow 0, numpy 9."


def test_the_headline_has_the_papers_methods_and_ours(summary: Summary, tmp_path: Path):
    place = headline_place(summary)
    methods = [row.config.method for row in headline_rows(summary, place, "practical")]
    assert methods == OPENING
    others = summarised(tmp_path, {"guo_recoo": GAME[OURS], "yi_2023": GAME[PLAIN]})
    assert len(headline_rows(others, headline_place(others), "practical")) == 2


def test_names_are_words_and_never_shared():
    from hedgerow.baselines.methods import METHODS

    words = [named(name) for name in METHODS]
    assert len(set(words)) == len(words)
    assert not any("_" in word.split(" (")[0] for word in words), "remarks may name methods"


def test_figures_hold_the_numbers_of_the_results(summary: Summary, page: Path):
    rows = {row.config.method: row for row in summary.rows}
    drawn = items(page)
    for name, which in (("headline-0", "ccv"), ("headline-1", "regret")):
        seen = set()
        for method, _, columns in renderers(drawn[name]):
            if not columns:
                continue  # the line of a band: its numbers are the band's
            seen.add(method)
            t, middle, _, high = summary.band(rows[method], which)
            assert columns["t"][-1] == t[-1] == 100
            assert columns["y"][-1] == pytest.approx(getattr(rows[method], which).value, rel=1e-6)
            assert columns["y"] == pytest.approx(middle, rel=1e-5)
            assert columns["half"] == pytest.approx(high - middle, rel=1e-4, abs=1e-6)
        assert seen == set(OPENING)
    times = {m: columns["x"][0] for m, _, columns in renderers(drawn["headline-2"]) if columns}
    assert times == pytest.approx({m: rows[m].microseconds for m in OPENING}, rel=1e-5)
    plane = {m: columns for m, _, columns in renderers(drawn["plane-practical-0"]) if columns}
    assert plane.keys() == rows.keys()
    for method, columns in plane.items():
        assert columns["x"][0] == pytest.approx(rows[method].ccv.value, rel=1e-6)
        assert columns["y"][0] == pytest.approx(rows[method].regret.value, rel=1e-6)
        assert list(columns["ccv"]) == [str(rows[method].ccv)]


def test_the_table_has_the_numbers_of_the_results(summary: Summary, page: Path):
    text = page.read_text()
    for row in summary.rows:
        (line,) = re.findall(
            rf'<tr[^>]* data-method="{re.escape(html.escape(row.config.method))}">(.*?)</tr>', text
        )
        cells = re.findall(r'<td class="n">(.*?)</td>', line)
        assert cells[1:3] == [str(row.regret), str(row.ccv)]


def test_latex_marks_the_best_and_the_second(summary: Summary, page: Path):
    rows = {row.config.method: row for row in summary.rows}
    lines = {line.split(" & ")[0]: line for line in as_latex(summary, summary.rows).splitlines()}

    def marked(mean: Any, command: str) -> str:
        value, half = str(mean).split(" ± ")
        return rf"${command}{{{value}}} \pm {half}$"

    guo = next(line for name, line in lines.items() if name.startswith("Guo, Liu"))
    assert marked(rows["guo_recoo"].ccv, r"\mathbf") in guo
    ours = next(line for name, line in lines.items() if name.startswith(r"Hedgerow\text"))
    assert marked(rows[OURS].ccv, r"\underline") in ours
    assert marked(rows[SINHA].regret, r"\underline") in (
        next(line for name, line in lines.items() if name.startswith("Sinha and Vaze 2024"))
    )
    latex = as_latex(summary, summary.rows)
    assert (latex.count(r"\mathbf"), latex.count(r"\underline")) == (2, 2)
    short = (page.parent / "headline.tex").read_text()
    assert re.search(r"Sinha and Vaze 2024\\textsuperscript\{.\} & \$", short)
    assert "All methods have practical constants." in short
    assert marked(rows["guo_recoo"].ccv, r"\mathbf") in short, "of all that played"
    assert marked(rows[OURS].ccv, r"\underline") in short


def test_what_ignores_the_constraint_is_not_marked(tmp_path: Path):
    blind = Made([-50.0] * 4, ccv=[99.0] * 4)
    summary = summarised(tmp_path, {OURS: GAME[OURS], "unconstrained": blind})
    latex = as_latex(summary, summary.rows)
    (line,) = (line for line in latex.splitlines() if "Algorithm 1, unconstrained" in line)
    assert r"\mathbf" not in line
    assert r"\underline" not in line


@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt-get install chromium")
def test_in_a_browser_the_page_asks_for_nothing_and_its_controls_work(page: Path):
    sync_api = pytest.importorskip("playwright.sync_api")
    asked, errors = [], []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 1400, "height": 900})
        view.set_default_timeout(60_000)
        view.on("request", lambda request: asked.append(request.url))
        view.on("pageerror", lambda error: errors.append(str(error)))
        view.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        view.goto(page.as_uri())
        wait_until(view, "Bokeh.documents.length === 4 && Bokeh.documents.every(d => d.is_idle)")
        at = "Bokeh.documents.flatMap(d => d.roots()).flatMap(p => p.renderers)"
        of = f"{at}.filter(r => r.tags[0] === '{SINHA}')"
        key = view.locator(f"button[data-key={SINHA}]")
        key.click()
        assert view.evaluate(f"{of}.length > 5 && {of}.every(r => r.visible && !r.muted)")
        assert view.evaluate(f"{at}.filter(r => r.tags[0] !== '{SINHA}').every(r => r.muted)")
        key.click()
        assert view.evaluate(f"{of}.every(r => !r.visible)")
        assert not view.locator(f"tr[data-method={SINHA}]").first.is_visible()
        key.click()
        assert view.evaluate(f"{at}.every(r => r.visible && !r.muted)")
        lines = f"{at}.filter(r => r.glyph.type === 'Line').map(r => r.glyph.y.field)"
        assert set(view.evaluate(lines)) <= {"y", "y_log"}
        assert "y_log" in view.evaluate(lines)
        view.locator("button[data-scale]").first.click()
        assert set(view.evaluate(lines)) == {"y"}
        shade = "getComputedStyle(document.querySelector('{}')).{}"
        assert view.evaluate(shade.format("body", "backgroundColor")) == "rgb(255, 255, 255)"
        assert view.evaluate(shade.format(".panel", "filter")) == "none"
        view.emulate_media(color_scheme="dark")
        assert view.evaluate(shade.format("body", "backgroundColor")) == "rgb(20, 20, 20)"
        assert view.evaluate(shade.format(".panel", "filter")).startswith("invert(0.92)")
        view.set_viewport_size({"width": 390, "height": 800})
        # no sideways scrolling, once the figures have their new width
        wait_until(view, "document.documentElement.scrollWidth === 390")
        view.set_viewport_size({"width": 1400, "height": 900})
        grids = "p.center.filter(c => c.type === 'Grid' && c.dimension === k && c.visible).length"
        assert view.evaluate(
            f"Bokeh.documents.every(d => [0, 1].every(k => {{ "
            f"const p = d.roots()[0]; return {grids} <= 1 }}))"
        ), "one for an axis"
        view.locator("summary", has_text="Routes on a graph").first.click()
        wait_until(view, "Bokeh.documents.length === 7")
        assert view.evaluate("document.documentElement.scrollWidth") <= 1400
        assert set(view.evaluate(lines)) == {"y"}, "what is drawn later has the axes of the others"
        narrow = browser.new_page(viewport={"width": 390, "height": 844})
        narrow.goto(page.as_uri())
        assert narrow.evaluate("document.documentElement.scrollWidth") <= 390
        browser.close()
    assert not errors
    assert {url for url in asked if not url.startswith("data:")} == {page.as_uri()}
