"""Fair tuning: the same grid, rule and training rounds for every method, ours included.

Regret and CCV are measured in units of the problem: the mean price of the constraint over the
training seeds on which it binds, and the mean CCV of the unconstrained action there.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hedgerow.experiments.experiment import Experiment, ProblemSpec, Tuning
from hedgerow.experiments.folder import folder_lock, refuse_other_states
from hedgerow.experiments.problems import find_kind
from hedgerow.experiments.records import DamagedError, Record, check_selection, read_json
from hedgerow.experiments.results import Results, RunResult, as_json, write_bytes
from hedgerow.experiments.sweeps import SweepProgress, Workforce, find_left, sweep_tasks
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
                    {
                        **row,
                        "eagerness": chosen,
                        "end": _end(chosen, tried),
                        "tried": [entry._asdict() for entry in tried],
                    }
                )
    return {
        "rule": tuning.rule,
        "ccv_target": tuning.ccv_target,
        "train_seeds": list(tuning.seeds),
        "train_rounds": tuning.rounds,
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
    allowed = [entry for entry in tried if entry.mean_ccv <= tuning.ccv_target]
    if allowed:
        return min(allowed, key=lambda e: (e.mean_regret, *nearest_to_one(e))).eagerness
    return min(tried, key=lambda e: (e.mean_ccv, *nearest_to_one(e))).eagerness


def _end(chosen: float | None, tried: list[Tried]) -> str | None:
    """Return at which end of the grid the choice lies, if at one."""
    if chosen is None or len(tried) < 2:
        return None
    ends = {tried[0].eagerness: "low", tried[-1].eagerness: "high"}
    return ends.get(chosen)


def _trials(runs: list[RunResult]) -> list[Tried]:
    """Return the unit-free means of each eagerness, over the seeds where the constraint binds."""
    units: dict[int, tuple[float, float]] = {}
    values: dict[float, list[tuple[float, float]]] = defaultdict(list)
    for run in runs:
        if run.regret is not None and run.benchmark and (price := _price(run.benchmark)):
            units[run.record["seed"]] = price, run.benchmark["blind"]["ccv"]
            values[run.record["eagerness"]].append((run.regret, run.record["ccv"]))
    tried = []
    for eagerness in sorted(values):
        unit = np.array(list(units.values())).mean(axis=0)
        regret, ccv = (np.array(values[eagerness]) / unit).T
        score = np.maximum(regret, 0.0) + ccv
        means = (float(part.mean()) for part in (regret, ccv, score))
        tried.append(Tried(eagerness, *means))
    return tried


def _price(benchmark: Record) -> float | None:
    """Return what satisfying the constraint costs, or None if it does not bind."""
    cost, free = benchmark["cost"], benchmark["blind"]
    if cost is None or free is None:
        return None
    price = float(cost - free["cost"])
    return price if price > BINDS * abs(cost) and free["ccv"] > 0.0 else None


TUNING_SEEDS = (*range(10), *range(60, 70), *range(200, 220))
"""Seeds on which the library's own constants were chosen: good for training, not for reports."""

Watch = Callable[[SweepProgress], None]


def tune(
    experiment: Experiment,
    folder: Path | str,
    workforce: Workforce,
    watch: Watch | None = None,
    *,
    mix_versions: bool = False,
) -> tuple[dict[str, Any], list[SweepProgress]]:
    """Train, choose and play the held-out part; return the selection and the sweeps' progress.

    Args:
        experiment: with a `tune` table; held out are its `seeds`, or the rounds after
            `tune.rounds`.
        folder: where both sweeps and `selection.json` go.
        workforce: does the tasks.
        watch: called with the tally of the sweep that runs.
        mix_versions: whether runs of this state of the library may join those of another.

    """
    selection, tallies = train(experiment, folder, workforce, watch, mix_versions=mix_versions)
    if selection:
        tallies.append(
            report(experiment, selection, folder, workforce, watch, mix_versions=mix_versions)
        )
    return selection, tallies


