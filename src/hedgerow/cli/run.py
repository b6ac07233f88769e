"""`hedgerow run`: an experiment file to a folder of results."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from hedgerow.cli.dry_run import dry_run
from hedgerow.cli.errors import in_options, report_errors
from hedgerow.cli.listing import shipped_names
from hedgerow.cli.progress import progress
from hedgerow.cli.saying import complain, counted, say, tell_aside
from hedgerow.cli.traffic import run_traffic
from hedgerow.experiments.executors import check_cluster, dask, find_joblib, processes, serial
from hedgerow.experiments.reading import load_experiment
from hedgerow.experiments.results import Results, StoppedError
from hedgerow.experiments.sweeps import SweepProgress, Workforce, sweep

File = Annotated[
    str,
    typer.Argument(
        help="An experiment file, the name of a shipped one, or `traffic`.",
        autocompletion=shipped_names,
    ),
]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Folder of the results (default: out/NAME).")
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Local processes (default: one for each processor).")
]
Cluster = Annotated[
    str | None, typer.Option(help="A running Dask scheduler instead: tcp://host:port.")
]
NetworkFile = Annotated[
    Path | None,
    typer.Option("--network", help="A network file for problems that lack one, or for traffic."),
]
Demands = Annotated[
    Path | None,
    typer.Option(help="For traffic: a folder, .tgz, .npz or .csv of demand matrices."),
]
Mix = Annotated[
    bool,
    typer.Option("--mix", help="Add to results of another state of the library; reports say so."),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="List the remaining tasks with a time estimate; write nothing."),
]
Json = Annotated[bool, typer.Option("--json", help="Print a JSON object and nothing else.")]
TRAFFIC = "traffic"
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]


def run(
    file: File,
    out: Out = None,
    workers: Workers = None,
    cluster: Cluster = None,
    network: NetworkFile = None,
    demands: Demands = None,
    mix: Mix = False,
    dry: DryRun = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run an experiment, or resume it; `traffic` runs the traffic engineering example."""
    with report_errors():
        if file == TRAFFIC and not Path(file).exists():
            if workers is not None or cluster is not None or mix or dry:
                raise ValueError(
                    "traffic is played at once; leave out --workers, --cluster, --mix, --dry-run"
                )
            run_traffic(network, demands, out or Path("out") / TRAFFIC, as_json, quiet)
            return
        if demands is not None:
            raise ValueError("--demands is for `hedgerow run traffic`; leave it out here")
        experiment = load_experiment(file, network)
        folder = out or Path("out") / experiment.name
        if dry:
            count = None if cluster else workers or os.cpu_count() or 1
            dry_run(experiment, folder, count, mix=mix, as_json=as_json)
            return
        force = workforce(workers, cluster)
        with resumable(folder), progress(experiment.name, quiet) as watch:
            tally = sweep(experiment, folder, force, watch, mix=mix)
        tell(summary(folder, tally), tally, as_json, quiet)


def workforce(workers: int | None, cluster: str | None) -> Workforce:
    """Return who does the tasks, and make sure that they are there."""
    if cluster is not None and workers is not None:
        raise ValueError("--workers and --cluster exclude each other; give one")
    if cluster is not None:
        check_cluster(cluster)
        return partial(dask, address=cluster)
    count = workers or os.cpu_count() or 1
    if count == 1:
        return serial
    find_joblib()
    return partial(processes, workers=count)


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Say how to go on after Ctrl-C (exit code 130) or when a sweep cannot go on (1)."""
    try:
        yield
    except (KeyboardInterrupt, StoppedError) as end:
        done = sum(1 for _ in folder.rglob("runs/*.json"))
        again = " ".join(["hedgerow", *map(shlex.quote, sys.argv[1:])])
        why = in_options(str(end)) or "stopped"
        complain(
            f"{why}; finished and kept in {folder}: {counted(done, 'run')}. To resume: {again}"
        )
        raise typer.Exit(130 if isinstance(end, KeyboardInterrupt) else 1) from None


def summary(folder: Path, tally: SweepProgress) -> dict[str, Any]:
    """Return what a sweep leaves behind, as plain data."""
    results = Results(folder)
    records = [result.record for result in results.runs]
    refused = Counter(
        (record["method"], record["reason"]) for record in records if record["status"] == "refused"
    )
    by_method: dict[str, dict[str, int]] = {}
    for (method, reason), count in refused.most_common():
        by_method.setdefault(method, {})[reason] = count
    return {
        "folder": str(folder),
        "tasks": tally.total,
        "ran": tally.ran,
        "found_finished": tally.before,
        "runs_done": len(records) - refused.total(),
        "runs_refused": refused.total(),
        "benchmarks": len(results.benchmarks),
        "reasons": by_method,
        "failed": tally.failed,
        "damaged": tally.damaged,
    }


def tell(found: dict[str, Any], tally: SweepProgress, as_json: bool, quiet: bool) -> None:
    """Print a summary, then what was damaged, then fail if a task did."""
    if as_json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
    elif not quiet:
        say(
            f"{counted(found['runs_done'], 'run')} and {counted(found['benchmarks'], 'benchmark')} "
            f"done, {counted(found['runs_refused'], 'run')} refused, "
            f"{counted(len(tally.failed), 'task')} failed; {found['found_finished']} of "
            f"{counted(found['tasks'], 'task')} finished before."
        )
        say(f"Results: {found['folder']}")
        for method, reasons in found["reasons"].items():
            say(f"{method} refused:")
            for reason, count in reasons.items():
                often = "once" if count == 1 else f"{count} times"
                say(f"  {often}: {reason}")
    fail_if_any(tally)


def fail_if_any(tally: SweepProgress) -> None:
    """Say what was damaged and which tasks failed; leave with exit code 1 if any did."""
    for damage in tally.damaged:
        complain(f"{damage} and had to be made again")
    for name, error in tally.failed.items():
        first, *more = error.splitlines() or [""]
        complain(f"{name} failed: {first}")
        for line in more:
            tell_aside(line)
    if tally.failed:
        raise typer.Exit(1)
