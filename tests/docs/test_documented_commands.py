"""Documented commands work: all are parsed by the command line's own parser, quick ones are run."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from documents import PAGES, ROOT, label, saved
from hedgerow.cli.app import app

FOREIGN = {
    ".",
    "cd",
    "cp",
    "curl",
    "dask",
    "echo",
    "haproxy",
    "head",
    "mkdir",
    "printf",
    "prometheus",
    "promtool",
    "sqlite3",
}
"""Programs of others, which are not checked."""
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def commands(page):
    """Return the command lines of a page: those of ```sh blocks, and those after a prompt."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    prompts = re.findall(r"^\$ ((?:.*\\\n)*.*)$", text, re.MULTILINE)
    joined = [
        re.sub(r"\\\n|(?<=,)\n(?= )", " ", block) for block in blocks
    ]  # bodies in quotes, too
    lines = [line for block in joined for line in block.splitlines()]
    return [line for line in (*lines, *(p.replace("\\\n", " ") for p in prompts)) if line.strip()]


def parse(command, arguments, parent=None):
    """Parse arguments as the command line does, without running anything."""
    with command.make_context(command.name, list(arguments), parent=parent) as context:
        if hasattr(command, "commands"):
            rest = [*context._protected_args, *context.args]
            _, inner, rest = command.resolve_command(context, rest)
            parse(inner, rest, context)


def parse_without_files(arguments):
    """Parse arguments; a file that does not exist here is another one, which does."""
    try:
        parse(get_command(app), arguments)
    except Exception as mistake:
        missing = re.search(r"path '(.+)' does not exist", str(mistake))
        if missing is None:
            raise
        parse_without_files([__file__ if word == missing[1] else word for word in arguments])


def check(line, files=frozenset()):
    """Raise if a documented command line cannot work, where these files were saved before."""
    line = re.sub(r"^\w+=\$\((.*)\)$", r"\1", line)  # a name for what it prints
    line = re.sub(r"^(\w+=\S+ )+", "", line)  # variables of its environment
    program, *arguments = shlex.split(line.partition(" > ")[0], comments=True)
    if arguments and arguments[-1] == "&":
        arguments.pop()
    match program:
        case "hedgerow":
            try:
                parse_without_files(arguments)
            except Exception as mistake:
                raise AssertionError(f"{line}: {mistake}") from mistake
        case "make":
            unknown = [word for word in arguments if "=" not in word and word not in TARGETS]
            assert not unknown, f"the Makefile has no target {unknown}"
        case "pip":
            extras = re.findall(r"\[([\w,]+)\]", line)
            named = {extra for group in extras for extra in group.split(",")}
            assert named <= PROJECT["optional-dependencies"].keys(), f"no such extra: {line}"
        case "python3":
            assert arguments[:2] == ["-m", "venv"], f"what is {line}?"
        case "python":
            known = arguments[0] in files or (ROOT / arguments[0]).is_file()
            assert known, f"no such file: {line}"
        case _:
            assert program in FOREIGN, f"what is {program}?"


ALL = [(page, line) for page in PAGES for line in commands(page)]


def test_there_are_commands():
    assert len(ALL) > 20
    assert sum(line.startswith("hedgerow") for _, line in ALL) > 12


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_every_command_is_understood(page):
    for line in commands(page):
        check(line, saved(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_commands_in_sentences_exist(page):
    """`hedgerow tune fair` in a sentence: the command is there, whatever it is given."""
    for line in re.findall(r"`hedgerow ([a-z][^`]*)`", page.read_text(encoding="utf-8")):
        words, group = shlex.split(line), get_command(app)
        while words and hasattr(group, "commands"):
            assert words[0] in group.commands, f"{page.name}: hedgerow {line}"
            group = group.commands[words.pop(0)]


@pytest.mark.parametrize(
    "line",
    [
        "hedgerow runn first.toml",
        "hedgerow run",
        "hedgerow run first.toml --speed 3",
        "make coffee",
        "pip install 'hedgerow[moon]'",
        "python evidence/no_such_file.py",
        "rm -rf out",
    ],
)
def test_a_command_that_cannot_work_is_noticed(line):
    with pytest.raises(AssertionError):
        check(line)


@pytest.fixture
def run_line(tmp_path, monkeypatch):
    """Run command lines in an empty folder that holds the experiment file of the page."""
    page = (ROOT / "docs/how-to/experiments.md").read_text(encoding="utf-8")
    (first,) = re.findall(r"```toml\n(name = \"first\".*?)```", page, re.DOTALL)
    (tmp_path / "first.toml").write_text(first, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)  # play in this process

    def run(line):
        done = CliRunner().invoke(app, shlex.split(line, comments=True)[1:])
        return done.exit_code, done.output

    return run


QUICK = [
    "hedgerow list                       # names: problems, methods, sets, shipped experiments",
    "hedgerow problems                   # with their keys; also: methods, experiments, sets",
    "hedgerow show smoke                 # prints a shipped experiment, to start your own from",
    "hedgerow run first.toml             # into out/first, on all processors",
    "hedgerow report out/first",
    "hedgerow run smoke                  # a shipped experiment, by name",
]


def test_quick_commands_run(run_line):
    lines = [line for _, line in ALL]
    for line in QUICK:
        assert line in lines, f"the page no longer says {line}"
        code, output = run_line(line)
        assert code == 0, output
    assert Path("out/first/report/report.html").is_file()
    assert Path("out/smoke/experiment.json").is_file()


def test_the_mistake_is_named_as_the_page_says(run_line):
    page = (ROOT / "docs/how-to/experiments.md").read_text(encoding="utf-8")
    ((line, says),) = re.findall(r"^```\n\$ (hedgerow run .*)\n(.*)\n```", page, re.MULTILINE)
    file = Path("first.toml")
    file.write_text(file.read_text().replace("n = 8", 'n = "eight"'))
    assert run_line(line) == (2, f"{says}\n")
