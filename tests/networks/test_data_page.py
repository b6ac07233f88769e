"""docs/how-to/data.md: every command is run, in order, and prints what the page says."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
from pathlib import Path

from typer.testing import CliRunner

from hedgerow.cli.app import app

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/how-to/data.md"


def sessions():
    """Yield the commands of the page, each with the lines that are shown below it."""
    for block in re.findall(r"```\n(\$ .*?)```", PAGE.read_text(), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.replace("\\\n", " ").partition("\n")
            yield command, shown.rstrip().splitlines()


def printed(command, code, capsys):
    """Run a command; return its lines without the blanks at their ends, and its exit code."""
    name, *arguments = shlex.split(command)
    if name == "hedgerow":
        result = CliRunner().invoke(app, arguments)
        text, code = result.output, result.exit_code
    elif name == "python":
        runpy.run_path(str(ROOT / arguments[0]), run_name="__main__")
        text, code = capsys.readouterr().out, 0
    elif command == "echo $?":
        text, code = str(code), 0
    else:
        subprocess.run(command, shell=True, check=True)
        text = ""
    lines = [line.rstrip() for line in text.splitlines()]
    return [line for line in lines if line], code


def found_in_order(shown, lines):
    """Whether the lines are those shown, where ... stands for any number of them."""
    pattern = "".join(".*" if line == "..." else re.escape(line + "\n") for line in shown)
    return re.fullmatch(pattern, "".join(line + "\n" for line in lines), re.DOTALL) is not None


def test_every_command_prints_what_the_page_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    code, commands = 0, list(sessions())
    assert len(commands) == 16, "docs/how-to/data.md has more or fewer commands: change the number"
    for command, shown in commands:
        lines, code = printed(command, code, capsys)
        shown = [line for line in shown if line]
        assert found_in_order(shown, lines), "\n".join([command, *lines])


def test_dots_stand_for_lines_and_nothing_else():
    assert found_in_order(["a", "...", "d"], ["a", "b", "c", "d"])
    assert found_in_order(["...", "d"], ["d"])
    assert not found_in_order(["a", "d"], ["a", "b", "d"])
    assert not found_in_order(["a", "..."], ["b"])