def train(
    experiment: Experiment,
    folder: Path | str,
    workforce: Workforce,
    watch: Watch | None = None,
    *,
    mix_versions: bool = False,
) -> tuple[dict[str, Any], list[SweepProgress]]:
    """Play the grid on the training rounds, and beyond an end that is chosen; return the choice.

    The selection is empty where a run failed. The arguments are those of `tune`.
    """
    tuning, folder = checked_tuning(experiment), Path(folder)
    _refuse_other_tuning(folder / "selection.json", tuning)
    training = training_part(experiment)
    tasks, place, tallies = plan(training), folder / "train", list[SweepProgress]()
    benchmarks: list[Task] = [task for task in tasks if isinstance(task, BenchmarkTask)]
    selection: dict[str, Any] = {}
    for some in (benchmarks, tasks):  # first the quick ones: they may show that nothing binds
        tallies.append(
            sweep_tasks(
                some, training.resolved(), place, workforce, watch, mix_versions=mix_versions
            )
        )
        if tallies[-1].failed:
            return {}, tallies
        check_binding(training, Results(place).benchmarks.values())
    for widened in range(tuning.widen + 1):
        played = {task.id for task in tasks}  # the folder may hold more, of an earlier call
        runs = [run for run in Results(place).runs if run.record["id"] in played]
        selection = select(training, tuning, runs)
        more = beyond(tasks, selection) if widened < tuning.widen else []
        if not more:
            break
        tallies.append(
            sweep_tasks(
                more, training.resolved(), place, workforce, watch, mix_versions=mix_versions
            )
        )
        if tallies[-1].failed:
            return {}, tallies
        tasks += more
    with folder_lock(place):
        write_bytes(place, folder / "selection.json", as_json(selection))
    return selection, tallies


def report(
    experiment: Experiment,
    selection: dict[str, Any],
    folder: Path | str,
    workforce: Workforce,
    watch: Watch | None = None,
    *,
    mix_versions: bool = False,
) -> SweepProgress:
    """Play the held-out part with the chosen eagerness; a method without one is left out."""
    folder, reported = Path(folder), reported_part(experiment)
    tasks, place = held_out(experiment, selection), folder / "held_out"
    if not mix_versions and find_left(tasks, place).left:
        # what was chosen is played by the same library
        refuse_other_states(folder / "train", Results(folder / "train").states)
    resolved = {**reported.resolved(), "selection": selection["rows"]}
    return sweep_tasks(tasks, resolved, place, workforce, watch, mix_versions=mix_versions)


def training_part(experiment: Experiment) -> Experiment:
    """Return the training part: other seeds, or the first rounds of recorded data."""
    tuning = checked_tuning(experiment)
    problems = experiment.problems
    if tuning.rounds is not None:
        problems = tuple(replace(problem, horizons=(tuning.rounds,)) for problem in problems)
    return replace(
        experiment,
        problems=problems,
        seeds=tuning.seeds,
        eagerness=tuning.eagerness,
        eagerness_methods=experiment.methods,
        presets=("practical",),
        common_seeds=None,
    )


def reported_part(experiment: Experiment) -> Experiment:
    """Return the held-out part: the experiment's seeds, or the rounds after those of training."""
    rounds = checked_tuning(experiment).rounds
    if rounds is None:
        return replace(experiment, eagerness=(1.0,))

    def later(problem: ProblemSpec) -> ProblemSpec:
        given = {**dict(problem.parameters), "start": rounds}
        horizons = tuple(horizon - rounds for horizon in problem.horizons)
        return replace(problem, parameters=tuple(sorted(given.items())), horizons=horizons)

    return replace(experiment, eagerness=(1.0,), problems=tuple(map(later, experiment.problems)))


def beyond(tasks: list[Task], selection: dict[str, Any]) -> list[Task]:
    """Return the runs one step beyond each end of what was tried that was chosen."""
    more: dict[Task, None] = {}
    for row in (row for row in selection["rows"] if row["end"] is not None):
        tried = [entry["eagerness"] for entry in row["tried"]]
        last, before = tried[:2] if row["end"] == "low" else tried[:-3:-1]
        for task in tasks:
            if isinstance(task, RunTask) and task.method == row["method"]:
                game = task.game.problem.label, task.game.horizon
                if game == (row["problem"], row["horizon"]):
                    more[replace(task, eagerness=last * last / before)] = None
    return list(more)


