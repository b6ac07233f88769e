"""Names come from users and files: none is mathematics, markup, a command, a formula or a tag."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.cli.output import print_error, print_line
from hedgerow.cli.tune import _table as tune_table
from hedgerow.experiments.results import Results
from hedgerow.networks.network import Network
from hedgerow.report.escaping import in_csv, in_figure, in_html, in_latex, in_table, printable
from hedgerow.report.latex import as_latex
from hedgerow.report.networks import network_table, record_table, rejection_table
from hedgerow.report.page import write_report
from hedgerow.report.picture import canvas
from hedgerow.report.summary import Summary
from hedgerow.report.tables import as_csv
from made_results import Made, make_results

HOSTILE = {
    "$": "$",
    "mathematics": r"$\frac{1}{2}$ and $x",
    "bad mathematics": r"$\frac{$",
    "escaped dollar": r"\$5",
    "closing markup": "[/x]",
    "markup": "[red]x[/red]",
    "emoji": ":boom:",
    "terminal": "\x1b[31mred\x1b[0m\x07",
    "lines": "a\r\nb\tc",
    "direction": "abc\u202edef",
    "hidden": "_x",
    "formula": '=HYPERLINK("x","y")',
    "plus": "+1",
    "minus": "-1+cmd|' /C calc'!A0",
    "at": "@SUM(1)",
    "space and formula": "  =1",
    "latex": r"a_b & 50% #1 {x} ~^\y",
    "bracket": "[2pt] x*",
    "tag": "<script>alert('1')</script>&amp;\"",
    "half a character": "\ud800",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_figures_show_a_name_as_it_is(name):
    figure, ((ax,),) = canvas(1, 1, 6.0, 4.0)
    shown = ax.text(0, 0, in_figure(HOSTILE[name]))
    plain = ax.text(0, 0, in_figure(HOSTILE[name]).replace(r"\$", "$"), parse_math=False)
    ax.plot([0], [0], label=in_figure(HOSTILE[name]))
    renderer = figure.canvas.get_renderer()
    assert shown.get_window_extent(renderer).bounds == plain.get_window_extent(renderer).bounds
    assert in_figure(HOSTILE[name]).strip().replace(r"\$", "$") == printable(HOSTILE[name]).strip()
    assert len(ax.get_legend_handles_labels()[1]) == 1, "none is hidden"
    figure.canvas.draw()


def test_long_names_are_cut_in_figures():
    assert len(in_figure("x" * 10_000)) == 120


@pytest.mark.parametrize("name", HOSTILE)
def test_tables_show_a_name_as_it_is(name):
    given = HOSTILE[name]
    choice = {"seed": given, given: {given: [given]}}
    row = {"problem": given, "horizon": 1, "method": given, "eagerness": 1.0}
    tables = [
        rejection_table([{"count": 1, "reason": given, "first": given}]),
        record_table(choice),
        tune_table({"rule": "sum", "rows": [row]}),
    ]
    if "\n" not in given:  # no label has two lines
        tables.append(network_table(Network(("a", "b"), [(0, 1)], [1.0], f"proxy:.{given}.")))
    for text in map(rendered, tables):
        assert printable(given).strip() in text
        assert not set(text) & {"\x1b", "\x07", "\u202e", "\r", "\t", "\ud800"}


def rendered(renderable):
    console = Console(width=400, file=io.StringIO())
    console.print(renderable)
    return console.file.getvalue()


@pytest.mark.parametrize("name", HOSTILE)
def test_lines_show_a_name_as_it_is(name, capsys):
    print_line(HOSTILE[name])
    print_error(HOSTILE[name])
    out, err = capsys.readouterr()
    assert out == printable(HOSTILE[name]) + "\n"
    assert err == f"hedgerow: {printable(HOSTILE[name])}\n"


@pytest.mark.parametrize("name", HOSTILE)
def test_no_cell_is_a_formula(name):
    cell = in_csv(HOSTILE[name])
    assert not cell.lstrip().startswith(("=", "+", "-", "@"))
    assert printable(HOSTILE[name]) in (cell, cell[1:])


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_is_a_command_of_latex(name):
    text = in_latex(HOSTILE[name])
    known = r"\\(textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar)\{\}"
    rest = re.sub(known + r"|\\[&%$#_{}]|\{[][*]\}", "", text)
    assert not set(rest) & set("\\&%$#_{}~^<>|\n[]*")


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_is_a_tag(name):
    assert not re.search(r"[<>\"']|&(?!(amp|lt|gt|quot|#x27);)", in_html(HOSTILE[name]))
    assert in_table(HOSTILE[name]).plain == printable(HOSTILE[name])


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Return a folder whose label, methods and preset are hostile, and unknown to this release."""
    at = tmp_path_factory.mktemp("hostile") / "results"
    methods = {name: Made([1.0, 2.0]) for name in ("=$[/x]_&\n", "[2pt] <b>$x", "guo_recoo")}
    label = "\x1b[31m=$\\frac{$ [/x] <script>\n"
    return make_results(at, methods, labels=(label,), about="$ [/x] <b>", name="made")


