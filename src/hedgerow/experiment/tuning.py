"""Fair tuning: one grid, one budget, the same training seeds for every method, ours included.

The one tuned factor of a method is its `eagerness`. For each problem, horizon and method it is
chosen on the training seeds by a rule that stands in the experiment file before anything is
played; only held-out seeds are reported. Numbers are unit-free: with the best fixed action x*, the
best blind action x' (that ignores the constraint) and their costs C* and C', regret is measured in
C* - C' (the price of the constraint) and CCV in that of x'. Blind play so scores about -1 and 1.

    rule = "sum"      least mean over seeds of max(0, regret) / (C* - C') + CCV / CCV(x')
    rule = "target"   least mean of regret / (C* - C') among those whose mean CCV / CCV(x') is at
                      most `ccv_target`; if none is, least mean CCV / CCV(x')

Ties go to the eagerness nearest to 1. A folder of `hedgerow tune` has three parts: `train/` and
`held_out/`, each a results folder (see `hedgerow.experiment.results`), and between them
`selection.json`: `rule`, `ccv_target`, `train_seeds`, `held_out_seeds` and `rows`, one for each
problem, horizon and method, with the chosen `eagerness` (null where the method was refused) and
`tried`: for each eagerness the `mean_regret`, `mean_ccv` and `mean_score`, all unit-free.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hedgerow.experiment.config import Experiment, Tuning
from hedgerow.experiment.problems import KINDS
from hedgerow.experiment.results import Results, RunResult, as_json, write_bytes
from hedgerow.experiment.sweep import Tally, Workforce, sweep, sweep_tasks
from hedgerow.experiment.tasks import RunTask, Task, plan

BURNT = range(10)
"""Seeds on which the library's own constants were chosen: good for training, not for reports."""
BINDS = 1e-9
"""The constraint matters on a seed when its price is at least this share of the cost."""

Watch = Callable[[Tally], None]


class Tried(NamedTuple):
    """One eagerness of one method on one problem: unit-free means over the training seeds."""

    eagerness: float
    mean_regret: float
    mean_ccv: float
    mean_score: float


def tune(
    experiment: Experiment, folder: Path, workforce: Workforce, watch: Watch | None = None
) -> tuple[dict[str, Any], list[Tally]]:
    """Train, choose, and play the held-out seeds; return the selection and both tallies.

    Args:
        experiment: with a `tune` table; its `seeds` are held out.
        folder: where both sweeps and `selection.json` go.
        workforce: who does the tasks.
        watch: called with the tally of the sweep that runs.

    """
    tuning = checked_tuning(experiment)
    training = replace(
        experiment,
        seeds=tuning.seeds,
        eagerness=tuning.eagerness,
        eager=experiment.methods,
        presets=("practical",),
    )
    trained = sweep(training, folder / "train", workforce, watch)
    if trained.failed:
        return {}, [trained]
    selection = select(experiment, tuning, Results(folder / "train").runs)
    write_bytes(folder / "train", folder / "selection.json", as_json(selection))
    resolved = {**experiment.resolved(), "selection": selection["rows"]}
    tasks = held_out(experiment, selection)
    return selection, [
        trained,
        sweep_tasks(tasks, resolved, folder / "held_out", workforce, watch),
    ]


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
    burnt = sorted(set(experiment.seeds) & set(BURNT))
    if burnt:
        raise ValueError(
            f"seeds {burnt} are burnt: the library's constants were chosen on seeds "
            f"{BURNT[0]} to {BURNT[-1]}; report on others, such as 20 and above"
        )
    for problem in experiment.problems:
        kind = KINDS[problem.kind]
        if kind.reacts or not kind.seeded:
            why = "reacts to the plays" if kind.reacts else "is recorded and has no seeds"
            raise ValueError(f"problem {problem.label!r} {why}, so nothing can be held out of it")
    if "practical" not in experiment.presets:
        raise ValueError("presets must contain 'practical': a theorem's constants are not tuned")
    return tuning


def select(experiment: Experiment, tuning: Tuning, runs: Iterable[RunResult]) -> dict[str, Any]:
    """Choose the eagerness of every method on every problem and horizon."""
    groups: dict[tuple[str, int, str], list[RunResult]] = defaultdict(list)
    for run in runs:
        groups[run.record["problem"], run.record["horizon"], run.record["method"]].append(run)
    rows = []
    for problem in experiment.problems:
        for horizon in problem.horizons:
            for method in experiment.methods:
                tried = _tried(groups[problem.label, horizon, method])
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


def _tried(runs: list[RunResult]) -> list[Tried]:
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
    cost, blind = run.benchmark["cost"], run.benchmark["blind"]
    price = cost - blind["cost"]
    if price <= BINDS * abs(cost) or blind["ccv"] <= 0.0:
        return None
    return run.regret / price, run.record["ccv"] / blind["ccv"]
