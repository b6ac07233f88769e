"""Fair tuning: one grid, one budget, the same training seeds for every method, ours included."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hedgerow.experiments.config import Experiment, Tuning
from hedgerow.experiments.folder import folder_lock, refuse_other_states
from hedgerow.experiments.problems import find_kind
from hedgerow.experiments.results import Results, RunResult, as_json, write_bytes
from hedgerow.experiments.stored import DamagedError, Record, check_selection, read_json
from hedgerow.experiments.sweeps import SweepProgress, Workforce, look, sweep_tasks
from hedgerow.experiments.tasks import BenchmarkTask, RunTask, Task, plan

BINDS = 1e-9
"""The constraint matters on a seed when its price is at least this share of the cost."""


class Tried(NamedTuple):
    """One eagerness of one method on one problem: unit-free means over the training seeds."""

    eagerness: float
    mean_regret: float
    mean_ccv: float
    mean_score: float


def check_binding(training: Experiment, benchmarks: Iterable[Record]) -> None:
    """Refuse a problem whose constraint costs nothing on any training seed."""
    bound = {
        (best["problem"], best["horizon"])
        for best in benchmarks
        if best["seed"] in training.seeds and _price(best) is not None
    }
    for problem in training.problems:
        for horizon in problem.horizons:
            if (problem.label, horizon) not in bound:
                raise ValueError(
                    f"the constraint does not bind on any training seed of {problem.label!r} with "
                    f"{horizon} rounds; nothing can be chosen"
                )


def select(experiment: Experiment, tuning: Tuning, runs: Iterable[RunResult]) -> dict[str, Any]:
    """Choose the eagerness of every method on every problem and horizon."""
    groups: dict[tuple[str, int, str], list[RunResult]] = defaultdict(list)
    for run in (run for run in runs if run.record["seed"] in tuning.seeds):
        groups[run.record["problem"], run.record["horizon"], run.record["method"]].append(run)
    rows = []
    for problem in experiment.problems:
        for horizon in problem.horizons:
            for method in experiment.methods:
                tried = _trials(groups[problem.label, horizon, method])
                chosen = choose(tried, tuning) if tried else None
                row = {"problem": problem.label, "horizon": horizon, "method": method}
                rows.append(
                    {**row, "eagerness": chosen, "tried": [entry._asdict() for entry in tried]}
                )
    return {
        "rule": tuning.rule,
        "ccv_target": tuning.ccv_target,
        "train_seeds": list(tuning.seeds),
        "held_out_seeds": list(experiment.seeds),
        "rows": rows,
    }


def choose(tried: list[Tried], tuning: Tuning) -> float:
    """Apply the rule.

    >>> tried = [Tried(0.5, 0.1, 0.4, 0.5), Tried(1.0, 0.2, 0.2, 0.4), Tried(2.0, 0.4, 0.1, 0.5)]
    >>> choose(tried, Tuning((0,), (0.5, 1.0, 2.0), "sum", None))
    1.0
    >>> choose(tried, Tuning((0,), (0.5, 1.0, 2.0), "target", 0.15))
    2.0
    """

    def nearest_to_one(entry: Tried) -> tuple[float, float]:
        return abs(math.log(entry.eagerness)), entry.eagerness

    if tuning.ccv_target is None:
        return min(tried, key=lambda e: (e.mean_score, *nearest_to_one(e))).eagerness
    kept = [entry for entry in tried if entry.mean_ccv <= tuning.ccv_target]
    if kept:
        return min(kept, key=lambda e: (e.mean_regret, *nearest_to_one(e))).eagerness
    return min(tried, key=lambda e: (e.mean_ccv, *nearest_to_one(e))).eagerness


def _trials(runs: list[RunResult]) -> list[Tried]:
    """Return the unit-free means of each eagerness, over the seeds where the constraint binds."""
    values: dict[float, list[tuple[float, float]]] = defaultdict(list)
    for run in runs:
        pair = _unit_free(run)
        if pair is not None:
            values[run.record["eagerness"]].append(pair)
    tried = []
    for eagerness in sorted(values):
        regret, ccv = np.array(values[eagerness]).T
        score = np.maximum(regret, 0.0) + ccv
        means = (float(part.mean()) for part in (regret, ccv, score))
        tried.append(Tried(eagerness, *means))
    return tried


def _unit_free(run: RunResult) -> tuple[float, float] | None:
    """Return regret and CCV in units of the constraint's price and of blind play's CCV."""
    if run.regret is None or run.benchmark is None:
        return None
    price = _price(run.benchmark)
    if price is None:
        return None
    return run.regret / price, run.record["ccv"] / run.benchmark["blind"]["ccv"]


def _price(benchmark: Record) -> float | None:
    """Return what keeping the constraint costs, or None where it does not bind."""
    cost, blind = benchmark["cost"], benchmark["blind"]
    if cost is None or blind is None:
        return None
    price = float(cost - blind["cost"])
    return price if price > BINDS * abs(cost) and blind["ccv"] > 0.0 else None


TUNING_SEEDS = range(10)
"""Seeds on which the library's own constants were chosen: good for training, not for reports."""

