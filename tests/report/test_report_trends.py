"""Growth with the horizon and the one knob: live figures with the numbers of the results."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.experiments.results import Results
from hedgerow.report.naming import OURS, PLAIN
from hedgerow.report.page import write_report
from hedgerow.report.summary import Row, Summary, growth_rates, shown_rates
from live_figures import items, renderers, wait_until

CHROMIUM = shutil.which("chromium")
EXPERIMENT = f"""
name = "trends"
methods = ["{OURS}", "{PLAIN}", "unconstrained"]
eagerness = [0.5, 1.0, 2.0]
eagerness_methods = ["{OURS}"]
horizons = [30, 60, 120]
seeds = [20, 21, 22]

[[problems]]
kind = "iid_simplex"
n = 5

[[problems]]
kind = "ranking"
n = 5
protected = 2
label = "a & b"
"""


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    at = tmp_path_factory.mktemp("trends")
    (at / "trends.toml").write_text(EXPERIMENT)
    command = ["run", str(at / "trends.toml"), "--out", str(at / "out"), "--workers", "1", "-q"]
    assert CliRunner().invoke(app, command).exit_code == 0
    return Summary(Results(at / "out"))


@pytest.fixture(scope="module")
def page(summary: Summary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(summary, tmp_path_factory.mktemp("page"))


def test_growth_has_the_means_and_the_fits(summary: Summary, page: Path):
    drawn, rates = items(page), shown_rates(growth_rates(summary))
    problems = list(dict.fromkeys(rate.problem for rate in rates))
    assert len(problems) == 2
    assert {name for name in drawn if name.startswith("growth")} == {
        f"growth-{k}" for k in range(4)
    }
    for k, problem in enumerate(problems):
        fitted = {rate.config.method: rate for rate in rates if rate.problem == problem}
        lines = {m: c for m, _, c in renderers(drawn[f"growth-{2 * k}"]) if c}
        dots = {m: c for m, _, c in renderers(drawn[f"growth-{2 * k + 1}"]) if c}
        assert lines.keys() == dots.keys() == fitted.keys()
        for method, rate in fitted.items():
            assert lines[method]["x"] == pytest.approx([30, 60, 120])
            means = [mean for _, mean in rate.means]
            assert lines[method]["y"] == pytest.approx([mean.value for mean in means], rel=1e-6)
            assert list(lines[method]["ccv"]) == [str(mean) for mean in means]
            found = [dots[method][name][0] for name in ("low", "x", "high")]
            assert found == pytest.approx([rate.low, rate.exponent, rate.high], rel=1e-5)


def test_means_of_growth_are_those_of_the_table(summary: Summary):
    raw = {(row.place.problem, row.place.horizon, row.config): row.ccv_raw for row in summary.rows}
    checked = 0
    for rate in growth_rates(summary):
        T, mean = rate.means[-1]
        assert mean == raw[rate.problem, T, rate.config]
        checked += 1
    assert checked == 2 * 5


def test_the_knob_has_a_line_for_each_problem(summary: Summary, page: Path):
    def values(row: Row) -> tuple[float, float]:
        return row.regret.value, row.ccv.value

    drawn = items(page)
    for place in summary.places:
        rows = [r for r in summary.rows if (r.place, r.config.method) == (place, OURS)]
        rows.sort(key=lambda row: row.config.eagerness)
        for which, name in enumerate(("sensitivity-0", "sensitivity-1")):
            (root,) = drawn[name]["doc"]["roots"]
            tags = [r["attributes"]["tags"] for r in root["attributes"]["renderers"]]
            at = tags.index([OURS, f"in this figure: {place.problem}"])
            _, _, columns = list(renderers(drawn[name]))[at]
            assert columns["x"] == pytest.approx([0.5, 1.0, 2.0])
            expected = [values(row)[which] for row in rows]
            assert columns["y"] == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert 'data-key="in this figure: a &amp; b">a &amp; b</button>' in page.read_text()


def test_both_have_static_forms(page: Path):
    for name in ("growth", "sensitivity"):
        for suffix in ("png", "pdf"):
            assert (page.parent / "figures" / f"{name}.{suffix}").stat().st_size > 1000


@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt-get install chromium")
def test_in_a_browser_keys_of_methods_and_of_problems_work(page: Path):
    sync_api = pytest.importorskip("playwright.sync_api")
    asked, errors = [], []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 390, "height": 844})
        view.set_default_timeout(60_000)
        view.on("request", lambda request: asked.append(request.url))
        view.on("pageerror", lambda error: errors.append(str(error)))
        view.goto(page.as_uri())
        wait_until(view, "Bokeh.documents.length === 5 && Bokeh.documents.every(d => d.is_idle)")
        for heading in ("How the violation grows", "One knob"):
            view.locator("summary", has_text=heading).click()
        wait_until(view, "Bokeh.documents.length === 11")
        plots = "Bokeh.documents.flatMap(d => d.roots())"
        at = f"{plots}.flatMap(p => p.renderers)"
        one = "in this figure: iid_simplex"
        view.locator(f"button[data-key='{one}']").click()
        mine = f"{at}.filter(r => r.tags.includes('{one}'))"
        other = f"{at}.filter(r => r.tags.includes('in this figure: a & b'))"
        assert view.evaluate(f"{mine}.length === 6 && {mine}.every(r => r.visible && !r.muted)")
        assert view.evaluate(f"{other}.length === 6 && {other}.every(r => r.muted)")
        rest = f"{at}.filter(r => r.tags.length === 1)"
        assert view.evaluate(f"{rest}.every(r => !r.muted)"), "other figures have no such key"
        view.locator(f"button[data-key='{one}']").click()
        assert view.evaluate(f"{mine}.every(r => !r.visible) && {other}.every(r => r.visible)")
        view.locator("button[data-all]").first.click()
        key = view.locator(f"button[data-key={OURS}]")
        key.click()
        key.click()
        assert view.evaluate(f"{mine}.every(r => !r.visible) && {other}.every(r => !r.visible)")
        of = f"{at}.filter(r => r.tags[0] === '{OURS}' && r.tags.length === 1)"
        assert view.evaluate(f"{of}.length > 10 && {of}.every(r => !r.visible)")
        fields = f"{at}.filter(r => r.glyph.type === 'Line').map(r => r.glyph.x.field)"
        assert "x_log" in view.evaluate(fields)
        view.locator("button[data-scale]").first.click()
        assert set(view.evaluate(fields)) == {"t", "x"}
        assert view.evaluate("document.documentElement.scrollWidth") <= 390
        browser.close()
    assert not errors
    assert {url for url in asked if not url.startswith("data:")} == {page.as_uri()}
