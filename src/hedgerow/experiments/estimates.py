"""How long a sweep will take: by what is stored of like tasks, else by short probes."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

from hedgerow.experiments.playing import perform
from hedgerow.experiments.results import task_seconds
from hedgerow.experiments.tasks import BenchmarkTask, RunTask, Task

FIRST = 64
"""Rounds of the first probe."""
GROWTH = 8
ENOUGH = 0.05
"""Seconds: a probe that takes so long says enough."""


class Estimate(NamedTuple):
    """How long a task will take.

    Attributes:
        task: what is to be done.
        seconds: on one processor; None where the probe failed.
        source: where the number comes from.

    """

    task: Task
    seconds: float | None
    source: Literal["stored timings", "a probe", "no probe"]


def estimates(tasks: Iterable[Task], left: Iterable[Task], folder: Path) -> list[Estimate]:
    """Estimate every task that is left.

    Tasks that differ in their seeds and eagerness alone are alike. Where some were done in the
    folder, the mean of their times is taken; else the first is played for a few rounds, then for
    more until that takes a moment, and the time of the rest is in proportion. No file is written.

    Args:
        tasks: all tasks of the experiment.
        left: those that are not done.
        folder: of the results, if there are any yet.

    """
    stored: dict[Any, list[float]] = {}
    known = task_seconds(folder)
    for task in tasks:
        if task.id in known:
            stored.setdefault(_alike(task), []).append(known[task.id])
    probed: dict[Any, float | None] = {}
    found = []
    for task in left:
        group = _alike(task)
        if group in stored:
            found.append(Estimate(task, fmean(stored[group]), "stored timings"))
            continue
        if group not in probed:
            probed[group] = _probe(task)
        seconds = probed[group]
        found.append(Estimate(task, seconds, "no probe" if seconds is None else "a probe"))
    return found


def _alike(task: Task) -> tuple[str, int, str, str]:
    """Return what the time of a task depends on."""
    if isinstance(task, BenchmarkTask):
        return task.problem.label, task.horizon, "", ""
    return task.game.problem.label, task.game.horizon, task.method, task.preset


def _probe(task: Task) -> float | None:
    """Return the seconds that a task will take, from the first of its rounds; None if they fail."""
    horizon = task.game.horizon if isinstance(task, RunTask) else task.horizon
    rounds = min(horizon, FIRST)
    try:
        _timed(task, rounds)  # compiles, imports and reads files
        now = _timed(task, rounds)
        slope = now / rounds
        while rounds < horizon and now < ENOUGH:
            more = min(horizon, GROWTH * rounds)
            later = _timed(task, more)
            slope = max(0.0, later - now) / (more - rounds)
            rounds, now = more, later
    except Exception:  # a horizon that is too short for the problem; the sweep will tell
        return None
    return now + slope * (horizon - rounds)


def _timed(task: Task, rounds: int) -> float:
    """Return how long the same task takes with so many rounds."""
    if isinstance(task, RunTask):
        task = replace(task, game=replace(task.game, horizon=rounds), chunks="")
    else:
        task = replace(task, horizon=rounds)
    begin = time.perf_counter()
    perform(task)
    return time.perf_counter() - begin
