"""`hedgerow fetch`: public measurements, from the service that has them into a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from hedgerow.cli.errors import report_errors
from hedgerow.cli.habits import SETTINGS
from hedgerow.cli.saying import counted, say
from hedgerow.networks.atlas import fetching

fetch = typer.Typer(
    help="Fetch public measurements (extra `data`).",
    no_args_is_help=True,
    context_settings=SETTINGS,
    pretty_exceptions_enable=False,
)


@fetch.callback()
def _group() -> None:
    """Keep `atlas` a command of its own, though it is the only one."""


@fetch.command()
def atlas(
    measurement: Annotated[int, typer.Argument(min=1, help="The number of the measurement.")],
    start: Annotated[str, typer.Option(help="The start, with a time zone: 2024-12-14T20:30:00Z.")],
    stop: Annotated[str, typer.Option(help="The end, excluded, with a time zone.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file. (default: atlas-MEASUREMENT.ndjson)"),
    ] = None,
    window: Annotated[
        str, typer.Option(help="The span of one request: 30min, 6h or 1d.")
    ] = fetching.WINDOW,
    service: Annotated[str, typer.Option(help="The address of the API.")] = fetching.SERVICE,
) -> None:
    """Fetch results of RIPE Atlas as JSON lines; the same command goes on if it was cut off."""
    with report_errors(), _progress(measurement) as progress:
        found = fetching.fetch_atlas(
            measurement,
            start,
            stop,
            out or Path(f"atlas-{measurement}.ndjson"),
            window=window,
            service=service,
            progress=progress,
        )
    earlier = f", {found.kept} of them fetched before" if found.kept else ""
    say(f"{counted(found.results, 'result')}{earlier}.")
    say(f"Results: {found.path}")


@contextmanager
def _progress(measurement: int) -> Iterator[fetching.Progress | None]:
    """Yield what shows a bar on a terminal, and None elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    shown = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[results]} results"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with shown:
        bar = shown.add_task(f"measurement {measurement}", total=None, results=0)
        yield lambda done, total, results: shown.update(
            bar, completed=done, total=total, results=results
        )
