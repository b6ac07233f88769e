"""`hedgerow steer`: from metrics to weights, every few seconds."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.errors import report_errors
from hedgerow.cli.output import print_line

if TYPE_CHECKING:
    from hedgerow.steer.settings import Settings


def steer(
    file: Annotated[Path, typer.Argument(help="What to steer: a TOML file.")],
    check: Annotated[
        bool, typer.Option("--check", help="Validate the file, read once, write nothing.")
    ] = False,
    shadow: Annotated[
        bool, typer.Option("--shadow", help="Decide and record, without writing weights.")
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="End after one interval.")] = False,
) -> None:
    """Share traffic among backends: read metrics, decide, write weights, until SIGTERM."""
    with report_errors():
        try:
            from hedgerow.steer.loop import steer as run
            from hedgerow.steer.settings import read_settings
        except ModuleNotFoundError as missing:
            raise ImportError(
                f'hedgerow steer needs {missing.name}; install it with: pip install ".[live]"'
            ) from None
        settings = read_settings(file)
        if check:
            _check(settings)
            return
        stop = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        run(settings, _say, shadow=shadow, once=once, stop=stop)


def _say(line: str) -> None:
    print_line(f"{time.strftime('%H:%M:%S')} {line}")
    sys.stdout.flush()  # a service's log is a pipe


def _check(settings: Settings) -> None:
    """Print what the file does, and read source and target once."""
    from hedgerow.steer.plan import plan, try_out

    for line in plan(settings):
        print_line(line)
    failed = False
    for line, good in try_out(settings):
        print_line(line)
        failed = failed or not good
    print_line("Nothing was written.")
    if failed:
        raise typer.Exit(1)
