"""Progress of a sweep with rate and time left: a bar on a terminal, rare lines in a log."""

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
from rich.text import Text

from hedgerow.cli.habits import quiet_log
from hedgerow.cli.saying import tell_aside
from hedgerow.experiments.sweeps import SweepProgress

EVERY = 30.0
"""Seconds between two lines where stderr is no terminal; what ends sooner says nothing."""


class _Rate(ProgressColumn):
    """Tasks a second."""

    def render(self, task: Task) -> Text:
        """Show the rate, once there is one."""
        return Text("" if task.speed is None else f"{task.speed:.3g}/s")


@contextmanager
def progress(name: str, quiet: bool) -> Iterator[Callable[[SweepProgress], None]]:
    """Yield what a sweep tells its tally to; quiet shows nothing."""
    console = Console(stderr=True)
    if quiet:
        with quiet_log():
            yield _ignore
        return
    if not console.is_terminal:
        yield _Lines(name)
        return
    shown = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with shown:
        bar = shown.add_task(name)
        yield lambda tally: shown.update(bar, total=tally.total, completed=_done(tally))


def _ignore(tally: SweepProgress) -> None:
    """Show nothing."""


def _done(tally: SweepProgress) -> int:
    return tally.before + tally.ran + len(tally.failed)


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
        left = (tally.total - _done(tally)) / rate
        failed = f", {len(tally.failed)} failed" if tally.failed else ""
        tell_aside(
            f"{self._name}: {_done(tally)} of {tally.total} tasks{failed}, {rate:.3g}/s, "
            f"about {_span(left)} left"
        )


def _span(seconds: float) -> str:
    """Return a time to wait, roughly.

    >>> _span(45.0), _span(600.0), _span(9000.0)
    ('45 s', '10 min', '2.5 h')
    """
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"
