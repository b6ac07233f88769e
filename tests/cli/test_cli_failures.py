"""Failures to be expected are one sentence and exit code 2; mistakes of ours are not hidden."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest
import typer

import hedgerow
from hedgerow.cli.errors import in_options, report_errors
from hedgerow.networks.errors import DataError

EXPECTED = {
    "a refusal": (ValueError("n must be\n  at least 1"), "n must be at least 1"),
    "a type": (TypeError("n must be a number"), "n must be a number"),
    "data": (DataError("a.csv", "line 2", "is no number"), "a.csv, line 2: is no number"),
    "a path": (
        FileNotFoundError(2, "No such file or directory", "a/b"),
        "a/b: no such file or directory; check the path and its permissions",
    ),
    "a full disk": (
        OSError(28, "No space left on device", "a/b"),
        "a/b: no space left on device; free some and try again",
    ),
    "memory": (MemoryError("3 GiB"), "not enough memory (3 GiB); choose smaller numbers"),
    "memory, no more": (MemoryError(), "not enough memory (nothing more is known); choose smaller"),
    "an extra": (ImportError('pip install ".[graphs]" brings it'), ".[graphs]"),
}


@pytest.mark.parametrize("what", EXPECTED)
def test_what_is_to_be_expected(what, capsys):
    error, words = EXPECTED[what]
    with pytest.raises(typer.Exit) as ended, report_errors():
        raise error
    assert ended.value.exit_code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"hedgerow: {words}") or words in line


@pytest.mark.parametrize(
    "error", [KeyError("x"), AssertionError(), ZeroDivisionError(), BrokenPipeError(),
              ModuleNotFoundError("no", name="hedgerow.nothing")]
)  # fmt: skip
def test_what_is_not(error):
    with pytest.raises(type(error)), report_errors():
        raise error


def test_figures_name_their_extra(tmp_path, monkeypatch, capsys):
    from hedgerow.cli.network import show_network
    from hedgerow.networks.network import Network

    path = Network(("a", "b"), [(0, 1)], [1.0], "measured").save(tmp_path / "n.json")
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(typer.Exit):
        show_network(path, tmp_path / "out")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("hedgerow: figures need matplotlib")
    assert line.endswith('; install it with: pip install ".[cli]"')


def test_the_library_names_arguments_and_the_command_line_its_options():
    """No string below the command line names an option; what names an argument is translated."""
    package = Path(hedgerow.__file__).parent
    flag = re.compile(r"""(?:^|[\s"'`(])--[a-z]""")
    for path in package.rglob("*.py"):
        if path.relative_to(package).parts[0] == "cli":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named = flag.search(node.value) and "color-scheme" not in node.value  # no CSS
                assert not named, f"{path}, line {node.lineno}: {node.value}"
    assert in_options(
        "out is taken; give another folder, or use mix_versions=True or hub='none'"
    ) == ("out is taken; give another folder with --out, or use --mix-versions or --hub none")
    assert in_options("choose with latency=...; preset='theory'") == (
        "choose with --latency; preset='theory'"
    )
