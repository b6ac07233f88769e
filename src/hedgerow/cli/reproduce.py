"""`hedgerow reproduce`: the paper's comparison, written down before it was run."""

from __future__ import annotations

import time
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
from hedgerow.cli.saying import tell_aside
from hedgerow.experiments.experiment import Experiment
from hedgerow.experiments.reading import load_experiment
from hedgerow.experiments.results import Results
from hedgerow.experiments.sweeps import sweep, sweep_tasks
from hedgerow.experiments.tasks import Task, plan
from hedgerow.report.page import write_report
from hedgerow.report.summary import Summary

FULL_SEEDS = range(300, 330)
EARLY = 3
"""Seeds of the first page, which is there within half a minute."""


def reproduce(
    full: Annotated[
        bool, typer.Option("--full", help="Every method plays all 30 seeds; takes much longer.")
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
            experiment = replace(experiment, seeds=tuple(FULL_SEEDS), few=None)
        folder = out or Path("out") / ("reproduce" if network is None else "reproduce-network")
        force = workforce(workers, cluster)
        with resumable(folder):
            begin = time.monotonic()
            with progress(f"{experiment.name}, first seeds", quiet) as watch:
                tasks, resolved = first_look(experiment), experiment.resolved()
                early = sweep_tasks(tasks, resolved, folder, force, watch, mix=mix)
            if early.ran and (seen := Summary(Results(folder))).rows:
                page = write_report(seen, folder / "report")
                if not (quiet or as_json):
                    span = time.monotonic() - begin
                    tell_aside(f"First page after {span:.0f} s, written again at the end: {page}")
            with progress(experiment.name, quiet) as watch:
                tally = sweep(experiment, folder, force, watch, mix=mix)
            tally.ran, tally.before = tally.ran + early.ran, tally.before - early.ran
        found = summary(folder, tally)
    if as_json and not tally.failed:
        report(folder, quiet=True)
        found["page"] = str(folder / "report" / "report.html")
    tell(found, tally, as_json, quiet)
    if not as_json:
        report(folder, quiet=quiet)


def first_look(experiment: Experiment) -> list[Task]:
    """Return what the first page needs: who plays most, a few seeds, on the first problem."""
    problem = experiment.problems[0]
    some = replace(
        experiment,
        problems=(replace(problem, horizons=(max(problem.horizons),)),),
        methods=experiment.many or experiment.methods,
        presets=experiment.presets[:1],
        eagerness=(1.0,),
        seeds=experiment.seeds[:EARLY],
    )
    return plan(some)
