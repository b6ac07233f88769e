"""Progress of a sweep: tasks done, under way, left and failed, with rate and time left.

A bar on a terminal, and a line every half minute in a log.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from hedgerow.cli.output import print_stderr, quiet_log
from hedgerow.experiments.sweeps import SweepProgress
from hedgerow.report.escaping import in_table

EVERY = 30.0
"""Seconds between two lines if stderr is not a terminal; a shorter sweep prints none."""


class _Rate(ProgressColumn):
    """Tasks per second."""

    def render(self, task: Task) -> Text:
        """Show the rate, once there is one."""
        return Text("" if task.speed is None else f"{task.speed:.3g}/s")


class _State(ProgressColumn):
    """Tasks under way, left and failed, updated each time that the bar is drawn."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        """Show the counts, then the task that has been under way for longest."""
        tally = task.fields["tally"]
        return Text("") if tally is None else in_table(state(tally))


def state(tally: SweepProgress) -> str:
    """Return the tasks under way, left and failed, in words.

    >>> state(SweepProgress(total=9, before=2, ran=3, failed={"b": "why"}, under_way={"a": None}))
    '1 under way, 2 left, 1 failed; a'
    """
    names = tuple(tally.under_way)  # another thread may hand out tasks meanwhile
    parts = [f"{len(names)} under way", f"{max(0, tally.left - len(names))} left"]
    if tally.failed:
        parts.append(f"{len(tally.failed)} failed")
    return ", ".join(parts) + (f"; {names[0]}" if names else "")


def progress_bar(*columns: ProgressColumn) -> Progress:
    """Return a bar on stderr that disappears at the end; it shows nothing without a terminal."""
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


@contextmanager
def progress(name: str, quiet: bool) -> Iterator[Callable[[SweepProgress], None]]:
    """Yield a function that shows the progress of a sweep; quiet shows nothing."""
    if quiet:
        with quiet_log():
            yield _ignore
        return
    if not Console(stderr=True).is_terminal:
        yield _Lines(name)
        return
    shown = progress_bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        _State(table_column=Column(no_wrap=True, overflow="ellipsis")),
    )
    with shown:
        bar = shown.add_task(name, total=None, tally=None)
        yield lambda tally: shown.update(
            bar, total=tally.total, completed=_ended(tally), tally=tally
        )


def _ignore(tally: SweepProgress) -> None:
    """Show nothing."""


def _ended(tally: SweepProgress) -> int:
    return tally.total - tally.left


class _Lines:
    """A line for a log, at most every half minute."""

    def __init__(self, name: str):
        self._name = name
        self._begin = self._last = time.monotonic()

    def __call__(self, tally: SweepProgress) -> None:
        now, here = time.monotonic(), tally.ran + len(tally.failed)
        if now - self._last < EVERY or not here:
            return
        self._last = now
        rate = here / (now - self._begin)
        print_stderr(
            f"{self._name}: {tally.before + tally.ran} of {tally.total} tasks done, {rate:.3g}/s, "
            f"about {span(tally.left / rate)} left; {state(tally)}"
        )


def span(seconds: float) -> str:
    """Return a rounded time with its unit.

    >>> span(0.012), span(45.0), span(600.0), span(9000.0)
    ('0.012 s', '45 s', '10 min', '2.5 h')
    """
    if seconds < 1.0:
        return f"{seconds:.2g} s"
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"
