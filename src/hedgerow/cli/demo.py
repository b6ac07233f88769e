"""The demonstration: the paper's game, three policies, one table and one figure."""

from __future__ import annotations

import time
import warnings
from collections import deque
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import hedgerow as hr
from hedgerow.cli.saying import say
from hedgerow.report.plots import Run, draw_curves
from hedgerow.report.tables import run_table


def run_demo(seed: int, horizon: int, out: Path) -> None:
    """Play, print the table, draw the figure and say where it is."""
    console = Console()
    out.mkdir(parents=True, exist_ok=True)  # before the work, not after it
    problem = hr.ShortestPath.atlas_like(horizon=horizon, seed=seed)
    X = problem.decision_set
    console.print(
        f"Constrained shortest path: {X.nodes} nodes, {X.dim} edges, {horizon} rounds, seed {seed}."
        f"\nEach round asks for {problem.threshold:.0f} Mbit/s along the route (bandwidth is "
        f"{problem.bandwidth_source}; latency follows real round-trip times).",
        highlight=False,
        soft_wrap=True,
    )
    rounds = hr.Recorded(X, problem)  # drawn once, so that only the policies are timed
    with _progress() as progress:
        searched = progress.track(hr.games.hindsight_steps(problem), description="benchmark")
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
    with _progress() as progress:
        for name, policy in policies.items():
            begin = time.perf_counter()
            steps = progress.track(hr.play(policy, rounds), total=horizon, description=name)
            trace = hr.Trace.of(steps)
            seconds = time.perf_counter() - begin
            trace = replace(trace, oracle_calls=policy.oracle_calls, seconds=seconds)
            runs.append(Run(name, trace, policy.certificate()))
    per_round = np.concatenate([chunk.costs @ best.x for chunk in problem.chunks()])
    console.print(run_table(runs, best, problem.threshold))
    for warning in caught:
        say(f"Theory preset: {warning.message}.")
    figure = draw_curves(runs, per_round, problem.threshold, out / "demo.png")
    say(f"Figure: {figure}")


def _progress() -> Progress:
    """A bar on a terminal, nothing on a pipe."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description:>16}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
