"""`hedgerow run --dry-run`: what would be done, and about how long it would take."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from hedgerow.cli.progress import span
from hedgerow.cli.saying import counted, say
from hedgerow.experiments.experiment import Experiment
from hedgerow.experiments.folder import refuse_other_states
from hedgerow.experiments.sweeps import Estimate, estimates, find_left
from hedgerow.experiments.tasks import RunTask, plan
from hedgerow.report.escaping import in_table


def dry_run(
    experiment: Experiment, folder: Path, workers: int | None, *, mix: bool, as_json: bool
) -> None:
    """List the tasks that are left with an estimate of time; nothing is written.

    Args:
        experiment: what would be played.
        folder: where the results would go.
        workers: how many processes would play; None on a cluster.
        mix: whether the folder may hold results of another state of the library.
        as_json: print each task in a JSON object, instead of a row for tasks that are alike.

    """
    tasks = plan(experiment)
    found = find_left(tasks, folder)
    if found.left and not mix:
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
        sys.stdout.write(json.dumps(shown, indent=2) + "\n")
        return
    if left:
        Console().print(_table(left))
    say(f"{counted(len(tasks), 'task')}, {len(tasks) - len(left)} finished, {len(left)} left.")
    if left:
        say(f"{_time(seconds, workers)}; {_sources(left)}. Nothing was written.")


def _plain(estimate: Estimate) -> dict[str, Any]:
    task = estimate.task
    return {
        "place": task.place,
        "id": task.id,
        "seconds": estimate.seconds,
        "from": estimate.source,
    }


def _table(left: list[Estimate]) -> Table:
    """Return a row for tasks that are alike, seeds apart."""
    rows: dict[tuple[str, str, str], list[Estimate]] = {}
    for estimate in left:
        rows.setdefault(_row(estimate), []).append(estimate)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("problem", "task"):
        table.add_column(name, overflow="fold")
    for name in ("T", "left", "each", "by"):
        table.add_column(name, justify="right", no_wrap=True)
    for (problem, who, horizon), of in rows.items():
        each = "?" if of[0].seconds is None else span(of[0].seconds)
        table.add_row(*map(in_table, (problem, who, horizon, len(of), each, of[0].source)))
    return table


def _row(estimate: Estimate) -> tuple[str, str, str]:
    """Return the problem, who plays unlike by default, and the horizon."""
    task = estimate.task
    if not isinstance(task, RunTask):
        return task.problem.label, "benchmark", str(task.horizon)
    words = [task.method]
    if task.preset != "practical":
        words.append(task.preset)
    if task.eagerness != 1.0:
        words.append(f"eagerness {task.eagerness:g}")
    return task.game.problem.label, ", ".join(words), str(task.game.horizon)


def _time(seconds: float, workers: int | None) -> str:
    alone = f"About {span(seconds)} on one processor"
    if workers is None:
        return f"{alone}, less on a cluster"
    return alone if workers == 1 else f"{alone}, {span(seconds / workers)} on {workers}"


def _sources(left: list[Estimate]) -> str:
    """Say where the estimates come from, and which tasks have none."""
    counts = Counter(estimate.source for estimate in left)
    told = [f"{counts[s]} by {s}" for s in ("stored timings", "a probe") if counts[s]]
    if counts["no probe"]:
        told.append(f"{counts['no probe']} not counted, as their probes failed")
    return ", ".join(told)
