"""`hedgerow reproduce`: the paper's comparison, written down before it was run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.errors import report_errors
from hedgerow.cli.progress import progress
from hedgerow.cli.report import report
from hedgerow.cli.run import (
    Cluster,
    Json,
    Mix,
    NetworkFile,
    Quiet,
    Workers,
    resumable,
    summary,
    tell,
    workforce,
)
from hedgerow.experiments.reading import load_experiment
from hedgerow.experiments.sweeps import sweep

FULL_SEEDS = range(40, 70)


def reproduce(
    full: Annotated[
        bool, typer.Option("--full", help="30 seeds, the few among them; takes much longer.")
    ] = False,
    network: NetworkFile = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder of the results (default: out/reproduce, or out/reproduce-network).",
        ),
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    mix: Mix = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the shipped comparison and report on it; --network plays it on your graph instead."""
    with report_errors():
        experiment = load_experiment("paper" if network is None else "paper_network", network)
        if full:
            experiment = replace(experiment, seeds=tuple(FULL_SEEDS))
        folder = out or Path("out") / ("reproduce" if network is None else "reproduce-network")
        force = workforce(workers, cluster)
        with resumable(folder), progress(experiment.name, quiet) as watch:
            tally = sweep(experiment, folder, force, watch, mix=mix)
        found = summary(folder, tally)
    if as_json and not tally.failed:
        report(folder, quiet=True)
        found["page"] = str(folder / "report" / "report.html")
    tell(found, tally, as_json, quiet)
    if not as_json:
        report(folder, quiet=quiet)
