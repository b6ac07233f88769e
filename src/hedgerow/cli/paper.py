"""The paper: its game (`hedgerow demo`) and its comparison (`hedgerow reproduce`)."""

from __future__ import annotations

import math
import time
import warnings
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import hedgerow as hr
from hedgerow.cli.errors import report_errors
from hedgerow.cli.output import print_line, print_stderr
from hedgerow.cli.progress import progress, progress_bar
from hedgerow.cli.report import report
from hedgerow.cli.run import (
    Cluster,
    Json,
    Mix,
    NetworkFile,
    Quiet,
    Workers,
    print_summary,
    resumable,
    summary,
    workforce,
)
from hedgerow.experiments.experiment import Experiment
from hedgerow.experiments.reading import load_experiment
from hedgerow.experiments.results import Results
from hedgerow.experiments.sweeps import sweep, sweep_tasks
from hedgerow.experiments.tasks import Task, plan
from hedgerow.experiments.validation import LONGEST_HORIZON
from hedgerow.report.page import write_report
from hedgerow.report.plots import Run, draw_curves
from hedgerow.report.summary import Summary
from hedgerow.report.tables import run_table

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
    mix_versions: Mix = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the shipped comparison and report on it; --network plays it on your graph instead."""
    with report_errors():
        experiment = load_experiment("paper" if network is None else "paper_network", network)
        if full:
            experiment = replace(experiment, seeds=tuple(FULL_SEEDS), common_seeds=None)
        folder = out or Path("out") / ("reproduce" if network is None else "reproduce-network")
        force = workforce(workers, cluster)
        with resumable(folder):
            begin = time.monotonic()
            with progress(f"{experiment.name}, first seeds", quiet) as watch:
                tasks, resolved = first_tasks(experiment), experiment.resolved()
                early = sweep_tasks(
                    tasks, resolved, folder, force, watch, mix_versions=mix_versions
                )
            if early.ran and (seen := Summary(Results(folder))).rows:
                page = write_report(seen, folder / "report")
                if not (quiet or as_json):
                    span = time.monotonic() - begin
                    print_stderr(f"First page after {span:.0f} s, written again at the end: {page}")
            with progress(experiment.name, quiet) as watch:
                tally = sweep(experiment, folder, force, watch, mix_versions=mix_versions)
            tally.ran, tally.before = tally.ran + early.ran, tally.before - early.ran
        found = summary(folder, tally)
    if as_json and not tally.failed:
        report(folder, quiet=True)
        found["page"] = str(folder / "report" / "report.html")
    print_summary(found, tally, as_json, quiet)
    if not as_json:
        report(folder, quiet=quiet)


def first_tasks(experiment: Experiment) -> list[Task]:
    """Return the tasks of the first page: main methods, a few seeds, the first problem."""
    problem = experiment.problems[0]
    some = replace(
        experiment,
        problems=(replace(problem, horizons=(max(problem.horizons),)),),
        methods=experiment.all_seeds or experiment.methods,
        presets=experiment.presets[:1],
        eagerness=(1.0,),
        seeds=experiment.seeds[:EARLY],
    )
    return plan(some)


def demo(
    seed: Annotated[int, typer.Option(help="Fixes the graph and all rounds.", min=0)] = 0,
    horizon: Annotated[
        int, typer.Option(help="The number of rounds.", min=8, max=LONGEST_HORIZON)
    ] = 1600,
    out: Annotated[Path, typer.Option(help="Where the figure goes.")] = Path("out"),
) -> None:
    """Play the paper's constrained shortest-path game with three policies."""
    with report_errors():
        console = Console()
        out.mkdir(parents=True, exist_ok=True)  # before the work, not after it
        problem = hr.ShortestPath.random_network(horizon=horizon, seed=seed)
        X = problem.decision_set
        console.print(
            f"Constrained shortest path: {X.nodes} nodes, {X.dim} edges, {horizon} rounds, "
            f"seed {seed}.\nEach round asks for {problem.threshold:.0f} Mbit/s along the route "
            f"(bandwidth is {problem.bandwidth_source}; latency follows real round-trip times).",
            highlight=False,
            soft_wrap=True,
        )
        rounds = hr.RecordedProblem(X, problem)  # drawn once, so that only the policies are timed
        with _progress() as bar:
            searched = bar.track(hr.games.hindsight_steps(problem), description="benchmark")
            (best,) = deque(searched, maxlen=1)
        G = max(problem.cost_lipschitz, problem.constraint_lipschitz)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", hr.VacuousConstantsWarning)
            policies = {
                "practical preset": hr.projection_free_coco(X),
                "theory preset": hr.projection_free_coco(X, horizon, preset="theory", lipschitz=G),
                "plain OCG": hr.unconstrained(X, horizon, preset="theory"),
            }
        runs = []
        with _progress() as bar:
            for name, policy in policies.items():
                begin = time.perf_counter()
                steps = bar.track(hr.play(policy, rounds), total=horizon, description=name)
                trace = hr.Trace.of(steps)
                seconds = time.perf_counter() - begin
                trace = replace(trace, oracle_calls=policy.oracle_calls, seconds=seconds)
                proved = policy.certificate().within(-math.inf, trace.cost)  # no delay is negative
                runs.append(Run(name, trace, proved))
        per_round = np.concatenate([chunk.costs @ best.x for chunk in problem.chunks()])
        console.print(run_table(runs, best, problem.threshold))
        for warning in caught:
            print_line(f"Theory preset: {warning.message}.")
        figure = draw_curves(runs, per_round, problem.threshold, out / "demo.png")
        print_line(f"Figure: {figure}")


def _progress() -> Progress:
    """Return a bar for the rounds of a game."""
    return progress_bar(
        TextColumn("{task.description:>16}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
