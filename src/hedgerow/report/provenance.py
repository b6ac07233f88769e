"""Where results come from: missing runs, the sources that made them, and the record of choices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from hedgerow.baselines.methods import (
    Method,
    fixed_method,
    installed_method,
    method_names,
    share_method,
)
from hedgerow.experiments.experiment import Experiment, ProblemSpec
from hedgerow.experiments.problems import kind_names
from hedgerow.experiments.results import Results
from hedgerow.experiments.tasks import RunTask, plan
from hedgerow.experiments.tuning import with_choices
from hedgerow.report.summary import Summary
from hedgerow.report.verdicts import ROUTES


def how_far(results: Results) -> str:
    """Return how many runs there are, and whether some are missing."""
    there, expected = len(results.runs), expected_runs(results.experiment)
    stored = {run.record["method"] for run in results.runs}
    if expected is None and (
        absent := [m for m in results.experiment["methods"] if m not in stored]
    ):
        return f"{there} runs; not finished: none of {', '.join(absent)}"
    refused = sum(run.record["status"] != "done" for run in results.runs)
    parts = f"{there - refused} runs played, {refused} refused"
    if expected is None or there >= expected:
        return parts if refused else f"{there} runs"
    return f"{there} of {expected} runs{f' ({parts})' if refused else ''}; not finished"


def expected_runs(resolved: dict[str, Any]) -> int | None:
    """Count the runs of an experiment as `experiment.json` has it.

    Args:
        resolved: the experiment's plain data; with `selection` in the report part of a tuning.

    Returns:
        The number, or None if the experiment names what this library does not know.

    """
    kinds = {problem["kind"] for problem in resolved["problems"]}
    fixed = resolved.get("fixed", {})
    shares = resolved.get("violated", {})
    constants = resolved.get("constants", {})
    inside = {of["method"] for of in constants.values()}
    known = {*method_names(), *fixed, *shares, *(constants if inside <= {*method_names()} else ())}
    if not (kinds <= set(kind_names()) and set(resolved["methods"]) <= known):
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
        eagerness_methods=tuple(resolved.get("eagerness_methods", resolved["methods"])),
        seeds=tuple(resolved["seeds"]),
        fixed=tuple(
            (name, action if isinstance(action, str) else tuple(action))
            for name, action in fixed.items()
        ),
        violated=tuple((name, (method, share)) for name, (method, share) in shares.items()),
        constants=tuple(
            (name, (of["method"], tuple(of["values"].items()))) for name, of in constants.items()
        ),
        common_seeds=resolved.get("common_seeds"),
        all_seeds=tuple(resolved.get("all_seeds", ())),
    )
    try:
        if rows := resolved.get("selection"):
            chosen = {row["horizon"] for row in rows}
            played = {T for problem in resolved["problems"] for T in problem["horizons"]}
            rounds = None if chosen <= played else max(chosen)  # data held out by time
            tasks = with_choices(plan(replace(experiment, eagerness=(1.0,))), rows, rounds)
        else:
            tasks = plan(experiment)
    except (KeyError, ValueError):  # one without a choice, or a plug-in that cannot be imported
        return None
    return sum(isinstance(task, RunTask) for task in tasks)


def mixture(results: Results) -> str:
    """Return which states of the library made the files of a folder; empty where it was one."""
    if len(results.states) < 2:
        return ""
    parts = ", ".join(
        f"{count} files by sources {state or 'unknown'}"
        for state, count in results.states.most_common()
    )
    return f"A mixture: results of {len(results.states)} states of the library, {parts}"


def made_by(results: Results) -> str:
    """Return the state that made the whole folder, in brackets, or an empty text."""
    (state,) = results.states if len(results.states) == 1 else (None,)
    return f" (sources {state})" if state else ""


class Choice(NamedTuple):
    """A choice, its kind (choice, file, synthetic, reconstruction, computed), and the reason."""

    what: str
    kind: str
    why: str


OF_ROUTES = (
    Choice(
        "the constraint's threshold",
        "choice",
        "The paper never states it; without one, bandwidth >= 0 always holds. Here: half of what "
        "the best path surely offers, raised where the cheapest path would satisfy it.",
    ),
    Choice(
        "the graph",
        "choice",
        "The paper's hub graph has cycles, and directions have negative entries, so Dijkstra is "
        "not an oracle and shortest simple paths are hard. Here edges point forward: exact, one "
        "pass.",
    ),
)
ALWAYS = (
    Choice(
        "constants",
        "choice",
        "The paper sets all parameters 'as specified in the corresponding papers'. At T = 1600 "
        "those ignore the constraint; they are shown as theory, beside practical ones.",
    ),
    Choice(
        "regret",
        "choice",
        "Against the best fixed action that satisfies every round's constraint, with a proved gap.",
    ),
)
SYNTHETIC = {
    "random_network": "latencies and bandwidths are drawn, shaped like RIPE Atlas measurements",
}


def choices(summary: Summary) -> Iterator[Choice]:
    """Yield the open choices, then the sources of each problem and method."""
    experiment = summary.results.experiment
    if any(problem["kind"] in ROUTES for problem in experiment["problems"]):
        yield from OF_ROUTES
    yield from ALWAYS
    least = {
        (run.record["problem"], run.benchmark.get("comparator"))
        for run in summary.results.runs
        if run.benchmark is not None
    }
    for problem, comparator in sorted((p, c) for p, c in least if c):
        yield Choice(f"regret on {problem}", "computed", f"Against {comparator}.")
    yield from map(_problem, experiment["problems"])
    for name in experiment["methods"]:
        method = _method(name, experiment)
        if method is None:
            why = "not a method of this library; its numbers are as stored, its calls as reported"
            yield Choice(name, "choice", why)
            continue
        rebuilt = "reconstruction" in method.confidence
        kind = "reconstruction" if rebuilt else "choice"
        yield Choice(name, kind, f"{method.source}; specification: {method.confidence}")
    how = {
        run.record["constants"]["how"]
        for run in summary.results.runs
        if run.record.get("constants")
    }
    for text in sorted(how):
        yield Choice("constants given to theorems", "computed", text)


def _method(name: str, experiment: dict[str, Any]) -> Method | None:
    """Return a method of an experiment, or None where this library does not have it."""
    if name in (fixed := experiment.get("fixed", {})):
        return fixed_method(name, fixed[name])
    if name not in (shares := experiment.get("violated", {})):
        return installed_method(name)
    inside, share = shares[name]
    return None if installed_method(inside) is None else share_method(name, inside, share)


def _problem(problem: dict[str, Any]) -> Choice:
    label, kind, files = problem["label"], problem["kind"], problem["sha256"]
    if not files:
        return Choice(label, "synthetic", SYNTHETIC.get(kind, "drawn from its seed"))
    names = ", ".join(str(problem["parameters"][key]) for key in sorted(files))
    if "network" in files:
        labels = "see its labels for what was measured, stands in, or was drawn"
        return Choice(label, "file", f"from {names}: {labels} (`hedgerow network show`)")
    return Choice(label, "file", f"from {names}; its SHA-256 is stored")
