"""Fair tuning: one grid, one budget, the same training seeds for every method, ours included.

The one tuned factor of a method is its `eagerness`; a few have none and are played as they are.
For each problem, horizon and method it is chosen on the training seeds by a rule that stands in the
experiment file before anything is played (`hedgerow.experiments.choosing`); only held-out seeds are
reported.

A folder of `hedgerow tune` has three parts: `train/` and `held_out/`, each a results folder (see
`hedgerow.experiments.results`), and between them `selection.json`: `rule`, `ccv_target`,
`train_seeds`, `held_out_seeds` and `rows`, one for each problem, horizon and method, with the
chosen `eagerness` (null where the method was refused) and `tried`: for each eagerness the
`mean_regret`, `mean_ccv` and `mean_score`, all unit-free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hedgerow.experiments.choosing import check_binding, select
from hedgerow.experiments.config import Experiment, Tuning
from hedgerow.experiments.folder import refuse_other_states
from hedgerow.experiments.folder_lock import folder_lock
from hedgerow.experiments.problems import find_kind
from hedgerow.experiments.record_checks import check_selection
from hedgerow.experiments.results import Results
from hedgerow.experiments.stored import DamagedError, read_json
from hedgerow.experiments.sweeps import SweepProgress, Workforce, look, sweep_tasks
from hedgerow.experiments.tasks import BenchmarkTask, RunTask, Task, plan
from hedgerow.experiments.writing import as_json, write_bytes

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
