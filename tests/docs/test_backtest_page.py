"""backtest.md: its commands, its Python and its experiment file run; its tables are true."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hedgerow.cli.app import app
from hedgerow.experiments.reading import load_experiment

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/backtest.md").read_text(encoding="utf-8")
POLICIES = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the measurements, in which the commands of the page have run."""
    at = tmp_path_factory.mktemp("backtest")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(at)
        patch.setenv("COLUMNS", "80")
        outputs = []
        for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE):
            for line in block.replace("\\\n", " ").splitlines():
                program, *arguments = shlex.split(line)
                if program == "python":
                    patch.setattr("sys.argv", arguments)
                    runpy.run_path(str(ROOT / arguments[0]), run_name="__main__")
                    continue
                done = CliRunner().invoke(app, arguments)
                assert done.exit_code == 0, done.output
                outputs.append(done.stdout)
        yield at, outputs


def test_commands_print_what_the_page_shows(folder):
    _, (first, second, geant) = folder
    begin = "In (?:9 of 2880 minutes no|every minute some) route meets"
    tables = re.findall(rf"^```\n({begin}.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    for shown, output in zip(tables, (first, geant), strict=True):
        printed = [line.rstrip() for line in output.splitlines()]
        lines = [line.rstrip() for line in shown.splitlines()]
        assert len(lines) == 5 + POLICIES
        first_line = printed.index(lines[0])
        assert lines == printed[first_line : first_line + len(lines)]
    assert "than the route of today, with" in second.splitlines()[-1]
    assert "price_eur at most 14 eur" in second
    for line in first.splitlines():
        assert "…" not in line
    tables = [
        line
        for text in (first, second, geant)
        for line in text.splitlines()
        if line.startswith(" ")
    ]
    assert max(map(len, tables)) <= 80


def test_the_python_of_the_page_runs(folder, monkeypatch, capsys):
    at, _ = folder
    monkeypatch.chdir(at)
    (code,) = re.findall(r"^```py\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    exec(compile(code, "backtest.md", "exec"), {})
    out = capsys.readouterr().out
    assert "In 9 of 2880 minutes no route meets the 120 ms limit" in out
    assert "the best fixed action of those that violate least" in out
    assert (at / "out/third/backtest.html").is_file()


def test_the_experiment_of_the_page_is_understood(folder, monkeypatch):
    at, _ = folder
    monkeypatch.chdir(at)
    done = CliRunner().invoke(
        app,
        shlex.split("ingest edges out/operator/measurements.csv --both-ways -o network.json"),
    )
    assert done.exit_code == 0, done.output
    (text,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    Path("routes.toml").write_text(text)
    experiment = load_experiment("routes.toml")
    (problem,) = experiment.problems
    assert problem.build(2880, 0).unkept == 9
