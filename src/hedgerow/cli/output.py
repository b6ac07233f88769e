"""Lines on the terminal, JSON, the log of the library on stderr, and groups of commands.

Text comes from users and files, so none of it is markup.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console

from hedgerow.cli.help import PlainGroup
from hedgerow.report.escaping import in_table, printable


def print_line(line: str) -> None:
    """Print one line on stdout."""
    Console().print(in_table(line), soft_wrap=True)


def print_json(data: Any) -> None:
    """Print plain data as JSON on stdout."""
    sys.stdout.write(json.dumps(data, indent=2) + "\n")


def print_error(sentence: str) -> None:
    """Print one sentence on stderr, after the name of the program."""
    print_stderr(f"hedgerow: {sentence}")


def print_stderr(line: str) -> None:
    """Print one line on stderr."""
    Console(stderr=True).print(in_table(line), soft_wrap=True)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun in the singular or plural.

    >>> counted(1, "run"), counted(12, "benchmark")
    ('1 run', '12 benchmarks')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def command_group(about: str) -> typer.Typer:
    """Return a group of commands that shows its help without arguments, and with -h."""
    return typer.Typer(
        cls=PlainGroup,
        help=about,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
    )


_log = logging.getLogger("hedgerow")


class _StderrHandler(logging.Handler):
    """Write one line on stderr for each record.

    It writes to `sys.stderr` itself, which a progress bar replaces to move below the line.
    """

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"hedgerow: {printable(record.getMessage())}\n")


@contextmanager
def quiet_log() -> Iterator[None]:
    """Show only warnings for a while."""
    before = _log.level
    _log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        _log.setLevel(before)


def show_log() -> None:
    """Show what the library logs at level INFO and above, in this process."""
    if not any(isinstance(handler, _StderrHandler) for handler in _log.handlers):
        _log.addHandler(_StderrHandler())
        _log.setLevel(logging.INFO)