def checked_tuning(experiment: Experiment) -> Tuning:
    """Return how to tune; refuse an experiment that cannot be tuned fairly."""
    tuning = experiment.tuning
    if tuning is None:
        raise ValueError("the experiment has no [tune] table; give tune.seeds and tune.rule")
    if "practical" not in experiment.presets:
        raise ValueError("presets must contain 'practical': a theorem's constants are not tuned")
    if tuning.rounds is not None:
        _check_later_rounds(experiment, tuning.rounds)
        return tuning
    both = sorted(set(tuning.seeds) & set(experiment.seeds))
    if both:
        raise ValueError(
            f"seeds {both} are for training and for the report; what was tuned on a seed says "
            "nothing on that seed, so keep tune.seeds and seeds apart"
        )
    known = sorted(set(experiment.seeds) & set(TUNING_SEEDS))
    if known:
        raise ValueError(
            f"seeds {known} cannot be reported: the library's constants were chosen on seeds 0 to "
            "9, 60 to 69 and 200 to 219; report on others, such as 300 and above"
        )
    for problem in experiment.problems:
        kind = find_kind(problem.kind)
        if kind.reacts or not kind.seeded:
            why = "reacts to the decisions" if kind.reacts else "is recorded and has no seeds"
            hint = "" if kind.reacts else "; give tune.rounds in place of tune.seeds, if it can"
            raise ValueError(
                f"problem {problem.label!r} {why}, so nothing can be held out of it{hint}"
            )
    return tuning


def _check_later_rounds(experiment: Experiment, rounds: int) -> None:
    """Refuse what cannot be divided in time: the first rounds to choose, the rest to report."""
    for problem in experiment.problems:
        kind, given = find_kind(problem.kind), dict(problem.parameters)
        if kind.seeded or "start" not in kind.parameters or given.get("start", 0):
            raise ValueError(
                f"tune.rounds divides recorded data in time, and problem {problem.label!r} is not "
                "recorded from round 0 or has no key `start`; use tune.seeds"
            )
        if rounds >= min(problem.horizons):
            raise ValueError(
                f"tune.rounds is {rounds} of {min(problem.horizons)} rounds of {problem.label!r}, "
                "so none is left to report; give fewer"
            )


def _refuse_other_tuning(path: Path, tuning: Tuning) -> None:
    """Refuse a folder in which another rule, or other training seeds, made the choice."""
    try:
        made = read_json(path, check_selection)
    except (FileNotFoundError, NotADirectoryError, DamagedError):
        return  # it is written again
    now = (tuning.rule, tuning.ccv_target, list(tuning.seeds), tuning.rounds)
    keys = ("rule", "ccv_target", "train_seeds", "train_rounds")
    if now != tuple(made.get(key) for key in keys):
        raise ValueError(
            f"{path} was chosen by another rule or on other seeds; give another folder"
        )


def held_out(experiment: Experiment, selection: dict[str, Any]) -> list[Task]:
    """Return the tasks of the report: every method with its chosen eagerness."""
    rounds = checked_tuning(experiment).rounds
    return with_choices(plan(reported_part(experiment)), selection["rows"], rounds)


def with_choices(
    tasks: Iterable[Task], rows: Sequence[dict[str, Any]], rounds: int | None
) -> list[Task]:
    """Give each practical run its chosen eagerness; leave out methods without a choice.

    Args:
        tasks: the plan of the reported part.
        rows: the choices, as `selection.json` has them.
        rounds: how many first rounds chose, where data are held out by time.

    """
    chosen = {(row["problem"], row["horizon"], row["method"]): row["eagerness"] for row in rows}

    def with_chosen(task: Task) -> Task | None:
        if not isinstance(task, RunTask) or task.preset != "practical":
            return task
        eagerness = chosen[task.game.problem.label, rounds or task.game.horizon, task.method]
        return None if eagerness is None else replace(task, eagerness=eagerness)

    return [task for task in map(with_chosen, tasks) if task is not None]
