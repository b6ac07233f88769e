"""`hedgerow tune`: choose each method's eagerness on training seeds, report on others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from hedgerow.cli.errors import report_errors
from hedgerow.cli.output import print_json, print_line
from hedgerow.cli.progress import progress
from hedgerow.cli.run import (
    Cluster,
    File,
    Json,
    Mix,
    NetworkFile,
    Quiet,
    Workers,
    fail_if_any,
    resumable,
    workforce,
)
from hedgerow.experiments.reading import load_experiment
from hedgerow.experiments.tuning import checked_tuning
from hedgerow.experiments.tuning import tune as tune_experiment
from hedgerow.report.escaping import in_table


def tune(
    file: File,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder (default: out/NAME-tuned).")
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    network: NetworkFile = None,
    mix_versions: Mix = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Tune every method in the same way on training seeds, then run the held-out seeds."""
    with report_errors():
        experiment = load_experiment(file, network)
        checked_tuning(experiment)  # before any folder is made
        folder = out or Path("out") / f"{experiment.name}-tuned"
        force = workforce(workers, cluster)
        with resumable(folder), progress(experiment.name, quiet) as watch:
            selection, tallies = tune_experiment(
                experiment, folder, force, watch, mix_versions=mix_versions
            )
    if as_json:
        found = {"folder": str(folder), "ran": sum(tally.ran for tally in tallies)}
        print_json({**found, "selection": selection})
    elif selection and not quiet:
        Console().print(_table(selection))
        print_line(f"Results: {folder / 'held_out'}")
    for tally in tallies:
        fail_if_any(tally)


def _table(selection: dict[str, Any]) -> Table:
    """Show what was chosen; the training numbers are not results."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, caption=f"rule: {selection['rule']}")
    table.add_column("problem", overflow="fold")
    table.add_column("T", justify="right", no_wrap=True)
    table.add_column("method", overflow="fold")
    table.add_column("eagerness", justify="right", no_wrap=True)
    for row in selection["rows"]:
        chosen = "refused" if row["eagerness"] is None else f"{row['eagerness']:g}"
        cells = (row["problem"], row["horizon"], row["method"], chosen)
        table.add_row(*map(in_table, cells))
    return table