def test_a_report_of_hostile_names(hostile, tmp_path):
    result = CliRunner().invoke(app, ["report", str(hostile), "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "\x1b[31m" not in result.stdout
    assert r"\x1b[31m=$\frac{$ [/x] <script>\n, T = 100" in " ".join(result.stdout.split())
    page = (tmp_path / "report.html").read_text()
    shown = re.sub(r'<script(?: type="application/json")?>.*?</script>', "", page, flags=re.DOTALL)
    assert "<script" not in shown
    assert "<b>" not in shown
    assert "[2pt] &lt;b&gt;$x" in page
    rows = list(csv.DictReader(io.StringIO((tmp_path / "table.csv").read_text())))
    assert len(rows) == 3
    assert {row["method"] for row in rows} == {r"'=$[/x]_&\n", "[2pt] <b>$x", "guo_recoo"}
    assert all(row["problem"].startswith(r"\x1b[31m=$") for row in rows)
    latex = (tmp_path / "table.tex").read_text().partition(r"\par\smallskip")[0].splitlines()
    assert len(latex) == 4 + 2 + 3 + 2, "no name breaks a line"


def test_a_method_that_is_not_known_here_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.report.page.draw_all", lambda *_: [])
    at = make_results(tmp_path, {"of_tomorrow": Made([1.0, 3.0]), "guo_recoo": Made([5.0, 5.0])})
    result = CliRunner().invoke(app, ["report", str(at)])
    assert result.exit_code == 0, result.output
    assert re.search(r"of_tomorrow .* 1/1\*", result.stdout)
    page = (at / "report/report.html").read_text()
    assert "not a method of this library; its numbers are as stored" in page
    summary = Summary(Results(at))
    (row,) = [r for r in summary.rows if r.config.method == "of_tomorrow"]
    assert row.regret.value == 2.0
    assert "of_tomorrow" in as_csv(summary)
    assert r"of\_tomorrow" in as_latex(summary, [row])


@pytest.mark.parametrize("key", ["kinds", "presets"])
def test_a_kind_or_preset_that_is_not_known_here_is_reported(key, tmp_path):
    made = {"guo_recoo": Made([1.0, 3.0]), "unconstrained": Made([0.0, 1.0])}
    kinds = ("of_tomorrow",) if key == "kinds" else ("iid_simplex",)
    at = make_results(tmp_path / "in", made, kinds)
    if key == "presets":
        for path in at.glob("runs/*.json"):
            path.write_text(json.dumps(json.loads(path.read_text()) | {"preset": "to/morrow"}))
    page = write_report(Summary(Results(at)), tmp_path / "out")
    assert "of_tomorrow" in page.read_text() or "to/morrow constants" in page.read_text()
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "figures", "headline.tex", "report.html", "table.csv", "table.tex",
    ]  # fmt: skip


def test_a_browser_may_load_nothing_but_the_page_itself(tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.report.page.draw_all", lambda *_: [])
    at = make_results(tmp_path / "in", {"guo_recoo": Made([1.0, 2.0])})
    page = write_report(Summary(Results(at)), tmp_path / "out").read_text()
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert rules == {
        "default-src": "'none'",
        "img-src": "data:",
        "style-src": f"'sha256-{digest}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert not re.search(r"\sstyle=|\son\w+=|<script|javascript:", page)
    head = page.index("Content-Security-Policy")
    assert head < page.index("<title>") < page.index("<style>"), "a policy binds what follows it"


@pytest.mark.parametrize("name", ["[/x]", "$\\frac{$", "\x1b[31m"])
def test_a_network_of_hostile_names(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network = Network(
        (name, "b", "c"), [(1, 0), (2, 0)], [1.0, 2.0], f"proxy:{name}", [1.0, 2.0],
        f"synthetic:{name}", hub=0, source=1, target=2, choices={name: name},
    )  # fmt: skip
    network.save("n.json")
    shown = CliRunner().invoke(app, ["network", "show", "n.json", "--out", "[/x]"])
    assert shown.exit_code == 0, shown.output
    assert f"hub {printable(name)}" in shown.stdout
    assert "\x1b[31m" not in shown.stdout
    assert Path("[/x]/network.png").read_bytes().startswith(b"\x89PNG")
    build = ["network", "build", "n.json", "--nodes", "4", "--edges", "5", "-o", "g.json"]
    refused = CliRunner().invoke(app, build)
    assert refused.exit_code == 2
    assert len(refused.stderr.splitlines()) == 1
