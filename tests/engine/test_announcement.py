"""The first call says that it compiles, to those who watch."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import types

import pytest

from hedgerow._engine import announcement
from hedgerow._engine.announcement import LINE, CompileTime
from hedgerow._engine.kernel import COMPILED

SOURCE = """
from hedgerow._engine.kernel import kernel, number

@kernel(number, number)
def inner(a):
    return a + 1.0

@kernel(number, number)
def outer(a):
    return 2.0 * inner(a)
"""
PROGRAM = """
import logging, multiprocessing
from hedgerow._engine import announcement
announcement.SLOW = SECONDS
import made
assert made.outer(1.0) == 4.0
"""


def shown(folder, seconds=0.0, before="", terminal=True):
    """Return what a process that compiles writes to stderr, a terminal or a pipe."""
    (folder / "made.py").write_text(SOURCE)
    path = os.pathsep.join([str(folder), *(p for p in sys.path if p)])
    variables = os.environ | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(folder / "kept")}
    command = [sys.executable, "-c", before + PROGRAM.replace("SECONDS", str(seconds))]
    ours, theirs = os.openpty() if terminal else os.pipe()
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, stderr=theirs)
    os.write(theirs, b"END\n")
    os.close(theirs)
    text = b""
    while b"END" not in text:
        text += os.read(ours, 4096)
    os.close(ours)
    assert done.returncode == 0, text
    assert done.stdout == b""
    return seen(text.decode().replace("\r\n", "\n").removesuffix("END\n"))


def seen(text):
    """Return what a terminal shows in the end: after a carriage return it writes over the line."""
    lines = []
    for line in text.split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return "\n".join(lines)


pytestmark = pytest.mark.skipif(
    not (COMPILED and hasattr(os, "openpty")), reason="needs a compiler and terminals of POSIX"
)


def test_a_terminal_is_told_once_and_only_where_something_is_compiled(tmp_path):
    assert shown(tmp_path) == f"hedgerow: {LINE}\n"
    assert shown(tmp_path) == "", "the second process loads what the first has kept"


@pytest.mark.parametrize(
    "given",
    [
        {"terminal": False},
        {"seconds": 1e9},
        {"before": "import logging; logging.getLogger('hedgerow').setLevel('WARNING')\n"},
        {"before": "import multiprocessing as m; m.current_process().name = 'Worker-1'\n"},
    ],
    ids=["pipe", "quick", "level", "worker"],
)
def test_others_are_told_nothing(tmp_path, given):
    assert shown(tmp_path, **given) == ""


def test_a_log_has_the_line_once_and_stderr_does_not(tmp_path):
    before = f"import logging; logging.basicConfig(filename={str(tmp_path / 'log')!r}, level=20)\n"
    assert shown(tmp_path, before=before) == ""
    assert (tmp_path / "log").read_text() == f"INFO:hedgerow:{LINE}\n"


class OutStream:
    """As a notebook's, which says that it is no terminal."""

    __module__ = "ipykernel.iostream"

    def __init__(self):
        self.text = ""

    def isatty(self):
        return False

    def write(self, text):
        self.text += text

    def flush(self):
        """Nothing waits."""


@pytest.fixture
def unset_log():
    """The logger as it is where logging is not set up."""
    log = logging.getLogger("hedgerow")
    before = log.level
    log.setLevel(logging.NOTSET)
    yield
    log.setLevel(before)


class Terminal(OutStream):
    """As a terminal."""

    __module__ = "io"

    def isatty(self):
        return True


@pytest.fixture
def watched(monkeypatch):
    """Watch 8 s of compiling through a stream, and return it."""

    def compile_with(stream):
        clock = iter([0.0, 2.0, 2.1, 3.4, 3.45, 7.0, 9.0])
        monkeypatch.setattr(announcement.time, "perf_counter", lambda: next(clock))
        monkeypatch.setattr(announcement.multiprocessing.current_process(), "name", "MainProcess")
        monkeypatch.setattr(sys, "stderr", stream)
        spent = CompileTime()
        with spent.counted():
            for _ in range(5):
                spent.announce_if_slow()
        return stream.text

    return compile_with


@pytest.mark.usefixtures("unset_log")
def test_a_terminal_counts_the_seconds_and_keeps_the_line(watched):
    text = watched(Terminal())
    assert "2 s so far" in text
    assert text.count("3 s so far") == 1, "not more often than it changes"
    assert "7 s so far" in text
    assert seen(text) == f"hedgerow: {LINE}\n"


@pytest.mark.usefixtures("unset_log")
def test_a_notebook_has_one_output_that_is_replaced(watched, monkeypatch):
    shown = []

    class Output:
        def update(self, content, raw):
            assert raw
            shown.append(content["text/plain"])

    def display(content, raw, display_id):
        assert display_id
        Output().update(content, raw)
        return Output()

    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    assert watched(OutStream()) == ""
    line = f"hedgerow: {LINE}"
    assert shown == [line, *(f"{line}: {k} s so far" for k in (2, 3, 7))]


@pytest.mark.usefixtures("unset_log")
def test_a_notebook_without_displays_has_the_line(watched, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    assert watched(OutStream()) == f"hedgerow: {LINE}\n"


def test_the_time_of_a_block_inside_another_counts_once(monkeypatch, caplog):
    clock = iter([0.0, 0.9, 1.0, 1.5])
    monkeypatch.setattr(announcement.time, "perf_counter", lambda: next(clock))
    spent = CompileTime()
    with caplog.at_level(logging.INFO, "hedgerow"):
        with spent.counted(), spent.counted():
            spent.announce_if_slow()  # at 0.9
            assert not caplog.records
        with spent.counted():  # from 1.5, with 1.0 spent before
            monkeypatch.setattr(announcement.time, "perf_counter", lambda: 1.5)
            spent.announce_if_slow()
            spent.announce_if_slow()
    assert [record.getMessage() for record in caplog.records] == [LINE]
