"""`hedgerow run`: run an experiment file into a folder of results, or list what would be done."""

from __future__ import annotations

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
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from hedgerow.cli.errors import in_options, report_errors
from hedgerow.cli.internet import run_internet
from hedgerow.cli.listing import shipped_names
from hedgerow.cli.output import counted, print_error, print_json, print_line, print_stderr
from hedgerow.cli.progress import progress, span
from hedgerow.cli.traffic import ADVISERS, run_traffic
from hedgerow.experiments.executors import check_cluster, dask, find_joblib, processes, serial
from hedgerow.experiments.experiment import Experiment
from hedgerow.experiments.extension import growth_sentence
from hedgerow.experiments.folder import refuse_other_states
from hedgerow.experiments.reading import load_experiment
from hedgerow.experiments.results import Results, StoppedError
from hedgerow.experiments.sweeps import (
    Estimate,
    SweepProgress,
    Workforce,
    estimates,
    find_left,
    sweep,
)
from hedgerow.experiments.tasks import RunTask, plan
from hedgerow.report.escaping import in_table

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
Advice = Annotated[
    list[str] | None,
    typer.Option(help=f"For traffic: an adviser to mix in: {', '.join(ADVISERS)}. Repeatable."),
]
Pairs = Annotated[
    int | None,
    typer.Option(
        min=16,
        help="For traffic: so many demands on a random internet, or on --network; --workers are "
        "threads.",
    ),
]
Mix = Annotated[
    bool,
    typer.Option(
        "--mix-versions", help="Add to results of another state of the library; reports say so."
    ),
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
    advice: Advice = None,
    pairs: Pairs = None,
    mix_versions: Mix = False,
    dry: DryRun = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run an experiment, or resume it; `traffic` runs the traffic engineering example."""
    with report_errors():
        if file == TRAFFIC and not Path(file).exists():
            folder = out or Path("out") / TRAFFIC
            if mix_versions or dry:
                raise ValueError("traffic is no sweep; leave out --mix-versions and --dry-run")
            if pairs is not None:
                if demands is not None or advice:
                    raise ValueError("--pairs draws demands; leave out --demands and --advice")
                run_internet(pairs, network, workers, cluster, folder, as_json, quiet)
                return
            if workers is not None or cluster is not None:
                raise ValueError(
                    "traffic runs in this process; leave out --workers and --cluster, or give "
                    "--pairs for a large game"
                )
            run_traffic(network, demands, folder, advice or (), as_json, quiet)
            return
        if demands is not None or pairs is not None or advice:
            raise ValueError(
                "--demands, --pairs and --advice are for `hedgerow run traffic`; leave them out"
            )
        experiment = load_experiment(file, network)
        folder = out or Path("out") / experiment.name
        if not quiet and not as_json and (grown := growth_sentence(folder, experiment.resolved())):
            print_line(grown)
        if dry:
            count = None if cluster else workers or os.cpu_count() or 1
            dry_run(experiment, folder, count, mix_versions=mix_versions, as_json=as_json)
            return
        force = workforce(workers, cluster)
        with resumable(folder), progress(experiment.name, quiet) as watch:
            tally = sweep(experiment, folder, force, watch, mix_versions=mix_versions)
        print_summary(summary(folder, tally), tally, as_json, quiet)


def workforce(workers: int | None, cluster: str | None) -> Workforce:
    """Return what does the tasks, after a check that it is available."""
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
    """Print how to resume after Ctrl-C (exit code 130) or when a sweep cannot continue (1)."""
    try:
        yield
    except (KeyboardInterrupt, StoppedError) as end:
        done = sum(1 for _ in folder.rglob("runs/*.json"))
        again = " ".join(["hedgerow", *map(shlex.quote, sys.argv[1:])])
        why = in_options(str(end)) or "stopped"
        print_error(
            f"{why}; finished and kept in {folder}: {counted(done, 'run')}. To resume: {again}"
        )
        raise typer.Exit(130 if isinstance(end, KeyboardInterrupt) else 1) from None


def summary(folder: Path, tally: SweepProgress) -> dict[str, Any]:
    """Return the results of a sweep in numbers, as plain data."""
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


def print_summary(found: dict[str, Any], tally: SweepProgress, as_json: bool, quiet: bool) -> None:
    """Print a summary, then what was damaged, then fail if a task did."""
    if as_json:
        print_json(found)
    elif not quiet:
        print_line(
            f"{counted(found['runs_done'], 'run')} and {counted(found['benchmarks'], 'benchmark')} "
            f"done, {counted(found['runs_refused'], 'run')} refused, "
            f"{counted(len(tally.failed), 'task')} failed; {found['found_finished']} of "
            f"{counted(found['tasks'], 'task')} finished before."
        )
        print_line(f"Results: {found['folder']}; `hedgerow report {found['folder']}` draws them.")
        for method, reasons in found["reasons"].items():
            print_line(f"{method} refused:")
            for reason, count in reasons.items():
                often = "once" if count == 1 else f"{count} times"
                print_line(f"  {often}: {reason}")
    fail_if_any(tally)


def fail_if_any(tally: SweepProgress) -> None:
    """Print what was damaged and which tasks failed; exit with code 1 if any did."""
    for damage in tally.damaged:
        print_error(f"{damage} and had to be made again")
    for name, error in tally.failed.items():
        first, *more = error.splitlines() or [""]
        print_error(f"{name} failed: {first}")
        for line in more:
            print_stderr(line)
    if tally.failed:
        raise typer.Exit(1)


def dry_run(
    experiment: Experiment, folder: Path, workers: int | None, *, mix_versions: bool, as_json: bool
) -> None:
    """List the tasks that are left with an estimate of time; nothing is written.

    Args:
        experiment: the experiment.
        folder: where the results would go.
        workers: the number of processes; None on a cluster.
        mix_versions: whether the folder may hold results of another state of the library.
        as_json: print each task in a JSON object, instead of a row for similar tasks.

    """
    tasks = plan(experiment)
    found = find_left(tasks, folder)
    if found.left and not mix_versions:
        refuse_other_states(folder, found.states)
    left = estimates(tasks, found.left, folder)
    seconds = sum(estimate.seconds or 0.0 for estimate in left)
    if as_json:
        shown: dict[str, Any] = {
            "folder": str(folder),
            "tasks": len(tasks),
            "finished": len(tasks) - len(left),
            "seconds": seconds,
            "workers": workers,
            "left": [_plain(estimate) for estimate in left],
        }
        print_json(shown)
        return
    if left:
        Console().print(_table(left))
    print_line(
        f"{counted(len(tasks), 'task')}, {len(tasks) - len(left)} finished, {len(left)} left."
    )
    if left:
        print_line(f"{_time(seconds, workers)}; {_sources(left)}. Nothing was written.")


def _plain(estimate: Estimate) -> dict[str, Any]:
    task = estimate.task
    return {
        "place": task.place,
        "id": task.id,
        "seconds": estimate.seconds,
        "from": estimate.source,
    }


def _table(left: list[Estimate]) -> Table:
    """Return a table with one row for tasks that differ only in their seed."""
    rows: dict[tuple[str, str, str], list[Estimate]] = {}
    for estimate in left:
        rows.setdefault(_row(estimate), []).append(estimate)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("problem", "task"):
        table.add_column(name, overflow="fold")
    for name in ("T", "left", "each", "by"):
        table.add_column(name, justify="right", no_wrap=True)
    for (problem, task, horizon), of in rows.items():
        each = "?" if of[0].seconds is None else span(of[0].seconds)
        table.add_row(*map(in_table, (problem, task, horizon, len(of), each, of[0].source)))
    return table


def _row(estimate: Estimate) -> tuple[str, str, str]:
    """Return the problem, the method with what is not default, and the horizon."""
    task = estimate.task
    if not isinstance(task, RunTask):
        return task.problem.label, "benchmark", str(task.horizon)
    parts = [task.method]
    if task.preset != "practical":
        parts.append(task.preset)
    if task.eagerness != 1.0:
        parts.append(f"eagerness {task.eagerness:g}")
    return task.game.problem.label, ", ".join(parts), str(task.game.horizon)


def _time(seconds: float, workers: int | None) -> str:
    alone = f"About {span(seconds)} on one processor"
    if workers is None:
        return f"{alone}, less on a cluster"
    return alone if workers == 1 else f"{alone}, {span(seconds / workers)} on {workers}"


def _sources(left: list[Estimate]) -> str:
    """Return where the estimates come from, and how many tasks have none."""
    counts = Counter(estimate.source for estimate in left)
    parts = [f"{counts[s]} by {s}" for s in ("stored timings", "a probe") if counts[s]]
    if counts["no probe"]:
        parts.append(f"{counts['no probe']} not counted, as their probes failed")
    return ", ".join(parts)