Watch = Callable[[SweepProgress], None]


def tune(
    experiment: Experiment,
    folder: Path | str,
    workforce: Workforce,
    watch: Watch | None = None,
    *,
    mix: bool = False,
) -> tuple[dict[str, Any], list[SweepProgress]]:
    """Train, choose, and play the held-out seeds; return the selection and all tallies.

    Args:
        experiment: with a `tune` table; its `seeds` are held out.
        folder: where both sweeps and `selection.json` go.
        workforce: who does the tasks.
        watch: called with the tally of the sweep that runs.
        mix: whether runs of this state of the library may join those of another.

    """
    tuning, folder = checked_tuning(experiment), Path(folder)
    training = replace(
        experiment,
        seeds=tuning.seeds,
        eagerness=tuning.eagerness,
        eager=experiment.methods,
        presets=("practical",),
        few=None,
    )
    _refuse_other_tuning(folder / "selection.json", tuning)
    tasks, train, tallies = plan(training), folder / "train", list[SweepProgress]()
    benchmarks: list[Task] = [task for task in tasks if isinstance(task, BenchmarkTask)]
    for some in (benchmarks, tasks):  # first the quick ones: they may show that nothing binds
        tallies.append(sweep_tasks(some, training.resolved(), train, workforce, watch, mix=mix))
        if tallies[-1].failed:
            return {}, tallies
        check_binding(training, Results(train).benchmarks.values())
    trained = Results(train)
    selection = select(experiment, tuning, trained.runs)
    tasks = held_out(experiment, selection)
    if not mix and look(tasks, folder / "held_out").left:
        refuse_other_states(train, trained.states)  # what was chosen is played by the same library
    with folder_lock(train):
        write_bytes(train, folder / "selection.json", as_json(selection))
    resolved = {**experiment.resolved(), "selection": selection["rows"]}
    played = sweep_tasks(tasks, resolved, folder / "held_out", workforce, watch, mix=mix)
    return selection, [*tallies, played]


def checked_tuning(experiment: Experiment) -> Tuning:
    """Return how to tune, or say why this experiment cannot be tuned fairly."""
    tuning = experiment.tuning
    if tuning is None:
        raise ValueError("the experiment has no [tune] table; give tune.seeds and tune.rule")
    both = sorted(set(tuning.seeds) & set(experiment.seeds))
    if both:
        raise ValueError(
            f"seeds {both} are for training and for the report; what was tuned on a seed says "
            "nothing on that seed, so keep tune.seeds and seeds apart"
        )
    known = sorted(set(experiment.seeds) & set(TUNING_SEEDS))
    if known:
        raise ValueError(
            f"seeds {known} cannot be reported: the library's constants were chosen on seeds "
            f"{TUNING_SEEDS[0]} to {TUNING_SEEDS[-1]}; report on others, such as 20 and above"
        )
    for problem in experiment.problems:
        kind = find_kind(problem.kind)
        if kind.reacts or not kind.seeded:
            why = "reacts to the plays" if kind.reacts else "is recorded and has no seeds"
            raise ValueError(f"problem {problem.label!r} {why}, so nothing can be held out of it")
    if "practical" not in experiment.presets:
        raise ValueError("presets must contain 'practical': a theorem's constants are not tuned")
    return tuning


def _refuse_other_tuning(path: Path, tuning: Tuning) -> None:
    """Refuse a folder in which another rule, or other training seeds, made the choice."""
    try:
        made = read_json(path, check_selection)
    except (FileNotFoundError, NotADirectoryError, DamagedError):
        return  # it is written again
    if (made["rule"], made["ccv_target"], tuple(made["train_seeds"])) != (
        tuning.rule,
        tuning.ccv_target,
        tuning.seeds,
    ):
        raise ValueError(
            f"{path} was chosen by another rule or on other seeds; give another folder"
        )


def held_out(experiment: Experiment, selection: dict[str, Any]) -> list[Task]:
    """Return the tasks of the report: every method with its chosen eagerness, on other seeds."""
    chosen = {
        (row["problem"], row["horizon"], row["method"]): row["eagerness"]
        for row in selection["rows"]
    }

    def with_chosen(task: Task) -> Task | None:
        if not isinstance(task, RunTask) or task.preset != "practical":
            return task
        eagerness = chosen[task.game.problem.label, task.game.horizon, task.method]
        return None if eagerness is None else replace(task, eagerness=eagerness)

    tasks = map(with_chosen, plan(replace(experiment, eagerness=(1.0,))))
    return [task for task in tasks if task is not None]
