"""Habits of command lines: help, completion, lists, tables at 80 columns, logs."""

from __future__ import annotations

import json
import logging
import runpy
import subprocess
import sys
import tomllib
from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from typer.main import get_command
from typer.testing import CliRunner

import hedgerow
from hedgerow._engine.announcement import LINE, announce
from hedgerow.baselines.methods import METHODS, TODAY
from hedgerow.cli import progress as progress_module
from hedgerow.cli.app import app
from hedgerow.cli.network import known_names
from hedgerow.cli.output import show_log
from hedgerow.cli.progress import progress
from hedgerow.cli.tune import _table as tuning_table
from hedgerow.experiments.problems import KINDS
from hedgerow.experiments.reading import shipped
from hedgerow.experiments.sweeps import SweepProgress
from hedgerow.networks import Network, Quantity
from hedgerow.release import this_version
from hedgerow.report.networks import network_table, record_table, rejection_table


def invoked(*arguments, **others):
    return CliRunner().invoke(app, list(arguments), **others)


def test_python_m_hedgerow(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "hedgerow.__main__", raising=False)  # another test's import
    monkeypatch.setattr(sys, "argv", ["hedgerow", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("hedgerow", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"hedgerow {this_version()}\n"


def completed(words):
    env = {"_HEDGEROW_COMPLETE": "complete_bash", "COMP_WORDS": words}
    env["COMP_CWORD"] = str(len(words.split()) - 1)
    return set(invoked(env=env, prog_name="hedgerow").stdout.split())


def test_the_tab_key_completes_commands_options_and_shipped_names():
    assert completed("hedgerow me") == {"methods"}
    assert completed("hedgerow network sh") == {"show"}
    assert completed("hedgerow show sm") == {"smoke"}
    assert completed("hedgerow run paper") == {"paper", "paper_network"}
    assert "--series" in completed("hedgerow ingest edges a.csv --se")
    assert "--install-completion" in invoked("-h").stdout


def test_lists_are_short_and_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    names = {"problems": KINDS, "methods": {**METHODS, **TODAY}, "experiments": shipped()}
    overview = invoked("list").stdout
    assert len(overview.splitlines()) < 40
    for command, known in names.items():
        shown = invoked(command).stdout
        assert "…" not in shown
        assert max(map(len, shown.splitlines())) <= 80
        assert set(known) <= {line for line in shown.splitlines() if not line.startswith(" ")}
        rows = json.loads(invoked(command, "--json").stdout)
        assert {next(iter(row.values())) for row in rows} == set(known)
        assert all(name in overview for name in known)
    for name in dir(hedgerow.sets):
        if name in invoked("sets").stdout.split():
            assert name in overview


def test_show_prints_a_shipped_experiment():
    shown = invoked("show", "smoke").stdout
    assert shown == shipped()["smoke"].read_text(encoding="utf-8")
    assert tomllib.loads(shown)["name"] == "smoke"
    wrong = invoked("show", "smoak")
    assert wrong.exit_code == 2
    assert "no shipped experiment of that name; shipped are fair," in wrong.stderr


def printed(table):
    out = StringIO()
    Console(file=out, width=80).print(table)
    return out.getvalue()


def test_no_table_cuts_names_or_numbers_at_80_columns():
    label = "an experiment's label of sixty characters, as many as it may"
    row = {"problem": label, "horizon": 1_000_000_000, "method": "m" * 40, "eagerness": 0.125}
    shown = printed(tuning_table({"rule": "sum", "rows": [row]}))
    assert "…" not in shown
    assert "1000000000" in shown
    assert "0.125" in shown
    assert shown.count("m") >= 40
    left_out = {"count": 10**9, "reason": "r" * 70, "first": "f" * 200}
    shown = printed(rejection_table([left_out]))
    assert "…" not in shown
    assert shown.count("f") == 200 + len("ff")  # of two headings
    shown = printed(record_table({"c" * 60: "v" * 100}))
    assert "…" not in shown
    assert shown.count("v") == 100
    quantities = {"n" * 50: Quantity([-1.23456e-20], "synthetic:" + "x" * 50)}
    network = Network(("a", "b"), [(0, 1)], [1e-20], "measured", quantities=quantities)
    shown = printed(network_table(network))
    assert "…" not in shown
    assert shown.count("-1.235e-20") == 5
    assert shown.count("n") >= 50


def tally(ran, failed=0):
    wrong = {str(k): "why" for k in range(failed)}
    under_way = {"iid-a": None, "iid-b": None}
    return SweepProgress(total=12, before=2, ran=ran, failed=wrong, under_way=under_way)


def test_a_log_gets_a_line_every_half_minute(monkeypatch, capsys):
    clock = iter([0.0, 10.0, 31.0, 40.0, 65.0])
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: next(clock))
    with progress("small", quiet=False) as watch:
        for ran in (1, 2, 3):
            watch(tally(ran))
        watch(tally(4, failed=1))
    assert capsys.readouterr().err.splitlines() == [
        "small: 4 of 12 tasks done, 0.0645/s, about 2 min left; 2 under way, 6 left; iid-a",
        "small: 6 of 12 tasks done, 0.0769/s, about 65 s left; 2 under way, 3 left, 1 failed; "
        "iid-a",
    ]


def test_a_terminal_gets_a_bar_that_says_what_is_under_way_left_and_failed(monkeypatch):
    page = StringIO()
    console = Console(file=page, force_terminal=True, width=120, color_system=None)
    monkeypatch.setattr(progress_module, "Console", lambda **_: console)
    now = tally(3, failed=1)
    with progress("small", quiet=False) as watch:
        watch(now)
        now.under_way.pop("iid-a")  # the bar reads the tally each time that it is drawn
    assert "6/12" in page.getvalue()
    assert "1 under way, 5 left, 1 failed; iid-b" in page.getvalue()


def test_quiet_shows_neither_lines_nor_the_log(monkeypatch, capsys):
    monkeypatch.setattr(progress_module, "EVERY", 0.0)
    show_log()
    with progress("small", quiet=True) as watch:
        watch(tally(3))
        logging.getLogger("hedgerow").info("not now")
    assert capsys.readouterr().err == ""


def test_the_command_line_shows_that_kernels_are_compiled(capsys):
    show_log()
    announce(LINE)
    assert capsys.readouterr().err == f"hedgerow: {LINE}\n"


def test_the_log_is_shown_above_a_bar_and_not_in_it():
    """What goes to stderr while a bar is live is printed before the bar is drawn again."""
    code = (
        "import io, logging, sys; from rich.console import Console; from rich.progress import "
        "Progress; from hedgerow.cli.output import show_log; show_log();\n"
        "console = Console(stderr=True, force_terminal=True, width=80)\n"
        "with Progress(console=console, auto_refresh=False) as bar:\n"
        "    bar.add_task('b', total=2); bar.refresh()\n"
        "    logging.getLogger('hedgerow').info('compiling')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.split("\n")
    (at,) = [i for i, line in enumerate(lines) if "compiling" in line]
    assert "━" not in lines[at], "a line of its own"
    assert "━" in lines[at + 1], "the bar below it"


def test_numbers_of_networks_are_not_cut():
    network = Network(("a", "b"), [(0, 1)], [123456.789], "measured",
                      quantities={"x": Quantity(np.array([1e9]), "measured")})  # fmt: skip
    assert "1.235e+05" in printed(network_table(network))


def commands(command=None, words=()):
    """Yield the words of every command, groups too."""
    command = get_command(app) if command is None else command
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*words, name))


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_every_command_has_help_in_80_columns_and_cuts_nothing(words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    short, long = (CliRunner().invoke(app, [*words, option]) for option in ("-h", "--help"))
    assert (short.exit_code, short.output) == (0, long.output)
    assert "Usage: " in short.output
    assert "…" not in short.output
    assert max(map(len, short.output.splitlines())) <= 80


@pytest.mark.parametrize("name", ["list", "problems", "methods", "experiments", "sets"])
def test_lists_fit_80_columns_and_cut_nothing(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(app, [name]).output
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_names_of_networks_are_completed(monkeypatch):
    assert known_names("topozoo/Geant20") == [
        f"topozoo/Geant20{year}" for year in ("01", "09", "10", "12")
    ]
    monkeypatch.setitem(sys.modules, "topohub", None)
    assert known_names("topozoo/") == []
