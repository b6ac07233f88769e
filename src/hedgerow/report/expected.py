"""What is known of a folder of results: how many runs are missing, and who made them."""

from __future__ import annotations

from typing import Any

from hedgerow.baselines.methods import method_names
from hedgerow.experiments.config import Experiment, ProblemSpec
from hedgerow.experiments.problems import kind_names
from hedgerow.experiments.results import Results
from hedgerow.experiments.tasks import RunTask, plan
from hedgerow.experiments.tuning import held_out


def how_far(results: Results) -> str:
    """Say how many runs there are, and whether that is all of them."""
    there, expected = len(results.runs), expected_runs(results.experiment)
    if expected is None or there == expected:
        return f"{there} runs"
    return f"{there} of {expected} runs; not finished"


def expected_runs(resolved: dict[str, Any]) -> int | None:
    """Count the runs of an experiment as `experiment.json` has it.

    Args:
        resolved: the experiment's plain data; with `selection` in the report part of a tuning.

    Returns:
        The number, or None if the experiment names what this library does not know.

    """
    kinds = {problem["kind"] for problem in resolved["problems"]}
    if not (kinds <= set(kind_names()) and set(resolved["methods"]) <= set(method_names())):
        return None  # an import path among them is not followed: reading runs no code
    experiment = Experiment(
        name=resolved["name"],
        about=resolved["about"],
        problems=tuple(
            ProblemSpec(problem["label"], problem["kind"], (), (), tuple(problem["horizons"]), "")
            for problem in resolved["problems"]
        ),
        methods=tuple(resolved["methods"]),
        presets=tuple(resolved["presets"]),
        eagerness=tuple(resolved["eagerness"]),
        eager=tuple(resolved.get("eager", resolved["methods"])),
        seeds=tuple(resolved["seeds"]),
    )
    try:
        if "selection" in resolved:
            tasks = held_out(experiment, {"rows": resolved["selection"]})
        else:
            tasks = plan(experiment)
    except (KeyError, ValueError):  # one without a choice, or a plug-in that cannot be imported
        return None
    return sum(isinstance(task, RunTask) for task in tasks)


def mixture(results: Results) -> str:
    """Say which states of the library made the files of a folder; nothing where it was one."""
    if len(results.states) < 2:
        return ""
    parts = ", ".join(
        f"{count} files by sources {state or 'unknown'}"
        for state, count in results.states.most_common()
    )
    return f"A mixture: results of {len(results.states)} states of the library, {parts}"


def made_by(results: Results) -> str:
    """Return the state that made the whole folder, in brackets, or nothing."""
    (state,) = results.states if len(results.states) == 1 else (None,)
    return f" (sources {state})" if state else ""
