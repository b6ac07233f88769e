"""Progress of a sweep with rate and time left: on a terminal only, never on a pipe."""

from __future__ import annotations

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

from hedgerow.experiments.sweeps import SweepProgress


class _Rate(ProgressColumn):
    """Tasks a second."""

    def render(self, task: Task) -> Text:
        """Show the rate, once there is one."""
        return Text("" if task.speed is None else f"{task.speed:.3g}/s")


@contextmanager
def progress(name: str, quiet: bool) -> Iterator[Callable[[SweepProgress], None]]:
    """Yield what a sweep tells its tally to; on a pipe nothing is shown."""
    console = Console(stderr=True)
    shown = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )
    with shown:
        bar = shown.add_task(name)

        def watch(tally: SweepProgress) -> None:
            done = tally.before + tally.ran + len(tally.failed)
            shown.update(bar, total=tally.total, completed=done)

        yield watch
